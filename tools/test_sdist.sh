#!/usr/bin/env bash
# Builds a wheel from the source distribution of DIST alone, in an empty folder, with build requirements from the package
# index, as `pip install fansite` does where no wheel fits; then asks the program in it for its version.
#   tools/test_sdist.sh DIST PYTHON
set -euo pipefail
dist=$(realpath "$1") python=$(realpath -s "$2")
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
tar -xzf "$dist"/fansite-*.tar.gz -C "$place"
cd "$place"/fansite-*
# Flags and the depth of the build folder as in a clone: ccache compiles nothing that has been compiled there.
export CCACHE_BASEDIR=$PWD
"$python" -m pip wheel --quiet --disable-pip-version-check --no-deps \
  --config-settings=build-dir=build/wheel --config-settings=cmake.define.FANSITE_WERROR=ON --wheel-dir "$place/made" .
"$python" -m venv "$place/venv"
"$place/venv/bin/python" -m pip install --quiet --disable-pip-version-check "$place"/made/fansite-*.whl
"$place/venv/bin/fansite" --version

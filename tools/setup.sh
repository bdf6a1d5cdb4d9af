#!/usr/bin/env bash
# Install what fansite needs from Debian's packages, and only what is missing.
#   tools/setup.sh         to build and test
#   tools/setup.sh lint    also clang-format, clang-tidy and libFuzzer
#   tools/setup.sh python  also what the Python package needs
#   tools/setup.sh docs    also what makes the site of the documentation
#   tools/setup.sh page    also a browser, to test the page of `fansite report`
#   tools/setup.sh bare    also debootstrap, to test the wheel in a Debian that has none of these
set -euo pipefail

packages=(g++ ccache cmake ninja-build pkg-config python3
  libeigen3-dev libopenblas-dev libtbb-dev libhwy-dev libfmt-dev libcli11-dev nlohmann-json3-dev zlib1g-dev node-d3
  libgtest-dev libgmock-dev librapidcheck-dev zsh fish)
case "${1:-}" in
  lint) packages+=(clang clang-format clang-tidy libclang-rt-dev) ;;
  python) packages+=(python3 python3-dev python3-venv) ;;
  bare) packages+=(debootstrap) ;;
  docs) packages+=(python3 python3-venv doxygen) ;;
  page) packages+=(python3 python3-venv chromium chromium-driver) ;;
esac

if ! command -v dpkg-query >/dev/null; then
  echo "setup: this is not a Debian system; install the equivalents of: ${packages[*]}" >&2
  exit 0
fi

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$status" = installed ] || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

echo "setup: installing ${missing[*]}"
as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || { echo "setup: run as root, or install: ${missing[*]}" >&2; exit 1; }
  as_root=(sudo)
fi
export DEBIAN_FRONTEND=noninteractive
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null

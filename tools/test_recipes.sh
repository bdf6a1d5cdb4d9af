#!/usr/bin/env bash
# As far as can be tried without the servers of Conan and conda: makes the Conan package with Debian's libraries in the
# place of ConanCenter's, builds examples/find_package with it, and renders the recipe for conda.
#   tools/test_recipes.sh PLACE    where the tools and Conan's packages are kept
set -euo pipefail
place=$(realpath -m "$1")
source=$(cd "$(dirname "$0")/.." && pwd)
if [ ! -e "$place/ready" ]; then
  python3 -m venv "$place/venv"
  "$place/venv/bin/python" -m pip install --quiet --disable-pip-version-check "conan>=2.20" "py-rattler-build>=0.70"
  touch "$place/ready"
fi

"$place/venv/bin/python" - "$source/packaging/conda/recipe.yaml" <<'END'
import sys

import rattler_build

recipe = rattler_build.Stage0Recipe.from_file(sys.argv[1])
variants = "python: ['3.12']\ncxx_compiler: [gxx]\nc_stdlib: [sysroot]\nc_stdlib_version: ['2.34']\n"
(rendered,) = recipe.render(rattler_build.VariantConfig.from_yaml(variants))
print("conda:", rendered.recipe.package.name, rendered.recipe.package.version)
END

export CONAN_HOME=$place/conan CXX=${CXX:-c++}
conan=$place/venv/bin/conan
"$conan" profile detect --force >/dev/null 2>&1
profile=$source/packaging/conan/debian.profile
"$conan" create "$source/packaging/conan" --profile:all "$profile" --no-remote -c tools.cmake.cmaketoolchain:generator=Ninja >"$place/log" 2>&1 ||
  { tail -n 40 "$place/log"; exit 1; }
rm -rf "$place/example"
version=$(sed -n 's/.*FANSITE_VERSION "\(.*\)"/\1/p' "$source/fansite/base/version.h")
"$conan" install --requires "fansite/$version" --profile:all "$profile" --no-remote --generator CMakeDeps --generator CMakeToolchain \
  -c tools.cmake.cmaketoolchain:generator=Ninja -c tools.cmake.cmaketoolchain:user_presets= --output-folder "$place/example" >"$place/log" 2>&1 || { tail -n 40 "$place/log"; exit 1; }
cmake -S "$source/examples/find_package" -B "$place/example/build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_TOOLCHAIN_FILE="$place/example/conan_toolchain.cmake" >/dev/null
cmake --build "$place/example/build" >/dev/null
"$place/example/build/example" | grep -c nats | sed 's/^/Conan: boundaries found by the example: /'

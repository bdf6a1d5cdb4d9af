#!/usr/bin/env bash
# Installs the library into an empty place, builds examples/find_package against it, and runs the result.
#   test_install.sh BUILD SOURCE COMPILER          a build, as it is
#   test_install.sh BUILD SOURCE COMPILER shared   BUILD is made with a shared library, and program and example must find it
set -euo pipefail
build=$1 source=$2 compiler=$3 kind=${4:-static}
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
example_options=()
if [ "$kind" = shared ]; then
  cmake -S "$source" -B "$build" -G Ninja -DCMAKE_CXX_COMPILER="$compiler" -DBUILD_SHARED_LIBS=ON \
    -DFANSITE_BUILD_TESTS=OFF -DFANSITE_BUILD_BENCH=OFF -DFANSITE_CUDA_BUILD=OFF >/dev/null
  cmake --build "$build" >"$place/log" || { cat "$place/log"; exit 1; }
  # What a shared library is built on, those who link it need not have.
  for package in TBB hwy ZLIB nlohmann_json BLAS; do example_options+=("-DCMAKE_DISABLE_FIND_PACKAGE_$package=ON"); done
fi
cmake --install "$build" --prefix "$place/prefix" >/dev/null
"$place/prefix/bin/fansite" --version
# What the program writes of itself, where man and the shells look for it.
for file in man/man1/fansite.1 man/man1/fansite-mb.1 man/man1/fansite-bench-flow.1 bash-completion/completions/fansite \
  zsh/site-functions/_fansite fish/vendor_completions.d/fansite.fish; do
  [ -s "$place/prefix/share/$file" ] || { echo "$file is not installed"; exit 1; }
done
if find "$place/prefix/include" -path '*/detail/*' | grep .; then
  echo "private headers are installed"
  exit 1
fi
cmake --no-warn-unused-cli -S "$source/examples/find_package" -B "$place/example" -DCMAKE_PREFIX_PATH="$place/prefix" \
  -DCMAKE_CXX_COMPILER="$compiler" "${example_options[@]}" >/dev/null
cmake --build "$place/example" >/dev/null
# The program of docs/howto/cpp_engineer.md, and its error: a sentence, and exit code 1.
"$place/example/study" "$source/examples/study.csv" | tee "$place/study"
grep -q "pressure: [3-6] members" "$place/study"
grep -q "I(age; salt | pressure) = 0" "$place/study"
if "$place/example/study" "$place/nowhere.csv" 2>"$place/error"; then exit 1; fi
grep -q "nowhere.csv" "$place/error"
"$place/example/example" | tee "$place/out"
[ "$(wc -l <"$place/out")" -eq 10 ]
grep -q "nats" "$place/out"
if [ "$kind" = shared ]; then
  # The name that is looked up holds the versions that may take each other's place: those of one minor version.
  version=$("$place/prefix/bin/fansite" --version | cut -d' ' -f2)
  ldd "$place/example/example" | grep "libfansite.so.${version%.*} => $place/prefix/"
  ldd "$place/prefix/bin/fansite" | grep "libfansite.so.${version%.*} => $place/prefix/"
  find "$place/prefix" -name "libfansite.so.$version" -type f | grep .
fi

# The README's C++, as it stands there but for main around it.
mkdir "$place/readme"
cd "$place/readme"
"$place/prefix/bin/fansite" simulate --nodes 12 --rows 500 --out demo --quiet && cp demo/data.csv study.csv
awk '/^## C\+\+/ {on = 1; next} /^## / {on = 0} on && /^    / {print substr($0, 5)}' "$source/README.md" >lines
{
  printf 'cmake_minimum_required(VERSION 3.25)\nproject(readme LANGUAGES CXX)\nadd_executable(app app.cpp)\n'
  sed '/^#include/,$d' lines
} >CMakeLists.txt
{
  grep '^#include' lines
  printf 'int main() {\n'
  sed -n '/^#include/,$p' lines | grep -v '^#include'
  printf '}\n'
} >app.cpp
cmake -S . -B build -DCMAKE_PREFIX_PATH="$place/prefix" -DCMAKE_CXX_COMPILER="$compiler" >/dev/null
cmake --build build >/dev/null
[ "$(build/app | grep -c 'x[0-9]*: [0-9]* members')" -eq 12 ]

#!/usr/bin/env bash
# Installs the library into an empty place, builds examples/find_package against it, and runs the result.
set -euo pipefail
build=$1 source=$2 compiler=$3
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
cmake --install "$build" --prefix "$place/prefix" >/dev/null
"$place/prefix/bin/fansite" --version
if find "$place/prefix/include" -path '*/detail/*' | grep .; then
  echo "private headers are installed"
  exit 1
fi
cmake -S "$source/examples/find_package" -B "$place/example" -DCMAKE_PREFIX_PATH="$place/prefix" -DCMAKE_CXX_COMPILER="$compiler" >/dev/null
cmake --build "$place/example" >/dev/null
"$place/example/example" | tee "$place/out"
[ "$(wc -l <"$place/out")" -eq 10 ]
grep -q "nats" "$place/out"

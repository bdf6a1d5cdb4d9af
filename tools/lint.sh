#!/usr/bin/env bash
# Formatting of all sources, clang-tidy over library, program and benchmarks (the analyzer takes minutes on each GoogleTest
# file); any finding fails.
set -euo pipefail
build=$1
mapfile -t sources < <(git ls-files '*.cpp' '*.h')
clang-format --dry-run --Werror "${sources[@]}"
echo "formatting: clean"
mapfile -t units < <(git ls-files 'fansite/*.cpp' 'cli/*.cpp' 'bench/*.cpp')
printf '%s\n' "${units[@]}" | xargs -P "$(nproc)" -n 2 clang-tidy --quiet -p "$build" --warnings-as-errors='*' 2>/dev/null
echo "clang-tidy: clean"

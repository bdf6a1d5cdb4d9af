#!/usr/bin/env bash
# Formatting and clang-tidy over our own sources; any finding fails.
set -euo pipefail
build=$1
mapfile -t sources < <(git ls-files '*.cpp' '*.h')
clang-format --dry-run --Werror "${sources[@]}"
echo "formatting: clean"
mapfile -t units < <(git ls-files 'fansite/*.cpp' 'cli/*.cpp' 'bench/*.cpp' 'tests/*.cpp')
printf '%s\n' "${units[@]}" | xargs -P "$(nproc)" -n 4 clang-tidy --quiet -p "$build" --warnings-as-errors='*' 2>/dev/null
echo "clang-tidy: clean"

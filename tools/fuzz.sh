#!/usr/bin/env bash
# Run every fuzzer of a build: tools/fuzz.sh DIR SECONDS
#   DIR      where the preset fuzz built them, build/fuzz/tests/fuzz; the corpus grows in DIR/corpus
#   SECONDS  for each fuzzer
set -euo pipefail

if [ $# -ne 2 ] || [ ! -x "$1/make_corpus" ]; then
  echo "usage: tools/fuzz.sh DIR SECONDS, DIR being that of the built fuzzers (cmake --preset fuzz; cmake --build --preset fuzz)" >&2
  exit 2
fi
directory=$(realpath "$1")
seconds=$2
crashes="$directory/crashes"
mkdir -p "$crashes"
"$directory/make_corpus" "$directory/corpus"

mapfile -t fuzzers < <(find "$directory" -maxdepth 1 -type f -executable -name 'fuzz_*' | sort)
if [ ${#fuzzers[@]} -eq 0 ]; then
  echo "fuzz: there is no fuzzer in $directory" >&2
  exit 2
fi

failed=()
for fuzzer in "${fuzzers[@]}"; do
  format=$(basename "$fuzzer")
  format=${format#fuzz_}
  if [ ! -d "$directory/corpus/$format" ]; then
    echo "fuzz: make_corpus writes nothing for $format" >&2
    failed+=("$format")
    continue
  fi
  log="$directory/fuzz_$format.log"
  echo "fuzz: $format, $seconds s"
  if "$fuzzer" -max_total_time="$seconds" -max_len=4096 -timeout=10 -rss_limit_mb=2048 \
      -artifact_prefix="$crashes/$format-" "$directory/corpus/$format" >"$log" 2>&1; then
    grep '^Done' "$log" || true
  else
    failed+=("$format")
    grep -m 5 -E 'ERROR|SUMMARY|terminate|what\(\)|Test unit' "$log" || tail -n 20 "$log"
  fi
done

if [ ${#failed[@]} -gt 0 ]; then
  echo "fuzz: failed: ${failed[*]}; inputs in $crashes, logs in $directory" >&2
  exit 1
fi
echo "fuzz: no crash"

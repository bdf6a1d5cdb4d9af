#!/usr/bin/env bash
# Every benchmark, each figure beside its target. About six minutes on two cores.
set -euo pipefail
folder=$1
for name in markov_boundaries scaling calibration csv; do
  echo "=== $name ==="
  "$folder/bench_$name"
  echo
done
echo "=== flow ==="
"$folder/../fansite" bench flow

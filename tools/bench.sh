#!/usr/bin/env bash
# Every benchmark, each figure beside its target. About forty minutes on two cores: of the flows a first look only
# (bench_nonlinear, bench_mixed_tables, bench_trust and bench_study without options take hours, and their targets are for that).
set -euo pipefail
folder=$1
for name in markov_boundaries scaling calibration csv; do
  echo "=== $name ==="
  "$folder/bench_$name"
  echo
done
echo "=== nonlinear ==="
"$folder/bench_nonlinear" --sets gp_d30,sachs,linear --orders 1 --seeds 1 --effort quick
echo
echo "=== mixed tables ==="
"$folder/bench_mixed_tables" --tables 4 --effort quick
echo
echo "=== trust ==="
"$folder/bench_trust" --tables 2
echo
echo "=== graphs ==="
"$folder/bench_graphs" --sets gp_d30 --links oracle
echo
echo "=== graph speed ==="
"$folder/bench_graph_speed"
echo
echo "=== classical graphs ==="
"$folder/bench_classical_graphs"
echo
echo "=== differentiable ==="
"$folder/bench_differentiable"
echo
echo "=== study ==="
"$folder/bench_study" --settings 1..12 --effort quick --noise-tables 20
echo
echo "=== plan ==="
"$folder/bench_plan" 1 quick
echo
echo "=== classical ==="
"$folder/bench_classical"
echo
echo "=== flow ==="
"$folder/../fansite" bench flow
echo
echo "=== real tables ==="
build/venv/bin/python bench/real_tables.py --settings gaussian --cache build/real_tables
echo
echo "=== python ==="
build/venv/bin/python python/tools/import_time.py

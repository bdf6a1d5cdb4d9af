#!/usr/bin/env bash
# Make a gene network and a linear one, find every Markov boundary, and compare with the truth.
set -euo pipefail
program=$1
folder=$(dirname "$program")/demo
rm -rf "$folder"

echo "== A linear network of 100 variables, 2000 rows =="
"$program" simulate --graph er --nodes 100 --degree 1.5 --sem linear --rows 2000 --seed 7 --out "$folder/linear"
echo
echo "== The Markov boundary of every variable =="
"$program" mb "$folder/linear/data.csv" --out "$folder/linear/boundaries.json"
echo
echo "== Against the truth, in percent =="
"$program" eval "$folder/linear/boundaries.json" --truth "$folder/linear/dag.csv"
echo
echo "== One gene of a simulated regulatory network: what tells all about it? =="
"$program" simulate --graph sf --nodes 40 --degree 1.2 --sem gene --rows 1500 --seed 3 --quiet --out "$folder/genes"
"$program" mb "$folder/genes/data.csv" --target g5 --out "$folder/genes/g5.json"
echo
echo "Results are in $folder. Next: $program mb YOUR.csv --out boundaries.json"

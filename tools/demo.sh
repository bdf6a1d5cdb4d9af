#!/usr/bin/env bash
# Make a linear network and a nonlinear one, find every Markov boundary, compare with the truth, and make a page to look at.
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
echo "== Relations that are not linear: a first look, in seconds =="
"$program" simulate --graph er --nodes 15 --degree 1 --sem gp --noise mixed --rows 1000 --seed 3 --quiet --out "$folder/curved"
"$program" mb "$folder/curved/data.csv" --effort quick --out "$folder/curved/boundaries.json"
"$program" eval "$folder/curved/boundaries.json" --truth "$folder/curved/dag.csv"
echo
echo "== Its causal graph, and a page of both =="
"$program" dag "$folder/curved/data.csv" --boundaries "$folder/curved/boundaries.json" --out "$folder/curved/graph.json"
"$program" report "$folder/curved/boundaries.json" "$folder/curved/graph.json" --title "fansite demo: 15 variables, curved relations" --quiet --out "$folder/curved/report.html"
echo
echo "Results are in $folder. Next: $program mb YOUR.csv --out boundaries.json"
echo "To look at in a browser: $folder/curved/report.html"

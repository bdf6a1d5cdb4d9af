# SPDX-License-Identifier: Apache-2.0
"""pc and ges beside causal-learn's, on the same tables in one run: do they find the same graph, and how much faster?

  pip install causal-learn
  python bench/classical_peers.py                      PC and GES on the authors' linear d100-1 sets
  python bench/classical_peers.py --methods pc --sets gp_d30_seed42 --alpha 0.001

Seconds are of the search on a table in memory, covariances included, on one thread. The target is 20 times faster.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.metadata
import io
import json
import os
import platform
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # of small matrices several are slower, tenfold on a busy machine

import numpy as np
from causallearn.search.ConstraintBased.PC import pc
from causallearn.search.ScoreBased.GES import ges

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT.parent / "shared" / "data"
TARGET = 20

Array = np.ndarray[Any, Any]


def fansite(program: Path, values: Array, method: str, alpha: float) -> tuple[Array, float, dict[str, Any]]:
    """Marks (i, j): 1 for i -> j and for i - j, which has (j, i) too; the seconds; and what the method reports."""
    with tempfile.TemporaryDirectory() as folder:
        table, out = Path(folder) / "data.npy", Path(folder) / "graph.json"
        np.save(table, values)
        options = ["--edge-alpha", str(alpha)] if method == "pc" else ["--max-parents", str(values.shape[1])]
        command = [str(program), "dag", str(table), "--method", method, "--threads", "1", "--quiet", "--out", str(out)]
        subprocess.run(command + options, check=True, capture_output=True)
        result = json.loads(out.read_text())
    marks = np.zeros((values.shape[1], values.shape[1]), dtype=int)
    for edge in result["edges"]:
        i, j = (int(edge[end][1:]) - 1 for end in ("from", "to"))  # x1, x2, …
        marks[i, j] = 1
        marks[j, i] = 0 if edge["directed"] else 1
    return marks, result["timing"]["graph_seconds"], result["details"]


def causal_learn(values: Array, method: str, alpha: float) -> tuple[Array, float]:
    start = time.perf_counter()
    with contextlib.redirect_stderr(io.StringIO()):
        if method == "pc":
            graph = pc(values, alpha=alpha, indep_test="fisherz", stable=True, show_progress=False).G.graph
        else:
            graph = ges(values, score_func="local_score_BIC")["G"].graph
    seconds = time.perf_counter() - start
    # graph[j, i] = 1 and graph[i, j] = -1: i -> j; both -1: i - j.
    tails, heads = graph == -1, graph.T == 1
    return (tails & (heads | (graph.T == -1))).astype(int), seconds


def compare(name: str, method: str, options: argparse.Namespace) -> None:
    with np.load(DATA / f"{name}.npz") as stored:
        values = np.ascontiguousarray(stored["data"], dtype=float)[:, : options.columns]
    ours, seconds, details = fansite(options.program, values, method, options.alpha)
    theirs, their_seconds = causal_learn(values, method, options.alpha)
    links = [np.triu(graph | graph.T) for graph in (ours, theirs)]
    marks = int(np.triu((ours != theirs) | (ours.T != theirs.T)).sum())
    ratio = their_seconds / max(seconds, 1e-9)
    print(
        f"{name:<20} {method:<4} d {values.shape[1]:>4}  links {links[0].sum():>4} {links[1].sum():>4}"
        f"  other links {int((links[0] != links[1]).sum()):>3}  other marks {marks:>3}"
        f"  seconds {seconds:>8.4f} {their_seconds:>8.2f}  {ratio:>7.0f} times"
        f" (target {TARGET} {'met' if ratio >= TARGET else 'MISSED'})  {details}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", type=Path, default=ROOT / "build" / "release" / "fansite")
    parser.add_argument("--sets", nargs="+", default=["linear_d100_seed42", "linear_d100_seed123"])
    parser.add_argument("--methods", nargs="+", default=["pc", "ges"], choices=["pc", "ges"])
    parser.add_argument("--alpha", type=float, default=0.01, help="of PC's tests")
    parser.add_argument("--columns", type=int, default=None, help="only the first so many")
    options = parser.parse_args()
    told = subprocess.run([str(options.program), "--version"], check=True, capture_output=True, text=True).stdout.strip()
    versions = ", ".join(f"{each} {importlib.metadata.version(each)}" for each in ("causal-learn", "numpy", "scipy"))
    print(f"{told}; {versions}, Python {platform.python_version()}; {platform.processor() or platform.machine()}")
    print("each pair of figures: fansite, causal-learn")
    for method in options.methods:
        for name in options.sets:
            compare(name, method, options)


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""iamb beside pyCausalFS's, on the same tables in one run: the same boundaries, and how much faster?

  pip install pyCausalFS
  python bench/classical_peers_mb.py                     the authors' d30-G sets
  python bench/classical_peers_mb.py --sets linear_d100_seed42

pyCausalFS's p-value is that of one side only (a bug; spec/baselines.md 0.1), so ours is asked for the same with
--legacy-onesided. Theirs are seconds of the search on a table in memory, ours of the whole run from file to result, on one thread. The target is 20 times faster.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import platform
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from pyCausalFS.CBD.MBs.IAMB import IAMB

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT.parent / "shared" / "data"
TARGET = 20

Sets = list[set[int]]


def fansite(program: Path, values: Any, alpha: float) -> tuple[Sets, float]:
    with tempfile.TemporaryDirectory() as folder:
        table, out = Path(folder) / "data.npy", Path(folder) / "mb.json"
        np.save(table, values)
        command = [str(program), "mb", str(table), "--method", "iamb", "--alpha", str(alpha), "--threads", "1"]
        subprocess.run([*command, "--legacy-onesided", "--quiet", "--out", str(out)], check=True, capture_output=True)
        result = json.loads(out.read_text())
    number = {name: i for i, name in enumerate(result["variables"])}
    found = [{number[member["name"]] for member in each["members"]} for each in result["boundaries"]]
    return found, result["timing"]["total_seconds"]


def py_causal_fs(values: Any, alpha: float) -> tuple[Sets, float]:
    import pandas as pd

    table = pd.DataFrame(values)
    start = time.perf_counter()
    found = [set(IAMB(table, target, alpha, False)[0]) for target in range(values.shape[1])]
    return found, time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=Path, default=ROOT / "build/release/fansite")
    parser.add_argument("--sets", default="gp_d30_seed42,gp_d30_seed123,gp_d30_seed1234")
    parser.add_argument("--alpha", type=float, default=0.01)
    given = parser.parse_args()
    print(f"pyCausalFS {importlib.metadata.version('pyCausalFS')}, Python {platform.python_version()}, one thread")
    print(f"{'table':<20} {'same boundaries':>16} {'theirs, s':>10} {'ours, s':>9} {'ratio':>8}")
    for name in given.sets.split(","):
        file = DATA / f"{name}.npz"
        if not file.exists():
            print(f"{name}: skipped, {file} is not there")
            continue
        held = np.load(file)
        values = held["data"] if "data" in held else held["X"]
        ours, own_seconds = fansite(given.program, values, given.alpha)
        theirs, seconds = py_causal_fs(values, given.alpha)
        same = sum(a == b for a, b in zip(ours, theirs, strict=True))
        ratio = seconds / max(own_seconds, 1e-9)
        verdict = "met" if ratio >= TARGET else "MISSED"
        print(f"{name:<20} {same:>7} of {len(ours):<5} {seconds:>10.2f} {own_seconds:>9.3f} {ratio:>7.0f}x"
              f"   at least {TARGET}x {verdict}")


if __name__ == "__main__":
    main()

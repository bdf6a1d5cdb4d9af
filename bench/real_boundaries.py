# SPDX-License-Identifier: Apache-2.0
"""The boundaries of a table by the installed fansite, in a process of its own: a crash costs one cell of a benchmark.

As a program it reads a pickled frame, so that the table comes as it is: real_boundaries.py SETTING THREADS < frame
"""

from __future__ import annotations

import ast
import json
import pickle
import subprocess
import sys
import time
import warnings
from typing import Any

import pandas as pd

SETTINGS = {"gaussian": {"estimator": "gaussian"}, "quick": {"effort": "quick"}, "normal": {"effort": "normal"}}
REFUSED = 3  # exit status: the package said why not


def parameters(setting: str) -> dict[str, Any]:
    """Of MarkovBoundary: "quick:steps=3000" is effort quick with another number of steps."""
    name, _, rest = setting.partition(":")
    if name not in SETTINGS:
        raise ValueError(f"there is no setting '{name}'; they are {', '.join(SETTINGS)}")
    given: dict[str, Any] = dict(SETTINGS[name])
    for pair in filter(None, rest.split(",")):
        key, _, value = pair.partition("=")
        try:
            given[key] = ast.literal_eval(value)
        except (ValueError, SyntaxError):
            given[key] = value
    return given


def boundaries_of(frame: pd.DataFrame, setting: str, threads: int) -> dict[str, Any]:
    """The boundary of every column, all in one run."""
    import fansite

    begun = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fansite.DataWarning)
        found = fansite.MarkovBoundary(**parameters(setting), random_state=0, n_jobs=threads).fit(frame)
    seconds = time.perf_counter() - begun
    return {"boundaries": found.boundaries_, "estimator": found.result_.estimator, "seconds": seconds}


def in_own_process(frame: pd.DataFrame, setting: str, threads: int, limit: float) -> dict[str, Any]:
    """The same elsewhere; "failure" has the sentence if there is no answer, "again" if the next time might have one."""
    command = [sys.executable, __file__, setting, str(threads)]
    begun = time.perf_counter()
    try:
        run = subprocess.run(command, input=pickle.dumps(frame), capture_output=True, timeout=limit)
        if run.returncode == 0:
            answer: dict[str, Any] = json.loads(run.stdout.splitlines()[-1])
            return answer
        said = run.stderr.decode(errors="replace").strip().splitlines()
        sentence = said[-1] if said else f"ended with exit status {run.returncode}"
        again = run.returncode != REFUSED
    except subprocess.TimeoutExpired:
        sentence, again = f"not done within {limit:g} s", True
    return {"failure": sentence, "again": again, "boundaries": {}, "seconds": time.perf_counter() - begun}



def main(setting: str, threads: str) -> int:
    frame = pd.read_pickle(sys.stdin.buffer)
    try:
        answer = boundaries_of(frame, setting, int(threads))
    except (ValueError, TypeError, RuntimeError) as error:
        print(str(error).replace("\n", " "), file=sys.stderr)
        return REFUSED
    print(json.dumps(answer))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

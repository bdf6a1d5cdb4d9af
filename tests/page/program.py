# SPDX-License-Identifier: Apache-2.0
"""The program that makes the pages: $FANSITE_PROGRAM, or build/release/fansite."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from browser import missing

ROOT = Path(__file__).parents[2]
PROGRAM = str(Path(os.environ.get("FANSITE_PROGRAM", ROOT / "build/release/fansite")).resolve())
needs = [pytest.mark.skipif(bool(missing()), reason=missing() or "installed"),
         pytest.mark.skipif(not os.access(PROGRAM, os.X_OK), reason=f"{PROGRAM} is not built: make build")]


def fansite(*arguments, folder):
    done = subprocess.run([PROGRAM, *map(str, arguments)], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def report(folder, name, *results):
    """A page of results given as dictionaries."""
    files = []
    for number, result in enumerate(results):
        file = folder / f"{name}{number}.json"
        file.write_text(json.dumps(result), encoding="utf-8")
        files.append(file)
    page = folder / f"{name}.html"
    fansite("report", *files, "--out", page, "--title", f"Page <{name}>", "--quiet", folder=folder)
    return page

# SPDX-License-Identifier: Apache-2.0
"""A method that is one source and one row is there in Python without another edit."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support import PATIENCE

import fansite

SCRIPT = """
import fansite
table = fansite.simulate(nodes=6, rows=200, random_state=3).to_pandas()
(toy,) = (each for each in fansite.methods("boundary") if each.name == "most-correlated")
assert toy.parameters["least"].range == "0 to 1", toy
found = fansite.MarkovBoundary(method="most-correlated", options={"size": 1}).fit(table)
assert all(len(members) <= 1 for members in found.boundaries_.values())
assert found.result_.settings["size"] == 1
assert fansite.verify(found, table)
graph = fansite.CausalGraph(method="name-order", options={"backwards": True}).fit(table, boundaries=found)
assert all(edge.source > edge.target for edge in graph.edges_) and graph.edges_
assert fansite.verify(graph, table)
for wrong in ({"fdr": 0.1}, {"options": {"patience": 1}}):
    try:
        fansite.MarkovBoundary(method="most-correlated", **wrong).fit(table)
    except ValueError as error:
        assert "most-correlated has no such parameter" in str(error), error
    else:
        raise AssertionError(wrong)
print("found")
"""


def test_toy_methods(tmp_path) -> None:
    toys = os.environ.get("FANSITE_TOYS")
    if not toys:
        pytest.skip("FANSITE_TOYS is not set; make test-python builds the toy methods and sets it")
    package = tmp_path / "fansite"
    shutil.copytree(Path(fansite.__file__).parent, package, ignore=shutil.ignore_patterns("_core*", "__pycache__"))
    (module,) = Path(toys).glob("_core*.so")
    shutil.copy(module, package)
    run = subprocess.run(
        [sys.executable, "-c", SCRIPT], cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True, text=True, timeout=PATIENCE,
    )  # fmt: skip
    assert run.stdout == "found\n", run.stderr

# SPDX-License-Identifier: Apache-2.0
"""Types: mypy --strict finds nothing in a user's program but the lines that are wrong on purpose, nor in the package."""

from __future__ import annotations

import re
from pathlib import Path

from mypy import api

PROGRAM = """
import numpy as np
import fansite

table = fansite.simulate(nodes=5, rows=100, random_state=np.random.default_rng(0))
found = fansite.MarkovBoundary(targets=["x1"], fdr=0.01, random_state=0).fit(table.values)
names: list[str] = found.boundaries_["x1"]
gain: float = found.result_["x1"].members[0].gain
graph = fansite.CausalGraph(knowledge=fansite.Knowledge("root x1", table.names)).fit(table.values, boundaries=found)
edges: list[tuple[str, str]] = [(edge.source, edge.target) for edge in graph.edges_]
model = fansite.EntropyModel(estimator="gaussian").fit(table.values)
error: float = model.mutual_information("x1", "x2", given=["x3"]).se
score: float = fansite.metrics.score_boundaries(found.boundaries_, table.boundaries).mean.f1
selector = fansite.BoundarySelector(effort="quick")
text: str = found.to_json() + graph.to_dot()
compared = fansite.compare(table.values, methods=["iamb", "tc"], truth=table, orders=1)
pairs: list[tuple[str, str]] = compared.alone["iamb"]
told: str = found.explain("x1") + graph.explain("x1") + graph.to_dowhy(undecided="best")
every: list[str] = graph.to_dowhy(undecided="all")
again: fansite.GraphResult = fansite.GraphResult.from_json(graph.to_json())
"""


WRONG = ['fansite.MarkovBoundary(fdr="small")', "found.boundaries", "fansite.simulate(5)", "gain.upper()", "graph.to_dowhy(True)"]


def mypy(folder: Path, *arguments: str) -> str:
    options = ["--strict", "--config-file=", f"--cache-dir={folder}", "--ignore-missing-imports", "--no-pretty"]
    return api.run([*options, *arguments])[0]


def test_types_are_checked(tmp_path) -> None:
    path = tmp_path / "program.py"
    path.write_text("\n".join([PROGRAM, *WRONG]))
    out = mypy(tmp_path, str(path))
    first = PROGRAM.count("\n") + 2
    found = {int(line) for line in re.findall(r"program.py:(\d+): error", out)}
    assert found == set(range(first, first + len(WRONG))), out


def test_the_package_itself_is_typed(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)  # the installed one, with its stubs
    assert mypy(tmp_path, "-p", "fansite").startswith("Success")

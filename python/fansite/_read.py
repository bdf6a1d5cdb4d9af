# SPDX-License-Identifier: Apache-2.0
"""Results that the command line wrote, whatever they are of."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from . import _core, _html
from ._boundaries_result import BoundariesResult
from ._compare import Comparison
from ._entropy import Information
from ._exports import imported
from ._graph_result import GraphResult
from ._inspect import Inspection
from ._result import Result, parsed, text_of
from ._simulate import Simulation
from ._table import as_table
from ._words import in_python


@dataclass(frozen=True, slots=True)
class Phase:
    """A part of a run, and what it will cost."""

    name: str
    seconds: float
    what: str
    """What it does, or what the figure rests on."""


@dataclass(frozen=True, eq=False)
class Plan(Result):
    """What a run will cost, as ``fansite plan`` says."""

    variables: int
    rows: int
    method: str
    estimator: str | None
    threads: int
    total_seconds: float
    """The run should take between this divided by ``within`` and this times ``within``."""
    within: float
    peak_memory_mb: float
    networks: int
    training_steps: int
    """Over all networks; 0 where nothing is trained."""
    boundary_size: float
    tested_pairs: float
    evaluations: float
    phases: list[Phase]
    """In the order of the run."""
    warnings: list[str]
    _FORMAT: ClassVar[str] = "fansite.plan/2"
    _COMMAND: ClassVar[str] = "fansite plan --json"

    @classmethod
    def _fields(cls, read: dict[str, Any]) -> dict[str, Any]:
        names = (
            "variables", "rows", "method", "estimator", "threads", "total_seconds", "within", "peak_memory_mb", "networks",
            "training_steps", "boundary_size", "tested_pairs", "evaluations",
        )  # fmt: skip
        return {
            **{name: read[name] for name in names},
            "phases": [Phase(**each) for each in read["phases"]],
            "warnings": [in_python(sentence) for sentence in read["warnings"]],
        }

    def _repr_html_(self) -> str:
        return _html.plan(self)

    def to_pandas(self) -> Any:
        """One row for each phase, as a pandas DataFrame."""
        pd = imported("pandas", "pandas", "to_pandas")
        return pd.DataFrame(
            [(each.name, each.seconds, each.what) for each in self.phases], columns=["name", "seconds", "what"]
        )


_RESULTS: dict[str, type[Result]] = {
    each._FORMAT: each for each in (BoundariesResult, GraphResult, Information, Comparison, Inspection, Plan)
}
_SIMULATION = "fansite.simulation/2"


def from_json(source: str | os.PathLike[str] | Mapping[str, Any]) -> Any:
    """Read what the command line wrote, or a ``to_json``: the object that the same work in Python gives.

    Parameters
    ----------
    source : path, str or dict
        The file, the JSON itself, or what ``json.load`` makes of it. Of a simulation the path of its
        ``simulation.json``, beside which its table lies.

    Returns
    -------
    BoundariesResult, GraphResult, Information, Comparison, Inspection, Plan or Simulation

    Examples
    --------
    >>> table = fansite.simulate(nodes=5, rows=500, random_state=1)
    >>> found = fansite.MarkovBoundary().fit(table.values)
    >>> fansite.from_json(found.to_json()) == found.result_
    True
    """
    text = text_of(source)
    read = parsed(text, "a command of fansite")
    if read["format"] == _SIMULATION:
        return _simulation(source, read)
    if read["format"] not in _RESULTS:
        known = ", ".join([*_RESULTS, _SIMULATION])
        raise ValueError(
            f"[from_json] this has format '{read['format']}', which this version cannot read. It reads {known}; run the "
            "command again with this version."
        )
    return _RESULTS[read["format"]].from_json(text)


def _simulation(source: Any, read: dict[str, Any]) -> Simulation:
    path = (
        None
        if isinstance(source, Mapping) or (isinstance(source, str) and source.lstrip()[:1] == "{")
        else Path(source)
    )
    names = read["variables"]
    values = None if path is None else _simulated(path, names, read["data_hash"])
    if values is None:
        raise ValueError(
            "[from_json] a simulation has its table in data.csv or data.npy, beside simulation.json. Give the path of "
            "simulation.json in the folder that `fansite simulate` wrote."
        )
    place = {name: i for i, name in enumerate(names)}
    adjacency = np.zeros((len(names), len(names)), dtype=np.uint8)
    weights = np.zeros(adjacency.shape)
    for edge in read["edges"]:
        ends = place[edge["from"]], place[edge["to"]]
        adjacency[ends], weights[ends] = 1, edge["weight"]
    return Simulation(
        names, values, adjacency, weights, read["noise"], read["kinds"],
        [(a, b) for a, b in read["hidden_cause_pairs"]],
    )  # fmt: skip


def _simulated(description: Path, names: list[str], data_hash: str) -> np.ndarray[Any, Any] | None:
    """The table beside its description. Of two formats one is left from an earlier run: the hash tells them apart."""
    tables = [path for name in ("data.csv", "data.npy") if (path := description.with_name(name)).exists()]
    for path in tables:
        values = as_table(path).data.values
        if len(tables) == 1 or _core.Dataset.from_array(values, names).hash == data_hash:  # .npy has no names
            return values
    return None

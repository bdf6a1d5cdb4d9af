# SPDX-License-Identifier: Apache-2.0
"""Several methods on one table, or on simulated ones."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from . import _core, _html
from ._exports import imported
from ._labels import NO_LABELS, name_of, unknown
from ._methods import SIMULATE
from ._result import TableResult, number
from ._running import running
from ._settings import plain, seed_of
from ._simulate import Simulation
from ._table import Roles, as_table, warn

_NAN = float("nan")


@dataclass(frozen=True, slots=True)
class ComparedCell:
    """One method on one table with its columns in one order."""

    method: str
    """As it was asked for."""
    table: int
    """Which of ``tables``."""
    order: int
    """0: the columns as they come."""
    status: str
    """'done', 'timeout', 'refused' or 'failed'."""
    reason: str
    """Why there is no answer; '': there is one, or time ran out."""
    scores: dict[str, float]
    """By name, shares in [0, 1]; empty without a truth."""
    found: dict[str, list[str]]
    """By variable: the members of its boundary, or those that it has an edge to; in both lists if the direction is open."""
    seconds: float
    peak_memory_mb: float


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(TableResult):
    """What several methods found, and how it compares."""

    methods: list[str]
    """As they were asked for."""
    tables: list[dict[str, Any]]
    """The seed of each if it was simulated, its hash, and how many edges the truth has."""
    cells: list[ComparedCell]
    summary: list[dict[str, Any]]
    """One entry for each method, as in the JSON; ``scores`` shows it as a table."""
    alone: dict[str, list[tuple[str, str]]]
    """What each method alone claims, (variable, member) or linked pairs; empty if there are several tables."""
    _overlap: list[list[float | None]]
    _FORMAT: ClassVar[str] = "fansite.comparison/1"
    _COMMAND: ClassVar[str] = "fansite compare"

    @classmethod
    def _fields(cls, read: dict[str, Any]) -> dict[str, Any]:
        costs = zip(read["timing"]["cell_seconds"], read["timing"]["cell_peak_memory_mb"])
        return {
            **super()._fields(read),
            "methods": [each["label"] for each in read["methods"]],
            "tables": read["tables"],
            "cells": [_cell(each, read["variables"], *cost) for each, cost in zip(read["cells"], costs)],
            "summary": read["summary"],
            "alone": {each["method"]: [(a, b) for a, b in each["pairs"]] for each in read.get("alone", [])},
            "_overlap": read["agreement"]["overlap"],
        }

    @property
    def scores(self) -> Any:
        """One row for each method: mean and standard deviation of every score, pairs claimed, time, memory, cells.

        A pandas DataFrame; without pandas, a dictionary of dictionaries.
        """
        rows = {each["method"]: self._row(each) for each in self.summary}
        pd = _pandas()
        return rows if pd is None else pd.DataFrame.from_dict(rows, orient="index")

    @property
    def agreement(self) -> Any:
        """The overlap of what every two methods claim: pairs of both over pairs of either, mean over tables and orders.

        A pandas DataFrame; without pandas, an array. NaN where two methods have no answer to the same table.
        """
        shares = np.array([[number(share, _NAN) for share in row] for row in self._overlap], dtype=float)
        pd = _pandas()
        return shares if pd is None else pd.DataFrame(shares, index=self.methods, columns=self.methods)

    def to_pandas(self) -> Any:
        """One row for each cell, as a pandas DataFrame: the rows of ``fansite compare --csv``."""
        pd = imported("pandas", "pandas", "to_pandas")

        names = ("method", "table", "order", "status", "seconds", "peak_memory_mb", "reason")
        return pd.DataFrame([{**{name: getattr(cell, name) for name in names}, **cell.scores} for cell in self.cells])

    def __repr__(self) -> str:
        tables = len(self.tables)
        return f"Comparison({', '.join(self.methods)}; {tables} table{'s' * (tables != 1)}, {len(self.cells)} cells)"

    def _repr_html_(self) -> str:
        return _html.comparison(self)

    def _row(self, each: dict[str, Any]) -> dict[str, Any]:
        row: dict[str, Any] = {}
        for name, score in (each.get("scores") or {}).items():
            row[name] = number(score["mean"], _NAN)
            row[f"{name} sd"] = number(score["sd"], _NAN)
        row |= {"pairs": number(each["pairs"], _NAN), "alone": each["alone"]}
        row["over_orders"] = number(each["over_orders"], _NAN)
        cost = self.timing["methods"][each["method"]]
        row |= {"seconds": number(cost["seconds"], _NAN), "peak_memory_mb": cost["peak_memory_mb"]}
        row |= {name: each[name] for name in ("done", "timeout", "refused", "failed")}
        return {**row, "reason": each.get("reason", "")}


def _cell(read: dict[str, Any], variables: list[str], seconds: float, memory: float) -> ComparedCell:
    found = {name: [variables[other] for other in others] for name, others in zip(variables, read.get("found", []))}
    scores = {name: number(score, _NAN) for name, score in read.get("scores", {}).items()}
    names = {name: read[name] for name in ("method", "table", "order", "status")}
    return ComparedCell(
        **names, reason=read.get("reason", ""), scores=scores, found=found, seconds=seconds, peak_memory_mb=memory
    )


def _pandas() -> Any:
    try:
        import pandas
    except ImportError:
        return None
    return pandas


def compare(
    X: Any = None,
    *,
    methods: str | Sequence[str] = "paper-mb",
    truth: Any = None,
    orders: int = 3,
    limit: float | None = 600.0,
    simulate: Mapping[str, Any] | None = None,
    seeds: Iterable[int] = (1, 2, 3, 4, 5),
    checkpoint: str | os.PathLike[str] | None = None,
    missing: str = "use",
    kinds: Mapping[str, str] | None = None,
    context: Sequence[str] | str | None = None,
    weight: Any = None,
    group: Any = None,
    drop: Sequence[str] | str | None = None,
    only: Sequence[str] | str | None = None,
    random_state: int | np.random.RandomState | np.random.Generator | None = 0,
    device: str = "cpu",
    n_jobs: int | None = None,
    verbose: int | bool = False,
) -> Comparison:
    """Run several methods and compare what they find, as ``fansite compare`` does.

    A method that runs out of time, cannot take the table or fails has no answer; its row says why, and the others go on.

    Parameters
    ----------
    X : DataFrame, array-like of shape (n_samples, n_features), path or None
        The table; None with ``simulate``.
    methods : str or list of str
        Names, with options as in ``"iamb:alpha=0.001"``: boundary methods or graph methods. Also ``"all"``,
        ``"all-dag"``, ``"paper-mb"`` and ``"paper-dag"``.
    truth : Simulation, DataFrame, networkx.DiGraph, array, path or None
        The graph to score against, A[i, j] != 0 for i -> j. Names are matched, arrays go by position. None: not known.
    orders : int
        Orders of the columns: as they come, then at random.
    limit : float or None
        Seconds for one method on one table in one order; None: as long as it takes.
    simulate : dict or None
        Make tables with known truth instead: arguments of ``fansite.simulate``.
    seeds : iterable of int
        A simulated table for each.
    checkpoint : path or None
        Keep what is done in this file, and go on from what it holds. It is removed when all is done.
    missing, kinds, context, weight, group, drop, only, random_state, device, n_jobs, verbose
        As in MarkovBoundary.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> table = fansite.simulate(nodes=6, rows=500, random_state=4)
    >>> compared = fansite.compare(table.to_pandas(), methods=["fansite", "iamb"], truth=table, orders=2)
    >>> [cell.status for cell in compared.cells]
    ['done', 'done', 'done', 'done']
    >>> float(compared.agreement.loc["iamb", "iamb"])
    1.0
    """
    if (X is None) == (simulate is None):
        raise ValueError("[compare] give a table, or a setting with simulate, and not both.")
    if simulate is not None and truth is not None:
        raise ValueError("[truth] simulated tables have their own; leave it out.")
    words = [word.strip() for word in methods.split(",")] if isinstance(methods, str) else list(methods)
    options = {"methods": words, "orders": orders, "limit": float(limit or 0), "seed": seed_of(random_state)}
    options["device"] = device
    table = None if X is None else as_table(X, missing, Roles.given(kinds, context, weight, group, drop, only, X))
    names, adjacency = _truth(truth)
    with running(n_jobs, verbose) if table is None else table.working(n_jobs, verbose) as run:
        text = _core.compare(
            None if table is None else table.data,
            names,
            adjacency,
            _setting(simulate or {}),
            [seed_of(seed) for seed in seeds] if table is None else [],
            options,
            "" if checkpoint is None else os.fspath(checkpoint),
            run,
        )
        result = Comparison._of(text, NO_LABELS if table is None else table.labels)
    warn(result.warnings, stacklevel=3)
    return result


def _setting(simulate: Mapping[str, Any]) -> dict[str, Any]:
    for name in simulate:
        if name not in SIMULATE or name == "seed":
            raise ValueError(unknown(name, (each for each in SIMULATE if each != "seed"), "[simulate] there is no"))
    return {name: plain(SIMULATE[name], value) for name, value in simulate.items()}


def _truth(truth: Any) -> tuple[list[str], Any]:
    """Names and adjacency; no names: by position."""
    if truth is None:
        return [], None
    if isinstance(truth, Simulation):
        return truth.names, _edges(truth.adjacency)
    if isinstance(truth, (str, os.PathLike)):
        names, adjacency = _core.load_truth(os.fspath(truth))
        return names, adjacency
    if hasattr(truth, "loc"):
        return [name_of(label) for label in truth.columns], _edges(truth.loc[truth.columns, truth.columns])
    if hasattr(truth, "nodes") and hasattr(truth, "edges"):
        nodes = list(truth.nodes)
        place = {node: index for index, node in enumerate(nodes)}
        adjacency = np.zeros((len(nodes), len(nodes)), dtype=np.uint8)
        for source, target in truth.edges:
            adjacency[place[source], place[target]] = 1
        return [name_of(node) for node in nodes], adjacency
    return [], _edges(truth)


def _edges(matrix: Any) -> np.ndarray[Any, Any]:
    edges: np.ndarray[Any, Any] = np.asarray(matrix) != 0
    if edges.ndim != 2 or edges.shape[0] != edges.shape[1]:
        raise ValueError(f"[truth] a matrix of shape {edges.shape}; give a square one, A[i, j] != 0 for i -> j.")
    return edges.astype(np.uint8)

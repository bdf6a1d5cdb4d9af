# SPDX-License-Identifier: Apache-2.0
"""What becomes of results: a page to look at, and a check that they are what their table gives."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from . import _core
from ._finder import Finder
from ._result import Result
from ._table import Roles, as_table


def report(*results: Any, path: str | os.PathLike[str], title: str = "") -> None:
    """Write one HTML page of boundaries, a causal graph, a comparison and a plan, to explore and send on.

    It is the page of ``fansite report``.

    Parameters
    ----------
    *results : MarkovBoundary, BoundariesResult, CausalGraph, GraphResult, Comparison or Plan
        One result, or one of each kind, of the same table.
    path : str or path-like
        Where the page goes.
    title : str
        What it is about.

    Examples
    --------
    >>> table = fansite.simulate(nodes=5, rows=500, random_state=1)
    >>> found = fansite.MarkovBoundary().fit(table.to_pandas())
    >>> fansite.report(found, path="report.html", title="Five variables")
    """
    page = _core.to_html([_json_of(result) for result in results], title)
    Path(path).write_text(page, encoding="utf-8")


def verify(
    result: Any,
    X: Any,
    *,
    model: str | os.PathLike[str] | None = None,
    missing: str = "use",
    kinds: Mapping[str, str] | None = None,
    context: Sequence[str] | str | None = None,
    weight: Any = None,
    group: Any = None,
    n_jobs: int | None = None,
    verbose: int | bool = False,
) -> bool:
    """Repeat the run of a result and say whether the bits agree, as ``fansite verify`` does.

    Parameters
    ----------
    result : MarkovBoundary, CausalGraph, or a result of either or of EntropyModel
        What was found.
    X : DataFrame, array-like of shape (n_samples, n_features) or path
        The table that it was found in.
    model : path or None
        The trained model that the run was given, if it was.
    kinds, context, weight, group
        What was said of the table, as in MarkovBoundary; None: as the result has it. Only weights and groups that were
        given as arrays have to be given again.
    missing, n_jobs, verbose
        As in MarkovBoundary.

    Examples
    --------
    >>> table = fansite.simulate(nodes=5, rows=500, random_state=1).to_pandas()
    >>> fansite.verify(fansite.MarkovBoundary().fit(table), table)
    True
    """
    text = _json_of(result)
    saved_kinds, saved_context, saved_weight, saved_group, drop, only = _core.saved_roles(text)
    roles = Roles.given(
        dict(saved_kinds) if kinds is None else kinds,
        saved_context if context is None else context,
        (saved_weight or None) if weight is None else weight,
        (saved_group or None) if group is None else group,
        drop,
        only,
        X,
    )
    table = as_table(X, missing, roles)
    with table.working(n_jobs, verbose) as run:
        difference = _core.verify(text, table.data, "" if model is None else os.fspath(model), run)
    return difference == ""


def _json_of(result: Any) -> str:
    if isinstance(result, (Finder, Result)):
        return result.to_json()
    raise TypeError(f"{type(result).__name__} is no result of fansite; give what MarkovBoundary or CausalGraph found.")

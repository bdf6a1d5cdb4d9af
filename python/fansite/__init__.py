# SPDX-License-Identifier: Apache-2.0
"""Markov boundaries and causal graphs from tables.

>>> import fansite
>>> table = fansite.simulate(nodes=5, rows=500, random_state=1)
>>> found = fansite.MarkovBoundary().fit(table.values)
>>> found.boundaries_["x3"]
['x4', 'x1']

The guide is docs/python.md, the reference docs/api.md.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from . import _core, metrics, plots
from ._boundaries_result import BoundariesResult, Boundary, Interchangeable, Member, NearMiss, PathStep
from ._boundary import MarkovBoundary
from ._compare import ComparedCell, Comparison, compare
from ._entropy import Added, EntropyModel, Estimate, Information
from ._explain import Explanation
from ._graph import CausalGraph
from ._graph_result import Edge, Evidence, GraphResult, HiddenCause, Role
from ._inspect import ColumnInfo, Finding, Inspection, inspect
from ._knowledge import Knowledge, load_knowledge
from ._labels import name_of, unknown
from ._methods import Method, Parameter, methods
from ._read import Phase, Plan, from_json
from ._report import report, verify
from ._settings import NotFittedError
from ._simulate import Simulation, simulate
from ._table import DataWarning

if TYPE_CHECKING:
    from ._selector import BoundarySelector

__all__ = [
    "Added",
    "BoundariesResult",
    "Boundary",
    "BoundarySelector",
    "CausalGraph",
    "ColumnInfo",
    "ComparedCell",
    "Comparison",
    "DataWarning",
    "Edge",
    "EntropyModel",
    "Estimate",
    "Evidence",
    "Explanation",
    "Finding",
    "GraphResult",
    "HiddenCause",
    "Information",
    "Inspection",
    "Interchangeable",
    "Knowledge",
    "MarkovBoundary",
    "Member",
    "Method",
    "NearMiss",
    "NotFittedError",
    "Parameter",
    "PathStep",
    "Phase",
    "Plan",
    "Role",
    "Simulation",
    "__version__",
    "compare",
    "from_json",
    "inspect",
    "load_knowledge",
    "methods",
    "metrics",
    "name_of",
    "plots",
    "report",
    "simulate",
    "verify",
]

__version__: str = getattr(_core, "__version__")  # the stubs have no names with underscores

# Threads do not survive a fork, so they end before it; the next work starts them again on both sides.
os.register_at_fork(before=_core.send_threads_home)


def __getattr__(name: str) -> Any:
    # The selector is a scikit-learn class, and importing scikit-learn takes longer than all the rest.
    if name == "BoundarySelector":
        from ._selector import BoundarySelector

        return BoundarySelector
    raise AttributeError(unknown(name, __all__, "module 'fansite' has no attribute"))


def __dir__() -> list[str]:
    return sorted(__all__)

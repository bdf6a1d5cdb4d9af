# SPDX-License-Identifier: Apache-2.0
"""The lists of methods, as C++ has them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from . import _core


@dataclass(frozen=True)
class Parameter:
    """One parameter of a method."""

    name: str
    help: str
    type: str
    default: Any
    choices: tuple[str, ...]
    """What a word can be; empty: any."""
    range: str
    """What a number can be, in words; empty: any."""
    changes_answers: bool
    """False if it changes what a run costs or keeps, and no answer."""


@dataclass(frozen=True)
class Method:
    """A boundary method, a graph method or an entropy estimator."""

    kind: str
    """'boundary', 'graph' or 'entropy'."""
    name: str
    summary: str
    citation: str
    capabilities: dict[str, Any]
    """What it can do: needs_boundaries, satisfies_knowledge, resumable, can_be_cut_short, ..."""
    parameters: dict[str, Parameter]
    """By name, with help, range and default."""


def _parameters(listed: list[dict[str, Any]]) -> dict[str, Parameter]:
    return {
        each["name"]: Parameter(
            each["name"],
            each["help"],
            each["type"],
            each["default"],
            tuple(each.get("choices", ())),
            each.get("range", ""),
            each["changes_answers"],
        )
        for each in listed
    }


_LISTS: dict[str, Any] = json.loads(_core.methods())
_KINDS = {"boundary": "boundary_methods", "graph": "graph_methods", "entropy": "entropy_estimators"}
RUN = _parameters(_LISTS["run"])
SIMULATE = _parameters(_LISTS["simulate"])


def methods(kind: str | None = None) -> list[Method]:
    """Every method and estimator with its citation and parameters, as ``fansite methods`` shows them.

    Parameters
    ----------
    kind : {'boundary', 'graph', 'entropy'} or None
        Those of one kind; None: all.

    Examples
    --------
    >>> [method.name for method in fansite.methods("graph")]
    ['fansite-anm', 'fansite-dcd', 'sdcd', 'pc', 'ges', 'marvel', 'dagma', 'notears', 'cosmo', 'dat']
    """
    if kind is not None and kind not in _KINDS:
        raise ValueError(f"kind = {kind!r} is unknown; give 'boundary', 'graph' or 'entropy', or None for all.")
    return [
        Method(
            each,
            row["name"],
            row["summary"],
            row["citation"],
            row["capabilities"],
            _parameters(row["parameters"]),
        )
        for each in _KINDS
        if kind in (None, each)
        for row in _LISTS[_KINDS[each]]
    ]


def method_named(kind: str, name: Any, parameter: str) -> Method:
    """The one called so; a ValueError that lists them if there is none."""
    found = methods(kind)
    for each in found:
        if each.name == name:
            return each
    names = [each.name for each in found]
    near = _core.nearest_name(str(name), names)
    meant = f"did you mean {near!r}? Else " if near else ""
    words = " or ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
    raise ValueError(f"[{parameter}] {name!r} is unknown; {meant}use {words}.")

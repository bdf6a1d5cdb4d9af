# SPDX-License-Identifier: Apache-2.0
"""What is known before looking at the data."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from . import _core
from ._labels import name_of, unknown


class Knowledge:
    """Edges that must or cannot be, tiers, roots, sinks, and pairs in or out of each other's boundary.

    The lines are those of docs/knowledge.md, checked against the names and against each other; contradictions are
    refused. Results satisfy them strictly.

    Parameters
    ----------
    text : str
        The lines.
    names : sequence of str
        The columns of the table that they are about.

    Examples
    --------
    >>> known = fansite.Knowledge("tier 1: age\\ntier 2: diet pressure", ["age", "diet", "pressure"])
    >>> known.allows("pressure", "age")
    False
    >>> known.allows("age", "pressure")
    True
    """

    def __init__(self, text: str, names: Sequence[str]) -> None:
        self._set(_core.Knowledge.parse(text, "the knowledge", [name_of(name) for name in names]), names)

    def _set(self, known: _core.Knowledge, names: Sequence[str]) -> None:
        self.names: list[str] = [name_of(name) for name in names]
        self._known = known

    def allows(self, cause: str, effect: str) -> bool:
        """Whether the edge cause -> effect may be there, as far as all lines together say.

        Parameters
        ----------
        cause, effect : str
            The variables.
        """
        return self._known.allows(self._place(cause), self._place(effect))

    def requires(self, cause: str, effect: str) -> bool:
        """Whether the edge cause -> effect must be there.

        Parameters
        ----------
        cause, effect : str
            The variables.
        """
        return self._known.requires_edge(self._place(cause), self._place(effect))

    def in_boundary(self, one: str, other: str) -> bool:
        """Whether the two are known to be in each other's Markov boundary.

        Parameters
        ----------
        one, other : str
            The variables.
        """
        return self._known.in_boundary(self._place(one), self._place(other))

    def out_of_boundary(self, one: str, other: str) -> bool:
        """Whether the two are known not to be in each other's Markov boundary.

        Parameters
        ----------
        one, other : str
            The variables.
        """
        return self._known.out_of_boundary(self._place(one), self._place(other))

    def violations(self, adjacency: Any) -> list[str]:
        """What a graph does against the knowledge, one sentence each.

        Parameters
        ----------
        adjacency : array-like of shape (variables, variables)
            A[i, j] != 0 means i -> j; both entries are an edge of open direction.
        """
        edges = np.asarray(adjacency) != 0
        both = edges & edges.T
        return self._known.violations((edges & ~both).astype(np.uint8), both.astype(np.uint8))

    def to_text(self) -> str:
        """The lines, in their own format."""
        return self._known.to_text()

    def __repr__(self) -> str:
        return f"Knowledge({self.to_text()!r}, names=<{len(self.names)} variables>)"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Knowledge):
            return NotImplemented
        return self.names == other.names and self.to_text() == other.to_text()

    def __hash__(self) -> int:
        return hash((tuple(self.names), self.to_text()))

    def __reduce__(self) -> tuple[Any, ...]:
        return (Knowledge, (self.to_text(), self.names))

    def _place(self, name: str) -> int:
        if name_of(name) not in self.names:
            raise ValueError(unknown(name_of(name), self.names, "[knowledge] no variable is called"))
        return self.names.index(name_of(name))


def load_knowledge(path: str | os.PathLike[str], names: Sequence[str]) -> Knowledge:
    """Read knowledge from a file: lines of docs/knowledge.md, CSV with from,to,kind, or Tetrad's.

    Parameters
    ----------
    path : str or path-like
        The file.
    names : sequence of str
        The columns of the table that it is about.

    Returns
    -------
    Knowledge
    """
    knowledge = Knowledge.__new__(Knowledge)
    knowledge._set(_core.load_knowledge(os.fspath(path), [name_of(name) for name in names]), names)
    return knowledge


def for_table(knowledge: Knowledge | str | os.PathLike[str] | None, names: Sequence[str]) -> _core.Knowledge:
    """What C++ wants: about exactly these columns."""
    if knowledge is None:
        return _core.Knowledge()
    if isinstance(knowledge, Knowledge):
        return knowledge._known if knowledge.names == list(names) else Knowledge(knowledge.to_text(), names)._known
    return _core.load_knowledge(os.fspath(knowledge), list(names))

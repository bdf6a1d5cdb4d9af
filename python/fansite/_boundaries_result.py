# SPDX-License-Identifier: Apache-2.0
"""Markov boundaries as values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from . import _core, _explain, _exports, _html
from ._explain import Explanation
from ._exports import imported
from ._labels import found_in, name_of
from ._result import TableResult, number

_INFINITE = float("inf")
_UNKNOWN = float("nan")


@dataclass(frozen=True, slots=True)
class Interchangeable:
    """A variable outside a boundary that could take a member's place."""

    name: str
    cost: float
    """Entropy of the target, in nats, that comes back."""
    se: float


@dataclass(frozen=True, slots=True)
class Member:
    """A variable of a boundary, and the evidence for it."""

    name: str
    gain: float
    """Entropy of the target, in nats, that it takes away given the members before it; the gains add up."""
    se: float
    """Standard error of the gain, over rows."""
    unique: float
    """Entropy that comes back if this member alone is left out."""
    p_value: float
    q_value: float
    """The smallest false discovery rate, over the table, at which it is in; NaN if the data did not decide."""
    votes: float = _UNKNOWN
    """Flows: the share of networks that speak for it."""
    stability: float = _UNKNOWN
    """The share of 100 resamples of the rows in which it is in, networks and other members staying as they are."""
    by_symmetry: bool = False
    by_graph: bool = False
    against_graph: bool = False
    """The causal graph would drop it, but does not explain what the data show of it."""
    by_knowledge: bool = False
    fragile: bool = False
    """A hidden common cause may be behind it: it touches a pair of which a causal graph leaves over what is related, or
    the mean of an end changes along the rows."""
    robustness_to_hidden_cause: float = _UNKNOWN
    """The share of what is left of both that a hidden common cause must explain to explain the member away."""
    robustness_to_noise: float = _UNKNOWN
    """The share of measurement noise in each of the other members that would; NaN if none would."""
    role: str | None = None
    """With a graph: parent, child, spouse or undecided."""
    through: tuple[str, ...] = ()
    """A spouse's common children with the target."""
    interchangeable: tuple[Interchangeable, ...] = ()
    """Variables outside the boundary that could take its place."""


@dataclass(frozen=True, slots=True)
class NearMiss:
    """A variable that was nearly in, and why it is not."""

    name: str
    gain: float
    se: float
    p_value: float
    q_value: float
    reason: str


@dataclass(frozen=True, slots=True)
class PathStep:
    """A variable taken in while growing, and the entropy of the target given it and all before, on held-out rows."""

    name: str
    conditional_entropy: float


@dataclass(frozen=True, slots=True)
class Boundary:
    """The Markov boundary of one variable."""

    target: str
    entropy: float
    """H(target) in nats; minus infinity for a constant column."""
    conditional_entropy: float
    """H(target | boundary); minus infinity if the boundary determines the target."""
    members: tuple[Member, ...]
    """In order of admission."""
    near_misses: tuple[NearMiss, ...]
    path: tuple[PathStep, ...]
    """Flows: the order of admission, beyond the boundary too."""
    copy_of: str | None = None

    @property
    def names(self) -> list[str]:
        """Names of the members, in order of admission."""
        return [member.name for member in self.members]

    def _repr_html_(self) -> str:
        return _html.boundary(self)


@dataclass(frozen=True, eq=False, repr=False)
class BoundariesResult(TableResult):
    """The boundaries of a table, with all that they rest on; equal if all but the timing is."""

    estimator: str
    """The one that was used, gaussian or flow."""
    linearity: dict[str, Any] | None
    """The test that chose the estimator."""
    graph: dict[str, Any] | None
    """The causal graph that was asked for the last word, if one was."""
    training: dict[str, Any] | None
    """Flow: how the networks' loss fell."""
    calibration: dict[str, Any] | None
    """Flow: whether each target's distribution given its boundary holds on rows that the networks have not seen."""
    boundaries: dict[str, Boundary]
    moral_edges: list[tuple[str, str]]
    _FORMAT: ClassVar[str] = "fansite.boundaries/2"
    _COMMAND: ClassVar[str] = "fansite mb"

    @classmethod
    def _fields(cls, read: dict[str, Any]) -> dict[str, Any]:
        return {
            **super()._fields(read),
            "estimator": read["estimator"],
            "linearity": read.get("linearity"),
            "graph": read.get("graph"),
            "training": read.get("training"),
            "calibration": read.get("calibration"),
            "boundaries": {entry["target"]: _boundary(entry) for entry in read["boundaries"]},
            "moral_edges": [(first, second) for first, second in read["moral_edges"]],
        }

    def __getitem__(self, target: str) -> Boundary:
        found: Boundary = found_in(self.boundaries, target, "[boundaries] there is no boundary of")
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self.boundaries)

    def __len__(self) -> int:
        return len(self.boundaries)

    def explain(self, target: str) -> Explanation:
        """What was found of a variable, in sentences: its members and near misses, with numbers and with warnings.

        Parameters
        ----------
        target : str
            The variable.
        """
        return _explain.of_boundary(self, target)

    def moral_graph(self) -> np.ndarray[Any, Any]:
        """Symmetric 0/1 matrix: pairs with one in the other's boundary."""
        place = {name: i for i, name in enumerate(self.variables)}
        graph = np.zeros((len(self.variables), len(self.variables)), dtype=np.uint8)
        for first, second in self.moral_edges:
            graph[place[first], place[second]] = graph[place[second], place[first]] = 1
        return graph

    def to_pandas(self) -> Any:
        """One row for each member of each boundary, as a pandas DataFrame."""
        pd = imported("pandas", "pandas", "to_pandas")

        fields = ["target", *Member.__dataclass_fields__]
        rows = [
            [boundary.target, *(getattr(member, name) for name in fields[1:])]
            for boundary in self.boundaries.values()
            for member in boundary.members
        ]
        return pd.DataFrame(rows, columns=["target", "member", *fields[2:]])

    def to_networkx(self) -> Any:
        """The moral graph as a networkx Graph; an edge's ``gain`` is the larger of its two."""
        return _exports.boundaries_to_networkx(self)

    def to_igraph(self) -> Any:
        """The same as an igraph Graph; names are strings, in ``vs["name"]``."""
        return _exports.boundaries_to_igraph(self)

    def to_dot(self) -> str:
        """The moral graph in Graphviz's language."""
        return _core.to_dot(self.moral_graph(), [name_of(variable) for variable in self.variables], False)

    def __repr__(self) -> str:
        by = f", {self.estimator} estimator" if self.estimator else ""
        found = "boundary" if len(self.boundaries) == 1 else "boundaries"
        return f"BoundariesResult({len(self.boundaries)} {found} of {self.rows} rows{by})"

    def _repr_html_(self) -> str:
        return _html.boundaries(self)


def _boundary(entry: dict[str, Any]) -> Boundary:
    return Boundary(
        target=entry["target"],
        entropy=number(entry["entropy"], -_INFINITE),
        conditional_entropy=number(entry["conditional_entropy"], -_INFINITE),
        members=tuple(_member(member) for member in entry["members"]),
        near_misses=tuple(_near_miss(miss) for miss in entry["near_misses"]),
        path=tuple(
            PathStep(step["name"], number(step["conditional_entropy"], -_INFINITE)) for step in entry.get("path", ())
        ),
        copy_of=entry.get("copy_of"),
    )


def _member(entry: dict[str, Any]) -> Member:
    return Member(
        **_evidence(entry),
        unique=number(entry["unique"], _INFINITE),
        votes=entry.get("votes", _UNKNOWN),
        stability=entry.get("stability", _UNKNOWN),
        by_symmetry=entry.get("by_symmetry", False),
        by_graph=entry.get("by_graph", False),
        against_graph=entry.get("against_graph", False),
        by_knowledge=entry.get("by_knowledge", False),
        fragile=entry.get("fragile", False),
        robustness_to_hidden_cause=number(entry.get("robustness", {}).get("hidden_cause"), _UNKNOWN),
        robustness_to_noise=number(entry.get("robustness", {}).get("measurement_noise"), _UNKNOWN),
        role=entry.get("role"),
        through=tuple(entry.get("through", ())),
        interchangeable=tuple(_stand_in(each) for each in entry.get("interchangeable", ())),
    )


def _stand_in(entry: dict[str, Any]) -> Interchangeable:
    return Interchangeable(entry["name"], number(entry["cost"], _INFINITE), number(entry["se"], _UNKNOWN))


def _near_miss(entry: dict[str, Any]) -> NearMiss:
    return NearMiss(**_evidence(entry), reason=entry["reason"])


def _evidence(entry: dict[str, Any]) -> dict[str, Any]:
    """What members and near misses both have."""
    return {
        "name": entry["name"],
        "gain": number(entry["gain"], _INFINITE),
        "se": number(entry["se"], _UNKNOWN),
        "p_value": number(entry["p_value"], _UNKNOWN),
        "q_value": number(entry.get("q_value"), _UNKNOWN),
    }

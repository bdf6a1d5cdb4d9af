# SPDX-License-Identifier: Apache-2.0
"""Causal graphs as values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, overload

import numpy as np

from . import _core, _explain, _exports, _html
from ._explain import Explanation
from ._exports import imported
from ._labels import name_of
from ._result import TableResult, number


@dataclass(frozen=True, slots=True)
class Evidence:
    """A difference of scores, in nats a row."""

    value: float
    se: float
    """Standard error over rows."""
    stability: float
    """The share of 100 resamples of the rows in which it is positive."""


@dataclass(frozen=True, slots=True)
class Edge:
    """An edge, source -> target; of one that is not directed, the direction in the best graph."""

    source: str
    target: str
    directed: bool
    weight: float
    existence: Evidence | None = None
    """fansite-anm: what the target's residuals lose without it."""
    direction: Evidence | None = None
    """fansite-anm: what the best graph with it turned round loses; infinite if that is forbidden."""
    direction_by: str | None = None
    """fansite-anm: score, collider, consequence, knowledge or undecided."""
    fragile: bool = False
    """fansite-anm: it touches one of ``hidden_causes``."""


@dataclass(frozen=True, slots=True)
class HiddenCause:
    """Two variables of which the graph's equations leave over what is related."""

    a: str
    b: str
    correlation: float
    p_value: float


@dataclass(frozen=True, slots=True)
class Role:
    """What a member of a variable's boundary is to it: parent, child, spouse or undecided."""

    name: str
    role: str
    through: tuple[str, ...] = ()
    """A spouse's common children with the variable."""


@dataclass(frozen=True, eq=False, repr=False)
class GraphResult(TableResult):
    """A causal graph, with all that it rests on; equal if all but the timing is. Iterates over its edges."""

    additivity: dict[str, Any] | None
    """fansite-anm: the test of additive noise."""
    edges: list[Edge]
    hidden_causes: list[HiddenCause]
    """fansite-anm: pairs that a cause outside the table may link, the surest first."""
    roles: dict[str, list[Role]]
    weights: np.ndarray[Any, Any] = field(repr=False)
    """weights[i, j] is of i -> j."""
    _FORMAT: ClassVar[str] = "fansite.graph/2"
    _COMMAND: ClassVar[str] = "fansite dag"

    @classmethod
    def _fields(cls, read: dict[str, Any]) -> dict[str, Any]:
        weights = [[number(weight, float("inf")) for weight in row] for row in read["weights"]]
        return {
            **super()._fields(read),
            "additivity": read.get("additivity"),
            "edges": [_edge(entry) for entry in read["edges"]],
            "hidden_causes": [HiddenCause(**entry) for entry in read.get("hidden_causes", [])],
            "roles": {entry["target"]: [_role(member) for member in entry["members"]] for entry in read["roles"]},
            "weights": np.array(weights, dtype=np.float64).reshape(len(weights), -1),
        }

    def __iter__(self) -> Iterator[Edge]:
        return iter(self.edges)

    def __len__(self) -> int:
        return len(self.edges)

    def explain(self, variable: str) -> Explanation:
        """What was found of a variable, in sentences: causes, effects, undecided edges, their evidence, hidden causes.

        Parameters
        ----------
        variable : str
            The variable.
        """
        return _explain.of_graph(self, variable)

    def adjacency(self) -> np.ndarray[Any, Any]:
        """0/1 matrix: A[i, j] = 1 means i -> j; an edge whose direction is undecided has both entries."""
        directed, undirected = self._parts()
        adjacency: np.ndarray[Any, Any] = directed | undirected
        return adjacency

    def to_pandas(self) -> Any:
        """One row for each edge, as a pandas DataFrame."""
        pd = imported("pandas", "pandas", "to_pandas")

        rows = [
            {
                "source": edge.source,
                "target": edge.target,
                "directed": edge.directed,
                "weight": edge.weight,
                **_columns("existence", edge.existence),
                **_columns("direction", edge.direction),
                "direction_by": edge.direction_by,
                "fragile": edge.fragile,
            }
            for edge in self.edges
        ]
        columns = ["source", "target", "directed", "weight"]
        columns += [*_columns("existence", None), *_columns("direction", None), "direction_by", "fragile"]
        return pd.DataFrame(rows, columns=columns)

    def to_networkx(self) -> Any:
        """A networkx DiGraph; an undecided edge is there in both directions, with ``directed`` False.

        Edges have ``weight`` and ``fragile``. Pairs that a hidden cause may link are named in
        ``graph.graph["hidden_causes"]``.
        """
        return _exports.graph_to_networkx(self)

    def to_igraph(self) -> Any:
        """The same as a directed igraph Graph; names are strings, in ``vs["name"]``."""
        return _exports.graph_to_igraph(self)

    def to_pgmpy(self, *, hidden_causes: bool = True) -> Any:
        """A pgmpy DAG if all directions are decided, else a pgmpy PDAG, whose undirected edges are the undecided ones.

        Parameters
        ----------
        hidden_causes : bool
            Give each of ``hidden_causes`` a latent node, U_a_b -> a and U_a_b -> b.
        """
        return _exports.to_pgmpy(self, hidden_causes)

    def to_causallearn(self) -> Any:
        """A causal-learn GeneralGraph.

        ``-->`` is a directed edge and ``---`` an undecided one. Where a hidden cause may link the two ends it is
        ``o->`` and ``o-o``, and ``<->`` links pairs of ``hidden_causes`` that no edge does.
        """
        return _exports.to_causallearn(self)

    @overload
    def to_dowhy(self, *, undecided: Literal["error", "best"] = ..., hidden_causes: bool = ...) -> str: ...
    @overload
    def to_dowhy(self, *, undecided: Literal["all"], hidden_causes: bool = ...) -> list[str]: ...
    def to_dowhy(
        self, *, undecided: Literal["error", "best", "all"] = "error", hidden_causes: bool = True
    ) -> str | list[str]:
        """The graph in GML for ``dowhy.CausalModel(data, treatment, outcome, graph=...)``, which needs every direction.

        Its nodes have strings for names. Where labels of columns are none, ``name_of`` has the string of each: rename
        the data's columns too, ``data.set_axis([fansite.name_of(label) for label in data.columns], axis=1)``.

        Parameters
        ----------
        undecided : {'error', 'best', 'all'}
            Edges of undecided direction: a ValueError that names them; as in the best graph of fansite-anm; or a list
            of every graph that directs them without a cycle or a new collider, so that effects come as a range.
        hidden_causes : bool
            Give each of ``hidden_causes`` an unobserved node, U_a_b -> a and U_a_b -> b, so that no effect is called
            identified that it would bias.
        """
        return _exports.to_dowhy(self, undecided, hidden_causes)

    def to_dot(self) -> str:
        """The same text as ``fansite dag --dot`` writes, in Graphviz's language; pairs with a hidden cause are dashed."""
        directed, undirected = self._parts()
        place = {name: i for i, name in enumerate(self.variables)}
        hidden = [(place[pair.a], place[pair.b]) for pair in self.hidden_causes]
        return _core.to_dot(directed, undirected, [name_of(variable) for variable in self.variables], hidden)

    def __repr__(self) -> str:
        undecided = sum(not edge.directed for edge in self.edges)
        edges = f"{len(self.edges)} edge{'s' * (len(self.edges) != 1)}"
        return f"GraphResult({edges} of {self.rows} rows, {undecided} of undecided direction)"

    def _repr_html_(self) -> str:
        return _html.graph(self)

    def _parts(self) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        place = {name: i for i, name in enumerate(self.variables)}
        shape = (len(self.variables), len(self.variables))
        directed, undirected = np.zeros(shape, dtype=np.uint8), np.zeros(shape, dtype=np.uint8)
        for edge in self.edges:
            source, target = place[edge.source], place[edge.target]
            if edge.directed:
                directed[source, target] = 1
            else:
                undirected[source, target] = undirected[target, source] = 1
        return directed, undirected


def _edge(entry: dict[str, Any]) -> Edge:
    return Edge(
        source=entry["from"],
        target=entry["to"],
        directed=entry["directed"],
        weight=number(entry["weight"], float("inf")),
        existence=_evidence(entry.get("existence")),
        direction=_evidence(entry.get("direction")),
        direction_by=entry.get("direction_by"),
        fragile=entry.get("fragile", False),
    )


def _evidence(entry: dict[str, Any] | None) -> Evidence | None:
    if entry is None:
        return None
    not_weighed = entry["se"] is None  # time ran out
    value = float("nan") if not_weighed else number(entry["value"], float("inf"))
    return Evidence(value, number(entry["se"], float("nan")), entry["stability"])


def _role(entry: dict[str, Any]) -> Role:
    return Role(entry["name"], entry["role"], tuple(entry.get("through", ())))


def _columns(name: str, evidence: Evidence | None) -> dict[str, float | None]:
    return {
        name: evidence.value if evidence else None,
        f"{name}_se": evidence.se if evidence else None,
        f"{name}_stability": evidence.stability if evidence else None,
    }

# SPDX-License-Identifier: Apache-2.0
"""Graphs as other packages have them. What is not decided, and what a hidden cause may be behind, goes with them."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ._labels import name_of

if TYPE_CHECKING:
    from ._boundaries_result import BoundariesResult
    from ._graph_result import Edge, GraphResult

Arrow = tuple[Any, Any]
"""A cause and its effect."""

_MOST_GRAPHS = 1000  # DoWhy takes a second or so for each


def imported(module: str, extra: str, operation: str) -> Any:
    """A package that only this needs; an ImportError that says how to get it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = "" if error.name in (None, module.split(".")[0]) else f" ({error})"
        sentence = f"[{operation}] this needs {extra}{package}: pip install fansite[{extra}]"
        raise ImportError(sentence, name=error.name) from error


# ---- Drawn and walked through ---------------------------------------------------------------------------------------


def graph_to_networkx(result: GraphResult) -> Any:
    graph = imported("networkx", "networkx", "to_networkx").DiGraph()
    graph.add_nodes_from(result.variables)
    for source, target, attributes in _arrows(result):
        graph.add_edge(source, target, **attributes)
    if result.hidden_causes:
        graph.graph["hidden_causes"] = _pairs_in_words(result)
    return graph


def graph_to_igraph(result: GraphResult) -> Any:
    igraph = imported("igraph", "igraph", "to_igraph")
    place = {variable: i for i, variable in enumerate(result.variables)}
    arrows = list(_arrows(result))
    graph = igraph.Graph(len(place), [(place[a], place[b]) for a, b, _ in arrows], directed=True)
    graph.vs["name"] = [name_of(variable) for variable in result.variables]
    for attribute in ("directed", "weight", "fragile"):
        graph.es[attribute] = [attributes[attribute] for _, _, attributes in arrows]
    if result.hidden_causes:
        graph["hidden_causes"] = _pairs_in_words(result)
    return graph


def _arrows(result: GraphResult) -> Iterable[tuple[Any, Any, dict[str, Any]]]:
    """The edges with their attributes, undecided ones in both directions."""
    place = {variable: i for i, variable in enumerate(result.variables)}
    for edge in result.edges:
        ends = [(edge.source, edge.target), (edge.target, edge.source)]
        for source, target in ends[: 1 if edge.directed else 2]:
            weight = float(result.weights[place[source], place[target]])
            yield source, target, {"directed": edge.directed, "weight": weight, "fragile": edge.fragile}


def _pairs_in_words(result: GraphResult) -> str:
    """A string, since GraphML and GML have no lists."""
    return "; ".join(f"{name_of(pair.a)} <-> {name_of(pair.b)}" for pair in result.hidden_causes)


def moral_gains(result: BoundariesResult) -> list[tuple[Any, Any, float]]:
    """The moral edges, each with the larger of its two gains; NaN: neither is known."""
    gains: dict[frozenset[Any], float] = {}
    for boundary in result.boundaries.values():
        for member in boundary.members:
            pair = frozenset((boundary.target, member.name))
            gains[pair] = max(gains.get(pair, -float("inf")), member.gain)
    return [(a, b, gains.get(frozenset((a, b)), float("nan"))) for a, b in result.moral_edges]


def boundaries_to_networkx(result: BoundariesResult) -> Any:
    graph = imported("networkx", "networkx", "to_networkx").Graph()
    graph.add_nodes_from(result.variables)
    for first, second, gain in moral_gains(result):
        graph.add_edge(first, second, gain=gain)
    return graph


def boundaries_to_igraph(result: BoundariesResult) -> Any:
    igraph = imported("igraph", "igraph", "to_igraph")
    place = {variable: i for i, variable in enumerate(result.variables)}
    edges = moral_gains(result)
    graph = igraph.Graph(len(place), [(place[a], place[b]) for a, b, _ in edges])
    graph.vs["name"] = [name_of(variable) for variable in result.variables]
    graph.es["gain"] = [gain for _, _, gain in edges]
    return graph


# ---- Causal packages ------------------------------------------------------------------------------------------------


def to_pgmpy(result: GraphResult, hidden_causes: bool) -> Any:
    base = imported("pgmpy.base", "pgmpy", "to_pgmpy")
    directed = [(edge.source, edge.target) for edge in result.edges if edge.directed]
    undirected = [(edge.source, edge.target) for edge in result.edges if not edge.directed]
    latents = _latents(result) if hidden_causes else {}
    directed += [(latent, end) for latent, ends in latents.items() for end in ends]
    if undirected:
        graph = base.PDAG(directed_ebunch=directed, undirected_ebunch=undirected, latents=set(latents))
    else:
        graph = base.DAG(directed, latents=set(latents))
    graph.add_nodes_from(variable for variable in result.variables if variable not in graph)
    return graph


def to_causallearn(result: GraphResult) -> Any:
    needed = "causallearn.graph"
    general = imported(f"{needed}.GeneralGraph", "causal-learn", "to_causallearn")
    node = imported(f"{needed}.GraphNode", "causal-learn", "to_causallearn").GraphNode
    edge_of = imported(f"{needed}.Edge", "causal-learn", "to_causallearn").Edge
    ends = imported(f"{needed}.Endpoint", "causal-learn", "to_causallearn").Endpoint
    nodes = {variable: node(name_of(variable)) for variable in result.variables}
    graph = general.GeneralGraph(list(nodes.values()))
    hidden = {frozenset((pair.a, pair.b)) for pair in result.hidden_causes}
    for edge in result.edges:
        unknown = frozenset((edge.source, edge.target)) in hidden
        hidden.discard(frozenset((edge.source, edge.target)))
        first = ends.CIRCLE if unknown else ends.TAIL
        graph.add_edge(edge_of(nodes[edge.source], nodes[edge.target], first, ends.ARROW if edge.directed else first))
    for pair in result.hidden_causes:
        if frozenset((pair.a, pair.b)) in hidden:
            graph.add_edge(edge_of(nodes[pair.a], nodes[pair.b], ends.ARROW, ends.ARROW))
    return graph


def to_dowhy(result: GraphResult, undecided: str, hidden_causes: bool) -> str | list[str]:
    if undecided not in ("error", "best", "all"):
        raise ValueError(f"undecided = {undecided!r} is unknown; use 'error', 'best' or 'all'.")
    decided = [(edge.source, edge.target) for edge in result.edges if edge.directed]
    is_open = [edge for edge in result.edges if not edge.directed]
    _check_acyclic(decided)
    if undecided == "all":
        ways = _directed_ways(decided, is_open)
        return [_gml(result, decided + way, hidden_causes) for way in ways]
    if is_open and undecided == "error":
        raise ValueError(
            f"[to_dowhy] the data do not decide the direction of {_in_words(is_open)}, and DoWhy needs a direction for "
            "every edge. Say what you know with CausalGraph(knowledge=...), or take every graph that they allow with "
            "undecided='all', or the directions of the best one with undecided='best'."
        )
    if any(edge.direction_by is None for edge in is_open):
        method = result.settings.get("method", "this method")
        raise ValueError(
            f"[to_dowhy] {method} has no best graph that would direct {_in_words(is_open)}. Say what you know with "
            "CausalGraph(knowledge=...), or take every graph with undecided='all'."
        )
    best = decided + [(edge.source, edge.target) for edge in is_open]
    _check_acyclic(best)
    return _gml(result, best, hidden_causes)


def _gml(result: GraphResult, arrows: list[Arrow], hidden_causes: bool) -> str:
    nodes = [name_of(variable) for variable in result.variables]
    edges = [(name_of(source), name_of(target)) for source, target in arrows]
    for latent, ends in (_latents(result) if hidden_causes else {}).items():
        nodes.append(latent)
        edges += [(latent, name_of(end)) for end in ends]
    place = {name: i for i, name in enumerate(nodes)}
    words = [f'node [ id {i} label "{_escaped(name)}" ]' for name, i in place.items()]
    words += [f"edge [ source {place[source]} target {place[target]} ]" for source, target in edges]
    return f"graph [ directed 1 {' '.join(words)} ]"  # in one line, without which DoWhy does not know it for GML


def _directed_ways(decided: list[Arrow], is_open: list[Edge]) -> list[list[Arrow]]:
    """Every way to direct the open edges that makes no cycle, and no new collider of causes that are not linked.

    Such a collider would have shown in the data. If each way has one, those without a cycle are all there is.
    """
    linked = {frozenset(pair) for pair in decided} | {frozenset((edge.source, edge.target)) for edge in is_open}

    def collides(arrow: Arrow, arrows: list[Arrow]) -> bool:
        source, target = arrow
        return any(to == target and frozenset((cause, source)) not in linked for cause, to in arrows)

    def ways(strict: bool) -> list[list[Arrow]]:
        found: list[list[Arrow]] = [[]]
        for edge in is_open:
            found = [
                [*way, arrow]
                for way in found
                for arrow in ((edge.source, edge.target), (edge.target, edge.source))
                if not (strict and collides(arrow, decided + way)) and not _cycle([*decided, *way, arrow])
            ]
            if len(found) > _MOST_GRAPHS:
                raise ValueError(
                    f"[to_dowhy] the {len(is_open)} undecided edges allow more than {_MOST_GRAPHS} graphs. Say what you "
                    "know with CausalGraph(knowledge=...)."
                )
        return found

    return ways(strict=True) or ways(strict=False)


def _latents(result: GraphResult) -> dict[str, tuple[Any, Any]]:
    """A node for each hidden cause: its name, and the two variables that it acts on."""
    names = {name_of(variable) for variable in result.variables}
    latents: dict[str, tuple[Any, Any]] = {}
    for pair in result.hidden_causes:
        latent = f"U_{name_of(pair.a)}_{name_of(pair.b)}"
        while latent in names:
            latent += "'"
        names.add(latent)
        latents[latent] = (pair.a, pair.b)
    return latents


def _in_words(edges: list[Edge]) -> str:
    words = [f"{name_of(edge.source)} -- {name_of(edge.target)}" for edge in edges]
    shown = words[:5] + ([f"{len(words) - 5} more"] if len(words) > 5 else [])
    return " and ".join([", ".join(shown[:-1]), shown[-1]]) if len(shown) > 1 else shown[0]


def _escaped(name: str) -> str:
    """GML's entities for all that it, or DoWhy's search for file endings, could take for something else."""
    return "".join(c if c.isascii() and (c.isalnum() or c in " _-") else f"&#{ord(c)};" for c in name)


def _check_acyclic(arrows: list[Arrow]) -> None:
    if cycle := _cycle(arrows):
        words = " -> ".join(name_of(node) for node in [*cycle, cycle[0]])
        raise ValueError(f"[to_dowhy] the graph has a cycle, {words}, and DoWhy needs one without.")


def _cycle(arrows: list[Arrow]) -> list[Any]:
    """The nodes of a cycle, if there is one: what is left when all without causes go, again and again, leads up to it."""
    causes: dict[Any, set[Any]] = {node: set() for arrow in arrows for node in arrow}
    for source, target in arrows:
        causes[target].add(source)
    while free := [node for node, of in causes.items() if not of]:
        for node in free:
            del causes[node]
        for of in causes.values():
            of.difference_update(free)
    upwards: list[Any] = []
    node = next(iter(causes), None)
    while causes and node not in upwards:
        upwards.append(node)
        node = next(source for source, target in arrows if target == node and source in causes)
    return upwards[upwards.index(node) :][::-1] if causes else []

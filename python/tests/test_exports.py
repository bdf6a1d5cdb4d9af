# SPDX-License-Identifier: Apache-2.0
"""Graphs in other packages: every edge, what is undecided, and what a hidden cause may be behind."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest

import fansite

pytestmark = pytest.mark.filterwarnings("ignore")  # of other packages, while they are imported
NAMES = ["diet", 'a "b" {c}', "größe & so", "x.dot", "y.gml", "f[1]"]


def edge(source: str, target: str, directed: bool, **more: Any) -> dict[str, Any]:
    by = "score" if directed else "undecided"
    return {"from": source, "to": target, "directed": directed, "weight": 0.5, "direction_by": by, **more}


def graph_of(
    edges: list[dict[str, Any]], hidden: list[tuple[str, str]] = (), method: str = "fansite-anm"
) -> fansite.GraphResult:
    place = {name: i for i, name in enumerate(NAMES)}
    weights = np.zeros((len(NAMES), len(NAMES)))
    for each in edges:
        weights[place[each["from"]], place[each["to"]]] = 0.5
        if not each["directed"]:
            weights[place[each["to"]], place[each["from"]]] = 0.25
    return fansite.from_json(
        {
            "format": "fansite.graph/2", "version": "0", "variables": NAMES, "rows": 100, "settings": {"method": method},
            "warnings": [], "manifest": {}, "complete": True, "edges": edges, "roles": [], "weights": weights.tolist(),
            "hidden_causes": [{"a": a, "b": b, "correlation": 0.3, "p_value": 1e-5} for a, b in hidden], "timing": {},
        }
    )  # fmt: skip


A, B, C, D, E, F = NAMES


@pytest.fixture(scope="module")
def decided() -> fansite.GraphResult:
    return graph_of([edge(A, B, True), edge(B, C, True), edge(D, C, True)])


@pytest.fixture(scope="module")
def open_ended() -> fansite.GraphResult:
    """A directed and an undecided edge, one of each with a hidden cause, and a pair with a hidden cause alone."""
    edges = [edge(A, B, True, fragile=True), edge(B, C, False), edge(C, D, False, fragile=True), edge(A, D, True)]
    return graph_of(edges, [(B, A), (C, D), (A, E)])


def test_networkx(open_ended, tmp_path) -> None:
    graph = open_ended.to_networkx()
    assert set(graph) == set(NAMES)
    assert graph[A][B] == {"directed": True, "weight": 0.5, "fragile": True} and not graph.has_edge(B, A)
    assert graph[B][C]["directed"] is graph[C][B]["directed"] is False and graph[C][B]["weight"] == 0.25
    assert graph.graph["hidden_causes"] == f"{B} <-> {A}; {C} <-> {D}; {A} <-> {E}"
    nx.write_graphml(graph, tmp_path / "graph.graphml")  # which has no lists


def test_igraph(open_ended, boundaries, tmp_path) -> None:
    graph = open_ended.to_igraph()
    assert graph.is_directed() and graph.vs["name"] == NAMES
    theirs = {(NAMES[e.source], NAMES[e.target]): e.attributes() for e in graph.es}
    assert theirs == {(a, b): data for a, b, data in open_ended.to_networkx().edges(data=True)}
    assert graph["hidden_causes"] == open_ended.to_networkx().graph["hidden_causes"]
    graph.write_graphml(str(tmp_path / "graph.graphml"))
    moral = boundaries.to_igraph()
    assert not moral.is_directed()
    theirs = {frozenset((moral.vs["name"][e.source], moral.vs["name"][e.target])): e["gain"] for e in moral.es}
    assert theirs == {frozenset((a, b)): gain for a, b, gain in boundaries.to_networkx().edges(data="gain")}


def test_pgmpy(decided, open_ended) -> None:
    base = pytest.importorskip("pgmpy.base")
    dag = decided.to_pgmpy()
    assert isinstance(dag, base.DAG) and set(dag.edges) == {(A, B), (B, C), (D, C)}
    assert set(dag.nodes) == set(NAMES) and not dag.latents
    pdag = open_ended.to_pgmpy(hidden_causes=False)
    assert isinstance(pdag, base.PDAG)
    assert pdag.directed_edges == {(A, B), (A, D)} and pdag.undirected_edges == {(B, C), (C, D)}
    assert set(pdag.nodes) == set(NAMES)
    with_latents = open_ended.to_pgmpy()
    assert with_latents.latents == {f"U_{B}_{A}", f"U_{C}_{D}", f"U_{A}_{E}"}
    assert {(f"U_{A}_{E}", A), (f"U_{A}_{E}", E)} <= with_latents.directed_edges
    assert graph_of([edge(A, B, True)], [(A, B)]).to_pgmpy().latents == {f"U_{A}_{B}"}


def test_causallearn(open_ended) -> None:
    pytest.importorskip("causallearn")
    graph = open_ended.to_causallearn()
    assert graph.get_node_names() == NAMES
    marks = {str(each) for each in graph.get_graph_edges()}
    assert marks == {f"{A} o-> {B}", f"{B} --- {C}", f"{C} o-o {D}", f"{A} --> {D}", f"{A} <-> {E}"}


def test_dowhy_reads_what_is_written(decided) -> None:
    gml = decided.to_dowhy()
    read = nx.parse_gml(gml)
    assert set(read) == set(NAMES) and set(read.edges) == {(A, B), (B, C), (D, C)}
    dowhy = pytest.importorskip("dowhy")
    table = pd.DataFrame(np.random.default_rng(0).normal(size=(50, 6)), columns=NAMES)
    model = dowhy.CausalModel(table, treatment=A, outcome=B, graph=gml)
    assert set(model._graph._graph.edges) == {(A, B), (B, C), (D, C)}


def test_dowhy_and_labels_that_are_no_strings() -> None:
    made = fansite.simulate(nodes=3, rows=300, noise="exponential", random_state=2).values
    table = pd.DataFrame(made, columns=pd.MultiIndex.from_tuples([("blood", "iron"), ("age", ""), ("diet", 7)]))
    gml = fansite.CausalGraph().fit(table).to_dowhy(undecided="best")
    renamed = table.set_axis([fansite.name_of(label) for label in table.columns], axis=1)
    assert list(nx.parse_gml(gml)) == list(renamed.columns) == ["blood/iron", "age", "diet/7"]
    dowhy = pytest.importorskip("dowhy")
    model = dowhy.CausalModel(renamed, treatment="diet/7", outcome="age", graph=gml)
    assert set(model._graph._graph.nodes) == set(renamed.columns)


def test_dowhy_wants_every_direction(decided, open_ended) -> None:
    with pytest.raises(ValueError, match=r"do not decide the direction of .* -- .* and .*knowledge=.*undecided='all'"):
        open_ended.to_dowhy()
    best = nx.parse_gml(open_ended.to_dowhy(undecided="best", hidden_causes=False))
    assert set(best.edges) == {(A, B), (B, C), (C, D), (A, D)}
    with pytest.raises(ValueError, match="undecided = 'both' is unknown; use 'error', 'best' or 'all'"):
        decided.to_dowhy(undecided="both")
    unordered = graph_of([{**edge(A, B, False), "direction_by": None}], method="pc")
    with pytest.raises(ValueError, match=r"\[to_dowhy\] pc has no best graph that would direct diet -- "):
        unordered.to_dowhy(undecided="best")
    # What follows from a cycle, and what leads to it, is not in it.
    behind = [edge(F, D, True), edge(C, D, True), edge(E, A, True), edge(D, F, False)]
    cyclic = graph_of([*behind[:1], edge(C, A, True), edge(A, B, True), edge(B, C, True), *behind[1:]])
    for undecided in ("error", "best", "all"):
        with pytest.raises(ValueError) as told:
            cyclic.to_dowhy(undecided=undecided)
        (cycle,) = re.findall(r"the graph has a cycle, (.*), and DoWhy needs one without", str(told.value))
        assert cycle in (f"{A} -> {B} -> {C} -> {A}", f"{B} -> {C} -> {A} -> {B}", f"{C} -> {A} -> {B} -> {C}")
    turned = graph_of([edge(A, B, True), edge(B, C, True), edge(C, A, False)])
    with pytest.raises(ValueError, match="has a cycle"):
        turned.to_dowhy(undecided="best")
    assert len(turned.to_dowhy(undecided="all")) == 1


def ways(edges: list[dict[str, Any]]) -> list[set[tuple[str, str]]]:
    return [set(nx.parse_gml(gml).edges) for gml in graph_of(edges).to_dowhy(undecided="all")]


def test_dowhy_gets_every_graph_that_is_allowed(decided, monkeypatch) -> None:
    chain = ways([edge(A, B, False), edge(B, C, False)])  # all but the collider
    assert len(chain) == 3 and {(A, B), (C, B)} not in chain
    assert len(ways([edge(A, B, False), edge(B, C, False), edge(A, C, False)])) == 6  # all but the two cycles
    assert ways([edge(D, B, True), edge(B, C, False)]) == [{(D, B), (B, C)}]  # the other one would have shown
    assert ways([edge(A, B, True), edge(C, B, True)]) == [{(A, B), (C, B)}]  # a collider that has shown
    assert decided.to_dowhy(undecided="all") == [decided.to_dowhy()]
    # Either way has a new collider, so that both are left.
    square = ways([edge(A, B, True), edge(C, D, True), edge(B, D, False)])
    assert square == [{(A, B), (C, D), (B, D)}, {(A, B), (C, D), (D, B)}]
    many = [edge(NAMES[i], NAMES[j], False) for i in range(6) for j in range(i)]
    assert len(ways(many)) == 720
    monkeypatch.setattr("fansite._exports._MOST_GRAPHS", 100)
    with pytest.raises(ValueError, match="the 15 undecided edges allow more than 100 graphs. Say what you know"):
        ways(many)


def test_hidden_causes_keep_dowhy_from_adjusting() -> None:
    confounded = graph_of([edge(A, F, True)], [(A, F)])
    read = nx.parse_gml(confounded.to_dowhy())
    assert set(read.edges) == {(A, F), (f"U_{A}_{F}", A), (f"U_{A}_{F}", F)}
    dowhy = pytest.importorskip("dowhy")
    table = pd.DataFrame(np.random.default_rng(0).normal(size=(50, 6)), columns=NAMES)
    for gml, identified in ((confounded.to_dowhy(), False), (confounded.to_dowhy(hidden_causes=False), True)):
        model = dowhy.CausalModel(table, treatment=A, outcome=F, graph=gml)
        estimand = model.identify_effect(proceed_when_unidentifiable=False)
        assert (estimand.estimands.get("backdoor") is not None) == identified


def test_estimators_export_what_they_found(graph) -> None:
    assert nx.utils.graphs_equal(graph.to_networkx(), graph.result_.to_networkx())
    assert graph.to_igraph().vs["name"] == graph.result_.variables
    assert graph.to_dowhy(undecided="best") == graph.result_.to_dowhy(undecided="best")
    assert nx.is_directed_acyclic_graph(nx.parse_gml(graph.to_dowhy(undecided="best")))
    pytest.importorskip("pgmpy")
    assert graph.to_pgmpy().undirected_edges == graph.result_.to_pgmpy().undirected_edges
    pytest.importorskip("causallearn")
    assert np.array_equal(graph.to_causallearn().graph, graph.result_.to_causallearn().graph)


@pytest.mark.parametrize(
    ("method", "module", "extra"),
    [
        ("to_networkx", "networkx", "networkx"),
        ("to_igraph", "igraph", "igraph"),
        ("to_pgmpy", "pgmpy.base", "pgmpy"),
        ("to_causallearn", "causallearn.graph.GeneralGraph", "causal-learn"),
        ("to_pandas", "pandas", "pandas"),
    ],
)
def test_what_is_missing_is_named_with_its_extra(method, module, extra, graph, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=rf"\[{method}\] this needs {extra}.*: pip install fansite\[{extra}\]"):
        getattr(graph, method)()


def test_extras_are_those_of_the_package() -> None:
    project = tomllib.loads((Path(__file__).resolve().parents[2] / "pyproject.toml").read_text())["project"]
    assert {"networkx", "igraph", "pgmpy", "causal-learn", "dowhy", "pandas"} <= set(project["optional-dependencies"])

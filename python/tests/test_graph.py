# SPDX-License-Identifier: Apache-2.0
"""CausalGraph and what it finds."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import fansite


@pytest.fixture(scope="module")
def skewed() -> fansite.Simulation:
    """Noise that is not normal, so that directions show."""
    return fansite.simulate(nodes=5, noise="exponential", rows=300, random_state=2)


@pytest.fixture(scope="module")
def found(skewed) -> fansite.CausalGraph:
    return fansite.CausalGraph().fit(skewed.to_pandas())


def test_finds_the_true_graph(skewed, found) -> None:
    truth = pd.DataFrame(skewed.adjacency, index=skewed.names, columns=skewed.names)
    score = fansite.metrics.score_graph(found.adjacency_, truth)
    assert score.skeleton_f1 > 0.9
    assert score.direction_accuracy > 0.8


def test_rows_cause_columns(found) -> None:
    edge = next(edge for edge in found.edges_ if edge.directed)
    assert found.adjacency_.loc[edge.source, edge.target] == 1
    assert found.adjacency_.loc[edge.target, edge.source] == 0
    assert found.weights_.loc[edge.source, edge.target] == edge.weight
    assert found.to_networkx().has_edge(edge.source, edge.target)
    assert not found.to_networkx().has_edge(edge.target, edge.source)


def test_what_is_undecided_is_said(small, graph) -> None:
    # Normal noise and linear equations: some directions cannot be known.
    undecided = [edge for edge in graph.edges_ if not edge.directed]
    assert undecided
    for edge in undecided:
        assert edge.direction_by == "undecided"
        assert graph.adjacency_.loc[edge.source, edge.target] == graph.adjacency_.loc[edge.target, edge.source] == 1
        assert graph.to_networkx()[edge.target][edge.source]["directed"] is False
    forced = fansite.CausalGraph(dag=True).fit(small.values)
    assert all(edge.directed for edge in forced.edges_)


def test_roles_follow_the_edges(found) -> None:
    roles = found.result_.roles
    edge = next(edge for edge in found.edges_ if edge.directed)
    assert fansite.Role(edge.source, "parent") in roles[edge.target]
    assert fansite.Role(edge.target, "child") in roles[edge.source]


def test_consoles_show_a_line(graph) -> None:
    undecided = sum(not edge.directed for edge in graph.edges_)
    assert repr(graph.result_) == f"GraphResult({len(graph.edges_)} edges of 250 rows, {undecided} of undecided direction)"


def test_as_a_table(graph) -> None:
    table = graph.to_pandas()
    assert len(table) == len(graph.edges_)
    assert list(table["existence"]) == [edge.existence.value for edge in graph.edges_]
    assert {"direction_se", "existence_stability", "direction_by"} <= set(table.columns)


def test_knowledge_is_satisfied(skewed, found) -> None:
    edge = next(edge for edge in found.edges_ if edge.directed)
    known = fansite.Knowledge(f"forbid {edge.source} -> {edge.target}", skewed.names)
    bound = fansite.CausalGraph(knowledge=known).fit(skewed.values)
    assert known.violations(found.adjacency_) != []
    assert known.violations(bound.adjacency_) == []


def test_notebooks_show_a_table(graph) -> None:
    assert "of undecided direction" in graph._repr_html_()
    assert "→" in graph._repr_html_()
    assert fansite.CausalGraph()._repr_html_() is None


def test_boundaries_of_another_table_are_refused(skewed, boundaries) -> None:
    with pytest.raises(ValueError, match="has the boundary of 'x\\d+', which the table does not have"):
        fansite.CausalGraph().fit(skewed.values, boundaries=boundaries)
    some = fansite.MarkovBoundary(targets=["x1"]).fit(skewed.values)
    with pytest.raises(ValueError, match="has the boundaries of 1 of the table's \\d+ variables; give those of all"):
        fansite.CausalGraph().fit(skewed.values, boundaries=some)


def test_columns_in_another_order_get_the_same_boundaries(skewed) -> None:
    table = skewed.to_pandas()
    turned = table[table.columns[::-1]]
    saved = fansite.MarkovBoundary().fit(table)
    links = fansite.CausalGraph(dag=True).fit(turned, boundaries=saved).adjacency_
    moral = saved.moral_graph_.loc[links.index, links.columns]
    assert np.all(np.asarray(links) <= np.asarray(moral))

# SPDX-License-Identifier: Apache-2.0
"""Pictures: what they show, and that layouts keep their promises."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest

import fansite
from fansite import _layout, plots


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def test_boundary_bars_have_error_bars(boundaries) -> None:
    ax = plots.boundary(boundaries, "x3")
    boundary = boundaries.result_["x3"]
    shown = [*boundary.names, *(miss.name for miss in boundary.near_misses)]
    assert [label.get_text() for label in ax.get_yticklabels()] == shown
    bars, errors = ax.containers[1], ax.containers[0]
    assert [bar.get_width() for bar in bars][: len(boundary.members)] == [m.gain for m in boundary.members]
    widths = [segment[1][0] - segment[0][0] for segment in errors.lines[2][0].get_segments()]
    assert widths[0] == pytest.approx(2 * boundary.members[0].se)


def test_path_ends_at_the_conditional_entropy(boundaries) -> None:
    ax = plots.path(boundaries, "x3")
    boundary = boundaries.result_["x3"]
    line = ax.lines[0].get_ydata()
    assert line[0] == boundary.entropy
    assert line[-1] == pytest.approx(boundary.conditional_entropy)


def test_path_of_a_flow_goes_on_beyond_the_boundary(curved) -> None:
    found = fansite.MarkovBoundary(estimator="flow", effort="quick", steps=60, folds=2).fit(curved.values)
    target = max(found.result_, key=lambda name: len(found.result_[name].path))
    path = found.result_[target].path
    line = plots.path(found, target).lines[0].get_ydata()
    assert list(line[1:]) == [step.conditional_entropy for step in path]


def test_graphs_have_a_line_for_each_edge(boundaries, graph) -> None:
    assert len(plots.moral_graph(boundaries).lines) == len(boundaries.result_.moral_edges)
    ax = plots.graph(graph.result_)
    arrows = [text for text in ax.texts if text.get_text() == ""]
    assert len(arrows) == len(graph.edges_)
    assert {text.get_text() for text in ax.texts} == {"", *graph.feature_names_in_}


def test_draws_into_given_axes(boundaries) -> None:
    _, ax = plt.subplots()
    assert plots.boundary(boundaries, "x1", ax=ax) is ax


def test_unknown_target(boundaries) -> None:
    with pytest.raises(ValueError, match="there is no boundary of 'nobody'"):
        plots.boundary(boundaries, "nobody")


def test_layers_put_causes_above_effects() -> None:
    edges = [(0, 2), (1, 2), (2, 3), (0, 3)]
    position = _layout.layered(5, edges)
    assert all(position[i, 1] > position[j, 1] for i, j in edges)
    assert len({tuple(point) for point in position}) == 5
    with pytest.raises(ValueError, match="cycle"):
        _layout.layered(2, [(0, 1), (1, 0)])


def test_springs_pull_linked_nodes_together() -> None:
    groups = [(i, j) for group in (range(5), range(5, 10)) for i in group for j in group if i < j]
    position = _layout.spring(10, groups)
    distance = np.linalg.norm(position[:, None] - position[None], axis=2)
    inside = [distance[pair] for pair in groups]
    across = distance[:5, 5:]
    assert max(inside) < across.min()
    assert _layout.spring(0, []).shape == (0, 2)
    assert np.array_equal(position, _layout.spring(10, groups))

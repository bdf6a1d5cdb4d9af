# SPDX-License-Identifier: Apache-2.0
"""Columns whose labels are no strings keep them, in all that Python shows; JSON has strings."""

from __future__ import annotations

import json
import pickle

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

import fansite

STRINGS = ["a", "b", "c", "d", "e"]
LABELS = {
    "numbers": [0, 1, 2, 3, 4],
    "tuples": [("blood", "sodium"), ("blood", "iron"), ("age", ""), ("diet", "salt"), ("diet", 7)],
    "mixed": ["age", 1, 2.5, ("diet", "salt"), pd.Timestamp("2020-01-01")],
}
NAMES = {
    "numbers": ["0", "1", "2", "3", "4"],
    "tuples": ["blood/sodium", "blood/iron", "age", "diet/salt", "diet/7"],
    "mixed": ["age", "1", "2.5", "diet/salt", "2020-01-01 00:00:00"],
}


@pytest.fixture(scope="module")
def values() -> np.ndarray:
    return fansite.simulate(nodes=5, degree=1.2, rows=200, noise="exponential", random_state=5).values


def frame_of(values: np.ndarray, labels: list[object]) -> pd.DataFrame:
    frame = pd.DataFrame(values, columns=STRINGS)
    frame.columns = pd.MultiIndex.from_tuples(labels) if all(isinstance(each, tuple) for each in labels) else labels
    return frame


@pytest.fixture(scope="module", params=LABELS)
def case(request, values):
    return frame_of(values, LABELS[request.param]), LABELS[request.param], NAMES[request.param]


def test_everything_shows_the_labels(case, values) -> None:
    table, labels, names = case
    plain = pd.DataFrame(values, columns=STRINGS)
    label = dict(zip(STRINGS, labels))
    expected, found = fansite.MarkovBoundary().fit(plain), fansite.MarkovBoundary().fit(table)
    assert found.boundaries_ == {
        label[target]: [label[member] for member in members] for target, members in expected.boundaries_.items()
    }
    assert list(found.gains_) == list(found.feature_names_in_) == found.result_.variables == labels
    assert list(found.moral_graph_.columns) == list(found.moral_graph_.index) == labels
    assert set(found.to_networkx()) == set(labels)
    assert set(found.to_pandas()["target"]) <= set(labels)
    assert json.loads(found.to_json())["variables"] == names
    assert f'"{names[0]}"' in found.to_dot()
    assert fansite.verify(found, table)
    assert pickle.loads(pickle.dumps(found)).boundaries_ == found.boundaries_

    graph = fansite.CausalGraph().fit(table, boundaries=found)
    directions = [(edge.source, edge.target) for edge in fansite.CausalGraph().fit(plain, boundaries=expected).edges_]
    assert [(edge.source, edge.target) for edge in graph.edges_] == [(label[a], label[b]) for a, b in directions]
    assert list(graph.adjacency_.columns) == list(graph.weights_.index) == labels
    assert list(graph.result_.roles) == labels
    assert [column.name for column in fansite.inspect(table).columns] == labels
    compared = fansite.compare(table, methods="tc", orders=1, truth=graph.adjacency_)
    assert list(compared.cells[0].found) == labels


def test_pictures_and_sentences_have_the_labels(case) -> None:
    table, labels, names = case
    found = fansite.MarkovBoundary().fit(table)
    graph = fansite.CausalGraph().fit(table, boundaries=found)
    target = max(labels, key=lambda label: len(found.boundaries_[label]))
    ax = fansite.plots.boundary(found, target)
    shown = [tick.get_text() for tick in ax.get_yticklabels()]
    assert set(shown) <= set(names) and shown
    assert {text.get_text() for text in fansite.plots.graph(graph).texts} >= set(names)
    fansite.plots.path(found, target)
    plt.close("all")
    assert found.explain(target).startswith(f"The Markov boundary of {names[labels.index(target)]} is ")
    assert graph.explain(target) == graph.explain(names[labels.index(target)])
    assert names[labels.index(target)] in found._repr_html_() and graph.to_igraph().vs["name"] == names


def test_labels_are_understood_where_names_are(case) -> None:
    table, labels, names = case
    one = labels[3]
    for target in (one, names[3], [one], [names[3]]):
        found = fansite.MarkovBoundary(targets=target).fit(table)
        assert list(found.boundaries_) == [one]
        assert found.result_[one] is found.result_[names[3]]
        assert found.boundaries_[one] is found.boundaries_[names[3]] and found.gains_[one] is found.gains_[names[3]]
    facts = fansite.inspect(table, kinds={one: "continuous"}, context=labels[0], weight=None)
    assert facts[one].declared and facts[names[0]].context
    assert fansite.inspect(table, context=[labels[0], names[1]])[labels[1]].context
    positive = table.abs()
    assert fansite.inspect(positive, weight=one).weight == names[3]
    model = fansite.EntropyModel(estimator="gaussian").fit(table)
    asked = model.conditional_entropy(one, given=labels[0])
    assert asked == model.conditional_entropy(names[3], given=[names[0]])
    assert model.information(one, [labels[0]]).added[0].name == labels[0]
    known = fansite.Knowledge(f"root {json.dumps(names[0])}", table.columns)
    assert not known.allows(one, labels[0])
    with pytest.raises((ValueError, TypeError), match="no column is called|give a list of names"):
        fansite.MarkovBoundary(targets=99).fit(table)


def test_selectors_give_strings(case) -> None:
    table, labels, names = case
    y = table[labels[3]].to_numpy()
    X = table.drop(columns=[labels[3]])
    if any(isinstance(label, str) for label in X.columns):
        with pytest.raises(TypeError, match="only supported if all input features have string names"):
            fansite.BoundarySelector().fit(X, y)
        return
    selector = fansite.BoundarySelector().fit(X, y)
    chosen = [label for label, is_in in zip(X.columns, selector.support_) if is_in]
    assert chosen and set(selector.boundary_.names) == set(chosen)
    expected = [names[labels.index(label)] for label in chosen]
    assert list(selector.get_feature_names_out()) == expected
    assert list(selector.set_output(transform="pandas").transform(X).columns) == expected


def test_arrays_have_no_labels(values) -> None:
    assert list(fansite.MarkovBoundary().fit(values).boundaries_) == ["x1", "x2", "x3", "x4", "x5"]


def test_labels_that_are_equal_are_refused(values) -> None:
    with pytest.raises(ValueError, match="the labels 1 and True of two columns are equal. Rename one"):
        fansite.MarkovBoundary().fit(frame_of(values, [1, True, "c", "d", "e"]))
    with pytest.raises(ValueError, match="no column is called '7'"):
        fansite.inspect(frame_of(values, [0, 1, 2, 3, 4]), kinds={7: "ordered"})


def test_labels_that_cannot_be_told_apart_are_refused(values) -> None:
    for labels in (["1", 1, 2, 3, 4], [("a", "b/c"), ("a/b", "c"), ("d", "e"), ("f", "g"), ("h", "i")]):
        with pytest.raises(ValueError, match=r"\[table\] the columns .* would both be called .*Rename one"):
            fansite.MarkovBoundary().fit(frame_of(values, labels))

# SPDX-License-Identifier: Apache-2.0
"""MarkovBoundary and what it finds."""

from __future__ import annotations

import math

import numpy as np
import pytest

import fansite


def test_finds_the_true_boundaries(linear, boundaries) -> None:
    score = fansite.metrics.score_boundaries(boundaries.boundaries_, linear.boundaries)
    assert score.mean.f1 > 0.95


def test_learned_attributes_agree(boundaries) -> None:
    for target, members in boundaries.boundaries_.items():
        boundary = boundaries.result_[target]
        assert members == boundary.names == list(boundaries.gains_[target])
        assert all(boundaries.moral_graph_.loc[target, member] == 1 for member in members)
        assert boundary.entropy - sum(boundaries.gains_[target].values()) == pytest.approx(boundary.conditional_entropy)
    assert boundaries.n_features_in_ == len(boundaries.feature_names_in_) == len(boundaries.boundaries_)


def test_one_target_by_name(linear, boundaries) -> None:
    found = fansite.MarkovBoundary(targets="x3").fit(linear.to_pandas())
    assert list(found.boundaries_) == ["x3"]
    assert set(found.boundaries_["x3"]) <= set(linear.names) - {"x3"}


def test_as_a_table(boundaries) -> None:
    table = boundaries.to_pandas()
    assert len(table) == sum(map(len, boundaries.boundaries_.values()))
    assert list(table[table["target"] == "x3"]["member"]) == boundaries.boundaries_["x3"]
    assert (table["q_value"] <= 0.05).all()


def test_as_a_networkx_graph(boundaries) -> None:
    graph = boundaries.to_networkx()
    assert set(graph) == set(boundaries.feature_names_in_)
    assert {frozenset(edge) for edge in graph.edges} == {frozenset(edge) for edge in boundaries.result_.moral_edges}
    first, second = boundaries.result_.moral_edges[0]
    gains = boundaries.gains_
    assert graph[first][second]["gain"] == max(gains[first].get(second, 0), gains[second].get(first, 0))


def test_consoles_show_a_line(boundaries, linear) -> None:
    assert repr(boundaries.result_) == "BoundariesResult(12 boundaries of 600 rows, gaussian estimator)"
    one = fansite.MarkovBoundary(targets="x3", method="tc").fit(linear.values).result_
    assert repr(one).startswith("BoundariesResult(1 boundary of 600 rows")


def test_as_dot(boundaries) -> None:
    first, second = boundaries.result_.moral_edges[0]
    assert f'"{first}" -- "{second}"' in boundaries.to_dot()


def test_notebooks_show_a_table(boundaries, linear) -> None:
    shown = boundaries._repr_html_()
    assert shown.startswith("<table>") and "12 boundaries of 600 rows, gaussian estimator" in shown
    assert "gain" in boundaries.result_["x3"]._repr_html_()
    unfitted = fansite.MarkovBoundary()
    assert unfitted._repr_html_() is None
    ugly = fansite.MarkovBoundary().fit(linear.to_pandas().rename(columns={"x3": "<script>"}))
    assert "<script>" not in ugly._repr_html_()


def test_a_constant_column_has_no_entropy(linear) -> None:
    table = linear.to_pandas()
    table["same"] = 3.0
    with pytest.warns(fansite.DataWarning, match="same"):
        found = fansite.MarkovBoundary().fit(table)
    assert found.result_["same"].entropy == -math.inf
    assert found.boundaries_["same"] == []


def test_threads_do_not_change_the_answer(linear) -> None:
    one = fansite.MarkovBoundary(n_jobs=1).fit(linear.values)
    assert one.result_ == fansite.MarkovBoundary(n_jobs=-1).fit(linear.values).result_
    assert one.result_.timing["threads"] == 1


def test_random_states(curved) -> None:
    def fit(state) -> fansite.BoundariesResult:
        model = fansite.MarkovBoundary(estimator="flow", effort="quick", steps=20, folds=2, random_state=state)
        return model.fit(curved.values).result_

    first = fit(4)
    assert first == fit(np.int64(4))
    assert first.settings["seed"] == 4
    assert first.boundaries != fit(5).boundaries
    assert fit(np.random.RandomState(0)) == fit(np.random.RandomState(0))
    assert fit(np.random.default_rng(0)) == fit(np.random.default_rng(0))
    assert fit(None).settings["seed"] != fit(None).settings["seed"]


def test_models_are_kept_and_used_again(curved, tmp_path) -> None:
    settings = {"estimator": "flow", "effort": "quick", "steps": 30, "folds": 2}
    model = tmp_path / "model.fansite"
    first = fansite.MarkovBoundary(save_model=model, **settings).fit(curved.values)
    again = fansite.MarkovBoundary(model=model, **settings).fit(curved.values)
    assert first.gains_ == again.gains_


@pytest.mark.parametrize(
    ("settings", "error", "sentence"),
    [
        ({"fdr": "small"}, TypeError, "fdr = 'small' is of the wrong type, str; give a number."),
        ({"max_size": 2.5}, TypeError, "max_size = 2.5 is of the wrong type, float; give a whole number"),
        ({"stop": 3}, TypeError, "stop = 3 is of the wrong type, int; give a word"),
        ({"targets": [1]}, TypeError, "give a list of names"),
        ({"n_jobs": 0}, ValueError, "n_jobs = 0 is no number of threads"),
        ({"random_state": -1}, ValueError, "random_state = -1 is no seed"),
        ({"missing": "guess"}, ValueError, "use 'use', 'drop' or 'error'"),
        ({"refine": "maybe"}, ValueError, "'maybe' is unknown; use auto, graph or none"),
    ],
)
def test_wrong_settings_are_one_sentence(linear, settings, error, sentence) -> None:
    with pytest.raises(error, match=sentence):
        fansite.MarkovBoundary(**settings).fit(linear.values)


def test_nothing_can_be_asked_before_fit() -> None:
    with pytest.raises(fansite.NotFittedError, match=r"call fit\(X\) first"):
        fansite.MarkovBoundary().to_json()


def test_other_files_are_refused(graph) -> None:
    with pytest.raises(ValueError, match="has format 'fansite.graph/2', not 'fansite.boundaries/2'"):
        fansite.BoundariesResult.from_json(graph.to_json())
    with pytest.raises(ValueError, match="no JSON result of fansite"):
        fansite.BoundariesResult.from_json("[1, 2]")

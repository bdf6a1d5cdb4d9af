# SPDX-License-Identifier: Apache-2.0
"""Metrics: by hand, and in whatever order the variables are."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from fansite import metrics


def test_one_boundary_by_hand() -> None:
    score = metrics.score_boundary(["a", "z", "b"], ["a", "b"])
    assert score.precision == pytest.approx(2 / 3)
    assert score.recall == 1
    assert score.f1 == pytest.approx(0.8)
    assert score.average_precision == 0.5  # of the first two places, as many as are true, one is a hit
    assert score.ndcg == pytest.approx(1 / (1 + 1 / math.log2(3)))


def test_boundaries_by_hand() -> None:
    truth = {"a": ["b"], "b": ["a"], "c": []}
    score = metrics.score_boundaries({"a": ["b", "c"], "b": ["a"], "c": ["a"]}, truth)
    assert score.targets == 2
    assert score.false_discovery_rate == 0.5
    assert score.mean.recall == 1


def test_graph_by_hand() -> None:
    truth = np.array([[0, 1, 1], [0, 0, 0], [0, 0, 0]])
    estimate = np.array([[0, 0, 1], [1, 0, 1], [0, 0, 0]])
    score = metrics.score_graph(estimate, truth)
    assert (score.shd, score.extra, score.missing, score.reversed) == (2, 1, 0, 1)
    assert metrics.score_graph(truth, truth).auc_roc == 1


def test_frames_are_matched_by_name() -> None:
    truth = pd.DataFrame([[0, 1], [0, 0]], index=["a", "b"], columns=["a", "b"])
    turned = truth.loc[["b", "a"], ["b", "a"]]
    assert metrics.score_graph(turned, truth).shd == 0
    assert metrics.score_graph(turned.to_numpy(), truth).reversed == 1
    assert metrics.curve_areas(turned * 0.3, truth).auc_pr == 1


def test_wrong_questions() -> None:
    with pytest.raises(ValueError, match="the true boundary is empty"):
        metrics.score_boundary(["a"], [])
    with pytest.raises(ValueError, match="the truth has no boundary of 'b'"):
        metrics.score_boundaries({"b": []}, {"a": []})
    with pytest.raises(ValueError, match="two square ones of the same size"):
        metrics.score_graph(np.zeros((2, 2)), np.zeros((3, 3)))

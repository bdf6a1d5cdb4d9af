# SPDX-License-Identifier: Apache-2.0
"""How near an answer is to a known truth: the figures of ``fansite eval``, as shares in [0, 1]."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _core

__all__ = [
    "BoundariesScore",
    "BoundaryScore",
    "CurveAreas",
    "GraphScore",
    "curve_areas",
    "score_boundaries",
    "score_boundary",
    "score_graph",
]


@dataclass(frozen=True, slots=True)
class BoundaryScore:
    """Scores of one boundary, or their means over many."""

    ndcg: float
    """Ranking: discounted gain of as many places as are true, over the ideal one."""
    average_precision: float
    """Ranking: precision at each hit among as many places as are true, over the true size."""
    f1: float
    precision: float
    recall: float


@dataclass(frozen=True, slots=True)
class BoundariesScore:
    """Scores of many boundaries."""

    mean: BoundaryScore
    """Over the targets whose true boundary is not empty."""
    targets: int
    """How many those are."""
    false_discovery_rate: float
    """False members over all members, over all targets."""


@dataclass(frozen=True, slots=True)
class GraphScore:
    """Scores of a directed graph."""

    shd: int
    """Structural Hamming distance: extra + missing + reversed; a reversed edge costs 1."""
    extra: int
    missing: int
    reversed: int
    undecided: int
    skeleton_f1: float
    """Of links, whatever their direction."""
    direction_accuracy: float
    """Of the true links found with one direction, the share of right ones; NaN: none."""
    auc_roc: float
    auc_pr: float


@dataclass(frozen=True, slots=True)
class CurveAreas:
    """Areas under the curves of real-valued scores."""

    auc_roc: float
    auc_pr: float


def score_boundary(predicted: Sequence[Hashable], truth: Sequence[Hashable]) -> BoundaryScore:
    """Score one boundary.

    Parameters
    ----------
    predicted : sequence
        Names or numbers of variables, in order of strength.
    truth : sequence
        The true ones, in any order, not empty.

    Examples
    --------
    >>> fansite.metrics.score_boundary(["a", "c"], ["a", "b"]).f1
    0.5
    """
    if len(truth) == 0:
        raise ValueError("[score_boundary] the true boundary is empty; there is nothing to score.")
    place = _places([*predicted, *truth])
    return _boundary(_core.score_boundary([place[v] for v in predicted], [place[v] for v in truth]))


def score_boundaries(
    predicted: Mapping[Any, Sequence[Hashable]], truth: Mapping[Any, Sequence[Hashable]]
) -> BoundariesScore:
    """Score boundaries against the truth, as ``fansite eval`` does.

    Parameters
    ----------
    predicted : mapping
        For each target its boundary, in order of strength; ``MarkovBoundary.boundaries_``, say.
    truth : mapping
        The same of the truth; more targets than are predicted do not matter.

    Examples
    --------
    >>> fansite.metrics.score_boundaries({"a": ["b"], "b": []}, {"a": ["b"], "b": ["a"]}).mean.recall
    0.5
    """
    for target in predicted:
        if target not in truth:
            raise ValueError(f"[score_boundaries] the truth has no boundary of {target!r}; are they of the same data?")
    place = _places(v for members in [*predicted.values(), *truth.values()] for v in members)
    score = _core.score_boundaries(
        [[place[v] for v in members] for members in predicted.values()],
        [[place[v] for v in truth[target]] for target in predicted],
    )
    return BoundariesScore(_boundary(score.mean), score.targets, score.false_discovery_rate)


def score_graph(estimate: Any, truth: Any) -> GraphScore:
    """Score a directed graph against the truth, as ``fansite eval`` does.

    Parameters
    ----------
    estimate, truth : array-like of shape (variables, variables)
        A[i, j] != 0 means i -> j; both entries are an edge of undecided direction. If both are DataFrames, variables
        are matched by name.

    Examples
    --------
    >>> fansite.metrics.score_graph([[0, 0], [1, 0]], [[0, 1], [0, 0]]).reversed
    1
    """
    first, second = _matched(estimate, truth)
    score = _core.score_graph(_binary(first), _binary(second))
    return GraphScore(**{name: getattr(score, name) for name in GraphScore.__dataclass_fields__})


def curve_areas(scores: Any, truth: Any) -> CurveAreas:
    """Areas under the ROC and precision-recall curves of real-valued scores of edges.

    Parameters
    ----------
    scores, truth : array-like of shape (variables, variables)
        The score of i -> j, and A[i, j] != 0 for the true edges; matched by name if both are DataFrames.

    Examples
    --------
    >>> fansite.metrics.curve_areas([[0, 0.9], [0.1, 0]], [[0, 1], [0, 0]]).auc_roc
    1.0
    """
    first, second = _matched(scores, truth)
    areas = _core.curve_areas(np.asarray(first, dtype=np.float64), _binary(second))
    return CurveAreas(areas.auc_roc, areas.auc_pr)


def _boundary(score: _core.BoundaryScore) -> BoundaryScore:
    return BoundaryScore(**{name: getattr(score, name) for name in BoundaryScore.__dataclass_fields__})


def _places(variables: Any) -> dict[Hashable, int]:
    place: dict[Hashable, int] = {}
    for variable in variables:
        place.setdefault(variable, len(place))
    return place


def _matched(estimate: Any, truth: Any) -> tuple[Any, Any]:
    if hasattr(estimate, "loc") and hasattr(truth, "loc"):
        if set(estimate.columns) != set(truth.columns):
            raise ValueError("[metrics] the two graphs have other variables; are they of the same data?")
        truth = truth.loc[estimate.index, estimate.columns]
    first, second = np.asarray(estimate), np.asarray(truth)
    if first.ndim != 2 or first.shape[0] != first.shape[1] or first.shape != second.shape:
        raise ValueError(
            f"[metrics] matrices of shapes {first.shape} and {second.shape}; give two square ones of the same size."
        )
    return first, second


def _binary(matrix: Any) -> np.ndarray[Any, Any]:
    edges: np.ndarray[Any, Any] = np.asarray(matrix) != 0
    return edges.astype(np.uint8)

# SPDX-License-Identifier: Apache-2.0
"""EntropyModel: known entropies, and the rules that entropies satisfy."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest

import fansite


@pytest.fixture(scope="module")
def pair() -> np.ndarray:
    """Correlated normal variables: I(x1; x2) = -ln(1 - 0.6^2) / 2 = 0.2231 nats; x3 is noise."""
    noise = np.random.default_rng(0).standard_normal((4000, 3))
    noise[:, 1] = 0.6 * noise[:, 0] + 0.8 * noise[:, 1]
    return noise


@pytest.fixture(scope="module")
def gaussian(pair) -> fansite.EntropyModel:
    return fansite.EntropyModel(estimator="gaussian").fit(pair)


@pytest.fixture(scope="module")
def flow(pair) -> fansite.EntropyModel:
    return fansite.EntropyModel(folds=2, repeats=1, steps=300, base="gaussian").fit(pair[:1500])


@pytest.mark.parametrize("which", ["gaussian", "flow"])
def test_known_values(which, request) -> None:
    model = request.getfixturevalue(which)
    normal = 0.5 * math.log(2 * math.pi * math.e)
    information = model.mutual_information("x1", "x2")
    assert abs(model.entropy("x1") - normal) < 4 * model.entropy("x1").se
    assert abs(information - 0.2231) < 4 * information.se
    assert abs(model.mutual_information("x1", "x3", given=["x2"])) < 0.02


@pytest.mark.parametrize("which", ["gaussian", "flow"])
def test_chain_rule(which, request) -> None:
    model = request.getfixturevalue(which)
    told = model.entropy("x1") - model.conditional_entropy("x1", given="x2")
    assert told == pytest.approx(model.mutual_information("x1", "x2"), abs=1e-6)
    both = model.mutual_information("x1", ["x2", "x3"])
    parts = model.mutual_information("x1", "x3") + model.mutual_information("x1", "x2", given="x3")
    assert both == pytest.approx(parts, abs=1e-6)


def test_information_of_each(gaussian) -> None:
    found = gaussian.information("x1", given=["x2", "x3"])
    assert [each.name for each in found.added] == ["x2", "x3"]
    assert found.added[0].information > 50 * found.added[1].information
    assert list(found.to_pandas()["name"]) == ["x2", "x3"]


def test_what_determines_the_target_leaves_nothing(pair) -> None:
    sums = np.column_stack([pair, pair.sum(axis=1)])
    model = fansite.EntropyModel(estimator="gaussian").fit(sums)
    assert model.conditional_entropy("x4", given=["x1", "x2", "x3"]) == -math.inf


@pytest.mark.parametrize("which", ["gaussian", "flow"])
def test_pickled_models_answer_the_same(which, request) -> None:
    model = request.getfixturevalue(which)
    again = pickle.loads(pickle.dumps(model))
    assert again.conditional_entropy("x1", given=["x2"]) == model.conditional_entropy("x1", given=["x2"])
    assert again.mutual_information("x1", "x2").se == model.mutual_information("x1", "x2").se


def test_models_are_kept_and_used_again(pair, flow, tmp_path) -> None:
    path = tmp_path / "model.fansite"
    settings = {"folds": 2, "repeats": 1, "steps": 300}
    fansite.EntropyModel(save_model=path, **settings).fit(pair[:1500])
    again = fansite.EntropyModel(model=path, **settings).fit(pair[:1500])
    assert again.entropy("x2") == flow.entropy("x2")


def test_wrong_questions(gaussian) -> None:
    with pytest.raises(ValueError, match="no column is called 'x9'"):
        gaussian.entropy("x9")
    with pytest.raises(ValueError, match="'x1' is named twice"):
        gaussian.conditional_entropy("x1", given=["x1"])
    with pytest.raises(ValueError, match="'x2' is named twice"):
        gaussian.mutual_information("x1", "x2", given=["x2"])
    with pytest.raises(ValueError, match="'auto' is unknown; use gaussian, flow, naf, bnaf or ace"):
        fansite.EntropyModel(estimator="auto").fit(np.zeros((9, 2)) + np.arange(9)[:, None] ** [1, 2])
    with pytest.raises(fansite.NotFittedError):
        fansite.EntropyModel().entropy("x1")


def test_estimates_are_numbers() -> None:
    estimate = fansite.Estimate(0.5, 0.01)
    assert estimate * 2 == 1.0
    assert str(estimate) == "0.5000 ± 0.0100"
    assert f"{estimate:.1f}" == "0.5"
    again = pickle.loads(pickle.dumps(estimate))
    assert (again, again.se) == (0.5, 0.01)


def test_results_made_with_a_given_model_can_be_verified(pair, tmp_path) -> None:
    path = tmp_path / "model.fansite"
    table = pair[:400]
    settings = {"folds": 2, "repeats": 1, "steps": 60, "random_state": 4}
    fansite.EntropyModel(save_model=path, **settings).fit(table)
    model = fansite.EntropyModel(model=path, **settings).fit(table)
    found = model.information("x1", given=["x2"])
    assert fansite.verify(found, table, model=path)
    again = pickle.loads(pickle.dumps(model)).information("x1", given=["x2"])
    assert again == found  # the settings and the model's hash too

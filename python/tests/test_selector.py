# SPDX-License-Identifier: Apache-2.0
"""BoundarySelector among scikit-learn's own."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import fansite

QUICK_FLOW = {"estimator": "flow", "effort": "quick", "steps": 5, "folds": 2, "repeats": 1}


@pytest.mark.filterwarnings("ignore")  # scikit-learn's checks give odd tables on purpose
@parametrize_with_checks([fansite.BoundarySelector(estimator="gaussian"), fansite.BoundarySelector(**QUICK_FLOW)])
def test_scikit_learn_checks(estimator, check) -> None:
    check(estimator)


@pytest.fixture(scope="module")
def features(linear) -> tuple[pd.DataFrame, pd.Series]:
    table = linear.to_pandas()
    target = max(linear.boundaries, key=lambda name: (0 < len(linear.boundaries[name]) < 6, name))
    return table.drop(columns=target), table[target]


def test_selects_the_boundary(linear, features) -> None:
    X, y = features
    selector = fansite.BoundarySelector().fit(X, y)
    assert set(selector.get_feature_names_out()) == set(linear.boundaries[y.name])
    assert list(X.columns[selector.support_]) == list(selector.get_feature_names_out())
    assert selector.transform(X).shape == (len(X), selector.support_.sum())
    assert selector.boundary_.members[0].gain > 0


def test_without_names(features) -> None:
    X, y = features
    named, unnamed = fansite.BoundarySelector().fit(X, y), fansite.BoundarySelector().fit(X.to_numpy(), y)
    assert np.array_equal(named.support_, unnamed.support_)


def test_a_feature_called_y_is_no_trouble(features) -> None:
    X, y = features
    selector = fansite.BoundarySelector().fit(X, y)
    renamed = X.rename(columns={X.columns[0]: "y"})
    assert np.array_equal(fansite.BoundarySelector().fit(renamed, y).support_, selector.support_)


def test_set_output_pandas(features) -> None:
    X, y = features
    selected = fansite.BoundarySelector().set_output(transform="pandas").fit_transform(X, y)
    assert isinstance(selected, pd.DataFrame)
    assert selected.equals(X[selected.columns])


def test_in_a_pipeline_and_a_grid_search(features) -> None:
    X, y = features
    pipeline = make_pipeline(StandardScaler(), fansite.BoundarySelector(), LinearRegression())
    search = GridSearchCV(pipeline, {"boundaryselector__fdr": [0.001, 0.05]}, cv=3).fit(X, y)
    assert search.best_score_ > 0.5
    assert search.best_estimator_[1].fdr == search.best_params_["boundaryselector__fdr"]


def test_nothing_to_select() -> None:
    noise = np.random.default_rng(1).standard_normal((300, 5))
    selector = fansite.BoundarySelector().fit(noise[:, :4], noise[:, 4])
    assert not selector.support_.any()
    with pytest.warns(UserWarning, match="No features were selected"):
        assert selector.transform(noise[:, :4]).shape == (300, 0)


def test_flows_on_two_values_are_warned_of(features) -> None:
    X, y = features
    classes = y > y.median()
    with pytest.warns(fansite.DataWarning, match="'y' holds two values, in which flows see little"):
        fansite.BoundarySelector(**QUICK_FLOW).fit(X, classes)
    found = fansite.BoundarySelector(estimator="gaussian").fit(X, classes)  # quietly: warnings are errors here
    assert found.support_.any()


def test_clones_have_learnt_nothing(features) -> None:
    selector = fansite.BoundarySelector(fdr=0.01).fit(*features)
    copy = clone(selector)
    assert copy.fdr == 0.01
    assert not hasattr(copy, "support_")

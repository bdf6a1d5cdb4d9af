# SPDX-License-Identifier: Apache-2.0
"""BoundarySelector among scikit-learn's own."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
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
    with pytest.warns(fansite.DataWarning, match="no feature tells anything about y beyond chance"):
        selector = fansite.BoundarySelector().fit(noise[:, :4], noise[:, 4])
    assert not selector.support_.any()
    with pytest.warns(UserWarning, match="No features were selected"):
        assert selector.transform(noise[:, :4]).shape == (300, 0)


@pytest.mark.filterwarnings("ignore::fansite.DataWarning")
def test_two_classes_of_any_type(linear, features) -> None:
    X, y = features
    classes = y > y.median()
    expected = fansite.BoundarySelector(estimator="gaussian").fit(X, classes)
    assert expected.support_.any()
    for same in (
        classes.astype(int),
        classes.to_numpy(),
        classes.map({True: "yes", False: "no"}),
        classes.map({True: "yes", False: "no"}).astype("category"),
        np.where(classes, "yes", "no"),
        np.where(classes, "yes", "no").astype(object),
        list(np.where(classes, "yes", "no")),
        pl.Series(classes.to_list()),
    ):
        found = fansite.BoundarySelector(estimator="gaussian").fit(X, same)
        assert np.array_equal(found.support_, expected.support_)


def test_many_classes(features) -> None:
    X, y = features
    X = X.iloc[:, :4].assign(x0=y)
    thirds = np.array(["low", "middle", "high"])[np.digitize(y, np.quantile(y, [1 / 3, 2 / 3]))]
    settings = {"effort": "quick", "steps": 300}
    found = fansite.BoundarySelector(**settings).fit(X, thirds)
    assert "x0" in found.get_feature_names_out()
    assert found.result_.estimator == "flow"
    numbers = pd.Series(thirds).map({"high": 0, "low": 1, "middle": 2})  # as the labels are sorted
    same = fansite.BoundarySelector(y_kind="nominal", **settings).fit(X, numbers)
    assert np.array_equal(same.support_, found.support_)
    with pytest.raises(ValueError, match="Gaussian estimator cannot use classes without an order; use estimator='flow'"):
        fansite.BoundarySelector(estimator="gaussian").fit(X, thirds)
    with pytest.raises(ValueError, match="y_kind = 'classes' is unknown; use 'auto', 'continuous'"):
        fansite.BoundarySelector(y_kind="classes").fit(X, thirds)


@pytest.mark.filterwarnings("ignore::fansite.DataWarning")
def test_features_of_all_kinds_with_missing_cells() -> None:
    random = np.random.default_rng(0)
    group = random.choice(["a", "b"], 300)
    dose = random.normal(size=300)
    X = pd.DataFrame(
        {
            "group": pd.Categorical(group),
            "dose": np.where(random.uniform(size=300) < 0.1, np.nan, dose),
            "count": pd.array(random.poisson(2, 300), dtype="Int64"),
        }
    )
    y = dose + 2 * (group == "b") + 0.3 * random.normal(size=300)
    for table in (X, pl.from_pandas(X)):
        selector = fansite.BoundarySelector(estimator="gaussian").fit(table, y)
        assert list(selector.get_feature_names_out()) == ["group", "dose"]
    assert selector.transform(X).shape == (300, 2)
    kept = clone(selector).set_output(transform="pandas").fit_transform(X, y)
    pd.testing.assert_frame_equal(kept, X[["group", "dose"]])
    holes = X[["dose"]].to_numpy()
    assert fansite.BoundarySelector(estimator="gaussian").fit(holes, y).support_.tolist() == [True]
    encode = make_column_transformer((OneHotEncoder(), ["group"]), remainder=SimpleImputer())
    pipeline = make_pipeline(clone(selector).set_output(transform="pandas"), encode, LinearRegression())
    assert pipeline.fit(X, y).score(X, y) > 0.7


@pytest.mark.filterwarnings("ignore::fansite.DataWarning")
def test_weights_and_groups_of_rows(features) -> None:
    X, y = features
    repeated = np.repeat(np.arange(len(X)), 5)
    X, y = X.iloc[repeated].reset_index(drop=True), y.iloc[repeated].reset_index(drop=True)
    noisy = y + np.random.default_rng(0).normal(size=len(y))
    single = fansite.BoundarySelector(estimator="gaussian").fit(X, noisy)
    grouped = fansite.BoundarySelector(estimator="gaussian").fit(X, noisy, group=repeated, weight=np.ones(len(y)))
    assert grouped.boundary_.members[0].p_value > single.boundary_.members[0].p_value


def test_what_is_not_fitted_says_so_and_nothing_else(features) -> None:
    with pytest.raises(fansite.NotFittedError, match="nothing has been learnt yet"):
        fansite.BoundarySelector().transform(features[0])  # without scikit-learn's warning of unknown names


def test_features_are_no_files(features) -> None:
    with pytest.raises(TypeError, match=r"not the path of a file. Read it with pandas.read_csv\(path\)"):
        fansite.BoundarySelector().fit("study.csv", features[1])


def test_clones_have_learnt_nothing(features) -> None:
    selector = fansite.BoundarySelector(fdr=0.01).fit(*features)
    copy = clone(selector)
    assert copy.fdr == 0.01
    assert not hasattr(copy, "support_")

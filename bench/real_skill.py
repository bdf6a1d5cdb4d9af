# SPDX-License-Identifier: Apache-2.0
"""What chosen columns are worth: out-of-fold predictions of a random forest; and the columns that Lasso chooses."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
from real_data import Table, is_text
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LassoCV, MultiTaskLassoCV
from sklearn.model_selection import KFold, cross_val_predict

SEED, FOLDS = 0, 5
FOREST = {"n_estimators": 200, "min_samples_leaf": 3}
LASSO = {"max_iter": 20000}
SKILL_SETTINGS = f"{SEED} {FOLDS} {FOREST} {LASSO}"


def folds() -> KFold:
    return KFold(FOLDS, shuffle=True, random_state=SEED)


def encoded(frame: pd.DataFrame) -> tuple[np.ndarray[Any, Any], list[str]]:
    """Numbers as they are, missing ones as NaN, one 0/1 column for each level of text; and which column each is of."""
    parts, owners = [], []
    for name in frame.columns:
        values = frame[name]
        if is_text(values):
            levels = pd.get_dummies(values.astype(object), dtype=float)  # a missing cell has no level
            parts.append(levels.to_numpy())
            owners += [name] * levels.shape[1]
        else:
            parts.append(values.to_numpy(dtype=float, na_value=np.nan)[:, None])
            owners.append(name)
    return np.hstack(parts), owners


def observed(table: Table, target: str) -> tuple[pd.DataFrame, np.ndarray[Any, Any]]:
    """The rows that have the target: their other columns, and its values, classes as numbers."""
    rows = table.frame[table.frame[target].notna()]
    if table.is_class(target):
        return rows.drop(columns=target), pd.factorize(rows[target], sort=True)[0]
    return rows.drop(columns=target), rows[target].to_numpy(dtype=float)


def skill_of(truth: np.ndarray[Any, Any], predicted: np.ndarray[Any, Any], classes: bool) -> float:
    """R², or for classes the accuracy above that of always the most frequent class, as a share of what is possible."""
    if classes:
        usual = np.bincount(truth).max() / len(truth)
        return float((np.mean(truth == predicted) - usual) / (1 - usual))
    return float(1 - np.sum((truth - predicted) ** 2) / np.sum((truth - truth.mean()) ** 2))


def skill(table: Table, target: str, columns: list[str], threads: int) -> float:
    """Of a forest on these columns, out of fold; nothing to predict from is 0."""
    if not columns:
        return 0.0
    others, truth = observed(table, target)
    classes = table.is_class(target)
    forest = RandomForestClassifier if classes else RandomForestRegressor
    model = forest(**FOREST, random_state=SEED, n_jobs=threads)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*sklearn.utils.parallel.delayed")  # of joblib and scikit-learn
        warnings.filterwarnings("ignore", message="The least populated class")
        predicted = cross_val_predict(model, encoded(others[columns])[0], truth, cv=folds())
    return skill_of(truth, predicted, classes)


def chosen_by_lasso(table: Table, target: str) -> list[str]:
    """Columns with a weight at the penalty that cross-validation chooses; classes are 0/1 targets with common columns.

    Standardised; a missing number is the mean.
    """
    others, truth = observed(table, target)
    inputs, owners = encoded(others)
    deviation = np.nanstd(inputs, axis=0)
    inputs = np.nan_to_num((inputs - np.nanmean(inputs, axis=0)) / np.where(deviation > 0, deviation, 1))
    if table.is_class(target) and truth.max() > 1:
        model, wanted = MultiTaskLassoCV(cv=folds(), **LASSO), np.eye(truth.max() + 1)[truth]
    else:
        model, wanted = LassoCV(cv=folds(), **LASSO), (truth - truth.mean()) / truth.std()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # near-copies; the choice of columns stands
        weights = np.atleast_2d(model.fit(inputs, wanted).coef_)
    used = {owner for owner, weight in zip(owners, np.abs(weights).max(axis=0)) if weight > 1e-9}
    return [name for name in others.columns if name in used]

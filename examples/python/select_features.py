# SPDX-License-Identifier: Apache-2.0
"""Is a Markov boundary worth having? Predict a variable from all others, from its boundary, and from as many at random.

    python select_features.py                       a network of 200 variables that is made here
    python select_features.py my.csv --target TP53  a table of one's own
    python select_features.py --quick               a small network, in seconds

The boundary should predict as well as all features, or better, with far fewer of them; random features should not. It
is found anew inside each fold of the cross-validation: choosing features on rows that are scored later would flatter.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import validate_data

import fansite


class RandomSelector(SelectorMixin, BaseEstimator):
    """As many features as the boundary has, at random."""

    def __init__(self, boundary: Any, random_state: int = 0) -> None:
        self.boundary = boundary
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> RandomSelector:
        X = validate_data(self, X)
        size = max(1, int(self.boundary.fit(X, y).support_.sum()))
        self.support_ = np.zeros(X.shape[1], dtype=bool)
        self.support_[np.random.default_rng(self.random_state).choice(X.shape[1], size, replace=False)] = True
        return self

    def _get_support_mask(self) -> Any:
        return self.support_


def compare(table: pd.DataFrame, target: str, selector: Any) -> pd.DataFrame:
    """The cross-validated R² of each choice of features, and how many they are."""
    X, y = table.drop(columns=target), table[target]
    choices = {"all features": None, "Markov boundary": selector, "as many at random": RandomSelector(selector)}
    rows = {}
    for name, choice in choices.items():
        steps = [StandardScaler(), *([choice] if choice is not None else []), LinearRegression()]
        folds = KFold(5, shuffle=True, random_state=0)
        run = cross_validate(make_pipeline(*steps), X, y, cv=folds, scoring="r2", return_estimator=True)
        sizes = [len(fitted[-1].coef_) for fitted in run["estimator"]]
        rows[name] = {"features": np.mean(sizes), "R2": run["test_score"].mean(), "sd": run["test_score"].std()}
    return pd.DataFrame(rows).T


def main(arguments: list[str] | None = None) -> pd.DataFrame:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("csv", nargs="?", help="a table with a header; default: a network is made")
    parser.add_argument("--target", help="the column to predict; default: that with the largest true boundary")
    parser.add_argument("--quick", action="store_true", help="a small network")
    options = parser.parse_args(arguments)

    if options.csv:
        if not options.target:
            parser.error("say which column to predict: --target NAME")
        table, target = pd.read_csv(options.csv), options.target
    else:
        nodes, rows = (40, 100) if options.quick else (200, 400)
        made = fansite.simulate(nodes=nodes, degree=1.5, rows=rows, random_state=1)
        table = made.to_pandas()
        target = options.target or max(made.boundaries, key=lambda name: len(made.boundaries[name]))
    scores = compare(table, target, fansite.BoundarySelector())
    print(f"predicting {target} from {table.shape[1] - 1} features, {len(table)} rows, 5-fold cross-validation:")
    print(scores.round(3).to_string())
    return scores


if __name__ == "__main__":
    main()

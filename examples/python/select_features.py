# SPDX-License-Identifier: Apache-2.0
"""Is a Markov boundary worth having? Predict a variable from all others, from its boundary, and from as many at random.

    python select_features.py                       a network of 200 variables that is made here; seconds
    python select_features.py my.csv --target TP53  a table of one's own
    python select_features.py --quick               a small network

The boundary should predict as well as all features, or better, with far fewer of them; random features should not. It
is found anew in the training rows of each fold: choosing features on rows that are scored later would flatter.
Where relations are not linear, flows are trained in each fold, which takes minutes; on a terminal a bar shows how far they are.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import fansite


def compare(table: pd.DataFrame, target: str, selector: fansite.BoundarySelector) -> pd.DataFrame:
    """R² on rows not trained on, for each choice of features, and how many they are; a line for each fold as it goes."""
    X, y = table.drop(columns=target), table[target]
    generator = np.random.default_rng(0)
    rows = []
    for fold, (train, test) in enumerate(KFold(5, shuffle=True, random_state=0).split(X), start=1):
        found = clone(selector).fit(X.iloc[train], y.iloc[train])
        boundary = list(found.get_feature_names_out()) or list(X.columns[:1])  # a model needs a feature
        choices = {
            "all features": list(X.columns),
            "Markov boundary": boundary,
            "as many at random": list(generator.choice(X.columns, len(boundary), replace=False)),
        }
        for name, features in choices.items():
            model = make_pipeline(StandardScaler(), LinearRegression()).fit(X[features].iloc[train], y.iloc[train])
            score = model.score(X[features].iloc[test], y.iloc[test])
            rows.append({"choice": name, "features": len(features), "R2": score})
        told = ", ".join(f"{row['choice']} {row['R2']:.3f}" for row in rows[-3:])
        print(f"fold {fold} ({found.result_.estimator}, {len(boundary)} features): {told}", flush=True)
    by_choice = pd.DataFrame(rows).groupby("choice", sort=False)
    return by_choice.mean().assign(sd=by_choice["R2"].std(ddof=0))


def main(arguments: list[str] | None = None) -> pd.DataFrame:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("csv", nargs="?", help="a table with a header; default: a network is made")
    parser.add_argument("--target", help="the column to predict; default: that with the largest true boundary")
    parser.add_argument("--effort", default="quick", help="flows: quick, normal or thorough (default: quick)")
    parser.add_argument("--quick", action="store_true", help="a small network")
    options = parser.parse_args(arguments)

    if options.csv:
        if not options.target:
            parser.error("say which column to predict: --target NAME")
        table, target = pd.read_csv(options.csv), options.target
    else:
        nodes, rows = (40, 200) if options.quick else (200, 400)
        made = fansite.simulate(nodes=nodes, degree=1.5, rows=rows, random_state=1)
        table = made.to_pandas()
        target = options.target or max(made.boundaries, key=lambda name: len(made.boundaries[name]))
    print(f"predicting {target} from {table.shape[1] - 1} features, {len(table)} rows, 5-fold cross-validation:")
    selector = fansite.BoundarySelector(effort=options.effort, verbose=sys.stderr.isatty())
    scores = compare(table, target, selector)
    print(scores.round(3).to_string())
    return scores


if __name__ == "__main__":
    main()

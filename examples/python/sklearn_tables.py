# SPDX-License-Identifier: Apache-2.0
"""Do boundaries of scikit-learn's own tables predict as well as all features?

    python sklearn_tables.py              5-fold cross-validation, boundaries found anew in each fold; minutes
    python sklearn_tables.py --quick      boundaries found in one half of the rows, 5 folds in the other; a minute
    python sklearn_tables.py iris wine    these alone

A random forest predicts the target from all features and from those of its Markov boundary. The boundary never sees
the rows that are scored. The scores are accuracies, and R² for diabetes, whose target is a number; `se` is the standard
error over folds of that with all features.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
import pandas as pd
from sklearn import datasets
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.model_selection import KFold, StratifiedKFold

import fansite

TABLES = {
    "iris": datasets.load_iris,
    "wine": datasets.load_wine,
    "breast_cancer": datasets.load_breast_cancer,
    "diabetes": datasets.load_diabetes,
}
FOLDS = 5


def compare(name: str, effort: str, once: bool) -> dict[str, object]:
    """Scores and numbers of features of one table. `once`: the boundary is found in a half of its own."""
    loaded = TABLES[name](as_frame=True)
    X, y = loaded.data, loaded.target
    classes = hasattr(loaded, "target_names")
    if classes:
        y = pd.Series(loaded.target_names[y], name="class")  # names, which have no order, in place of numbers
    selector = fansite.BoundarySelector(effort=effort)
    forest = (RandomForestClassifier if classes else RandomForestRegressor)(n_estimators=200, random_state=0)
    splitter = (StratifiedKFold if classes else KFold)(FOLDS, shuffle=True, random_state=0)
    begun = time.perf_counter()
    chosen: list[str] = []
    if once:
        half = np.random.default_rng(0).permutation(len(X)) < len(X) // 2
        chosen = boundary(selector, X[half], y[half])
        X, y = X[~half], y[~half]
    scores, counts = [], []
    for train, test in splitter.split(X, y):
        if not once:
            chosen = boundary(selector, X.iloc[train], y.iloc[train])
        columns = [list(X.columns), chosen]
        fits = [clone(forest).fit(X[each].iloc[train], y.iloc[train]) if each else None for each in columns]
        scores.append([fit.score(X[each].iloc[test], y.iloc[test]) if fit else 0 for fit, each in zip(fits, columns)])
        counts.append(len(chosen))
    everything, selected = np.transpose(scores)
    return {
        "table": name,
        "rows": len(loaded.data),
        "features": loaded.data.shape[1],
        "all": everything.mean(),
        "se": everything.std(ddof=1) / np.sqrt(FOLDS),
        "boundary": selected.mean(),
        "chosen": np.mean(counts),
        "seconds": time.perf_counter() - begun,
    }


def boundary(selector: fansite.BoundarySelector, X: pd.DataFrame, y: pd.Series) -> list[str]:
    """The names of the features that are selected."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fansite.DataWarning)  # of columns that say nearly the same
        return list(clone(selector).fit(X, y).get_feature_names_out())


def main(arguments: list[str] | None = None) -> pd.DataFrame:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", nargs="*", default=list(TABLES), help=f"of {', '.join(TABLES)}; default: all")
    parser.add_argument("--effort", default="quick", help="flows: quick, normal or thorough (default: quick)")
    parser.add_argument("--quick", action="store_true", help="find each boundary once, in one half of the rows")
    options = parser.parse_args(arguments)
    rows = []
    for name in options.tables:
        rows.append(compare(name, options.effort, options.quick))
        print(f"{name}: all {rows[-1]['all']:.3f}, boundary {rows[-1]['boundary']:.3f}", flush=True)
    table = pd.DataFrame(rows).set_index("table")
    print(table.round(3).to_string())
    return table


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""Markov boundaries as a scikit-learn selector."""

from __future__ import annotations

from typing import Any

import numpy as np

try:
    from sklearn.base import BaseEstimator
    from sklearn.feature_selection import SelectorMixin
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError as error:
    raise ImportError("BoundarySelector needs scikit-learn 1.6 or later: pip install fansite[sklearn]") from error

from . import _core
from ._boundaries_result import BoundariesResult
from ._boundary import DEFAULT
from ._methods import method_named
from ._parameters import SelectorParameters
from ._running import running
from ._settings import documented, method_options, run_options
from ._table import from_array, warn


@documented
class BoundarySelector(SelectorParameters, SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """Select the features that are the Markov boundary of ``y``: all that is needed to predict it, and no more.

    A scikit-learn selector, for pipelines and grid searches. Features and ``y`` are taken as continuous; classes have
    to be numbers, and of more than two the order counts. Flows see little in a ``y`` of two values: ``"auto"`` uses
    the Gaussian estimator there. Without any relation to ``y`` no feature is selected.

    {parameters}

    Attributes
    ----------
    support_ : ndarray of bool of shape (n_features,)
        The mask of the selected features.
    boundary_ : Boundary
        The boundary of ``y``, with gains, standard errors, p- and q-values, and near misses.
    result_ : BoundariesResult
        Everything that was found.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Their names, if X has them.

    Examples
    --------
    >>> table = fansite.simulate(nodes=5, rows=500, random_state=1).to_pandas()
    >>> selector = fansite.BoundarySelector().fit(table.drop(columns="x3"), table["x3"])
    >>> selector.get_feature_names_out()
    array(['x1', 'x4'], dtype=object)
    """

    def fit(self, X: Any, y: Any) -> BoundarySelector:
        """Find the boundary of y among the columns of X.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
            The features.
        y : array-like of shape (n_samples,)
            What is to be predicted.

        Returns
        -------
        BoundarySelector
            The selector itself.
        """
        values, y = validate_data(self, X, y, dtype=[np.float64, np.float32], y_numeric=True, ensure_min_samples=2)
        names = list(getattr(self, "feature_names_in_", _core.default_names(values.shape[1])))
        target = "y"
        while target in names:
            target += "'"
        method = method_named("boundary", self.method, "method")
        options = method_options(self, method, method_named("boundary", DEFAULT, "method"), self.options)
        data = from_array(values, [*names, target], np.ascontiguousarray(y, dtype=np.float64))
        with running(self.n_jobs, self.verbose) as run:
            text = _core.markov_boundaries(
                data, _core.Knowledge(), method.name, options, [target], run_options(self), run
            )
        self.result_ = BoundariesResult.from_json(text)
        warn(self.result_.warnings)
        self.boundary_ = self.result_[target]
        self.support_ = np.isin(names, self.boundary_.names)
        return self

    def _get_support_mask(self) -> np.ndarray[Any, Any]:
        check_is_fitted(self)
        mask: np.ndarray[Any, Any] = self.support_
        return mask

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

# SPDX-License-Identifier: Apache-2.0
"""Markov boundaries as a scikit-learn selector."""

from __future__ import annotations

import dataclasses
import os
from typing import TYPE_CHECKING, Any

import numpy as np

try:
    from sklearn.base import BaseEstimator
    from sklearn.feature_selection import SelectorMixin
    from sklearn.utils.validation import assert_all_finite, column_or_1d, validate_data
except ImportError as error:
    raise ImportError("BoundarySelector needs scikit-learn 1.6 or later: pip install fansite[sklearn]") from error

from . import _core
from ._boundaries_result import BoundariesResult
from ._boundary import DEFAULT
from ._columns import ColumnCells, column_cells
from ._explain import Explanation
from ._labels import is_pandas, labels_of, name_of
from ._methods import method_named
from ._parameters import SelectorParameters
from ._settings import documented, method_options, no_attribute, run_options
from ._table import (
    Roles,
    Table,
    append,
    converted,
    from_array,
    is_frame,
    is_numeric,
    row_names_of,
    warn,
    with_roles,
)
from ._words import rows_called

MOST_FOR_FLOW = 300  # features, for which networks train for hours
KINDS = ("auto", "continuous", "ordered", "atoms", "nominal")


@documented
class BoundarySelector(SelectorParameters, SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """Select the features that are the Markov boundary of ``y``: all that is needed to predict it, and no more.

    A scikit-learn selector, for pipelines and grid searches. ``y`` may be numbers or classes: text and categories are
    classes without an order, numbers have one unless ``y_kind="nominal"``. Features may be text or categories if X is a
    data frame, and cells may be missing. If nothing tells anything about ``y``, no feature is selected, with a warning.

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

    def fit(self, X: Any, y: Any, *, weight: Any = None, group: Any = None) -> BoundarySelector:
        """Find the boundary of y among the columns of X.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
            The features. Those of a data frame may be text or categories; cells may be missing.
        y : array-like of shape (n_samples,)
            What is to be predicted: numbers, or classes of any kind.
        weight, group : array-like of shape (n_samples,), str or None
            Weights of rows; rows that are not independent, as in MarkovBoundary.

        Returns
        -------
        BoundarySelector
            The selector itself.
        """
        if self.y_kind not in KINDS:
            raise ValueError(f"y_kind = {self.y_kind!r} is unknown; use {', '.join(map(repr, KINDS))}.")
        features = Roles.given(self.kinds, None, weight, group, self.drop, self.only, X)
        row_name = row_names_of(X)
        with rows_called(row_name):
            data, kinds = self._features(X, y, features)
        names = data.names
        labels = labels_of(X)
        target = "y"
        while target in names:
            target += "'"
        cells = _target(y, data.rows)
        append(data, target, cells)
        if self.y_kind != "auto" or cells.kind:
            kinds[target] = cells.kind if self.y_kind == "auto" else self.y_kind
        data, _ = with_roles(data, "use", features, kinds, row_name)
        method = method_named("boundary", self.method, "method")
        options = method_options(self, method, method_named("boundary", DEFAULT, "method"), self.options)
        nominal = kinds.get(target) == "nominal" or (cells.labels is not None and cells.kind is None)
        without_order = nominal and len(np.unique(cells.values)) > 2
        if without_order and options.get("estimator") == "auto" and len(names) < MOST_FOR_FLOW:
            options["estimator"] = "flow"  # few rows are left to the Gaussian estimator, which sees nothing here
        with Table(data, labels, row_name).working(self.n_jobs, self.verbose) as run:
            text = _core.markov_boundaries(
                data, _core.Knowledge(), method.name, options, [target], run_options(self), run
            )
            self.result_ = BoundariesResult._of(text, labels)
        if without_order and self.result_.estimator == "gaussian":
            raise ValueError(
                "[y] the Gaussian estimator cannot use classes without an order; use estimator='flow', or say "
                "y_kind='ordered'."
            )
        warn(self.result_.warnings)
        self.boundary_ = self.result_[target]
        members = {name_of(name) for name in self.boundary_.names}
        every = self._all_names(X, names)
        self.support_ = np.array([name in members for name in every], dtype=bool)
        self._names = every if labels else None
        if not self.support_.any():
            warn(["no feature tells anything about y beyond chance, so none is selected"])
        return self

    def transform(self, X: Any) -> Any:
        """The selected columns of X.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
            The features.

        Returns
        -------
        array or DataFrame
            A pandas DataFrame if X is one that does not hold numbers alone, else what scikit-learn's selectors give.
        """
        self.get_support()  # that nothing has been learnt is said before anything of X
        if is_pandas(X) and not all(is_numeric(dtype) for dtype in X.dtypes):
            validate_data(self, X, reset=False, skip_check_array=True)  # text is no array of numbers
            return self._transform(X)
        return super().transform(X)

    def explain(self) -> Explanation:
        """What was found of ``y``, in sentences: the features of its boundary and what was nearly in, with numbers."""
        return self.result_.explain(self.boundary_.target)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray[Any, Any]:
        """The names of the selected features, as strings; columns whose labels are none by docs/python.md.

        Parameters
        ----------
        input_features : array-like of str or None
            Names of all features; None: as ``fit`` saw them.
        """
        if input_features is None and getattr(self, "_names", None) is not None:
            input_features = self._names
        names: np.ndarray[Any, Any] = super().get_feature_names_out(input_features)
        return names

    def _features(self, X: Any, y: Any, roles: Roles) -> tuple[_core.Dataset, dict[str, Any]]:
        """The columns of X. scikit-learn checks arrays of numbers; what a data frame may hold is more than it knows."""
        if isinstance(X, (str, os.PathLike)):
            raise TypeError("[X] a selector takes the features, not the path of a file. Read it with pandas.read_csv(path).")
        required = None if y is None else "no_validation"
        if is_frame(X) or _holds_text(X):
            validate_data(self, X, required, skip_check_array=True)
            return converted(X, roles)
        values = validate_data(
            self, X, required, dtype=[np.float64, np.float32], ensure_all_finite="allow-nan", ensure_min_samples=2
        )
        return from_array(values, roles=roles), {}

    def _all_names(self, X: Any, searched: list[str]) -> list[str]:
        """Of the features that are searched, and of those that are left out."""
        if len(searched) == self.n_features_in_:
            return searched
        unnamed = _core.default_names(self.n_features_in_)
        columns = X.columns if is_pandas(X) else getattr(self, "feature_names_in_", unnamed)
        return [name_of(label) for label in columns]

    def _get_support_mask(self) -> np.ndarray[Any, Any]:
        mask: np.ndarray[Any, Any] = self.support_
        return mask

    def __sklearn_is_fitted__(self) -> bool:
        return "support_" in vars(self)

    if not TYPE_CHECKING:  # to which every name would be one

        def __getattr__(self, name: str) -> Any:
            raise no_attribute(self, name, "support_" in vars(self))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.allow_nan = True
        return tags


def _holds_text(X: Any) -> bool:
    dtype = getattr(X, "dtype", None)
    if dtype is None or dtype.kind not in "OU" or getattr(X, "ndim", 0) != 2:
        return False
    return dtype.kind == "U" or any(isinstance(cell, str) for cell in X.ravel())


def _target(y: Any, rows: int) -> ColumnCells:
    """y as a column: text and categories are classes."""
    if getattr(y, "ndim", 1) != 1 or not hasattr(y, "isna"):
        y = column_or_1d(y, warn=True)
    if len(y) != rows:
        raise ValueError(f"[y] {len(y)} values came for {rows} rows. Give one each.")
    cells = column_cells(y, "y")
    assert_all_finite(cells.values, input_name="y")
    return dataclasses.replace(cells, origin="category") if cells.labels is not None else cells

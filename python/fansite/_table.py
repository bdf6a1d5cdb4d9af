# SPDX-License-Identifier: Apache-2.0
"""Tables from NumPy, pandas, polars and all that speaks Arrow; names are kept."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from . import _core


class DataWarning(UserWarning):
    """Something about a table that its user should know; the sentence says what follows from it."""


def as_dataset(X: Any, missing: str = "use") -> _core.Dataset:
    """The table for C++, rows by variables; copied once.

    A NumPy array, and a data frame whose columns have no names, get x1, x2, ...
    """
    if missing not in ("use", "drop", "error"):
        raise ValueError(f"missing = {missing!r} is unknown; use 'use', 'drop' or 'error'.")
    data = _converted(X)
    if len(set(data.names)) < len(data.names):
        twice = next(name for name in data.names if data.names.count(name) > 1)
        raise ValueError(f"[table] two columns are called '{twice}'. Give each a name of its own.")
    if missing == "error":
        data.require_complete()
    if missing == "drop":
        data = data.drop_missing()
        if data.dropped_rows:
            warn([f"{data.dropped_rows} rows with missing cells left out"], stacklevel=4)
    return data


def _converted(X: Any) -> _core.Dataset:
    if is_pandas(X):
        return _from_pandas(X)
    if hasattr(X, "__arrow_c_stream__"):
        return _core.from_arrow(X)
    if hasattr(X, "toarray"):
        raise TypeError("[table] a sparse matrix cannot be used. Give X.toarray().")
    if hasattr(X, "collect"):
        raise TypeError("[table] a lazy frame has no rows yet. Give X.collect().")
    return from_array(np.asarray(X))


def from_array(
    values: np.ndarray[Any, Any], names: Sequence[str] | None = None, last: np.ndarray[Any, Any] | None = None
) -> _core.Dataset:
    """Float arrays of single and double precision as they are, other numbers as double; ``last`` is one more column."""
    if values.ndim != 2:
        raise ValueError(
            f"[table] an array of {values.ndim} dimensions came instead of 2, rows by variables. Reshape it."
        )
    if values.dtype.kind not in "biuf":
        raise ValueError(f"[table] the array holds {values.dtype}, not numbers. Turn it into numbers: X.astype(float).")
    if values.dtype not in (np.float64, np.float32) or not values.dtype.isnative:
        values = values.astype(np.float64)
    return _core.Dataset.from_array(values, list(names or _core.default_names(values.shape[1])), last)


def is_pandas(X: Any) -> bool:
    """Whether it is a pandas DataFrame; pandas is not imported for that."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(X, pandas.DataFrame)


def _from_pandas(frame: Any) -> _core.Dataset:
    for name, dtype in zip(frame.columns, frame.dtypes):
        if getattr(dtype, "kind", "O") not in "biuf":
            raise ValueError(
                f"[table] column '{name}' holds {dtype}, not numbers. Drop it, or turn it into numbers."
            )
    kinds = set(frame.dtypes)
    if kinds in ({np.dtype(np.float64)}, {np.dtype(np.float32)}):
        values = frame.to_numpy()  # a view, where pandas has the table in one piece
    else:
        values = frame.to_numpy(dtype=np.float64, na_value=np.nan)
    named = [isinstance(name, str) for name in frame.columns]
    if any(named) and not all(named):
        other = frame.columns[named.index(False)]
        raise ValueError(f"[table] some columns have names and {other!r} has not. Make all of them strings.")
    return from_array(values, list(frame.columns) if all(named) else None)


def labelled(matrix: np.ndarray[Any, Any], names: Sequence[str], pandas: bool) -> Any:
    """A variables-by-variables matrix as a DataFrame if the table came as one."""
    if not pandas:
        return matrix
    import pandas as pd

    return pd.DataFrame(matrix, index=list(names), columns=list(names))


def warn(sentences: Sequence[str], stacklevel: int = 3) -> None:
    """The warnings of a result as Python's."""
    for sentence in sentences:
        warnings.warn(sentence, DataWarning, stacklevel=stacklevel)

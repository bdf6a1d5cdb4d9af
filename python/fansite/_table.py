# SPDX-License-Identifier: Apache-2.0
"""Tables from NumPy, pandas, polars, all that speaks Arrow, and files; names are kept, and so is what types tell."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from . import _core
from ._columns import ColumnCells, as_floats, column_cells
from ._running import running


class DataWarning(UserWarning):
    """Something about a table that its user should know; the sentence says what follows from it."""


# Kinds, context, weight and group, as C++ takes them.
CoreRoles = tuple[list[tuple[str, str]], list[str], str, str]


@dataclass(frozen=True)
class Roles:
    """What is said of a table's columns and rows, as users give it."""

    kinds: Mapping[str, str] = field(default_factory=dict)
    context: Sequence[str] = ()
    weight: Any = None
    group: Any = None

    @classmethod
    def of(cls, estimator: Any) -> Roles:
        """The parameters of an estimator, checked."""
        return cls.given(estimator.kinds, estimator.context, estimator.weight, estimator.group)

    @classmethod
    def given(cls, kinds: Any, context: Any, weight: Any, group: Any) -> Roles:
        """The arguments of a function, checked."""
        if not isinstance(kinds or {}, Mapping):
            raise TypeError(f"kinds = {kinds!r} is of the wrong type; give a dictionary of names and kinds.")
        for name, kind in (kinds or {}).items():
            if not isinstance(name, str) or not isinstance(kind, str):
                raise TypeError(f"kinds: {name!r} = {kind!r} is of the wrong type; give a name and a kind.")
        columns = [context] if isinstance(context, str) else list(() if context is None else context)
        if not all(isinstance(name, str) for name in columns):
            raise TypeError(f"context = {context!r} is of the wrong type; give a list of names.")
        return cls(dict(kinds or {}), columns, weight, group)

    @property
    def labels(self) -> list[str]:
        """Columns whose cells are labels, whatever they look like."""
        named = [name for name, kind in self.kinds.items() if kind == "nominal"]
        return [*named, self.group] if isinstance(self.group, str) else named

    @property
    def without_kind(self) -> list[str]:
        """Columns of which the kind is known, or which have none: their types need not tell."""
        return [*self.kinds, *(role for role in (self.weight, self.group) if isinstance(role, str))]


NO_ROLES = Roles()


def as_dataset(X: Any, missing: str = "use", roles: Roles = NO_ROLES, stacklevel: int = 4) -> _core.Dataset:
    """The table for C++, rows by variables; copied once.

    A NumPy array, and a data frame whose columns have no names, get x1, x2, ...
    """
    if missing not in ("use", "drop", "error"):
        raise ValueError(f"missing = {missing!r} is unknown; use 'use', 'drop' or 'error'.")
    if isinstance(X, (str, os.PathLike)) and not _is_parquet(X):
        data = _loaded(X, missing, roles)
    else:
        data, from_types = converted(X, roles)
        data = with_roles(data, missing, roles, from_types)
    if data.dropped_rows:
        warn([f"{data.dropped_rows} rows with missing cells left out"], stacklevel=stacklevel)
    return data


def with_roles(data: _core.Dataset, missing: str, roles: Roles, from_types: Mapping[str, str]) -> _core.Dataset:
    """The table with all that is said of it, by its types and, before them, by its user."""
    if len(set(data.names)) < len(data.names):
        twice = next(name for name in data.names if data.names.count(name) > 1)
        raise ValueError(f"[table] two columns are called '{twice}'. Give each a name of its own.")
    weight, group = (_named(data, role, cells) for role, cells in (("weight", roles.weight), ("group", roles.group)))
    if missing == "error":
        data.require_complete()
    if missing == "drop":
        data = data.drop_missing()
    kinds = list({**from_types, **roles.kinds}.items())
    said: CoreRoles = (kinds, list(roles.context), weight, group)
    return data.with_roles(said) if any(said) else data


def _named(data: _core.Dataset, role: str, cells: Any) -> str:
    """The column that has the role; cells that are given as such become one."""
    if cells is None or isinstance(cells, str):
        return cells or ""
    if not hasattr(cells, "dtype") or _is_polars(cells):
        cells = np.array([*cells])
    if cells.ndim != 1 or len(cells) != data.rows:
        raise ValueError(f"[{role}] {len(cells)} values came for {data.rows} rows. Give the name of a column, or one each.")
    name = role
    while name in data.names:
        name += "'"
    append(data, name, column_cells(cells, role, declared=role == "group"))
    return name


def append(data: _core.Dataset, name: str, cells: ColumnCells) -> None:
    """One more column."""
    data.append(name, np.ascontiguousarray(cells.values))
    if cells.labels is not None:
        data.label(len(data.names) - 1, cells.labels, cells.origin)


# ---- Files ----------------------------------------------------------------------------------------------------------


def _is_parquet(path: Any) -> bool:
    return isinstance(path, (str, os.PathLike)) and os.fspath(path).lower().endswith((".parquet", ".pq"))


def _loaded(path: Any, missing: str, roles: Roles) -> _core.Dataset:
    """What the command line reads, as it reads it."""
    for role, cells in (("weight", roles.weight), ("group", roles.group)):
        if not isinstance(cells, (str, type(None))):
            raise TypeError(f"[{role}] for a table in a file, give the name of a column.")
    said: CoreRoles = (list(roles.kinds.items()), list(roles.context), roles.weight or "", roles.group or "")
    with running(None, False) as run:
        return _core.load(os.fspath(path), missing, said, run)


def _read_parquet(path: Any) -> Any:
    try:
        import pyarrow.parquet
    except ImportError as error:
        raise ImportError("[table] reading Parquet files needs pyarrow: pip install pyarrow") from error
    table = pyarrow.parquet.read_table(os.fspath(path))
    # Row numbers that pandas keeps as a column.
    return table.drop_columns([name for name in table.column_names if name.startswith("__index_level_")])


# ---- Tables in memory -----------------------------------------------------------------------------------------------


def converted(X: Any, roles: Roles) -> tuple[_core.Dataset, dict[str, str]]:
    """The table, and the kinds that its types tell."""
    if _is_parquet(X):
        X = _read_parquet(X)
    if is_pandas(X):
        return _from_pandas(X, roles)
    if hasattr(X, "__arrow_c_stream__"):
        data, kinds = _core.from_arrow(X, roles.labels, roles.without_kind)
        return data, dict(kinds)
    if hasattr(X, "toarray"):
        raise TypeError("[table] a sparse matrix cannot be used. Give X.toarray().")
    if hasattr(X, "collect"):
        raise TypeError("[table] a lazy frame has no rows yet. Give X.collect().")
    values = np.asarray(X)
    if values.dtype.kind in "US" and not isinstance(X, np.ndarray):
        values = np.array(X, dtype=object)  # a list of lists, whose numbers NumPy has made text
    return from_array(values, roles=roles), {}


def from_array(
    values: np.ndarray[Any, Any], names: Sequence[str] | None = None, roles: Roles = NO_ROLES
) -> _core.Dataset:
    """Float arrays of single and double precision as they are, other numbers as double; objects column by column."""
    if values.ndim != 2:
        raise ValueError(
            f"[table] an array of {values.ndim} dimensions came instead of 2, rows by variables. Reshape it."
        )
    names = list(names or _core.default_names(values.shape[1]))
    if values.dtype.kind in "OU":
        return _by_columns([values[:, j] for j in range(values.shape[1])], names, roles)[0]
    if values.dtype.kind not in "biuf":
        raise ValueError(f"[table] the array holds {values.dtype}, not numbers. Turn it into numbers: X.astype(float).")
    if values.dtype not in (np.float64, np.float32) or not values.dtype.isnative:
        values = values.astype(np.float64)
    return _core.Dataset.from_array(values, names)


def is_pandas(X: Any) -> bool:
    """Whether it is a pandas DataFrame; pandas is not imported for that."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(X, pandas.DataFrame)


def is_frame(X: Any) -> bool:
    """Whether it is a data frame, whose columns have types of their own."""
    return is_pandas(X) or hasattr(X, "__arrow_c_stream__")


def _is_polars(cells: Any) -> bool:
    return type(cells).__module__.startswith(("polars", "pyarrow"))


def _from_pandas(frame: Any, roles: Roles) -> tuple[_core.Dataset, dict[str, str]]:
    named = [isinstance(name, str) for name in frame.columns]
    if any(named) and not all(named):
        other = frame.columns[named.index(False)]
        raise ValueError(f"[table] some columns have names and {other!r} has not. Make all of them strings.")
    names = list(frame.columns) if any(named) else _core.default_names(frame.shape[1])
    types = set(frame.dtypes)
    if types in ({np.dtype(np.float64)}, {np.dtype(np.float32)}):
        return from_array(frame.to_numpy(), names), {}  # a view, where pandas has the table in one piece
    if types and all(is_numeric(dtype) for dtype in types):
        return from_array(frame.to_numpy(dtype=np.float64, na_value=np.nan), names), {}
    return _by_columns([frame.iloc[:, j] for j in range(frame.shape[1])], names, roles)


def is_numeric(dtype: Any) -> bool:
    """Whether a column of this type of NumPy or pandas holds numbers."""
    return getattr(dtype, "kind", "O") in "biuf" and str(dtype) != "category"


def _by_columns(columns: Sequence[Any], names: list[str], roles: Roles) -> tuple[_core.Dataset, dict[str, str]]:
    """Each column by what it holds."""
    labels, known = set(roles.labels), set(roles.without_kind)
    cells = [column_cells(each, name, name in labels) for each, name in zip(columns, names)]
    values = np.empty((len(columns[0]) if len(columns) else 0, len(names)), order="F")
    for j, each in enumerate(cells):
        values[:, j] = each.values
    data = _core.Dataset.from_array(values, names)
    for j, each in enumerate(cells):
        if each.labels is not None:
            data.label(j, each.labels, each.origin)
    return data, {name: each.kind for name, each in zip(names, cells) if each.kind and name not in known}


# ---- Results --------------------------------------------------------------------------------------------------------


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

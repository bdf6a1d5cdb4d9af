# SPDX-License-Identifier: Apache-2.0
"""Tables from NumPy, pandas, polars, all that speaks Arrow, and files; names are kept, and so is what types tell."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from . import _core
from ._columns import ColumnCells, column_cells
from ._labels import Labels, is_label, is_pandas, labels_of, name_of, names_of
from ._running import running
from ._words import RowName, in_python, rows_called


class DataWarning(UserWarning):
    """Something about a table that its user should know; the sentence says what follows from it."""


# Kinds, context, weight, group, drop and only, as C++ takes them.
CoreRoles = tuple[list[tuple[str, str]], list[str], str, str, list[str], list[str]]


@dataclass(frozen=True)
class Roles:
    """What is said of a table's columns and rows, as users give it."""

    kinds: Mapping[str, str] = field(default_factory=dict)
    context: Sequence[str] = ()
    weight: Any = None
    group: Any = None
    drop: Sequence[str] = ()
    only: Sequence[str] = ()

    @classmethod
    def of(cls, estimator: Any, X: Any) -> Roles:
        """The parameters of an estimator, checked."""
        columns = estimator.drop, estimator.only
        return cls.given(estimator.kinds, estimator.context, estimator.weight, estimator.group, *columns, X)

    @classmethod
    def given(cls, kinds: Any, context: Any, weight: Any, group: Any, drop: Any, only: Any, X: Any) -> Roles:
        """The arguments of a function, checked; columns of X by their names from here on."""
        labels = labels_of(X)
        if not isinstance(kinds or {}, Mapping):
            raise TypeError(f"kinds = {kinds!r} is of the wrong type; give a dictionary of names and kinds.")
        for name, kind in (kinds or {}).items():
            if not (isinstance(name, str) or labels) or not isinstance(kind, str):
                raise TypeError(f"kinds: {name!r} = {kind!r} is of the wrong type; give a name and a kind.")
        weight, group = (name_of(role) if is_label(role, labels) else role for role in (weight, group))
        named = {name_of(name): kind for name, kind in (kinds or {}).items()}
        context, drop, only = (
            names_of(given, labels, argument)
            for given, argument in ((context, "context"), (drop, "drop"), (only, "only"))
        )
        return cls(named, context, weight, group, drop, only)

    def said(self, weight: str, group: str, kinds: Mapping[str, str] | None = None) -> CoreRoles:
        """As C++ takes it, with the names of the columns that have the weights and the groups."""
        named = [*(self.kinds if kinds is None else kinds).items()]
        return named, [*self.context], weight, group, [*self.drop], [*self.only]

    def said_of_names(self) -> CoreRoles:
        """The same of a table as it came, in which weights and groups that are given as such are no columns."""
        weight, group = (role if isinstance(role, str) else "" for role in (self.weight, self.group))
        return self.said(weight, group)

    def staying(self, names: Sequence[str]) -> list[int] | None:
        """Places of the columns that neither drop nor only leaves out; None: all of them."""
        out = _core.left_out(list(names), self.said_of_names())
        return [place for place, is_out in enumerate(out) if not is_out] if any(out) else None

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


@dataclass(frozen=True)
class Table:
    """A table for C++, and what its user calls its columns and rows."""

    data: _core.Dataset
    labels: Labels
    row_name: RowName | None

    @contextmanager
    def working(self, n_jobs: int | None, verbose: int | bool) -> Iterator[_core.Running]:
        """What the C++ functions want to know, while they speak of this table."""
        with rows_called(self.row_name), running(n_jobs, verbose) as run:
            yield run


def as_table(X: Any, missing: str = "use", roles: Roles = NO_ROLES, stacklevel: int = 4) -> Table:
    """The table for C++, rows by variables; copied once. Columns without names are x1, x2, ..."""
    if missing not in ("use", "drop", "error"):
        raise ValueError(f"missing = {missing!r} is unknown; use 'use', 'drop' or 'error'.")
    row_name = row_names_of(X)
    with rows_called(row_name):
        if row_name is None and not _is_parquet(X):
            data = _loaded(X, missing, roles)
        else:
            data, from_types = converted(X, roles)
            data, row_name = with_roles(data, missing, roles, from_types, row_name)
    if data.dropped_rows:
        rows = f"{data.dropped_rows} row{'s' * (data.dropped_rows != 1)}"
        warn([f"{rows} with missing cells left out"], stacklevel=stacklevel)
    return Table(data, labels_of(X), row_name)


def row_names_of(X: Any) -> RowName | None:
    """What rows are called: by the index of a pandas frame, else by their numbers from 0 on; None for a file."""
    if isinstance(X, (str, os.PathLike)):
        return None
    index = X.index if is_pandas(X) else None

    def row_name(row: int) -> str | None:
        if index is None:
            return str(row)
        if not 0 <= row < len(index):
            return None
        label = index[row]
        return f"({', '.join(map(_in_words, label))})" if isinstance(label, tuple) else _in_words(label)

    return row_name


def _in_words(label: Any) -> str:
    return repr(label) if isinstance(label, str) else str(label)


def _of_complete_rows(row_name: RowName | None, data: _core.Dataset) -> RowName | None:
    """The same, where rows with a missing cell are left out."""
    if row_name is None:
        return None
    complete = np.flatnonzero(~np.isnan(data.values).any(axis=1))
    return lambda row: row_name(int(complete[row])) if 0 <= row < len(complete) else None


def with_roles(
    data: _core.Dataset, missing: str, roles: Roles, from_types: Mapping[str, str], row_name: RowName | None
) -> tuple[_core.Dataset, RowName | None]:
    """The table with all that is said of it, by its types and, before them, by its user; and its rows' names."""
    if len(set(data.names)) < len(data.names):
        twice = next(name for name in data.names if data.names.count(name) > 1)
        raise ValueError(f"[table] two columns are called '{twice}'. Give each a name of its own.")
    weight, group = (_named(data, roles, role) for role in ("weight", "group"))
    if missing == "error":
        data.require_complete()
    if missing == "drop":
        row_name = _of_complete_rows(row_name, data)
        data = data.drop_missing()
    said = roles.said(weight, group, {**from_types, **roles.kinds})
    with rows_called(row_name):
        return (data.with_roles(said) if any(said) else data), row_name


def _named(data: _core.Dataset, roles: Roles, role: str) -> str:
    """The column that has the role; cells that are given as such become one."""
    cells = getattr(roles, role)
    if cells is None or isinstance(cells, str):
        return cells or ""
    if not hasattr(cells, "dtype") or _is_polars(cells):
        cells = np.array([*cells])
    if cells.ndim != 1 or len(cells) != data.rows:
        raise ValueError(
            f"[{role}] {len(cells)} values came for {data.rows} rows. Give the name of a column, or one each."
        )
    name = role
    while name in [*data.names, *roles.kinds, *roles.drop]:  # those that are left out are still spoken of
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
    with running(None, False) as run:
        return _core.load(os.fspath(path), missing, roles.said_of_names(), run)


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
    """The table, and the kinds that its types tell. What drop and only leave out may hold anything: it is not read."""
    if _is_parquet(X):
        X = _read_parquet(X)
    if is_pandas(X):
        return _from_pandas(X, roles)
    if hasattr(X, "__arrow_c_stream__"):
        data, kinds = _core.from_arrow(X, roles.labels, roles.without_kind, roles.said_of_names())
        return data, dict(kinds)
    if hasattr(X, "toarray"):
        raise TypeError("[table] a sparse matrix cannot be used. Give X.toarray().")
    if hasattr(X, "collect"):
        raise TypeError("[table] a lazy frame has no rows yet. Give X.collect().")
    values = np.asarray(X)
    if values.dtype.kind in "US" and not isinstance(X, np.ndarray):
        values = np.array(X, dtype=object)  # a list of lists, whose numbers NumPy has made text
    if values.ndim == 0:
        raise TypeError(
            f"[table] {type(X).__name__} is no table. Give a data frame, an array of rows by variables, or a file's path."
        )
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
    if (places := roles.staying(names)) is not None:
        values, names = values[:, places], [names[place] for place in places]
    if values.dtype.kind in "OU":
        return _by_columns([values[:, j] for j in range(values.shape[1])], names, roles)[0]
    if values.dtype.kind not in "biuf":
        raise ValueError(f"[table] the array holds {values.dtype}, not numbers. Turn it into numbers: X.astype(float).")
    if values.dtype not in (np.float64, np.float32) or not values.dtype.isnative:
        values = values.astype(np.float64)
    return _core.Dataset.from_array(values, names)


def is_frame(X: Any) -> bool:
    """Whether it is a data frame, whose columns have types of their own."""
    return is_pandas(X) or hasattr(X, "__arrow_c_stream__")


def _is_polars(cells: Any) -> bool:
    return type(cells).__module__.startswith(("polars", "pyarrow"))


def _from_pandas(frame: Any, roles: Roles) -> tuple[_core.Dataset, dict[str, str]]:
    names = [name_of(label) for label in frame.columns]
    if (places := roles.staying(names)) is not None:
        frame, names = frame.iloc[:, places], [names[place] for place in places]
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

    return pd.DataFrame(matrix, index=pd.Index(names), columns=pd.Index(names))


def warn(sentences: Sequence[str], stacklevel: int = 3) -> None:
    """The warnings of a result as Python's."""
    for sentence in sentences:
        warnings.warn(in_python(sentence), DataWarning, stacklevel=stacklevel)

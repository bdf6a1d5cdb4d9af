# SPDX-License-Identifier: Apache-2.0
"""One column of NumPy or pandas as C++ has it: numbers, or indices into labels; and what its type says it is."""

from __future__ import annotations

import datetime
import decimal
import numbers
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

DATES = (datetime.date, datetime.time, datetime.timedelta, np.datetime64, np.timedelta64)


@dataclass(frozen=True)
class ColumnCells:
    """The cells of a column; NaN is missing."""

    values: np.ndarray[Any, Any]
    labels: list[str] | None = None
    """Where the column is text: its values are indices into these."""
    origin: str = "text"
    """Where labels come from: 'text', 'category' or 'declared', as C++ has it."""
    kind: str | None = None
    """What the column's type says it is."""


def column_cells(cells: Any, name: object, declared: bool = False) -> ColumnCells:
    """The cells of a NumPy array or a pandas Series.

    ``declared``: they are labels, whatever they look like.
    """
    dtype = cells.dtype
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(dtype, pandas.CategoricalDtype):
        return _category(cells, declared)
    if _is_period(dtype) or dtype.kind in "mM":
        if not declared:
            raise _dates(name, dtype)
        return _coded(None if cell != cell else str(cell) for cell in np.asarray(cells, dtype=object))
    if dtype.kind in "biuf":
        return ColumnCells(as_floats(cells))
    objects = np.asarray(cells, dtype=object)
    missing = np.asarray(cells.isna()) if hasattr(cells, "isna") else np.array([_is_null(cell) for cell in objects])
    return _objects(objects, missing, name, declared)


def as_floats(cells: Any) -> np.ndarray[Any, Any]:
    """Numbers of any type as double; missing ones of pandas are NaN."""
    if hasattr(cells, "isna"):
        cells = cells.to_numpy(dtype=np.float64, na_value=np.nan)
    values: np.ndarray[Any, Any] = np.ascontiguousarray(cells, dtype=np.float64)
    return values


def _category(cells: Any, declared: bool) -> ColumnCells:
    """Categories of text are labels; of numbers, these numbers; ordered ones of text, their places in the order."""
    categories = cells.dtype.categories
    codes = np.asarray(cells.cat.codes)
    ordered = bool(cells.dtype.ordered) and not declared
    if categories.dtype.kind in "iuf":
        meaning = categories.to_numpy(dtype=np.float64)
        if ordered and not categories.is_monotonic_increasing:
            meaning = np.arange(len(meaning), dtype=np.float64)
        return ColumnCells(_looked_up(meaning, codes), kind="ordered" if ordered else "nominal")
    places = _looked_up(np.arange(len(categories), dtype=np.float64), codes)
    if ordered:
        return ColumnCells(places, kind="ordered")
    return ColumnCells(places, [str(each) for each in categories], "declared" if declared else "category")


def _looked_up(meaning: np.ndarray[Any, Any], codes: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    values: np.ndarray[Any, Any] = np.append(meaning, np.nan)[codes]  # a missing cell has the code -1
    return values


def _objects(
    objects: np.ndarray[Any, Any], missing: np.ndarray[Any, Any], name: object, declared: bool
) -> ColumnCells:
    """Numbers if all are numbers, else text if all are text."""
    present = objects[~missing]
    numeric = [isinstance(cell, (numbers.Real, decimal.Decimal, np.bool_)) for cell in present]
    if all(numeric):
        values = np.full(len(objects), np.nan)
        values[~missing] = [float(cell) for cell in present]
        return ColumnCells(values)
    other = next(cell for cell, is_number in zip(present, numeric) if not is_number)
    if not declared and not all(isinstance(cell, str) for cell in present):
        if isinstance(other, DATES) or type(other).__name__ in ("Period", "Timestamp"):
            raise _dates(name, type(other).__name__)
        if isinstance(other, str):
            raise ValueError(
                f"[table] column '{name}' holds the text '{other[:40]}' among numbers. Correct it, write None if it is "
                f"missing, or use the column as labels with kinds={{{str(name)!r}: 'nominal'}}."
            )
        raise ValueError(
            f"[table] column '{name}' holds {type(other).__name__}, neither numbers nor text. "
            f"Leave it out with drop={str(name)!r}, or turn it into numbers."
        )
    cells = _coded(None if absent else str(cell) for cell, absent in zip(objects, missing))
    return ColumnCells(cells.values, cells.labels, "declared" if declared else "text")


def _coded(cells: Iterable[str | None]) -> ColumnCells:
    """Each text as its place among the different ones."""
    code_of: dict[str, int] = {}
    values = [np.nan if cell is None else code_of.setdefault(cell, len(code_of)) for cell in cells]
    return ColumnCells(np.array(values, dtype=np.float64), list(code_of), "declared")


def _is_null(cell: object) -> bool:
    return cell is None or (isinstance(cell, (float, np.floating)) and bool(cell != cell))


def _is_period(dtype: Any) -> bool:
    return str(dtype).startswith("period")


def _dates(name: object, dtype: object) -> ValueError:
    return ValueError(
        f"[table] column '{name}' holds dates or times ({dtype}). Give a number, for example days since the first, or "
        f"leave the column out (drop={str(name)!r}); kinds={{{str(name)!r}: 'nominal'}} uses them as labels."
    )

# SPDX-License-Identifier: Apache-2.0
"""What a table is taken to be, before any long work."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from . import _core, _html
from ._exports import imported
from ._labels import found_in
from ._result import Result, number
from ._table import Roles, as_table
from ._words import in_python

_NAN = float("nan")


@dataclass(frozen=True, slots=True)
class ColumnInfo:
    """What a column is taken to be, and what will be done about it."""

    name: str
    kind: str
    """continuous, ordered, atoms or nominal."""
    declared: bool
    """By its type, as text, or by the user; else recognised by its values."""
    context: bool
    """Conditioned on everywhere."""
    distinct: int
    """Values that differ."""
    labels: list[str]
    """Of a nominal column."""
    missing: float
    """Share of the rows."""
    range: tuple[float, float]
    """Least and largest value; NaN for a nominal column."""
    takes_part: bool
    """False if nothing can be learnt of it."""
    treatment: str
    """What will be done about it, in a few words."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something odd about a table."""

    kind: str
    columns: list[str]
    fatal: bool
    """No answer is possible."""
    message: str
    """One sentence that says what follows."""


@dataclass(frozen=True, eq=False, repr=False)
class Inspection(Result):
    """What a table is taken to be; prints as ``fansite inspect`` does."""

    rows: int
    dropped_rows: int
    """Left out because of missing cells."""
    incomplete_rows: int
    """With a missing cell."""
    columns: list[ColumnInfo]
    weight: str | None
    effective_rows: float
    """That weights leave."""
    group: str | None
    groups: int
    """Of rows; 0: every row for itself."""
    findings: list[Finding]
    """Oddities."""
    assumptions: list[str]
    """What the values cannot tell."""
    _text: str = field(default="", repr=False)
    _FORMAT: ClassVar[str] = "fansite.inspect/2"
    _COMMAND: ClassVar[str] = "fansite inspect --json"

    @classmethod
    def _fields(cls, read: dict[str, Any]) -> dict[str, Any]:
        names = ("rows", "dropped_rows", "incomplete_rows", "weight", "effective_rows", "group", "groups")
        return {
            **{name: read[name] for name in names},
            "columns": [_column(each) for each in read["columns"]],
            "findings": [Finding(**{**each, "message": in_python(each["message"])}) for each in read["findings"]],
            "assumptions": [in_python(sentence) for sentence in read["assumptions"]],
        }

    def __getitem__(self, name: str) -> ColumnInfo:
        """The column called so."""
        column: ColumnInfo = found_in({each.name: each for each in self.columns}, name, "[inspect] no column is called")
        return column

    def __repr__(self) -> str:
        return self._text or f"Inspection({self.rows} rows, {len(self.columns)} columns)"

    def _repr_html_(self) -> str:
        return _html.inspection(self)

    def to_dict(self) -> dict[str, Any]:
        """The facts as ``fansite inspect --json`` has them."""
        facts: dict[str, Any] = json.loads(self._json)
        return facts

    def to_pandas(self) -> Any:
        """One row for each column, as a pandas DataFrame."""
        pd = imported("pandas", "pandas", "to_pandas")

        shown = ("name", "kind", "declared", "context", "distinct", "missing", "takes_part", "treatment")
        return pd.DataFrame([{name: getattr(column, name) for name in shown} for column in self.columns])


def _column(read: dict[str, Any]) -> ColumnInfo:
    least, most = read["range"]
    return ColumnInfo(**{**read, "labels": read.get("labels", []), "range": (number(least, _NAN), number(most, _NAN))})


def inspect(
    X: Any,
    *,
    missing: str = "use",
    kinds: Mapping[str, str] | None = None,
    context: Sequence[str] | str | None = None,
    weight: Any = None,
    group: Any = None,
    drop: Sequence[str] | str | None = None,
    only: Sequence[str] | str | None = None,
    n_jobs: int | None = None,
) -> Inspection:
    """Say what a table is taken to be, column by column, and what is odd about it, as ``fansite inspect`` does.

    Parameters
    ----------
    X : DataFrame, array-like of shape (n_samples, n_features) or path
        The table: pandas, polars, Arrow, an array, or a file.
    missing, kinds, context, weight, group, drop, only, n_jobs
        As in MarkovBoundary.

    Returns
    -------
    Inspection
        It prints as lines for people.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"site": ["A", "B"] * 10, "dose": [0.0, 0.5, 1.0, None] * 5})
    >>> facts = fansite.inspect(table, context="site")
    >>> facts["site"].kind, facts["site"].labels
    ('nominal', ['A', 'B'])
    >>> facts["dose"].missing
    0.25
    """
    table = as_table(X, missing, Roles.given(kinds, context, weight, group, drop, only, X))
    with table.working(n_jobs, False) as run:
        text, words = _core.inspect(table.data, run)
        return dataclasses.replace(Inspection._of(text, table.labels), _text=_in_python(words))


def _in_python(words: str) -> str:
    """Its sentences; the names and labels of its table stay as they are."""
    return "\n\n".join(part if part.startswith("column ") else in_python(part) for part in words.split("\n\n"))

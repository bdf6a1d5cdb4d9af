# SPDX-License-Identifier: Apache-2.0
"""The real tables that are installed with scikit-learn and statsmodels, by rules that are written here.

Nothing is fetched. A table takes part with 100 to 5000 rows and five or more usable columns. No row is left out.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import inspect
import json
import pkgutil
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

LEAST_ROWS, MOST_ROWS, LEAST_COLUMNS, TARGETS = 100, 5000, 5, 5
FEW_LEVELS = 20  # of a recoding: text with this many levels may be another column's numbers
MANIFEST = "tables.json"

# A column called so says which row, when or whose, and nothing about what was measured.
NOT_MEASURED = {
    "": "row number", "index": "row number", "row": "row number", "obs": "row number",
    "id": "identifier", "identifier": "identifier", "individual": "identifier", "subject": "identifier",
    "pig": "identifier", "litter": "identifier", "firm": "identifier",
    "date": "time", "time": "time", "year": "time", "quarter": "time", "month": "time", "day": "time", "period": "time",
}  # fmt: skip

# Observed tables among the files of statsmodels beside what its data sets load, with the table's own target. The other
# files there are made by programs (predictions, residuals, simulations), or are other copies of tables that are here.
STATSMODELS_FILES = {
    "credit_cards": ("datasets/ccard/src/ccard.csv", "Avgexp"),
    "affairs": ("datasets/fair/fair_pt.csv", "naffairs"),
    "autos": ("gam/tests/results/autos.csv", "price"),
    "epilepsy": ("genmod/tests/results/epil.csv", "y"),
    "birth_weight": ("genmod/tests/results/stata_lbw_glm.csv", "bwt"),
    "students": ("multivariate/tests/results/mvreg.csv", "locus_of_control"),
    "pigs": ("regression/tests/results/dietox.csv", "Weight"),
    "wages": ("sandbox/regression/tests/griliches76.dta", "lw"),
    "doctor_visits": ("sandbox/regression/tests/racd10data_with_transformed.csv", "docvis"),
    "framing": ("stats/tests/results/framing.csv", "immigr"),
    "smoking_mothers": ("treatment/tests/results/cataneo2.csv", "bweight"),
    "nowcast": ("tsa/statespace/tests/results/frbny_nowcast/Nowcasting/data/US/2016-07-29.csv", "INDPRO"),
    "manufacturing": ("tsa/statespace/tests/results/manufac.dta", "hours"),
}


@dataclass(frozen=True)
class Table:
    """A real table as its package gives it, less the columns that are dropped."""

    name: str
    frame: pd.DataFrame
    target: str
    """The table's own, the first of its targets."""
    dropped: dict[str, str]
    """Columns that are left out, and why."""
    classes: bool = False
    """Whether the package says that the numbers of the own target are classes."""

    def targets(self) -> list[str]:
        """Its own target, and others evenly spaced over its columns."""
        others = [name for name in self.frame.columns if name != self.target]
        places = np.linspace(0, len(others) - 1, min(TARGETS - 1, len(others)))
        return [self.target, *(others[round(place)] for place in places)]

    def is_class(self, column: str) -> bool:
        """Text, truth values, two values, or what the package calls classes: judged by accuracy, others by R²."""
        values = self.frame[column]
        return is_text(values) or values.nunique() <= 2 or (self.classes and column == self.target)


def is_text(values: pd.Series[Any]) -> bool:
    return not pd.api.types.is_numeric_dtype(values) or pd.api.types.is_bool_dtype(values)


# ---- Which columns ---------------------------------------------------------------------------------------------------


def why_not(name: str, values: pd.Series[Any]) -> str | None:
    """Why a column does not take part; None if it does."""
    words = re.sub(r"^unnamed: \d+$", "", name.strip().lower())
    if words in NOT_MEASURED:
        return NOT_MEASURED[words]
    if pd.api.types.is_datetime64_any_dtype(values):
        return "time"
    if values.nunique() < 2:
        return "constant or empty"
    if values.isna().mean() > 0.5:
        return "more than half of its cells are missing"
    if is_text(values) and values.nunique() > 0.5 * values.count():
        return "text that hardly repeats: an identifier"
    return None


def is_recoding(first: pd.Series[Any], second: pd.Series[Any]) -> bool:
    """Whether one is the other under another name, where both have cells: the same order up or down, or the same groups.

    Codes of text, logarithms and squares of positive columns are. They would make any question about the other trivial.
    """
    both = first.notna() & second.notna()
    first, second = first[both], second[both]
    if len(first) < 2 or first.nunique() != second.nunique():
        return False
    if not is_text(first) and not is_text(second):
        ranks = first.rank().to_numpy()
        other = second.rank().to_numpy()
        return bool(np.array_equal(ranks, other) or np.array_equal(ranks, len(ranks) + 1 - other))
    if first.nunique() > FEW_LEVELS:
        return False
    return len(pd.DataFrame({"first": first, "second": second}).drop_duplicates()) == first.nunique()


def usable(frame: pd.DataFrame, target: str) -> tuple[pd.DataFrame, dict[str, str]]:
    """The columns that take part, and why the others do not. Of two recodings the target stays, else the first."""
    frame = frame.rename(columns=str)
    dropped: dict[str, str] = {}
    kept: list[str] = []
    for name in sorted(frame.columns, key=lambda column: column != target):  # the target first, else as they are
        reason = why_not(name, frame[name])
        if reason is None:
            same = next((other for other in kept if is_recoding(frame[other], frame[name])), None)
            reason = f"'{same}' under another name" if same is not None else None
        if reason is None:
            kept.append(name)
        else:
            dropped[name] = reason
    return frame[[name for name in frame.columns if name in kept]], dropped


def table_of(name: str, frame: pd.DataFrame, target: str | None, classes: bool = False) -> Table:
    """Any table; without a target of its own, or with one that cannot be used, it is the last column."""
    own = target if target in frame.columns else str(frame.columns[-1])
    kept, dropped = usable(frame, own)
    if own not in kept.columns and kept.shape[1]:
        own = str(kept.columns[-1])
    return Table(name, kept, own, dropped, classes)


def takes_part(table: Table) -> bool:
    return LEAST_ROWS <= len(table.frame) <= MOST_ROWS and table.frame.shape[1] >= LEAST_COLUMNS


# ---- Where they are --------------------------------------------------------------------------------------------------


def scikit_learn_tables() -> Iterator[Table]:
    """Every loader that gives a frame."""
    import sklearn.datasets

    for loader in sorted(name for name in dir(sklearn.datasets) if name.startswith("load_")):
        load = getattr(sklearn.datasets, loader)
        if "as_frame" not in inspect.signature(load).parameters:
            continue  # pictures and readers of files
        bunch = load(as_frame=True)
        target = bunch.target.name if isinstance(bunch.target, pd.Series) else str(bunch.target.columns[0])
        classes = "target_names" in bunch and isinstance(bunch.target, pd.Series)
        yield table_of(loader.removeprefix("load_"), bunch.frame, target, classes)


def statsmodels_tables() -> Iterator[Table]:
    """Every data set, and the files above."""
    import statsmodels.datasets

    for module in pkgutil.iter_modules(statsmodels.datasets.__path__):
        with contextlib.suppress(ImportError, AttributeError, FileNotFoundError, ValueError):  # no data set
            loaded = importlib.import_module(f"statsmodels.datasets.{module.name}").load_pandas()
            target = getattr(loaded, "endog_name", None)
            yield table_of(module.name, loaded.data, target[0] if isinstance(target, list) else target)
    root = Path(statsmodels.datasets.__file__).parent.parent
    for name, (path, target) in STATSMODELS_FILES.items():
        read = pd.read_stata if path.endswith(".dta") else pd.read_csv
        yield table_of(name, read(root / path), target)


def installed_tables() -> list[Table]:
    """All of them, by name."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of old data sets
        tables = list(scikit_learn_tables())
        if importlib.util.find_spec("statsmodels"):
            tables += statsmodels_tables()
        else:
            print("statsmodels is not installed: its tables are left out. Install it: pip install statsmodels.\n")
    return sorted(filter(takes_part, tables), key=lambda table: table.name)


# ---- As files --------------------------------------------------------------------------------------------------------


def export(tables: list[Table], folder: Path) -> None:
    """Each as CSV, with what CSV does not hold in one manifest."""
    folder.mkdir(parents=True, exist_ok=True)
    for table in tables:
        table.frame.to_csv(folder / f"{table.name}.csv", index=False)
    manifest = {table.name: {"target": table.target, "classes": table.classes} for table in tables}
    (folder / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n")


def tables_in(folder: Path) -> list[Table]:
    """Every CSV file of a folder that takes part; one that the manifest does not name has its last column as target."""
    known: dict[str, Any] = {}
    if (folder / MANIFEST).exists():
        known = json.loads((folder / MANIFEST).read_text())
    tables = []
    for path in sorted(folder.glob("*.csv")):
        told = known.get(path.stem, {})
        tables.append(table_of(path.stem, pd.read_csv(path), told.get("target"), told.get("classes", False)))
    return list(filter(takes_part, tables))

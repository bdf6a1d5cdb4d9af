# SPDX-License-Identifier: Apache-2.0
"""Names of columns that are not strings: results keep them as their data frame has them.

C++, files and JSON have strings. A label that is none has one there: 0 is "0", and a tuple of a MultiIndex is joined,
"blood/sodium".
"""

from __future__ import annotations

import sys
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from . import _core

Labels = Mapping[str, Any]
"""The label of each name, of those that are no strings themselves."""

NO_LABELS: Labels = {}

# Where results have names of variables, in JSON.
_KEYS = {
    "a", "alone", "b", "child", "columns", "copy_of", "from", "given", "interchangeable", "links", "moral_edges", "name",
    "other", "pair", "pairs", "parent", "target", "through", "to", "variables",
}  # fmt: skip
_WITHOUT = {"settings", "manifest", "timing", "methods", "tables"}


def is_pandas(X: Any) -> bool:
    """Whether it is a pandas DataFrame; pandas is not imported for that."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(X, pandas.DataFrame)


def name_of(label: Any) -> str:
    """The string that stands for a column's label in files and other packages; a string stands for itself.

    Parameters
    ----------
    label : object
        A label of a data frame's column.

    Examples
    --------
    >>> [fansite.name_of(label) for label in ("age", 0, ("blood", "iron"))]
    ['age', '0', 'blood/iron']
    """
    if isinstance(label, tuple):
        levels = [str(level) for level in label]
        while len(levels) > 1 and not levels[-1]:
            levels.pop()  # pandas fills up with empty levels
        return "/".join(levels)
    return str(label)


def labels_of(X: Any) -> Labels:
    """Of a data frame, those of its columns that are no strings; a ValueError if two would have one name."""
    if not is_pandas(X):
        return NO_LABELS
    labels = [label for label in X.columns]
    if all(isinstance(label, str) for label in labels):
        return NO_LABELS
    seen: dict[str, Any] = {}
    place: dict[Any, Any] = {}
    for label in labels:
        other = seen.setdefault(name_of(label), label)
        if other is not label and other != label:
            raise ValueError(
                f"[table] the columns {other!r} and {label!r} would both be called '{name_of(label)}'. Rename one."
            )
        equal = place.setdefault(label, label)
        if name_of(equal) != name_of(label):
            raise ValueError(f"[table] the labels {equal!r} and {label!r} of two columns are equal. Rename one.")
    return {name: label for name, label in seen.items() if not isinstance(label, str)}


def names_of(given: Any, labels: Labels, argument: str) -> list[str]:
    """The names that are meant by one label or several."""
    if given is None:
        return []
    one = isinstance(given, str) or not isinstance(given, Iterable) or is_label(given, labels)
    several = [given] if one else list(given)
    if not all(isinstance(each, str) or labels for each in several):
        raise TypeError(f"{argument} = {given!r} is of the wrong type; give a list of names.")
    return [name_of(each) for each in several]


def is_label(given: Any, labels: Labels) -> bool:
    """Whether it is the label of one column."""
    if isinstance(given, str) or not isinstance(given, Hashable):
        return False
    return bool(labels.get(name_of(given), _NOTHING) == given)


_NOTHING = object()


def as_array(labels: Sequence[Any]) -> np.ndarray[Any, Any]:
    """One object for each label, of tuples too."""
    array = np.empty(len(labels), dtype=object)
    for place, label in enumerate(labels):
        array[place] = label
    return array


def relabelled(read: Any, labels: Labels, names: bool = False) -> Any:
    """The JSON of a result with labels for names; what was set stays as it is."""
    if not labels:
        return read
    if isinstance(read, dict):
        return {
            key: value if key in _WITHOUT else relabelled(value, labels, key in _KEYS) for key, value in read.items()
        }
    if isinstance(read, list):
        return [relabelled(each, labels, names) for each in read]
    return labels.get(read, read) if names and isinstance(read, str) else read


# ---- Looking up -----------------------------------------------------------------------------------------------------


def found_in(known: Mapping[Any, Any], label: Any, what: str) -> Any:
    """What a mapping has of a variable, by its label or the name of it; a KeyError that names the nearest."""
    if label in known:
        return known[label]
    by_name = {name_of(each): value for each, value in known.items()}
    if name_of(label) in by_name:
        return by_name[name_of(label)]
    raise KeyError(unknown(name_of(label), by_name, what))


Value = TypeVar("Value")


class ByVariable(dict[Any, Value]):
    """What was found of each target, by its label or the name of it."""

    def __missing__(self, label: Any) -> Value:
        value: Value = found_in(self, label, "[boundaries] there is no boundary of")
        return value


def unknown(name: str, known: Iterable[str], what: str) -> str:
    """A sentence about a name that there is not: with the nearest one, or the first of them."""
    names = list(known)
    near = _core.nearest_name(name, names)
    if near:
        return f"{what} '{name}'. Did you mean '{near}'?"
    shown = ", ".join(names[:20]) + (f" and {len(names) - 20} more" if len(names) > 20 else "")
    return f"{what} '{name}'; there {'is' if len(names) == 1 else 'are'} {shown or 'none'}."

# SPDX-License-Identifier: Apache-2.0
"""Sentences of the library in Python's words: options are arguments, and rows have the labels of their table.

All errors and warnings come through here: those of C++ from module.cpp, the warnings of results from ``_result``.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any

RowName = Callable[[int], str | None]
"""What a row is called, by its number from 0 on; None: its table has no such row."""

_row_name: ContextVar[RowName | None] = ContextVar("row_name", default=None)

_KIND = re.compile(r"--kind (.+?)=(continuous|ordered|atoms|nominal)\b")
# The sentence has named the column before: its name may hold anything.
_DROP = re.compile(r"(column '(.+?)' .*?)--drop \2")
# Commands in backquotes are the program's.
_OPTION = re.compile(r"`[^`]*`|(?<![\w'-])--([a-z][a-z-]*)(?:[ =]([\w-]+)(?: or ([\w-]+))?)?")
# What stands in quotes is the table's: a name such as 'row 5', or a cell.
_ROW = re.compile(r"(?<!\w)'.*?'(?!\w)|\brow (\d+)\b", re.DOTALL)

# Options whose arguments have other names.
_ARGUMENTS = {"kind": "kinds", "seed": "random_state", "threads": "n_jobs", "resume": "checkpoint"}
_SENTENCES = {"use --no-header": "read it with pandas.read_csv(path, header=None)", "--no-header": "no header"}


def in_python(sentence: str) -> str:
    """``--missing drop`` is ``missing="drop"``, and row 5 is what the table calls its fifth row.

    Parameters
    ----------
    sentence : str
        As the command line has it.
    """
    for theirs, ours in _SENTENCES.items():
        sentence = sentence.replace(theirs, ours)
    sentence = _KIND.sub(lambda match: f"kinds={{{match[1]!r}: {match[2]!r}}}", sentence)
    sentence = _DROP.sub(lambda match: f"{match[1]}drop={match[2]!r}", sentence)
    sentence = _OPTION.sub(lambda match: _argument(match) if match[1] else match[0], sentence)
    row_name = _row_name.get()
    if row_name is None:
        return sentence
    return _ROW.sub(
        lambda match: f"row {row_name(int(match[1]) - 1) or match[1]}" if match[1] else match[0], sentence
    )


@contextmanager
def rows_called(row_name: RowName | None) -> Iterator[None]:
    """Sentences inside are about a table whose rows have these names; None: numbers from 1 on, as in its file."""
    token = _row_name.set(row_name)
    try:
        yield
    finally:
        _row_name.reset(token)


def _argument(match: re.Match[str]) -> str:
    """An option, with its value if a value follows it."""
    option, value, other = match[1], match[2], match[3]
    name = _ARGUMENTS.get(option, option.replace("-", "_"))
    written, parameters = _known()
    parameter = parameters.get(name)
    rest = match[0][2 + len(option) :]
    words = ""
    if _is_value(value, parameter):
        quoted = parameter.type == "str" if parameter else not value.isdigit()
        words, rest = f'"{value}"' if quoted else value, rest[1 + len(value) :]
        if other is not None and parameter is not None and other in parameter.choices:
            words, rest = f'{words} or "{other}"', ""
    if name in written or parameter is None:
        return (f"{name}={words}" if words else name) + rest
    return (f'options={{"{name}": {words}}}' if words else f'options["{name}"]') + rest


def _is_value(word: str | None, parameter: Any) -> bool:
    """Whether a word after an option is its value, and not how the sentence goes on."""
    if word is None:
        return False
    if word.isupper() or re.fullmatch(r"[\d.]+", word):
        return True
    if parameter is None:
        return False
    return word in (parameter.choices or ("none", "auto"))


@cache
def _known() -> tuple[set[str], dict[str, Any]]:
    """The arguments that constructors write out, and all parameters by name."""
    from . import _parameters
    from ._methods import RUN, SIMULATE, Parameter, methods

    written: set[str] = set(SIMULATE)
    for value in vars(_parameters).values():
        if inspect.isclass(value) and value.__module__ == _parameters.__name__:
            written |= set(inspect.signature(value).parameters)
    parameters = {**SIMULATE, **{name: each for method in methods() for name, each in method.parameters.items()}, **RUN}
    choices = ("use", "drop", "error")
    parameters["missing"] = Parameter("missing", "", "str", "use", choices, "", True)
    return written, parameters

# SPDX-License-Identifier: Apache-2.0
"""What results have in common: they are read from the JSON that C++ writes, so every number is the command line's."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Self

from . import _core
from ._labels import NO_LABELS, Labels, relabelled
from ._words import in_python


@dataclass(frozen=True, eq=False)
class Result:
    """What a command of ``fansite`` writes; two are equal if all but the timing is."""

    _json: str = field(repr=False)
    _FORMAT: ClassVar[str]
    _COMMAND: ClassVar[str]

    @classmethod
    def from_json(cls, source: str | os.PathLike[str] | Mapping[str, Any]) -> Self:
        """Read what the command line wrote, or ``to_json``.

        Parameters
        ----------
        source : path, str or dict
            The file, the JSON itself, or what ``json.load`` makes of it.
        """
        return cls._of(text_of(source))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a file that the command line wrote.

        Parameters
        ----------
        path : str or path-like
            The file.
        """
        return cls.from_json(Path(path))

    @classmethod
    def _of(cls, text: str, labels: Labels = NO_LABELS) -> Self:
        """The result with the labels of its table's columns."""
        read = relabelled(cls._read(text), labels)
        try:
            fields = cls._fields(read)
        except (KeyError, TypeError, AttributeError, IndexError) as error:
            sentence = f"[read] the JSON is damaged ({error!r}). Give what `{cls._COMMAND}` wrote."
            raise ValueError(sentence) from None
        return cls(_json=text, **fields)

    def to_json(self) -> str:
        """The same text as the command line writes (docs/formats.md)."""
        return self._json

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self)) and self._answer() == other._answer()

    def __hash__(self) -> int:
        return hash(self._answer())

    @classmethod
    def _fields(cls, read: dict[str, Any]) -> dict[str, Any]:
        """The fields of the result, from its JSON."""
        raise NotImplementedError

    @classmethod
    def _read(cls, text: str) -> dict[str, Any]:
        read = parsed(text, f"`{cls._COMMAND}`")
        if read["format"] != cls._FORMAT:
            raise ValueError(
                f"[read] this has format '{read['format']}', not '{cls._FORMAT}'. Give what `{cls._COMMAND}` wrote."
            )
        return read

    def _answer(self) -> str:
        """All but the timing: what depends on data, settings and seed alone."""
        read = json.loads(self._json)
        read.pop("timing", None)
        return json.dumps(read)


def text_of(source: str | os.PathLike[str] | Mapping[str, Any]) -> str:
    """The JSON of a result: as it is, in a file, or as ``json.load`` has it."""
    if isinstance(source, Mapping):
        return _core.laid_out(json.dumps(source))
    if isinstance(source, str) and source.lstrip()[:1] in ("{", "["):
        return source
    if isinstance(source, (str, os.PathLike)):
        return Path(source).read_text(encoding="utf-8")
    raise TypeError(f"[read] {type(source).__name__} is no result; give a path, JSON, or a dictionary of it.")


def parsed(text: str, command: str) -> dict[str, Any]:
    """A result as JSON has it; a ValueError if it is none."""
    read: dict[str, Any] = {}
    try:
        read = json.loads(text)
        ours = isinstance(read, dict) and str(read["format"]).startswith("fansite.")
    except (json.JSONDecodeError, KeyError):
        ours = False
    if not ours:
        raise ValueError(f"[read] this is no JSON result of fansite. Give what {command} wrote.")
    return read


@dataclass(frozen=True, eq=False)
class TableResult(Result):
    """What results about a whole table have in common."""

    variables: list[str]
    """Their names; from a data frame the labels of its columns, which may be other than strings."""
    rows: int
    settings: dict[str, Any]
    warnings: list[str]
    complete: bool
    """False if a time budget cut the run short; ``unfinished`` says what."""
    unfinished: str
    manifest: dict[str, Any]
    """What it takes, with the settings, to repeat the run."""
    timing: dict[str, Any]

    @classmethod
    def _fields(cls, read: dict[str, Any]) -> dict[str, Any]:
        names = ("variables", "rows", "settings", "warnings", "complete", "manifest", "timing")
        return {
            **{name: read[name] for name in names},
            "warnings": [in_python(sentence) for sentence in read["warnings"]],
            "unfinished": in_python(read.get("unfinished", "")),
        }


def number(value: float | None, null: float) -> float:
    """JSON has no infinities: null stands for the one that the field can have."""
    return null if value is None else value

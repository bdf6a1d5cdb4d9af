# SPDX-License-Identifier: Apache-2.0
"""What results have in common: they are read from the JSON that C++ writes, so every number is the command line's."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Self


@dataclass(frozen=True, eq=False)
class Result:
    """What a command of ``fansite`` writes; two are equal if all but the timing is."""

    _json: str = field(repr=False)
    _FORMAT: ClassVar[str]
    _COMMAND: ClassVar[str]

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read what the command line wrote, or ``to_json``.

        Parameters
        ----------
        text : str
            The JSON.
        """
        return cls(_json=text, **cls._fields(cls._read(text)))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a file that the command line wrote.

        Parameters
        ----------
        path : str or path-like
            The file.
        """
        return cls.from_json(Path(path).read_text(encoding="utf-8"))

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
        try:
            read = json.loads(text)
            found = read["format"]
        except (json.JSONDecodeError, KeyError, TypeError):
            raise ValueError(f"[read] this is no JSON result of fansite. Give what `{cls._COMMAND}` wrote.") from None
        if found != cls._FORMAT:
            raise ValueError(
                f"[read] this has format '{found}', not '{cls._FORMAT}'. Give what `{cls._COMMAND}` wrote."
            )
        assert isinstance(read, dict)
        return read

    def _answer(self) -> str:
        """All but the last key, the timing: what depends on data, settings and seed alone."""
        return self._json[: self._json.rindex('"timing"')]


@dataclass(frozen=True, eq=False)
class TableResult(Result):
    """What results about a whole table have in common."""

    variables: list[str]
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
        return {**{name: read[name] for name in names}, "unfinished": read.get("unfinished", "")}


def number(value: float | None, null: float) -> float:
    """JSON has no infinities: null stands for the one that the field can have."""
    return null if value is None else value

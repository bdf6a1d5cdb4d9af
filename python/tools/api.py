# SPDX-License-Identifier: Apache-2.0
"""Writes docs/api.md from the docstrings: python python/tools/api.py > docs/api.md"""

from __future__ import annotations

import dataclasses
import inspect
import re
from types import ModuleType
from typing import Any

import fansite

ESTIMATORS = ["MarkovBoundary", "CausalGraph", "EntropyModel", "BoundarySelector"]


def reference() -> str:
    """The whole page."""
    others = [name for name in fansite.__all__ if name not in (*ESTIMATORS, "__version__", "metrics", "plots")]
    functions = [name for name in others if inspect.isfunction(getattr(fansite, name))]
    values = [name for name in others if name not in functions]
    parts = [
        "# The Python reference\n",
        "Made from the docstrings by `python/tools/api.py`; the guide is [python.md](python.md).\n",
        *(_entry(f"fansite.{name}", getattr(fansite, name)) for name in ESTIMATORS + functions + values),
        *(_module(module) for module in (fansite.metrics, fansite.plots)),
    ]
    return "\n".join(parts)


def _module(module: ModuleType) -> str:
    members = [_entry(f"{module.__name__}.{name}", getattr(module, name), "###") for name in module.__all__]
    return "\n".join([f"## {module.__name__}\n", _text(module), *members])


def _entry(name: str, value: Any, level: str = "##") -> str:
    lines = [f"{level} {name}\n", f"    {_signature(name, value)}\n", _text(value)]
    if inspect.isclass(value):
        lines += _fields(value)
        for method, function in _methods(value):
            lines += [f"{level}# {name}.{method}\n", f"    {_signature(method, function)}\n", _text(function)]
    return "\n".join(lines)


def _signature(name: str, value: Any) -> str:
    if inspect.isclass(value) and (issubclass(value, Exception) or dataclasses.is_dataclass(value)):
        return f"class {name}"
    parameters = [p for p in inspect.signature(value).parameters.values() if p.name not in ("self", "cls")]
    words = []
    for parameter in parameters:
        if parameter.kind is parameter.KEYWORD_ONLY and not any(word.startswith("*") for word in words):
            words.append("*")
        star = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
        default = "" if parameter.default is parameter.empty else f"={parameter.default!r}"
        words.append(f"{star}{parameter.name}{default}")
    return f"{name}({', '.join(words)})"


def _methods(value: type) -> list[tuple[str, Any]]:
    """Its public methods, those of our own bases included."""
    ours = [base for base in value.__mro__ if base.__module__.startswith("fansite")]
    names = dict.fromkeys(name for base in ours for name, member in vars(base).items() if _is_method(name, member))
    return [(name, getattr(value, name)) for name in names if getattr(value, name).__doc__]


def _is_method(name: str, member: Any) -> bool:
    return not name.startswith("_") and (inspect.isfunction(member) or isinstance(member, (classmethod, staticmethod)))


def _fields(value: type) -> list[str]:
    """Fields of a dataclass, with the strings that stand below them in the source."""
    if not dataclasses.is_dataclass(value):
        return []
    source = "\n".join(inspect.getsource(base) for base in value.__mro__ if dataclasses.is_dataclass(base))
    lines = []
    for field in dataclasses.fields(value):
        if field.name.startswith("_"):
            continue
        told = re.search(rf'^    {field.name}: .*\n    """(.*)"""', source, re.M)
        lines.append(f"* `{field.name}`: {field.type}" + (f". {told[1]}" if told else ""))
    return [*lines, ""]


def _text(value: Any) -> str:
    """A docstring, its sections as bold words and its examples as code."""
    doc = inspect.getdoc(value) or ""
    doc = re.sub(r"^(\w+)\n-+$", r"\n**\1**\n", doc, flags=re.M)
    doc = re.sub(r"^([\w, ]+)( : (.*))?\n    ", _item, doc, flags=re.M)
    doc = re.sub(r"\n    (?=\S)", " ", doc)
    doc = re.sub(r"^((?:>>> |\.\.\. ).*(?:\n(?!>>> |\n).+)*)", _indented, doc, flags=re.M)
    return re.sub(r"\n{3,}", "\n\n", doc.replace("``", "`")).strip() + "\n"


def _item(match: re.Match[str]) -> str:
    kind = f" ({match[3]})" if match[3] else ""
    return f"* `{match[1]}`{kind}: "


def _indented(match: re.Match[str]) -> str:
    return "\n".join("    " + line for line in match[1].split("\n"))


if __name__ == "__main__":
    print(reference(), end="")

# SPDX-License-Identifier: Apache-2.0
"""Writes python/fansite/_parameters.py from the lists of methods: make signatures.

scikit-learn and editors read signatures from the source, so they stay written out there; what they hold is described
once, in C++. A test compares the two.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, replace

from fansite._methods import RUN, Parameter, method_named

PATH = "str | os.PathLike[str] | None"
SEED = "int | np.random.RandomState | np.random.Generator | None"
TYPES = {"bool": "bool", "int": "int", "float": "float", "seconds": "float", "str": "str"}
NOTHING = {"list of float": "Sequence[float] | None"}


@dataclass(frozen=True)
class Argument:
    """One argument of a constructor."""

    name: str
    type: str
    default: str
    kind: str
    help: str


def described(parameter: Parameter) -> Argument:
    """As its description says."""
    choices = "{" + ", ".join(map(repr, parameter.choices)) + "}"
    if parameter.type in NOTHING:
        default = ", ".join(map(repr, parameter.default))
        return Argument(
            parameter.name,
            NOTHING[parameter.type],
            "None",
            "sequence of float or None",
            f"{parameter.help}; None: {default}",
        )
    default = float(parameter.default) if parameter.type in ("float", "seconds") else parameter.default
    kind = choices if parameter.choices else TYPES[parameter.type]
    shown = f'"{default}"' if isinstance(default, str) else repr(default)
    return Argument(parameter.name, TYPES[parameter.type], shown, kind, parameter.help)


def path(name: str) -> Argument:
    """A file; None is nowhere."""
    return Argument(name, PATH, "None", "path or None", RUN[name].help)


METHOD_HELP = "See ``fansite.methods``; parameters of other methods than the default go into ``{}``"


def method(name: str, default: str, options: str) -> Argument:
    return Argument(name, "str", f'"{default}"', "str", METHOD_HELP.format(options))


def options(name: str, of: str) -> Argument:
    return Argument(name, "Mapping[str, Any] | None", "None", "dict or None", f"Further parameters of {of}, by name")


TARGETS = Argument(
    "targets",
    "Sequence[str] | str | None",
    "None",
    "sequence of str, str or None",
    "Variables to find the boundary of; None: every one",
)
Y_KIND = Argument(
    "y_kind",
    "str",
    '"auto"',
    "{'auto', 'continuous', 'ordered', 'atoms', 'nominal'}",
    "What ``y`` is; 'auto': text and categories are classes ('nominal'), numbers are what their values show, so "
    "say 'nominal' for classes that are numbers",
)
KNOWLEDGE = Argument(
    "knowledge",
    "Knowledge | str | os.PathLike[str] | None",
    "None",
    "Knowledge, path or None",
    "What is known beforehand; the answer satisfies it",
)
MISSING = Argument(
    "missing", "str", '"use"', "{'use', 'drop', 'error'}", "Missing cells: use the rows as far as they go, drop the rows, or an error"
)
KINDS = Argument(
    "kinds",
    "Mapping[str, str] | None",
    "None",
    "dict or None",
    "What columns are, by name: 'continuous', 'ordered', 'atoms' or 'nominal'; others by their types and values",
)
CONTEXT = Argument(
    "context",
    "Sequence[str] | str | None",
    "None",
    "sequence of str, str or None",
    "Columns that are conditioned on everywhere, such as batch or site; never targets or members",
)
WEIGHT = Argument(
    "weight",
    "Any",
    "None",
    "str, array-like or None",
    "The column of the rows' weights, or one positive number a row; only ratios matter",
)
GROUP = Argument(
    "group",
    "Any",
    "None",
    "str, array-like or None",
    "A column, or one value a row: rows that share it are not independent, as visits of one patient",
)
DROP = Argument(
    "drop",
    "Sequence[str] | str | None",
    "None",
    "sequence of str, str or None",
    "Columns that are left out, whatever they hold",
)
ONLY = Argument(
    "only",
    "Sequence[str] | str | None",
    "None",
    "sequence of str, str or None",
    "Columns that stay; all others are left out, but for those of ``context``, ``weight`` and ``group``",
)
RANDOM_STATE = Argument(
    "random_state",
    SEED,
    "0",
    "int, numpy.random.RandomState, numpy.random.Generator or None",
    "The seed of every random choice; None: another one each time, which the result keeps",
)
DEVICE = described(RUN["device"])
JOBS = Argument("n_jobs", "int | None", "None", "int or None", "Threads; None: one per core. The answer is the same")
VERBOSE = Argument("verbose", "int | bool", "False", "bool", "Show progress, with tqdm if it is installed")
ROLES = [KINDS, CONTEXT, WEIGHT, GROUP, DROP, ONLY]
RUNNING = [MISSING, *ROLES, RANDOM_STATE, DEVICE, JOBS, VERBOSE]
FILES = [path("model"), path("save_model"), path("checkpoint")]
BUDGET = described(RUN["time_budget"])

boundary = [described(each) for each in method_named("boundary", "fansite", "method").parameters.values()]
graph = [described(each) for each in method_named("graph", "fansite-anm", "method").parameters.values()]
flow = [described(each) for each in method_named("entropy", "flow", "estimator").parameters.values()]
without_pairs = [each for each in boundary if each.name not in ("rule", "refine")]  # one target: nothing to reconcile

CLASSES = {
    "BoundaryParameters": [
        TARGETS,
        method("method", "fansite", "options"),
        *boundary,
        options("options", "the method"),
        KNOWLEDGE,
        *FILES,
        BUDGET,
        *RUNNING,
    ],
    "SelectorParameters": [
        method("method", "fansite", "options"),
        *without_pairs,
        options("options", "the method"),
        KINDS,
        replace(DROP, help="Features that are not searched, whatever they hold, and so never selected"),
        replace(ONLY, help="Features that are searched; no other is selected"),
        Y_KIND,
        RANDOM_STATE,
        DEVICE,
        JOBS,
        VERBOSE,
    ],
    "GraphParameters": [
        method("method", "fansite-anm", "options"),
        *graph,
        options("options", "the method"),
        method("boundary_method", "fansite", "boundary_options"),
        *(each for each in boundary if each.name != "refine"),  # the graph comes anyway
        options("boundary_options", "the boundary method"),
        KNOWLEDGE,
        *FILES,
        BUDGET,
        *RUNNING,
    ],
    "EntropyParameters": [
        method("estimator", "flow", "options"),
        *flow,
        options("options", "the estimator"),
        *FILES,
        *RUNNING,
    ],
}
HEAD = '''\
# SPDX-License-Identifier: Apache-2.0
"""Constructors with the parameters that C++ describes. Written by python/tools/signatures.py; do not edit."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ._knowledge import Knowledge
'''


def class_text(name: str, arguments: list[Argument]) -> str:
    """One class: its parameters as NumPy documents them, and a constructor that keeps them."""
    lines = [f"class {name}:", '    """Parameters', "    ----------"]
    for each in arguments:
        lines.append(f"    {each.name} : {each.kind}")
        lines += textwrap.wrap(
            each.help[0].upper() + each.help[1:] + ".", 112, initial_indent=" " * 8, subsequent_indent=" " * 8
        )
    lines += ['    """', "", "    def __init__(", "        self,", "        *,"]
    lines += [f"        {each.name}: {each.type} = {each.default}," for each in arguments]
    lines += ["    ) -> None:", *(f"        self.{each.name} = {each.name}" for each in arguments)]
    return "\n".join(lines) + "\n"


def text() -> str:
    """The whole file."""
    return "\n\n".join([HEAD, *(class_text(name, arguments) for name, arguments in CLASSES.items())])


if __name__ == "__main__":
    print(text(), end="")

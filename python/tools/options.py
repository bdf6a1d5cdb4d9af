# SPDX-License-Identifier: Apache-2.0
"""Writes docs/options.md from the lists of methods: make docs."""

from __future__ import annotations

from fansite import Method, Parameter, methods
from fansite._methods import RUN, SIMULATE

TITLES = {
    "boundary": "Boundary methods (`fansite mb --method`, `MarkovBoundary(method=…)`)",
    "graph": "Graph methods (`fansite dag --method`, `CausalGraph(method=…)`)",
    "entropy": "Entropy estimators (`fansite entropy --estimator`, `EntropyModel(estimator=…)`)",
}
ABILITIES = {
    "needs_boundaries": "needs boundaries",
    "satisfies_knowledge": "satisfies prior knowledge",
    "resumable": "can be resumed",
    "can_be_cut_short": "can be cut short by a time budget",
    "handles_missing_cells": "handles missing cells",
    "handles_context": "handles context columns",
    "handles_weights": "handles weights",
    "handles_groups": "handles groups of rows",
    "keeps_table_order": "goes by the order of columns",
    "trains": "trains networks",
}


def table(parameters: dict[str, Parameter]) -> str:
    lines = ["| option | Python | default | allowed | what it is |", "|---|---|---|---|---|"]
    for each in parameters.values():
        option = "--" + each.name.replace("_", "-")
        if each.type == "bool" and each.default:
            option = "--no-" + option[2:]
        default = ",".join(map(str, each.default)) if isinstance(each.default, list) else each.default
        allowed = ", ".join(each.choices) or ": ".join(filter(None, [each.type, each.range]))
        effect = "" if each.changes_answers else " (not part of a result's settings)"
        name = "random_state" if each.name == "seed" else each.name
        lines.append(f"| `{option}` | `{name}` | {default} | {allowed} | {each.help}{effect} |")
    return "\n".join(lines) + "\n"


def section(method: Method) -> str:
    able = [words for key, words in ABILITIES.items() if method.capabilities[key]]
    kinds = ", ".join(method.capabilities["column_kinds"])
    lines = [f"### {method.name}\n", f"{method.summary[0].upper()}{method.summary[1:]}.", f"{method.citation}.\n"]
    lines.append(f"It {', '.join(able)}. Columns: {kinds}.\n" if able else f"Columns: {kinds}.\n")
    return "\n".join([*lines, table(method.parameters) if method.parameters else "It has no parameters.\n"])


def text() -> str:
    parts = [
        "# Every option\n",
        "Made from the descriptions in the source by `make docs`. Options of a method are given to the command that runs"
        " it; in Python those of the default method are arguments, others go into `options={…}`.\n",
    ]
    for kind, title in TITLES.items():
        parts += [f"## {title}\n", *(section(each) for each in methods(kind))]
    parts += ["## Every run (`mb`, `dag`, `plan`; `entropy` but for the time budget)\n", table(RUN)]
    parts += ["## `fansite simulate`\n", table(SIMULATE)]
    return "\n".join(parts)


if __name__ == "__main__":
    print(text(), end="")

# SPDX-License-Identifier: Apache-2.0
"""The command line reference: what the program says of itself with --help, as pages."""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass, field

from pages import REPOSITORY, Page

PROGRAM = os.environ.get("FANSITE_PROGRAM", str(REPOSITORY / "build/release/fansite"))
COLUMN = 34  # where descriptions begin, unless the option is longer


@dataclass
class Help:
    """A help text, read."""

    summary: str = ""
    usage: str = ""
    notes: list[str] = field(default_factory=list)  # lines that are nothing else
    sections: dict[str, list[list[str]]] = field(default_factory=dict)  # by heading: [option or command, description]

    @property
    def commands(self) -> dict[str, str]:
        return {name: told for name, told in self.sections.get("Subcommands", [])}


def pages() -> list[Page]:
    """The program, and each of its commands."""
    top = read(ask("--help"))
    lines = ["# The command line reference\n",
             "Made from what the program says of itself: `fansite --help` and `fansite COMMAND --help`. A tour with"
             " examples is [the guide](../commands.md); all parameters of every method, with what is allowed, are in"
             " [every option](../options.md).\n",
             f"{_text(top.summary)}\n", f"```text\n{top.usage}\n```\n", "## Commands\n",
             "| command | what it does |", "|---|---|"]
    lines += [f"| [`fansite {name}`]({name}.md) | {_text(told)} |" for name, told in top.commands.items()]
    lines += ["\n## Options before a command\n", _table(top.sections.get("Options", [])), *map(_text, top.notes)]
    found = [Page("cli/index.md", "Overview", "\n".join(lines))]
    for name in top.commands:
        found.append(Page(f"cli/{name}.md", f"fansite {name}", _command([name])))
    return found


def ask(*words: str) -> str:
    return subprocess.run([PROGRAM, *words], capture_output=True, text=True, check=True).stdout


def read(text: str) -> Help:
    found = Help()
    entries: list[list[str]] | None = None
    for line in text.splitlines():
        heading = re.match(r"(\S.*):$", line)
        entry = _entry(line) if entries is not None else None
        if line.startswith("Usage: "):
            found.usage = line.removeprefix("Usage: ")
        elif heading:
            entries = found.sections.setdefault(heading[1], [])
        elif entry:
            entries.append(entry)
        elif entries and re.match(r" {4,}\S", line):
            entries[-1][1] = f"{entries[-1][1]} {line.strip()}".strip()
        elif line.strip() and not found.usage and entries is None:
            found.summary = f"{found.summary} {line.strip()}".strip()
        elif line.strip():
            found.notes.append(line.strip())
    return found


def _entry(line: str) -> list[str] | None:
    """An option or a command, and what it is."""
    if not re.match(r"  \S", line):
        return None
    if len(line) > COLUMN and line[COLUMN - 1] == " " and line[COLUMN] != " ":
        return [line[:COLUMN].strip(), line[COLUMN:].strip()]
    name, _, told = line.strip().partition("  ")
    return [name, told.strip()]


def _command(words: list[str]) -> str:
    """The page of one command, those below it included."""
    known = read(ask(*words, "--help"))
    name = " ".join(["fansite", *words])
    lines = [f"{'#' * len(words)} {name}\n", f"{_text(known.summary[:1].upper() + known.summary[1:])}.\n",
             f"```text\n{known.usage}\n```\n"]
    level = "#" * (len(words) + 1)
    for heading, entries in known.sections.items():
        if heading == "Subcommands":
            continue
        title = {"Positionals": "What it reads", "Options": "Options"}.get(heading, heading)
        lines += [f"{level} {title}\n", _table(entries)]
    lines += [f"{_text(note)}\n" for note in known.notes]
    if words == ["methods"]:
        lines += [f"{level} The methods\n", _methods()]
    lines += [_command([*words, below]) for below in known.commands]
    return "\n".join(lines)


def _table(entries: list[list[str]]) -> str:
    rows = []
    for spelled, told in entries:
        name, _, value = spelled.partition(" ")
        value, excludes, others = value.partition("Excludes: ")
        required = value.endswith("REQUIRED") and spelled.startswith("-")
        value = value.strip().removesuffix(" REQUIRED")
        choices = re.fullmatch(r"\w+:(\{[^}]*\})(.*)", value)
        value = choices[1] + choices[2] if choices else value
        value, _, default = value.partition("=")
        name = name.replace(",", ", ")
        told = _text(told) + (f" (not with `{others}`)" if excludes else "")
        rows.append([f"`{f'{name} {value}'.strip()}`", f"`{default}`" if default else "required" if required else "", told])
    if all(not default for _, default, _ in rows):
        return "\n".join(["| | what it is |", "|---|---|", *(f"| {name} | {told} |" for name, _, told in rows)]) + "\n"
    return "\n".join(["| | default | what it is |", "|---|---|---|", *(f"| {' | '.join(row)} |" for row in rows)]) + "\n"


def _methods() -> str:
    """What `fansite methods` lists, each with its place in the page of all options."""
    lines = []
    for line in ask("methods").splitlines():
        row = re.match(r"  (\S+) +(\S.*)", line)
        if re.match(r"\S", line):
            lines += [f"\n**{_text(line[:1].upper() + line[1:])}**\n", "| name | what it does |", "|---|---|"]
        elif row:
            lines.append(f"| [`{row[1]}`](../options.md#{row[1]}) | {_text(row[2])} |")
    return "\n".join(lines) + "\n"


def _text(words: str) -> str:
    """Plain words in Markdown: what comes from other pages is linked, nothing else means anything."""
    parts = words.split("`")
    parts[::2] = [re.sub(r"([\\*_<>|\[\]])", r"\\\1", part) for part in parts[::2]]
    return re.sub(r"docs/(\w+)\.md", r"[docs/\1.md](../\1.md)", "`".join(parts))

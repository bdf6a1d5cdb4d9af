# SPDX-License-Identifier: Apache-2.0
"""Markdown as GitHub reads it: blocks of code, headings with their anchors, links. The site and its tests share this."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]


@dataclass
class Block:
    """Lines of a page that belong together: prose, or code with what stands above it."""

    lines: list[str] = field(default_factory=list)
    language: str | None = None  # None: prose; "": code of no language
    number: int = 1  # of the first line

    @property
    def text(self) -> str:
        return "\n".join(self.lines) + "\n" if self.lines else ""


def blocks(text: str) -> list[Block]:
    """A page in order: prose and code by turns. Code is fenced, indented by four, or a session that begins with >>>."""
    found = [Block()]
    fence = ""
    blank = True  # the line above is
    for number, line in enumerate(text.splitlines(), 1):
        last = found[-1]
        opening = re.match(r"(```+|~~~+)\s*([\w+-]*)", line)
        if fence:
            if line.startswith(fence):
                fence = ""
                found.append(Block(number=number + 1))
            else:
                last.lines.append(line)
        elif opening:
            fence = opening[1]
            found.append(Block(language=opening[2], number=number + 1))
        elif line.startswith("    ") and (last.language == "" or blank) and not _in_list(last, found):
            if last.language != "":
                last = Block(language="", number=number)
                found.append(last)
            last.lines.append(line[4:])
        elif line.startswith(">>> ") and (blank or last.language == "pycon"):
            if last.language != "pycon":
                last = Block(language="pycon", number=number)
                found.append(last)
            last.lines.append(line)
        elif last.language == "" and not line.strip():
            last.lines.append("")
        elif last.language == "pycon" and line.strip():
            last.lines.append(line)
        else:
            if last.language is not None:
                last = Block(number=number)
                found.append(last)
            last.lines.append(line)
        blank = not line.strip()
    for block in found:
        while block.language == "" and block.lines and not block.lines[-1].strip():
            block.lines.pop()
    return [block for block in found if block.lines]


def _in_list(last: Block, found: list[Block]) -> bool:
    """The paragraph above is an item of a list, which indented text goes on with."""
    if last.language is not None:
        return False
    above = "\n".join(last.lines).rstrip().split("\n\n")[-1]
    return bool(re.match(r" *([*-]|\d+\.) ", above))


def prose(text: str) -> str:
    """A page without its code, line for line."""
    lines = text.splitlines()
    kept = [""] * len(lines)
    for block in blocks(text):
        if block.language is None:
            kept[block.number - 1:block.number - 1 + len(block.lines)] = block.lines
    return "\n".join(kept)


def slug(words: str, separator: str = "-") -> str:
    """The anchor of a heading, as GitHub makes it."""
    words = re.sub(r"<[^>]*>", "", words.strip().lower())
    return re.sub(r"[^\w\- ]", "", words).replace(" ", separator)


def anchors(text: str) -> set[str]:
    """Of every heading of a page; a heading that comes again is counted."""
    found: set[str] = set()
    for heading in re.findall(r"^#{1,6} +(.*?) *#*$", prose(text), re.M):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
        anchor = slug(words)
        count = 1
        while anchor in found:
            anchor = f"{slug(words)}-{count}"
            count += 1
        found.add(anchor)
    return found | set(re.findall(r"<a (?:id|name)=\"([^\"]+)\"", text))


@dataclass
class Page:
    """One that is made, for the site."""

    place: str  # in the site, .md
    title: str  # in the navigation
    text: str
    section: str = ""  # of the navigation


LINK = re.compile(r"(!?\[(?:[^\[\]]|\[[^\]]*\]|!\[[^\]]*\]\([^)]*\))*\])\(([^()\s]+)((?:\s+\"[^\"]*\")?)\)")


def links(text: str) -> list[tuple[int, str]]:
    """Where a page points to, and on which line."""
    bare = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", lambda code: re.sub(r"[^\n]", " ", code[0]), prose(text), flags=re.S)
    return [(bare.count("\n", 0, link.start()) + 1, link[2]) for link in LINK.finditer(bare)]


def pages() -> list[Path]:
    """What people read of this repository, in Markdown."""
    front = [REPOSITORY / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "fansite/README.md")]
    return front + sorted((REPOSITORY / "docs").rglob("*.md"))

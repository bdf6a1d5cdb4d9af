# SPDX-License-Identifier: Apache-2.0
"""The examples of a page, run from top to bottom in one folder: what was told, and what the page says is told.

    python tests/site/examples.py docs/start.md     shows both, where they differ

Blocks ```sh and ```python are run, and ```text after one is what it prints, but for lines of "…" and what "…" at the end of a
line stands for. A block that begins a file of its own stands after <!-- file: NAME -->. What cannot be run has <!-- not run: WHY --> above it.
"""

from __future__ import annotations

import contextlib
import io
import math
import os
import re
import shutil
import subprocess
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY / "tools/site"))
import pages  # noqa: E402

PROGRAM = Path(os.environ.get("FANSITE_PROGRAM", REPOSITORY / "build/release/fansite")).resolve()
# Times and memory are another machine's; what is told of threads and processors too.
FLEETING = re.compile(r"[\d.e+]+ (?:s|ms|min|h|MB|threads?|steps/s)\b|\bin [\d.]+ s\b")
# What a log is told every half minute, which a busy machine may take: cli/progress_bar.cpp.
LOG_LINE = re.compile(r"^ *\d+\.\d s  (?:working|\w[\w -]*: \d+ %.*)\n", re.MULTILINE)
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?")


@dataclass
class Example:
    """A block that was run."""

    line: int
    told: str
    expected: str | None


def run(page: Path, folder: Path) -> Iterator[Example]:
    shutil.copytree(REPOSITORY / "examples", folder / "examples", dirs_exist_ok=True)
    names: dict[str, object] = {"__name__": "__main__"}
    blocks = pages.blocks(page.read_text(encoding="utf-8"))
    above = ""
    for place, block in enumerate(blocks):
        if block.language is None:
            above = block.lines[-1] if block.lines[-1].strip() else "".join(block.lines[-2:-1])
            continue
        file, reason = re.match(r"<!-- file: (\S+) -->", above), re.match(r"<!-- not run: .+ -->", above)
        above = ""
        if file:
            (folder / file[1]).write_text(block.text, encoding="utf-8")
        if reason or file or block.language not in ("sh", "python"):
            continue
        told = _shell(block.text, folder) if block.language == "sh" else _python(block.text, names, folder)
        following = [later for later in blocks[place + 1:] if later.language is not None or later.text.strip()]
        expected = following[0].text if following and following[0].language == "text" else None
        yield Example(block.number, told, expected)


def _shell(text: str, folder: Path) -> str:
    path = f"{PROGRAM.parent}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(["bash", "-euo", "pipefail", "-c", text], cwd=folder, env={**os.environ, "PATH": path, "COLUMNS": "80"},
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    told = done.stdout.decode()
    assert done.returncode == 0, f"{text}\n{told}"
    told = re.sub(r"[^\n]*\r", "", told)  # a bar of progress, which a busy machine shows, is written over
    return LOG_LINE.sub("", told)


def _python(text: str, names: dict[str, object], folder: Path) -> str:
    told = io.StringIO()
    with contextlib.chdir(folder), contextlib.redirect_stdout(told), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile(text, "example", "exec"), names)  # noqa: S102
    return told.getvalue()


def differences(told: str, expected: str) -> list[str]:
    """Lines of a page that are not what was told, in that order."""
    lines = [line.rstrip() for line in told.splitlines()]
    missed, at, anywhere = [], 0, False
    for line in expected.splitlines():
        if line.strip() == "…":
            anywhere = True
            continue
        found = next((place for place in range(at, len(lines)) if same(lines[place], line.rstrip())), None)
        if found is None or (found > at and not anywhere and at > 0):
            missed.append(line)
        else:
            at = found + 1
        anywhere = False
    return missed


def same(told: str, expected: str) -> bool:
    """The same words, and numbers as near as other processors bring them."""
    if expected.endswith(" …"):
        shown = expected.removesuffix("…").split()
        told, expected = " ".join(told.split()[:len(shown)]), " ".join(shown)
    told, expected = FLEETING.sub("…", told), FLEETING.sub("…", expected)
    if NUMBER.sub("#", told).split() != NUMBER.sub("#", expected).split():
        return False
    return all(_near(a, b) for a, b in zip(NUMBER.findall(told), NUMBER.findall(expected), strict=True))


def _near(a: str, b: str) -> bool:
    if "e-" in a or "e-" in b:  # p-values
        return abs(math.log10(abs(float(a)) + 1e-300) - math.log10(abs(float(b)) + 1e-300)) < 3
    return abs(float(a) - float(b)) <= 0.02 + 0.1 * abs(float(b))


if __name__ == "__main__":
    import tempfile

    for name in sys.argv[1:]:
        with tempfile.TemporaryDirectory() as place:
            for example in run(Path(name), Path(place)):
                missing = differences(example.told, example.expected or "")
                print(f"{name}:{example.line}:", "as told" if not missing else f"not told: {missing}\n{example.told}")

# SPDX-License-Identifier: Apache-2.0
"""The examples of the guides are run from top to bottom, and tell what the pages say.

Run by `make test`. The program is $FANSITE_PROGRAM, or build/release/fansite.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import examples  # noqa: E402

pytest.importorskip("fansite")
REPOSITORY = examples.REPOSITORY
pytestmark = pytest.mark.skipif(not os.access(examples.PROGRAM, os.X_OK), reason=f"{examples.PROGRAM} is not built: make build")

# How many blocks of each page are run.
PAGES = {
    "docs/start.md": 6,
    "docs/howto/biologist.md": 5,
    "docs/howto/data_scientist.md": 7,
    "docs/howto/researcher.md": 7,
}
# What other tests run, and what test_install.sh does.
ELSEWHERE = {"README.md", "docs/commands.md", "docs/tables.md", "docs/report.md", "docs/python.md", "docs/howto/cpp_engineer.md"}


@pytest.mark.parametrize("name", PAGES)
def test_examples(name: str, tmp_path: Path) -> None:
    done = 0
    for example in examples.run(REPOSITORY / name, tmp_path):
        done += 1
        missing = examples.differences(example.told, example.expected or "")
        assert not missing, f"{name}:{example.line} tells\n{example.told}\nand not\n" + "\n".join(missing)
    assert done == PAGES[name]


def test_that_differences_are_seen() -> None:
    told = "3 boundaries in 0.52 s\n  x1  x2 0.412\n  x2  x1 0.411\np = 3e-20\n"
    assert not examples.differences(told, "3 boundaries in 12 s\n  x1  x2 0.410\n…\np = 1e-21\n")
    assert examples.differences(told, "3 boundaries in 12 s\n  x1  x3 0.412\n") == ["  x1  x3 0.412"]
    assert examples.differences(told, "3 boundaries in 12 s\n  x1  x2 0.712\n") == ["  x1  x2 0.712"]
    assert examples.differences(told, "3 boundaries in 12 s\np = 3e-20\n") == ["p = 3e-20"]  # lines were left out
    assert examples.differences(told, "2 boundaries in 0.52 s\n") == ["2 boundaries in 0.52 s"]
    told = "  x1  x2 0.412 x3 0.003\n"
    assert not examples.differences(told, "  x1  x2 0.410 …\n") and not examples.differences(told, "  x1 …\n")
    assert examples.differences(told, "  x1  x3 …\n") and examples.differences(told, "  x1  x2 0.712 …\n")


def test_that_progress_is_none_of_what_is_told(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    log = "    30.0 s  working\\n    60.0 s  training: 50 %%, 59 s left in this stage\\n"
    page.write_text(f"```sh\nprintf 'found\\n\\rworking: 10%%\\r            \\r{log}done\\n'\n```\n\n```text\nfound\ndone\n```\n")
    (example,) = examples.run(page, tmp_path)
    assert example.told == "found\ndone\n"


def test_every_page_with_examples_is_run() -> None:
    for page in examples.pages.pages():
        name = str(page.relative_to(REPOSITORY))
        text = page.read_text(encoding="utf-8")
        fenced = [block for block in examples.pages.blocks(text) if block.language in ("sh", "python")]
        if fenced:
            assert name in PAGES or name in ELSEWHERE, f"{name} has examples: add it to PAGES"


def test_sources_in_pages_are_those_that_are_built() -> None:
    """test_install.sh builds and runs examples/find_package."""
    sources = {path.name: path.read_text(encoding="utf-8") for path in (REPOSITORY / "examples/find_package").iterdir()}
    blocks = examples.pages.blocks((REPOSITORY / "docs/howto/cpp_engineer.md").read_text(encoding="utf-8"))
    for language, count in {"cpp": 2, "cmake": 1}.items():
        shown = [block.text for block in blocks if block.language == language]
        assert len(shown) == count
        for text in shown:
            assert any(source.endswith(text) for source in sources.values()), f"this is not what is built:\n{text}"


def test_table_is_what_its_program_writes() -> None:
    names: dict[str, object] = {"__name__": "study"}
    exec((REPOSITORY / "examples/study.py").read_text(encoding="utf-8"), names)  # noqa: S102
    assert names["table"]() == (REPOSITORY / "examples/study.csv").read_text(encoding="utf-8")  # type: ignore[operator]

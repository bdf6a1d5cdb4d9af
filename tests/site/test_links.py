# SPDX-License-Identifier: Apache-2.0
"""Every link between the repository's pages leads somewhere: the file is there, and so is the heading."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools/site"))
import pages  # noqa: E402


def broken(page: Path, text: str) -> list[str]:
    found = []
    for line, target in pages.links(text):
        if re.match(r"[a-z][a-z+.-]*:", target):
            continue
        path, _, anchor = target.partition("#")
        place = (page.parent / path).resolve() if path else page
        if (place != page and not place.exists()) or not place.is_relative_to(pages.REPOSITORY):
            found.append(f"{page.relative_to(pages.REPOSITORY)}:{line}: {target}: there is no such file")
        elif anchor and anchor not in pages.anchors(text if place == page else place.read_text(encoding="utf-8")):
            found.append(f"{page.relative_to(pages.REPOSITORY)}:{line}: {target}: there is no such heading")
    return found


@pytest.mark.parametrize("page", pages.pages(), ids=lambda page: str(page.relative_to(pages.REPOSITORY)))
def test_links(page: Path) -> None:
    assert not broken(page, page.read_text(encoding="utf-8"))


def test_that_broken_links_are_seen() -> None:
    page = pages.REPOSITORY / "docs/page.md"
    text = """# Page

## A heading (`--with` signs)
See [it](#a-heading---with-signs), [this](tables.md#missing-cells), [not
this](tables.md#nowhere), [nor this](nowhere.md), `[code](nowhere.md)`.

    [code](nowhere.md)

```sh
# [code](nowhere.md)
```
"""
    assert broken(page, text) == [
        "docs/page.md:4: tables.md#nowhere: there is no such heading",
        "docs/page.md:5: nowhere.md: there is no such file",
    ]


def test_links_are_found_at_all() -> None:
    assert sum(len(pages.links(page.read_text(encoding="utf-8"))) for page in pages.pages()) > 100


def test_every_page_is_in_the_site() -> None:
    settings = (pages.REPOSITORY / "mkdocs.yml").read_text(encoding="utf-8")
    for page in (pages.REPOSITORY / "docs").rglob("*.md"):
        assert f"{page.relative_to(pages.REPOSITORY / 'docs')}\n" in settings, f"{page.name} is in no section of mkdocs.yml"

# SPDX-License-Identifier: Apache-2.0
"""The site of the documentation as its readers use it: from files, without a network.

Run by `make test-site`, which builds it. The site is build/site, or $FANSITE_SITE.
"""

from __future__ import annotations

import html.parser
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlparse

import pytest

pytest.importorskip("selenium")
pytest.importorskip("PIL")

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(REPOSITORY / "tests/page"), str(REPOSITORY / "tools/site")]
import pages  # noqa: E402
from browser import PATIENCE, Browser, missing  # noqa: E402

SITE = Path(os.environ.get("FANSITE_SITE", REPOSITORY / "build/site"))
PROGRAM = os.environ.get("FANSITE_PROGRAM", str(REPOSITORY / "build/release/fansite"))
pytestmark = [pytest.mark.skipif(not (SITE / "index.html").exists(), reason="the site is not built: make site")]
in_browser = pytest.mark.skipif(bool(missing()), reason=missing() or "installed")

SECTIONS = ["Home", "Guide", "How-to", "Method", "Evidence", "Trust", "Formats", "Python", "C++", "Command line", "Project"]
ONE_OF_EACH = ["index.html", "start.html", "howto/biologist.html", "method.html", "evidence.html", "trust.html", "formats.html",
               "api.html", "cpp/index.html", "cpp/run-boundaries.html", "cli/index.html", "cli/mb.html", "options.html"]


class Page(html.parser.HTMLParser):
    """What a page loads, links to, and can be linked to."""

    def __init__(self, place: Path) -> None:
        super().__init__()
        self.place = place
        self.loaded: list[str] = []
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(place.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = {key: value or "" for key, value in attributes}
        if "id" in given:
            self.anchors.add(given["id"])
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif "src" in given:
            self.loaded.append(given["src"])
        elif tag == "link" and given.get("rel") not in ("canonical", "prev", "next"):
            self.loaded.append(given["href"])


@pytest.fixture(scope="session")
def site() -> dict[Path, Page]:
    return {place.resolve(): Page(place.resolve()) for place in SITE.rglob("*.html") if place.name != "404.html"}  # a server's


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    made = Browser()
    yield made
    made.quit()


def show(browser: Browser, page: str) -> None:
    browser.driver.get((SITE / page).resolve().as_uri())
    browser.wait("document.readyState === 'complete'")


# ---- Files ----------------------------------------------------------------------------------------------------------


def test_nothing_is_loaded_from_elsewhere(site: dict[Path, Page]) -> None:
    assert len(site) > 100
    for page in site.values():
        for address in page.loaded:
            assert not urlparse(address).netloc, f"{page.place} loads {address}"
            assert (page.place.parent / unquote(urlparse(address).path)).exists(), f"{page.place}: no {address}"
    for sheet in SITE.rglob("*.css"):
        assert not re.search(r"(url\(|@import)\s*['\"]?(https?:)?//", sheet.read_text(encoding="utf-8")), sheet


def test_links_lead_somewhere(site: dict[Path, Page]) -> None:
    broken = []
    for page in site.values():
        for link in page.links:
            address = urlparse(link)
            if address.scheme or address.netloc:
                continue
            place = (page.place.parent / unquote(address.path)).resolve() if address.path else page.place
            place = place / "index.html" if place.is_dir() else place
            if place not in site and not place.exists():
                broken.append(f"{page.place.relative_to(SITE.resolve())}: {link}")
            elif address.fragment and place in site and unquote(address.fragment) not in site[place].anchors:
                broken.append(f"{page.place.relative_to(SITE.resolve())}: {link}: no such heading")
    assert not broken


def test_command_line_is_what_the_program_says() -> None:
    told = subprocess.run([PROGRAM, "--help"], capture_output=True, text=True, check=True).stdout
    commands = re.findall(r"^  (\w+) {2,}\S", told.split("Subcommands:")[1], re.M)
    assert len(commands) >= 12
    for command in commands:
        page = (SITE / f"cli/{command}.html").read_text(encoding="utf-8")
        text = " ".join(html.unescape(re.sub(r"<[^>]*>", "", page)).split())
        help_text = subprocess.run([PROGRAM, command, "--help"], capture_output=True, text=True, check=True).stdout
        for option in re.findall(r"^  (?:-\w,)?(--[\w-]+)", help_text, re.M):
            assert re.search(rf"{option}(?![\w-])", text), f"fansite {command} {option} is not in the reference"
        for told in re.findall(r" {3,}(\S.+)$", help_text, re.M):
            assert " ".join(told.replace("`", "").split()).lower() in text.lower(), f"fansite {command} says: {told}"


def test_cpp_reference_has_every_header_and_what_users_call() -> None:
    import importlib

    pytest.importorskip("pygments")
    headers = importlib.import_module("cpp_reference").headers()
    assert len(headers) > 60
    for header in headers:
        name = header.removeprefix("fansite/").replace("/", "-").removesuffix(".h")
        page = (SITE / f"cpp/{name}.html").read_text(encoding="utf-8")
        assert header in html.unescape(re.sub(r"<[^>]*>", "", page)), header
    page = (SITE / "cpp/run-boundaries.html").read_text(encoding="utf-8")
    text = " ".join(html.unescape(re.sub(r"<[^>]*>", "", page)).split())
    assert 'id="markov_boundaries"' in page and 'href="table-dataset.html#dataset"' in page
    assert "Throws a DataError when the table allows no answer" in text
    assert "per variable: the column it repeats, or −1; a copy shares its boundary" in text


def test_code_and_tables_of_pages_are_code_and_tables() -> None:
    for page in pages.pages():
        if page.parent != REPOSITORY / "docs":
            continue
        text = page.read_text(encoding="utf-8")
        made = (SITE / page.with_suffix(".html").name).read_text(encoding="utf-8")
        code = [block for block in pages.blocks(text) if block.language is not None]
        assert made.count("<pre") == len(code), page.name
        assert made.count("<table>") == len(re.findall(r"^\|[-| :]+\|$", pages.prose(text), re.M)), page.name


def test_notebooks_are_words_and_code(site: dict[Path, Page]) -> None:
    for notebook in (REPOSITORY / "examples").rglob("*.ipynb"):
        shown = SITE / f"files/{notebook.relative_to(REPOSITORY)}.html"
        if shown.exists():
            text = shown.read_text(encoding="utf-8")
            assert "<pre" in text and "cell_type" not in text


# ---- A reader -------------------------------------------------------------------------------------------------------


@in_browser
@pytest.mark.parametrize("page", ONE_OF_EACH)
def test_pages_open_without_errors(browser: Browser, page: str) -> None:
    browser.resize(1440, 900)
    show(browser, page)
    assert browser.texts("h1")
    assert [words.strip() for words in browser.texts(".md-tabs__link")] == SECTIONS
    assert browser.value("[...document.images].every((image) => image.complete && image.naturalWidth > 0)")
    assert browser.errors() == []


@in_browser
@pytest.mark.parametrize("page", ONE_OF_EACH)
def test_nothing_is_wider_than_a_phone(browser: Browser, page: str) -> None:
    browser.resize(400, 800)
    show(browser, page)
    assert browser.value("document.documentElement.scrollWidth") <= 400
    assert browser.value("document.body.scrollWidth") <= 400
    browser.resize(1440, 900)


@in_browser
@pytest.mark.parametrize(("words", "place"), [("missing cells", "tables.html"), ("markov_boundaries", "cpp/run-boundaries.html"),
                                              ("--time-budget", "options.html"), ("fansite::load_dag", "cpp/graph-dag.html"), ("collid", "glossary.html")])
def test_search_finds(browser: Browser, words: str, place: str) -> None:
    browser.resize(1440, 900)
    show(browser, "cli/index.html")  # from another folder too
    browser.find("body").send_keys("/")
    browser.wait("document.activeElement.matches('.md-search__input')")
    browser.press(words)
    found = "[...document.querySelectorAll('.md-search-result__link')].map((link) => link.href)"
    until = time.monotonic() + PATIENCE
    while not any(f"/{place}" in link for link in browser.value(found)):
        assert time.monotonic() < until, f"{words!r} is found in {browser.value(found)}"
        time.sleep(0.05)
    assert browser.errors() == []


@in_browser
def test_dark_follows_the_reader(browser: Browser) -> None:
    browser.resize(1440, 900)
    grounds = []
    for scheme in ("light", "dark"):
        browser.prefer(colour_scheme=scheme)
        show(browser, "method.html")
        grounds.append(browser.value("getComputedStyle(document.body).backgroundColor"))
    browser.prefer(colour_scheme="light")
    light, dark = (sum(map(float, re.findall(r"[\d.]+", ground)[:3])) for ground in grounds)
    assert light > 700 and dark < 200

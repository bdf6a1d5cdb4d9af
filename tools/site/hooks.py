# SPDX-License-Identifier: Apache-2.0
"""What MkDocs asks while it builds the site (mkdocs.yml): pages that are generated, and the repository's Markdown as
GitHub shows it."""

from __future__ import annotations

import json
import posixpath
import re
import sys
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

sys.path.insert(0, str(Path(__file__).parent))
import command_line  # noqa: E402
import cpp_reference  # noqa: E402
import pages  # noqa: E402

REPOSITORY = pages.REPOSITORY
# Pages that stand outside docs/, and where they are in the site.
MOVED = {"CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md", "fansite/README.md": "source.md"}
BOOST = {"cpp/": 0.3, "files/": 0.1, "changelog": 0.3, "source": 0.5, "cli/": 1.5}
LANGUAGES = {".cpp": "cpp", ".h": "cpp", ".py": "python", ".txt": "text", ".cff": "yaml", ".sh": "sh"}

generated: dict[str, str] = {}
titles: dict[str, str] = {}  # of pages by the names of their files


def on_config(config: Any) -> Any:
    """Makes the references, and puts their pages where mkdocs.yml names their folder."""
    config.mdx_configs["toc"]["slugify"] = pages.slug
    generated.clear()
    for source, place in MOVED.items():
        generated[place] = _moved(source, (REPOSITORY / source).read_text(encoding="utf-8"))
    chapters = {"cli/": command_line.pages(), "cpp/": cpp_reference.pages()}
    for made in chapters.values():
        generated.update({page.place: page.text for page in made})
    titles.clear()
    for source in (REPOSITORY / "docs").rglob("*.md"):
        titles[source.name] = source.read_text(encoding="utf-8").splitlines()[0].removeprefix("# ")
    config.nav = _with_chapters(config.nav, chapters)
    return config


def on_files(files: Any, config: Any) -> Any:
    for source in [*(page.src_uri for page in files.documentation_pages()), *generated]:
        text = generated.get(source) or (REPOSITORY / "docs" / source).read_text(encoding="utf-8")
        for _, target in pages.links(text):
            outside = _outside(source, target)
            if outside and outside not in MOVED and not cpp_reference.place_of(outside):
                generated.setdefault(_view_place(outside), _view(outside))
    for place, text in generated.items():
        # What stands in a reference is found, after what explains it.
        boost = next((share for folder, share in BOOST.items() if place.startswith(folder)), None)
        text = f"---\nsearch:\n  boost: {boost}\n---\n{text}" if boost else text
        files.append(File.generated(config, place, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    source = page.file.src_uri
    if source == "index.md":
        page.meta["hide"] = ["navigation", "toc"]
    if source.startswith(("cli/", "cpp/", "files/")):
        return markdown
    return "".join(
        f"\n```{block.language or _language(block.text)}\n{block.text}```\n\n" if block.language is not None
        else _prose(block.text, source) for block in pages.blocks(markdown)
    )


def _with_chapters(nav: Any, chapters: dict[str, Any]) -> Any:
    if isinstance(nav, list):
        spread = []
        for entry in nav:
            if isinstance(entry, str) and entry in chapters:
                spread += _entries(chapters[entry])
            else:
                spread.append(_with_chapters(entry, chapters))
        return spread
    if isinstance(nav, dict):
        return {title: _with_chapters(entry, chapters) for title, entry in nav.items()}
    return nav


def _entries(made: Any) -> list[Any]:
    """Pages as navigation, those of one section together."""
    entries: list[Any] = []
    for page in made:
        into = entries
        if page.section:
            if not entries or page.section not in entries[-1]:
                entries.append({page.section: []})
            into = entries[-1][page.section]
        into.append({page.title: page.place})
    return entries


# ---- The repository's Markdown --------------------------------------------------------------------------------------


def _moved(source: str, text: str) -> str:
    """A page from outside docs/, its links as those of a page in docs/."""
    folder = posixpath.dirname(source)

    def link(found: re.Match[str]) -> str:
        target = found[2]
        if not re.match(r"[a-z]+:|#", target):
            path, mark, anchor = target.partition("#")
            target = posixpath.relpath(posixpath.normpath(posixpath.join(folder, path)), "docs") + mark + anchor
        return f"{found[1]}({target}{found[3]})"

    return pages.LINK.sub(link, text)


def _outside(source: str, target: str) -> str:
    """What a link points to, from the root of the repository, if that is not in docs/."""
    path = target.partition("#")[0]
    if not path or re.match(r"[a-z]+:", target) or source.startswith(("cli/", "cpp/", "files/")):
        return ""
    place = posixpath.normpath(posixpath.join("docs", posixpath.dirname(source), path))
    return "" if place.startswith("docs/") else place


def _view_place(path: str) -> str:
    """Of a page that shows a file: `table/wild.h` and `table/wild.cpp` are two."""
    return f"files/{path}.md"


def _view(path: str) -> str:
    """A file of the repository as a page, or the files of a folder."""
    place = REPOSITORY / path
    if not place.is_dir():
        return f"# {path}\n\n{_shown(place)}"
    files = sorted(file for file in place.rglob("*") if file.is_file() and file.suffix != ".pyc")
    if len(files) <= 5:
        shown = [f"## {file.relative_to(place)}\n\n{_shown(file)}" for file in files]
    else:
        shown = [f"* `{file.relative_to(place)}`\n" for file in files]
    return f"# {path}\n\n" + "".join(shown)


def _shown(file: Path) -> str:
    if file.suffix == ".ipynb":
        return "".join(map(_cell, json.loads(file.read_text(encoding="utf-8"))["cells"]))
    return f"````{LANGUAGES.get(file.suffix, 'text')}\n{file.read_text(encoding='utf-8')}````\n\n"


def _cell(cell: dict[str, Any]) -> str:
    """Of a notebook: its words, or its code with what that prints."""
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        return re.sub(r"^(#+ )", r"#\1", source, flags=re.M) + "\n\n"
    told = ["".join(output.get("text") or output.get("data", {}).get("text/plain") or []) for output in cell.get("outputs", [])]
    shown = [f"````text\n{words.rstrip()}\n````\n\n" for words in told if words.strip()]
    return "".join([f"````python\n{source}\n````\n\n", *shown])


def _prose(text: str, source: str) -> str:
    def link(found: re.Match[str]) -> str:
        outside = _outside(source, found[2])
        if not outside:  # a page that is called by its file has a title here
            called = re.fullmatch(r"\[(?:docs/)?(\w+\.md)\]", found[1])
            return f"[{titles.get(called[1], called[1])}]({found[2]}{found[3]})" if called else found[0]
        place = MOVED.get(outside) or cpp_reference.place_of(outside) or _view_place(outside)
        target = posixpath.relpath(place, posixpath.dirname(source) or ".")
        return f"{found[1]}({target}{''.join(found[2].partition('#')[1:])}{found[3]})"

    # A list may follow a line of text; one inside another is indented by four.
    text = re.sub(r"^ {2,3}(?=([*-]|\d+\.) )", "    ", text, flags=re.M)
    text = re.sub(r"^((?! *([*-]|\d+\.) )(?! )\S.*\n)(?=[*-] |1\. )", r"\1\n", text, flags=re.M)
    return pages.LINK.sub(link, text)


def _language(code: str) -> str:
    """Of a block that does not say."""
    if code.startswith(">>> "):
        return "pycon"
    if re.match(r"\$ ", code):
        return "console"
    if "#include" in code or re.match(r"struct |fansite::", code):
        return "cpp"
    if re.match(r"(import|from|fansite\.\w+\()", code):
        return "python"
    if re.match(r"(fansite|make|pip|cmake|git|bench_|build/|python3?) ", code):
        return "sh"
    return "text"

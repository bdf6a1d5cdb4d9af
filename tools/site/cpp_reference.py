# SPDX-License-Identifier: Apache-2.0
"""The C++ reference: what Doxygen reads in the headers that <fansite/fansite.h> brings, a page for each header."""

from __future__ import annotations

import functools
import html
import posixpath
import re
import subprocess
import tempfile
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, field
from pathlib import Path

from pages import REPOSITORY, Page
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import CppLexer

UMBRELLA = "fansite/fansite.h"
WIDTH = 92  # of a declaration; longer ones have a parameter a line
# Enums have names for the command line, and containers are compared: of no use by themselves.
PASSED_OVER = {"enum_names"}
# What most programs call, and what they hand over and get back.
FIRST = [["load", "Dataset", "LoadOptions"], ["markov_boundaries", "BoundariesParams", "BoundariesResult", "FansiteParams"],
         ["causal_graph", "CausalGraphParams", "CausalGraphResult"], ["EntropyModel", "EntropyParams"], ["Knowledge"],
         ["simulate", "SimulateParams"], ["Progress"], ["Error", "UsageError", "DataError"]]


@dataclass
class Entity:
    """A class, a function with its overloads, an enum, an alias or a constant."""

    kind: str
    name: str  # with its namespace
    header: str
    line: int
    declarations: list[str]
    text: str = ""
    anchor: str = ""
    fields: list[tuple[str, ElementTree.Element]] = field(default_factory=list)  # declaration, and what is said of it
    methods: list[Entity] = field(default_factory=list)
    bases: str = ""
    member: bool = False  # of a class


# ---- Headers --------------------------------------------------------------------------------------------------------


@functools.cache
def headers() -> list[str]:
    """The umbrella's headers in its order, each after those that it includes; detail/ is the library's own."""
    found: dict[str, None] = {}

    def visit(header: str) -> None:
        text = (REPOSITORY / header).read_text(encoding="utf-8")
        for included in re.findall(r'^#include "(fansite/[^"]+)"', text, re.M):
            if "/detail/" not in included and included not in found:
                found[included] = None
                visit(included)

    visit(UMBRELLA)
    return list(found)


def place_of(header: str) -> str:
    """The page of a header, if it has one."""
    return f"cpp/{header.removeprefix('fansite/').replace('/', '-').removesuffix('.h')}.md" if header in headers() else ""


def folders() -> dict[str, str]:
    """What each folder is for, as fansite/README.md says, in its order."""
    found: dict[str, str] = {}
    above = ""
    told = False  # the line above is of a folder
    for line in (REPOSITORY / "fansite/README.md").read_text(encoding="utf-8").splitlines():
        row = re.match(r"    (  )?(\w+)/ +(\S.*)", line)
        if row and row[1]:
            found[f"{above}/{row[2]}"] = row[3]
        elif row:
            above = row[2]
            found[above] = row[3]
        elif told and re.match(r" {20,}\S", line):
            found[next(reversed(found))] += " " + line.strip()
            continue
        told = row is not None
    return found


def introduction(header: str) -> str:
    """The comment at the top of a header, in paragraphs."""
    lines = (REPOSITORY / header).read_text(encoding="utf-8").split("#pragma once")[0].splitlines()
    words = [line.removeprefix("//").removeprefix(" ") for line in lines if not line.startswith("// SPDX")]
    return "\n".join(words).strip("\n")


# ---- What Doxygen found ---------------------------------------------------------------------------------------------


class Reference:
    def __init__(self, folder: Path):
        self.entities: list[Entity] = []
        self.place: dict[str, tuple[str, str]] = {}  # Doxygen's id: header and anchor
        self.by_id: dict[str, Entity] = {}
        found = [ElementTree.parse(file).getroot().find("compounddef") for file in sorted(folder.glob("*.xml"))
                 if file.name.startswith(("class", "struct", "namespacefansite"))]
        # First where everything is, so that texts can point to it.
        self.texts: list[tuple[Entity, ElementTree.Element]] = []
        for compound in found:
            if compound is not None and "detail" not in compound.findtext("compoundname", "").split("::"):
                self._compound(compound)
        self.entities.sort(key=lambda entity: (entity.header, entity.line))
        self._name_anchors()
        for entity, element in self.texts:
            entity.text = self.text(element, entity.header)

    def _compound(self, compound: ElementTree.Element) -> None:
        name = compound.findtext("compoundname", "")
        if compound.get("kind") == "namespace":
            functions = [self._member(member) for member in compound.iter("memberdef")]
            functions = sorted((each for each in functions if each), key=lambda each: (each[0].header, each[0].line))
            self.entities += _with_overloads(functions)
            return
        header, line = _location(compound)
        if not header or "<" in name or "@" in name or compound.get("prot") != "public":
            return
        kind = compound.get("kind", "")
        entity = Entity(kind, name, header, line, [], bases=", ".join(
            base.text or "" for base in compound.findall("basecompoundref") if base.get("prot") == "public"))
        template = _template(compound)
        entity.declarations = [f"{template}{kind} {name.split('::')[-1]}" + (f" : {entity.bases}" if entity.bases else "")]
        self.texts.append((entity, compound))
        members = [(member, self._member(member, entity)) for member in compound.iter("memberdef")
                   if member.get("prot") == "public"]
        methods = []
        for member, made in members:
            if made is None:
                continue
            if member.get("kind") == "variable" and member.get("static") == "no":
                entity.fields.append((made[0].declarations[0].rstrip(";"), member))
            else:
                methods.append(made)
        methods.sort(key=lambda each: each[0].line)
        entity.methods = _with_overloads(methods)
        self._refer(compound.get("id"), entity)
        self.entities.append(entity)

    def _member(self, member: ElementTree.Element, inside: Entity | None = None) -> tuple[Entity, bool] | None:
        """A member, and whether it is documented."""
        header, line = _location(member)
        kind, name = member.get("kind", ""), member.findtext("name", "")
        if header not in headers() or name in PASSED_OVER or kind == "friend" or name.startswith(("~", "@")):
            return None
        if inside is None and name.startswith("operator"):
            return None
        entity = Entity(kind, member.findtext("qualifiedname", name), header, line, [_declaration(member)],
                        member=inside is not None)
        if kind == "enum":
            entity.fields = [(_words(value.find("name")) + _initializer(value), value)
                             for value in member.findall("enumvalue")]
        self.texts.append((entity, member))
        self._refer(member.get("id"), inside or entity)
        told = "".join("".join(part.itertext()) for part in
                       (member.find("briefdescription"), member.find("detaileddescription")) if part is not None)
        return entity, bool(told.strip())

    def _refer(self, identifier: str | None, entity: Entity) -> None:
        if identifier:
            self.by_id.setdefault(identifier, entity)

    def _name_anchors(self) -> None:
        taken: dict[tuple[str, str], int] = {}
        for entity in self.entities:
            words = re.sub(r"\W+", "-", entity.name.removeprefix("fansite::")).strip("-").lower()
            count = taken[entity.header, words] = taken.get((entity.header, words), -1) + 1
            # Functions of one name stand together, under one heading.
            entity.anchor = f"{words}-{count}" if count and entity.kind != "function" else words
        known = {id(entity) for entity in self.entities}
        for identifier, entity in self.by_id.items():
            if id(entity) in known:
                self.place[identifier] = (entity.header, entity.anchor)
        # A word in code is linked if it can only be one thing.
        owners: dict[str, set[tuple[str, str]]] = {}
        for entity in self.entities:
            if entity.kind in ("class", "struct", "enum", "typedef"):
                owners.setdefault(entity.name.split("::")[-1], set()).add((entity.header, entity.anchor))
        self.types = {name: next(iter(places)) for name, places in owners.items() if len(places) == 1}

    # ---- Texts

    def text(self, element: ElementTree.Element, header: str) -> str:
        parts = (element.find("briefdescription"), element.find("detaileddescription"))
        paragraphs = [self._inline(paragraph, header).strip() for part in parts if part is not None
                      for paragraph in part.findall("para")]
        return "\n\n".join(paragraph for paragraph in paragraphs if paragraph)

    def _inline(self, element: ElementTree.Element, header: str) -> str:
        words = [_escaped(element.text or "")]
        for child in element:
            inner = self._inline(child, header)
            if child.tag == "computeroutput":
                inner = f"`{''.join(child.itertext())}`"
            elif child.tag == "ref" and child.get("refid") in self.place:
                inner = f"[{inner}]({self.address(self.place[child.get('refid', '')], header, '.md')})"
            elif child.tag == "listitem":
                inner = f"\n* {inner.strip()}"
            elif child.tag in ("itemizedlist", "orderedlist"):
                inner = f"\n{inner}\n\n"
            elif child.tag in ("emphasis", "bold"):
                inner = f"*{inner}*"
            elif child.tag == "verbatim":
                inner = f"\n\n```text\n{''.join(child.itertext()).strip()}\n```\n\n"
            words += [inner, _escaped(child.tail or "")]
        return "".join(words)

    def address(self, place: tuple[str, str], header: str, ending: str) -> str:
        target, anchor = place
        page = "" if target == header and ending == ".html" else posixpath.basename(place_of(target)).removesuffix(".md") + ending
        return f"{page}#{anchor}"

    def code(self, declarations: list[str], header: str, own: str) -> str:
        """Declarations in colour, their types linked, but for that which they belong to."""
        made = highlight("\n".join(declarations), CppLexer(), HtmlFormatter(nowrap=True))

        def link(found: re.Match[str]) -> str:
            place = self.types.get(found[2])
            return f'{found[1]}<a href="{self.address(place, header, ".html")}">{found[2]}</a></span>' if place and place != (header, own) else found[0]

        made = re.sub(r'(<span class="\w+">)(\w+)</span>', link, made)
        return f'<div class="highlight declaration"><pre><code>{made.rstrip()}</code></pre></div>\n'


def _with_overloads(made: list[tuple[Entity, bool]]) -> list[Entity]:
    """In the order of the header; a comment holds for what follows it without one: overloads, and in a class whatever
    stands right below."""
    found: list[Entity] = []
    below = 0  # the last line of what was found
    for entity, documented in made:
        last = found[-1] if found else None
        functions = last and last.kind == entity.kind == "function" and last.header == entity.header
        inside = entity.name.rpartition("::")[0] == (last.name.rpartition("::")[0] if last else None)
        if last and functions and not documented and (
                last.name == entity.name or (inside and entity.member and _adjacent(entity.header, below, entity.line))):
            last.declarations += entity.declarations
        else:
            found.append(entity)
        below = entity.line
    return found


def _adjacent(header: str, above: int, line: int) -> bool:
    """Neither an empty line nor a comment stands between."""
    between = _lines(header)[above:line - 1]
    return not any(re.match(r"\s*(//.*)?$", words) for words in between)


@functools.cache
def _lines(header: str) -> list[str]:
    return (REPOSITORY / header).read_text(encoding="utf-8").splitlines()


def _location(element: ElementTree.Element) -> tuple[str, int]:
    location = element.find("location")
    if location is None:
        return "", 0
    return location.get("declfile") or location.get("file", ""), int(location.get("declline") or location.get("line", 0))


def _words(element: ElementTree.Element | None) -> str:
    text = "".join(element.itertext()) if element is not None else ""
    return re.sub(r"\s+", " ", text).replace("< ", "<").replace(" >", ">").replace(" &", "&").replace(" *", "*").strip()


def _spaced(kind: str) -> str:
    return kind + " " if kind else ""


def _initializer(element: ElementTree.Element) -> str:
    words = _words(element.find("initializer"))
    return f" {words}" if words and len(words) < 60 else ""


def _template(element: ElementTree.Element) -> str:
    parameters = element.find("templateparamlist")
    if parameters is None:
        return ""
    words = [" ".join(filter(None, [_words(each.find("type")), _words(each.find("declname"))]))
             for each in parameters.findall("param")]
    return f"template <{', '.join(words)}>\n"


def _declaration(member: ElementTree.Element) -> str:
    kind, name = member.get("kind"), member.findtext("name", "")
    if kind == "enum":
        return f"enum{' class' if member.get('strong') == 'yes' else ''} {name}"
    if kind == "typedef":
        return f"using {name} = {_words(member.find('type'))};"
    before = _spaced(_words(member.find("type")))
    if member.get("static") == "yes" and not before.startswith("static"):
        before = f"static {before}"
    if kind == "variable":
        initializer = _initializer(member)
        braces = initializer.startswith(" {")
        return f"{before}{name}{member.findtext('argsstring', '')}{initializer.strip() if braces else initializer};"
    if member.get("explicit") == "yes":
        before = f"explicit {before}"
    if member.get("virt") != "non-virtual" and "override" not in member.findtext("argsstring", ""):
        before = f"virtual {before}"
    words = []
    for each in member.findall("param"):
        given, default = _words(each.find("declname")), _words(each.find("defval"))
        words.append(f"{_words(each.find('type'))}{' ' + given if given else ''}{_words(each.find('array'))}"
                     f"{' = ' + default if default else ''}")
    after = re.sub(r".*\)", "", member.findtext("argsstring", ""), flags=re.S).strip()
    after = re.sub(r"=\s*", "= ", after)
    head = f"{before}{name}("
    tail = f"){' ' + after if after else ''};"
    line = f"{head}{', '.join(words)}{tail}"
    if len(line) > WIDTH:
        line = head + "\n    " + ",\n    ".join(words) + tail
    return _template(member) + line


def _escaped(text: str) -> str:
    text = re.sub(r"([\\`*_\[\]|])", r"\\\1", re.sub(r"\s+", " ", text))
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _plain(text: str) -> str:
    """Words with `code` among them."""
    return "".join(f"`{part}`" if at % 2 else _escaped(part) for at, part in enumerate(text.split("`")))


# ---- Pages ----------------------------------------------------------------------------------------------------------


def pages() -> list[Page]:
    """An overview, then the headers, folder by folder."""
    with tempfile.TemporaryDirectory() as folder:
        settings = (Path(__file__).parent / "Doxyfile").read_text(encoding="utf-8")
        settings += f"INPUT = {' '.join(headers())}\nOUTPUT_DIRECTORY = {folder}\n"
        subprocess.run(["doxygen", "-"], input=settings, text=True, cwd=REPOSITORY, check=True)
        reference = Reference(Path(folder) / "xml")
    names = [name for name in folders() if any(posixpath.dirname(header) == f"fansite/{name}" for header in headers())]
    made = [Page("cpp/index.md", "Overview", _overview(reference, names))]
    for name in names:
        for header in headers():
            if posixpath.dirname(header) == f"fansite/{name}":
                made.append(Page(place_of(header), posixpath.basename(header), _page(reference, header), section=f"{name}/"))
    return made


def _overview(reference: Reference, names: list[str]) -> str:
    lines = ["# The C++ reference\n",
             "Made by Doxygen from the comments of the headers that `<fansite/fansite.h>` brings. How to build against them"
             " is in [the guide for C++](../howto/cpp_engineer.md).\n", "## Where to begin\n", "| call, what it takes and gives | what it does |", "|---|---|"]
    by_name: dict[str, Entity] = {}
    for entity in reference.entities:
        by_name.setdefault(entity.name, entity)
    for words in FIRST:
        entities = [by_name[f"fansite::{word}"] for word in words]
        linked = [f"[`{word}`]({posixpath.basename(place_of(entity.header))}#{entity.anchor})"
                  for word, entity in zip(words, entities, strict=True)]
        told = entities[0].text.split("\n\n")[0] or _plain(_first_sentence(introduction(entities[0].header)))
        lines.append(f"| {', '.join(linked)} | {_from_overview(told)} |")
    for name in names:
        told = folders()[name]
        lines += [f"\n## {name}/\n", f"{_plain(told[:1].upper() + told[1:])}.\n", "| header | what it is about |", "|---|---|"]
        for header in headers():
            if posixpath.dirname(header) == f"fansite/{name}":
                lines.append(f"| [`{posixpath.basename(header)}`]({posixpath.basename(place_of(header))}) "
                             f"| {_plain(_first_sentence(introduction(header)))} |")
    return "\n".join(lines) + "\n"


def _from_overview(text: str) -> str:
    """Words of another page without its links, in a table."""
    return re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text).replace("\n", " ")


def _first_sentence(text: str) -> str:
    paragraph = re.sub(r"\s+", " ", text.split("\n\n")[0])
    return re.split(r"(?<=[.:]) (?=[A-Z])", paragraph)[0].rstrip(":")


def _page(reference: Reference, header: str) -> str:
    lines = [f"# {header.removeprefix('fansite/')}\n", _introduction(header), f"```cpp\n#include <{header}>\n```\n"]
    shown: set[str] = set()
    for entity in _together([each for each in reference.entities if each.header == header]):
        lines.append(_entity(reference, entity, again=entity.anchor in shown))
        shown.add(entity.anchor)
    return "\n".join(lines)


def _together(entities: list[Entity]) -> list[Entity]:
    """In the order of the header, but for functions of one name, which follow the first of them."""
    first = {}
    for place, entity in enumerate(entities):
        first.setdefault(entity.anchor, place)
    return sorted(entities, key=lambda entity: (first[entity.anchor], entity.line))


def _introduction(header: str) -> str:
    parts = []
    for paragraph in introduction(header).split("\n\n"):
        if re.match(r" {2,}", paragraph):
            parts.append(f"```text\n{paragraph}\n```")
        else:
            parts.append(_plain(paragraph).strip())
    return "\n\n".join(parts) + "\n"


def _entity(reference: Reference, entity: Entity, again: bool) -> str:
    title = _escaped(entity.name.removeprefix("fansite::"))
    heading = [] if again else [f"## {title} {{ #{entity.anchor} }}\n"]
    lines = [*heading, reference.code(entity.declarations, entity.header, entity.anchor), entity.text, ""]
    if entity.fields:
        lines.append(_fields(reference, entity))
    for method in entity.methods:
        lines += ['<div class="method" markdown>\n', reference.code(method.declarations, entity.header, entity.anchor), method.text, ""]
        if method.fields:
            lines.append(_fields(reference, method))
        lines += ["</div>\n"]
    return "\n".join(lines)


def _fields(reference: Reference, entity: Entity) -> str:
    lines = [f"| {'value' if entity.kind == 'enum' else 'field'} | what it is |", "|---|---|"]
    for declared, element in entity.fields:
        told = reference.text(element, entity.header).replace("\n\n", " ").replace("\n", " ")
        lines.append(f"| {_code_in_table(declared)} | {told} |")
    return "\n".join(lines) + "\n"


def _code_in_table(words: str) -> str:
    return f"<code>{html.escape(words).replace('|', '&#124;').replace('*', '&#42;').replace('_', '&#95;')}</code>"

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The rules of the house that no compiler holds.

  tools/architecture.py           who may include whom
  tools/architecture.py --sizes   also the sizes of files and functions

fansite/layers.txt lists the library's folders in dependency order, one per line. A file includes its own folder and
those above it. Headers in detail/ are the library's own. Every finding names the file; any finding is exit status 1.
"""

import argparse
import re
import sys
from pathlib import Path

LAYERS = "fansite/layers.txt"
USERS = ("cli", "python/src", "examples")  # what uses the library from outside
SUFFIXES = (".h", ".cpp")
MOST_LINES_OF_A_FILE = 500
MOST_LINES_OF_A_FUNCTION = 80
# One set of kernels, instantiated together: parts of it could not be read alone.
LONG_FILES = {"fansite/entropy/flow/detail/learner_kernel.cpp"}

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(["<])([^">\n]+)[">]', re.MULTILINE)


def sources(root, folder):
    """Headers and sources below a folder, as paths relative to the root."""
    found = [path for path in (root / folder).rglob("*") if path.suffix in SUFFIXES and path.is_file()]
    return sorted(path.relative_to(root).as_posix() for path in found)


def read(root, path):
    return (root / path).read_text(encoding="utf-8")


# ---- Includes --------------------------------------------------------------------------------------------------------


def includes(text):
    """(line, path, quoted) of every include that is not inside a comment."""
    without = re.sub(r"/\*.*?\*/", lambda m: "\n" * m.group().count("\n"), text, flags=re.DOTALL)
    for match in INCLUDE.finditer(without):
        yield without.count("\n", 0, match.start()) + 1, match.group(2), match.group(1) == '"'


def read_layers(root):
    lines = read(root, LAYERS).splitlines()
    return [line.split()[0] for line in lines if line.strip() and not line.startswith("#")]


def layer(path):
    """The folder of the library a path lies in; None for the library's own top, fansite/fansite.h."""
    parts = path.split("/")
    return parts[1] if len(parts) > 2 else None


def check_folders(root, layers):
    there = {layer(path) for path in sources(root, "fansite")} - {None}
    for folder in sorted(there - set(layers)):
        yield f"{LAYERS}: the folder fansite/{folder} is missing"
    for folder in sorted(set(layers) - there):
        yield f"{LAYERS}: there are no sources in fansite/{folder}"
    for folder in sorted({folder for folder in layers if layers.count(folder) > 1}):
        yield f"{LAYERS}: {folder} is listed twice"


def check_order(root, layers):
    """A file of the library includes nothing below its own folder, and everything by its full path."""
    place = {folder: i for i, folder in enumerate(layers)}
    for path in sources(root, "fansite"):
        own = layer(path)
        for line, included, quoted in includes(read(root, path)):
            if not included.startswith("fansite/"):
                if quoted:
                    yield f'{path}:{line}: includes "{included}"; the library includes its own files only, as fansite/...'
                continue
            other = layer(included)
            if own is None or own == other or own not in place:
                continue
            if other is None:
                yield f"{path}:{line}: includes {included}, which is for users of the whole library"
            elif other in place and place[other] > place[own]:
                yield f"{path}:{line}: includes {included}, but {other} comes after {own} in {LAYERS}"


def check_details(root):
    for folder in USERS:
        for path in sources(root, folder):
            for line, included, _ in includes(read(root, path)):
                if "detail" in included.split("/")[:-1]:
                    yield f"{path}:{line}: includes {included}; headers in detail/ are the library's own"


def check_cycles(root):
    """Headers that include each other, each cycle once."""
    graph = {
        path: [included for _, included, _ in includes(read(root, path))]
        for path in sources(root, "fansite")
        if path.endswith(".h")
    }
    done, trail = set(), []

    def visit(path):
        if path in trail:
            yield f"{path}: headers include each other: " + " -> ".join([*trail[trail.index(path) :], path])
            return
        if path in done or path not in graph:
            return
        trail.append(path)
        for included in graph[path]:
            yield from visit(included)
        trail.pop()
        done.add(path)

    for path in graph:
        yield from visit(path)


# ---- Sizes -----------------------------------------------------------------------------------------------------------

NOT_CODE = re.compile(
    r'//(?:[^\n\\]|\\.|\\\n)*'  # a comment, continued by a backslash or not
    r"|/\*.*?\*/"
    r'|(?<![A-Za-z0-9_])(?:u8|[uUL])?R"([^()\\ \n]*)\(.*?\)\1"'
    r'|"(?:[^"\\\n]|\\.)*"'
    r"|(?<![0-9A-Fa-f])'(?:[^'\\\n]|\\.)*'"  # after a digit it parts thousands
    r"|^[ \t]*#(?:[^\n\\]|\\.|\\\n)*",  # the preprocessor's lines
    re.DOTALL | re.MULTILINE,
)
SCOPE = re.compile(r"^(?:inline\s+)?(?:namespace|class|struct|union|enum|extern)\b")
TEMPLATE = re.compile(r"^template\s*<")
ACCESS = re.compile(r"\s*(?:public|private|protected)\s*:(?!:)")
ATTRIBUTE = re.compile(r"\[\[.*?\]\]|\balignas\s*\([^()]*\)")
INITIALISERS = re.compile(r"\)[^()]*[^:]:(?!:)[^:]")  # "Name(int x) : a(x), b"


def code_only(text):
    """The text with comments, strings and preprocessor lines blanked, every character in its place."""
    blank = lambda match: re.sub(r"[^\n]", " ", match.group())
    return NOT_CODE.sub(blank, text)


def closing(code, start):
    """The place of the brace that closes the one at `start`; None when there is none."""
    depth = 0
    for match in re.compile(r"[{}]").finditer(code, start):
        depth += 1 if match.group() == "{" else -1
        if depth == 0:
            return match.start()
    return None


def without_template(head):
    while TEMPLATE.match(head):
        depth = 0
        for i, c in enumerate(head):
            depth += (c == "<") - (c == ">")
            if c == ">" and depth == 0:
                head = head[i + 1 :].lstrip()
                break
        else:
            break
    return head


def opens(head):
    """What a brace after this text opens: "scope", "function" or "value"."""
    head = ATTRIBUTE.sub(" ", without_template(head.strip()))
    if SCOPE.match(head) and not re.search(r"\)\s*(?:const|noexcept|override|final)*\s*$", head):
        return "scope"
    if "(" not in head or head.count("(") > head.count(")"):
        return "value"
    if INITIALISERS.search(head) and re.search(r"[\w>]\s*$", head):
        return "value"  # a member's, before the body of the constructor
    return "function"


def functions(text):
    """(name, first line, last line) of every function defined in a namespace or class."""
    code = code_only(text)
    start = place = 0
    mark = re.compile(r"[{};]")
    while match := mark.search(code, place):
        at, place = match.start(), match.end()
        if match.group() == ";":
            if code.count("(", start, at) == code.count(")", start, at):
                start = place
            continue
        if match.group() == "}":
            start = place
            continue
        if access := ACCESS.match(code, start):
            start = access.end()
        head = code[start:at]
        what = opens(head)
        if what == "scope":
            start = place
            continue
        end = closing(code, at)
        if end is None:
            raise ValueError(f"line {code.count(chr(10), 0, at) + 1}: the brace is never closed")
        place = end + 1
        if what == "function":
            first = start + len(head) - len(head.lstrip())
            name = re.search(r"([\w:~]+|operator\W+)\s*\(", without_template(head.strip()))
            lines = (code.count("\n", 0, first) + 1, code.count("\n", 0, end) + 1)
            yield name.group(1) if name else "a lambda", *lines
            start = place


def check_sizes(root):
    for path in sources(root, "fansite"):
        lines = read(root, path).count("\n")
        if lines > MOST_LINES_OF_A_FILE and path not in LONG_FILES:
            yield f"{path}: {lines} lines, of at most {MOST_LINES_OF_A_FILE}"
    for folder in ("fansite", "cli", "python/src"):
        for path in sources(root, folder):
            try:
                for name, first, last in functions(read(root, path)):
                    if last - first + 1 > MOST_LINES_OF_A_FUNCTION:
                        yield f"{path}:{first}: {name} has {last - first + 1} lines, of at most {MOST_LINES_OF_A_FUNCTION}"
            except ValueError as error:
                yield f"{path}: {error}"


# ---- Program ---------------------------------------------------------------------------------------------------------


def findings(root, sizes):
    layers = read_layers(root)
    yield from check_folders(root, layers)
    yield from check_order(root, layers)
    yield from check_details(root)
    yield from check_cycles(root)
    if sizes:
        yield from check_sizes(root)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent, help="the repository")
    parser.add_argument("--sizes", action="store_true", help="also the sizes of files and functions")
    options = parser.parse_args(arguments)
    found = list(findings(options.root, options.sizes))
    for finding in found:
        print(finding)
    print(f"architecture: {len(found)} findings" if found else "architecture: clean")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The shell lines of the documents run, one after the other, in an empty folder: test_examples.py PROGRAM.

Those of README.md run as they stand, and end in the time that stands beside them, give or take a slower machine. Those of
the other pages get smaller tables and fewer training steps, and must work.
"""

from __future__ import annotations

import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
SLOWER = 10  # times as long as on the machine of the README
START = 2  # seconds, of a program, whatever it does
LONGEST = 600  # seconds, of any line, however busy the machine is

# Tables for pages that take the reader's own, with the columns that they name.
STUDY = """
import math, random
random.seed(3)
names = "id,age,site,stage,dose,income,response,batch,w,patient,TP53,BRCA1,x1,x2,x3,pressure,weight,height,sex"
print(names)
for row in range(150):
    age, dose = random.randint(20, 80), random.choice([0, random.expovariate(1)])
    stage = min(4, max(1, round(age / 25 + random.gauss(0, 0.7))))
    response = dose + 0.03 * age + random.gauss(0, 0.5)
    more = [random.gauss(0, 1) for _ in range(9)]
    print(row + 1, age, "ABC"[row % 3], stage, round(dose, 3), round(1000 * math.exp(random.gauss(3, 1)), 2), round(response, 4),
          "one" if row % 2 else "two", round(random.uniform(0.5, 2), 2), row // 3, *(round(value, 4) for value in more[:8]),
          "male" if more[8] > 0 else "female", sep=",")
"""


def blocks(page: Path) -> list[str]:
    """Indented lines that a shell can run; a backslash at the end goes on."""
    lines = []
    text = page.read_text(encoding="utf-8").replace("\\\n", " ")
    for line in text.splitlines():
        if re.match(r"    (fansite|cat|zcat|printf|cp|gzip) ", line):
            lines.append(line.strip())
    return lines


def quicker(line: str) -> str:
    """The same with little to compute."""
    line = re.sub(r"--rows [0-9]+", "--rows 200", line)
    line = re.sub(r"--nodes 100\b", "--nodes 20", line)
    command, _, comment = line.partition("  #")
    if re.search(r"fansite (mb|plan|dag|entropy) ", command) and not re.search(r"--(boundaries|model|steps|repeats) ", command):
        own_method = "--method" not in command or re.search(r"--method (fansite|fansite-anm)\b", command)
        if own_method and "--estimator gaussian" not in command:
            command = re.sub(r"(fansite (mb|plan|dag|entropy) \S+)", r"\1 --steps 200 --folds 2 --repeats 1", command)
    return command


class Failed(Exception):
    pass


def processor_time() -> float:
    """Of the programs that have ended, in seconds: other work on the machine does not count."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run(line: str, folder: Path, program: Path) -> float:
    """The seconds that it computes."""
    environment = dict(os.environ, PATH=f"{program.parent}:{os.environ['PATH']}")
    before = processor_time()
    try:
        ended = subprocess.run(["bash", "-c", line], cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=LONGEST, check=False)
    except subprocess.TimeoutExpired:
        raise Failed(f"{line}\n  did not end in {LONGEST} s") from None
    if ended.returncode != 0:
        raise Failed(f"{line}\n  {ended.stderr.decode()}")
    return processor_time() - before


def readme(folder: Path, program: Path) -> int:
    lines = [line for line in blocks(REPOSITORY / "README.md")]
    for line in lines:
        told = re.search(r"# ([0-9.]+) (s|min)\b", line)
        if not told:
            raise Failed(f"README.md: no time stands beside: {line}")
        seconds = float(told[1]) * (60 if told[2] == "min" else 1)
        computed = run(line, folder, program)
        if computed > START + SLOWER * seconds:
            raise Failed(f"{line}\n  computed for {computed:.1f} s")
    return len(lines)


def page(name: str, folder: Path, program: Path) -> int:
    (folder / "make_study.py").write_text(STUDY)
    run(f"'{sys.executable}' make_study.py > study.csv && cp study.csv genes.csv && gzip -k study.csv", folder, program)
    (folder / "kinds.csv").write_text("name,kind\nstage,nominal\n")
    (folder / "rules.txt").write_text("root x8\nsink x14\n")
    lines = blocks(REPOSITORY / name)
    for line in lines:
        run(quicker(line), folder, program)
    return len(lines)


def main() -> int:
    program = Path(sys.argv[1]).resolve()
    failures = 0
    for name in ("README.md", "docs/commands.md", "docs/tables.md", "docs/report.md"):
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary)
            begun = time.monotonic()
            try:
                count = readme(folder, program) if name == "README.md" else page(name, folder, program)
                if count == 0:
                    raise Failed("no line was found to run")
                print(f"{name}: {count} lines, {time.monotonic() - begun:.1f} s")
            except Failed as failure:
                print(f"{name}: {failure}")
                failures += 1
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

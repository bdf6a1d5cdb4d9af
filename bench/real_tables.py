#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Do boundaries of real tables predict as well as all columns? Every figure beside its target.

  real_tables.py --cache build/real_tables --out real_tables.json
  real_tables.py --tables iris,wine --settings gaussian quick "quick:steps=3000,patience=1"
  real_tables.py --export /tmp/tables             # as CSV, for other machines
  real_tables.py --from /tmp/tables               # those, or any other folder of CSV files

For up to five targets of every table (bench/real_data.py says which), columns are chosen once, on all rows, by every
method alike. A random forest then predicts the target from them, out of fold. What is compared is therefore the choice
of columns, not the honesty of the score: each method has seen the rows that it is scored on.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from real_boundaries import SETTINGS, in_own_process, parameters
from real_data import Table, export, installed_tables, is_text, tables_in
from real_skill import SKILL_SETTINGS, chosen_by_lasso, skill

PREDICTABLE = 0.2  # skill of all columns from which on an empty boundary is a failure
WORSE = 0.01  # less than this is the forest's own noise


# ---- What was computed before ----------------------------------------------------------------------------------------


def hash_of(*parts: str | bytes) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part if isinstance(part, bytes) else part.encode())
        digest.update(b"\0")
    return digest.hexdigest()[:20]


def fansite_version() -> str:
    """Of the package that is installed, by its files: builds between releases have the same version."""
    import fansite

    folder = Path(fansite.__file__).parent
    files = sorted(path for path in folder.rglob("*") if path.suffix in (".py", ".so"))
    return hash_of(fansite.__version__, *(path.read_bytes() for path in files))


class Cache:
    """Results by what they depend on, one file each; without a folder, forgotten with the process."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self.held: dict[str, Any] = {}

    def get(self, key: str, compute: Callable[[], Any]) -> Any:
        path = self.folder / f"{key}.json" if self.folder else None
        if key not in self.held and path and path.exists():
            self.held[key] = json.loads(path.read_text())
        if key not in self.held:
            self.held[key] = compute()
            if path and not (isinstance(self.held[key], dict) and self.held[key].get("again")):
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(json.dumps(self.held[key]))
        return self.held[key]


# ---- One table -------------------------------------------------------------------------------------------------------


def run_table(table: Table, options: argparse.Namespace, cache: Cache, version: str) -> dict[str, Any]:
    """Skill, columns and seconds of every choice for every target."""
    data = hash_of(table.frame.to_csv(index=False), json.dumps([str(kind) for kind in table.frame.dtypes]))
    targets = table.targets()
    rows: dict[str, dict[str, Any]] = {}

    def scored(name: str, columns: dict[str, list[str]], seconds: float, failure: str | None = None) -> None:
        rows[name] = {"seconds": seconds, "failure": failure, "targets": {}}
        for target in targets:
            names = sorted(columns.get(target, ()), key=list(table.frame.columns).index)
            key = hash_of("skill", data, target, json.dumps(names), SKILL_SETTINGS, str(table.is_class(target)))
            value = cache.get(key, lambda: skill(table, target, names, options.threads))
            rows[name]["targets"][target] = {"skill": value, "columns": names}

    everything = list(table.frame.columns)
    scored("all", {target: [name for name in everything if name != target] for target in targets}, 0)
    lasso = cache.get(
        hash_of("lasso", data, SKILL_SETTINGS, json.dumps(targets), str(table.classes)),
        lambda: timed(lambda: {target: chosen_by_lasso(table, target) for target in targets}),
    )
    scored("lasso", lasso["value"], lasso["seconds"])
    for setting in options.settings:
        key = hash_of("boundaries", data, setting, version)
        answer = cache.get(key, lambda: in_own_process(table.frame, setting, options.threads, options.limit))
        scored(setting, answer["boundaries"], answer["seconds"], answer.get("failure"))
        rows[setting]["estimator"] = answer.get("estimator")
    return {"rows": len(table.frame), "columns": table.frame.shape[1], "dropped": table.dropped, "choices": rows}


def timed(work: Callable[[], Any]) -> dict[str, Any]:
    begun = time.perf_counter()
    value = work()
    return {"value": value, "seconds": time.perf_counter() - begun}


# ---- Figures ---------------------------------------------------------------------------------------------------------


def mean(values: list[float]) -> float:
    return sum(values) / len(values) if values else float("nan")


def deviation(values: list[float]) -> float:
    middle = mean(values)
    return (sum((value - middle) ** 2 for value in values) / max(1, len(values) - 1)) ** 0.5


def table_figures(result: dict[str, Any], choice: str) -> dict[str, float]:
    """Of one choice in one table: means over its targets, and how many predictable ones it leaves empty."""
    targets = result["choices"][choice]["targets"]
    everything = result["choices"]["all"]["targets"]
    predictable = [name for name in targets if everything[name]["skill"] > PREDICTABLE]
    return {
        "skill": mean([each["skill"] for each in targets.values()]),
        "columns": mean([len(each["columns"]) for each in targets.values()]),
        "predictable": len(predictable),
        "empty": sum(not targets[name]["columns"] for name in predictable),
        "seconds": result["choices"][choice]["seconds"],
    }


def summary(results: dict[str, Any], choice: str) -> dict[str, Any]:
    """Means over tables, each of which counts the same; empty boundaries over all predictable targets."""
    figures = [table_figures(result, choice) for result in results.values()]
    skills = [each["skill"] for each in figures]
    behind = [table_figures(result, "all")["skill"] - own for result, own in zip(results.values(), skills)]
    return {
        "skill": mean(skills),
        "spread": deviation(skills),
        "behind_all": mean(behind),
        "behind_all_spread": deviation(behind),
        "columns": mean([each["columns"] for each in figures]),
        "predictable": sum(each["predictable"] for each in figures),
        "empty": sum(each["empty"] for each in figures),
        "seconds": mean([each["seconds"] for each in figures]),
        "failures": sum(result["choices"][choice]["failure"] is not None for result in results.values()),
    }


def verdicts(results: dict[str, Any], summaries: dict[str, Any]) -> list[tuple[str, str, bool]]:
    """The targets: what, how it stands, and whether it is met."""
    lasso = summaries["lasso"]
    lines = []
    for choice in (name for name in summaries if name.startswith(("quick", "normal"))):
        own = summaries[choice]
        lines += [
            (f"{choice}: at most 0.01 below all columns", f"{own['behind_all']:.3f} below", own["behind_all"] <= 0.01),
            (
                f"{choice}: above Lasso's",
                f"{own['skill']:.3f}, Lasso {lasso['skill']:.3f}",
                own["skill"] > lasso["skill"],
            ),
            (
                f"{choice}: at most two thirds of Lasso's columns",
                f"{own['columns']:.1f} of {lasso['columns']:.1f}",
                own["columns"] <= 2 / 3 * lasso["columns"],
            ),
            (
                f"{choice}: no predictable target is empty",
                f"{own['empty']} of {own['predictable']} are",
                own["empty"] == 0,
            ),
        ]
    if {"quick", "normal"} <= summaries.keys():
        worse = [name for name, result in results.items() if difference(result, "normal", "quick") < -WORSE]
        gain = summaries["normal"]["skill"] - summaries["quick"]["skill"]
        shown = f"{gain:+.3f} on average; worse by more than {WORSE:g}: {', '.join(worse) or 'no table'}"
        lines.append(("normal: never worse than quick", shown, gain >= 0 and not worse))
    return lines


def difference(result: dict[str, Any], first: str, second: str) -> float:
    return table_figures(result, first)["skill"] - table_figures(result, second)["skill"]


# ---- Printing --------------------------------------------------------------------------------------------------------


def print_headings(choices: list[str]) -> None:
    print("skill of a forest (R², or accuracy above the most frequent class) / columns, means over targets")
    print(f"{'':<16} {'N × d':>10}  " + "  ".join(f"{choice:>12}" for choice in choices), flush=True)


def print_table(name: str, result: dict[str, Any]) -> None:
    cells, failures = [], []
    for choice, row in result["choices"].items():
        figures = table_figures(result, choice)
        shown = "failed" if row["failure"] else "{skill:.3f} / {columns:.1f}".format(**figures)
        cells.append(f"{shown:>12}")
        if row["failure"]:
            failures.append(f"  {choice}: {row['failure']}")
    print(f"{name:<16} {'{} × {}'.format(result['rows'], result['columns']):>10}  " + "  ".join(cells))
    print("".join(line + "\n" for line in failures), end="", flush=True)


def print_summary(results: dict[str, Any], summaries: dict[str, Any]) -> None:
    print(f"\nMeans over {len(results)} tables, with the spread over tables; a table that failed counts as empty.")
    print(
        f"{'':<14} {'skill':>14} {'below all':>14} {'columns':>8} {'empty, predictable':>19} {'seconds':>8} {'failed':>7}"
    )
    for choice, each in summaries.items():
        share = f"{each['empty']} of {each['predictable']} ({100 * each['empty'] / max(1, each['predictable']):.0f} %)"
        print(
            f"{choice:<14} {'{skill:.3f} ± {spread:.3f}'.format(**each):>14} "
            f"{'{behind_all:.3f} ± {behind_all_spread:.3f}'.format(**each):>14} {each['columns']:>8.1f} {share:>19} "
            f"{each['seconds']:>8.1f} {each['failures']:>7}"
        )
    print("\nTargets:")
    for what, stands, met in verdicts(results, summaries):
        print(f"  {what:<48} {stands}: {'met' if met else 'MISSED'}")


# ---- The program -----------------------------------------------------------------------------------------------------


def tables_of(options: argparse.Namespace) -> list[Table]:
    return tables_in(options.source) if options.source else installed_tables()


def checked_setting(text: str) -> str:
    try:
        parameters(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return text


def parsed(arguments: list[str] | None) -> argparse.Namespace:
    text = (__doc__ or "").partition("\n")
    parser = argparse.ArgumentParser(
        description=text[0], epilog=text[2], formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tables", help="names, with commas between them; all if not given")
    parser.add_argument(
        "--settings", nargs="+", type=checked_setting, default=list(SETTINGS), help="gaussian, quick, normal, as above"
    )
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--limit", type=float, default=3600, help="seconds that a table may take at one setting")
    parser.add_argument("--cache", type=Path, help="folder in which answers are kept for the next time")
    parser.add_argument("--out", type=Path, help="JSON file with everything")
    parser.add_argument("--export", type=Path, metavar="DIR", help="write the tables as CSV, and do nothing else")
    parser.add_argument("--from", dest="source", type=Path, metavar="DIR", help="tables from CSV files")
    parser.add_argument("--list", action="store_true", help="what the tables are, and do nothing else")
    options = parser.parse_args(arguments)
    options.parser = parser
    return options


def print_list(tables: list[Table]) -> None:
    print(f"{'':<16} {'rows':>5} {'columns':>7} {'text':>5} {'≤ 10 values':>11} {'missing':>8}  targets (* classes)")
    for table in tables:
        frame = table.frame
        text = [name for name in frame if is_text(frame[name])]
        few = sum(frame[name].nunique() <= 10 for name in frame if name not in text)
        targets = ", ".join(name + "*" * table.is_class(name) for name in table.targets())
        missing = 100 * frame.isna().to_numpy().mean()
        print(
            f"{table.name:<16} {len(frame):>5} {frame.shape[1]:>7} {len(text):>5} {few:>11} {missing:>6.1f} %  {targets}"
        )


def main(arguments: list[str] | None = None) -> int:
    options = parsed(arguments)
    tables = tables_of(options)
    if options.tables:
        names = options.tables.split(",")
        unknown = set(names) - {table.name for table in tables}
        if unknown:
            known = ", ".join(table.name for table in tables)
            options.parser.error(f"there is no table '{min(unknown)}'; they are {known}")
        tables = [table for table in tables if table.name in names]
    if options.export:
        export(tables, options.export)
    if options.export or options.list:
        print_list(tables)
        return 0
    version = fansite_version()
    cache = Cache(options.cache)
    choices = ["all", "lasso", *options.settings]
    print_headings(choices)
    results = {}
    for table in tables:
        results[table.name] = run_table(table, options, cache, version)
        print_table(table.name, results[table.name])
    if not results:
        options.parser.error("there are no tables with 100 to 5000 rows and five or more usable columns")
    summaries = {choice: summary(results, choice) for choice in choices}
    print_summary(results, summaries)
    if options.out:
        everything = {"version": version, "summary": summaries, "tables": results}
        options.out.write_text(json.dumps(everything, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

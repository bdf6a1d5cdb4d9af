# SPDX-License-Identifier: Apache-2.0
"""The helpers of bench/real_tables.py, on tables of a few rows."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from support import PATIENCE

BENCH = Path(__file__).parents[2] / "bench"
sys.path.insert(0, str(BENCH))

import real_boundaries  # noqa: E402
import real_data  # noqa: E402
import real_skill  # noqa: E402
import real_tables  # noqa: E402


@pytest.fixture(autouse=True)
def small_forests(monkeypatch) -> None:
    monkeypatch.setitem(real_skill.FOREST, "n_estimators", 20)


@pytest.fixture()
def frame() -> pd.DataFrame:
    """A price by size and colour, and columns that say nothing about it or are no measurements."""
    random = np.random.default_rng(1)
    size = random.normal(size=150)
    colour = random.choice(["red", "green", "blue"], size=150)
    return pd.DataFrame(
        {
            "id": np.arange(150),
            "Maker Name": [f"maker {i}" for i in range(150)],
            "size": size,
            "log_size": np.exp(size),
            "colour": colour,
            "colour_code": pd.Series(colour).map({"red": 5, "green": 1, "blue": 2}),
            "noise": random.normal(size=150),
            "gaps": np.where(random.uniform(size=150) < 0.3, np.nan, random.normal(size=150)),
            "empty": np.where(np.arange(150) < 100, np.nan, 1.0),
            "always": 1,
            "price": 2 * size + 3 * (colour == "red") + 0.3 * random.normal(size=150),
        }
    )


def test_columns_that_take_part(frame) -> None:
    table = real_data.table_of("prices", frame, "price")
    assert list(table.frame.columns) == ["size", "colour", "noise", "gaps", "price"]
    assert table.dropped["id"] == "identifier"
    assert "hardly repeats" in table.dropped["Maker Name"]
    assert table.dropped["log_size"] == "'size' under another name"
    assert table.dropped["colour_code"] == "'colour' under another name"
    assert real_data.takes_part(table)
    assert not real_data.takes_part(real_data.table_of("prices", frame[:99], "price"))


def test_of_two_names_the_target_stays(frame) -> None:
    table = real_data.table_of("prices", frame, "log_size")
    assert "log_size" in table.frame and "size" not in table.frame
    assert table.target == "log_size"


def test_targets_are_spread_over_the_columns_after_the_tables_own() -> None:
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(100, 12)), columns=[f"c{i}" for i in range(12)])
    assert real_data.table_of("many", frame, "c6").targets() == ["c6", "c0", "c3", "c8", "c11"]
    assert real_data.table_of("few", frame[["c1", "c2", "c3"]], None).targets() == ["c3", "c1", "c2"]


def test_classes_are_text_and_two_values(frame) -> None:
    table = real_data.table_of("prices", frame.assign(sold=frame["noise"] > 0, rating=frame["id"] % 5), "price")
    assert [name for name in table.frame if table.is_class(name)] == ["colour", "sold"]


def test_skill_is_what_is_explained(frame) -> None:
    truth = np.array([0.0, 1.0, 2.0])
    assert real_skill.skill_of(truth, truth, classes=False) == 1
    assert real_skill.skill_of(truth, np.full(3, 1.0), classes=False) == 0
    labels = np.array([0, 0, 0, 1])
    assert real_skill.skill_of(labels, labels, classes=True) == 1
    assert real_skill.skill_of(labels, np.zeros(4, dtype=int), classes=True) == 0


def test_forest_and_lasso_take_text_and_missing_cells(frame) -> None:
    table = real_data.table_of("prices", frame, "price")
    chosen = real_skill.chosen_by_lasso(table, "price")
    assert {"size", "colour"} <= set(chosen)
    both = real_skill.skill(table, "price", ["size", "colour"], threads=1)
    assert both > 0.8
    assert both > real_skill.skill(table, "price", ["colour", "gaps"], threads=1)
    assert real_skill.skill(table, "price", [], threads=1) == 0
    assert real_skill.chosen_by_lasso(table, "colour")  # three classes
    assert real_skill.skill(table, "colour", ["size", "price"], threads=1) > 0.2


def test_settings() -> None:
    assert real_boundaries.parameters("normal") == {"effort": "normal"}
    expected = {"effort": "quick", "steps": 300, "refine": "no"}
    assert real_boundaries.parameters("quick:steps=300,refine=no") == expected
    with pytest.raises(ValueError, match="gaussian, quick, normal"):
        real_boundaries.parameters("slow")


def test_a_refusal_and_a_time_limit_cost_one_cell(frame) -> None:
    columns = frame[["size", "noise", "price"]]
    answer = real_boundaries.in_own_process(columns, "gaussian", 1, PATIENCE)
    assert answer["boundaries"]["price"] == ["size"]
    refused = real_boundaries.in_own_process(columns, "gaussian:fdr=7", 1, PATIENCE)
    assert "fdr" in refused["failure"] and not refused["again"]
    late = real_boundaries.in_own_process(columns, "gaussian", 1, 0.01)
    assert "0.01 s" in late["failure"] and late["again"]


def test_cache_keeps_what_is_worth_keeping(tmp_path) -> None:
    asked = []

    def compute(value):
        asked.append(value)
        return value

    assert real_tables.Cache(tmp_path).get("a", lambda: compute(1)) == 1
    assert real_tables.Cache(tmp_path).get("a", lambda: compute(2)) == 1
    real_tables.Cache(tmp_path).get("b", lambda: compute({"again": True}))
    real_tables.Cache(tmp_path).get("b", lambda: compute({"again": True}))
    assert len(asked) == 3


def test_failed_tables_count_as_empty() -> None:
    def choice(skills, columns, failure=None):
        targets = {name: {"skill": s, "columns": c} for name, s, c in zip("ab", skills, columns)}
        return {"seconds": 1, "failure": failure, "targets": targets}

    table = {
        "all": choice([0.5, 0.1], [["b", "c"], ["a", "c"]]),
        "lasso": choice([0.5, 0.1], [["b", "c"], ["a"]]),
        "quick": choice([0.51, 0.1], [["b"], []]),
        "normal": choice([0, 0], [[], []], "it fell over"),
    }
    results = {"one": {"rows": 100, "columns": 3, "choices": table}}
    summaries = {name: real_tables.summary(results, name) for name in table}
    assert summaries["quick"]["empty"] == 0  # b cannot be predicted from all columns either
    assert (summaries["normal"]["empty"], summaries["normal"]["predictable"]) == (1, 1)
    met = {what: good for what, _, good in real_tables.verdicts(results, summaries)}
    assert met["quick: no predictable target is empty"] and met["quick: above Lasso's"]
    assert met["quick: at most two thirds of Lasso's columns"]
    assert not met["normal: no predictable target is empty"] and not met["normal: never worse than quick"]


def test_csv_files_give_the_same_figures(frame, tmp_path, capsys) -> None:
    columns = frame[["size", "noise", "gaps", "price"]].assign(more=frame["price"] > 0)
    table = real_data.table_of("prices", columns, "price")
    real_data.export([table], tmp_path)
    [read] = real_data.tables_in(tmp_path)
    assert read.targets() == table.targets()
    pd.testing.assert_frame_equal(read.frame, table.frame, check_dtype=False)
    out = tmp_path / "out.json"
    words = ["--from", str(tmp_path), "--settings", "gaussian", "--threads", "1", "--out", str(out)]
    assert real_tables.main(words) == 0
    assert "prices" in capsys.readouterr().out
    assert json.loads(out.read_text())["summary"]["all"]["skill"] > 0

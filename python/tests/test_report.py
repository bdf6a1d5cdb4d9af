# SPDX-License-Identifier: Apache-2.0
"""What becomes of results."""

from __future__ import annotations

import warnings

import pytest

import fansite


@pytest.fixture(scope="module")
def table():
    return fansite.simulate(nodes=6, rows=300, random_state=5).to_pandas()


@pytest.fixture(scope="module")
def found(table):
    return fansite.MarkovBoundary().fit(table)


@pytest.fixture(scope="module")
def graph(table, found):
    return fansite.CausalGraph().fit(table, boundaries=found)


def test_the_page_is_that_of_the_command_line(found, graph, program, tmp_path) -> None:
    fansite.report(graph, found, path=tmp_path / "ours.html", title="Six <variables>")
    (tmp_path / "b.json").write_text(found.to_json())
    (tmp_path / "g.json").write_text(graph.to_json())
    theirs = program.result("report", tmp_path / "g.json", tmp_path / "b.json", "--title", "Six <variables>")
    page = (tmp_path / "ours.html").read_bytes()
    assert page == theirs.encode()
    assert b"Six &lt;variables" in page


def test_a_plan_is_shown_too(table, found, program, tmp_path) -> None:
    table.to_csv(tmp_path / "table.csv", index=False)
    plan = tmp_path / "plan.json"
    plan.write_text(program.result("plan", tmp_path / "table.csv", "--json"))
    (tmp_path / "b.json").write_text(found.to_json())
    for ours, theirs in (((fansite.from_json(plan),), [plan]), ((found, fansite.from_json(plan)), [tmp_path / "b.json", plan])):
        fansite.report(*ours, path=tmp_path / "ours.html")
        assert (tmp_path / "ours.html").read_text(encoding="utf-8") == program.result("report", *theirs)


def test_what_is_no_result_is_refused(table, found, tmp_path) -> None:
    with pytest.raises(TypeError, match="str is no result of fansite"):
        fansite.report("b.json", path=tmp_path / "r.html")
    with pytest.raises(ValueError, match=r"\[report\]"):
        fansite.report(found, found, path=tmp_path / "r.html")
    with pytest.raises(ValueError, match=r"\[report\] .* has format 'fansite.inspect/2'. Give boundaries .* or a plan"):
        fansite.report(fansite.inspect(table), path=tmp_path / "r.html")
    with pytest.raises(ValueError, match=r"fansite.inspect/2"):
        fansite.verify(fansite.inspect(table), table)
    assert not (tmp_path / "r.html").exists()


def test_a_repeated_run_has_the_same_bits(found, graph, table) -> None:
    assert fansite.verify(found, table)
    assert fansite.verify(graph.result_, table)
    with pytest.raises(ValueError, match="the result of another table"):
        fansite.verify(found, table * 2)


def test_a_time_budget_that_is_not_enough_is_told() -> None:
    curved = fansite.simulate(nodes=12, rows=500, sem="gp", random_state=5).to_pandas()
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        found = fansite.MarkovBoundary(time_budget=0.05).fit(curved)
    sentences = " ".join(str(warning.message) for warning in told)
    assert "not finished: there was no time to train networks" in sentences
    assert "boundaries are empty but cannot be" in sentences  # what is not linear was not learnt
    assert not found.result_.complete
    assert "Gaussian" in found.result_.unfinished
    with pytest.raises(ValueError, match=r"\[time_budget\] -1 is out of range"):
        fansite.MarkovBoundary(time_budget=-1.0).fit(curved)

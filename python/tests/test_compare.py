# SPDX-License-Identifier: Apache-2.0
"""Methods compared from Python: the command line's figures, whatever the truth comes as."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pandas as pd
import pytest

import fansite


@pytest.fixture(scope="module")
def table():
    return fansite.simulate(nodes=8, rows=400, random_state=3)


@pytest.fixture(scope="module")
def compared(table):
    return fansite.compare(table.to_pandas(), methods=["iamb", "iamb:alpha=0.0001", "tc"], truth=table, orders=2)


def test_is_what_the_command_line_writes(table, compared, program, tmp_path) -> None:
    table.to_pandas().to_csv(tmp_path / "data.csv", index=False)
    pd.DataFrame(table.adjacency, columns=table.names).to_csv(tmp_path / "dag.csv", index=False)
    theirs = program.result(
        "compare", tmp_path / "data.csv", "--truth", tmp_path / "dag.csv", "--methods", "iamb,iamb:alpha=0.0001,tc",
        "--orders", 2,
    )  # fmt: skip
    assert compared == fansite.Comparison.from_json(theirs)


def test_scores_are_those_of_the_metrics(table, compared) -> None:
    cell = compared.cells[2]
    assert (cell.method, cell.order, cell.status) == ("tc", 0, "done")
    score = fansite.metrics.score_boundaries(cell.found, table.boundaries)
    assert cell.scores["F1"] == score.mean.f1 and cell.scores["nDCG"] == score.mean.ndcg
    assert list(compared.scores.index) == compared.methods == ["iamb", "iamb:alpha=0.0001", "tc"]
    same = [each.scores["F1"] for each in compared.cells if each.method == "tc"]
    assert compared.scores.loc["tc", "F1"] == pytest.approx(np.mean(same))
    assert compared.scores.loc["tc", "F1 sd"] == pytest.approx(np.std(same, ddof=1))
    assert len(compared.to_pandas()) == 6


def test_agreement_is_a_symmetric_table(compared) -> None:
    shares = compared.agreement
    assert list(shares.columns) == list(shares.index) == compared.methods
    assert np.allclose(shares, shares.T) and np.allclose(np.diag(shares), 1)
    assert set(compared.alone) == set(compared.methods)


def test_the_truth_comes_in_many_forms(table, tmp_path) -> None:
    frame = pd.DataFrame(table.adjacency, index=table.names, columns=table.names)
    shuffled = frame.iloc[::-1, ::-1]
    frame.to_csv(tmp_path / "dag.csv", index=False)
    forms = [table, table.adjacency, frame, shuffled, table.to_networkx(), tmp_path / "dag.csv"]
    results = {
        fansite.compare(table.to_pandas(), methods="tc", truth=truth, orders=1).cells[0].scores["F1"] for truth in forms
    }
    assert len(results) == 1
    assert fansite.compare(table.to_pandas(), methods="tc", orders=1).cells[0].scores == {}


def test_graphs_are_compared_too(table) -> None:
    found = fansite.compare(table.to_pandas(), methods="fansite-anm:boundary-method=iamb", truth=table, orders=1)
    assert found.settings["kind"] == "graph" and "SHD" in found.scores.columns


def test_simulated_tables(table) -> None:
    found = fansite.compare(simulate={"nodes": 6, "rows": 200}, seeds=[4, 9], methods="tc", orders=1)
    assert [each["seed"] for each in found.tables] == [4, 9]
    assert found.scores.loc["tc", "done"] == 2
    assert found.alone == {}


def test_a_method_without_an_answer_says_why(table) -> None:
    holes = table.to_pandas()
    holes.iloc[3, 2] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fansite.DataWarning)
        found = fansite.compare(holes, methods="kmb,iamb", orders=1)
        with pytest.raises(ValueError, match="missing cells, which kmb cannot use"):
            fansite.compare(holes, methods="kmb", orders=1)
    assert [cell.status for cell in found.cells] == ["refused", "done"]
    assert "missing cells, which kmb cannot use" in found.scores.loc["kmb", "reason"]
    assert np.isnan(found.agreement.loc["kmb", "iamb"])
    assert "which kmb cannot use" in found._repr_html_()


def test_bad_requests_are_one_sentence(table) -> None:
    frame = table.to_pandas()
    with pytest.raises(ValueError, match="'imab' is unknown; did you mean 'iamb'"):
        fansite.compare(frame, methods="imab")
    with pytest.raises(ValueError, match="iamb finds boundaries and sdcd a graph"):
        fansite.compare(frame, methods=["iamb", "sdcd"])
    with pytest.raises(ValueError, match="the table has no variable 'y1'"):
        fansite.compare(frame, truth=pd.DataFrame(table.adjacency, *[[f"y{i}" for i in range(1, 9)]] * 2))
    with pytest.raises(ValueError, match=r"the table has 8 variables and the truth has 2"):
        fansite.compare(frame, truth=np.array([[0, 1], [0, 0]]))
    with pytest.raises(ValueError, match="give a square one"):
        fansite.compare(frame, truth=np.zeros((2, 3)))
    with pytest.raises(ValueError, match="not both"):
        fansite.compare(frame, simulate={"nodes": 5})
    with pytest.raises(ValueError, match="there is no 'nodez'"):
        fansite.compare(simulate={"nodez": 5})


def test_what_is_done_is_kept(table, tmp_path) -> None:
    place = tmp_path / "c.checkpoint"
    frame = table.to_pandas()
    whole = fansite.compare(frame, methods="iamb,tc", orders=1)
    first = json.loads(fansite.compare(frame, methods="iamb", orders=1).to_json())
    first["timing"]["cell_seconds"] = [12345.0]
    place.write_text(json.dumps(first))
    found = fansite.compare(frame, methods="iamb,tc", orders=1, checkpoint=place)
    assert found == whole
    assert found.cells[0].seconds == 12345.0  # it was not run again
    assert not place.exists()


def test_goes_into_the_page_and_the_notebook(compared, tmp_path) -> None:
    fansite.report(compared, path=tmp_path / "page.html")
    assert "iamb:alpha=0.0001" in (tmp_path / "page.html").read_text()
    assert ">3 methods compared, 1 table</caption>" in compared._repr_html_()
    assert repr(compared) == "Comparison(iamb, iamb:alpha=0.0001, tc; 1 table, 6 cells)"

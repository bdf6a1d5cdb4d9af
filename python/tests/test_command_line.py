# SPDX-License-Identifier: Apache-2.0
"""Every number from Python is the command line's for the same data, options and seed."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pandas as pd
import pytest
from support import without_timing

import fansite


@pytest.fixture(scope="module")
def linear_csv(linear, tmp_path_factory):
    path = tmp_path_factory.mktemp("linear") / "data.csv"
    linear.to_pandas().to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def small_csv(small, tmp_path_factory):
    path = tmp_path_factory.mktemp("small") / "data.csv"
    small.to_pandas().to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def curved_npy(curved, tmp_path_factory):
    path = tmp_path_factory.mktemp("curved") / "data.npy"
    np.save(path, curved.values)
    return path


def test_simulated_data(program, tmp_path) -> None:
    options = {"graph": "sf", "nodes": 8, "degree": 2, "sem": "mlp", "noise": "mixed", "rows": 50}
    options |= {"kinds": "mixed", "children_see": "columns", "missing_share": 0.1, "missing_by": "column"}
    options |= {"hidden": 2, "measurement_noise": 0.2}
    words = [word for name, value in options.items() for word in (f"--{name.replace('_', '-')}", value)]
    program.result("simulate", *words, "--seed", 4, "--format", "npy", "--out", tmp_path)
    made = fansite.simulate(**options, random_state=4)
    assert np.array_equal(made.values, np.load(tmp_path / "data.npy"), equal_nan=True)
    truth = pd.read_csv(tmp_path / "dag.csv")
    assert list(truth.columns) == made.names
    assert np.array_equal(made.adjacency, truth.to_numpy())
    told = json.loads((tmp_path / "simulation.json").read_text())
    assert made.noise == told["noise"]
    assert made.kinds == told["kinds"]
    assert set(made.kinds) == {"continuous", "levels", "counts"}
    assert made.hidden_cause_pairs == [tuple(pair) for pair in told["hidden_cause_pairs"]]
    assert len(made.hidden_cause_pairs) >= 2
    assert [edge["weight"] for edge in told["edges"]] == list(made.weights[np.nonzero(made.adjacency)])


def test_gaussian_boundaries(program, linear_csv) -> None:
    told = program.result("mb", linear_csv)
    found = fansite.MarkovBoundary().fit(pd.read_csv(linear_csv))
    assert without_timing(found.to_json()) == without_timing(told)
    assert found.result_.estimator == "gaussian"
    assert fansite.BoundariesResult.from_json(told) == found.result_


def test_paper_rule_and_some_targets(program, linear_csv) -> None:
    told = program.result(
        "mb", linear_csv, "--stop", "paper", "--eps-grow", 0.01, "--eps-shrink", 0.004, "--patience", 2,
        "--max-size", 3, "--rule", "and", "--target", "x2", "--target", "x5",
    )  # fmt: skip
    found = fansite.MarkovBoundary(
        stop="paper", eps_grow=0.01, eps_shrink=0.004, patience=2, max_size=3, rule="and", targets=["x2", "x5"]
    ).fit(pd.read_csv(linear_csv))
    assert without_timing(found.to_json()) == without_timing(told)
    assert list(found.boundaries_) == ["x2", "x5"]


def test_flow_boundaries(program, curved, curved_npy) -> None:
    told = program.result(
        "mb", curved_npy, "--estimator", "flow", "--effort", "quick", "--steps", 60, "--folds", 2, "--repeats", 1,
        "--seed", 9, "--threads", 1,
    )  # fmt: skip
    found = fansite.MarkovBoundary(
        estimator="flow", effort="quick", steps=60, folds=2, repeats=1, random_state=9, n_jobs=2
    ).fit(curved.values)
    assert without_timing(found.to_json()) == without_timing(told)
    assert found.result_.estimator == "flow"


def test_boundaries_with_knowledge(program, linear_csv, tmp_path) -> None:
    rules = tmp_path / "rules.txt"
    rules.write_text("not-in-boundary x1 x2\nin-boundary x3 x4\n")
    told = program.result("mb", linear_csv, "--knowledge", rules)
    found = fansite.MarkovBoundary(knowledge=rules).fit(pd.read_csv(linear_csv))
    assert without_timing(found.to_json()) == without_timing(told)
    assert "x4" in found.boundaries_["x3"]


def test_graph(program, small_csv, tmp_path) -> None:
    drawing = tmp_path / "graph.dot"
    told = program.result(
        "dag", small_csv, "--confidence", 2, "--penalty", 1.5, "--max-rows", 200, "--seed", 3, "--dot", drawing
    )  # fmt: skip
    found = fansite.CausalGraph(confidence=2, penalty=1.5, max_rows=200, random_state=3).fit(pd.read_csv(small_csv))
    assert without_timing(found.to_json()) == without_timing(told)
    assert found.to_dot() == drawing.read_text()
    assert fansite.GraphResult.from_json(told).edges == found.edges_


def test_graph_inside_given_boundaries(program, small_csv, tmp_path) -> None:
    saved = tmp_path / "boundaries.json"
    program.result("mb", small_csv, "--out", saved)
    told = program.result("dag", small_csv, "--boundaries", saved, "--dag")
    table = pd.read_csv(small_csv)
    for boundaries in (saved, fansite.BoundariesResult.load(saved), fansite.MarkovBoundary().fit(table)):
        found = fansite.CausalGraph(dag=True).fit(table, boundaries=boundaries)
        assert without_timing(found.to_json()) == without_timing(told)


def test_published_graph_methods(program, small_csv) -> None:
    told = program.result("dag", small_csv, "--method", "sdcd", "--epochs", 30, "--threshold", 0.2, "--standardise")
    found = fansite.CausalGraph(method="sdcd", options={"epochs": 30, "threshold": 0.2, "standardise": True})
    found.fit(pd.read_csv(small_csv))
    assert without_timing(found.to_json()) == without_timing(told)


@pytest.mark.parametrize("estimator", ["gaussian", "flow"])
def test_entropies(program, curved, curved_npy, estimator) -> None:
    networks = {"steps": 80, "folds": 2, "repeats": 1} if estimator == "flow" else {}
    options = [word for name, value in networks.items() for word in (f"--{name}", value)]
    told = program.result(
        "entropy", curved_npy, "--target", "x1", "--given", "x2,x3", "--estimator", estimator, "--seed", 2, *options
    )
    model = fansite.EntropyModel(estimator=estimator, random_state=2, **networks).fit(curved.values)
    found = model.information("x1", given=["x2", "x3"])
    assert without_timing(found.to_json()) == without_timing(told)
    assert model.entropy("x1") == found.entropy
    assert model.conditional_entropy("x1", given=["x2", "x3"]) == found.conditional_entropy
    assert model.mutual_information("x1", "x2", given=["x3"]) == found.added[0].information


def test_scores(program, linear, small, boundaries, graph, tmp_path) -> None:
    truth, saved, drawn = tmp_path / "dag.csv", tmp_path / "boundaries.json", tmp_path / "graph.json"
    pd.DataFrame(linear.adjacency, columns=linear.names).to_csv(truth, index=False)
    saved.write_text(boundaries.to_json())
    drawn.write_text(graph.to_json())

    told = json.loads(program("eval", saved, "--truth", truth, "--json").stdout)
    score = fansite.metrics.score_boundaries(boundaries.boundaries_, linear.boundaries)
    assert told["nDCG"] == score.mean.ndcg
    assert told["AveP"] == score.mean.average_precision
    assert told["F1"] == score.mean.f1
    assert told["FDR"] == score.false_discovery_rate
    assert told["targets"] == score.targets

    pd.DataFrame(small.adjacency, columns=small.names).to_csv(truth, index=False)
    told = json.loads(program("eval", drawn, "--truth", truth, "--json").stdout)
    score = fansite.metrics.score_graph(graph.adjacency_, small.adjacency)
    assert (told["SHD"], told["extra"], told["missing"]) == (score.shd, score.extra, score.missing)
    assert (told["AUC-ROC"], told["AUC-PR"]) == (score.auc_roc, score.auc_pr)


def test_errors_are_the_same_sentence(program, linear_csv) -> None:
    table = pd.read_csv(linear_csv)
    for option, settings in [
        (["--target", "x99"], {"targets": ["x99"]}),
        (["--fdr", "2"], {"fdr": 2}),
        (["--estimator", "magic"], {"estimator": "magic"}),
        (["--model", "/no/such/file"], {"model": "/no/such/file"}),
        (["--model", "/"], {"model": "/"}),
        (["--estimator", "flow", "--save-model", "/no/such/file"], {"estimator": "flow", "save_model": "/no/such/file"}),
    ]:
        told = program("mb", linear_csv, *option).stderr.strip().removeprefix("fansite: ")
        path = settings.get("model", settings.get("save_model"))
        kind = {None: ValueError, "/": IsADirectoryError}.get(path, FileNotFoundError)
        with pytest.raises(kind) as raised:
            fansite.MarkovBoundary(**settings).fit(table)
        assert str(raised.value) == told.replace("[--", "[")  # a parameter is an option there


def test_results_without_some_columns_can_be_verified(program, linear_csv, tmp_path) -> None:
    path = tmp_path / "boundaries.json"
    program.result("mb", linear_csv, "--drop", "x2", "--out", path)
    found = fansite.from_json(path)
    assert "x2" not in json.loads(path.read_text())["variables"]
    assert fansite.verify(found, linear_csv)


def test_a_gpu_that_is_not_there_is_refused_in_the_words_of_python(linear) -> None:
    assert fansite.MarkovBoundary(device="auto").fit(linear.to_pandas()).result_.timing["device"] == "cpu"  # nothing to train
    if shutil.which("nvidia-smi"):
        pytest.skip("there may be a GPU")
    with pytest.raises(ValueError, match=r'\[device\] .*; use device="cpu" or "auto"'):
        fansite.MarkovBoundary(device="cuda").fit(linear.to_pandas())

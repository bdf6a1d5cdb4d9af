# SPDX-License-Identifier: Apache-2.0
"""from_json: what the program writes is what Python's own work gives, whatever it is of and however it comes."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import fansite


@pytest.fixture(scope="module")
def folder(program, tmp_path_factory):
    """A table and a result of every kind, written by the program."""
    folder = tmp_path_factory.mktemp("results")
    data = folder / "made" / "data.csv"
    program.result("simulate", "--nodes", 6, "--rows", 200, "--seed", 4, "--hidden", 1, "--out", folder / "made")
    program.result("mb", data, "--estimator", "gaussian", "--out", folder / "mb.json")
    program.result("dag", data, "--estimator", "gaussian", "--out", folder / "dag.json")
    (folder / "entropy.json").write_text(
        program.result("entropy", data, "--target", "x1", "--given", "x2,x3", "--estimator", "gaussian")
    )
    program.result("compare", data, "--methods", "iamb,tc", "--orders", 1, "--out", folder / "compare.json")
    (folder / "inspect.json").write_text(program.result("inspect", data, "--json"))
    (folder / "plan.json").write_text(program.result("plan", data, "--estimator", "gaussian", "--json"))
    return folder


@pytest.fixture(scope="module")
def table(folder) -> pd.DataFrame:
    return fansite.from_json(folder / "made" / "simulation.json").to_pandas()


@pytest.mark.filterwarnings("ignore::fansite.DataWarning")
def test_results_are_those_of_the_same_work(folder, table) -> None:
    found = fansite.MarkovBoundary(estimator="gaussian").fit(table)
    graph = fansite.CausalGraph(estimator="gaussian").fit(table)
    model = fansite.EntropyModel(estimator="gaussian").fit(table)
    assert fansite.from_json(folder / "mb.json") == found.result_
    assert fansite.from_json(folder / "dag.json") == graph.result_
    assert fansite.from_json(folder / "entropy.json") == model.information("x1", ["x2", "x3"])
    assert fansite.from_json(folder / "compare.json") == fansite.compare(table, methods="iamb,tc", orders=1)
    assert fansite.from_json(folder / "inspect.json") == fansite.inspect(table)
    assert fansite.verify(fansite.from_json(folder / "mb.json"), table)


@pytest.mark.parametrize("kind", ["mb", "dag", "entropy", "compare", "inspect", "plan"])
def test_paths_words_and_dictionaries(kind, folder, table) -> None:
    path = folder / f"{kind}.json"
    result = fansite.from_json(path)
    text = path.read_text(encoding="utf-8")
    read = json.loads(text)
    for source in (str(path), text, read, json.dumps(read, indent=1)):
        assert fansite.from_json(source) == result
        assert type(result).from_json(source) == result
    assert type(result).load(path) == result
    if kind in ("mb", "dag", "entropy"):
        assert fansite.from_json(read).to_json() == text  # so that it can be verified, which compares lines
        assert fansite.verify(fansite.from_json(read), table)


def test_plans(folder) -> None:
    plan = fansite.from_json(folder / "plan.json")
    assert (plan.variables, plan.rows, plan.estimator) == (6, 200, "gaussian")
    assert list(plan.to_pandas()["name"]) == [phase.name for phase in plan.phases]
    assert plan.total_seconds > 0


def test_simulations(folder, tmp_path) -> None:
    made = fansite.simulate(nodes=6, rows=200, random_state=4, hidden=1)
    read = fansite.from_json(folder / "made" / "simulation.json")
    assert np.array_equal(read.values, made.values)
    assert np.array_equal(read.adjacency, made.adjacency) and np.array_equal(read.weights, made.weights)
    assert (read.names, read.noise, read.kinds) == (made.names, made.noise, made.kinds)
    assert read.hidden_cause_pairs == made.hidden_cause_pairs and made.hidden_cause_pairs
    text = (folder / "made" / "simulation.json").read_text()
    (tmp_path / "simulation.json").write_text(text)
    for source in (text, json.loads(text), tmp_path / "simulation.json"):
        with pytest.raises(ValueError, match="has its table in data.csv or data.npy, beside simulation.json. Give the path"):
            fansite.from_json(source)


def test_simulations_whose_table_is_binary(program, tmp_path) -> None:
    setting = ["--sem", "gene", "--nodes", 5, "--rows", 60, "--missing-share", 0.1, "--out", tmp_path]
    for seed, form in ((1, "npy"), (2, "csv"), (3, "npy"), (4, "csv")):  # each leaves the table of the one before it
        program.result("simulate", *setting, "--seed", seed, "--format", form)
        read = fansite.from_json(tmp_path / "simulation.json")
        expected = fansite.simulate(sem="gene", nodes=5, rows=60, missing_share=0.1, random_state=seed)
        assert np.array_equal(read.values, expected.values, equal_nan=True)
        assert read.names == expected.names and read.names[0] == "g1"
        assert np.array_equal(read.adjacency, expected.adjacency)


@pytest.mark.parametrize(
    ("source", "error", "sentence"),
    [
        ("{}", ValueError, "this is no JSON result of fansite"),
        ("[1]", ValueError, "this is no JSON result of fansite"),
        ('{"format": 3}', ValueError, "this is no JSON result of fansite"),
        ("{broken", ValueError, "this is no JSON result of fansite"),
        ({"format": "other/1"}, ValueError, "this is no JSON result of fansite"),
        (
            {"format": "fansite.graph/1"},
            ValueError,
            r"has format 'fansite.graph/1', which this version cannot read. It reads fansite.b",
        ),
        (
            {"format": "fansite.graph/2"},
            ValueError,
            r"the JSON is damaged \(KeyError\('weights'\)\). Give what `fansite dag` wrote",
        ),
        ({"format": "fansite.boundaries/2", "variables": 3}, ValueError, "the JSON is damaged"),
        (3, TypeError, "int is no result; give a path, JSON, or a dictionary of it"),
        ("no such file.json", FileNotFoundError, "no such file.json"),
    ],
)
def test_what_is_none_is_refused(source, error, sentence) -> None:
    with pytest.raises(error, match=sentence):
        fansite.from_json(source)

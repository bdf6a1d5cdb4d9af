# SPDX-License-Identifier: Apache-2.0
"""Errors and warnings speak Python: arguments for options, labels for rows, the nearest name for a wrong one."""

from __future__ import annotations

import inspect
import pickle
import re
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn.exceptions
from fansite._words import in_python, rows_called

import fansite

REPOSITORY = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("drop those rows with --missing drop, or fill them.", 'drop those rows with missing="drop", or fill them.'),
        (
            "--missing drop leaves out the 3 rows that have some.",
            'missing="drop" leaves out the 3 rows that have some.',
        ),
        ("use it as labels with --kind a b=nominal.", "use it as labels with kinds={'a b': 'nominal'}."),
        ("linear relations only, --estimator flow sees all", 'linear relations only, estimator="flow" sees all'),
        ("--estimator or more --effort, and", "estimator or more effort, and"),
        ("members are missing; more --effort may find them", "members are missing; more effort may find them"),
        ("more --effort or --refine graph does", 'more effort or refine="graph" does'),
        ("--effort or --max-size looks further", "effort or max_size looks further"),
        ("--block none counts it as one, --block LENGTH takes", 'block="none" counts it as one, block="LENGTH" takes'),
        ("add --seed 5, or delete it", "add random_state=5, or delete it"),
        ("use --test fisher-z or a longer --time-budget", 'use options={"test": "fisher-z"} or a longer time_budget'),
        ("or raise --moral-threshold", 'or raise options["moral_threshold"]'),
        ("of one patient, litter or day, --group NAME.", 'of one patient, litter or day, group="NAME".'),
        ("cannot use context columns: leave --context out.", "cannot use context columns: leave context out."),
        ("other options (--missing, --no-header, --kind, --group)", "other options (missing, no header, kinds, group)"),
        (
            "if the file has no names, use --no-header.",
            "if the file has no names, read it with pandas.read_csv(path, header=None).",
        ),
        ("column 'id' is odd. Leave it out with --drop id, or", "column 'id' is odd. Leave it out with drop='id', or"),
        (
            "column 'id, or day' holds dates. Leave it out (--drop id, or day); --kind id, or day=nominal uses them",
            "column 'id, or day' holds dates. Leave it out (drop='id, or day'); kinds={'id, or day': 'nominal'} uses them",
        ),
        ("Give what `fansite plan --json` wrote.", "Give what `fansite plan --json` wrote."),
        ("column '--missing drop' is constant", "column '--missing drop' is constant"),
        ("nothing - or -- to say", "nothing - or -- to say"),
    ],
)
def test_options_are_arguments(theirs, ours) -> None:
    assert in_python(theirs) == ours


def sentences_with_options() -> set[str]:
    """Of all sources that Python has too: literals that stand side by side are one."""
    literal = r'"((?:[^"\\\n]|\\.)*)"'
    sentences = set()
    for source in [*(REPOSITORY / "fansite").rglob("*.cpp"), *(REPOSITORY / "python/src").glob("*.cpp")]:
        if source.name == "run_lock.cpp":
            continue  # the program's alone
        for several in re.findall(rf"(?:{literal.replace('(', '(?:', 1)}\s*)+", source.read_text(encoding="utf-8")):
            sentences.add("".join(re.findall(literal, several)))
    return {sentence for sentence in sentences if re.search("--[a-z]", sentence)}


def test_every_option_that_sentences_name_is_an_argument() -> None:
    """What stands for an option is an argument of something, or a parameter of a method, with the value that it had."""
    takers = [fansite.MarkovBoundary, fansite.CausalGraph, fansite.EntropyModel, fansite.inspect, fansite.simulate]
    arguments = {name for taker in takers for name in inspect.signature(taker).parameters}
    arguments |= {name for method in fansite.methods() for name in method.parameters}
    renamed = {"kind": "kinds", "seed": "random_state", "threads": "n_jobs", "resume": "checkpoint"}
    sentences = sentences_with_options()
    assert len(sentences) > 40
    for sentence in sentences:
        ours, theirs = (re.sub("`.*?`", "", each) for each in (in_python(sentence), sentence))
        assert "--" not in ours, sentence
        for option, value in re.findall(r"--([a-z][a-z-]*)(?: ((?<=drop |kind |only )\{\}|[A-Z]+\b))?", theirs):
            if option == "no-header":
                continue  # of files alone
            name = renamed.get(option, option.replace("-", "_"))
            assert name in arguments, sentence
            assert (f"{name}=" if value else name) in ours, ours


@pytest.mark.filterwarnings("ignore:.*rows show strong relations only")
def test_what_a_sentence_says_can_be_done(tmp_path) -> None:
    made = fansite.simulate(nodes=3, rows=60, random_state=3).to_pandas()
    days = made.assign(**{"the day": pd.date_range("2020-01-01", periods=60)})
    patients = made.assign(**{"the day": [f"p{i}" for i in range(60)]})
    patients.to_csv(tmp_path / "patients.csv", index=False)
    days.to_csv(tmp_path / "days.csv", index=False)
    lists = pl.from_pandas(made).with_columns(pl.Series("the day", [[1]] * 60))
    for table in (days, patients, pl.from_pandas(days), lists, tmp_path / "patients.csv", tmp_path / "days.csv"):
        for ask in (fansite.MarkovBoundary, fansite.CausalGraph, lambda **said: Inspected(said)):
            with pytest.raises(ValueError, match="'the day'") as refused:
                ask().fit(table)
            (name,) = re.findall(r"\bdrop='([^']*)'", str(refused.value))
            ask(drop=name).fit(table)


class Inspected:
    """``inspect`` as an estimator."""

    def __init__(self, said: dict[str, str]) -> None:
        self.said = said

    def fit(self, table) -> None:
        fansite.inspect(table, **self.said)


# ---- Errors and warnings as they come -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    made = fansite.simulate(nodes=4, rows=60, random_state=3)
    return pd.DataFrame(made.values, columns=made.names, index=[f"p{i}" for i in range(100, 160)])


def with_hole(frame: pd.DataFrame) -> pd.DataFrame:
    holes = frame.copy()
    holes.iloc[6, 1] = np.nan
    return holes


@pytest.mark.parametrize(
    ("make", "row"),
    [
        (lambda frame: frame, "'p106'"),
        (lambda frame: frame.reset_index(drop=True), "6"),
        (lambda frame: frame.set_axis(range(1000, 1060)), "1006"),
        (lambda frame: frame.set_axis(pd.MultiIndex.from_product([["a"], range(60)])), r"\('a', 6\)"),
        (lambda frame: frame.to_numpy(), "6"),
        (lambda frame: pl.from_pandas(frame, nan_to_null=True), "6"),
    ],
)
def test_rows_have_their_labels(make, row, frame) -> None:
    table = make(with_hole(frame))
    with pytest.raises(ValueError, match=rf'\(first at row {row}\): drop those rows with missing="drop", or fill'):
        fansite.MarkovBoundary(missing="error").fit(table)


def test_rows_of_files_have_their_numbers(frame, tmp_path) -> None:
    with_hole(frame).to_csv(tmp_path / "table.csv", index=False)
    with pytest.raises(ValueError, match=r'\(first at row 7\): drop those rows with missing="drop"'):
        fansite.MarkovBoundary(missing="error").fit(tmp_path / "table.csv")


def test_rows_that_are_left_out_do_not_count(frame) -> None:
    wild = with_hole(frame)
    wild.iloc[9, 0] = 1e5
    with pytest.warns(fansite.DataWarning) as told:
        found = fansite.MarkovBoundary(missing="drop").fit(wild)
    words = " ".join(str(each.message) for each in told)
    assert "'x1' in row 'p109' (1e+05)" in words and 'estimator="flow" goes by ranks' in words
    assert "'x1' in row 'p109'" in " ".join(found.result_.warnings)
    assert "in row 9 (1e+05)" in found.to_json()  # of the 59 rows, as the command line has it
    groups = ["a"] * 59 + [None]
    with pytest.raises(ValueError, match="the group 'group' of row 'p159' is missing"):
        fansite.inspect(frame, group=groups)


@pytest.mark.filterwarnings("ignore:.*rows show strong relations only")
def test_selectors_speak_of_rows_too(frame) -> None:
    wild = frame.assign(x2=np.where(frame.index == "p120", -1e6, frame["x2"]))
    with pytest.warns(fansite.DataWarning, match=r"'x2' in row 'p120' \(-1e\+06\)"):
        fansite.BoundarySelector(estimator="gaussian").fit(wild.drop(columns="x1"), frame["x1"])


def test_rows_are_those_of_one_table_alone() -> None:
    with rows_called(lambda row: f"<{row}>" if row < 3 else None):
        assert in_python("row 2, row 9") == "row <1>, row 9"
    assert in_python("row 2") == "row 2"


def test_names_that_look_like_rows_stay() -> None:
    with rows_called(lambda row: f"<{row}>"):
        told = in_python("[x] the table's column 'row 5' and 'my row 6' (it's odd at row 7), 'row 8's end' at row 9")
        assert told == "[x] the table's column 'row 5' and 'my row 6' (it's odd at row <6>), 'row 8's end' at row <8>"
    table = pd.DataFrame({"row 5": [1.0, 2.0, np.inf, 4.0] * 9, "b": ["row 1", "row 2", "row 3"] * 12})
    facts = fansite.inspect(table.set_axis(range(100, 136)))
    (finding,) = (each for each in facts.findings if "infinite" in each.message)
    assert "column 'row 5' (first in 'row 5' at row 102)" in finding.message
    assert "row 5   ordered" in repr(facts) and "row 1, row 2, row 3" in repr(facts) and "row 102" in repr(facts)


# ---- Names that there are not ---------------------------------------------------------------------------------------


def test_unknown_names_come_with_the_nearest(boundaries, graph, linear) -> None:
    table = linear.to_pandas().rename(columns={"x3": "pressure"})
    found = fansite.MarkovBoundary().fit(table)
    known = fansite.Knowledge("root pressure", table.columns)
    asked = {
        "mapping": lambda: found.result_["presure"],
        "boundary": lambda: found.boundaries_["presure"],
        "gains": lambda: found.gains_["presure"],
        "column": lambda: fansite.inspect(table)["presure"],
        "plot": lambda: fansite.plots.boundary(found, "presure"),
        "target": lambda: fansite.MarkovBoundary(targets="presure").fit(table),
        "context": lambda: fansite.MarkovBoundary(context="presure").fit(table),
        "kind": lambda: fansite.inspect(table, kinds={"presure": "ordered"}),
        "knowledge": lambda: known.allows("presure", "x1"),
        "given": lambda: fansite.EntropyModel(estimator="gaussian").fit(table).entropy("presure"),
        "explained": lambda: found.explain("presure"),
    }
    for ask in asked.values():
        with pytest.raises((ValueError, KeyError), match="'presure'. Did you mean 'pressure'"):
            ask()
    with pytest.raises(KeyError, match="there is no boundary of 'zzz'; there are x1, x2, pressure"):
        found.result_["zzz"]


@pytest.mark.parametrize(
    ("ask", "error", "near"),
    [
        (lambda: fansite.MarkovBoundary().set_params(efort="quick"), ValueError, "effort"),
        (lambda: fansite.MarkovBoundary(options={"rul": "or"}).fit([[1.0, 2.0]] * 9), ValueError, "rule"),
        (lambda: fansite.MarkovBoundary(method="imab").fit([[1.0, 2.0]] * 9), ValueError, "iamb"),
        (lambda: fansite.CausalGraph(method="dagm").fit([[1.0, 2.0]] * 9), ValueError, "dagma"),
        (lambda: fansite.MarkovBoundary(efort="quick"), TypeError, "effort"),
        (lambda: fansite.BoundarySelector(efort="quick"), TypeError, "effort"),
        (lambda: fansite.compare(simulate={"nodez": 3}), ValueError, "nodes"),
        (lambda: fansite.MarkovBonudary, AttributeError, "MarkovBoundary"),
    ],
)
def test_unknown_settings_come_with_the_nearest(ask, error, near) -> None:
    with pytest.raises(error, match=f"[Dd]id you mean '{near}'"):
        ask()


def test_unknown_attributes_come_with_the_nearest(boundaries) -> None:
    with pytest.raises(AttributeError, match="no attribute 'boundaries'. Did you mean 'boundaries_'"):
        boundaries.boundaries


@pytest.mark.parametrize(
    "kind", [fansite.MarkovBoundary, fansite.CausalGraph, fansite.EntropyModel, fansite.BoundarySelector]
)
def test_what_is_not_fitted_says_so(kind) -> None:
    asked = {
        fansite.MarkovBoundary: ["boundaries_", "gains_", "result_", "to_json", "to_networkx", "explain"],
        fansite.CausalGraph: ["adjacency_", "edges_", "to_dowhy", "to_igraph", "explain"],
        fansite.EntropyModel: ["feature_names_in_", "entropy"],
        fansite.BoundarySelector: ["support_", "boundary_", "get_support", "explain"],
    }
    for name in asked[kind]:
        for error in (fansite.NotFittedError, sklearn.exceptions.NotFittedError):
            with pytest.raises(error, match=r"call fit"):
                value = getattr(kind(), name)
                value(*["x1"] * (name in ("entropy", "explain") and kind is not fansite.BoundarySelector))
    assert not hasattr(kind(), "result_")
    with pytest.raises(fansite.NotFittedError) as raised:
        kind().result_
    assert isinstance(pickle.loads(pickle.dumps(raised.value)), sklearn.exceptions.NotFittedError)

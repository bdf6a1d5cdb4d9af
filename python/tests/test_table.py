# SPDX-License-Identifier: Apache-2.0
"""Tables of all kinds give the same answer, with their names; what is no table is refused with a sentence."""

from __future__ import annotations

import pickle
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import fansite
from fansite._words import in_python

NAMES = ["TP53", "a b", "größe", 'q"uote', "x5"]


@pytest.fixture(scope="module")
def values() -> np.ndarray:
    return fansite.simulate(nodes=5, degree=1.2, rows=200, random_state=5).values


def boundaries(table, **settings) -> dict[str, list[str]]:
    return fansite.MarkovBoundary(estimator="gaussian", **settings).fit(table).boundaries_


@pytest.fixture(scope="module")
def expected(values) -> dict[str, list[str]]:
    return boundaries(pd.DataFrame(values, columns=NAMES))


@pytest.mark.parametrize(
    "make",
    [
        lambda frame: pl.from_pandas(frame),
        lambda frame: pl.from_pandas(frame, rechunk=False).vstack(pl.from_pandas(frame.iloc[:0])),
        lambda frame: pl.concat([pl.from_pandas(frame[:90]), pl.from_pandas(frame[90:])], rechunk=False),
        lambda frame: pl.concat([pl.from_pandas(frame[:50]), pl.from_pandas(frame)], rechunk=False)[50:],
        lambda frame: pa.Table.from_pandas(frame),
        lambda frame: frame.astype("Float64"),
        lambda frame: frame.astype("double[pyarrow]"),
    ],
)
def test_data_frames(make, values, expected) -> None:
    assert expected["TP53"]  # there is something to find
    assert boundaries(make(pd.DataFrame(values, columns=NAMES))) == expected


@pytest.mark.parametrize(
    "make",
    [
        np.asfortranarray,
        lambda values: np.repeat(values, 2, axis=0)[::2],
        lambda values: values[::-1][::-1],
        lambda values: values.astype(">f8"),
        lambda values: values.tolist(),
        lambda values: values.astype(np.longdouble),
    ],
)
def test_arrays(make, values, expected) -> None:
    renamed = dict(zip(NAMES, fansite.simulate(nodes=5, rows=1).names))
    found = boundaries(make(values))
    assert found == {renamed[name]: [renamed[each] for each in members] for name, members in expected.items()}


def test_single_precision_is_taken_as_it_is(values) -> None:
    single = values.astype(np.float32)
    assert boundaries(single) == boundaries(single.astype(np.float64))
    assert boundaries(pd.DataFrame(single, columns=fansite.simulate(nodes=5, rows=1).names)) == boundaries(single)


def test_whole_numbers_and_booleans(values) -> None:
    whole = np.round(values * 100).astype(np.int16)
    frame = pd.DataFrame(whole, columns=NAMES)
    frame["flag"] = frame["TP53"] > 0
    as_numbers = boundaries(frame.astype(float))
    assert boundaries(frame) == as_numbers
    assert boundaries(pl.from_pandas(frame)) == as_numbers


def test_results_are_frames_if_the_table_was_one(values) -> None:
    frame = pd.DataFrame(values, columns=NAMES)
    from_frame = fansite.MarkovBoundary().fit(frame)
    assert list(from_frame.moral_graph_.columns) == list(from_frame.moral_graph_.index) == NAMES
    from_array = fansite.MarkovBoundary().fit(values)
    assert isinstance(from_array.moral_graph_, np.ndarray)
    assert np.array_equal(from_array.moral_graph_, from_frame.moral_graph_)
    assert list(from_array.feature_names_in_) == ["x1", "x2", "x3", "x4", "x5"]


def test_tables_are_not_changed(values) -> None:
    before = values.copy()
    boundaries(values)
    assert np.array_equal(values, before)


def test_columns_without_names_are_numbered(values) -> None:
    assert list(boundaries(values)) == ["x1", "x2", "x3", "x4", "x5"]


def test_missing_cells(values) -> None:
    holes = pd.DataFrame(values, columns=NAMES)
    holes.iloc[3, 1] = np.nan
    for table in (holes, holes.astype("Float64"), pl.from_pandas(holes, nan_to_null=True)):
        with pytest.raises(ValueError, match="1 missing cell in column 'a b'"):
            boundaries(table, missing="error")
        with pytest.warns(fansite.DataWarning, match="1 row with missing cells left out"):
            assert boundaries(table, missing="drop") == boundaries(holes.dropna())


@pytest.mark.parametrize(
    ("table", "error", "sentence"),
    [
        (pd.DataFrame({"a": [1.0], "b": [{}]}), ValueError, "column 'b' holds dict, neither numbers nor text. Leave it out with drop='b', or"),
        (pd.DataFrame({"a": [1.0], "b": [1 + 2j]}), ValueError, "column 'b' holds complex, neither numbers nor text"),
        (pl.DataFrame({"a": [1.0], "b": [[1]]}), ValueError, "column 'b' holds neither numbers nor text"),
        (pd.DataFrame({"a": ["1", "2"]}), ValueError, "'a' holds numbers written as text, such as '1'. Turn it into"),
        (pl.DataFrame({"a": ["1", "2", "?"]}), ValueError, r"'a' holds the text '\?' among numbers, all written as text"),
        (pd.DataFrame({"a": ["?", 1, 2]}), ValueError, r"'a' holds the text '\?' among numbers. Correct it"),
        (pl.DataFrame({"a": [1.0]}).lazy(), TypeError, r"Give X.collect\(\)"),
        (np.zeros(3), ValueError, "1 dimensions came instead of 2"),
        ({"a": [1.0]}, TypeError, "dict is no table. Give a data frame, an array of rows by variables, or a file's path"),
        (None, TypeError, "NoneType is no table"),
        (np.array([[b"a"]]), ValueError, r"X.astype\(float\)"),
        (pd.DataFrame([[1.0, 2.0]], columns=["a", "a"]), ValueError, "two columns are called 'a'"),
        (pd.DataFrame([[1.0, 2.0]], columns=["1", 1]), ValueError, "'1' and 1 would both be called '1'. Rename one"),
    ],
)
def test_what_is_no_table_is_refused(table, error, sentence) -> None:
    with pytest.raises(error, match=sentence):
        boundaries(table)


def test_odd_columns_are_told(values) -> None:
    frame = pd.DataFrame(values, columns=NAMES)
    frame["copy"] = frame["TP53"]
    with pytest.warns(fansite.DataWarning, match="copy"):
        found = fansite.MarkovBoundary().fit(frame)
    assert found.result_["copy"].copy_of == "TP53"
    assert found.boundaries_["copy"] == found.boundaries_["TP53"]


# ---- What types tell ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def study() -> pd.DataFrame:
    """A column of every kind, and missing cells."""
    random = np.random.default_rng(0)
    rows = 200
    dose = random.normal(size=rows)
    site = pd.Series(random.choice(["A", "B", "C"], rows), dtype="str")
    effect = dose + 2 * (site == "B") + 0.5 * random.normal(size=rows)
    stage = np.array(["low", "mid", "high"])[np.digitize(dose, [-0.5, 0.5])]
    frame = pd.DataFrame(
        {
            "site": site,
            "dose": dose,
            "effect": effect,
            "well": effect > 0.5,
            "stage": pd.Categorical(stage, ["low", "mid", "high"], ordered=True),
            "visits": pd.array(random.poisson(2, rows), dtype="Int64"),
            "code": pd.Categorical(random.choice([30, 10, 20], rows)),
            "drug": pd.Categorical(random.choice(["x", "none"], rows), ["x", "none", "never used"]),
        }
    )
    frame.loc[3, "visits"] = pd.NA
    frame.loc[4, "site"] = None
    return frame


KINDS = {
    "site": "nominal",
    "dose": "continuous",
    "effect": "continuous",
    "well": "ordered",
    "stage": "ordered",
    "visits": "ordered",
    "code": "nominal",
    "drug": "nominal",
}


def kinds_of(facts: fansite.Inspection) -> dict[str, str]:
    return {column.name: column.kind for column in facts.columns}


def test_types_tell_kinds(study) -> None:
    facts = fansite.inspect(study)
    assert kinds_of(facts) == KINDS
    assert [each.name for each in facts.columns if each.declared] == ["site", "stage", "code", "drug"]
    assert facts["site"].labels == ["A", "B", "C"]
    assert facts["code"].labels == ["10", "20", "30"]  # numbers in their order
    assert facts["drug"].labels == ["none", "x"]  # those that occur; text is what it says
    assert facts["stage"].range == (0, 2)
    assert facts["visits"].missing == facts["site"].missing == pytest.approx(1 / 200)
    assert facts.incomplete_rows == 2


@pytest.mark.parametrize(
    "make",
    [
        pa.Table.from_pandas,
        pa.RecordBatch.from_pandas,
        lambda frame: pa.concat_tables([pa.Table.from_pandas(frame[:70]), pa.Table.from_pandas(frame[70:])]),
        lambda frame: frame.astype({"site": object}),
        lambda frame: frame.astype({"site": "string[pyarrow]", "dose": "double[pyarrow]"}),
    ],
)
def test_every_way_tells_the_same(make, study) -> None:
    assert fansite.inspect(make(study)) == fansite.inspect(study)


def test_polars(study) -> None:
    plain = study.drop(columns=["stage", "code"])  # which pandas hands over as text and numbers
    assert fansite.inspect(pl.from_pandas(plain)) == fansite.inspect(plain)
    levels = list(study["stage"].cat.categories)
    stage = pl.DataFrame({"stage": pl.Series(study["stage"].astype(str), dtype=pl.Enum(levels)), "dose": study["dose"]})
    assert fansite.inspect(stage) == fansite.inspect(study[["stage", "dose"]])


def test_arrays_of_objects(study) -> None:
    mixed = study[["site", "dose", "well"]]
    expected = fansite.inspect(mixed.set_axis(["x1", "x2", "x3"], axis=1))
    assert fansite.inspect(mixed.to_numpy(dtype=object)) == expected
    assert fansite.inspect(mixed.to_numpy(dtype=object).tolist()) == expected


def test_files(study, tmp_path) -> None:
    plain = study[["site", "dose", "visits"]]
    plain.to_csv(tmp_path / "study.csv", index=False)
    plain.to_parquet(tmp_path / "study.parquet")
    expected = fansite.inspect(plain)
    assert fansite.inspect(tmp_path / "study.csv") == expected
    assert fansite.inspect(str(tmp_path / "study.parquet")) == expected
    indexed = plain.set_axis([f"r{i}" for i in range(len(plain))])
    indexed.to_parquet(tmp_path / "indexed.parquet")
    assert fansite.inspect(tmp_path / "indexed.parquet") == expected
    with pytest.raises(FileNotFoundError):
        fansite.inspect(tmp_path / "nothing.parquet")
    with pytest.raises(ValueError, match="'study.xlsx' has an unknown ending"):
        fansite.inspect("study.xlsx")


@pytest.mark.filterwarnings("ignore:.*'visits' is discrete")
def test_files_can_be_fitted(study, tmp_path) -> None:
    plain = study[["dose", "effect", "visits"]].dropna()
    plain.to_csv(tmp_path / "study.csv", index=False)
    plain.to_parquet(tmp_path / "study.parquet")
    from_frame = fansite.MarkovBoundary(estimator="gaussian").fit(plain)
    for path in (tmp_path / "study.csv", str(tmp_path / "study.csv"), tmp_path / "study.parquet"):
        assert fansite.MarkovBoundary(estimator="gaussian").fit(path).result_ == from_frame.result_
    graph = fansite.CausalGraph().fit(tmp_path / "study.csv", boundaries=from_frame)
    assert graph.result_.variables == ["dose", "effect", "visits"]
    model = fansite.EntropyModel(estimator="gaussian").fit(tmp_path / "study.csv")
    assert model.mutual_information("dose", "effect") > 0.2


def test_parquet_without_pyarrow(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(ImportError, match="reading Parquet files needs pyarrow: pip install pyarrow"):
        fansite.inspect("study.parquet")


def dates(make) -> pd.DataFrame:
    return pd.DataFrame({"dose": range(60), "when": make(60)})


@pytest.mark.parametrize(
    "table",
    [
        dates(lambda rows: pd.date_range("2020", periods=rows)),
        dates(lambda rows: pd.timedelta_range("1h", periods=rows)),
        dates(lambda rows: pd.period_range("2020", periods=rows, freq="D")),
        dates(lambda rows: pd.date_range("2020", periods=rows).date),
        dates(lambda rows: pd.date_range("2020", periods=rows).astype(str)),
        pl.from_pandas(dates(lambda rows: pd.date_range("2020", periods=rows))),
    ],
)
def test_dates_are_refused_with_a_hint(table) -> None:
    with pytest.raises(ValueError, match="'when' holds dates or times .*Give a number, for example days since"):
        fansite.inspect(table)


def test_identifiers_are_refused_as_in_files(study, tmp_path) -> None:
    table = study[["dose"]].assign(name=[f"patient {i}" for i in range(len(study))])
    table.to_csv(tmp_path / "study.csv", index=False)
    sentence = "column 'name' looks like identifiers or free text such as 'patient 0': 200 of 200 cells are different"
    for given in (table, pl.from_pandas(table), table.astype({"name": "category"}), tmp_path / "study.csv"):
        with pytest.raises(ValueError, match=sentence):
            fansite.inspect(given)
        assert fansite.inspect(given, kinds={"name": "nominal"})["name"].distinct == 200


# ---- What users say -------------------------------------------------------------------------------------------------


def test_kinds_overrule(study) -> None:
    said = {"stage": "nominal", "visits": "nominal", "code": "continuous"}
    for table in (study, pa.Table.from_pandas(study)):
        facts = fansite.inspect(table, kinds=said)
        assert kinds_of(facts) == {**KINDS, **said}
        assert facts["stage"].labels == ["high", "low", "mid"]


def test_weights_and_groups_by_name_or_as_arrays(study) -> None:
    weights = np.linspace(1, 2, len(study))
    patients = [f"patient {i // 4}" for i in range(len(study))]
    with_columns = study.assign(weight=weights, group=patients)
    by_name = fansite.inspect(with_columns, weight="weight", group="group")
    assert by_name == fansite.inspect(study, weight=weights, group=patients)
    assert by_name == fansite.inspect(study, weight=pd.Series(weights), group=pl.Series(patients))
    assert by_name.groups == 50 and by_name.effective_rows < 200
    assert fansite.inspect(pa.Table.from_pandas(with_columns), weight="weight", group="group") == by_name


@pytest.mark.parametrize(
    ("said", "error", "sentence"),
    [
        ({"kinds": {"dse": "nominal"}}, ValueError, "no column is called 'dse'. Did you mean 'dose'"),
        ({"kinds": {"dose": "round"}}, ValueError, "'round' is unknown; use continuous, ordered, atoms or nominal"),
        ({"kinds": {"site": "ordered"}}, ValueError, "'site' holds text, whose order is not known"),
        ({"kinds": ["dose"]}, TypeError, "give a dictionary of names and kinds"),
        ({"context": "nowhere"}, ValueError, "no column is called 'nowhere'"),
        ({"context": [1]}, TypeError, "give a list of names"),
        ({"weight": "dose"}, ValueError, "weights are positive numbers"),
        ({"weight": [1.0, 2.0]}, ValueError, "2 values came for 200 rows"),
        ({"group": "site"}, ValueError, "the group 'site' of row 4 is missing: .* such rows with missing=.drop."),
        ({"missing": "error"}, ValueError, "2 missing cells in columns 'site', 'visits'"),
    ],
)
def test_what_cannot_be_said_is_refused(said, error, sentence, study) -> None:
    with pytest.raises(error, match=sentence):
        fansite.inspect(study, **said)


def test_inspect_is_that_of_the_command_line(study, tmp_path, program) -> None:
    path = tmp_path / "study.csv"
    study[["site", "dose", "effect", "visits"]].to_csv(path, index=False)
    facts = fansite.inspect(path, context="site", kinds={"visits": "ordered"})
    options = [path, "--context", "site", "--kind", "visits=ordered"]
    assert facts.to_json() == program.result("inspect", *options, "--json")
    assert repr(facts) == in_python(program.result("inspect", *options))
    assert 'group="NAME"' in repr(facts) and "--" not in repr(facts)
    assert facts.to_dict()["rows"] == facts.rows == 200
    assert list(facts.to_pandas()["name"]) == ["site", "dose", "effect", "visits"]


@pytest.mark.filterwarnings("ignore::fansite.DataWarning")
def test_results_with_roles_are_those_of_the_command_line(study, tmp_path, program) -> None:
    weights, groups = np.linspace(1, 2, len(study)), np.arange(len(study)) // 4
    table = study[["dose", "effect", "visits"]].assign(weight=weights, group=groups)
    table.to_csv(tmp_path / "study.csv", index=False)
    settings = {"estimator": "gaussian", "context": ["visits"]}
    found = fansite.MarkovBoundary(weight="weight", group="group", **settings).fit(table)
    arrays = fansite.MarkovBoundary(weight=weights, group=groups, **settings).fit(table[["dose", "effect", "visits"]])
    assert found.result_ == arrays.result_
    assert found.result_.settings["table"] == {"context": ["visits"], "weight": "weight", "group": "group"}
    assert list(found.feature_names_in_) == ["dose", "effect", "visits"]
    options = ["--estimator", "gaussian", "--context", "visits", "--weight", "weight", "--group", "group"]
    written = fansite.BoundariesResult.from_json(program.result("mb", tmp_path / "study.csv", *options))
    assert written == found.result_
    assert fansite.verify(found, table)
    assert fansite.verify(written, tmp_path / "study.csv")
    assert fansite.verify(arrays, table[["dose", "effect", "visits"]], weight=weights, group=groups)
    with pytest.raises(ValueError, match="is the result of another table"):
        fansite.verify(found, table, weight="weight", group="group", context=())


@pytest.mark.filterwarnings("ignore::fansite.DataWarning")
def test_entropies_and_graphs_take_roles_too(study) -> None:
    table = study[["dose", "effect", "well", "visits"]]
    weights = np.linspace(1, 2, len(table))
    model = fansite.EntropyModel(estimator="gaussian", weight=weights, context="visits").fit(table)
    again = pickle.loads(pickle.dumps(model))
    told = model.mutual_information("dose", "effect")
    assert told > 0.2 and again.mutual_information("dose", "effect") == told
    assert again.information("dose", ["effect"]) == model.information("dose", ["effect"])
    assert fansite.verify(model.information("dose", ["effect"]), table, weight=weights)
    with pytest.raises(ValueError, match="'visits' is context, which is always given"):
        model.entropy("visits")
    graph = fansite.CausalGraph(estimator="gaussian", kinds={"visits": "continuous"}).fit(table)
    assert graph.result_.settings["table"] == {"kinds": {"visits": "continuous"}}
    assert fansite.verify(graph, table)


# ---- Columns that are left out --------------------------------------------------------------------------------------

ODD = ["id", "when", "weight"]


def as_objects(frame: pd.DataFrame) -> np.ndarray:
    return frame.to_numpy(dtype=object)


@pytest.fixture(scope="module")
def odd(values) -> pd.DataFrame:
    """The table with columns that no table can have."""
    frame = pd.DataFrame(values, columns=NAMES)
    frame.insert(0, "id", [f"patient {i}" for i in range(len(frame))])
    frame.insert(3, "when", pd.date_range("2020-01-01", periods=len(frame)))
    frame["weight"] = np.where(frame.index == 7, np.nan, 1.0)
    return frame


@pytest.mark.parametrize("make", [lambda frame: frame, pl.from_pandas, pa.Table.from_pandas, as_objects])
def test_columns_that_are_left_out_may_hold_anything(make, odd, expected) -> None:
    table = make(odd)
    with pytest.raises(ValueError, match="column '(id|when|x1|x4)'"):
        boundaries(table)
    renamed = {name: f"x{place + 1}" for place, name in enumerate(odd.columns)}
    name_of = renamed.__getitem__ if isinstance(table, np.ndarray) else str
    answer = {name_of(name): [name_of(each) for each in members] for name, members in expected.items()}
    drop, only = ([name_of(name) for name in names] for names in (ODD, NAMES))
    weight = np.ones(len(odd))
    for said in ({"drop": drop}, {"only": only}, {"drop": drop, "weight": weight}, {"only": only, "weight": weight}):
        for missing in ("use", "error"):  # the missing cell is left out too
            found = fansite.MarkovBoundary(estimator="gaussian", missing=missing, **said).fit(table)
            assert found.boundaries_ == answer
            assert fansite.verify(found, table, weight=said.get("weight"))
    assert [column.name for column in fansite.inspect(table, drop=drop).columns] == only
    graph = fansite.CausalGraph(drop=drop).fit(table, boundaries=fansite.MarkovBoundary(drop=drop).fit(table))
    assert list(graph.feature_names_in_) == only
    assert list(fansite.EntropyModel(estimator="gaussian", only=only).fit(table).feature_names_in_) == only
    assert fansite.compare(table, methods="tc", orders=1, drop=drop).variables == only


def test_files_are_left_columns_out_of_too(odd, expected, tmp_path) -> None:
    odd.to_csv(tmp_path / "odd.csv", index=False)
    odd.to_parquet(tmp_path / "odd.parquet")
    for path in (tmp_path / "odd.csv", tmp_path / "odd.parquet"):
        found = fansite.MarkovBoundary(estimator="gaussian", drop=ODD).fit(path)
        assert found.boundaries_ == expected
        assert fansite.verify(found, path) and fansite.verify(found, odd)
    as_written = pd.read_csv(tmp_path / "odd.csv")
    assert fansite.MarkovBoundary(estimator="gaussian", drop=ODD).fit(as_written).result_ == found.result_


def test_selectors_do_not_search_what_is_left_out(odd, values) -> None:
    X, y = odd.drop(columns="x5"), odd["x5"]
    plain = fansite.BoundarySelector(estimator="gaussian").fit(X.drop(columns=ODD), y)
    assert plain.support_.any()
    for table in (X, pl.from_pandas(X)):
        for said in ({"drop": ODD}, {"only": NAMES[:4]}):
            selector = fansite.BoundarySelector(estimator="gaussian", **said).fit(table, y)
            assert list(selector.get_feature_names_out()) == list(plain.get_feature_names_out())
            assert len(selector.support_) == X.shape[1]
    chosen = fansite.BoundarySelector(estimator="gaussian", drop=ODD).set_output(transform="pandas").fit_transform(X, y)
    assert list(chosen.columns) == list(plain.get_feature_names_out())
    numbers = fansite.BoundarySelector(estimator="gaussian", drop="x1").fit(values[:, :4], values[:, 4])
    assert not numbers.support_[0] and len(numbers.support_) == 4
    labelled = pd.DataFrame(values[:, :4])
    named = fansite.BoundarySelector(estimator="gaussian", drop=0).fit(labelled, values[:, 4])
    assert np.array_equal(named.support_, numbers.support_)


def test_labels_of_columns_that_are_left_out(odd, expected) -> None:
    table = odd.set_axis([*range(len(odd.columns))], axis=1)
    place = {name: i for i, name in enumerate(odd.columns)}
    found = fansite.MarkovBoundary(estimator="gaussian", drop=[place[name] for name in ODD]).fit(table)
    assert found.boundaries_ == {place[name]: [place[each] for each in members] for name, members in expected.items()}


def test_columns_that_are_left_out_have_to_be_there(odd) -> None:
    for said, sentence in (
        ({"drop": "idd"}, "no column is called 'idd'"),
        ({"only": ["TP53", "x6"]}, "no column is called 'x6'"),
        ({"drop": [*odd.columns]}, "every column is left out"),
        ({"drop": "x5", "context": "x5"}, "'x5' is context, so it cannot be left out"),
    ):
        for table in (odd, pl.from_pandas(odd)):
            with pytest.raises(ValueError, match=sentence):
                boundaries(table, **said)

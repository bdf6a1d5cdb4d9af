# SPDX-License-Identifier: Apache-2.0
"""Tables of all kinds give the same answer, with their names; what is no table is refused with a sentence."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import fansite

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
    assert boundaries(pd.DataFrame(single)) == boundaries(single)


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
    assert list(boundaries(pd.DataFrame(values))) == ["x1", "x2", "x3", "x4", "x5"]


def test_missing_cells(values) -> None:
    holes = pd.DataFrame(values, columns=NAMES)
    holes.iloc[3, 1] = np.nan
    for table in (holes, holes.astype("Float64"), pl.from_pandas(holes, nan_to_null=True)):
        with pytest.raises(ValueError, match="1 missing cell in column 'a b'"):
            boundaries(table, missing="error")
        with pytest.warns(fansite.DataWarning, match="1 rows with missing cells left out"):
            assert boundaries(table, missing="drop") == boundaries(holes.dropna())


@pytest.mark.parametrize(
    ("table", "error", "sentence"),
    [
        (pd.DataFrame({"a": [1.0], "b": ["text"]}), ValueError, "column 'b' holds .*not numbers. Drop it"),
        (pl.DataFrame({"a": [1.0], "b": ["text"]}), ValueError, "column 'b' holds no numbers"),
        (pl.DataFrame({"a": [1.0]}).lazy(), TypeError, r"Give X.collect\(\)"),
        (np.zeros(3), ValueError, "1 dimensions came instead of 2"),
        (np.array([["a", "b"]]), ValueError, r"X.astype\(float\)"),
        (pd.DataFrame([[1.0, 2.0]], columns=["a", "a"]), ValueError, "two columns are called 'a'"),
        (pd.DataFrame([[1.0, 2.0]], columns=["a", 1]), ValueError, "some columns have names and 1 has not"),
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

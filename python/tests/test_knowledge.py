# SPDX-License-Identifier: Apache-2.0
"""Knowledge: what it says, and that results satisfy it."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import fansite

NAMES = ["age", "diet", "pressure"]
TEXT = "tier 1: age\ntier 2: diet pressure\nrequire diet -> pressure\n"


def test_what_follows_from_the_lines() -> None:
    known = fansite.Knowledge(TEXT, NAMES)
    assert known.allows("age", "diet") and not known.allows("diet", "age")
    assert known.requires("diet", "pressure") and not known.requires("age", "diet")
    assert known.in_boundary("pressure", "diet") and not known.out_of_boundary("age", "diet")
    with pytest.raises(ValueError, match="no variable is called 'weight'"):
        known.allows("weight", "age")


def test_from_a_file(tmp_path) -> None:
    path = tmp_path / "rules.txt"
    path.write_text(TEXT)
    known = fansite.load_knowledge(path, NAMES)
    assert known == fansite.Knowledge(TEXT, NAMES)
    assert hash(known) == hash(fansite.Knowledge(TEXT, NAMES))
    with pytest.raises(FileNotFoundError, match="no/such"):
        fansite.load_knowledge("no/such", NAMES)


def test_contradictions_name_their_lines() -> None:
    with pytest.raises(ValueError, match="line 3"):
        fansite.Knowledge("tier 1: age\ntier 2: diet\nrequire diet -> age", NAMES)


def test_violations_of_a_graph() -> None:
    known = fansite.Knowledge(TEXT, NAMES)
    against = np.zeros((3, 3))
    against[1, 0] = 1  # diet -> age
    assert any("diet" in sentence and "age" in sentence for sentence in known.violations(against))
    satisfying = np.zeros((3, 3))
    satisfying[1, 2] = 1
    assert known.violations(satisfying) == []


def test_pickles() -> None:
    known = fansite.Knowledge(TEXT, NAMES)
    assert pickle.loads(pickle.dumps(known)) == known


def test_columns_may_be_in_another_order(linear) -> None:
    table = linear.to_pandas()
    known = fansite.Knowledge("not-in-boundary x1 x2\nin-boundary x3 x4", linear.names)
    turned = fansite.MarkovBoundary(knowledge=known).fit(table[table.columns[::-1]])
    assert "x4" in turned.boundaries_["x3"]
    assert "x2" not in turned.boundaries_["x1"]

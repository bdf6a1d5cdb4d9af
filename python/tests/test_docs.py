# SPDX-License-Identifier: Apache-2.0
"""Documents say what is so: their examples are run, and the reference is that of the docstrings."""

from __future__ import annotations

import doctest
import importlib
import runpy
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

import fansite

REPOSITORY = Path(__file__).resolve().parents[2]
MODULES = ["", "._boundary", "._compare", "._graph", "._entropy", "._selector", "._inspect", "._knowledge", "._methods", "._simulate", "._report", ".metrics", ".plots"]


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    module = importlib.import_module("fansite" + name)
    failed, _ = doctest.testmod(module, extraglobs={"fansite": fansite})
    assert failed == 0


def test_guide(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    failed, tried = doctest.testfile(str(REPOSITORY / "docs" / "python.md"), module_relative=False, encoding="utf-8")
    plt.close("all")
    assert failed == 0 and tried > 30


def test_reference_is_up_to_date() -> None:
    reference = runpy.run_path(str(REPOSITORY / "python" / "tools" / "api.py"))["reference"]()
    written = (REPOSITORY / "docs" / "api.md").read_text(encoding="utf-8")
    assert written == reference, "run make docs"


def test_options_are_up_to_date() -> None:
    options = runpy.run_path(str(REPOSITORY / "python" / "tools" / "options.py"))["text"]()
    written = (REPOSITORY / "docs" / "options.md").read_text(encoding="utf-8")
    assert written == options, "run make docs"


def test_example_of_feature_selection(capsys) -> None:
    main = runpy.run_path(str(REPOSITORY / "examples" / "python" / "select_features.py"))["main"]
    scores = main(["--quick"])
    everything, boundary, random = (scores.loc[name] for name in scores.index)
    assert boundary["features"] < everything["features"] / 3
    assert boundary["R2"] > everything["R2"] - 0.03
    assert boundary["R2"] > random["R2"] + 0.1
    assert "5-fold cross-validation" in capsys.readouterr().out

# SPDX-License-Identifier: Apache-2.0
"""Documents say what is so: their examples are run, and the reference is that of the docstrings."""

from __future__ import annotations

import doctest
import importlib
import re
import runpy
import subprocess
import textwrap
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

import fansite

REPOSITORY = Path(__file__).resolve().parents[2]
MODULES = ["", "._boundary", "._compare", "._read", "._graph", "._entropy", "._selector", "._inspect", "._knowledge", "._labels", "._methods", "._simulate", "._report", ".metrics", ".plots"]


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


def blocks_of_code() -> list[tuple[str, str]]:
    """Python in the guides that is no dialogue: indented or fenced, and about the package."""
    blocks = []
    for path in [REPOSITORY / "docs" / name for name in ("python.md", "tables.md")]:
        text = path.read_text(encoding="utf-8")
        found = re.findall(r"(?:^(?: {4}.*)?\n)+", text, re.M) + re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)
        blocks += [(path.name, textwrap.dedent(code)) for code in found if re.search(r"\bfansite\.\w+\(", code)]
    return blocks


def test_blocks_of_code_run(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    made = fansite.simulate(nodes=4, rows=200, random_state=8)
    made.to_pandas().set_axis(["diet", "salt", "pressure", "income"], axis=1).to_csv("study.csv", index=False)
    blocks = blocks_of_code()
    assert {name for name, _ in blocks} == {"python.md", "tables.md"}
    for name, code in blocks:
        exec(compile(code, name, "exec"), {"fansite": fansite, "NAME": "iamb"})


def test_readme(tmp_path, monkeypatch, capsys) -> None:
    pytest.importorskip("pandas")
    monkeypatch.chdir(tmp_path)
    section = (REPOSITORY / "README.md").read_text(encoding="utf-8").split("\n## Python\n")[1].split("\n## ")[0]
    lines = [line[4:] for line in section[section.index("    import pandas") :].splitlines() if line.startswith("    ") or not line]
    fansite.simulate(nodes=12, rows=500).to_pandas().to_csv("study.csv", index=False)
    exec("\n".join(lines), {})  # noqa: S102
    assert "nats, q = " in capsys.readouterr().out


@pytest.mark.parametrize("page", ["README.md", "docs/python.md"])
def test_lines_that_install_can_be_pasted(page, tmp_path) -> None:
    wheels = [tmp_path / "dist" / f"fansite-1.0-{python}-manylinux_2_34_x86_64.whl" for python in ("cp311-cp311", "cp312-abi3")]
    wheels[0].parent.mkdir()
    lines = re.findall(r"^    (pip install .*)", (REPOSITORY / page).read_text(encoding="utf-8"), re.M)
    assert lines
    for held in (wheels[:1], wheels[1:]):
        for wheel in wheels:
            wheel.unlink(missing_ok=True)
        held[0].touch()
        for line in lines:
            code = f"pip() {{ printf '%s\\n' \"$@\"; }}\n{line}"
            told = subprocess.run(["bash", "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
            assert told in (f"install\n{held[0].relative_to(tmp_path)}[all]\n", "install\n.[all]\n"), line
    assert any("dist/" in line for line in lines)


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

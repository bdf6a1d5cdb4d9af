# SPDX-License-Identifier: Apache-2.0
"""The notebooks in examples/ run from top to bottom, and what their words say is what comes out."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from support import PATIENCE

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "notebooks"
NOTEBOOKS = ["a_first_table", "features_for_a_classifier", "from_graph_to_effect"]


def output_of(name: str, folder: Path) -> str:
    """What all cells print and show, as text; an error in a cell is one here."""
    notebook = nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)
    patient = {"timeout": PATIENCE, "startup_timeout": PATIENCE}
    NotebookClient(notebook, **patient, resources={"metadata": {"path": str(folder)}}).execute()
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert any("text/html" in output.get("data", {}) for output in outputs)  # tables
    return "\n".join(output.get("text") or output.get("data", {}).get("text/plain", "") for output in outputs)


def numbers_after(words: str, text: str) -> list[float]:
    """The numbers of the line that begins so."""
    (line,) = (line for line in text.split("\n") if line.startswith(words))
    return [float(number) for number in re.findall(r"-?\d+\.\d+", line[len(words) :])]


def test_these_are_all_and_have_no_outputs() -> None:
    assert sorted(path.stem for path in FOLDER.glob("*.ipynb")) == NOTEBOOKS
    for name in NOTEBOOKS:
        notebook = nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)
        nbformat.validate(notebook)
        code = [cell for cell in notebook.cells if cell.cell_type == "code"]
        assert all(cell.outputs == [] and cell.execution_count is None for cell in code)


@pytest.mark.filterwarnings("ignore")  # of Jupyter
def test_a_first_table(tmp_path) -> None:
    text = output_of("a_first_table", tmp_path)
    assert "The Markov boundary of target is" in text
    (line,) = (line for line in text.split("\n") if line.startswith("in both halves and in the whole:"))
    assert "'bmi'" in line and "'s5'" in line
    assert text.endswith("True") and (tmp_path / "diabetes.html").exists()


@pytest.mark.filterwarnings("ignore")
def test_features_for_a_classifier(tmp_path) -> None:
    text = output_of("features_for_a_classifier", tmp_path)
    everything, boundary = (numbers_after(words, text)[0] for words in ("all 30 features:", "Markov boundary:"))
    (by_chance,) = re.findall(r"at random:\s+([\d.]+)", text)
    assert everything - boundary < 0.02 and boundary > float(by_chance)
    features = [int(count) for count in re.findall(r"fdr .*: (\d+) features", text)]
    assert len(features) == 3 and features == sorted(features) and features[0] < features[2] < 30


@pytest.mark.filterwarnings("ignore")
def test_from_graph_to_effect(tmp_path) -> None:
    pytest.importorskip("dowhy")
    text = output_of("from_graph_to_effect", tmp_path)
    (truth,) = numbers_after("truth:", text)
    (alone,), (all_else,) = (
        numbers_after("response on dose alone:", text),
        numbers_after("response on dose and all others:", text),
    )
    estimate, _, low, high = numbers_after(
        "one more unit of dose: ", text.split("truth:")[0].replace("(95 %", "(95.0 %")
    )
    assert low < truth < high and abs(estimate - truth) < 0.1
    assert abs(alone - truth) > 0.4 and abs(all_else - truth) > 0.4
    assert "adjust for: fitness" in text
    same, gone = numbers_after("with a random common cause:", text)
    assert abs(same - estimate) < 0.1 and gone < 0.1
    (undecided,) = re.findall(r"\[to_dowhy\] the data do not decide the direction of (.*), and DoWhy", text)
    assert re.search("dose -- appetite|appetite -- dose", undecided)  # which end comes first is for the last bits to say
    least, most = numbers_after("8 graphs, effects from", text)
    assert least == 0 and abs(most - truth) < 0.1
    known, true = numbers_after("one more unit of dose: ", text.rsplit("[to_dowhy]", 1)[1])
    assert abs(known - true) < 0.1

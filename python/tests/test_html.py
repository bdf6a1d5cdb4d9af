# SPDX-License-Identifier: Apache-2.0
"""Tables in notebooks: well-formed, escaped, and without colours that only one theme can show."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

import fansite

ATTACK = '<script>alert("x")</script>\'"><img src=x onerror=alert(1)>'
VOID = {"br", "img", "hr"}


class Page(HTMLParser):
    """Tags that are opened and closed, and the text between them."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.styles: set[str] = set()
        self.open: list[str] = []
        self.text = ""
        self.rows = 0
        self.feed(html)
        assert self.open == []

    def handle_starttag(self, tag, attrs) -> None:
        self.tags.add(tag)
        self.open.append(tag)
        self.rows += tag == "tr"
        self.attributes |= {name for name, _ in attrs}
        self.styles |= {value for name, value in attrs if name == "style"}

    def handle_endtag(self, tag) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data) -> None:
        self.text += data


@pytest.fixture(scope="module")
def table(small) -> pd.DataFrame:
    frame = small.to_pandas().rename(columns={"x3": ATTACK})
    return frame.assign(group=pd.Categorical(np.where(frame["x1"] > 0, ATTACK, "<b>")), same=1.0)


@pytest.fixture(scope="module")
def shown(table, tmp_path_factory, program) -> dict[str, str]:
    numbers = table.drop(columns=["group"])
    with pytest.warns(fansite.DataWarning, match="'same' is constant"):
        found = fansite.MarkovBoundary(estimator="gaussian").fit(numbers)
    with pytest.warns(fansite.DataWarning, match="'same' is constant"):
        graph = fansite.CausalGraph(estimator="gaussian").fit(numbers)
    path = tmp_path_factory.mktemp("html") / "data.csv"
    numbers.to_csv(path, index=False)
    read = {**fansite.from_json(graph.to_json()).__dict__}
    hidden = fansite.HiddenCause(ATTACK, "x1", 0.25, 1e-4)
    with_hidden = fansite.GraphResult(**{**read, "hidden_causes": [hidden], "complete": False, "unfinished": ATTACK})
    model = fansite.EntropyModel(estimator="gaussian").fit(numbers.drop(columns=["same"]))
    return {
        "boundaries": found._repr_html_(),
        "boundary": found.result_[ATTACK]._repr_html_(),
        "graph": graph._repr_html_(),
        "hidden": with_hidden._repr_html_(),
        "information": model.information("x1", [ATTACK, "x2"])._repr_html_(),
        "inspection": fansite.inspect(table)._repr_html_(),
        "plan": fansite.from_json(program.result("plan", path, "--estimator", "gaussian", "--json"))._repr_html_(),
    }


KINDS = ["boundaries", "boundary", "graph", "hidden", "information", "inspection", "plan"]


@pytest.mark.parametrize("kind", KINDS)
def test_names_cannot_attack(kind, shown) -> None:
    page = Page(shown[kind])
    assert page.tags <= {
        "table",
        "caption",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "span",
        "details",
        "summary",
        "ul",
        "li",
    }
    assert page.attributes <= {"style", "colspan", "open"}
    if kind != "plan":
        assert ATTACK[:20] in page.text  # it is there, as text


@pytest.mark.parametrize("kind", KINDS)
def test_tables_can_be_read_on_light_and_dark_pages(kind, shown) -> None:
    for style in Page(shown[kind]).styles:
        colours = re.findall(r"(?:^|;)(?:color|background|border)[^:]*:([^;]*)", style)
        assert set(colours) <= {"inherit", "currentColor"}


def test_what_tables_tell(shown, boundaries) -> None:
    assert "6 boundaries of 250 rows, gaussian estimator" in Page(shown["boundaries"]).text
    assert "column 'same' is constant" in Page(shown["boundaries"]).text
    assert "not in: " in shown["boundary"] and "opacity:0.6" in shown["boundary"]
    assert "→" in shown["graph"] and "of undecided direction" in shown["graph"]
    assert "1 pair that a cause outside the table may link" in shown["hidden"] and "0.25" in shown["hidden"]
    assert "not finished: &lt;script" in shown["hidden"]
    assert "information beyond the others" in shown["information"]
    inspected = Page(shown["inspection"]).text
    assert "250 rows × 7 columns" in inspected and 'group="NAME"' in inspected and "left out" in inspected
    assert "MB" in shown["plan"] and "searching" in shown["plan"]
    # The longest bar is that of the largest gain.
    target = max(boundaries.boundaries_, key=lambda name: len(boundaries.boundaries_[name]))
    gains = [each.gain for each in (*boundaries.result_[target].members, *boundaries.result_[target].near_misses)]
    widths = [float(width) for width in re.findall(r"width:([\d.]+)em", boundaries.result_[target]._repr_html_())]
    assert len(widths) == len(gains) and widths == pytest.approx(
        [4 * max(gain, 0) / max(gains) for gain in gains], abs=0.01
    )


def test_long_tables_are_cut() -> None:
    wide = fansite.simulate(nodes=30, rows=200, random_state=1)
    page = Page(fansite.MarkovBoundary().fit(wide.values)._repr_html_())
    assert page.rows == 22 and "… and 10 more" in page.text

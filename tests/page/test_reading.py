# SPDX-License-Identifier: Apache-2.0
"""What the page says, and that it can be read: nothing found, warnings, long names, a phone, paper, plans."""

import io
import re
import unicodedata

import pytest

pytest.importorskip("selenium")
pytest.importorskip("PIL")

from program import ROOT, needs, report  # noqa: E402
from results import add_diagnostics, network  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402

pytestmark = needs

LONG = [f"ENSG{i:011d}_expression_in_tissue_{i:02d}" for i in range(1, 21)]


@pytest.fixture(scope="session")
def long_names(folder):
    boundaries, graph = network(LONG, links_per_variable=2)
    add_diagnostics(boundaries)
    return boundaries, graph, report(folder, "long", boundaries, graph)


# ---- Nothing found --------------------------------------------------------------------------------------------------

def test_nothing_found_is_said_with_the_reason(browser, empty):
    browser.open(empty)
    said = browser.text("#nothing")
    assert browser.find("#nothing").is_displayed() and "Nothing was found" in said
    assert not browser.find("#graph").is_displayed()
    assert "false discovery rate 5" in said and "The closest was protein" in said
    assert "straight line" in said and "120 rows" in said
    assert "Nothing was found." in browser.text("#summary")
    assert not browser.find("#graph-filters").is_displayed() and not browser.find("#legend").is_displayed()
    browser.click("#theme")  # what remains works


def test_warnings_say_why_nothing_was_found(browser, folder):
    boundaries, _ = network(["a", "b", "c"])
    for entry in boundaries["boundaries"]:
        entry.update(members=[], path=[], near_misses=[])
    warning = "[mb] 2 boundaries are empty but cannot be, since their variables surely depend: 'a' on 'b' (p = 4e-45). What " \
              "relates them was not learnt; try another --estimator or more --effort, and do not take them for an answer"
    boundaries.update(moral_edges=[], warnings=[warning])
    browser.open(report(folder, "unlearnt", boundaries))
    assert "What relates them was not learnt; try another estimator or more effort" in browser.text("#nothing")


def test_a_graph_without_edges_says_so(browser, full, folder):
    boundaries, graph, _ = full
    browser.open(report(folder, "edgeless", boundaries, {**graph, "edges": [], "roles": []}))
    assert f"The causal graph has no edge: for none of {len(boundaries['moral_edges'])} linked pairs" in browser.text("#details")
    assert not browser.find("#nothing").is_displayed()
    # Nothing but a pair with a hidden cause is something, too.
    alone = {**graph, "edges": [], "roles": [], "links": [], "hidden_causes": [{"a": "x1", "b": "x2", "correlation": 0.4, "p_value": 1e-9}]}
    browser.open(report(folder, "hidden_alone", alone))
    assert not browser.find("#nothing").is_displayed() and "hidden cause" in browser.text("#legend")


def test_something_found_says_nothing_of_it(browser, full):
    browser.open(full[2])
    assert not browser.find("#nothing").is_displayed() and browser.find("#graph").is_displayed()


# ---- Warnings -------------------------------------------------------------------------------------------------------

def messages_of_the_program():
    """The literals of the library that name an option of the command line, each joined to a whole sentence."""
    literal = re.compile(r'(?:"(?:[^"\\]|\\.)*"\s*)+')
    for source in sorted((ROOT / "fansite").rglob("*.cpp")):
        for match in literal.finditer(source.read_text(encoding="utf-8")):
            text = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', match[0]))
            if re.search(r"--[a-z]", text) and re.match(r"\[[a-z]+\] ", text):
                yield text.replace("{}", "it").replace("\\n", " ").replace('\\"', '"')


def test_warnings_are_in_the_pages_words(browser, folder):
    boundaries, graph = network(["a", "--fdr", "[x]"])
    messages = list(dict.fromkeys(messages_of_the_program()))
    assert len(messages) > 15
    boundaries["warnings"] = ["[mb] of '--fdr' the linear boundaries tell more: more --effort may find them", *messages]
    browser.open(report(folder, "warned", boundaries, graph))
    shown = browser.texts("details.banner li")
    # Names stay as they are.
    assert shown[0] == "Boundaries. Of '--fdr' the linear boundaries tell more: more effort may find them."
    for sentence in shown[1:]:
        words = re.sub(r"'[^']*'", "", sentence)
        assert not re.search(r"--[a-z]", words) and not re.match(r"\W*\[", words), sentence


# ---- Long names -----------------------------------------------------------------------------------------------------

def test_names_shorten_in_the_middle(browser, long_names):
    browser.open(long_names[2])
    drawn = browser.value("fansiteGraph.painter.names.map(({ text }) => text)")
    assert len(drawn) > 8
    for name in drawn:
        start, end = name.split("\u2026")
        assert any(whole.startswith(start) and whole.endswith(end) for whole in LONG) and len(end) >= 8
    assert len(set(drawn)) == len(drawn)  # what tells them apart is still there


def test_the_whole_name_is_shown_on_hover_and_focus(browser, long_names):
    boundaries, _, page = long_names
    browser.open(page)
    x, y = browser.place_of(LONG[3])
    browser.hover_at(x, y)
    browser.wait("!document.getElementById('tip').hidden")
    assert browser.text("#tip") == LONG[3]
    browser.hover_at(5, 5)
    browser.wait("document.getElementById('tip').hidden")
    # In lists, where a name is cut: by the mouse, then by the keyboard.
    button = browser.find("#details .figures .name")
    name = button.get_attribute("aria-label")
    assert name in LONG and button.text.replace("\n", "") == name
    assert browser.value("arguments[0].querySelector('.start').scrollWidth > arguments[0].querySelector('.start').clientWidth", button)
    end = browser.value("(({ right }) => right)(arguments[0].querySelector('.end').getBoundingClientRect())", button)
    assert end <= browser.value("(({ right }) => right)(arguments[0].getBoundingClientRect())", button) + 1
    rect = button.rect
    browser.hover_at(rect["x"] + 20, rect["y"] + 8)
    browser.wait("!document.getElementById('tip').hidden")
    assert browser.text("#tip") == name
    browser.hover_at(5, 5)
    browser.wait("document.getElementById('tip').hidden")
    browser.find("#details").click()
    browser.press(Keys.TAB)
    browser.wait("!document.getElementById('tip').hidden")
    assert browser.text("#tip") == browser.value("document.activeElement.getAttribute('aria-label')")
    browser.press(Keys.ESCAPE)
    browser.wait("document.getElementById('tip').hidden")


# ---- A phone --------------------------------------------------------------------------------------------------------

# What sticks out of the screen, or out of a box that hides what sticks out. Names shorten on purpose.
CUT = """
    const cut = [];
    for (const element of document.querySelectorAll('body *')) {
        if (element.closest('.start, #announcer, .skip, svg, [hidden], script, noscript') || !element.getClientRects().length) continue;
        const { left, right, width } = element.getBoundingClientRect();
        if (width && (right > innerWidth + 1 || left < -1)) cut.push(element.outerHTML.slice(0, 120));
        if (['hidden', 'auto', 'scroll'].includes(getComputedStyle(element).overflowX) && element.scrollWidth > element.clientWidth + 1) cut.push('scrolls: ' + element.outerHTML.slice(0, 120));
    }
    return cut;"""


@pytest.mark.parametrize("page", ["full", "long_names", "thousand", "empty"])
def test_nothing_is_cut_on_a_phone(browser, request, page):
    file = request.getfixturevalue(page)
    browser.resize(400, 800)
    browser.open(file if page == "empty" else file[2])
    assert browser.value("document.documentElement.scrollWidth") <= 400
    assert browser.run(CUT) == []
    graph, details = (browser.find(selector).rect for selector in (".graph", "#details"))
    assert details["y"] >= graph["y"] + graph["height"]
    if page == "empty":
        return
    target = file[0]["variables"][4]
    browser.find("#search").send_keys(target, Keys.ENTER)
    browser.wait("graph.dataset.selected === arguments[0]", target)
    assert browser.run(CUT) == []
    # A row of a table tells what its figures are.
    labels = browser.value("[...document.querySelectorAll('#boundaries tbody tr:first-child td')].map((cell) => getComputedStyle(cell, '::before').content)")
    assert '"target"' in labels and '"gain"' in labels


def test_a_finger_scrolls_past_the_graph_until_it_is_tapped(browser, full):
    browser.resize(400, 800)
    browser.driver.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": True})
    try:
        browser.open(full[2])
        browser.run("document.activeElement.blur(); graph.scrollIntoView({ block: 'center', behavior: 'instant' })")
        where = "[scrollY, fansiteGraph.transform.y]"
        scroll, place = browser.value(where)
        x, y = browser.value("(({ left, bottom }) => [left + 30, bottom - 60])(graph.getBoundingClientRect())")
        browser.swipe(x, y, -120)
        browser.wait("scrollY > arguments[0] + 50", scroll)
        assert browser.value(where)[1] == place
        browser.run("graph.focus(); graph.scrollIntoView({ block: 'center', behavior: 'instant' })")
        scroll, place = browser.value(where)
        browser.swipe(x, y, -120)
        browser.wait("fansiteGraph.transform.y < arguments[0] - 50", place)
        assert browser.value(where)[0] == scroll
    finally:
        browser.driver.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": False})


def test_comparisons_and_plans_fit_a_phone(browser, compared, planned, folder):
    browser.resize(400, 800)
    browser.open_without_graph(report(folder, "small", compared, planned))
    assert browser.run(CUT) == []


# ---- Paper ----------------------------------------------------------------------------------------------------------

def sheets(browser):
    pypdf = pytest.importorskip("pypdf")
    text = [sheet.extract_text() for sheet in pypdf.PdfReader(io.BytesIO(browser.print_to_pdf())).pages]
    return [" ".join(unicodedata.normalize("NFKC", sheet).split()) for sheet in text]  # fonts join letters


def test_print_begins_with_summary_and_caveats(browser, full):
    browser.open(full[2])
    pages = sheets(browser)
    for words in ("30 variables", "Not finished.", "repeats 'x1'", "What this cannot tell you", "Hidden common causes are not modelled"):
        assert words in pages[0], words
    assert sum("What this cannot tell you" in page for page in pages) == 1
    # The graph has the second sheet for itself: its legend, and names.
    assert re.sub(r"x\d+|cause \u2192 effect|undecided|thicker: more evidence", "", pages[1]).strip() == "" != pages[1]
    assert "Strongest edges" in pages[2] or "STRONGEST EDGES" in pages[2]
    assert browser.value("document.getElementById('limits').parentNode.id") == "sections"  # back in its place


def test_long_tables_are_cut_on_paper(browser, thousand):
    boundaries, _, page = thousand
    browser.open(page)
    rows = sum(len(entry["members"]) for entry in boundaries["boundaries"])
    pages = sheets(browser)
    assert len(pages) < 60 and any(f"{rows - 400:,} more rows in the page itself" in page for page in pages)
    assert not any("click" in page for page in pages)
    shown = "document.querySelectorAll('#boundaries tbody tr').length"
    assert browser.value(shown) == 25
    browser.run("document.querySelector('#boundaries .more').click(); dispatchEvent(new Event('beforeprint'))")
    assert browser.value(shown) == rows  # as they are all wanted
    browser.run("dispatchEvent(new Event('afterprint'))")
    assert browser.value(shown) == rows


def test_print_keeps_lists_together(browser, folder):
    # Of different lengths, so that some list would meet the end of a sheet.
    for members in (3, 9, 14):
        names = ["target", *(f"member{i}" for i in range(1, 41))]
        boundaries, _ = network(names)
        entries = [{"name": f"member{i}", "gain": 1 / i, "se": 0.01, "p_value": 0.001, "q_value": 0.01} for i in range(1, members + 1)]
        misses = [{"name": f"member{i}", "gain": 0.001, "se": 0.01, "p_value": 0.4, "reason": "its evidence is within chance"} for i in range(20, 20 + members)]
        boundaries["boundaries"] = [{"target": "target", "entropy": 3, "conditional_entropy": 1, "members": entries, "near_misses": misses}]
        boundaries["moral_edges"] = [["target", entry["name"]] for entry in entries]
        browser.open(report(folder, f"lists{members}", boundaries))
        browser.find("#search").send_keys("target", Keys.ENTER)
        browser.wait("graph.dataset.selected === 'target'")
        pages = sheets(browser)
        for first, last in ((1, members), (20, 19 + members)):
            on = [number for number, page in enumerate(pages) if re.search(rf"member{first} [\d.]+ .*member{last} [\d.]+ ", page)]
            assert on and on[0] <= 4, (members, first)


# ---- Plans ----------------------------------------------------------------------------------------------------------

def test_a_plan_is_a_section(browser, planned, found, folder):
    browser.open_without_graph(report(folder, "plan", planned))
    assert "What it will take" in browser.texts("#contents a")
    assert browser.texts("#plan .phase") == [phase["name"] for phase in planned["phases"]]
    assert "MB of memory" in browser.text("#plan .lead") and " to " in browser.text("#plan .lead")
    assert "Planned:" in browser.text("#summary") and "300 rows \u00d7 10 variables" in browser.text("#summary")
    assert not browser.find("#graph").is_displayed()
    assert browser.texts("#limits strong") == ["A plan is a prediction."]
    # Beside what was planned, it says whether the plan held.
    boundaries, graph, _ = found
    browser.open(report(folder, "held", boundaries, graph, planned))
    assert "The run itself took" in browser.text("#plan .note")
    assert browser.find("#graph").is_displayed()

# SPDX-License-Identifier: Apache-2.0
"""The page of `fansite report` as its readers use it: drawn, clicked, searched, printed, attacked.

Run by `make test-page`.
"""

import csv

import pytest

pytest.importorskip("selenium")
pytest.importorskip("PIL")

from browser import PATIENCE, colour_counts, near  # noqa: E402
from program import needs, report  # noqa: E402
from results import add_diagnostics, network  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402
from selenium.webdriver.support.ui import WebDriverWait  # noqa: E402

pytestmark = needs

LIGHT = {"parent": "#0072b2", "child": "#d55e00", "spouse": "#009e73", "undecided": "#b5568f", "ground": "#ffffff"}
HOSTILE = ["</script><script>window.hacked=1</script>", "<img src=x onerror=window.hacked=1>", "=1+1", "\"quoted\", 'both'",
           "\u202egnirts", "line\nbreak", "__proto__", "constructor", "x" * 300, "{{data}}", "&lt;b&gt;", "name with blanks"]


# ---- Drawn ----------------------------------------------------------------------------------------------------------

def test_the_graph_is_drawn(browser, found):
    browser.open(found[2])
    image = browser.picture()
    assert image.width > 700 and image.height > 500
    counts = colour_counts(image)
    assert len(counts) > 30  # lines and names, smoothed
    ink = image.width * image.height - near(image, LIGHT["ground"], 3)
    assert 0.01 < ink / (image.width * image.height) < 0.3
    # Nothing is chosen, so no colour of a role is there.
    for role in ("parent", "child", "spouse", "undecided"):
        assert near(image, LIGHT[role]) == 0, role


def test_says_what_it_is(browser, found):
    boundaries, graph, page = found
    browser.open(page)
    summary = browser.text("#summary")
    assert "300 rows × 10 variables" in summary
    assert f"{len(boundaries['moral_edges'])} linked pairs" in summary
    assert f"{len(graph['edges'])} edges" in summary
    assert browser.text("h1") == "fansite report: 10 variables, 300 rows"
    claims = " ".join(browser.texts("#limits strong"))
    assert "Hidden common causes are not modelled" in claims and "additive noise" in claims


def test_loads_nothing(browser, found):
    browser.open(found[2])
    assert browser.value("performance.getEntriesByType('resource').length") == 0
    blocked = browser.driver.execute_async_script(
        "const done = arguments[0]; fetch('http://127.0.0.1:9/').then(() => done('went out'), (error) => done(String(error)))")
    assert "TypeError" in blocked
    assert any("Content Security Policy" in line for line in browser.errors())


def test_is_small(folder):
    boundaries, graph = network([f"gene{i}" for i in range(1, 101)])
    add_diagnostics(boundaries)
    assert report(folder, "small_file", boundaries, graph).stat().st_size < 2_000_000


@pytest.mark.parametrize("kind", [0, 1])
def test_one_result_is_enough(browser, found, folder, kind):
    result = found[kind]
    browser.open(report(folder, f"only{kind}", result))
    target = result["variables"][0]
    browser.click_variable(target)
    assert browser.text("#details h2") == target


def test_pairs_of_a_graph_alone_are_its_links(browser, full, folder):
    browser.open(report(folder, "links", {**full[1], "links": [["x1", "x2"], ["x1", "x3"]]}))
    assert "2 linked pairs" in browser.text("#summary")


def test_shows_only_what_results_have(browser, found, full):
    browser.open(found[2])
    assert not browser.driver.find_elements("css selector", "#training, #calibration, .banner")
    browser.open(full[2])
    assert browser.text(".banner.serious") == "Not finished. The time budget ran out."
    assert "Column 'x3' repeats 'x1'." in browser.text("details.banner")
    assert browser.value("document.querySelectorAll('#training .line').length") == 2
    assert browser.value("document.querySelectorAll('#calibration .bar').length") == 20
    assert "00112233aabbccdd" in browser.text("#run")
    for fact in ["networks", "25000", "regressions", "321", "rows used"]:
        assert fact in browser.text("#run")


# ---- Used -----------------------------------------------------------------------------------------------------------

def test_a_click_shows_the_boundary(browser, full):
    boundaries, graph, page = full
    browser.open(page)
    entry = max((entry for entry in boundaries["boundaries"] if entry["near_misses"]), key=lambda entry: len(entry["members"]))
    browser.click_variable(entry["target"])
    assert browser.text("#details h2") == entry["target"]
    assert sorted(browser.texts("#details .members .name")) == sorted(member["name"] for member in entry["members"])
    assert browser.texts("#details .misses .name") == [miss["name"] for miss in entry["near_misses"]]
    assert "its evidence is within chance" in browser.text("#details .misses")
    assert browser.value("document.querySelectorAll('#details .members .whisker').length") == len(entry["members"])
    assert entry["target"] in browser.text("#announcer")
    image = browser.picture()
    present = {member["role"] for role in graph["roles"] if role["target"] == entry["target"] for member in role["members"]}
    for role in ("parent", "child", "spouse", "undecided"):
        assert (near(image, LIGHT[role]) > 15) == (role in present), role
    # To a neighbour, by its name.
    name = browser.find("#details .members .name").text
    browser.click("#details .members .name")
    browser.wait("graph.dataset.selected === arguments[0]", name)
    assert browser.value("document.activeElement.textContent") == name  # the keyboard goes along
    # And away, by a click beside everything.
    left, top = browser.value("(({ left, top }) => [left, top])(graph.getBoundingClientRect())")
    browser.click_at(round(left) + 3, round(top) + 3)
    browser.wait("graph.dataset.selected === ''")
    assert browser.text("#details h2") == "How to read this"


def test_search(browser, full):
    browser.open(full[2])
    browser.press("/")
    browser.wait("document.activeElement.id === 'search'")
    browser.press("X2")
    assert browser.texts("#matches bdi")[0] == "x2"
    assert len(browser.texts("#matches bdi")) == 11  # x2, x20 to x29
    browser.press(Keys.ARROW_DOWN)
    assert browser.text("#matches [aria-selected=true] bdi") == "x20"
    browser.press(Keys.ENTER)
    browser.wait("graph.dataset.selected === 'x20'")
    assert browser.value("document.getElementById('matches').hidden")
    browser.find("#search").send_keys("nothing like it")
    assert browser.texts("#matches li") == ["no such variable"]
    browser.press(Keys.ESCAPE)
    assert browser.value("document.getElementById('search').value") == ""
    assert browser.selected() == "x20"


def test_keyboard(browser, full):
    browser.open(full[2])
    # Everything can be reached with Tab, and what has the focus can be seen.
    reached = []
    for _ in range(24):
        browser.driver.switch_to.active_element.send_keys(Keys.TAB)
        reached.append(browser.value("document.activeElement.id || document.activeElement.textContent"))
        if reached[-1] == "graph":
            break
    assert {"search", "theme", "print", "graph", "Causal graph", "Moral graph", "Fit", "strength", "decided"} <= set(reached)
    assert browser.value("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    before = browser.picture()
    browser.press(Keys.ARROW_DOWN)
    pointed = browser.text("#announcer")
    assert "Enter selects" in pointed
    assert colour_counts(browser.picture()) != colour_counts(before)
    browser.press(Keys.ENTER)
    chosen = pointed.split(",")[0]
    browser.wait("graph.dataset.selected === arguments[0]", chosen)
    browser.press(Keys.ARROW_DOWN, Keys.ENTER)
    browser.wait("graph.dataset.selected !== arguments[0]", chosen)
    browser.press(Keys.ESCAPE)
    browser.wait("graph.dataset.selected === ''")


def test_pairs_with_a_hidden_cause_are_drawn_apart(browser, folder, full):
    boundaries, graph, plain = full
    browser.open(plain)
    assert "hidden" not in browser.text("#legend")
    assert near(browser.picture(), LIGHT["undecided"]) == 0
    names = graph["variables"]
    told = {**graph, "hidden_causes": [{"a": names[1], "b": names[20], "correlation": 0.4, "p_value": 1e-9}]}
    browser.open(report(folder, "hidden", boundaries, told))
    assert "hidden cause" in browser.text("#legend")
    assert near(browser.picture(), LIGHT["undecided"]) > 20


def test_both_graphs(browser, full):
    browser.open(full[2])
    causal = browser.picture()
    assert "undecided" in browser.text("#legend")
    browser.click("button[data-value=moral]")
    assert browser.value("document.querySelector('button[data-value=moral]').getAttribute('aria-pressed')") == "true"
    assert "boundary" in browser.text("#legend") and "undecided" not in browser.text("#legend")
    assert colour_counts(browser.picture()) != colour_counts(causal)
    browser.click("button[data-value=free]")
    browser.wait("graph.dataset.settled === 'true'")
    assert near(browser.picture(), LIGHT["ground"], 3) > 0


def test_zoom_drag_and_fit(browser, found):
    browser.open(found[2])
    name = found[0]["variables"][3]
    browser.click("button[data-value=free]")
    browser.wait("graph.dataset.settled === 'true'")
    start = browser.place_of(name)
    browser.drag(start, (start[0] + 60, start[1] + 40))
    browser.wait("graph.dataset.settled === 'true'")
    moved = browser.place_of(name)
    assert abs(moved[0] - start[0] - 60) <= 2 and abs(moved[1] - start[1] - 40) <= 2
    assert browser.selected() == ""  # a drag is no click
    browser.prefer(reduced_motion="reduce")
    browser.open(found[2])
    first, second = browser.place_of("x1"), browser.place_of("x2")
    browser.click("[aria-label='Zoom in']")
    wide = [abs(a - b) for a, b in zip(browser.place_of("x1"), browser.place_of("x2"))]
    assert max(wide) > 1.3 * max(abs(a - b) for a, b in zip(first, second))
    browser.click("[aria-label='Fit the whole graph']")
    assert max(abs(a - b) for a, b in zip(browser.place_of("x1"), first)) <= 1


def test_dark(browser, full):
    browser.prefer(colour_scheme="dark")
    browser.open(full[2])
    assert browser.value("document.documentElement.dataset.theme") == "dark"
    assert near(browser.picture(), "#182028", 3) > 100_000
    browser.click_variable("x9")
    assert near(browser.picture(), "#56b4e9") + near(browser.picture(), "#f08a3c") > 30
    browser.click("#theme")
    assert near(browser.picture(), LIGHT["ground"], 3) > 100_000
    browser.prefer(colour_scheme="light")
    browser.prefer(colour_scheme="dark")
    assert browser.value("document.documentElement.dataset.theme") == "light"  # what was chosen stays


# ---- Tables ---------------------------------------------------------------------------------------------------------

def downloaded(browser, folder, file, button):
    """The bytes of what a button downloads."""
    target = folder / "downloads"
    target.mkdir(exist_ok=True)
    (target / file).unlink(missing_ok=True)
    browser.driver.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(target)})
    browser.run("arguments[0].click()", button)
    WebDriverWait(browser.driver, PATIENCE, poll_frequency=0.02).until(lambda _: (target / file).exists())
    return (target / file).read_bytes()


def table(browser, folder, section):
    text = downloaded(browser, folder, f"{section}.csv", browser.find(f"#{section} .download")).decode()
    return list(csv.DictReader(text.splitlines(keepends=True)))


def test_tables_download(browser, full, folder):
    boundaries, graph, page = full
    browser.open(page)
    rows = table(browser, folder, "boundaries")
    assert [(row["target"], row["member"]) for row in rows if row["target"] == "x1"] != []
    expected = {(entry["target"], member["name"]): member["gain"] for entry in boundaries["boundaries"] for member in entry["members"]}
    assert {(row["target"], row["member"]) for row in rows} == set(expected)
    for row in rows:
        assert float(row["gain"]) == pytest.approx(expected[row["target"], row["member"]], rel=1e-5)
    edges = table(browser, folder, "edges")
    assert [(edge["from"], edge["to"], edge["directed"]) for edge in edges] == \
        [(edge["from"], edge["to"], str(edge["directed"]).lower()) for edge in graph["edges"]]
    assert len(table(browser, folder, "near-misses")) == sum(len(entry["near_misses"]) for entry in boundaries["boundaries"])
    image = downloaded(browser, folder, "graph.png", browser.find("[aria-label='Download the picture as PNG']"))
    assert image.startswith(b"\x89PNG")


def test_tables_sort_and_open(browser, full):
    boundaries, _, page = full
    browser.open(page)
    total = sum(len(entry["members"]) for entry in boundaries["boundaries"])
    assert len(browser.texts("#boundaries tbody tr")) == 25
    browser.run("document.querySelector('#boundaries .more').click()")
    assert len(browser.texts("#boundaries tbody tr")) == total
    browser.run("[...document.querySelectorAll('#boundaries th button')].find((button) => button.textContent === 'gain').click()")
    assert browser.value("document.querySelector('#boundaries th[aria-sort]').textContent") == "gain"
    largest = max((member["gain"], entry["target"]) for entry in boundaries["boundaries"] for member in entry["members"])
    assert browser.text("#boundaries tbody tr td") == largest[1]
    shown = browser.value("document.querySelector('#boundaries tbody td[data-label=gain]').textContent")
    assert float(shown) == pytest.approx(largest[0], rel=0.01)


def test_print(browser, full):
    browser.prefer(colour_scheme="dark")
    browser.open(full[2])
    browser.run("""window.addEventListener('beforeprint', () => { window.printed = [document.documentElement.dataset.theme,
        document.querySelectorAll('#boundaries tbody tr').length]; });""")
    pdf = browser.driver.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})["data"]
    assert len(pdf) > 50_000
    theme, rows = browser.value("window.printed")
    assert theme == "light" and rows > 25
    browser.wait("document.documentElement.dataset.theme === 'dark'")
    assert len(browser.texts("#boundaries tbody tr")) == 25


# ---- Methods compared -----------------------------------------------------------------------------------------------

def test_a_comparison_alone_is_a_page(browser, compared, folder):
    browser.open_without_graph(report(folder, "compared", compared))
    assert "3 methods compared" in browser.text("#summary")
    assert not browser.find("#graph").is_displayed() and not browser.find("#search").is_displayed()
    rows = browser.texts("#methods tbody tr")
    assert browser.texts("#methods tbody td:first-child") == ["iamb", "stmb", "kmb"]
    assert "2 out of time" in rows[2] and "2 done" in rows[0]
    best = compared["summary"][0]["scores"]["F1"]["mean"]
    assert f"{100 * best:.1f}\u00a0\u00b1\u00a0" in rows[0]
    assert len(browser.texts("#agreement .matrix tbody tr")) == 3
    assert browser.texts("#agreement .matrix tbody tr")[2].count("\u2013") == 3
    browser.find("#theme").click()
    assert browser.value("document.documentElement.dataset.theme") == "dark"


def test_a_comparison_beside_other_results(browser, found, compared, folder):
    boundaries, graph, _ = found
    browser.open(report(folder, "beside", compared, boundaries, graph))
    assert browser.texts("#contents a")[:2] == ["Methods compared", "How far the methods agree"]
    browser.run("document.querySelector('#alone tbody button.name').click()")  # wherever it is
    browser.wait("graph.dataset.selected === 'x1'")
    claims = " ".join(browser.texts("#limits strong"))
    assert "Agreement is not truth" in claims


def test_the_comparison_downloads_as_csv(browser, compared, folder):
    browser.open_without_graph(report(folder, "csv", compared))
    rows = table(browser, folder, "methods")
    assert [row["method"] for row in rows] == ["iamb", "stmb", "kmb"]
    assert float(rows[0]["F1"]) == pytest.approx(compared["summary"][0]["scores"]["F1"]["mean"], rel=1e-5)
    assert float(rows[0]["F1_sd"]) == pytest.approx(compared["summary"][0]["scores"]["F1"]["sd"], rel=1e-5)
    assert rows[2]["F1"] == ""


# ---- Attacked, and large --------------------------------------------------------------------------------------------

def test_hostile_names(browser, folder):
    boundaries, graph = network(HOSTILE, links_per_variable=3)
    boundaries["warnings"] = [HOSTILE[0], HOSTILE[1]]
    browser.open(report(folder, "hostile", boundaries, graph))
    elements = browser.value("document.querySelectorAll('script, img, iframe').length")
    for name in HOSTILE:
        browser.click_variable(name)
        assert browser.text("#details h2") == name.replace("\n", "\u2423")
    browser.find("#search").send_keys("<img")
    assert browser.texts("#matches bdi") == [HOSTILE[1]]
    browser.press(Keys.ENTER)
    browser.wait("graph.dataset.selected === arguments[0]", HOSTILE[1])
    assert browser.value("window.hacked") is None
    assert browser.value("document.querySelectorAll('script, img, iframe').length") == elements == 2
    assert browser.text("h1") == "Page <hostile>"
    # Names survive the CSV; what a spreadsheet would run does not.
    targets = {row["target"] for row in table(browser, folder, "boundaries")}
    linked = {entry["target"] for entry in boundaries["boundaries"] if entry["members"]}
    assert targets == {"'=1+1" if name == "=1+1" else name for name in linked}


def test_reduced_motion(browser, full):
    browser.prefer(reduced_motion="reduce")
    browser.open(full[2])
    browser.find("#search").send_keys("x17", Keys.ENTER)
    browser.wait("graph.dataset.selected === 'x17'")
    assert browser.value("getComputedStyle(document.documentElement).scrollBehavior") == "auto"

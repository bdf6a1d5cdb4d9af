# SPDX-License-Identifier: Apache-2.0
"""The page for readers who do not see it, or not well: axe-core's rules, in every state and theme."""

from pathlib import Path

import pytest

pytest.importorskip("selenium")
pytest.importorskip("PIL")
axe_core_python = pytest.importorskip("axe_core_python")

from program import needs, report  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402

pytestmark = needs

AXE = (Path(axe_core_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8")


def violations(browser, rules=None):
    """What axe-core objects to on the page as it is, by all rules or some: rule, and the elements."""
    browser.driver.execute_script(AXE)
    options = {"resultTypes": ["violations"], **({"runOnly": rules} if rules else {})}
    found = browser.driver.execute_async_script("""
        const [options, done] = arguments;
        axe.run(document, options).then((result) => done(result.violations), (error) => done([{ id: String(error), nodes: [] }]));""", options)
    return [(rule["id"], [node["html"][:160] for node in rule["nodes"][:3]]) for rule in found]


def test_axe_is_not_blind(browser, full):
    browser.open(full[2])
    browser.run("document.body.append(document.createElement('input'))")
    assert "label" in [rule for rule, _ in violations(browser)]


@pytest.mark.parametrize("page", ["found", "full", "thousand", "empty"])
def test_rules_of_accessibility(browser, request, page):
    file = request.getfixturevalue(page)
    browser.prefer(colour_scheme="light")
    browser.open(file if page == "empty" else file[2])
    assert violations(browser) == []
    browser.click("#theme")  # which changes colours and nothing else
    assert violations(browser, ["color-contrast"]) == []


@pytest.mark.parametrize("page", ["full", "thousand"])
def test_rules_while_it_is_used(browser, request, page):
    boundaries, _, file = request.getfixturevalue(page)
    browser.prefer(colour_scheme="light")
    browser.open(file)
    target = boundaries["variables"][4]
    browser.find("#search").send_keys(target)
    assert violations(browser) == []
    browser.press(Keys.ENTER)
    browser.wait("graph.dataset.selected === arguments[0]", target)
    browser.set("#steps", 1)
    assert violations(browser) == []
    browser.click("#theme")
    assert violations(browser, ["color-contrast"]) == []


def test_rules_on_a_phone(browser, full):
    browser.resize(400, 800)
    browser.open(full[2])
    assert violations(browser) == []


def test_rules_of_comparisons_and_plans(browser, compared, planned, folder):
    browser.prefer(colour_scheme="light")
    browser.open_without_graph(report(folder, "beside_plan", compared, planned))
    assert violations(browser) == []
    browser.click("#theme")
    assert violations(browser, ["color-contrast"]) == []


def test_every_control_has_a_name(browser, full):
    browser.open(full[2])
    assert browser.value("""[...document.querySelectorAll('button, input, select, canvas, [role=region]')]
        .filter((control) => !(control.getAttribute('aria-label') || control.textContent.trim() || control.labels?.length))
        .map((control) => control.outerHTML)""") == []

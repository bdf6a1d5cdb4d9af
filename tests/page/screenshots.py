# SPDX-License-Identifier: Apache-2.0
"""Pictures of pages for the README and docs: python tests/page/screenshots.py docs/images. Run by `make screenshots`, after
`make demo`; a page of a thousand variables is made here."""

import sys
import tempfile
from pathlib import Path

from browser import Browser, missing
from program import PROGRAM, fansite


def take(browser, picture):
    browser.run("scrollTo({ top: 0, behavior: 'instant' })")
    browser.rest()
    browser.driver.save_screenshot(str(picture))
    print(f"{picture}: {picture.stat().st_size / 1000:.0f} kB")


def a_thousand_variables(folder):
    fansite("simulate", "--nodes", 1000, "--graph", "sf", "--degree", 1, "--noise", "mixed", "--rows", 2000, "--seed", 3,
            "--out", "s", "--quiet", folder=folder)
    fansite("mb", "s/data.csv", "--estimator", "gaussian", "--out", "b.json", "--quiet", folder=folder)
    fansite("report", "b.json", "--title", "A thousand variables", "--out", "page.html", "--quiet", folder=folder)
    return Path(folder) / "page.html"


def main(folder):
    if missing():
        sys.exit(missing())
    images, demo = Path(folder), Path(PROGRAM).parent / "demo/curved/report.html"
    browser = Browser(width=1280, height=800)
    try:
        browser.prefer(colour_scheme="light")
        browser.open(demo)
        browser.click_variable("x13")
        take(browser, images / "report-light.png")
        browser.resize(400, 1000)
        browser.open(demo)
        browser.click_variable("x13")
        take(browser, images / "report-phone.png")
        browser.resize(1280, 800)
        browser.prefer(colour_scheme="dark")
        browser.open(demo)
        take(browser, images / "report-dark.png")
        browser.prefer(colour_scheme="light")
        with tempfile.TemporaryDirectory() as made:
            browser.open(a_thousand_variables(made))
            take(browser, images / "report-clusters.png")
    finally:
        browser.quit()


if __name__ == "__main__":
    main(*sys.argv[1:])

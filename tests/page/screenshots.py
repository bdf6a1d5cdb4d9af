# SPDX-License-Identifier: Apache-2.0
"""Pictures of a page for the README: python tests/page/screenshots.py page.html docs/images. Run by `make screenshots`."""

import sys
from pathlib import Path

from browser import Browser, missing


def main(page, folder):
    if missing():
        sys.exit(missing())
    browser = Browser(width=1280, height=800)
    try:
        for theme in ("light", "dark"):
            browser.prefer(colour_scheme=theme)
            browser.open(page)
            if theme == "light":
                browser.click_variable("x13")
            browser.drawn_frames(40)  # until the view has come to rest
            picture = Path(folder) / f"report-{theme}.png"
            browser.driver.save_screenshot(str(picture))
            print(f"{picture}: {picture.stat().st_size / 1000:.0f} kB")
    finally:
        browser.quit()


if __name__ == "__main__":
    main(*sys.argv[1:])

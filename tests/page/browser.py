# SPDX-License-Identifier: Apache-2.0
"""Debian's Chromium, without a window, and a page of `fansite report` in it."""

import base64
import io
import shutil
from pathlib import Path

from PIL import Image
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.actions.action_builder import ActionBuilder
from selenium.webdriver.support.ui import WebDriverWait

CHROMIUM = shutil.which("chromium")
DRIVER = shutil.which("chromedriver")  # named, as selenium would else look for one on the network
PATIENCE = 90  # seconds until a condition that does not come true is a failure, on a busy machine too


def missing():
    """What is not installed, in words; empty if nothing is."""
    return "" if CHROMIUM and DRIVER else "chromium or chromium-driver is not installed: tools/setup.sh page"


class Browser:
    def __init__(self, width=1440, height=900):
        options = webdriver.ChromeOptions()
        options.binary_location = CHROMIUM
        for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=Service(DRIVER))
        self.driver.set_page_load_timeout(PATIENCE)
        self.driver.set_script_timeout(PATIENCE)
        self.driver.execute_cdp_cmd("Performance.enable", {})
        self.resize(width, height)

    def quit(self):
        self.driver.quit()

    # ---- The page

    def resize(self, width, height):
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                    {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})

    def prefer(self, **features):
        """What the reader's system asks for: colour_scheme="dark", reduced_motion="reduce"."""
        names = {"colour_scheme": "prefers-color-scheme", "reduced_motion": "prefers-reduced-motion"}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {
            "features": [{"name": names[key], "value": value} for key, value in features.items()]})

    def open(self, path):
        self.driver.get(Path(path).resolve().as_uri())
        self.wait("document.documentElement.dataset.ready && graph.dataset.settled === 'true'")

    def open_without_graph(self, path):
        self.driver.get(Path(path).resolve().as_uri())
        self.wait("document.documentElement.dataset.ready")

    def run(self, script, *arguments):
        return self.driver.execute_script(f"const graph = document.getElementById('graph'); {script}", *arguments)

    def value(self, expression, *arguments):
        return self.run(f"return {expression}", *arguments)

    def wait(self, expression, *arguments):
        return WebDriverWait(self.driver, PATIENCE, poll_frequency=0.02).until(lambda _: self.value(expression, *arguments))

    def computed(self):
        """Seconds that the page's thread has computed since it began: other work on the machine does not count."""
        metrics = self.driver.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
        return next(metric["value"] for metric in metrics if metric["name"] == "ThreadTime")

    def errors(self):
        """What the console complained of since the last call."""
        return [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]

    # ---- The reader

    def find(self, selector):
        return self.driver.find_element("css selector", selector)

    def text(self, selector):
        return self.value("document.querySelector(arguments[0]).textContent", selector)

    def texts(self, selector):
        return self.value("[...document.querySelectorAll(arguments[0])].map((found) => found.textContent)", selector)

    def place_of(self, name):
        """Of a variable in the window, in pixels."""
        x, y = self.value("fansitePlaceOf(arguments[0])", name)
        corner = self.value("(({ left, top }) => [left, top])(graph.getBoundingClientRect())")
        return round(corner[0] + x), round(corner[1] + y)

    def click_at(self, x, y):
        actions = ActionBuilder(self.driver)
        actions.pointer_action.move_to_location(x, y).click()
        actions.perform()

    def hover_at(self, x, y):
        actions = ActionBuilder(self.driver)
        actions.pointer_action.move_to_location(round(x), round(y))
        actions.perform()

    def set(self, selector, value):
        """A slider or a list, as the reader sets it."""
        self.run("""const control = arguments[0];
            control.value = arguments[1];
            for (const kind of ['input', 'change']) control.dispatchEvent(new Event(kind));""", self.find(selector), str(value))

    def swipe(self, x, y, distance, steps=8):
        """A finger that moves up (negative) or down."""
        def send(kind, points):
            self.driver.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
        send("touchStart", [{"x": x, "y": y}])
        for step in range(1, steps + 1):
            send("touchMove", [{"x": x, "y": y + distance * step / steps}])
            self.drawn_frames(1)
        send("touchEnd", [])
        self.drawn_frames(20)  # of the page that rolls on

    def print_to_pdf(self):
        """A4 sheets, as bytes."""
        return base64.b64decode(self.driver.execute_cdp_cmd("Page.printToPDF", {
            "printBackground": True, "paperWidth": 8.27, "paperHeight": 11.69, "preferCSSPageSize": True})["data"])

    def click(self, selector):
        """On an element, once it is in view: smooth scrolling would move it away from under the pointer."""
        element = self.find(selector)
        self.run("arguments[0].scrollIntoView({ block: 'center', behavior: 'instant' })", element)
        element.click()

    def drag(self, start, end):
        actions = ActionBuilder(self.driver)
        actions.pointer_action.move_to_location(*start).pointer_down().move_to_location(*end).pointer_up()
        actions.perform()

    def click_variable(self, name):
        self.run("graph.scrollIntoView({ block: 'center', behavior: 'instant' })")
        self.click_at(*self.place_of(name))
        self.wait("graph.dataset.selected === arguments[0]", name)

    def press(self, *keys):
        active = self.driver.switch_to.active_element
        active.send_keys(*keys)

    def selected(self):
        return self.value("graph.dataset.selected")

    def drawn_frames(self, count=2):
        """Waits until so many frames have been drawn, with what was asked for in them."""
        self.driver.execute_async_script("""
            const done = arguments[arguments.length - 1];
            const next = (left) => (left ? requestAnimationFrame(() => next(left - 1)) : done());
            next(arguments[0]);""", count)

    def rest(self):
        """Waits until the graph is laid out, its view has come to rest, and all of it is drawn."""
        self.drawn_frames()
        self.wait("graph.dataset.settled === 'true' && !graph.__transition && !fansiteGraph.drawing")

    def picture(self, selector="#graph"):
        self.drawn_frames()
        return Image.open(io.BytesIO(self.find(selector).screenshot_as_png)).convert("RGB")


def colour_counts(image):
    """How many pixels there are of each colour."""
    return {colour: count for count, colour in image.getcolors(image.width * image.height)}


def near(image, colour, tolerance=24):
    """Pixels within `tolerance` of a colour given as "#rrggbb"."""
    wanted = [int(colour[at:at + 2], 16) for at in (1, 3, 5)]
    return sum(count for found, count in colour_counts(image).items()
               if all(abs(a - b) <= tolerance for a, b in zip(found, wanted)))

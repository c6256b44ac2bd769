"""A real browser for tests: Chromium without a window, driven through two pipes by the DevTools protocol."""

import fcntl
import json
import os
import select
import shutil
import signal
import time
from base64 import b64decode
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from explored import fit

from tparafac2.report import write_page

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-component-update",
    "--remote-debugging-pipe",
)
PATIENCE = 60


class Chromium:
    """A running browser. It reads commands from its descriptor 3 and writes answers and events to 4."""

    def __init__(self, program, folder):
        to_browser, self.commands = os.pipe()
        self.answers, from_browser = os.pipe()
        log = os.open(folder / "browser.log", os.O_WRONLY | os.O_CREAT, 0o600)
        # 3 and 4 may be among these descriptors themselves: copies above them are not in each other's way.
        ours = [fcntl.fcntl(one, fcntl.F_DUPFD_CLOEXEC, 10) for one in (to_browser, from_browser, log)]
        self.pid = os.posix_spawn(
            program,
            [program, *FLAGS, f"--user-data-dir={folder / 'profile'}", "about:blank"],
            os.environ,
            file_actions=[
                (os.POSIX_SPAWN_DUP2, ours[2], 1),
                (os.POSIX_SPAWN_DUP2, ours[2], 2),
                (os.POSIX_SPAWN_DUP2, ours[0], 3),
                (os.POSIX_SPAWN_DUP2, ours[1], 4),
            ],
            setpgroup=0,
        )
        for one in (to_browser, from_browser, log, *ours):
            os.close(one)
        self.buffer = b""
        self.events = []
        self.number = 0
        self.spare = []  # tabs that were closed: to use one again takes half the time of a new one

    def call(self, method, session=None, **params):
        """Send a command and give its result; events that come meanwhile are kept."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.commands, data) :]
        deadline = time.monotonic() + PATIENCE
        while True:
            answer = self._read(deadline, method)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def wait_for(self, method, session):
        """Read on until an event has come."""
        deadline = time.monotonic() + PATIENCE
        while not any(e.get("method") == method and e.get("sessionId") == session for e in self.events):
            self.events.append(self._read(deadline, method))

    def _read(self, deadline, what):
        while b"\0" not in self.buffer:
            if not select.select([self.answers], [], [], max(0.0, deadline - time.monotonic()))[0]:
                raise TimeoutError(f"the browser did not answer within {PATIENCE} s: {what}")
            piece = os.read(self.answers, 1 << 20)
            if not piece:
                raise RuntimeError(f"the browser has ended: {what}")
            self.buffer += piece
        message, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(message)

    def close(self):
        os.close(self.commands)  # it ends when nobody can command it any more
        for _ in range(50):
            if os.waitpid(self.pid, os.WNOHANG)[0]:
                break
            time.sleep(0.1)
        else:
            os.killpg(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self.answers)


class Tab:
    """One page in the browser, and everything it complained about or asked the network for."""

    def __init__(self, browser, *, width=1280, height=900, dark=False, touch=False):
        self.browser = browser
        self.session = browser.spare.pop() if browser.spare else self._new_session()
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=touch,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", media="", features=[scheme])

    def _new_session(self):
        target = self.browser.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.browser.call(f"{domain}.enable", session)
        return session

    def call(self, method, **params):
        return self.browser.call(method, self.session, **params)

    def open(self, path):
        self._go_to(Path(path).resolve().as_uri())
        return self

    def _go_to(self, url):
        self.browser.events.clear()
        self.call("Page.navigate", url=url)
        self.browser.wait_for("Page.loadEventFired", self.session)

    def run(self, script):
        """Evaluate JavaScript in the page and give its value (a promise's when it is kept)."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{script}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def until(self, script, seconds=15):
        """Wait until a condition holds in the page."""
        deadline = time.monotonic() + seconds
        while not self.run(script):
            if time.monotonic() > deadline:
                raise TimeoutError(f"never came true: {script}")
            time.sleep(0.02)

    def text(self, selector):
        return self.run(f"document.querySelector({json.dumps(selector)}).textContent")

    def texts(self, selector):
        return self.run(
            f"[...document.querySelectorAll({json.dumps(selector)})].map((one) => one.textContent)"
        )

    def click(self, selector):
        """Press the mouse where an element is, as a person would."""
        place = self.run(
            f"(() => {{ const one = document.querySelector({json.dumps(selector)});"
            "one.scrollIntoView({block: 'center', behavior: 'instant'});"
            "const box = one.getBoundingClientRect();"
            "return {x: box.x + box.width / 2, y: box.y + box.height / 2}; })()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, button="left", buttons=1, clickCount=1, **place)

    def press(self, key, text=None, shift=False):
        """Press a key on whatever has the focus."""
        codes = {"Tab": 9, "Enter": 13, " ": 32, "End": 35, "Home": 36, "ArrowLeft": 37, "ArrowRight": 39}
        common = {"key": key, "windowsVirtualKeyCode": codes.get(key, 0), "modifiers": 8 if shift else 0}
        if text is None:
            text = {"Enter": "\r", " ": " "}.get(key)
        self.call("Input.dispatchKeyEvent", type="keyDown", **common, **({"text": text} if text else {}))
        self.call("Input.dispatchKeyEvent", type="keyUp", **common)

    def saved(self, selector, folder):
        """Press a button that saves a file, and give the file."""
        before = set(folder.iterdir())
        self.browser.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(folder))
        self.click(selector)
        deadline = time.monotonic() + PATIENCE
        while not (new := [one for one in set(folder.iterdir()) - before if "crdownload" not in one.name]):
            if time.monotonic() > deadline:
                raise TimeoutError(f"nothing was saved: {selector}")
            time.sleep(0.02)
        return new[0]

    def pages(self):
        """Print to PDF, and count its pages."""
        data = b64decode(self.call("Page.printToPDF", printBackground=True)["data"])
        return data.count(b"/Type /Page\n") or data.count(b"/Type /Page") - data.count(b"/Type /Pages")

    def type(self, text):
        self.call("Input.insertText", text=text)

    def complaints(self):
        """Errors in the console, and requests for anything but the page itself and data in it."""
        self.run("0")  # so that everything said before has arrived
        found = []
        for event in self.browser.events:
            if event.get("sessionId") != self.session:
                continue
            params = event["params"]
            match event["method"]:
                case "Runtime.exceptionThrown":
                    found.append(params["exceptionDetails"])
                case "Runtime.consoleAPICalled" if params["type"] in ("error", "warning", "assert"):
                    found.append(params["args"])
                case "Log.entryAdded" if params["entry"]["level"] in ("error", "warning"):
                    found.append(params["entry"])
                case "Page.javascriptDialogOpening":
                    found.append(params)
                case "Network.requestWillBeSent" if not params["request"]["url"].startswith(
                    ("file:", "data:", "blob:")
                ):
                    found.append(params["request"]["url"])
        return found

    def picture(self, path, *, whole=True):
        """Save what the page looks like."""
        data = self.call("Page.captureScreenshot", captureBeyondViewport=whole, **self._clip(whole))["data"]
        Path(path).write_bytes(b64decode(data))

    def _clip(self, whole):
        if not whole:
            return {}
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        return {"clip": {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}}

    def close(self):
        self._go_to("about:blank")
        self.browser.spare.append(self.session)


@pytest.fixture(scope="session")
def find_program():
    """Give a function that finds the browser; without one tests are skipped, but not where all has to run."""

    def find():
        program = next(filter(None, map(shutil.which, NAMES)), None)
        if program is None:
            sentence = f"there is no browser to open the page in: install one of {', '.join(NAMES)}"
            (pytest.fail if os.environ.get("CI") else pytest.skip)(sentence)
        return program

    return find


@pytest.fixture(scope="session")
def browser(find_program, tmp_path_factory):
    chromium = Chromium(find_program(), tmp_path_factory.mktemp("browser"))
    yield chromium
    chromium.close()


@pytest.fixture
def tab(browser):
    """Give a function that opens a page in a tab of its own."""
    tabs = []

    def open_page(path, **looks):
        tabs.append(Tab(browser, **looks))
        return tabs[-1].open(path)

    yield open_page
    for one in tabs:
        one.close()


@pytest.fixture
def show(tab, tmp_path):
    """Write a result as a page and open it; nothing may go wrong with that."""

    def write_and_open(result=None, looks=None, **options):
        if (X := options.get("data")) is not None:  # the page takes no other data than those of the fit
            left, seen = X - result.reconstruct(), ~np.isnan(X)
            explained = 1 - np.square(left[seen]).sum() / np.square(X[seen]).sum()
            result = replace(result, explained_variance=float(explained))
        path = write_page(result or fit(), tmp_path / "50% & #1.html", **options)
        page = tab(path, **(looks or {}))
        page.until("document.documentElement.dataset.ready || !document.getElementById('failure').hidden")
        assert page.complaints() == []
        assert page.run("document.documentElement.dataset.ready") == "yes"
        return page

    return write_and_open

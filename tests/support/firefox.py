"""Debian's Firefox, by WebDriver BiDi: it speaks that itself, so nothing is installed beside it."""

from __future__ import annotations

import base64
import json
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from subprocess import DEVNULL, Popen, TimeoutExpired
from tempfile import TemporaryDirectory
from typing import Any

from websockets.sync.client import ClientConnection, connect

PATIENCE_SECONDS = 30.0
LOOK_AGAIN_SECONDS = 0.05
# https://www.w3.org/TR/webdriver2/#keyboard-actions
KEYS = {"Control": "\ue009", "Enter": "\ue007", "Escape": "\ue00c", "PageDown": "\ue00f"}
LISTEN = """(tell) => addEventListener("securitypolicyviolation", (refused) => {
  tell(`${refused.violatedDirective} ${refused.blockedURI}`);
})"""


def what_is_missing() -> str:
    """Returns what has to be installed first; empty if nothing is missing. Firefox alone would do, but `make test` does
    without browsers: what they need tells `make console-test` from it."""
    if find_spec("playwright") is None:
        return "a real browser needs `make console-setup`"
    if not _path():
        return "a second browser needs Firefox: `apt-get install firefox-esr`, or BATON_FIREFOX names another"
    return ""


@dataclass
class Firefox:
    """``said``: what pages have written to the console, their uncaught errors, and what their policy has refused.
    ``asked``: the address of each request."""

    socket: ClientConnection
    said: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    _numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        number = next(self._numbers)
        self.socket.send(json.dumps({"id": number, "method": method, "params": params}))
        while True:
            told = json.loads(self.socket.recv(timeout=PATIENCE_SECONDS))
            if told.get("id") == number:
                if told["type"] == "error":
                    raise RuntimeError(f"{method}: {told['error']}: {told['message']}")
                result: dict[str, Any] = told["result"]
                return result
            self._heard(told)

    def person(self) -> Person:
        """Somebody with cookies of their own, at a window of their own."""
        return Person(self, self.call("browser.createUserContext")["userContext"])

    def listen(self) -> None:
        self.call("session.new", capabilities={})
        self.call("session.subscribe", events=["log.entryAdded", "network.beforeRequestSent", "script.message"])
        channel = {"type": "channel", "value": {"channel": "policy"}}
        self.call("script.addPreloadScript", functionDeclaration=LISTEN, arguments=[channel])

    def _heard(self, told: dict[str, Any]) -> None:
        params = told["params"]
        if told["method"] == "log.entryAdded":
            frames = (params.get("stackTrace") or {}).get("callFrames", ())
            places = " ".join(f"{each['url']}:{each['lineNumber']}" for each in frames)
            self.said.append(f"{params['level']}: {params['text']} {places}")
        elif told["method"] == "script.message":
            self.said.append(f"refused by the policy: {params['data']['value']}")
        elif told["method"] == "network.beforeRequestSent":
            self.asked.append(params["request"]["url"])


@dataclass(frozen=True)
class Person:
    firefox: Firefox
    context: str

    def tab(self, url: str) -> Tab:
        made = self.firefox.call("browsingContext.create", type="tab", userContext=self.context)
        tab = Tab(self.firefox, made["context"])
        tab.goto(url)
        return tab

    def leave(self) -> None:
        self.firefox.call("browser.removeUserContext", userContext=self.context)


@dataclass(frozen=True)
class Tab:
    firefox: Firefox
    context: str

    def goto(self, url: str) -> None:
        self.firefox.call("browsingContext.navigate", context=self.context, url=url, wait="complete")

    def reload(self) -> None:
        self.firefox.call("browsingContext.reload", context=self.context, wait="complete")

    def front(self) -> None:
        self.firefox.call("browsingContext.activate", context=self.context)

    def js(self, expression: str) -> Any:
        """Returns the value of an expression, or of its promise: a text, a number, a truth value or None."""
        told = self.firefox.call(
            "script.evaluate", expression=expression, target={"context": self.context}, awaitPromise=True
        )
        if told["type"] == "exception":
            raise RuntimeError(told["exceptionDetails"]["text"])
        return told["result"].get("value")

    def until(self, expression: str) -> None:
        """Returns once the expression is true of the page.

        :raises TimeoutError: It hasn't been for so long; says what the page shows."""
        end = time.monotonic() + PATIENCE_SECONDS
        while not self.js(f"Boolean({expression})"):
            if time.monotonic() > end:
                raise TimeoutError(f"{expression}\n{self.js('location.href')}\n{self.js('document.body.innerText')}")
            time.sleep(LOOK_AGAIN_SECONDS)

    def shows(self, *texts: str) -> None:
        for text in texts:
            self.until(f"document.body.innerText.includes({json.dumps(text)})")

    def hears(self, text: str) -> None:
        """Returns once Firefox has told something with this text; it tells such things when it likes."""
        end = time.monotonic() + PATIENCE_SECONDS
        while not any(text in each for each in self.firefox.said):
            if time.monotonic() > end:
                raise TimeoutError(f"{text}\n{self.firefox.said}")
            self.js("true")
            time.sleep(LOOK_AGAIN_SECONDS)

    def press(self, *keys: str) -> None:
        """Presses one key after the other, as a person does; of ``Control+k`` the first is held meanwhile."""
        actions: list[dict[str, Any]] = []
        for key in keys:
            codes = [KEYS.get(each, each) for each in (key.split("+") if len(key) > 1 else [key])]
            actions += [{"type": "keyDown", "value": code} for code in codes]
            actions += [{"type": "keyUp", "value": code} for code in reversed(codes)]
        made = {"type": "key", "id": "keyboard", "actions": actions}
        self.firefox.call("input.performActions", context=self.context, actions=[made])

    def type(self, text: str) -> None:
        self.press(*text)

    def picture(self, path: Path) -> None:
        taken = self.firefox.call("browsingContext.captureScreenshot", context=self.context)
        path.write_bytes(base64.b64decode(taken["data"]))


@contextmanager
def firefox() -> Iterator[Firefox]:
    """Yields a browser without a window and with a profile of its own, which is gone afterwards."""
    with TemporaryDirectory(prefix="baton-firefox-", ignore_cleanup_errors=True) as profile:
        port = ["--remote-debugging-port", "0"]
        environment = {**os.environ, "HOME": profile}
        asked = [_path(), "--headless", "--no-remote", "--profile", profile, *port]
        with Popen(asked, stdout=DEVNULL, stderr=DEVNULL, env=environment) as process:
            try:
                with connect(_address(Path(profile)), max_size=None, compression=None) as socket:
                    browser = Firefox(socket)
                    browser.listen()
                    yield browser
            finally:
                process.terminate()
                try:
                    process.wait(PATIENCE_SECONDS)
                except TimeoutExpired:
                    process.kill()


def _address(profile: Path) -> str:
    """Waits until it listens, on 127.0.0.1, at a port of its choice."""
    told, end = profile / "WebDriverBiDiServer.json", time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < end:
        if told.is_file() and (text := told.read_text(encoding="utf-8")):
            return f"ws://127.0.0.1:{json.loads(text)['ws_port']}/session"
        time.sleep(LOOK_AGAIN_SECONDS)
    raise TimeoutError("Firefox has started, and doesn't listen")


def _path() -> str:
    return os.environ.get("BATON_FIREFOX") or shutil.which("firefox-esr") or shutil.which("firefox") or ""

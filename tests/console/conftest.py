"""A real browser: Debian's Chromium, in the hands of Playwright. Where either is missing these tests are skipped, and
say so.

`make console-setup` brings Playwright and axe; `apt-get install chromium` the browser, or BATON_CHROMIUM names another.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest

from baton.bootstrap import forget_all
from support.chromium import chromium, what_is_missing
from support.worlds.console_desk import Desk, furnished
from support.worlds.console_server import ConsoleServer, serving
from support.worlds.world import human

ALICE = human()
WHILE_MS = 15_000
_numbers = count(1)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    if missing := what_is_missing():
        pytest.skip(missing)
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="session")
def expect(browser: Any) -> Any:
    """Playwright's assertions: what a page is to show, and shows within a while."""
    assertions = pytest.importorskip("playwright.sync_api").expect
    assertions.set_options(timeout=WHILE_MS)
    return assertions


@pytest.fixture(autouse=True)
def function_environment(monkeypatch: pytest.MonkeyPatch, scrubbed_environment: None) -> Iterator[None]:
    """What template.yaml gives every function."""
    monkeypatch.setenv("BATON_TABLE", "baton-test")
    monkeypatch.setenv("BATON_PUBLIC_URL", "https://baton.example")
    monkeypatch.setenv("BATON_LOG_LEVEL", "CRITICAL")
    monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", f"console-test-{next(_numbers)}")
    monkeypatch.setenv("POWERTOOLS_METRICS_NAMESPACE", "Baton")
    forget_all()
    yield
    forget_all()


@pytest.fixture
def served(browser: Any) -> Iterator[ConsoleServer]:
    with serving() as server:
        yield server


@pytest.fixture
def desk(served: ConsoleServer) -> Desk:
    return furnished(served)


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """A tab of its own. It may ask nothing of another origin, and says nothing on its console."""
    context = browser.new_context(viewport={"width": 1360, "height": 860})
    context.set_default_timeout(WHILE_MS)
    tab = context.new_page()
    said: list[str] = []
    asked: list[str] = []
    tab.on("console", lambda message: said.append(message.text))
    tab.on("pageerror", lambda error: said.append(str(error)))
    tab.on("request", lambda request: asked.append(request.url))
    yield tab
    origins = {url.split("/", 3)[2] for url in asked if url.startswith("http")}
    context.close()
    assert len(origins) <= 1, origins
    # A refusal that the test asked for is in the browser's own log: it has no other place for it.
    assert [text for text in said if "Failed to load resource" not in text] == []


@pytest.fixture
def signed_in(page: Any, served: ConsoleServer, desk: Desk) -> Any:
    """The tab of a person who has just signed in."""
    page.goto(f"{served.url}#/approvals")
    page.get_by_label("Your token").fill(served.token(ALICE))
    page.keyboard.press("Enter")
    page.get_by_text("6 waiting").wait_for()
    return page

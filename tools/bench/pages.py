"""How fast the console's pages are in a real browser: pauses of a long list, and the first view of a deployment.

Both are wall time of this machine, its browser included.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from statistics import median
from typing import Any, NamedTuple
from unittest.mock import patch

from baton.bootstrap import forget_all
from support.chromium import chromium, what_is_missing
from support.worlds.console_desk import furnished
from support.worlds.console_server import ConsoleServer, serving
from support.worlds.deployed import Deployed
from support.worlds.tenant import new_workspace
from support.worlds.world import human
from tools.bench.tables import table
from tools.stack.stack import Stack

ROWS, ROUNDS, VIEWS = 1_000, 3, 8
WORDS = "Task 770"
FRAME_MS = 16
FUNCTION = {
    "BATON_TABLE": "bench",
    "BATON_PUBLIC_URL": "https://baton.example",
    "BATON_LOG_LEVEL": "CRITICAL",
    "POWERTOOLS_SERVICE_NAME": "bench-pages",
    "POWERTOOLS_METRICS_NAMESPACE": "Baton",
}
VIEWPORT = {"width": 1360, "height": 860}
# Chromium reports tasks of its main thread that took more than 50 ms.
WATCH = """() => {
  const seen = window.__pauses = { long: [], frames: [] };
  new PerformanceObserver((list) => seen.long.push(...list.getEntries().map((each) => each.duration)))
    .observe({ type: "longtask" });
  let last = performance.now();
  const next = (now) => { seen.frames.push(now - last); last = now; requestAnimationFrame(next); };
  requestAnimationFrame(next);
}"""
# Long tasks are reported a moment later.
TAKE = """() => new Promise((done) => setTimeout(() => {
  const { long, frames } = window.__pauses;
  done([frames.splice(0), long.splice(0)]);
}, 100))"""
PAINTED = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0"


class Pauses(NamedTuple):
    """In ms: how long each frame took, and each task of the main thread over 50 ms."""

    frames: list[float]
    long: list[float]


class View(NamedTuple):
    """In seconds: to the first paint, from a sign-in by link to the first list, from a reload to it."""

    paint: float
    first: float
    again: float


def show_pages(stack: Stack) -> None:
    if missing := what_is_missing():
        print(f"\nThe console's pages: skipped, {missing}.")
        return
    with chromium() as browser:
        _show_pauses(browser)
        _show_views(browser, stack)


@contextmanager
def watching(page: Any) -> Iterator[Callable[[], Pauses]]:
    """Yields what takes the pauses since it was last called."""
    page.evaluate(WATCH)

    def take() -> Pauses:
        return Pauses(*page.evaluate(TAKE))

    take()
    yield take


def _show_pauses(browser: Any) -> None:
    rows = []
    for name, pauses in _pauses(browser).items():
        longest = max(pauses.long, default=0)
        shown = (len(pauses.frames), median(pauses.frames), max(pauses.frames), len(pauses.long), longest)
        rows.append([name, *(f"{each:.0f}" for each in shown)])
    table(
        f"A list of {ROWS:,} tasks in Chromium: frames and pauses, in ms",
        ("", "frames", "p50", "worst", "tasks over 50 ms", "longest"),
        rows,
        f"{ROUNDS} times each. The list is read again every two seconds meanwhile.",
    )


def _pauses(browser: Any) -> dict[str, Pauses]:
    acts: dict[str, Callable[[Any], None]] = {
        "scrolling": _scroll,
        "typing a filter": _type,
        "taking it back": _untype,
        "j, row by row": _go,
    }
    seen = {name: Pauses([], []) for name in acts}
    with _long_list(browser) as page, watching(page) as take:
        for _ in range(ROUNDS):
            for name, act in acts.items():
                act(page)
                for kept, new in zip(seen[name], take(), strict=True):
                    kept.extend(new)
    return seen


@contextmanager
def _long_list(browser: Any) -> Iterator[Any]:
    with _function(), serving() as served, _tab(browser) as page:
        furnished(served)
        _sign_in(page, served)
        listed = served.gateway.get(human(), "/tasks").json["items"][0]
        many = [{**listed, "id": f"task_{number:026}", "title": f"Task {number}"} for number in range(ROWS)]
        page.route(re.compile(r"/tasks\?"), lambda route: route.fulfill(json={"items": many, "next_cursor": None}))
        page.goto(f"{served.url}#/tasks")
        page.get_by_text(f"{ROWS:,} shown").wait_for()
        yield page


@contextmanager
def _function() -> Iterator[None]:
    """What template.yaml gives every function, and no logs; the sections after this one begin anew."""
    with patch.dict(os.environ, FUNCTION):
        forget_all()
        yield
    forget_all()


def _sign_in(page: Any, served: ConsoleServer) -> None:
    page.goto(served.url)
    page.get_by_label("Your token").fill(served.token(human()))
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Start").wait_for()


def _scroll(page: Any) -> None:
    box = page.locator(".table").bounding_box()
    page.mouse.move(box["x"] + 200, box["y"] + 200)
    for _ in range(120):
        page.mouse.wheel(0, 300)
        page.wait_for_timeout(FRAME_MS)


def _type(page: Any) -> None:
    page.get_by_label("Words").focus()
    for key in WORDS:
        page.keyboard.press(key)
        page.wait_for_timeout(4 * FRAME_MS)
    page.get_by_text("1 shown").wait_for()


def _untype(page: Any) -> None:
    for _ in WORDS:
        page.keyboard.press("Backspace")
        page.wait_for_timeout(4 * FRAME_MS)
    page.get_by_text(f"{ROWS:,} shown").wait_for()


def _go(page: Any) -> None:
    page.locator(".table").focus()
    for _ in range(60):
        page.keyboard.press("j")
        page.wait_for_timeout(FRAME_MS)


def _show_views(browser: Any, stack: Stack) -> None:
    with stack.http() as http:
        tenant = new_workspace(Deployed(stack, http))
        tenant.needing()
        codes = (tenant.human.post("/session-codes")["code"] for _ in range(VIEWS + 1))
        begun, *views = [_view(browser, f"{stack.api_url}/console/#code={code}") for code in codes]
    rows = [[name, *(f"{each:.2f}" for each in view)] for name, view in _summary(views).items()]
    table(
        "The console of a deployment, in s: each time a browser that has never seen it",
        ("", "first paint", "signed in by link, to the first list", "reload, to the list"),
        [*rows, ["the first of all", *(f"{each:.2f}" for each in begun)]],
        f"{VIEWS} times. The first of all waits for functions that start.",
    )


def _summary(views: list[View]) -> dict[str, View]:
    columns = list(zip(*views, strict=True))
    return {"median": View(*map(median, columns)), "worst": View(*map(max, columns))}


def _view(browser: Any, url: str) -> View:
    with _tab(browser) as page:
        first = _until_listed(page, lambda: _follow(page, url))
        paint = page.evaluate(PAINTED) / 1_000
        return View(paint, first, _until_listed(page, page.reload))


def _follow(page: Any, url: str) -> None:
    page.goto(url)
    page.get_by_role("button", name="Sign in by the link").click()


def _until_listed(page: Any, act: Callable[[], Any]) -> float:
    begun = time.perf_counter()
    act()
    page.get_by_role("link", name="1 to approve").wait_for()
    return time.perf_counter() - begun


@contextmanager
def _tab(browser: Any) -> Iterator[Any]:
    context = browser.new_context(viewport=VIEWPORT)
    try:
        yield context.new_page()
    finally:
        context.close()

"""The console that somebody keeps open all day, in a workspace of 5,000 tasks of a day and 100,000 of a month: in a
real browser, on a deployed local stack.

`MINUTES` says for how long memory is watched (2 by itself; 30 for the figures in docs/console.md), `TASKS` how many
tasks the month has.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from statistics import median
from typing import Any

import httpx

from baton.adapters.dynamodb.query_parser import parse_queries_as_json
from baton.domain.access.principal import PrincipalKind
from support.chromium import chromium, what_is_missing
from support.worlds.deployed import Deployed
from support.worlds.tenant import Tenant, new_workspace
from tools.bench.find import show_find
from tools.bench.month import Month
from tools.bench.probe import Held, Kept, Probe
from tools.bench.tables import pasted
from tools.stack.stack import Stack

TASKS, TODAY = 100_000, 5_000
MINUTES = 2.0
ROUNDS = 5
VIEWPORT = {"width": 1360, "height": 860}
IDLE_SECONDS, CHANGES = 60, 6
ROW = ".table tbody tr[data-at]"
# What the review of an earlier release measured, with 5,000 tasks of a day and no bell.
BEFORE = {"Tasks": ("5.3 to 7.7", "40 to 65")}
HEADINGS = (
    *("page", "first row s", "from another page s", "key p95 ms", "worst", "main thread: opening", "keys", "changes"),
    *("over 50 ms", "CPU s", "first row before"),
)
NO_BELL = re.compile("^ws")


@dataclass(frozen=True)
class Looked:
    """A page: its address, its first row, and the keys that are pressed on it, once ``field`` has the focus."""

    path: str
    row: str
    keys: list[str]
    field: str = ""


def pages_of(month: Month) -> dict[str, Looked]:
    task = f"#/tasks/{month.chain_task}"
    down, about = ["j"] * 20 + ["k"] * 5, ["?", "Escape"] * 8
    return {
        "Start": Looked("#/start", ".tile.some", about),
        "Approvals": Looked("#/approvals", ".item", ["j"] * 12 + ["m"] * 5 + ["Escape"]),
        "Tasks": Looked("#/tasks", ROW, down),
        "Tasks, a filter typed": Looked("#/tasks", ROW, [*"order 00", *["Backspace"] * 8], "Words"),
        "Search": Looked("#/search?q=lock+file", ROW, down),
        "Alerts": Looked("#/alerts", ".alerts li", down),
        "How it goes": Looked("#/stats?since=month", "main .numbers tbody tr", about),
        "Decisions": Looked("#/decisions", ROW, down),
        "Agents": Looked("#/agents", ROW, ["j"] * 9 + ["k"] * 9),
        f"A task of a chain of {month.chained}": Looked(task, ".task h1", about),
        "Its chain, searched": Looked(task, ".chain li", [*"order 00", *["Backspace"] * 8], "Find in the chain"),
    }


@dataclass
class Desk:
    """A browser, and somebody who is signed in in each tab that it opens."""

    browser: Any
    tenant: Tenant
    console: str

    @contextmanager
    def tab(self, *, has_bell: bool = True) -> Iterator[Probe]:
        context = self.browser.new_context(viewport=VIEWPORT)
        context.set_default_timeout(120_000)
        try:
            page = context.new_page()
            if not has_bell:
                page.route_web_socket(NO_BELL, lambda socket: socket.close(code=1008))
            probe = Probe(self.browser, page)
            page.goto(f"{self.console}#code={self.tenant.human.post('/session-codes')['code']}")
            page.get_by_role("button", name="Sign in by the link").click()
            page.get_by_role("heading", name="Start").wait_for()
            yield probe
            session_id = page.evaluate("() => JSON.parse(sessionStorage.getItem('baton.session')).id")
            self.tenant.human.ok("DELETE", f"/tokens/{session_id}")  # nobody has many
        finally:
            context.close()

    def happens(self) -> None:
        """Somebody asks for something, and takes it back; on a busy machine it may come to nothing."""
        asked = {"source": {"agent": "scout"}, "target": {"agent": "auditor", "reason": "Look at order 4711"}}
        with suppress(httpx.TimeoutException):
            self.tenant.human.post(f"/tasks/{self.tenant.human.post('/handoffs', asked)['task']['id']}/cancel")


def show_desk(stack: Stack) -> None:
    if missing := what_is_missing():
        print(f"\nThe console's desk: skipped, {missing}.")
        return
    with stack.http(timeout_seconds=120) as http, chromium() as browser:
        deployed = Deployed(stack, http)
        tenant = new_workspace(deployed)
        client = stack.aws("dynamodb")
        parse_queries_as_json(client.meta.events)
        in_all = int(os.environ.get("TASKS") or TASKS)
        human, today = tenant.principal(PrincipalKind.HUMAN, "alice"), min(TODAY, in_all // 2)
        month = Month(deployed.deps, human, client, stack.table, in_all, today).fill()
        show_find(month)
        show(Desk(browser, tenant, f"{stack.api_url}/console/"), month)


def show(desk: Desk, month: Month) -> None:
    pages = pages_of(month)
    rows = [(name, _measured(desk, page)) for name, page in pages.items()]
    lines = [[name, *shown, *BEFORE.get(name, ("", ""))[:1]] for name, shown in rows]
    load = f"load {os.getloadavg()[0]:.1f}"
    pasted(
        f"A page with {month.today:,} tasks of a day and {month.in_all:,} of a month, in Chromium; {load}",
        HEADINGS,
        lines,
        "First row: opened anew, and from another page; median and worst, in seconds. Key: p95 and worst until it was\n"
        "painted, in ms. Main thread: its longest task in ms, and of the processor alone in brackets: while the page\n"
        "opens, while keys are pressed, while something changes each second and a half. Over 50 ms: how many tasks.\n"
        "CPU: seconds of the main thread to open the page.",
    )
    each_once = {page.path: name for name, page in reversed(pages.items())}
    watched = {name: page for name, page in pages.items() if each_once[page.path] == name}
    _show_idle(desk, watched)
    _show_memory(desk, watched)


def _measured(desk: Desk, page: Looked) -> list[str]:
    url = desk.console + page.path
    with desk.tab() as probe:
        probe.opened(url, page.row)  # functions have started, files are in the browser's store
        opened, within, spent = [], [], []
        for _ in range(ROUNDS):
            probe.gone_to("#/notifications", "main h1")
            within.append(probe.gone_to(page.path, page.row) / 1_000)
        with probe.traced() as held:
            for _ in range(ROUNDS):
                opened.append(probe.opened(url, page.row) / 1_000)
                probe.page.wait_for_timeout(1_000)
                spent.append(probe.metrics()["TaskDuration"])
        probe.page.wait_for_timeout(3_000)
        if page.field:
            probe.page.get_by_label(page.field).first.focus()
        with probe.traced() as pressing:
            took = probe.presses(page.keys)
        with probe.traced() as changing:
            for _ in range(CHANGES):
                desk.happens()
                probe.page.wait_for_timeout(1_500)
    phases: list[Held] = [*held, *pressing, *changing]
    firsts = [f"{median(each):.2f}, {max(each):.2f}" for each in (opened, within)]
    keys = [f"{took[len(took) * 95 // 100]:.0f}", f"{took[-1]:.0f}"]
    return [*firsts, *keys, *map(str, phases), str(sum(each.long for each in phases)), f"{median(spent):.2f}"]


@contextmanager
def _all_open(desk: Desk, pages: dict[str, Looked], *, has_bell: bool = True) -> Iterator[dict[str, Probe]]:
    with ExitStack() as stack:
        probes = {name: stack.enter_context(desk.tab(has_bell=has_bell)) for name in pages}
        for name, probe in probes.items():
            probe.opened(desk.console + pages[name].path, pages[name].row)
        yield probes


def _show_idle(desk: Desk, pages: dict[str, Looked]) -> None:
    told: dict[str, list[str]] = {name: [] for name in pages}
    for has_bell in (True, False):
        with _all_open(desk, pages, has_bell=has_bell) as probes:
            _pass(probes, 20)
            asked = {name: len(probe.asked) for name, probe in probes.items()}
            spent = {name: probe.metrics()["TaskDuration"] for name, probe in probes.items()}
            _pass(probes, IDLE_SECONDS)
            for name, probe in probes.items():
                cpu = probe.metrics()["TaskDuration"] - spent[name]
                told[name] += [str(len(probe.asked) - asked[name]), f"{cpu:.2f}"]
    pasted(
        "Requests a minute while nothing happens",
        ("page", "with the bell", "CPU s", "without", "CPU s", "before, without"),
        [[name, *shown, BEFORE.get(name, ("", ""))[1]] for name, shown in told.items()],
    )


def _show_memory(desk: Desk, pages: dict[str, Looked]) -> None:
    minutes = float(os.environ.get("MINUTES") or MINUTES)
    with _all_open(desk, pages) as probes:
        _pass(probes, 20, desk.happens)
        begun = {name: probe.kept() for name, probe in probes.items()}
        middle: dict[str, Kept] = {}
        for half in (1, 2):
            _pass(probes, minutes * 30, desk.happens)
            ended = {name: probe.kept() for name, probe in probes.items()}
            middle = ended if half == 1 else middle
    pasted(
        f"Memory of an open page, something happens each ten seconds for {minutes:.0f} minutes",
        ("page", "MB at first", "in the middle", "at the end", "nodes", "", "", "listeners", "", ""),
        [[name, *_kept(begun[name], middle[name], ended[name])] for name in pages],
    )


def _kept(*kept: Kept) -> list[str]:
    heaps = [f"{each.heap:.1f}" for each in kept]
    return [*heaps, *(str(each.nodes) for each in kept), *(str(each.listeners) for each in kept)]


def _pass(probes: dict[str, Probe], seconds: float, act: Callable[[], object] = lambda: None) -> None:
    """Time passes. Playwright hears what the pages ask for only while it is waited in one of them."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        act()
        next(iter(probes.values())).page.wait_for_timeout(min(10, max(0.1, until - time.monotonic())) * 1_000)

"""Somebody's seat at the console: a browser that is signed in, and the pages that are looked at."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import httpx

from support.worlds.tenant import Tenant
from tools.bench.month import Month
from tools.bench.probe import Probe

VIEWPORT = {"width": 1360, "height": 860}
ROW = ".table tbody tr[data-at]"
NO_BELL = re.compile("^ws")
# What the review of an earlier release measured, with 5,000 tasks of a day and no bell: first row, requests a minute.
BEFORE = {"Tasks": ("5.3 to 7.7", "40 to 65")}


@dataclass(frozen=True)
class Looked:
    """A page: its address, its first row, and the keys that are pressed on it, once ``field`` has the focus."""

    path: str
    row: str
    keys: list[str]
    field: str = ""


def pages_of(month: Month) -> dict[str, Looked]:
    task = f"#/tasks/{month.chain_task}"
    down, about = ["j"] * 20 + ["k"] * 20, ["?", "Escape"] * 8
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
            self.tenant.human.send("DELETE", f"/tokens/{session_id}")  # nobody has many
        finally:
            context.close()

    def happens(self) -> None:
        """Somebody asks for something, and takes it back; on a busy machine it may come to nothing."""
        asked = {"source": {"agent": "scout"}, "target": {"agent": "auditor", "reason": "Look at order 4711"}}
        with suppress(httpx.TimeoutException):
            made = self.tenant.human.send("POST", "/handoffs", asked)
            if made.is_success:
                self.tenant.human.send("POST", f"/tasks/{made.json()['task']['id']}/cancel", {})

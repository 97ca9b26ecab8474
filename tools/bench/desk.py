"""The console that somebody keeps open all day, in a workspace of 5,000 tasks of a day and 100,000 of a month: in a
real browser, on a deployed local stack.

`TASKS` says how many tasks the month has, `MINUTES` for how long `stay` watches the memory of pages that stay open (2
by itself; 30 for the figures in docs/console.md).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from statistics import median

from baton.adapters.dynamodb.query_parser import parse_queries_as_json
from baton.domain.access.principal import PrincipalKind
from support.chromium import chromium, what_is_missing
from support.worlds.deployed import Deployed
from support.worlds.tenant import new_workspace
from tools.bench.find import show_find
from tools.bench.idle import show_idle, show_memory
from tools.bench.month import Month
from tools.bench.probe import Held
from tools.bench.seat import BEFORE, Desk, Looked, pages_of
from tools.bench.tables import pasted
from tools.stack.stack import Stack

TASKS, TODAY = 100_000, 5_000
ROUNDS, CHANGES = 5, 6
LOW = 10  # of a process: nice
HEADINGS = (
    *("page", "first row s", "from another page s", "key p95 ms", "worst", "main thread: opening", "keys", "changes"),
    *("over 50 ms", "CPU s", "first row before"),
)


def show_desk(stack: Stack) -> None:
    if missing := what_is_missing():
        print(f"\nThe console's desk: skipped, {missing}.")
        return
    with _filled(stack, TASKS) as (desk, month):
        show_find(month)
        show(desk, month)


def show_stay(stack: Stack) -> None:
    if missing := what_is_missing():
        print(f"\nThe console's pages that stay open: skipped, {missing}.")
        return
    with _filled(stack, 2 * TODAY) as (desk, month):
        pages = pages_of(month)
        each_once = {page.path: name for name, page in reversed(pages.items())}
        watched = {name: page for name, page in pages.items() if each_once[page.path] == name}
        show_idle(desk, watched)
        show_memory(desk, watched)


@contextmanager
def _filled(stack: Stack, tasks: int) -> Iterator[tuple[Desk, Month]]:
    with stack.http(timeout_seconds=120) as http, chromium() as browser:
        deployed = Deployed(stack, http)
        tenant = new_workspace(deployed)
        client = stack.aws("dynamodb")
        parse_queries_as_json(client.meta.events)
        in_all = int(os.environ.get("TASKS") or tasks)
        human, today = tenant.principal(PrincipalKind.HUMAN, "alice"), min(TODAY, in_all // 2)
        month = Month(deployed.deps, human, client, stack.table, in_all, today).fill()
        _step_back(stack.pid)
        yield Desk(browser, tenant, f"{stack.api_url}/console/"), month


def _step_back(pid: int) -> None:
    """Lets a browser go before the stack's processes: where a person sits, they are on another machine."""
    with suppress(FileNotFoundError, ProcessLookupError):  # it has ended meanwhile; or isn't Linux
        for thread in Path(f"/proc/{pid}/task").iterdir():
            os.setpriority(os.PRIO_PROCESS, int(thread.name), LOW)
            for child in (thread / "children").read_text(encoding="ascii").split():
                _step_back(int(child))


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
        took = probe.presses(page.keys * ROUNDS)  # without a trace, which takes time itself
        with probe.traced() as pressing:
            probe.presses(page.keys)
        with probe.traced() as changing:
            for _ in range(CHANGES):
                desk.happens()
                probe.page.wait_for_timeout(1_500)
    phases: list[Held] = [*held, *pressing, *changing]
    firsts = [f"{median(each):.2f}, {max(each):.2f}" for each in (opened, within)]
    keys = [f"{took[len(took) * 95 // 100]:.0f}", f"{took[-1]:.0f}"]
    return [*firsts, *keys, *map(str, phases), str(sum(each.long for each in phases)), f"{median(spent):.2f}"]

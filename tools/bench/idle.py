"""Pages that stay open: what they ask for while nothing happens, and what stays in memory while something does."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

from tools.bench.probe import Kept, Probe
from tools.bench.seat import BEFORE, Desk, Looked
from tools.bench.tables import pasted

MINUTES = 2.0
IDLE_SECONDS = 60
MOST_MINUTES = 6  # to wait for one without a ring
TIMES = 6  # that memory is read, at most, after the first
KEPT: dict[str, Callable[[Kept], str]] = {
    "MB of memory": lambda kept: f"{kept.heap:.1f}",
    "Nodes": lambda kept: str(kept.nodes),
    "Listeners": lambda kept: str(kept.listeners),
}


@contextmanager
def _all_open(desk: Desk, pages: dict[str, Looked], *, has_bell: bool = True) -> Iterator[dict[str, Probe]]:
    with ExitStack() as stack:
        probes = {name: stack.enter_context(desk.tab(has_bell=has_bell)) for name in pages}
        for name, probe in probes.items():
            probe.opened(desk.console + pages[name].path, pages[name].row)
        yield probes


def show_idle(desk: Desk, pages: dict[str, Looked]) -> None:
    told: dict[str, list[str]] = {name: [] for name in pages}
    for has_bell in (True, False):
        with _all_open(desk, pages, has_bell=has_bell) as probes:
            _pass(probes, 20)
            for _ in range(MOST_MINUTES):
                rings = sum(probe.rings for probe in probes.values())
                asked = {name: len(probe.asked) for name, probe in probes.items()}
                spent = {name: probe.metrics()["TaskDuration"] for name, probe in probes.items()}
                _pass(probes, IDLE_SECONDS)
                if rings == sum(probe.rings for probe in probes.values()):
                    break  # else something did happen, as the workspace's own clock brought it about
            else:
                raise TimeoutError("it rings in each minute: there is none in which nothing happens")
            for name, probe in probes.items():
                cpu = probe.metrics()["TaskDuration"] - spent[name]
                told[name] += [str(len(probe.asked) - asked[name]), f"{cpu:.2f}"]
    pasted(
        "Requests a minute while nothing happens",
        ("page", "with the bell", "CPU s", "without", "CPU s", "before, without"),
        [[name, *shown, BEFORE.get(name, ("", ""))[1]] for name, shown in told.items()],
    )


def show_memory(desk: Desk, pages: dict[str, Looked]) -> None:
    minutes = float(os.environ.get("MINUTES") or MINUTES)
    times = min(TIMES, max(1, round(minutes / 5)))
    with _all_open(desk, pages) as probes:
        _pass(probes, 20, desk.happens)
        kept = {name: [probe.kept()] for name, probe in probes.items()}
        for _ in range(times):
            _pass(probes, minutes * 60 / times, desk.happens)
            for name, probe in probes.items():
                kept[name].append(probe.kept())
    for what, told in KEPT.items():
        pasted(
            f"{what}: an open page, something happens each ten seconds for {minutes:.0f} minutes",
            ("page", *(f"{minutes * at / times:.0f} min" for at in range(times + 1))),
            [[name, *map(told, each)] for name, each in kept.items()],
        )


def _pass(probes: dict[str, Probe], seconds: float, act: Callable[[], object] = lambda: None) -> None:
    """Time passes. Playwright hears what the pages ask for only while it is waited in one of them."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        act()
        next(iter(probes.values())).page.wait_for_timeout(min(10, max(0.1, until - time.monotonic())) * 1_000)

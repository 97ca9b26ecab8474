"""What a page of the console does in a real browser: when its first row is there, what a key press takes until it is
painted, how long the main thread is held, what is asked for, what stays in memory.

Beside the time on the clock stands the processor's, which other work on the machine doesn't lengthen: of the longest
task from a trace, of all of them from the browser's own counters.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

# ``first``: when the first element of the selector was painted, since the page began or since ``begin``.
WATCH = """() => {
  const seen = window.__desk = { keys: [], first: 0, since: 0 };
  new PerformanceObserver((list) => list.getEntries().forEach(({ name, duration }) => {
    if (name === "keydown") seen.keys.push(duration);
  })).observe({ type: "event", buffered: true, durationThreshold: 16 });
  seen.begin = (selector) => { Object.assign(seen, { selector, first: 0, since: performance.now() }); };
  const look = () => {
    if (seen.selector && !seen.first && document.querySelector(seen.selector)) {
      const { selector } = seen;
      seen.selector = null;
      requestAnimationFrame(() => setTimeout(() => { seen.first = performance.now() - seen.since; }));
    }
  };
  new MutationObserver(look).observe(document, { childList: true, subtree: true });
  const [path, selector] = JSON.parse(sessionStorage.getItem("bench.first") ?? "[]");
  if (path && location.hash.startsWith(path)) Object.assign(seen, { selector });
}"""
FIRST = "() => window.__desk.first"
# Reports come a moment later.
TAKE = """(name) => new Promise((done) => setTimeout(() => done(window.__desk[name].splice(0)), 150))"""
CATEGORIES = ["-*", "toplevel", "disabled-by-default-devtools.timeline"]
MAIN_THREAD = "CrRendererMain"
WAIT_MS = 120_000
LONG_MS = 50


@dataclass(frozen=True)
class Held:
    """Milliseconds that the main thread was held by its longest task, on the clock and of the processor. ``long``: how
    many tasks took more than 50 ms on the clock. The tasks in which the browser itself changes documents don't count:
    nothing of the page is there yet."""

    clock: float = 0
    cpu: float = 0
    long: int = 0

    def __str__(self) -> str:
        return f"{self.clock:.0f} ({self.cpu:.0f})"


@dataclass(frozen=True)
class Kept:
    """What stays in memory, once what nobody needs has been thrown away."""

    heap: float  # MB
    nodes: int
    listeners: int


@dataclass
class Probe:
    """A tab of a browser of its own. ``asked``: what it has asked the API for. ``rings``: that it has heard."""

    browser: Any
    page: Any
    asked: list[str] = field(default_factory=list)
    rings: int = 0

    def __post_init__(self) -> None:
        self._cdp = self.page.context.new_cdp_session(self.page)
        self._cdp.send("Performance.enable")
        self.page.add_init_script(f"({WATCH})()")
        self.page.on("request", lambda request: self._note(request.url))
        self.page.on("websocket", lambda socket: socket.on("framereceived", self._hear))

    def opened(self, url: str, selector: str) -> float:
        """Opens a page anew, as a link does. Returns the milliseconds until its first row is painted."""
        path = "#" + url.partition("#")[2]
        self.page.evaluate("(it) => sessionStorage.setItem('bench.first', it)", json.dumps([path, selector]))
        self.page.goto("about:blank")
        self.page.goto(url, wait_until="commit")
        return self._first()

    def gone_to(self, path: str, selector: str) -> float:
        """Goes to a page within the console."""
        self.page.evaluate(
            """([path, selector]) => { window.__desk.begin(selector); location.hash = path; }""", [path, selector]
        )
        return self._first()

    def presses(self, keys: list[str], pause_ms: int = 60) -> list[float]:
        """Presses one key after the other. Returns the milliseconds of each until it was painted: 16 where it was
        quicker, which the browser doesn't tell of."""
        self.taken("keys")
        for key in keys:
            self.page.keyboard.press(key)
            self.page.wait_for_timeout(pause_ms)
        told = self.taken("keys")
        return sorted([*told, *[16.0] * (len(keys) - len(told))])

    def taken(self, name: str) -> list[float]:
        found: list[float] = self.page.evaluate(TAKE, name)
        return found

    @contextmanager
    def traced(self) -> Iterator[list[Held]]:
        """Yields a list, which then has how long the main thread was held meanwhile."""
        held: list[Held] = []
        self.browser.start_tracing(page=self.page, categories=CATEGORIES)
        yield held
        held.append(longest(json.loads(self.browser.stop_tracing())))

    def metrics(self) -> dict[str, float]:
        told = self._cdp.send("Performance.getMetrics")["metrics"]
        return {each["name"]: each["value"] for each in told}

    def kept(self) -> Kept:
        for _ in range(2):
            self._cdp.send("HeapProfiler.collectGarbage")
        told = self.metrics()
        return Kept(told["JSHeapUsedSize"] / 1e6, int(told["Nodes"]), int(told["JSEventListeners"]))

    def _first(self) -> float:
        self.page.wait_for_function(FIRST, timeout=WAIT_MS)
        first: float = self.page.evaluate(FIRST)
        return first

    def _hear(self, frame: str | bytes) -> None:
        self.rings += '"ring"' in str(frame)

    def _note(self, url: str) -> None:
        if url.startswith("http") and "/console/" not in url:
            self.asked.append(url)


def longest(trace: dict[str, Any]) -> Held:
    """Of the main thread that did most."""
    events = trace["traceEvents"]
    threads = {
        (each["pid"], each["tid"])
        for each in events
        if each.get("name") == "thread_name" and each["args"].get("name") == MAIN_THREAD
    }
    tasks: dict[tuple[int, int], list[tuple[float, float]]] = {}
    spans = [each for each in events if each.get("ph") == "X" and (each["pid"], each["tid"]) in threads]
    commits = [(each["pid"], each["ts"]) for each in spans if each["name"] == "CommitLoad"]
    for each in spans:
        until = each["ts"] + each.get("dur", 0)
        is_commit = any(pid == each["pid"] and each["ts"] <= at <= until for pid, at in commits)
        if each["name"] == "RunTask" and not is_commit:
            took = (each.get("dur", 0) / 1_000, each.get("tdur", 0) / 1_000)
            tasks.setdefault((each["pid"], each["tid"]), []).append(took)
    of_page = max(tasks.values(), key=lambda found: sum(clock for clock, _ in found), default=[(0.0, 0.0)])
    clocks, cpus = zip(*of_page, strict=True)
    return Held(max(clocks), max(cpus), sum(each > LONG_MS for each in clocks))

"""`make bench`: measures, and judges nothing.

    python -m tools.bench [imports] [calls] [load] [floor] [waits] [bell] [keys] [rounds] [cpu] [worst] [search] [pages]
                          [desk] [stay] [console] [cli]

Without a name, all of them. All but `keys`, `rounds`, `cpu`, `worst`, `console` and `cli` need the local stack; the
bench starts one of its own and forgets it. `pages`, `desk` and `stay` need `make console-setup` and Chromium as well,
and are skipped where they are missing.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime

from tools.bench.bell import show_bell
from tools.bench.calls import show_calls
from tools.bench.cli import show_cli
from tools.bench.console import show_console
from tools.bench.cpu import show_cpu
from tools.bench.desk import show_desk, show_stay
from tools.bench.floor import show_floor
from tools.bench.imports import show_imports
from tools.bench.keys import show_keys
from tools.bench.load import show_load
from tools.bench.pages import show_pages
from tools.bench.rounds import show_rounds
from tools.bench.search import show_search
from tools.bench.waits import show_waits
from tools.bench.worst import show_worst
from tools.stack import stack as local
from tools.stack.engine import StackError

SECTIONS: dict[str, Callable[[local.Stack], None]] = {
    "imports": lambda _stack: show_imports(_progress),
    "calls": show_calls,
    "load": show_load,
    "floor": show_floor,
    "waits": show_waits,
    "bell": show_bell,
    "search": show_search,
    "pages": show_pages,
    "desk": show_desk,
    "stay": show_stay,
}
# Without the stack.
ALONE: dict[str, Callable[[], None]] = {
    "keys": show_keys,
    "rounds": show_rounds,
    "cpu": show_cpu,
    "worst": show_worst,
    "console": show_console,
    "cli": show_cli,
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.bench", description="Baton's bench")
    sections = ", ".join([*SECTIONS, *ALONE])
    parser.add_argument("section", nargs="*", type=_section, help=f"{sections}; default: all")
    asked = parser.parse_args().section or [*SECTIONS, *ALONE]
    begun = time.monotonic()
    _say_where()
    on_stack = [name for name in SECTIONS if name in asked]
    try:
        if on_stack:
            with local.running(local.HOME / "bench", say=_progress) as stack:
                for name in on_stack:
                    _progress(f"measuring: {name} …")
                    SECTIONS[name](stack)
    except StackError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    for name in [name for name in ALONE if name in asked]:
        _progress(f"measuring: {name} …")
        ALONE[name]()
    print(f"\nMeasured in {time.monotonic() - begun:.0f} s.")
    return 0


def _section(name: str) -> str:
    if name not in {*SECTIONS, *ALONE}:
        raise argparse.ArgumentTypeError(f"{name!r} is none of {', '.join([*SECTIONS, *ALONE])}")
    return name


def _say_where() -> None:
    cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    machine = f"{platform.system()} {platform.machine()}, {cpus} CPUs, load {os.getloadavg()[0]:.1f} before it began"
    print(f"Baton's bench, {datetime.now(UTC):%Y-%m-%d}. Python {platform.python_version()}, {machine}.", flush=True)


def _progress(text: str) -> None:
    """Not part of the figures."""
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())

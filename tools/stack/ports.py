"""The ports of the local stack. `make run` and `make stack` check them before the setup, which takes minutes:

    python -m tools.stack.ports

It needs nothing but Python.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from tools.stack.background import Background, NotListening, StackError, free_port, is_free

HOME = Path(__file__).parents[2] / ".baton"
DEFAULT_PORT = 4566
ENGINE, NOTION = "BATON_PORT", "BATON_NOTION_PORT"
NAMES = {ENGINE: "", NOTION: ", for the stand-in for Notion,"}
TRIED = 100


def configured(variable: str, environ: Mapping[str, str] = os.environ) -> int | None:
    """Returns the port that a variable names; None if it names none. Raises StackError if it is none."""
    text = environ.get(variable, "")
    if text and not (text.isdecimal() and 0 < int(text) < 65536):
        raise StackError(f"{variable} must be a port number, and is {text!r}")
    return int(text) if text else None


def check(home: Path, environ: Mapping[str, str]) -> None:
    """Raises NotListening if another program has a port that the stack would need. A program of this stack that runs
    already keeps its port."""
    engine, notion = configured(ENGINE, environ), configured(NOTION, environ)
    port = _running(home, "engine")
    if port is None:
        port = engine or DEFAULT_PORT
        must_be_free(ENGINE, port)
    if not environ.get("BATON_NOTION_URL") and _running(home, "notion") is None:
        must_be_free(NOTION, notion or port + 1, taken=port)


def must_be_free(variable: str, port: int, *, taken: int = 0) -> None:
    """Raises NotListening, with a port that was free a moment ago. ``taken``: a port that the stack itself needs."""
    if port == taken or not is_free(port):
        free = next_free(port, taken, also_next=variable == ENGINE)
        raise NotListening(f"port {port}{NAMES[variable]} is taken; this one is free: {variable}={free} make …")


def next_free(port: int, taken: int, *, also_next: bool) -> int:
    """Returns the next free port. ``also_next``: the port after it is free, too, for the stand-in for Notion."""
    for each in range(port + 1, min(port + TRIED, 65535)):
        if each != taken and is_free(each) and (not also_next or is_free(each + 1)):
            return each
    return free_port()


def _running(home: Path, name: str) -> int | None:
    """The port of a program of this stack; None if it doesn't run."""
    if not (home / f"{name}.lock").exists():
        return None
    found = Background(name, home, name).running()
    return None if found is None else found[1]


def main() -> int:
    try:
        check(HOME, os.environ)
    except StackError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Remarks for people on standard error. A stream that is full or closed ends no session."""

from __future__ import annotations

import sys
from contextlib import suppress


def remark(text: str) -> None:
    if sys.stderr is not None:
        with suppress(OSError, ValueError):
            print(f"baton-mcp: {text}", file=sys.stderr, flush=True)

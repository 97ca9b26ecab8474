"""`baton-mcp` as a program that a client starts."""

from __future__ import annotations

import os
from pathlib import Path

import baton_mcp


def environment(url: str, token: str | None, **more: str) -> dict[str, str]:
    """Of the program, from the checkout."""
    path = str(Path(baton_mcp.__file__).parents[1])
    return {"PATH": os.environ["PATH"], "PYTHONPATH": path, "BATON_URL": url, "BATON_TOKEN": token or "", **more}

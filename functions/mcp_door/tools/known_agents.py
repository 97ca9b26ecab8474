"""Tells who there is, where a model named an agent that there isn't: no tool lists them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from baton.domain import errors
from mcp_door.tools.refusals import MAX_LISTED
from mcp_door.tools.tool import ToolCall


@contextmanager
def agents_named(call: ToolCall[Any]) -> Iterator[None]:
    """A refusal of an unknown agent gets ``agents``: the active ones."""
    try:
        yield
    except errors.UnknownAgent as exc:
        found = call.play("list_agents", query={"limit": MAX_LISTED})["items"]
        exc.fields["agents"] = [each["slug"] for each in found if each["active"]]
        raise

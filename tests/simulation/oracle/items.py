"""Items of the table as plain values."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Any

Item = dict[str, Any]


def plain(wire: Item) -> Any:
    ((kind, value),) = wire.items()
    if kind == "M":
        return {name: plain(each) for name, each in value.items()}
    if kind == "L":
        return [plain(each) for each in value]
    if kind == "SS":
        return set(value)
    if kind == "N":
        return int(value) if value.lstrip("-").isdigit() else Decimal(value)
    return value


def item_of(wire: Item | None) -> Item | None:
    """None also for one that only keeps its place from being taken by a transaction that may still arrive."""
    return None if wire is None or "void" in wire else {name: plain(value) for name, value in wire.items()}


def whole(pk: str, head: Item) -> Item:
    """A HEAD with what it leaves out: it is made by its source agent and begins its workflow unless it says so."""
    workspace, task_id = pk.removeprefix("WS#").split("#TASK#")
    wake = {"wake_ms": int(head["wake_sk"].split("#")[0])} if "wake_sk" in head else {}
    by = {"created_by": f"agent:{head['source_agent']}"}
    return {"id": task_id, "workspace": workspace, "master_task_id": task_id, **by, **wake, **head}


def to_ms(text: str) -> int:
    return int(datetime.fromisoformat(text).timestamp() * 1000 + 0.5)

"""Items of the table as plain values."""

from __future__ import annotations

import base64
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

Item = dict[str, Any]


def plain(wire: Item) -> Any:
    ((kind, value),) = wire.items()
    if kind == "M":
        return {name: each["S"] if "S" in each else plain(each) for name, each in value.items()}
    if kind == "L":
        return [plain(each) for each in value]
    if kind == "NULL":
        return None
    if kind == "SS":
        return set(value)
    if kind == "N":
        return int(value) if value.lstrip("-").isdigit() else Decimal(value)
    return value


def item_of(wire: Item | None) -> Item | None:
    """None also for one that only keeps its place from being taken by a transaction that may still arrive."""
    if wire is None or "void" in wire:
        return None
    return {name: value["S"] if "S" in value else plain(value) for name, value in wire.items()}


def attributes_of(wire: Item | None, *names: str) -> Item | None:
    """What ``item_of`` says of these attributes, those that are there."""
    return None if wire is None else item_of({name: wire[name] for name in (*names, "void") if name in wire})


# Times of a HEAD, which are numbers there.
_TIMES = (
    "created_at",
    "updated_at",
    "started_at",
    "ready_at",
    "undo_until",
    "deadline",
    "not_before",
    "deferred_until",
)


def whole(pk: str, head: Item) -> Item:
    """A HEAD with what it leaves out: its task begins its workflow, and is made by its source agent, unless it says so.
    Its digest is in base64, and its times are in milliseconds."""
    workspace, task_id = pk.removeprefix("WS#").split("#TASK#")
    wake = {"wake_ms": int(head["wake_sk"].split("#")[0])} if "wake_sk" in head else {}
    own = {"id": task_id, "workspace": workspace, "master_task_id": task_id, "handoff_id": f"ho_{task_id[5:]}"}
    own |= {"workflow_id": f"wf_t{task_id[5:]}", "created_by": f"agent:{head['source_agent']}"}
    said = {**own, "depth": 1, "attempt": 0, **wake, **head}
    said |= {name: _from_ms(said[name]) for name in _TIMES if name in said}
    if "accepts" in head:  # a name that the queue index projects
        said["ok_by"] = said.pop("accepts")
    if "digest" in head:
        said["digest"] = base64.b64decode(f"{head['digest']}=", altchars=b"-_").hex()
    return said


def _from_ms(ms: int) -> str:
    at = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=ms)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def to_ms(text: str) -> int:
    return int(datetime.fromisoformat(text).timestamp() * 1000 + 0.5)

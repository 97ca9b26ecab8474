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


def whole(pk: str, head: Item) -> Item:
    """A HEAD with what it leaves out: it is made by its source agent at the moment that its id names, begins its
    workflow, was last changed by its latest event, and is at the attempt of its fence, unless it says so; it was first
    claimed when its event says, if HEAD still has that. Its claim is the latest one, of its target, without a
    heartbeat. Its digest is in base64."""
    workspace, task_id = pk.removeprefix("WS#").split("#TASK#")
    wake = {"wake_ms": int(head["wake_sk"].split("#")[0])} if "wake_sk" in head else {}
    made = {"created_at": _made_at(task_id), "created_by": f"agent:{head['source_agent']}"}
    own = {"id": task_id, "workspace": workspace, "master_task_id": task_id, "handoff_id": f"ho_{task_id[5:]}"}
    own["workflow_id"] = f"wf_t{task_id[5:]}"
    said = {**own, **made, "depth": 0 if "master_task_id" in head else 1, **wake, **head}
    said.setdefault("updated_at", said["events"][-1]["at"] if "events" in said else said["created_at"])
    said.setdefault("attempt", said.get("fence", 0))
    for each in filter(_is_first_claim, said.get("events", ())):
        said.setdefault("started_at", each["at"])
    if "digest" in head:
        said["digest"] = base64.b64decode(f"{head['digest']}=", altchars=b"-_").hex()
    if "claim" in head:
        claim = head["claim"]
        usual = {"fence": head["fence"], "agent": head.get("target_agent"), "heartbeat_ms": claim["claimed_ms"]}
        said["claim"] = {**usual, **claim}
    return said


def _is_first_claim(entry: Item) -> bool:
    return bool(entry["type"] == "handoff_received" and entry["fence"] == 1)


def _made_at(task_id: str) -> str:
    ms = 0
    for digit in task_id[5:15]:
        ms = ms * 32 + "0123456789abcdefghjkmnpqrstvwxyz".index(digit)
    return (
        (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=ms))
        .isoformat(timespec="milliseconds")
        .replace("+00:00", "Z")
    )


def to_ms(text: str) -> int:
    return int(datetime.fromisoformat(text).timestamp() * 1000 + 0.5)

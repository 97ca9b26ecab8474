"""What the items look like that belong to the running of agents: profiles, entries of transcripts, what was spent."""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import Any

from baton.adapters.dynamodb import items, keys
from baton.domain.run_profile import RunProfile
from baton.domain.task import Policy
from baton.domain.times import parse_rfc3339, rfc3339
from baton.domain.transcript import Entry, EntryKind, Message, MessageType, Usage

Item = dict[str, Any]


def profile_item(profile: RunProfile) -> Item:
    values = {f.name: getattr(profile, f.name) for f in fields(RunProfile)}
    return {**keys.profile(profile.workspace, profile.slug)._asdict(), **values, "tools": list(profile.tools)}


def profile_from(workspace: str, slug: str, item: Item | None) -> RunProfile:
    """What this version doesn't know any more is left out, what is new gets its default."""
    if item is None:
        return RunProfile(workspace=workspace, slug=slug)
    known = {f.name: f.type for f in fields(RunProfile)}
    values = {name: value for name, value in item.items() if name in known}
    numbers = {name: int(value) for name, value in values.items() if known[name] in {"int", "int | None"}}
    read = {"tools": tuple(values.get("tools", ())), "join": Policy(values.get("join", Policy.ALL))}
    return RunProfile(**{**values, **numbers, **read})


def entry_item(workspace: str, task_id: str, entry: Entry) -> Item:
    """Numbers as numbers, what was said as JSON text."""
    told = [asdict(message) for message in entry.told]
    said = {"blocks": entry.blocks, "told": told, "output": entry.output}
    return {
        **items.payload_item(keys.entry(workspace, task_id, entry.last), said),
        "first": entry.first,
        "kind": str(entry.kind),
        "agent": entry.agent,
        "at": rfc3339(entry.at),
        "turn": entry.turn,
        "stop_reason": entry.stop_reason,
        **asdict(entry.usage),
        "is_repair": entry.is_repair or None,
        "scripted": entry.scripted or None,
    }


def entry_from(item: Item) -> Entry:
    said = items.payload_from(item)
    return Entry(
        first=int(item["first"]),
        kind=EntryKind(item["kind"]),
        agent=item["agent"],
        at=parse_rfc3339(item["at"]),
        turn=int(item["turn"]),
        blocks=tuple(said["blocks"]),
        told=tuple(Message(MessageType(each["type"]), each["text"], each["data"]) for each in said["told"]),
        stop_reason=item.get("stop_reason"),
        usage=usage_from(item),
        is_repair=item.get("is_repair", False),
        output=said["output"],
        scripted=item.get("scripted", False),
    )


def usage_from(item: Item | None) -> Usage:
    """None at all where nothing was spent."""
    return Usage() if item is None else Usage(*(int(item.get(f.name, 0)) for f in fields(Usage)))

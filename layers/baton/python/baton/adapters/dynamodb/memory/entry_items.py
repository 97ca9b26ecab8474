"""The items of the blackboard's entries.

An active decision, warning or finding is in the queue index once for each scope from the root down to its own: in the
view of that scope. The entry's item has the root's place, a row each other one. What a human posted is in each view a
second time, by rows, before all else. What is over loses its places; the rows stay."""

from __future__ import annotations

from typing import Any

from baton.adapters.dynamodb import keys
from baton.adapters.dynamodb.item_writes import Item
from baton.domain import times
from baton.domain.memory import entry as entries
from baton.domain.memory.entry import ChangedEntry, DecisionStatus, Entry, EntryChange, EntryEvent, EntryType
from baton.domain.memory.entry_pack import EntryPack, PackList
from baton.domain.memory.scope import ROOT, line_of
from baton.domain.newer import member

_PLAIN = ("scope", "summary", "detail", "rationale", "supersedes", "posted_by", "version")


def entry_item(entry: Entry) -> Item:
    return {
        **{name: getattr(entry, name) for name in _PLAIN},
        **keys.board_entry(entry.workspace, entry.id)._asdict(),
        "entry_type": str(entry.entry_type),
        "tags": list(entry.tags),
        "relates_to": list(entry.relates_to),
        "status": None if entry.status is None else str(entry.status),
        "posted_at": times.rfc3339(entry.posted_at),
        "changes": list(map(_event_item, entry.changes)),
        **_place(entry, ROOT),
    }


def entry_from(workspace: str, item: Item) -> Entry:
    return Entry(
        workspace=workspace,
        id=item["sk"],
        scope=item["scope"],
        entry_type=member(EntryType, item["entry_type"]),
        summary=item["summary"],
        detail=item["detail"],
        tags=tuple(item["tags"]),
        relates_to=tuple(item["relates_to"]),
        rationale=item.get("rationale"),
        status=member(DecisionStatus, item["status"]) if "status" in item else None,
        supersedes=item.get("supersedes"),
        posted_by=item["posted_by"],
        posted_at=times.parse_rfc3339(item["posted_at"]),
        changes=tuple(map(_event_from, item["changes"])),
        version=int(item["version"]),
    )


def row_items(entry: Entry) -> list[Item]:
    """Returns the entry's rows: with their places if it is active, without if it is so no more."""
    if not _has_rows(entry):
        return []
    line = list(enumerate(line_of(entry.scope)))
    rows = [(keys.board_row(entry.workspace, entry.id, depth), _place(entry, scope)) for depth, scope in line[1:]]
    if entries.is_by_human(entry):
        rows += [
            (keys.board_row_by_human(entry.workspace, entry.id, depth), _place(entry, scope, keys.BY_HUMAN))
            for depth, scope in line
        ]
    return [{**key._asdict(), **place} for key, place in rows]


def changed_item(changed: ChangedEntry) -> Item:
    return {"pk": keys.board_changes(changed.workspace), "sk": changed.id, "entry": changed.entry_id}


def changed_from(workspace: str, item: Item) -> ChangedEntry:
    return ChangedEntry(workspace, item["sk"], item["entry"])


def pack_list_item(packs: PackList) -> Item:
    key = keys.board_pack_list(packs.workspace)
    return {
        **key._asdict(),
        "until": packs.until,
        "begins_after": packs.begins_after,
        "merged_at": times.rfc3339(packs.merged_at),
        "version": packs.version,
    }


def pack_list_from(workspace: str, item: Item) -> PackList:
    return PackList(
        workspace=workspace,
        until=item["until"],
        begins_after=item["begins_after"],
        merged_at=times.parse_rfc3339(item["merged_at"]),
        version=int(item["version"]),
    )


def pack_item(pack: EntryPack) -> Item:
    key = keys.board_pack(pack.workspace, pack.last_id)
    return {**key._asdict(), "form": pack.form, "contents": pack.contents or None}


def pack_from(workspace: str, item: Item) -> EntryPack:
    return EntryPack(workspace, item["sk"], int(item["form"]), bytes(item.get("contents", b"")))


def _has_rows(entry: Entry) -> bool:
    """A new entry that isn't active needs none: it can't become active later."""
    return entry.entry_type in entries.SNAPSHOT_TYPES and (entry.is_active or entry.version > 1)


def _place(entry: Entry, scope: str, shelf: str = "") -> Item:
    """The place in the view of a scope; none if the entry isn't in view."""
    if not (entry.entry_type in entries.SNAPSHOT_TYPES and entry.is_active):
        return {}
    key = keys.view_index_key(entry, scope, shelf)
    return {"queue_pk": key.pk, "queue_sk": key.sk}


def _event_item(event: EntryEvent) -> Item:
    values: dict[str, Any] = {
        "what": str(event.what),
        "by": event.by,
        "at": times.rfc3339(event.at),
        "entry": event.entry_id,
        "reason": event.reason,
    }
    return {name: value for name, value in values.items() if value is not None}


def _event_from(item: Item) -> EntryEvent:
    at = times.parse_rfc3339(item["at"])
    return EntryEvent(member(EntryChange, item["what"]), item["by"], at, item.get("entry"), item.get("reason"))

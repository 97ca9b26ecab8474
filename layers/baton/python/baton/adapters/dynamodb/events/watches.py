"""The store of watches. A watch is one item, which updates make and change in place. Who asks for it gives it the
attribute by which the stream brings the events of tasks; who brings it back takes that away."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any

from baton.adapters.dynamodb import keys
from baton.adapters.dynamodb.item_writes import Item
from baton.adapters.dynamodb.table import ConditionFailed, Table, from_wire
from baton.domain import times
from baton.domain.tasks.watch import ASKED_AGAIN_AFTER, FORGOTTEN_AFTER, Watch

NOT_ASKED_LATELY = "attribute_not_exists(#asked_ms) OR #asked_ms <= :lately"
IS_THERE = "attribute_exists(#asked_ms)"
NOT_BROUGHT_YET = f"{IS_THERE} AND (attribute_not_exists(#brought_ms) OR #brought_ms < :asked)"


class Watches:
    def __init__(self, table: Table) -> None:
        self._table = table

    def watch(self, workspace: str) -> Watch | None:
        item = self._table.get(keys.watch(workspace))
        return None if item is None else _watch_from(item)

    def of_workspaces(self, workspaces: Sequence[str]) -> dict[str, Watch]:
        wanted = {keys.watch(workspace): workspace for workspace in workspaces}
        return {wanted[key]: _watch_from(item) for key, item in self._table.get_all(list(wanted)).items()}

    def ask_for_watch(self, workspace: str, watch: Watch) -> None:
        at = watch.asked_at
        values = {
            ":began": times.to_ms(watch.began_at),
            ":asked": times.to_ms(at),
            ":lately": times.to_ms(at - ASKED_AGAIN_AFTER),
            ":one": 1,
            ":ttl": times.to_ms(at + FORGOTTEN_AFTER) // 1_000,
        }
        sets = "SET #began_ms = :began, #asked_ms = :asked, #fresh = :one, #ttl = :ttl"
        self._change_watch(workspace, sets, NOT_ASKED_LATELY, values, once=True)

    def note_change(self, workspace: str, at: datetime) -> None:
        sets = "SET #changed_ms = :now ADD #changes :one"
        self._change_watch(workspace, sets, IS_THERE, {":now": times.to_ms(at), ":one": 1})

    def asked_watches(self, records: Sequence[Mapping[str, Any]]) -> dict[str, datetime]:
        images = (from_wire(record["dynamodb"]["NewImage"]) for record in records)
        watches = [image for image in images if keys.is_watch(image["pk"])]
        in_order = sorted(watches, key=lambda image: int(image["asked_ms"]))
        return {keys.parse_watch(image["pk"]): times.from_ms(int(image["asked_ms"])) for image in in_order}

    def note_brought(self, workspace: str, asked_at: datetime) -> None:
        sets = "SET #brought_ms = :asked REMOVE #fresh"
        self._change_watch(workspace, sets, NOT_BROUGHT_YET, {":asked": times.to_ms(asked_at)})

    def _change_watch(self, workspace: str, sets: str, condition: str, values: Item, *, once: bool = False) -> None:
        with suppress(ConditionFailed):
            self._table.update(keys.watch(workspace), sets, condition, values, once=once)


def _watch_from(item: Item) -> Watch:
    return Watch(
        began_at=times.from_ms(int(item["began_ms"])),
        asked_at=times.from_ms(int(item["asked_ms"])),
        brought_at=_at(item.get("brought_ms")),
        changed_at=_at(item.get("changed_ms")),
        changes=int(item.get("changes", 0)),
    )


def _at(ms: Any) -> datetime | None:
    return None if ms is None else times.from_ms(int(ms))

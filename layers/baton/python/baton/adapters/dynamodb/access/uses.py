"""The store's counts of use: an item for each minute of a principal with much use, one for its long polls, with a slot
for each permit, and one for each half minute of a function's long polls."""

from __future__ import annotations

import hashlib
import random
from contextlib import suppress
from datetime import datetime

from baton.adapters.dynamodb import keys
from baton.adapters.dynamodb.item_writes import Item
from baton.adapters.dynamodb.table import ConditionFailed, Table
from baton.domain import errors, times
from baton.domain.access.metering import BellUse
from baton.domain.access.polls import CALLER, free_slots
from baton.domain.access.principal import Principal
from baton.ports.access import PollPermit

# The slot is free or expired, or we hold it: an attempt whose reply was lost is repeated.
NOT_HELD = "attribute_not_exists(#until) OR #until <= :now OR #holder = :holder"
STILL_OURS = "#holder = :holder"
FORGOTTEN_AFTER_SECONDS = 3_600
# Longer than any poll, so that those of this window and of the one before are all that wait.
WINDOW_SECONDS = 30


class Uses:
    def __init__(self, table: Table) -> None:
        self._table = table

    def count_use(self, by: Principal, minute: int, requests: int, size: int) -> tuple[int, int]:
        counted = self._table.update(
            keys.use(by.workspace, by.key, minute),
            "ADD #requests :requests, #bytes :bytes SET #ttl = :ttl",
            None,
            {":requests": requests, ":bytes": size, ":ttl": minute * 60 + FORGOTTEN_AFTER_SECONDS},
            once=True,
        )
        return int(counted["requests"]), int(counted["bytes"])

    def count_bell_use(self, by: Principal, minute: int, connection_id: str) -> BellUse:
        of_connection, of_token = f"connection_{_number_of(connection_id)}", _paused(by)
        counted = self._table.update(
            keys.use(by.workspace, by.key, minute),
            "ADD #requests :one, #bell :one, #connection :one SET #ttl = :ttl",
            None,
            {":one": 1, ":ttl": minute * 60 + FORGOTTEN_AFTER_SECONDS},
            once=True,
            connection=of_connection,
        )
        until = times.from_ms(int(counted[of_token])) if of_token in counted else None
        return BellUse(int(counted["requests"]), int(counted["bell"]), int(counted[of_connection]), until)

    def pause_bell(self, by: Principal, minute: int, until: datetime) -> None:
        for each in (minute, minute + 1):
            values = {":until": times.to_ms(until), ":ttl": each * 60 + FORGOTTEN_AFTER_SECONDS}
            sets, key = "SET #until = :until, #ttl = :ttl", keys.use(by.workspace, by.key, each)
            self._table.update(key, sets, None, values, until=_paused(by))

    def begin_poll(self, by: Principal, most: int, permit_id: str, now: datetime, until: datetime) -> PollPermit:
        slots = list(range(most))
        for _ in range(2 * most):
            slot = random.choice(slots)  # noqa: S311 - spreads, keeps no secret
            try:
                self._hold(by, slot, permit_id, now, until)
            except ConditionFailed as taken:
                slots = free_slots(_held(taken.item, most), most, now)
            else:
                return PollPermit(by.workspace, by.key, slot, permit_id)
        raise errors.TooManyPolls(CALLER, most, 1)

    def end_poll(self, permit: PollPermit) -> None:
        key, until, holder = keys.polls(permit.workspace, permit.by), f"until_{permit.slot}", f"holder_{permit.slot}"
        with suppress(ConditionFailed):
            sets, values = "REMOVE #until, #holder", {":holder": permit.id}
            self._table.update(key, sets, STILL_OURS, values, once=True, until=until, holder=holder)

    def enter_room(self, function: str, now: datetime) -> int:
        window = _window(now)
        entered = self._count(function, window, 1, once=False)  # twice, if a reply is lost: a minute's error
        earlier = self._table.get(keys.room(function, window - 1)) or {"waiting": 0}
        return entered + max(0, int(earlier["waiting"]))

    def leave_room(self, function: str, entered_at: datetime) -> None:
        self._count(function, _window(entered_at), -1, once=True)

    def _count(self, function: str, window: int, change: int, *, once: bool) -> int:
        sets = "ADD #waiting :change SET #ttl = :ttl"
        values = {":change": change, ":ttl": window * WINDOW_SECONDS + FORGOTTEN_AFTER_SECONDS}
        counted = self._table.update(keys.room(function, window), sets, None, values, once=once)
        return max(0, int(counted["waiting"]))

    def _hold(self, by: Principal, slot: int, permit_id: str, now: datetime, until: datetime) -> None:
        values: Item = {":now": times.to_ms(now), ":until": times.to_ms(until), ":holder": permit_id}
        values[":ttl"] = times.to_ms(until) // 1_000 + FORGOTTEN_AFTER_SECONDS
        sets, key = "SET #until = :until, #holder = :holder, #ttl = :ttl", keys.polls(by.workspace, by.key)
        self._table.update(key, sets, NOT_HELD, values, until=f"until_{slot}", holder=f"holder_{slot}")


def _paused(by: Principal) -> str:
    return f"paused_{_number_of(by.token_id)}"


def _number_of(name: str) -> int:
    """Returns a short digest for the name of an attribute."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "big")


def _held(item: Item, most: int) -> dict[int, datetime]:
    return {slot: times.from_ms(int(item[f"until_{slot}"])) for slot in range(most) if f"until_{slot}" in item}


def _window(at: datetime) -> int:
    return int(at.timestamp() // WINDOW_SECONDS)

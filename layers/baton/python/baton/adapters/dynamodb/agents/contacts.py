"""When each agent was last heard of, in items of their own, so that no claim waits for another."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime, timedelta

from baton.adapters.dynamodb import keys
from baton.adapters.dynamodb.puts import put
from baton.adapters.dynamodb.table import ConditionFailed, Table
from baton.domain import times

# The contact wasn't marked lately.
NOT_LATELY = "attribute_not_exists(#at_ms) OR #at_ms <= :lately"
# The most agents that a process remembers. Beyond it, a mark costs one refused write each, nothing else.
MAX_REMEMBERED = 10_000


class Contacts:
    def __init__(self, table: Table) -> None:
        self._table = table
        self._tried: dict[tuple[str, str], datetime] = {}

    def mark_contact(self, workspace: str, agent: str, now: datetime, every: timedelta) -> None:
        """Tries once, as the caller already has its answer. A failed mark isn't retried within ``every``."""
        tried = self._tried.get((workspace, agent))
        if tried is not None and now - tried < every:
            return
        if len(self._tried) >= MAX_REMEMBERED:
            self._tried.clear()
        self._tried[workspace, agent] = now
        item = {**keys.contact(workspace, agent)._asdict(), "at_ms": times.to_ms(now)}
        with suppress(ConditionFailed):
            self._table.put(put(item, NOT_LATELY, lately=times.to_ms(now - every)), once=True)

    def last_contact(self, workspace: str, agent: str) -> datetime | None:
        item = self._table.get(keys.contact(workspace, agent))
        return None if item is None else times.from_ms(int(item["at_ms"]))

    def last_contacts(self, workspace: str) -> dict[str, datetime]:
        found = self._table.query_all(keys.contacts(workspace))
        return {item["sk"]: times.from_ms(int(item["at_ms"])) for item in found}

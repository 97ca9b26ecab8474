"""The store's agents, settings and tokens."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from baton.adapters.dynamodb import items, keys
from baton.adapters.dynamodb.access.idempotency_writes import response_put
from baton.adapters.dynamodb.agents.catalogue import Catalogue, EntryVersion, kept_version, read_catalogue, version_of
from baton.adapters.dynamodb.agents.contacts import Contacts
from baton.adapters.dynamodb.item_writes import Item, ItemWrite, KeyBar, Marker
from baton.adapters.dynamodb.pending_check import PendingCheck
from baton.adapters.dynamodb.puts import NOT_THERE_YET, put, put_version
from baton.adapters.dynamodb.runs.run_items import profile_item
from baton.adapters.dynamodb.table import Table, to_wire
from baton.domain import errors, times
from baton.domain.access.principal import Principal
from baton.domain.access.settings import Settings
from baton.domain.access.token import Token
from baton.domain.agents.agent import Agent, Roster
from baton.domain.idempotency import IdempotencyKey
from baton.domain.runs.run_profile import RunProfile
from baton.ports.paging import Page

# The most agents that a process caches. Beyond it, the least recently used workspaces' rosters go.
MAX_KEPT_AGENTS = 5_000


class Registry(Contacts):
    def __init__(self, table: Table) -> None:
        super().__init__(table)
        self._rosters: OrderedDict[str, Roster] = OrderedDict()

    def roster(self, workspace: str) -> Roster:
        """Reads the version before the agents. Agents that change between the two reads are newer than the version
        says, and the next comparison reads them again. In the other order, old agents would be cached under a new
        version."""
        version = version_of(self._table.get(keys.roster(workspace)))
        kept = self._rosters.get(workspace)
        if kept is not None and kept.version == version:
            self._rosters.move_to_end(workspace)
            return kept
        found, _ = read_catalogue(self._table, keys.roster(workspace))
        roster = Roster(tuple(map(items.agent_from, found)), version)
        self._keep(workspace, roster)
        return roster

    def known_roster(self, workspace: str) -> Roster:
        kept = self._rosters.get(workspace)
        return self.roster(workspace) if kept is None else kept

    def forget_rosters(self) -> None:
        """Empties the cache, as in a new process."""
        self._rosters.clear()

    def _keep(self, workspace: str, roster: Roster) -> None:
        self._rosters[workspace] = roster
        self._rosters.move_to_end(workspace)
        while len(self._rosters) > 1 and sum(len(each.agents) for each in self._rosters.values()) > MAX_KEPT_AGENTS:
            self._rosters.popitem(last=False)

    def agent(self, workspace: str, slug: str) -> Agent | None:
        item = self._table.get(keys.agent(workspace, slug))
        return None if item is None else items.agent_from(item)

    def dispatch_inputs(self, workspace: str, slug: str) -> tuple[Agent | None, Settings]:
        agent, settings = keys.agent(workspace, slug), keys.settings(workspace)
        found = self._table.get_many([agent, settings])
        return (
            items.agent_from(found[agent]) if agent in found else None,
            items.settings_from(found.get(settings)),
        )

    def save_agent(self, agent: Agent, roster: Roster, profile: RunProfile | None = None) -> None:
        entry = EntryVersion(
            what="agent",
            item=items.agent_item(agent),
            kept_at=keys.agent_version(agent.workspace, agent.slug, agent.version),
            index=items.agent_queued(agent),
        )
        also = [] if profile is None else [put(profile_item(profile))]
        Catalogue("roster", keys.roster(agent.workspace), roster.version).save(self._table, entry, *also)
        self._keep(agent.workspace, roster.saved(agent))  # nobody changed another agent: the write required that

    def settings(self, workspace: str) -> Settings:
        return items.settings_from(self._table.get(keys.settings(workspace)))

    def save_settings(self, workspace: str, settings: Settings, by: Principal, at: datetime) -> None:
        item = {**items.settings_item(workspace, settings), "updated_by": by.key, "updated_at": times.rfc3339(at)}
        entry = EntryVersion(what="settings", item=item, kept_at=keys.settings_version(workspace, settings.version))

        self._table.write([put_version(item, settings.version, entry.what), kept_version(entry)])

    def token(self, token_id: str) -> Token | None:
        item = self._table.get(keys.token(token_id))
        return None if item is None else items.token_from(item)

    @contextmanager
    def resting_on(self, token_id: str, judge: Callable[[Token | None], None]) -> Iterator[Callable[[], None]]:
        key = keys.token(token_id)

        def judge_items(found: Mapping[keys.Key, Item]) -> None:
            judge(items.token_from(found[key]) if key in found else None)

        with self._table.resting_on(PendingCheck((key,), judge_items)) as settle:
            yield settle

    def add_token(self, token: Token, idempotency_key: IdempotencyKey | None = None) -> None:
        bar = KeyBar(keys.token(token.id))
        self._table.write(
            [
                put(items.token_item(token), NOT_THERE_YET, lambda: errors.Conflict("token"), Marker.LASTING, bar),
                put(items.listed_token_item(token)),
                *([response_put(idempotency_key, {"token_id": token.id})] if idempotency_key else []),
            ]
        )

    def save_revocation(self, token: Token) -> None:
        """Revokes the token in both items that show it. A second revocation keeps the first one's time and principal,
        so this needs no condition on it. The token item's ``written_by`` keeps the token of its creation."""
        listed = keys.Key(keys.tokens(token.workspace), token.id)
        self._table.write([_revocation(keys.token(token.id), token), _revocation(listed, token, Marker.CHANGING)])

    def tokens(self, workspace: str, limit: int, cursor: str | None) -> Page:
        found, cursor = self._newest(keys.tokens(workspace), limit, cursor)
        return Page(tuple(map(items.token_from, found)), cursor)

    def _index_page(
        self, index: str, partition: str, start: str, limit: int, until: str | None = None
    ) -> list[dict[str, Any]]:
        """Returns the index entries after ``start``, up to ``until``."""
        condition, values = "#pk = :pk AND #sk > :start", {":pk": partition, ":start": start}
        if until is not None:
            # A key condition takes a single range: BETWEEN starts at the next possible sort key after ``start``.
            condition, values = "#pk = :pk AND #sk BETWEEN :start AND :until", {**values, ":start": start + " "}
            values[":until"] = until
        return self._table.query(condition, values, limit=limit, IndexName=index)

    def _newest(self, partition: str, limit: int, cursor: str | None) -> tuple[list[dict[str, Any]], str | None]:
        """Returns a page of a partition whose sort keys are sortable ids, newest first, and the next page's cursor. Of
        a partition that is spread, each shard is read."""
        condition, values = "#pk = :pk", {}
        if cursor is not None:
            condition, values = condition + " AND #sk < :cursor", {":cursor": cursor}
        found: dict[str, dict[str, Any]] = {}
        for shard in self._table.shards.all_of(partition):
            here = self._table.query(condition, {":pk": shard, **values}, limit=limit + 1, newest_first=True)
            found |= {item["sk"]: item for item in here}
        page = [found[sk] for sk in sorted(found, reverse=True)[:limit]]
        return page, page[-1]["sk"] if len(found) > limit else None


def _revocation(key: keys.Key, token: Token, marker: Marker = Marker.NONE) -> ItemWrite:
    at = "" if token.revoked_at is None else times.rfc3339(token.revoked_at)
    sets = "SET #at = if_not_exists(#at, :at), #by = if_not_exists(#by, :by)"
    names = {"#at": "revoked_at", "#by": "revoked_by", "#pk": "pk"}
    if marker is not Marker.NONE:
        sets, names = f"{sets}, #written_by = :written_by", {**names, "#written_by": "written_by"}
    request = {
        "Key": to_wire(key._asdict()),
        "UpdateExpression": sets,
        "ConditionExpression": "attribute_exists(#pk)",
        "ExpressionAttributeNames": names,
        "ExpressionAttributeValues": to_wire({":at": at, ":by": token.revoked_by}),
    }
    return ItemWrite("Update", request, lambda: errors.Conflict("token"), marker)

"""The store's agents, settings and tokens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from baton.adapters.dynamodb import items, keys
from baton.adapters.dynamodb.access.idempotency_writes import response_put
from baton.adapters.dynamodb.agents.catalogue import Catalogue, EntryVersion, kept_version
from baton.adapters.dynamodb.agents.configs import Configs, config_raises
from baton.adapters.dynamodb.item_writes import Item, ItemWrite, KeyBar, Marker
from baton.adapters.dynamodb.puts import NOT_THERE_YET, put, put_version
from baton.adapters.dynamodb.runs.run_items import profile_item
from baton.adapters.dynamodb.table import to_wire
from baton.domain import errors, times
from baton.domain.access.principal import Principal
from baton.domain.access.settings import Settings
from baton.domain.access.token import Credentials, Token
from baton.domain.agents.agent import Agent, Roster
from baton.domain.idempotency import IdempotencyKey
from baton.domain.runs.run_profile import RunProfile
from baton.ports.paging import Page


class Registry(Configs):
    def roster(self, workspace: str) -> Roster:
        return self.config(workspace).roster

    def agent(self, workspace: str, slug: str) -> Agent | None:
        return self.config(workspace).roster.find(slug)

    def dispatch_inputs(self, workspace: str, slug: str) -> tuple[Agent | None, Settings]:
        config = self.config(workspace)
        return config.roster.find(slug), config.settings

    def save_agent(self, agent: Agent, roster: Roster, profile: RunProfile | None = None) -> None:
        entry = EntryVersion(
            what="agent",
            item=items.agent_item(agent),
            kept_at=keys.agent_version(agent.workspace, agent.slug, agent.version),
            index=items.agent_queued(agent),
        )
        also = [] if profile is None else [put(profile_item(profile))]
        also += config_raises(agent.workspace)
        Catalogue("roster", keys.roster(agent.workspace), roster.version).save(self._table, entry, *also)
        self.keep_roster(agent.workspace, roster.saved(agent))  # nobody changed another agent: the write required that
        self.read_anew()

    def settings(self, workspace: str) -> Settings:
        return self.config(workspace).settings

    def save_settings(self, workspace: str, settings: Settings, by: Principal, at: datetime) -> None:
        item = {**items.settings_item(workspace, settings), "updated_by": by.key, "updated_at": times.rfc3339(at)}
        entry = EntryVersion(what="settings", item=item, kept_at=keys.settings_version(workspace, settings.version))
        written = [put_version(item, settings.version, entry.what), kept_version(entry)]
        self._table.write([*written, *config_raises(workspace)])
        self.read_anew()

    def token(self, token_id: str) -> Token | None:
        item = self._table.get(keys.token(token_id))
        token = None if item is None else items.token_from(item)
        if token is None or token.session_of is None:
            return token
        parent_key = keys.token(token.session_of)
        return _under_its_parent(token, {parent_key: item} if (item := self._table.get(parent_key)) else {})

    def tokens_of(self, ids: Sequence[str]) -> dict[str, Token]:
        """Parents are read after their sessions: a revocation before that is seen."""
        found = self._table.get_many([keys.token(each) for each in ids])
        tokens = [items.token_from(item) for item in found.values()]
        parents = [keys.token(each.session_of) for each in tokens if each.session_of is not None]
        of_parents = self._table.get_many(parents)
        present = (_under_its_parent(each, of_parents) for each in tokens)
        return {each.id: each for each in present if each is not None}

    def present_token(self, shown: Credentials, now: datetime) -> Token | None:
        """A copy that was read after the version that holds now is as the token is: a revocation would have raised the
        version. A renewal raises none, so a copy whose time is up is read again."""
        kept, version = self._tokens.get(shown.token_id), None
        if kept is not None and kept[0].admits(shown, now):
            copy, read_under = kept
            version = self.version(copy.workspace)
            if read_under == version:
                return copy
            self._tokens.forget(copy.id)
        present = self.token(shown.token_id)
        if present is not None and present.admits(shown, now):
            self._tokens.keep(present.id, (present, version))
        return present

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
        revoked = [_revocation(keys.token(token.id), token), _revocation(listed, token, Marker.CHANGING)]
        self._table.write([*revoked, *config_raises(token.workspace)])

    def tokens(self, workspace: str, limit: int, cursor: str | None) -> Page:
        """A session's own item says how long it lasts."""
        found, cursor = self._newest(keys.tokens(workspace), limit, cursor)
        listed = [items.token_from(item) for item in found]
        sessions = self.tokens_of([each.id for each in listed if each.is_session])
        return Page(tuple(replace(sessions.get(each.id, each), digest="") for each in listed), cursor)

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

    def _newest(
        self, partition: str, limit: int, cursor: str | None, index: str | None = None
    ) -> tuple[list[dict[str, Any]], str | None]:
        """Returns a page of a partition whose sort keys are sortable ids, newest first, and the next page's cursor. Of
        a partition that is spread, each shard is read."""
        sort_key, more = keys.attributes_of(index).sk, {} if index is None else {"IndexName": index}
        condition, values = "#pk = :pk", {}
        if cursor is not None:
            condition, values = condition + " AND #sk < :cursor", {":cursor": cursor}
        found: dict[str, dict[str, Any]] = {}
        for shard in self._table.shards.all_of(partition):
            here = self._table.query(condition, {":pk": shard, **values}, limit=limit + 1, newest_first=True, **more)
            found |= {item[sort_key]: item for item in here}
        page = [found[sk] for sk in sorted(found, reverse=True)[:limit]]
        return page, page[-1][sort_key] if len(found) > limit else None


def _under_its_parent(token: Token, found: Mapping[keys.Key, Item]) -> Token | None:
    """Returns the session as its parent leaves it: None if that is gone. ``found``: the parent's item, if there is
    one."""
    if token.session_of is None:
        return token
    parent = found.get(keys.token(token.session_of))
    return None if parent is None else token.under(items.token_from(parent))


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

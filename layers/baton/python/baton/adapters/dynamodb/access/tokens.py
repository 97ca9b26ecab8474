"""The store's tokens. A session is read with its parent. A request rests on the caller's token as it is now, by the
version that a revocation raises (docs/decisions/034-the-function-checks-the-token.md)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from baton.adapters.dynamodb import items, keys
from baton.adapters.dynamodb.access.idempotency_writes import response_put
from baton.adapters.dynamodb.access.people_items import ended_from, regained_from
from baton.adapters.dynamodb.access.recorded_writes import recorded_writes
from baton.adapters.dynamodb.agents.workspace_configs import WorkspaceConfigs, config_raises
from baton.adapters.dynamodb.item_writes import Fitness, Item, ItemWrite, KeyBar
from baton.adapters.dynamodb.puts import NOT_THERE_YET, put, update
from baton.adapters.dynamodb.table import Table
from baton.domain import errors, times
from baton.domain.access.person import People, Person, people_of
from baton.domain.access.principal import is_tracker_human
from baton.domain.access.token import Credentials, Token
from baton.domain.idempotency import IdempotencyKey
from baton.domain.ids import beginning_at, made_at
from baton.domain.numbers import loads
from baton.ports.access import Recorded
from baton.ports.paging import Page

# Two releases run beside each other for minutes, and the clocks of servers differ.
_RELEASES_OVERLAP = times.seconds(3_600)


@dataclass(eq=False)
class Tokens:
    _table: Table
    _configs: WorkspaceConfigs

    def token(self, token_id: str) -> Token | None:
        item = self._table.get(keys.token(token_id))
        token = None if item is None else items.token_from(item)
        if token is None or token.session_of is None:
            return token
        parent_key = keys.token(token.session_of)
        return under_its_parent(token, {parent_key: item} if (item := self._table.get(parent_key)) else {})

    def present_token(self, shown: Credentials, now: datetime) -> Token | None:
        """A copy that was read after the version that holds now is as the token is: a revocation would have raised the
        version. A renewal raises none, so a copy whose time is up is read again."""
        kept, version = self._configs.tokens.get(shown.token_id), None
        if kept is not None and kept[0].admits(shown, now):
            copy, read_under = kept
            version = self._configs.version(copy.workspace)
            if read_under == version:
                return copy
            self._configs.tokens.forget(copy.id)
        present = self.token(shown.token_id)
        if present is not None and present.admits(shown, now):
            self._configs.tokens.keep(present.id, (present, version))
        return present

    def tokens_of(self, ids: Sequence[str]) -> dict[str, Token]:
        """Parents are read after their sessions: a revocation before that is seen."""
        found = self._table.get_many([keys.token(each) for each in ids])
        tokens = [items.token_from(item) for item in found.values()]
        parents = [keys.token(each.session_of) for each in tokens if each.session_of is not None]
        of_parents = self._table.get_many(parents)
        present = (under_its_parent(each, of_parents) for each in tokens)
        return {each.id: each for each in present if each is not None}

    def add_token(
        self, token: Token, idempotency_key: IdempotencyKey | None = None, recorded: Recorded | None = None
    ) -> None:
        bar = KeyBar(keys.token(token.id))
        self._table.write(
            [
                put(items.token_item(token), NOT_THERE_YET, lambda: errors.Conflict("token"), Fitness.LASTING, bar),
                put(items.listed_token_item(token)),
                *([response_put(idempotency_key, {"token_id": token.id})] if idempotency_key else []),
                *recorded_writes(recorded),
                *(config_raises(token.workspace) if recorded and recorded.people else ()),
            ]
        )
        self._configs.read_anew()

    def people(self, workspace: str) -> People:
        item = self._table.get(keys.people(workspace))
        if item is None:
            return people_of(workspace, map(items.token_from, self._table.query_all(keys.tokens(workspace))))
        ids = [token_id for each in loads(item["tokens"]).values() for token_id in each]
        people = people_of(workspace, self._all_of(ids), int(item["version"]), regained_from(item), ended_from(item))
        return people.with_unlisted(self._made_since(workspace, max(ids, default="")))

    def has_been_issued(self, workspace: str, name: str) -> bool:
        """Tokens stay listed for ever. Reads the whole list, for the few tokens of people."""
        listed = map(items.token_from, self._table.query_all(keys.tokens(workspace)))
        return any(each.is_of_a_person and each.subject == name for each in listed)

    def _made_since(self, workspace: str, newest_id: str) -> Iterator[Token]:
        """Yields the listed tokens, oldest first, from an hour before the newest of the people's. The writer of the
        people had read all older tokens."""
        at = made_at(newest_id)
        first = {} if at is None else {"first": beginning_at("t", at - _RELEASES_OVERLAP).removeprefix("t_")}
        return map(items.token_from, self._table.query_all(keys.tokens(workspace), **first))

    def person(self, workspace: str, name: str) -> Person:
        version = self._configs.version(workspace)
        kept = self._configs.persons.get((workspace, name))
        if kept is not None and kept[1] == version:
            return kept[0]
        item = self._table.get(keys.people(workspace))
        if item is None:
            person = self.people(workspace).named(name)
        else:
            own = self._all_of(loads(item["tokens"]).get(name, ()))
            person = people_of(workspace, own, 0, regained_from(item), ended_from(item)).named(name)
            is_listed = person.held or is_tracker_human(name)
            person = person if is_listed else self.people(workspace).named(name)
        self._configs.persons.keep((workspace, name), (person, version))
        return person

    def _all_of(self, ids: Sequence[str]) -> Iterator[Token]:
        return map(items.token_from, self._table.get_all([keys.token(each) for each in ids]).values())

    def save_revocation(self, token: Token, recorded: Recorded | None = None) -> None:
        """Revokes the token in both items that show it. A second revocation keeps the first one's time and principal,
        so this needs no condition on it. The token item's ``written_by`` keeps the token of its creation."""
        listed = keys.Key(keys.tokens(token.workspace), token.id)
        revoked = [_revocation(keys.token(token.id), token), _revocation(listed, token, Fitness.CHANGING)]
        self._table.write([*revoked, *config_raises(token.workspace), *recorded_writes(recorded)])
        self._configs.read_anew()

    def save_people(self, workspace: str, recorded: Recorded, idempotency_key: IdempotencyKey | None = None) -> None:
        saved = [response_put(idempotency_key, {})] if idempotency_key else []
        self._table.write([*recorded_writes(recorded), *config_raises(workspace), *saved])
        self._configs.read_anew()

    def listed(self, workspace: str, limit: int, cursor: str | None) -> Page:
        """A session's own item says how long it lasts."""
        found, cursor = self._table.newest(keys.tokens(workspace), limit, cursor)
        listed = [items.token_from(item) for item in found]
        sessions = self.tokens_of([each.id for each in listed if each.is_session])
        return Page(tuple(replace(sessions.get(each.id, each), digest="") for each in listed), cursor)

    def first_made_at(self, workspace: str) -> datetime | None:
        return next((items.token_from(each).created_at for each in self._table.query(keys.tokens(workspace), 1)), None)


def under_its_parent(token: Token, found: Mapping[keys.Key, Item]) -> Token | None:
    """Returns the session as its parent leaves it: None if that is gone. ``found``: the parent's item, if there is
    one."""
    if token.session_of is None:
        return token
    parent = found.get(keys.token(token.session_of))
    return None if parent is None else token.under(items.token_from(parent))


def _revocation(key: keys.Key, token: Token, fitness: Fitness = Fitness.NONE) -> ItemWrite:
    at = "" if token.revoked_at is None else times.rfc3339(token.revoked_at)
    sets = "SET #revoked_at = if_not_exists(#revoked_at, :at), #revoked_by = if_not_exists(#revoked_by, :by)"
    if fitness is not Fitness.NONE:
        sets = f"{sets}, #written_by = :written_by"
    values, refused = {":at": at, ":by": token.revoked_by}, (lambda: errors.Conflict("token"))
    return replace(update(key, sets, "attribute_exists(#pk)", values, refused), fitness=fitness)

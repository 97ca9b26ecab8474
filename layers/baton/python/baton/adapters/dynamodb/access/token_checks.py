"""The check that a request rests on: the caller's token as it is now, by the version that a revocation raises
(docs/decisions/034-the-function-checks-the-token.md)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from baton.adapters.dynamodb import items, keys
from baton.adapters.dynamodb.access.tokens import Tokens, under_its_parent
from baton.adapters.dynamodb.agents.catalogue import version_of
from baton.adapters.dynamodb.agents.configs import Configs
from baton.adapters.dynamodb.item_writes import Item
from baton.adapters.dynamodb.pending_check import PendingCheck
from baton.domain.access.token import Token


class TokenChecks(Tokens, Configs):
    @contextmanager
    def resting_on(self, known: Token, judge: Callable[[Token | None], None]) -> Iterator[Callable[[], None]]:
        """A token that was read after the version that holds now is as it was: a revocation would have raised it."""
        workspace, token_key = known.workspace, keys.token(known.id)
        token_keys = (token_key,) if known.session_of is None else (token_key, keys.token(known.session_of))
        version_key = self.next_version_key(workspace)
        seen, before = self._tokens.get(known.id), self.seen_version(workspace)
        if seen is not None and seen[0] != known:
            seen = None  # a session that was renewed since

        def judge_items(found: Mapping[keys.Key, Item]) -> None:
            version = version_of(found.get(version_key))
            self.saw_version(workspace, version)
            if seen is not None and seen[1] == version:
                judge(seen[0])
                return
            is_here = token_key in check.wanted
            present = _token_in(found, token_key) if is_here else self.token(known.id)
            judge(present)
            if present is not None and (not is_here or before == version):
                self._tokens.keep(known.id, (present, version))

        check = PendingCheck((version_key,) if seen is not None else (version_key, *token_keys), judge_items)
        with self._table.resting_on(check) as settle:
            yield settle

    @contextmanager
    def at_one_version(self, workspace: str) -> Iterator[None]:
        with self._table.resting_on(PendingCheck((self.next_version_key(workspace),), lambda _: None)):
            yield

    def demand(self, judge: Callable[[], None]) -> None:
        check = self._table.check
        if check is None:
            judge()
        else:
            check.demand(judge)

    def read_anew(self) -> None:
        self._table.read_anew()


def _token_in(found: Mapping[keys.Key, Item], key: keys.Key) -> Token | None:
    return under_its_parent(items.token_from(found[key]), found) if key in found else None

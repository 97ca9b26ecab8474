"""Tokens, sessions, and the codes that open one: what was revoked stays so, what is over opens nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulation.oracle.items import item_of, to_ms
from simulation.ports import BEGIN, WORKSPACE

if TYPE_CHECKING:
    from simulation.oracle.ledger import Item, Transaction
    from simulation.oracle.trust.people import People
    from simulation.oracle.verdict import Verdict
    from simulation.simulation import Simulation

BEGIN_MS = int(BEGIN.timestamp() * 1000)
LONGEST_MS, MAX_SESSIONS = 43_200_000, 20


class Sessions:
    def __init__(self, sim: Simulation, verdict: Verdict, people: People) -> None:
        self._sim, self._people = sim, people
        self._must = verdict.must
        # By code: the first session that it has opened.
        self._opened: dict[str, str] = {}
        # By token: at which step it was.
        self.revoked_at: dict[str, int] = {}

    def is_written(self, tx: Transaction, token_id: str, sk: str, old: Item | None, new: Item | None) -> None:
        """One that is over may be deleted."""
        if sk == "CODE" and old and new:
            self._must(
                "session_id" not in old, "a code has opened {}, and opens another session", old.get("session_id")
            )
        if sk != "TOKEN" or new is None:
            return
        before = old or {}
        self._people.is_written(token_id, old, new)
        self._sim.oracle.deeds.changes_token(old, new)
        tx.changed.tokens.append((old, new))
        if "revoked_at" in before:
            changed = {name for name in {*before, *new} if before.get(name) != new.get(name)}
            self._must(not changed, "token {} was revoked, and its {} changed", token_id, changed)
        elif "revoked_at" in new:
            self.revoked_at[token_id] = self._sim.steps
        if "session_of" in new:
            longest = to_ms(new["expires_at"]) - to_ms(new["created_at"])
            self._must(longest <= LONGEST_MS, "session {} lasts for {} ms", token_id, longest)
            parent = item_of(self._sim.dynamo.item((f"TOKEN#{new['session_of']}", "TOKEN"))) or {}
            is_within = "expires_at" not in parent or to_ms(new["expires_at"]) <= to_ms(parent["expires_at"])
            self._must(is_within, "session {} lasts longer than the token that it was opened with", token_id)
            tx.sessions += [(new["session_of"], token_id)] if old is None else []

    def are_listed(self, tx: Transaction) -> None:
        """With all others of their token that are open, and no more than there may be."""
        for parent, session_id in tx.sessions:
            item = item_of(self._sim.dynamo.item((f"WS#{WORKSPACE}#SESSIONS#{parent}", "SESSIONS"))) or {"ids": []}
            ids = set(item["ids"])
            self._must(session_id in ids, "session {} is in no list", session_id)
            self._must(len(ids) <= MAX_SESSIONS, "{} has {} sessions", parent, len(ids))
            left = self._open_sessions_of(parent) - ids
            self._must(not left, "sessions {} of {} are open, and in no list", left, parent)

    def is_opened_in_time(self, began_ms: int, code: str, expires_ms: int, session_id: str) -> None:
        """``began_ms``: when whoever shows it came, by the true clock."""
        is_over = began_ms + BEGIN_MS - self._sim.habits.skew_ms >= expires_ms
        self._must(not is_over, "a code that is over since {} has opened {}", expires_ms, session_id)
        first = self._opened.setdefault(code, session_id)
        self._must(first == session_id, "one code has opened the sessions {} and {}", first, session_id)

    def is_over(self, token_id: str) -> bool:
        """By everybody's clock, as it is stored now."""
        item = item_of(self._sim.dynamo.item((f"TOKEN#{token_id}", "TOKEN")))
        if item is None or "expires_at" not in item:
            return item is None
        return self._sim.now_ms + BEGIN_MS - self._sim.habits.skew_ms >= to_ms(item["expires_at"])

    def _open_sessions_of(self, parent: str) -> set[str]:
        """Of those that last: the list may leave out what is over by its writer's clock."""
        latest_ms = self._sim.now_ms + BEGIN_MS + self._sim.habits.skew_ms + 60_000
        found = set()
        for pk, rows in self._sim.dynamo.items.items():
            if pk.startswith("TOKEN#") and (item := item_of(rows.get("TOKEN"))) and "session_of" in item:
                lasts = to_ms(item["expires_at"]) > latest_ms and "revoked_at" not in item
                found |= {item["id"]} if lasts and item["session_of"] == parent else set()
        return found

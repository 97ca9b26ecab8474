"""The part of the memory store that isn't about tasks: agents, settings, tokens, and what was answered."""

from __future__ import annotations

from bisect import bisect_right
from copy import deepcopy
from dataclasses import replace
from threading import RLock
from typing import TYPE_CHECKING, Any

from baton.domain.agent import Roster
from baton.domain.errors import Conflict, KeyTaken
from baton.domain.liveness import MARKED_EVERY
from baton.domain.polls import free_slots
from baton.domain.settings import Settings
from baton.ports import Page, PollPermit

if TYPE_CHECKING:
    from datetime import datetime

    from baton.domain.agent import Agent
    from baton.domain.idempotency import Once, Remembered
    from baton.domain.principal import Principal
    from baton.domain.run_profile import RunProfile
    from baton.domain.token import Token


class MemoryRegistry:
    def __init__(self) -> None:
        self._lock = RLock()
        self._remembered: dict[str, Remembered] = {}
        self._rosters: dict[str, Roster] = {}
        self._profiles: dict[tuple[str, str], RunProfile] = {}
        self._contacts: dict[tuple[str, str], datetime] = {}
        self._settings: dict[str, Settings] = {}
        self._tokens: dict[str, Token] = {}
        self._uses: dict[tuple[str, str, int], tuple[int, int]] = {}
        self._polls: dict[tuple[str, str], dict[int, tuple[datetime, str]]] = {}

    def remembered(self, once: Once) -> Remembered | None:
        with self._lock:
            return deepcopy(self._remembered.get(once.digest))

    def roster(self, workspace: str) -> Roster:
        with self._lock:
            return self._rosters.get(workspace, Roster())

    def known_roster(self, workspace: str) -> Roster:
        """Always as they are now: nothing is kept twice here."""
        return self.roster(workspace)

    def agent(self, workspace: str, slug: str) -> Agent | None:
        return next((agent for agent in self.roster(workspace) if agent.slug == slug), None)

    def dispatch_facts(self, workspace: str, slug: str) -> tuple[Agent | None, Settings]:
        with self._lock:
            return self.agent(workspace, slug), self.settings(workspace)

    def save_agent(self, agent: Agent, roster: Roster, profile: RunProfile | None = None) -> None:
        with self._lock:
            held = self.roster(agent.workspace)
            if held.version != roster.version:
                raise Conflict("roster")
            self._rosters[agent.workspace] = held.saved(agent)
            if profile is not None:
                self._profiles[profile.workspace, profile.slug] = profile

    def mark_contact(self, workspace: str, agent: str, now: datetime) -> None:
        with self._lock:
            last = self._contacts.get((workspace, agent))
            if last is None or now - last >= MARKED_EVERY:
                self._contacts[workspace, agent] = now

    def last_contact(self, workspace: str, agent: str) -> datetime | None:
        with self._lock:
            return self._contacts.get((workspace, agent))

    def last_contacts(self, workspace: str) -> dict[str, datetime]:
        with self._lock:
            return {slug: at for (where, slug), at in self._contacts.items() if where == workspace}

    def settings(self, workspace: str) -> Settings:
        with self._lock:
            return self._settings.get(workspace, Settings())

    def save_settings(self, workspace: str, settings: Settings, by: Principal, at: datetime) -> None:  # noqa: ARG002
        with self._lock:
            if self.settings(workspace).version != settings.version - 1:
                raise Conflict("settings")
            self._settings[workspace] = settings

    def count_use(self, by: Principal, minute: int, requests: int, size: int) -> tuple[int, int]:
        with self._lock:
            before = self._uses.get((by.workspace, by.key, minute), (0, 0))
            counted = before[0] + requests, before[1] + size
            self._uses[by.workspace, by.key, minute] = counted
            return counted

    def begin_poll(self, by: Principal, permit_id: str, now: datetime, until: datetime) -> PollPermit:
        with self._lock:
            held = self._polls.setdefault((by.workspace, by.key), {})
            slot = free_slots({slot: ends for slot, (ends, _) in held.items()}, now)[0]
            held[slot] = until, permit_id
            return PollPermit(by.workspace, by.key, slot, permit_id)

    def end_poll(self, permit: PollPermit) -> None:
        with self._lock:
            held = self._polls.get((permit.workspace, permit.by), {})
            if permit.slot in held and held[permit.slot][1] == permit.id:
                del held[permit.slot]

    def token(self, token_id: str) -> Token | None:
        with self._lock:
            return self._tokens.get(token_id)

    def add_token(self, token: Token, once: Once | None = None) -> None:
        with self._lock:
            if once:
                self._must_be_new(once)
                self._remembered[once.digest] = once.remember({"token_id": token.id})
            self._tokens[token.id] = token

    def save_revocation(self, token: Token) -> None:
        with self._lock:
            if self._tokens[token.id].revoked_at is None:
                self._tokens[token.id] = token

    def _must_be_new(self, once: Once) -> None:
        """Or over by now. Raises ``KeyTaken``."""
        remembered = self._remembered.get(once.digest)
        if remembered is not None and not remembered.is_over(once.at):
            raise KeyTaken

    def tokens(self, workspace: str, limit: int, cursor: str | None) -> Page:
        with self._lock:
            tokens = [token for token in self._tokens.values() if token.workspace == workspace]
        found = {token.id: replace(token, digest="") for token in tokens}
        return page(found, limit, cursor, newest_first=True)


def page(found: dict[str, Any], limit: int, cursor: str | None, *, newest_first: bool = False) -> Page:
    keys: list[str] = sorted(found)
    if newest_first:
        keys = [key for key in reversed(keys) if cursor is None or key < cursor]
    elif cursor is not None:
        keys = keys[bisect_right(keys, cursor) :]
    shown = keys[:limit]
    return Page(tuple(found[key] for key in shown), shown[-1] if len(keys) > limit else None)

"""Administrators: they set the workspace up while others work in it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from baton.domain.access.principal import PrincipalKind
from baton.domain.access.token import Token, credentials_from
from baton.domain.agents.route import Mode
from baton.domain.errors import TokenRefused
from baton.domain.handoffs.handoff_message import message_from
from baton.services.access.authenticate import admit
from baton.services.access.change_settings import change_settings
from baton.services.access.issue_token import TokenRequest, issue_token
from baton.services.access.open_session import make_session_code, open_session, redeem_session_code
from baton.services.access.renew_session import renew_session
from baton.services.access.revoke_token import revoke_token
from baton.services.agents.change_route import change_route, remove_route
from baton.services.agents.define_tool import define_tool
from baton.services.agents.import_agents import import_agents
from baton.services.handoffs.create_handoff import CreateHandoff, create_handoff
from simulation.actors.people import ALL, RUN, SERVICE, human
from simulation.oracle.items import to_ms
from simulation.requests import Answered, Outcome
from simulation.simulation import CONTAINERS

if TYPE_CHECKING:
    from datetime import datetime

    from simulation.actors.actor_context import ActorContext

WORK_TYPES = ("audit", "review")
SETTINGS: tuple[dict[str, Any], ...] = (
    {"dispatch_delay_seconds": 0},
    {"dispatch_delay_seconds": 30},
    {"waiting_alert_seconds": 3_600},
    {"unclaimed_alert_seconds": 60},
    {"unclaimed_alert_seconds": 3_600},
)


class Administrator:
    def __init__(self, context: ActorContext) -> None:
        self._context, self._sim, self._draw = context, context.sim, context.draw
        # Tokens' texts by id, and the ids of those that were revoked.
        self._tokens: dict[str, str] = {}
        self._revoked: set[str] = set()
        # Humans' tokens that sessions are opened with, and the sessions.
        self._humans: list[Token] = []
        self._sessions: dict[str, Token] = {}
        # And codes that open one, with when they are over.
        self._codes: list[tuple[str, int]] = []

    def act(self) -> None:
        acts = [self._route, self._route, self._work, self._work, self._work, self._settings, self._tool, self._import]
        while not self._sim.is_stopping:
            self._context.rest(60)
            tokens = [self._issue, self._open, self._make_code, self._redeem, self._redeem, self._renew, self._revoke]
            self._sim.pick([*acts, *tokens, self._enter, self._enter])()

    def _ask(self, name: str, act: Callable[[], object]) -> None:
        self._context.ask(name, human(), lambda _once: act(), is_keyed=False, most_effects=2)

    def _route(self) -> None:
        sim, work_type = self._sim, self._sim.pick(WORK_TYPES)
        if self._draw(5) == 4:
            self._ask("route", lambda: remove_route(sim.deps, human(), work_type))
            return
        values = {"agent": sim.pick(ALL), "mode": sim.pick([Mode.DISPATCH, Mode.MANUAL]), "dispatch_rank": 0}
        self._ask("route", lambda: change_route(sim.deps, human(), work_type, values))

    def _work(self) -> None:
        sim, work_type, by = self._sim, self._sim.pick(WORK_TYPES), human("bob")
        handoff = {**self._context.message(None), "source": {"agent": by.id}}
        asked = CreateHandoff(message=message_from(handoff), work_type=work_type)
        self._context.ask(
            "hand off by route", by, lambda idempotency_key: create_handoff(sim.deps, by, asked, idempotency_key)
        )

    def _settings(self) -> None:
        sim, values = self._sim, self._sim.pick(SETTINGS)

        def change() -> object:
            request = sim.current.process.request
            assert request
            request.asked = frozenset(values)
            return change_settings(sim.deps, human(), values)

        if self._draw(2):  # and somebody else at the same time
            sim.spawn("settings too", self._settings)
        self._ask("settings", change)

    def _tool(self) -> None:
        sim, text = self._sim, f"ask, version {self._draw(100)}"
        by = sim.pick([human(), SERVICE])
        self._ask("tool", lambda: define_tool(sim.deps, by, "ask_b", {"description": text}))

    def _import(self) -> None:
        sim, accepts = self._sim, tuple(self._sim.pick(["x", "y"]) for _ in range(self._draw(2) + 1))
        declared = {self._sim.pick([*ALL, "z"]): {"accepts": accepts}}
        self._context.look(lambda: import_agents(sim.deps, sim.pick([human(), SERVICE]), declared))

    # Tokens

    def _issue(self) -> None:
        sim, for_bob = self._sim, TokenRequest(kind=PrincipalKind.HUMAN, subject="bob", expires_at=self._end())
        wanted = sim.pick([for_bob, TokenRequest(kind=PrincipalKind.AGENT, subject=sim.pick(RUN))])
        outcome = self._context.ask(
            "token", human(), lambda idempotency_key: issue_token(sim.deps, human(), wanted, idempotency_key)
        )
        # A token in the name of an approver may wait for a second administrator: the value is a change then.
        if isinstance(outcome, Answered) and isinstance(outcome.value, tuple):
            token, text = outcome.value
            self._tokens[token.id] = text
            self._humans += [token] if token.kind is PrincipalKind.HUMAN else []

    def _end(self) -> datetime | None:
        """Of a token: soon, or none."""
        seconds = 1 + self._draw(3 if self._context.habits.is_hot else 300)
        return self._sim.clock.now() + timedelta(seconds=seconds) if self._draw(2) else None

    def _open(self) -> None:
        """A session, by a token or by a code. No code opens two."""
        sim = self._sim
        if not self._humans:
            return
        parent = sim.pick(self._humans)
        outcome = self._context.ask(
            "session",
            parent.principal,
            lambda _once: open_session(sim.deps, parent.principal),
            is_keyed=False,
            most_effects=2,
        )
        self._note_session(outcome)

    def _make_code(self) -> None:
        if self._humans:
            by = self._sim.pick(self._humans).principal
            made = self._context.look(lambda: make_session_code(self._sim.deps, by))
            self._codes += [(made[1], to_ms(made[0].expires_at.isoformat()))] if made else []

    def _redeem(self) -> None:
        """One that may have been shown before, or be over; now and then two show it at once."""
        if not self._codes:
            return
        code, expires_ms = self._sim.pick(self._codes[-3:])
        for _ in range(self._draw(3)):
            self._sim.spawn("redeem", lambda: self._show(code, expires_ms))
        self._show(code, expires_ms)

    def _show(self, code: str, expires_ms: int) -> None:
        sim, began_ms = self._sim, self._sim.now_ms
        outcome = self._context.ask(
            "code",
            human("bob"),
            lambda _once: redeem_session_code(sim.deps, code),
            is_keyed=False,
            tries=1,
            most_effects=2,
        )
        if isinstance(outcome, Answered) and outcome.value is not None:
            sim.oracle.sessions.is_opened_in_time(began_ms, code, expires_ms, outcome.value[0].id)
        self._note_session(outcome)

    def _note_session(self, outcome: Outcome) -> None:
        if isinstance(outcome, Answered) and outcome.value is not None:
            session, text = outcome.value
            self._tokens[session.id], self._sessions[session.id] = text, session

    def _renew(self) -> None:
        sim = self._sim
        if self._sessions:
            session = sim.pick(list(self._sessions.values()))
            self._ask("renewal", lambda: renew_session(sim.deps, session.principal))

    def _enter(self) -> None:
        if self._tokens:
            self._enter_with(self._sim.pick(list(self._tokens)))

    def _enter_with(self, token_id: str) -> None:
        sim = self._sim
        session = self._sessions.get(token_id)
        is_revoked = bool({token_id, session.session_of if session else None} & self._revoked)
        was_over = sim.oracle.sessions.is_over(token_id)

        def enter() -> None:
            with suppress(TokenRefused):
                admit(sim.deps, credentials_from(f"Bearer {self._tokens[token_id]}"))
                sim.oracle.registry.is_let_in(token_id, is_revoked=is_revoked)
                is_over = was_over and sim.oracle.sessions.is_over(token_id)
                sim.oracle.verdict.must(not is_over, "token {} is taken, and was over", token_id)

        self._context.look(enter)

    def _revoke(self) -> None:
        """A token that is in use, and goes on being used."""
        sim = self._sim
        if self._tokens:
            token_id = sim.pick(list(self._tokens))
            for _ in range(CONTAINERS):
                self._enter_with(token_id)
            outcome = self._context.ask(
                "revoke", human(), lambda _once: revoke_token(sim.deps, human(), token_id), is_keyed=False
            )
            if isinstance(outcome, Answered):
                self._revoked.add(token_id)
            self._enter_with(token_id)

"""People who leave: their tokens are revoked or expire, and some come back under the same name, some with less."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from baton.domain.access.workspace_change import WorkspaceChange
from baton.services.access.end_approvals import end_approvals
from baton.services.access.issue_token import issue_token
from baton.services.access.revoke_token import revoke_token
from simulation.actors.people import OPERATOR, human
from simulation.actors.trust.staff import ADMINISTRATOR, LEAVING, MEMBER, RIGHTS, token_request
from simulation.requests import Answered, Outcome

if TYPE_CHECKING:
    from baton.domain.access.principal import Principal
    from baton.domain.access.rights import Right
    from baton.services.access.issue_token import TokenRequest
    from simulation.actors.actor_context import ActorContext


class Leaver:
    """Administrators who send people away, and let them back in."""

    def __init__(self, context: ActorContext) -> None:
        self._context, self._sim, self._draw = context, context.sim, context.draw
        self._revoked: set[str] = set()

    def act(self) -> None:
        while not self._sim.is_stopping:
            self._context.rest(60)
            name = self._sim.pick(LEAVING)
            self._sim.pick([self._leave, self._leave, self._expire, self._promote, self._end, self._end])(name)
            self._context.rest(20)
            if self._draw(6):
                self._return(name)

    def _leave(self, name: str) -> None:
        """By all of their tokens; now and then one is left."""
        own = [each.id for each in self._sim.staff.tokens[name] if each.id not in self._revoked]
        for token_id in own if self._draw(6) else own[1:]:
            self._revoke(self._by(name), token_id)

    def _return(self, name: str) -> None:
        right = RIGHTS[name] if self._draw(6) else MEMBER
        self._issue(name, right, None)

    def _end(self, name: str) -> None:
        """Nothing that they approved counts any more, and they stay."""
        by = self._by(name)
        self._context.ask("end approvals", by, lambda key: end_approvals(self._sim.deps, by, name, key))

    def _expire(self, name: str) -> None:
        """They are given a token that is soon over, and lose the others."""
        self._issue(name, RIGHTS[name], self._ahead())
        own = [each.id for each in self._sim.staff.tokens[name][:-1] if each.id not in self._revoked]
        for token_id in own:
            self._revoke(self._by(name), token_id)

    def _promote(self, _: str) -> None:
        """A person becomes an administrator, mostly for a while."""
        self._issue(self._sim.pick(["bob", "h3"]), ADMINISTRATOR, self._ahead() if self._draw(4) else None)

    def _ahead(self) -> float:
        """Seconds: soon."""
        habits = self._context.habits
        return (50 + self._draw(8_000)) * habits.slowness / 1_000 if habits.is_hot else 1 + self._draw(300)

    def _by(self, name: str) -> Principal:
        """Mostly an administrator; otherwise a person who may not, or the leaver."""
        return human() if self._draw(5) else self._context.person(self._sim.pick(["h0", "mem", name]))

    def _issue(self, name: str, right: Right, ahead: float | None) -> None:
        until = None if ahead is None else self._sim.clock.now() + timedelta(seconds=ahead)
        by = OPERATOR if self._draw(6) else self._context.person(self._sim.pick(["h0", "mem", "boss"]))
        wanted = token_request(name, right, until)
        outcome = self._make(by, wanted)
        if isinstance(outcome, Answered) and isinstance(outcome.value, WorkspaceChange):
            self._context.rest(60)  # another administrator may approve it by then
            self._make(by if self._draw(8) else human("boss"), replace(wanted, change_id=outcome.value.id))

    def _make(self, by: Principal, wanted: TokenRequest) -> Outcome:
        sim = self._sim
        outcome = self._context.ask("token", by, lambda key: issue_token(sim.deps, by, wanted, key))
        if isinstance(outcome, Answered) and isinstance(outcome.value, tuple) and wanted.right is not None:
            token, text = outcome.value
            sim.staff.add(token, text, wanted.right)
        return outcome

    def _revoke(self, by: Principal, token_id: str) -> None:
        sim = self._sim
        outcome = self._context.ask(
            "revoke", by, lambda _once: revoke_token(sim.deps, by, token_id), is_keyed=False, most_effects=2
        )
        if isinstance(outcome, Answered) and not isinstance(outcome.value, WorkspaceChange):
            self._revoked.add(token_id)

"""Those who wait by the bell: workers, callers, pages. They look first, listen, look when they are rung or have heard
nothing for long, and leave in every way. And somebody who silences them."""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

from baton.domain.access.principal import PrincipalKind
from baton.domain.access.token import credentials_from
from baton.domain.bell.listener import topic_of
from baton.domain.errors import BatonError, Busy
from baton.services.access.authenticate import admit
from baton.services.access.issue_token import TokenRequest, issue_token
from baton.services.access.revoke_token import revoke_token
from baton.services.agents.register_agent import register_agent
from baton.services.bell.listen import begin_listening, make_ticket, use_ticket, what_is_due
from baton.services.claims.claim_task import claim_next
from baton.services.handoffs.read_inbox import read_inbox
from baton.services.tasks.list_tasks import tasks_that_need_a_human
from baton.services.tasks.read_task import read_task
from baton.steps.claims.take_task import Claimer
from simulation.actors.actor_context import NothingThere
from simulation.actors.people import agent, human
from simulation.actors.workers import Worker
from simulation.oracle.bell import BEGIN_MS, Ringing
from simulation.oracle.items import to_ms
from simulation.oracle.ledger import ENDED
from simulation.ports import WORKSPACE
from simulation.requests import Answered
from simulation.scheduler import Process

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from simulation.actors.actor_context import ActorContext
    from simulation.bell import Line

LOOK_MS, AGAIN_MS, ANSWERED_WITHIN_MS, LEAVE_MS = 540_000, 2_000, 10_000, 10_000
MANY = 50


class Ear:
    """Connects to one topic at a time, with a token of its own. ``token``: its id and its text."""

    def __init__(self, context: ActorContext, kind: PrincipalKind, subject: str) -> None:
        self._context, self._sim, self._draw = context, context.sim, context.draw
        self._asked = kind, subject
        self.token: tuple[str, str] | None = None

    @property
    def look_ms(self) -> int:
        habits = self._context.habits
        return 1_000 * habits.slowness if habits.is_hot else min(LOOK_MS, 60_000 * habits.tempo)

    def connect(self, topic: str, *, by_ticket: bool = False) -> Line | None:
        """None where it is refused, or nobody knows."""
        sim = self._sim
        if self.token is None or not self._draw(12):
            self._get_token()
        if self.token is None:
            return None
        token_id, text = self.token
        line = sim.connections.line(topic, token_id)
        if by_ticket:
            return self._by_ticket(line, text)
        return self._opened(line, lambda: admit(sim.deps, credentials_from(f"Bearer {text}")))

    def look(self, line: Line) -> bool:
        """Asks what it has missed; the answer is heard as a ring is. False where the connection is over by that."""
        sim = self._sim

        def look() -> object:
            sim.current.process.ringing = Ringing("look", line.id)
            missed = what_is_due(sim.deps, line.id)
            due = {} if missed.due_at is None else {"due_at": missed.due_at.isoformat()}
            return sim.connections.send(line.id, {"looked": str(missed.topic), **due})

        def arrive() -> None:
            sim.current.process = Process(sim.fault_source.skew_ms(), sim.now_ms + LEAVE_MS)
            sim.current.process.began_at, sim.current.process.began_ms = sim.steps, sim.now_ms
            try:
                look()
            except Busy:
                return
            except BatonError:
                sim.connections.close(line.id)

        sim.spawn("look", arrive)
        sim.connections.wait(line, sim.now_ms)  # and what came before is heard then
        return line.is_open

    def leave(self, line: Line) -> None:
        """Its end is told at once, late, twice, after the next one has begun, or never."""
        sim, how = self._sim, self._draw(6)
        if how == 5:
            line.is_dead = True  # nobody knows
            return
        sim.connections.end(line)
        for _ in range((1, 1, 1, 2, 0)[how]):
            sim.spawn("left", lambda: self._left(line), sim.now_ms + (0 if how == 0 else self._draw(60_000)))

    def _left(self, line: Line) -> None:
        sim = self._sim
        sim.current.process = Process(sim.fault_source.skew_ms(), sim.now_ms + LEAVE_MS)
        sim.current.process.ringing = Ringing("leave", line.id)
        with suppress(Busy):
            sim.deps.store.bell.remove_listener(line.id)

    def _opened(self, line: Line, admitted: Callable[[], tuple[Any, Any]]) -> Line | None:
        sim = self._sim

        def connect() -> None:
            deps, by = admitted()
            begin_listening(deps, by, topic_of(WORKSPACE, line.topic), line.id)
            sim.oracle.bell.is_connected(line, sim.current.process)

        outcome = self._context.ask("connect", human(), lambda _once: connect(), is_keyed=False, tries=1)
        if not isinstance(outcome, Answered):
            self.token = self.token if self._draw(3) else None
            return None
        if not self._context.habits.is_hot:
            sim.sleep(self._draw(3))  # until the handshake is answered
        line.is_open = True
        return line

    def _by_ticket(self, line: Line, text: str) -> Line | None:
        """Now and then somebody else shows it, too."""
        sim = self._sim

        def make() -> tuple[Any, str]:
            deps, by = admit(sim.deps, credentials_from(f"Bearer {text}"))
            return make_ticket(deps, by)

        made = self._context.look(make)
        if made is None:
            self.token = None
            return None
        ticket, shown = made
        expires_ms = to_ms(ticket.expires_at.isoformat())

        def admitted(of: Line) -> tuple[Any, Any]:
            deps = sim.deps.at_one_version()
            by = use_ticket(deps, shown, of.id)
            sim.oracle.bell.is_opened_with(shown, of, expires_ms, sim.current.process)
            return deps, by

        if not self._draw(3):
            other = sim.connections.line(line.topic, line.token_id)
            sim.spawn("ticket too", lambda: self._opened(other, lambda: admitted(other)))
        if not self._draw(4):
            sim.sleep(self._draw(60))
        if not self._draw(3):
            revoke = partial(revoke_token, sim.deps, human(), line.token_id)
            self._context.ask("revoke", human(), lambda _once: revoke(), is_keyed=False)
        return self._opened(line, lambda: admitted(line))

    def _get_token(self) -> None:
        kind, subject = self._asked
        seconds = self._draw(4 if self._context.habits.is_hot else 600)
        expires_at = self._sim.clock.now() + timedelta(seconds=1 + seconds) if not self._draw(4) else None
        request = TokenRequest(kind=kind, subject=subject, expires_at=expires_at)
        outcome = self._context.ask(
            "token", human(), lambda once: issue_token(self._sim.deps, human(), request, once), is_keyed=False, tries=1
        )
        # A token in the name of an approver may wait for a second administrator: the value is a change then.
        if isinstance(outcome, Answered) and isinstance(outcome.value, tuple):
            token, text = outcome.value
            self.token = token.id, text


class Waiter:
    """Looks when it begins, once more a little later, and then when it is rung or has looked long ago."""

    def __init__(self, context: ActorContext, ear: Ear) -> None:
        self._context, self._sim, self._draw, self._ear = context, context.sim, context.draw, ear

    def act(self) -> None:
        while not self._sim.is_stopping:
            self._context.rest(10)
            with suppress(NothingThere):
                self._listen(self._topic())

    def _listen(self, topic: str) -> None:
        sim, ear = self._sim, self._ear
        line = ear.connect(topic, by_ticket=topic == "lists" and self._draw(3) > 0)
        self._look(topic)
        if line is None:
            return
        sim.sleep(min(AGAIN_MS, ear.look_ms) / 1000)
        ear.look(line)
        for _ in range(2 + self._draw(8)):
            if sim.is_stopping or not self._goes_on(topic) or not line.is_open:
                break
            message = sim.connections.wait(line, sim.now_ms + ear.look_ms)
            if message is None:
                ear.look(line)
                message = sim.connections.wait(line, sim.now_ms + min(ANSWERED_WITHIN_MS, ear.look_ms))
                if message is None:  # it is dead, and looks as without a bell
                    self._look(topic)
                    break
            self._sleep_until_due(message)
            self._look(topic)
        ear.leave(line)

    def _sleep_until_due(self, message: Mapping[str, Any]) -> None:
        due_ms = to_ms(message["due_at"]) - BEGIN_MS if "due_at" in message else 0
        ahead_ms = min(due_ms - self._sim.now_ms, self._ear.look_ms)
        if ahead_ms > 0:
            self._sim.sleep(ahead_ms / 1000)

    def _topic(self) -> str:
        raise NotImplementedError

    def _look(self, topic: str) -> None:
        raise NotImplementedError

    def _goes_on(self, topic: str) -> bool:
        return True


class BellWorker(Waiter):
    """Of an agent that pulls. It never polls but as a look."""

    def __init__(self, context: ActorContext, slug: str) -> None:
        super().__init__(context, Ear(context, PrincipalKind.AGENT, slug))
        self._slug, self._worker = slug, Worker(context, slug)

    def _topic(self) -> str:
        return f"work:{self._slug}"

    def _look(self, topic: str) -> None:
        sim, by = self._sim, agent(self._slug)
        lease_seconds = sim.pick([15, 60])
        claimer = Claimer(by=by, agent=self._slug, worker=f"bell{self._draw(3)}", lease_seconds=lease_seconds)
        for _ in range(3):
            outcome = self._context.ask("claim next", by, lambda once: claim_next(sim.deps, claimer, once))
            if not self._worker.works_on(outcome, by, lease_seconds):
                return


class BellCaller(Waiter):
    """Awaits the end of a task."""

    def __init__(self, context: ActorContext) -> None:
        super().__init__(context, Ear(context, PrincipalKind.HUMAN, "bob"))

    def _topic(self) -> str:
        return f"task:{self._context.some_task('delegated', 'claimed', 'needs', 'waiting', 'next')}"

    def _look(self, topic: str) -> None:
        self._context.look(lambda: read_task(self._sim.deps, human(), topic.partition(":")[2]))

    def _goes_on(self, topic: str) -> bool:
        return self._context.ledger.heads[topic.partition(":")[2]]["state"] not in ENDED


class BellPage(Waiter):
    """Shows lists, and opens its connection by a ticket now and then. Or an agent's inbox."""

    def __init__(self, context: ActorContext, slug: str = "") -> None:
        subject = (PrincipalKind.AGENT, slug) if slug else (PrincipalKind.HUMAN, "bob")
        super().__init__(context, Ear(context, *subject))
        self._slug = slug

    def _topic(self) -> str:
        return f"inbox:{self._slug}" if self._slug else "lists"

    def _look(self, topic: str) -> None:
        if self._slug:
            self._context.look(lambda: read_inbox(self._sim.deps, agent(self._slug), self._slug, MANY, None))
        else:
            self._context.look(lambda: tasks_that_need_a_human(self._sim.deps, human(), MANY, None))


class Silencer:
    """Revokes tokens that listen, and switches agents off that do, for a while."""

    def __init__(self, context: ActorContext) -> None:
        self._context, self._sim, self._draw = context, context.sim, context.draw

    def act(self) -> None:
        while not self._sim.is_stopping:
            self._context.rest(90)
            if self._draw(4):
                self._revoke()
            else:
                self._switch_off()

    def _revoke(self) -> None:
        sim = self._sim
        tokens = [line.token_id for line in sim.connections.lines.values() if line.is_open]
        if tokens:
            token_id = sim.pick(tokens[-5:])
            self._context.ask(
                "revoke", human(), lambda _once: revoke_token(sim.deps, human(), token_id), is_keyed=False
            )

    def _switch_off(self) -> None:
        slug = self._sim.pick([line.topic[5:] for line in self._sim.connections.lines.values()
                               if line.topic.startswith("work:")] or ["a"])  # fmt: skip
        for active in (False, True):
            switch = partial(self._switch, slug, active=active)
            self._context.ask("agent", human(), switch, is_keyed=False)
            self._context.rest(30)

    def _switch(self, slug: str, _once: object, *, active: bool) -> object:
        return register_agent(self._sim.deps, human(), slug, {"active": active})

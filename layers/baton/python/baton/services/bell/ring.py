"""Rings for what has changed. A ring is a hint: whoever it doesn't reach looks by itself a little later, and whoever it
reaches twice finds nothing. So nothing here is repeated for its own sake, and no error leaves a task behind
(docs/decisions/098-a-bell-that-only-hints.md)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import islice
from typing import Any

from baton.domain import errors, times
from baton.domain.access.principal import Principal
from baton.domain.agents.agent import Runtime
from baton.domain.bell.listener import Listener, Topic, TopicKind, place_of
from baton.domain.bell.ring import (
    AGAIN_AFTER_SECONDS,
    AHEAD,
    BEFORE_IT_IS_DUE,
    FIRST_RUNG,
    LISTS_PAUSE,
    MAX_ROUNDS,
    MAX_RUNG,
    Ring,
    is_pulled,
    opaque,
    ring_for_lists,
    ring_for_work,
    rings_around,
)
from baton.domain.lru_cache import LruCache
from baton.domain.task_state import State
from baton.domain.tasks.task import Claim, Task
from baton.domain.tasks.wake import notice_delay
from baton.ports.bell import Connections, Heard
from baton.ports.deps import Deps
from baton.services.bell.listen import must_be_let_listen
from baton.steps.questions.handoff_rules import held_from

# Listeners that are judged together: so many tokens are read with one call.
AT_ONCE = 50


@dataclass
class BellReport:
    """``late``: rings for work that was due before they were sent. ``unclear``: may not have been sent."""

    rung: int = 0
    gone: int = 0
    closed: int = 0
    late: int = 0
    unclear: int = 0


@dataclass(slots=True)
class Bell:
    """``told``: until when a process has told those who look at lists to look."""

    deps: Deps
    connections: Connections
    report: BellReport
    told: LruCache[Topic, datetime] = field(default_factory=LruCache)

    def changed(self, records: Sequence[Mapping[str, Any]]) -> None:
        """Rings for a batch of the table's stream. One read for each topic to which nobody listens. Raises ``Busy``."""
        images, configured, listed = self.deps.store.bell.changes(records)
        tasks = list({(task.workspace, task.id): task for task in images}.values())
        for workspace in configured:
            self.close_refused(workspace)
        about = opaque(self.deps.clock.now())
        of_lists = [ring_for_lists(workspace, about) for workspace in listed]
        for topic, rings in _by_topic([*map(rings_around, tasks), of_lists]).items():
            self._ring_all(topic, rings[-1])
        self._ring_for_work([task for task in tasks if is_pulled(task)], 1)
        for task in images:
            claim = task.claim
            if claim is not None and _was_just_claimed(task, claim) and self._is_heard(task.workspace, claim.agent):
                self._look_at_the_end(task, 0)

    def look(self, workspace: str, task_id: str, number: int) -> None:
        """Looks at a task that somebody should have claimed by now, or with a ``number`` of 0 or less at one whose
        lease ends. Raises ``Busy``."""
        try:
            task, _ = self.deps.store.tasks.load(workspace, task_id)
        except errors.Unknown:
            return
        if number > 0 and is_pulled(task):
            self._ring_for_work([task], number)
        elif number > 0 and task.state is State.NEEDS:  # a deferral is over, of which no event tells
            for ring in rings_around(task):
                self._ring_all(ring.topic, ring)
        elif number <= 0 and task.claim is not None:
            self._look_at_the_end(task, -number)

    def close_refused(self, workspace: str) -> None:
        """Closes the connections whose principals may no longer listen. Raises ``Busy``."""
        connections = (connection_id for connection_id, _ in self.deps.store.bell.of_workspace(workspace))
        while some := list(islice(connections, AT_ONCE)):
            list(self._hearing(some))

    # Inside

    def _ring_for_work(self, tasks: Sequence[Task], number: int) -> None:
        """Of each agent, rings as many as there are tasks, and one more; twice as many each time that nobody came. The
        tasks are looked at again if anybody listens at all."""
        now, heard = self.deps.clock.now(), set[str]()
        for topic, group in self._by_agent(tasks, number).items():
            if not self._is_heard(topic.workspace, topic.name):
                continue
            heard |= {task.id for task in group}
            rings = sorted((ring_for_work(task, topic.name) for task in group), key=lambda each: _due(each, now))
            soon = [each for each in rings if _due(each, now) - now <= AHEAD]
            self.report.late += sum(_due(each, now) < now for each in soon)
            if soon:
                self._ring_some(topic, soon, min((len(soon) - 1 + FIRST_RUNG) * 2 ** (number - 1), MAX_RUNG), number)
        for task in tasks:
            if task.id in heard and number <= MAX_ROUNDS:
                self._look_again(task, number, now)

    def _look_again(self, task: Task, number: int, now: datetime) -> None:
        due = max(now, task.ready_at or now)
        if due - now <= AHEAD:
            at, number = due + times.seconds(AGAIN_AFTER_SECONDS * 2 ** (number - 1)), number + 1
        else:
            at = due - BEFORE_IT_IS_DUE
        self.deps.looks.look(task.workspace, task.id, notice_delay(at, now), number)

    def _by_agent(self, tasks: Iterable[Task], number: int) -> dict[Topic, list[Task]]:
        """Returns the tasks by whose work they are. Open work is that of listening agents that may take it, more each
        time. An agent that approval rules hold back from the task isn't rung for it."""
        groups: dict[Topic, list[Task]] = {}
        for task in tasks:
            held = held_from(self.deps, task)
            for agent in islice(self._takers(task, held), 3 * number):
                groups.setdefault(Topic(task.workspace, TopicKind.WORK, agent), []).append(task)
        return groups

    def _takers(self, task: Task, held: Collection[str]) -> Iterator[str]:
        if task.target_agent is not None:
            return iter(() if task.target_agent in held else (task.target_agent,))
        able = self.deps.store.agents.roster(task.workspace).able(task.requires, task.source_agent)
        slugs = (each.slug for each in able if each.runtime is Runtime.PULL and each.slug not in held)
        return (each for each in slugs if self._is_heard(task.workspace, each))

    def _is_heard(self, workspace: str, agent: str) -> bool:
        return bool(self.deps.store.bell.listening(Topic(workspace, TopicKind.WORK, agent), 1))

    def _look_at_the_end(self, task: Task, number: int) -> None:
        """Rings shortly before the end of a lease, until which the worker may renew it; before that looks again then.
        ``number``: how often it was rung for."""
        claim, now = task.claim, self.deps.clock.now()
        if claim is None:
            return
        if claim.expires_at - now > 2 * BEFORE_IT_IS_DUE:
            at, number = claim.expires_at - BEFORE_IT_IS_DUE, 0
        else:
            topic = Topic(task.workspace, TopicKind.WORK, claim.agent)
            ring = Ring(topic, claim.expires_at, opaque(task.id, task.fence))
            self._ring_some(topic, [ring], min(FIRST_RUNG * 2**number, MAX_RUNG), number)
            at = max(now, claim.expires_at) + times.seconds(AGAIN_AFTER_SECONDS * 2**number)
            number += 1
        if number <= MAX_ROUNDS:
            self.deps.looks.look(task.workspace, task.id, notice_delay(at, now), -number)

    def _ring_some(self, topic: Topic, rings: Sequence[Ring], wanted: int, number: int) -> None:
        """Rings ``wanted`` of the listeners, others each time. The last ring goes to all that are left."""
        reached = 0
        for listener in self._hearing_from(topic, opaque(rings[0].about, number), wanted):
            heard = self._send(listener, rings[min(reached, len(rings) - 1)])
            reached += heard is Heard.YES
            if reached == wanted:
                return

    def _hearing_from(self, topic: Topic, start: str, wanted: int) -> Iterator[Listener]:
        """Yields the topic's listeners from a place on, each once, and a few more than are wanted at first: some may be
        gone."""
        size, seen = wanted + 2, set[str]()
        for after in (start, ""):
            while page := self.deps.store.bell.listening(topic, size, after):
                new = [each for each in page if each not in seen]
                seen.update(new)
                yield from self._hearing(new)
                if len(page) < size or not new:
                    break
                after = place_of(page[-1])

    def _ring_all(self, topic: Topic, ring: Ring) -> None:
        if topic.kind is TopicKind.LISTS:
            now, told = self.deps.clock.now(), self.told.get(topic) or times.EPOCH
            if told > now:
                return  # what has changed now is seen by the look that is to come
            ring = replace(ring, due_at=told + LISTS_PAUSE if now - told < LISTS_PAUSE else None)
        after, is_told = "", False
        while page := self.deps.store.bell.listening(topic, AT_ONCE, after):
            for listener in self._hearing(page):
                is_told |= self._send(listener, ring) is Heard.YES
            if len(page) < AT_ONCE:
                break
            after = place_of(page[-1])
        if topic.kind is TopicKind.LISTS and is_told:
            self.told.keep(topic, ring.due_at or now)

    def _hearing(self, connection_ids: Sequence[str]) -> Iterator[Listener]:
        """Yields those of at most ``AT_ONCE`` that may still listen, judged by their tokens, agents and rights as they
        are now. The others are closed."""
        found = self.deps.store.bell.listeners(connection_ids)
        known = self.deps.store.tokens.tokens_of(list({each.token_id: None for each in found}))
        now, let = self.deps.clock.now(), dict[tuple[str, Topic], bool]()
        for each in found:
            key = (each.token_id, each.topic)
            if key not in let:
                token = known.get(each.token_id)
                let[key] = token is not None and token.is_active(now) and self._may_listen(each, token.principal)
            if let[key]:
                yield each
            else:
                self._close(each)

    def _may_listen(self, listener: Listener, by: Principal) -> bool:
        try:
            must_be_let_listen(self.deps, by, listener.topic)
        except (errors.Forbidden, errors.Refused, errors.Unknown):
            return False
        return True

    def _send(self, listener: Listener, ring: Ring) -> Heard:
        heard = self.connections.send(listener.connection_id, ring.message)
        if heard is Heard.YES:
            self.report.rung += 1
        elif heard is Heard.UNKNOWN:
            self.report.unclear += 1
        elif listener.is_settled(self.deps.clock.now()):
            self.report.gone += 1
            self.deps.store.bell.remove_listener(listener.connection_id)
        return heard

    def _close(self, listener: Listener) -> None:
        """Whoever dies in between is found listening once more, and is closed again. So is a connection whose handshake
        may open it only now."""
        self.report.closed += 1
        self.connections.close(listener.connection_id)
        if listener.is_settled(self.deps.clock.now()):
            self.deps.store.bell.remove_listener(listener.connection_id)


def _by_topic(of_tasks: Iterable[Iterable[Ring]]) -> dict[Topic, list[Ring]]:
    found: dict[Topic, list[Ring]] = {}
    for rings in of_tasks:
        for ring in rings:
            found.setdefault(ring.topic, []).append(ring)
    return found


def _was_just_claimed(task: Task, claim: Claim) -> bool:
    return claim.claimed_at == task.meta.updated_at and task.meta.runtime is Runtime.PULL


def _due(ring: Ring, now: datetime) -> datetime:
    return ring.due_at or now

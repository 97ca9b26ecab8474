"""What runs in Lambda: requests, messages from the queue, schedules, the table's stream."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from baton.domain.errors import BatonError, Busy, ChangePending
from baton.domain.idempotency import IdempotencyKey
from baton.services.bell.ring import Bell, BellReport
from baton.services.events.publish_events import publish_overdue, publish_records
from baton.services.runs.process_task import DispatchNotice, TimeBudget, process_task
from baton.services.tasks.approve_many import ApprovalResult
from baton.services.tasks.sweep import sweep
from baton.services.tracker.sync_tracker import sync_tracker
from simulation.habits import NoticeFate
from simulation.ports import BEGIN, WORKSPACE
from simulation.requests import Answered, Lost, Outcome, Refused, Request, replace_request
from simulation.scheduler import FOREVER, Crash, Process

if TYPE_CHECKING:
    from collections.abc import Callable

    from baton.domain.access.principal import Principal
    from simulation.oracle.bell import Ringing
    from simulation.simulation import Simulation

REQUEST_MS, SCHEDULE_MS, NOTICE_MS = 25_000, 50_000, 120_000
# Requests that make something new each time.
MAKING = frozenset({"hand off", "talk", "note", "alert", "post"})
# Whose answer isn't kept where it was cut short: the repeat goes on with it.
GOING_ON = frozenset({"import tracker"})
LEASE_SECONDS = 150
MAX_RECEIVES = 5
VISIBILITY_MS = 720_000
BATCH = 50
# Of the bell: how long it has, how often a batch comes again, and what is lost of the stream.
RING_MS, RING_TRIES, RING_VISIBILITY_MS, RING_LOST_SHARE = 30_000, 3, 180_000, 0.15
BEGIN_MS = int(BEGIN.timestamp() * 1000)


class Lambdas:
    def __init__(self, sim: Simulation) -> None:
        self._sim = sim
        self._numbers = 0

    # Requests

    def request(
        self,
        name: str,
        by: Principal,
        send: Callable[[IdempotencyKey | None], Any],
        *,
        is_keyed: bool | None = None,
        tries: int = 4,
        most_effects: int = 1,
    ) -> Outcome:
        """Sent again while nobody knows what came of it, now and then by two at once. ``is_keyed``: with an
        Idempotency-Key; mostly, unless it is said."""
        sim = self._sim
        self._numbers += 1
        if is_keyed is None:
            is_keyed = sim.chance.happens(0.7)
        idempotency_key = (
            IdempotencyKey(by, f"/{name}", f"key-{self._numbers}", f"hash-{self._numbers}") if is_keyed else None
        )
        request = Request(name, by, send, idempotency_key, most_effects)
        if is_keyed and sim.chance.happens(sim.habits.doubled_share):
            sim.fault_source.happened("request doubled")
            sim.spawn(f"again {name}", lambda: self._send(request), sim.now_ms + _repeat_after_ms(sim.draw(3_000)))
        outcome = self._send(request)
        for _ in range(sim.draw(tries)):
            is_unknown = isinstance(outcome, Lost) or (isinstance(outcome, Refused) and isinstance(outcome.error, Busy))
            if not is_unknown and not sim.chance.happens(sim.habits.doubled_share):
                break
            sim.sleep(sim.draw(8 if sim.draw(4) else 400) + 1)
            outcome = self._send(request)
        is_kept = is_keyed and isinstance(outcome, Answered) and _is_kept(name, outcome.value)
        if is_kept and sim.draw(12) == 11:
            self._misuse(request)
        return outcome

    def _misuse(self, request: Request) -> None:
        """Its key comes once more: with another body, or from somebody else."""
        sim, idempotency_key = self._sim, request.idempotency_key
        assert idempotency_key
        if request.name not in MAKING or sim.draw(2):
            changed = replace(idempotency_key, body_hash=f"not {idempotency_key.body_hash}")
            again = replace_request(request, changed, most_effects=0)
            outcome = self._send(again)
            sim.oracle.verdict.must(
                not isinstance(outcome, Answered) or outcome.value is None or _is_all_busy(outcome.value),
                "{}: its key was taken for another body, and answered",
                request.name,
            )
            return
        foreign = replace(idempotency_key, principal=replace(idempotency_key.principal, id="somebody else"))
        again = replace_request(request, foreign, most_effects=request.most_effects)
        self._send(again)
        is_others = bool(again.answers) and again.answers[0] == request.answers[0]
        sim.oracle.verdict.must(not is_others, "{}: somebody else's key was answered with it", request.name)

    def _send(self, request: Request) -> Outcome:
        sim, actor = self._sim, self._sim.current
        before = actor.process
        request.attempts += 1
        if request.attempts == 1 or not request.is_keyed:
            request.began_at = sim.steps
        actor.process = Process(sim.fault_source.skew_ms(), self._deadline(REQUEST_MS), request)
        actor.process.attempt, actor.process.began_at = request.attempts, sim.steps
        actor.process.began_ms = sim.now_ms
        try:
            sim.staff.must_be_let_in(request.by)
            value = _sent(request, self._dated(request.idempotency_key))
            sim.oracle.answers.answered(request, value)
            return Answered(value)
        except BatonError as exc:
            sim.oracle.answers.refused(request, exc)
            return Refused(exc)
        except Crash:
            if before.is_dead or sim.scheduler.is_dying:
                raise
            return Lost()
        finally:
            actor.process = before

    def _dated(self, idempotency_key: IdempotencyKey | None) -> IdempotencyKey | None:
        """As a request brings it: with the time at which it came."""
        return None if idempotency_key is None else replace(idempotency_key, at=self._sim.clock.now())

    # The queue

    def answer(self, notice: DispatchNotice) -> None:
        """A message comes again until it was handled, five times at most."""
        sim = self._sim
        for _ in range(MAX_RECEIVES):
            deadline_ms = FOREVER if sim.fault_source.is_calm else self._deadline(NOTICE_MS)
            process = sim.current.process = Process(sim.fault_source.skew_ms(), deadline_ms)
            process.began_at, process.began_ms = sim.steps, sim.now_ms
            try:
                process_task(sim.deps, sim.runner, notice, self._shift(deadline_ms))
            except (Crash, Busy):
                process.is_dead = True
                sim.current.process = Process()
            else:  # what it left running may go on in the next call
                process.deadline_ms, process.is_dead = FOREVER, sim.draw(2) == 0
                sim.current.process = Process()
                return
            sim.scheduler.park(sim.now_ms + (VISIBILITY_MS if sim.draw(2) else sim.draw(5_000)))

    def sync(self, task_id: str | None) -> None:
        """The outbox to the tracker is sent; the message comes again until it was."""
        sim = self._sim
        for _ in range(MAX_RECEIVES):
            deadline_ms = FOREVER if sim.fault_source.is_calm else self._deadline(NOTICE_MS)
            process = sim.current.process = Process(sim.fault_source.skew_ms(), deadline_ms)
            try:
                sync_tracker(sim.deps, WORKSPACE, task_id, self._shift(deadline_ms).time_left)
            except (Crash, Busy):
                process.is_dead = True
                sim.current.process = Process()
            else:
                return
            sim.scheduler.park(sim.now_ms + (VISIBILITY_MS if sim.draw(2) else sim.draw(5_000)))

    def _shift(self, deadline_ms: int) -> TimeBudget:
        return TimeBudget(lease_seconds=LEASE_SECONDS, time_left=lambda: (deadline_ms - self._sim.now_ms) / 1000)

    # Schedules

    def begin(self) -> None:
        sim = self._sim
        tempo = 0.05 if sim.habits.is_hot else sim.habits.tempo
        sim.spawn("time to live", self._time_to_live)
        self._every("sweep", 60 * tempo, lambda may_go_on: sweep(sim.deps, may_go_on))
        if sim.habits.is_told:
            self._every("publish", 60 * tempo, lambda may_go_on: publish_overdue(sim.deps, sim.bus, may_go_on))
            sim.spawn("stream", self._follow_stream)
        if sim.habits.has_bell:
            sim.spawn("stream to the bell", self._follow_bell)

    def _every(self, name: str, seconds: float, act: Callable[[Callable[[], bool]], object]) -> None:
        """Mostly; left out and doubled now and then."""
        sim = self._sim

        def run() -> None:
            until_ms = sim.now_ms + 40_000
            sim.current.process.began_at, sim.current.process.began_ms = sim.steps, sim.now_ms
            with suppress(Busy):
                act(lambda: sim.now_ms < until_ms)

        def beat() -> None:
            while not sim.is_stopping:
                sim.sleep(seconds if sim.draw(8) else 1)
                if not sim.habits.does_schedule_skip or sim.draw(6) < 5:
                    sim.spawn(name, run, process=Process(sim.fault_source.skew_ms(), self._deadline(SCHEDULE_MS)))

        sim.spawn(f"every {name}", beat)

    def _time_to_live(self) -> None:
        """The table deletes what is over, at some time after that."""
        sim = self._sim
        while not sim.is_stopping:
            sim.sleep(600 * sim.habits.tempo)
            sim.dynamo.forget(BEGIN_MS + sim.now_ms)

    def _follow_stream(self) -> None:
        """What the table's stream brings; some of it is never brought."""
        sim = self._sim
        while not sim.is_stopping:
            sim.sleep((1 + sim.draw(50)) / 10)
            batch, sim.stream[:BATCH] = sim.stream[:BATCH], []
            if batch and not (sim.habits.is_bus_shaky and sim.chance.happens(0.3)):
                records = [{"dynamodb": {"NewImage": item}} for item in batch]
                sim.spawn("stream", partial(self._tell, records))

    def _tell(self, records: list[Any]) -> None:
        images = [record["dynamodb"]["NewImage"] for record in records]
        began, self._sim.current.process.failing_watch = self._sim.steps, False
        with suppress(Busy):
            publish_records(self._sim.deps, self._sim.bus, records)
            if not self._sim.current.process.failing_watch:
                self._sim.oracle.sights.are_told(began, images)

    # The bell

    def _follow_bell(self) -> None:
        sim = self._sim
        while not sim.is_stopping:
            sim.sleep((1 + sim.draw(50)) / 10)
            batch, sim.bell_stream[:BATCH] = sim.bell_stream[:BATCH], []
            is_lost = sim.habits.rings is not NoticeFate.KEPT and sim.chance.happens(RING_LOST_SHARE)
            if batch and not is_lost:
                sim.spawn("ring", partial(self.ring, batch))

    def ring(self, records: list[dict[str, Any]]) -> None:
        """What the table's stream brings."""
        rules = self._sim.oracle.bell
        self._rung(RING_TRIES, 1_000, lambda: rules.of_records(records), lambda bell: bell.changed(records))

    def look(self, workspace: str, task_id: str, number: int) -> None:
        """A look that is due."""
        rules = self._sim.oracle.bell
        again_ms = RING_VISIBILITY_MS
        self._rung(
            MAX_RECEIVES, again_ms, lambda: rules.of_look(number), lambda bell: bell.look(workspace, task_id, number)
        )

    def _rung(self, tries: int, again_ms: int, begin: Callable[[], Ringing], act: Callable[[Bell], object]) -> None:
        sim = self._sim
        for _ in range(tries):
            deadline_ms = FOREVER if sim.fault_source.is_calm else self._deadline(RING_MS)
            process = sim.current.process = Process(sim.fault_source.skew_ms(), deadline_ms)
            process.began_at, process.began_ms, process.ringing = sim.steps, sim.now_ms, begin()
            try:
                act(Bell(sim.deps, sim.connections, BellReport()))
            except (Crash, Busy):
                process.is_dead = True
                sim.current.process = Process()
            else:
                sim.oracle.bell.is_done(process)
                sim.current.process = Process()
                return
            sim.scheduler.park(sim.now_ms + again_ms)

    def _deadline(self, after_ms: int) -> int:
        return self._sim.now_ms + self._sim.habits.time_limit * after_ms


def _sent(request: Request, idempotency_key: IdempotencyKey | None) -> Any:
    """Returns the answer; a change that waits for a second administrator is one."""
    try:
        return request.send(idempotency_key)
    except ChangePending as pending:
        return pending.change


def _is_kept(name: str, value: object) -> bool:
    """Under the request's key, which is then taken."""
    return value is not None and name not in GOING_ON and not _is_all_busy(value)


def _is_all_busy(value: object) -> bool:
    """Of many approvals: none was looked at, and it may be that the key was not saved either."""
    results = value if isinstance(value, tuple) else (None,)
    return all(isinstance(each, ApprovalResult) and isinstance(each.refusal, Busy) for each in results)


def _repeat_after_ms(drawn: int) -> int:
    """Mostly at once; one in four comes when much has happened since."""
    return drawn * 400 if drawn % 4 == 0 else drawn

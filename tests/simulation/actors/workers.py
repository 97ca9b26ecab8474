"""Pull workers: they claim, work, hand off, and end what they hold; some too late."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from baton.domain.errors import StaleClaim
from baton.domain.handoffs.handoff_message import message_from
from baton.domain.tasks.calls import WorkerCall
from baton.domain.tasks.task import JoinRule, Policy
from baton.services.claims.claim_following import claim_following
from baton.services.claims.claim_task import claim_next, claim_next_waiting, claim_task
from baton.services.claims.complete_task import CompletedWork, complete_task
from baton.services.claims.delegate_task import branch_from, delegate_task
from baton.services.claims.fail_task import FailedWork, fail_task, reject_task
from baton.services.claims.release_task import ReleasedWork, release_task
from baton.services.claims.renew_claim import renew_claim
from baton.services.claims.save_checkpoint import save_checkpoint, save_run_state
from baton.services.claims.transfer_task import transfer_task
from baton.services.claims.wait_for_callback import wait_for_callback
from baton.services.handoffs.create_handoff import CreateHandoff, create_handoff
from baton.services.tasks.add_note import add_note
from baton.steps.claims.take_task import Claimed, Claimer
from simulation.actors.askers import WAIT, Asker
from simulation.actors.people import ALL, SERVICE, agent
from simulation.habits import Focus
from simulation.oracle.ledger import ENDED
from simulation.oracle.writes import BEGIN_MS
from simulation.requests import Answered, EndedAndNext, Outcome, Refused, body_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from baton.domain.access.principal import Principal
    from baton.domain.idempotency import IdempotencyKey
    from baton.domain.tasks.task import Task
    from baton.ports.details import TaskDetails
    from simulation.actors.actor_context import ActorContext
    from simulation.oracle.ledger import Item

HASTY = frozenset({Focus.BRANCHES, Focus.ENDS, Focus.WAITS, Focus.QUESTIONS, Focus.TRUST})
VERBS = (
    "complete",
    "complete",
    "complete",
    "delegate",
    "delegate",
    "fail",
    "fail",
    "reject",
    "release",
    "transfer",
    "wait",
)
# With `claim_next`.
THAT_ASK_ON = frozenset({"complete", "fail"})
# By which entry of the trail each ends a claim.
ENDED_BY = {
    "complete": frozenset({"handoff_completed"}),
    "fail": frozenset({"handoff_failed", "requeued"}),
    "reject": frozenset({"handoff_rejected"}),
    "release": frozenset({"released"}),
    "transfer": frozenset({"handoff_transferred"}),
    "delegate": frozenset({"waitingbranches"}),
    "wait": frozenset({"waitingcallback"}),
    WAIT: frozenset({"waitinganswers"}),
}
MAX_DEPTH = 3


@dataclass(frozen=True, slots=True)
class Hold:
    """A claim that a worker has, or had."""

    by: Principal
    slug: str
    task: Task
    claim_id: str
    lease_seconds: int


class Worker:
    def __init__(self, context: ActorContext, slug: str) -> None:
        self._context, self._sim, self._slug = context, context.sim, slug
        self._draw, self._focus = context.draw, context.habits.focus
        self._next: list[Claimed] = []
        self._asker = Asker(context, self._say) if context.habits.has_questions else None

    def act(self) -> None:
        sim, is_hot = self._sim, self._context.habits.is_hot
        while not sim.is_stopping:
            self._context.rest(3 if self._focus in HASTY else 15)
            by = agent(self._slug) if self._draw(4) else SERVICE
            lease_seconds = sim.pick([15, 60, 300])
            worker = f"w{self._draw(5)}"
            claimer = Claimer(
                by=by,
                agent=self._slug,
                worker=worker,
                lease_seconds=lease_seconds,
                first_lease_seconds=None if self._draw(6) else 15,
            )
            if not self._wants_to_look():
                continue
            if (
                not self.works_on(self._claim(by, claimer), by, lease_seconds)
                and is_hot
                and self._focus is not Focus.WAITS
            ):
                sim.sleep(self._draw(self._context.habits.slowness * 500) / 1000)

    def works_on(self, outcome: Outcome, by: Principal, lease_seconds: int) -> bool:
        """False where nothing was claimed."""
        if not isinstance(outcome, Answered) or outcome.value is None:
            return False
        claimed: Claimed = outcome.value
        self._work(Hold(by, self._slug, claimed.details.task, claimed.claim_id, lease_seconds))
        while self._next:
            following = self._next.pop()
            self._work(Hold(by, self._slug, following.details.task, following.claim_id, lease_seconds))
        return True

    def _open_work(self) -> list[str]:
        """What is there for it, as it may have heard from elsewhere."""
        heads = self._context.ledger.heads
        mine = (*ALL, None) if not self._draw(12) else (self._slug, None)  # now and then it takes what is another's
        return [
            task_id
            for task_id, head in heads.items()
            if head["state"] not in ENDED and head.get("target_agent") in mine
        ]

    def _held(self) -> list[Item]:
        """What its agent holds, by whomever: a worker that lost its memory finds it listed."""
        heads = self._context.ledger.heads.values()
        return [
            head
            for head in heads
            if (head.get("claim") or {}).get("agent", head.get("target_agent")) == self._slug and head.get("claim")
        ]

    def _wants_to_look(self) -> bool:
        """Mostly only where there is something, or a lease of its agent's may be over."""
        if self._focus is Focus.WAITS or not self._draw(8):
            return True
        heads = self._context.ledger.heads
        marks = f"#READY#{self._slug}", f"~{self._sim.now_ms + BEGIN_MS:015d}"
        return any(heads[each]["state"] == "delegated" for each in self._open_work()) or any(
            head["state"] == "claimed" and head["queue_pk"].endswith(marks[0]) and head["queue_sk"] <= marks[1]
            for head in heads.values()
        )

    def _claim(self, by: Principal, claimer: Claimer) -> Outcome:
        sim, named = self._sim, self._open_work()
        if (held := self._held()) and not self._draw(6):
            head = sim.pick(held)
            claimer = replace(claimer, resumes=int(head["fence"]) - (not self._draw(5)), first_lease_seconds=None)
            task_id = head["pk"].rpartition("#")[2]
            return self._context.ask(
                "resume", by, lambda idempotency_key: claim_task(sim.deps, claimer, task_id, idempotency_key)
            )
        if named and self._draw(4) >= (1 if self._focus is Focus.WAITS else 3):
            task_id = sim.pick(named[-3:] if self._draw(4) else named)
            return self._context.ask(
                "claim", by, lambda idempotency_key: claim_task(sim.deps, claimer, task_id, idempotency_key)
            )
        if self._draw(6) == 5:
            seconds = 1 + self._draw(20)
            return self._context.ask(
                "wait for work",
                by,
                lambda idempotency_key: claim_next_waiting(sim.deps, claimer, seconds, idempotency_key),
            )
        return self._context.ask(
            "claim next", by, lambda idempotency_key: claim_next(sim.deps, claimer, idempotency_key)
        )

    # With a claim

    def _work(self, hold: Hold) -> None:
        is_ends = self._focus is Focus.ENDS
        if self._context.habits.is_hot and hold.task.hard_deadline:  # then two decide by what they have read
            self._sim.spawn("beat too", lambda: self._beat(hold))
            self._beat(hold)
        if self._context.habits.has_trust and self._draw(2):
            self._save_run(hold)
        for _ in range(self._draw(2 if self._focus in HASTY else 5) + is_ends):
            self._pause(hold)
            outcome = self._do_something(hold, 4 if is_ends else self._draw(6))
            if isinstance(outcome, Refused) and isinstance(outcome.error, StaleClaim) and self._draw(3):
                return
        if not self._draw(8):  # somebody else has learnt the claim's id
            stranger = agent(hold.slug) if hold.by == SERVICE else SERVICE
            self._do_something(replace(hold, by=stranger), self._draw(4))
        if earlier := self._earlier_hold(hold):
            self._do_something(earlier, self._draw(5))
        if self._asker:
            self._asker.act(hold)
        is_asking = self._asker is not None and self._asker.wants_to_wait(hold)
        verbs = (WAIT,) if is_asking else self._verbs(hold.task)
        chosen = [self._sim.pick(verbs)]
        if self._draw(5) == 4:  # and another one, though the claim is over by then
            chosen.append(self._sim.pick(verbs))
        for verb in dict.fromkeys(chosen):
            self._finish((not self._draw(4) and earlier) or hold, verb)

    def _earlier_hold(self, hold: Hold) -> Hold | None:
        """Of the same task and by the same agent: what its worker was at when it lost it."""
        earlier = [each for each in self._context.holds if (each.task.id, each.by) == (hold.task.id, hold.by)]
        self._context.holds.append(hold)
        return self._sim.pick(earlier) if earlier and self._draw(2) else None

    def _pause(self, hold: Hold) -> None:
        """Longer than its lease, sometimes."""
        if self._context.habits.is_hot:
            self._context.rest(1)
        elif self._focus in HASTY:
            self._sim.sleep(1 + self._draw(3))
        else:
            self._sim.sleep(1 + self._draw(hold.lease_seconds * (1 if self._draw(6) else 3)))

    def _do_something(self, hold: Hold, what: int) -> Outcome | None:
        sim, by, task_id, claim_id = self._sim, hold.by, hold.task.id, hold.claim_id
        if what < 2:
            return self._beat(hold)
        if what == 2 and self._draw(2):
            return self._save_run(hold)
        if what == 2:
            state = {"n": 1}
            return self._say(
                hold,
                "checkpoint",
                lambda idempotency_key: save_checkpoint(
                    sim.deps, WorkerCall(by, task_id, claim_id, idempotency_key=idempotency_key), "step", state
                ),
            )
        if what == 3:
            return self._say(
                hold,
                "note",
                lambda idempotency_key: add_note(
                    sim.deps, WorkerCall(by, task_id, claim_id, idempotency_key=idempotency_key), "n"
                ),
            )
        if what == 4:
            handoff = {**self._context.message(self._context.target_beside(hold.slug)), "source": {"agent": hold.slug}}
            if self._context.habits.is_hot and self._draw(3) == 2:  # as a model that calls two tools at once
                another = {**handoff, "target": {**handoff["target"], "reason": f"another {self._draw(100_000)}"}}
                sim.spawn("hand off too", lambda: self._hand_off(hold, another))
            return self._hand_off(hold, handoff)
        return None

    def _save_run(self, hold: Hold) -> Outcome:
        """As an adapter of a framework does."""
        sim, state = self._sim, f"state {self._draw(1000)}"
        signature = hashlib.sha256(f"key of {hold.slug} {state}".encode()).hexdigest()

        def send(key: IdempotencyKey | None) -> Any:
            call = WorkerCall(hold.by, hold.task.id, hold.claim_id, idempotency_key=key)
            return save_run_state(sim.deps, call, state, signature)

        return self._say(hold, "run state", send)

    def _beat(self, hold: Hold) -> Outcome:
        sim, lease_seconds = self._sim, self._sim.pick([None, None, 15, 60, 600])
        return self._say(
            hold,
            "heartbeat",
            lambda _: renew_claim(sim.deps, hold.by, hold.task.id, hold.claim_id, lease_seconds),
            is_keyed=False,
        )

    def _hand_off(self, hold: Hold, message: dict[str, Any]) -> Outcome:
        sim, by = self._sim, hold.by
        asked = CreateHandoff(message=message_from(message), claim_id=hold.claim_id)
        return self._say(hold, "hand off", lambda idempotency_key: create_handoff(sim.deps, by, asked, idempotency_key))

    def _say(self, hold: Hold, name: str, act: Callable[[IdempotencyKey | None], Any], **how: Any) -> Outcome:
        """Under its claim, and under no other."""

        def send(idempotency_key: IdempotencyKey | None) -> Any:
            self._sim.current.process.claim_id = hold.claim_id
            return act(idempotency_key)

        return self._context.ask(name, hold.by, send, **how)

    def _verbs(self, task: Task) -> tuple[str, ...]:
        raised = [each for each in self._context.habits.raised if each in ENDED_BY]
        failing = ("fail", "reject") * 3 if self._context.habits.do_failures_roll_back else ()
        return (*self._usual_verbs(task), *raised * 4, *failing)

    def _usual_verbs(self, task: Task) -> tuple[str, ...]:
        """Those that end its claim, as often as they are likely."""
        if self._focus is Focus.BRANCHES:
            return (*["complete"] * 5, *["delegate"] * (12 if task.depth < MAX_DEPTH else 0), "fail")
        if self._focus is Focus.WAITS:
            return ("wait", "wait", "complete")
        if self._focus is Focus.TALKS:
            return ("transfer", "transfer", "complete", "complete", "fail", "delegate")
        if self._focus is Focus.TRUST:
            return ("complete", "release", "release", "fail", "delegate")
        if self._focus is Focus.RETRIES:
            return ("fail", "reject", "complete")
        return VERBS

    def _finish(self, hold: Hold, verb: str) -> None:
        if self._focus is Focus.BRANCHES and hold.task.join_parent and self._draw(2):
            self._sim.queue.notify_again(hold.task.source_agent, hold.task.join_parent)
        act, asks_on = self._last_word(hold, verb), verb in THAT_ASK_ON and not self._draw(3)

        def send(idempotency_key: IdempotencyKey | None) -> Any:
            request = self._sim.current.process.request
            assert request
            request.word = (hold.task.id, hold.claim_id, ENDED_BY[verb])
            ended = act(idempotency_key)
            return EndedAndNext(ended, self._following(hold, verb, ended)) if asks_on else ended

        outcome = self._say(hold, verb, send, most_effects=1 + asks_on)
        if isinstance(outcome, Answered) and isinstance(outcome.value, EndedAndNext) and outcome.value.following:
            self._next.append(outcome.value.following)
        if verb == "complete" and isinstance(outcome, Answered):
            output = self._context.ledger.outputs.get(hold.task.id)
            is_own = output is not None and output["by"] == hold.task.fence
            self._sim.oracle.verdict.must(is_own, "{}: completed with another output", hold.task.id)

    def _following(self, hold: Hold, verb: str, ended: TaskDetails) -> Claimed | None:
        self._sim.current.process.claim_id = None
        return claim_following(self._sim.deps, WorkerCall(hold.by, hold.task.id, hold.claim_id, verb), ended)

    def _last_word(self, hold: Hold, verb: str) -> Callable[[IdempotencyKey | None], Any]:
        """What it does is chosen here, so that it is the same however often it is sent."""
        sim, draw, pick = self._sim, self._draw, self._sim.pick
        who = (hold.by, hold.task.id, hold.claim_id)
        does_roll_back = draw(2 if self._context.habits.do_failures_roll_back else 4) == 1
        back = {"target_agent": pick(ALL), "reason": "back"} if does_roll_back else None
        if verb == "complete":
            onward = {"continuation": {"suggested_next": pick(ALL), "reason": "on"}} if draw(4) == 3 else {}
            onward |= self._context.report_on(hold.task.id, 1 if draw(4) == 3 else 0)
            output = {"by": hold.task.fence, **({"text": "large " * 200} if draw(2) else {})}
            return lambda idempotency_key: complete_task(
                sim.deps,
                WorkerCall(*who, body_of(verb, idempotency_key), idempotency_key),
                CompletedWork(output=output, completion=onward),
            )
        if verb == "fail":
            progress = {"partial_progress": {"completed": ["x"], "incomplete": []}} if draw(2) else {}
            failure, retryable = {"type": "error", "description": "broke", **progress}, draw(3) > 0
            return lambda idempotency_key: fail_task(
                sim.deps,
                WorkerCall(*who, body_of(verb, idempotency_key), idempotency_key),
                FailedWork(failure=failure, retryable=retryable, rollback_request=back),
            )
        if verb == "reject":
            return lambda idempotency_key: reject_task(
                sim.deps, WorkerCall(*who, body_of(verb, idempotency_key), idempotency_key), "no", rollback_request=back
            )
        if verb == "release":
            again_at = sim.clock.now() + timedelta(seconds=600 + draw(86_400)) if draw(3) == 0 else None
            return lambda idempotency_key: release_task(
                sim.deps,
                WorkerCall(*who, body_of(verb, idempotency_key), idempotency_key),
                ReleasedWork(reason="no", again_at=again_at),
            )
        if verb == "transfer":
            asked = self._context.message(self._context.target_beside(hold.slug))
            return lambda idempotency_key: transfer_task(
                sim.deps, WorkerCall(*who, body_of(verb, idempotency_key), idempotency_key), message_from(asked)
            )
        if verb == "delegate":
            return self._delegation(hold, verb)
        if verb == WAIT and self._asker:
            return self._asker.wait(hold)
        until = sim.clock.now() + timedelta(seconds=1 + draw(900))
        return lambda idempotency_key: self._await_call(hold, until, verb, idempotency_key)

    def _delegation(self, hold: Hold, verb: str) -> Callable[[IdempotencyKey | None], Any]:
        sim, draw = self._sim, self._draw
        branches = []
        for number in range(2 + draw(2) if self._focus is Focus.BRANCHES else 1 + draw(3)):
            message = self._context.message(self._context.target_beside(hold.slug))
            branches.append({"call_id": f"b{number}", **message})
        policy = sim.pick([Policy.ALL, Policy.ALL, Policy.ANY, Policy.QUORUM])
        quorum = 1 + draw(len(branches)) if policy is Policy.QUORUM else None
        by, task_id, claim_id = hold.by, hold.task.id, hold.claim_id
        return lambda idempotency_key: delegate_task(
            sim.deps,
            WorkerCall(by, task_id, claim_id, body_of(verb, idempotency_key), idempotency_key),
            list(map(branch_from, branches)),
            JoinRule(policy, quorum),
        )

    def _await_call(self, hold: Hold, until: Any, verb: str, idempotency_key: IdempotencyKey | None) -> Any:
        body_hash = body_of(verb, idempotency_key)
        call = WorkerCall(hold.by, hold.task.id, hold.claim_id, body_hash, idempotency_key)
        details, token = wait_for_callback(self._sim.deps, call, "i", until)
        self._context.callbacks.setdefault(token, (details.task.id, details.task.waits))
        return details, token

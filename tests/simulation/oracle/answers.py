"""What is answered: it is true, a repeat is answered alike, and a refusal is one that a caller can act on."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from baton.domain.alerts.alert import Alert
from baton.domain.handoffs.workflow import Checkpoint
from baton.domain.memory.entry import Entry
from baton.domain.memory.snapshot import Drift
from baton.domain.questions.question import Question
from baton.domain.tasks.task import Task
from baton.domain.tasks.task_items import Note
from baton.ports.details import TaskDetails
from baton.services.escalations.create_handoff_marker import MarkerAnswer
from baton.steps.claims.take_task import Claimed
from simulation.oracle.items import item_of, to_ms
from simulation.oracle.writes import BEGIN_MS, PREFIX
from simulation.ports import WORKSPACE
from simulation.requests import EndedAndNext

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from baton.domain.errors import BatonError
    from baton.domain.memory.snapshot import ClaimMemory
    from baton.ports.runs import ModelRequest as ModelRequest
    from simulation.oracle.ledger import Ledger
    from simulation.oracle.verdict import Verdict
    from simulation.requests import Request
    from simulation.simulation import Simulation

# Decided again, or told in other words: never a caller's business.
INTERNAL = {"Conflict", "KeyTaken", "SlotTaken"}
# What a repeat is told in place of the first answer: nobody knows it now, the claim is over, the secret was shown. The
# repeat of an import that was cut short goes on with it, and may find the tracker away, closed to it, or taken out. And
# the caller's token may be over.
INSTEAD = {"Busy", "ClaimOver", "SecretAlreadyShown", "TokenRefused", "TrackerAway", "TrackerDenies", "NoTracker"}
UNSUCCESSFUL = {"failed", "rejected"}
FAILURES = {"sweep_failed", "runner_raised", "contact_not_marked"}
# What a simulation breaks on purpose.
EXPECTED_FAILURES = {"Busy", "RuntimeError"}


class Answers:
    def __init__(self, sim: Simulation, verdict: Verdict, ledger: Ledger) -> None:
        self._sim, self._ledger = sim, ledger
        self._must, self._fail = verdict.must, verdict.fail
        # Of claims that were ended by a request for the next one: which one that was.
        self._following: dict[str, str] = {}
        # By task and claim: at which step its model last replied.
        self._replied_at: dict[tuple[str, str | None], int] = {}

    def answered(self, request: Request, value: Any) -> None:
        """Of another workspace only the walls are looked at, where it is asked."""
        if request.by.workspace != WORKSPACE:
            return
        if isinstance(value, EndedAndNext):
            self._followed(request, value.following)
            value = value.ended
        tasks = list(_tasks_in(value))
        mark = self._mark(request, value, tasks)
        self._sim.oracle.accepted.is_there(request, value)
        must_repeat = request.is_keyed or request.word
        if request.answers and must_repeat and value is not None:
            first = request.answers[0]
            self._must(mark == first, "{}: a repeat was answered {}, not {}", request.name, mark, first)
        if value is not None:  # that there was nothing to claim is no answer to keep
            request.answered(mark, self._sim.steps)
        for task in tasks:
            told = self._ledger.states.get(task.id, {}).get(task.meta.seq)
            self._must(
                told == task.state,
                "{} answered {} {} at entry {}, the trail says {}",
                request.name, task.id, task.state, task.meta.seq, told,
            )  # fmt: skip
        if isinstance(value, Claimed):
            self.claimed(value)
        if request.name in ("claim next", "wait for work") and isinstance(value, Claimed) and len(request.answers) == 1:
            self._is_first(request, value.details.task)
        if request.word:
            ended_by = self._ended_by(request)
            self._must(ended_by & request.word[2], "{} was answered, but ended by {}", request.name, ended_by)

    def _is_first(self, request: Request, task: Task) -> None:
        """No more urgent task was ready before the request, if it is unchanged since then and no rule holds it back. If
        the queue is also unchanged, no such task of the same priority was ready before this task. After a lost race,
        or an apparent one, tasks of one priority come in any order."""
        sim, ledger, habits = self._sim, self._ledger, self._sim.habits
        if habits.lag_ms or habits.skew_ms or task.target_agent is None or sim.current.process.attempt > 1:
            return
        began, began_ms = sim.current.process.began_at, sim.current.process.began_ms + BEGIN_MS
        own = ledger.queued.get((task.id, task.fence))
        others = [each for each, head in ledger.heads.items() if head.get("target_agent") == task.target_agent]
        is_still = all(ledger.changed_at[each] < began for each in others if each != task.id)
        is_alone = ledger.taken_at.get(task.target_agent, 0) < began and is_still and not sim.current.process.has_lost
        # Who has waited for a slot looks as one of many: each begins with another task.
        is_limited = task.claim is not None and task.claim.slot is not None
        is_alone = is_alone and not (is_limited and request.name == "wait for work")
        for task_id, head in ledger.heads.items():
            is_there = head["state"] == "delegated" and head.get("target_agent") == task.target_agent
            is_over = bool(head.get("fail_on_deadline")) and to_ms(head["deadline"]) <= sim.now_ms + BEGIN_MS
            if own and is_there and not is_over and not head.get("parked") and ledger.changed_at[task_id] < began:
                place = (head["priority"], to_ms(head["ready_at"]))
                is_due = place[1] <= began_ms
                is_before = place[0] < own[0] or (place < own and is_alone)
                is_due = is_due and not sim.oracle.approvals.may_be_held(head)
                self._must(
                    not (is_due and is_before), "{} was claimed at {}, and {} waits at {}", task.id, own, task_id, place
                )

    def _followed(self, request: Request, following: Claimed | None) -> None:
        """However often it is asked for, one claim follows."""
        assert request.word
        if following is None:
            return
        first = self._following.setdefault(request.word[1], following.claim_id)
        self._must(first == following.claim_id, "{}: two claims followed one", following.details.task.id)
        task_id, claim_id, _ = request.word
        leases, following_leases = self._leases(task_id, claim_id), self._leases(following.details.task.id, first)
        is_as_long = following_leases[0] in leases  # and it may have been extended since
        self._must(is_as_long, "{}: the claim that follows has another lease than {}", task_id, leases)
        self._ledger.seen["next claimed"] += 1
        self.claimed(following)

    def _leases(self, task_id: str, claim_id: str) -> list[int]:
        return next(each.leases_ms for each in self._ledger.claims_of(task_id) if each.id == claim_id)

    def refused(self, request: Request, exc: BatonError) -> None:
        name = type(exc).__name__
        self._ledger.seen[f"refused: {name}"] += 1
        self._must(name not in INTERNAL, "{} was refused with {}, which is to be decided again", request.name, name)
        was_answered = request.is_keyed and request.was_answered_by(self._sim.current.process.began_at)
        self._must(not was_answered or name in INSTEAD, "{}: a repeat was refused with {}", request.name, name)
        if name == "StaleClaim" and request.word and request.most_effects:
            is_own = self._ended_by(request) & request.word[2]
            self._must(not is_own, "{}: refused as stale, though it is what ended the claim", request.name)

    def claimed(self, claimed: Claimed) -> None:
        """A claimer has everything that it needs, as it is now."""
        details, task, ledger = claimed.details, claimed.details.task, self._ledger
        seen = ledger.claims.get((task.id, task.fence))
        is_known = task.claim and seen is not None and seen.id == claimed.claim_id
        self._must(is_known, "{}: a claim was answered that there never was", task.id)
        resume_payload, withheld = ledger.resume_payload.get((task.id, task.waits)), self._withheld(claimed)
        is_brought = not task.waits or "resume_payload" in withheld or details.resume_payload == resume_payload
        self._must(is_brought, "{}: its claimer got {} instead of {}", task.id, details.resume_payload, resume_payload)
        if claimed.memory is not None:
            self._sim.oracle.board.is_told(task.id, self._sim.current.process.began_at, claimed.memory)
        self._sim.oracle.run_states.is_shown(claimed)
        got = len(details.recoveries)
        is_whole = got == task.recoveries or "recoveries" in withheld
        self._must(is_whole, "{}: its claimer got {} of {} recoveries", task.id, got, task.recoveries)
        # A repeat's answer is read in one query, which is of several moments: the claim may have gone on meanwhile.
        for saved, named in (("checkpoint", "last_checkpoint_id"), ("run_state", "run_state_id")):
            item = getattr(details, saved)
            is_latest = (item and item.id) in (getattr(task, named), ledger.heads[task.id].get(named))
            self._must(is_latest or saved in withheld, "{}: its claimer got {} {}", task.id, saved, item and item.id)

    def _withheld(self, claimed: Claimed) -> set[str]:
        """Returns the parts that the claimer may lack: others left them on open work, and it may be guarded. A guarded
        one gets none of these, and no entry that others posted later."""
        details, task = claimed.details, claimed.details.task
        slug, withheld = task.claim.agent if task.claim else "", {*claimed.withheld} - {"memory"}
        later = [] if claimed.memory is None else [*_later_entries(claimed.memory, task.created_at, slug)]
        is_guarded = self._sim.oracle.claim_rules.surely_guard(task.id, self._ledger.heads[task.id], slug)
        self._must(not (is_guarded and later), "{}: {} is guarded, and got the later {}", task.id, slug, later)
        self._ledger.seen["claim without later entries"] += "memory" in claimed.withheld
        self._ledger.seen["claim with later entries"] += bool(later)
        self._must(not (later and claimed.withheld), "{}: of the later entries {} came", task.id, later)
        if not {*task.takers} - {slug}:
            self._must(not withheld, "{}: of {} is withheld, and nobody else had it", task.id, withheld)
            return set()
        agents: dict[str, list[str | None]] = {
            "checkpoint": [details.checkpoint.agent] if details.checkpoint else [],
            "resume_payload": [details.resume_payload.get("agent")] if details.resume_payload else [],
            "recoveries": [each.prior_agent for each in details.recoveries],
            "failure": [details.failure.get("source", {}).get("agent")] if details.failure else [],
        }
        foreign = {name for name, found in agents.items() if {*found} - {None, slug}}
        if is_guarded:
            self._must(not foreign, "{}: {} is guarded, and got {} of others", task.id, slug, foreign)
            self._ledger.seen["claim without the parts of others"] += 1
        self._must(not foreign or not withheld, "{}: of the parts of others some are withheld", task.id)
        return {*agents} if withheld else {"resume_payload"}  # which may bring nothing that has a name

    def model_is_asked(self, request: ModelRequest) -> None:
        """Counted before, and once a turn. What was begun while it held the task can't be called back."""
        task_id, ledger = request.task_id, self._ledger
        head = ledger.heads[task_id]
        if (head.get("claim") or {}).get("claim_id") != self._sim.current.process.claim_id:
            return
        newest = ledger.agents[request.agent][-1:]
        replied_at = self._replied_at.get((task_id, self._sim.current.process.claim_id), -1)
        is_off = any(not each["active"] and at < replied_at for at, each in newest)
        self._must(not is_off, "{}: the model is asked for {}, which is switched off", task_id, request.agent)
        calls = ledger.usage.get(head["workflow_id"], {}).get("model_calls", 0)
        self._must(calls > 0, "{}: the model is asked, and nobody has counted it", task_id)
        for sk, wire in self._sim.dynamo.items.get(f"{PREFIX}RUN#{task_id}", {}).items():
            entry = item_of(wire) if sk.startswith("ENTRY#") else None
            is_kept = entry is not None and entry.get("kind") == "reply" and entry["turn"] == request.turn
            self._must(not is_kept, "{}: the model is asked again for turn {}", task_id, request.turn)

    def model_replies(self, request: ModelRequest) -> None:
        """What was to be seen before it is seen before the next call."""
        self._replied_at[request.task_id, self._sim.current.process.claim_id] = self._sim.steps

    def logged(self, _message: str, action: str = "", error: str = "", **fields: object) -> None:
        """The product's log: some lines tell of what never may happen."""
        if action in ("watch_untold", "watch_not_asked"):
            self._sim.current.process.failing_watch = True
        if action in FAILURES and error not in EXPECTED_FAILURES:
            self._fail(f"{action}: {error} {fields.get('task_id')}", sys.exc_info()[1])

    def _mark(self, request: Request, value: Any, tasks: list[Task]) -> tuple[Any, ...]:
        """What of an answer must be the same in a repeat's."""
        if isinstance(value, MarkerAnswer):
            return self._marker(request, value)
        if isinstance(value, Note):
            self._exists("NOTES", value.about, value.id)
            return (value.id,)
        if isinstance(value, Claimed):
            return ((tasks[0].id, value.claim_id),)
        for each in value if isinstance(value, tuple) else ():
            if isinstance(each, Checkpoint):
                self._exists("CHECKPOINTS", each.workflow_id, each.id)
        if isinstance(value, Question):
            return value.id, value.used_at if request.name == "use" else None
        if isinstance(value, Alert | Entry):
            return (value.id,)
        if isinstance(value, tuple) and len(value) == 2 and isinstance(value[1], str):  # a secret beside it
            return (_said_of(tasks[0]), value[1]) if tasks else ()
        return (*map(_said_of, tasks), _result_in(value))

    def _marker(self, request: Request, answer: MarkerAnswer) -> tuple[Any, ...]:
        duplicate, ledger = answer.duplicate_of, self._ledger
        if duplicate and not request.answers and self._sim.settings["breaker_scope"] == "open":
            is_open = ledger.ended_at.get(duplicate, request.began_at) >= request.began_at
            self._must(is_open, "{} was named as open, and wasn't", duplicate)
        is_there = answer.task_id is None or answer.task_id in ledger.heads
        self._must(is_there, "{} was answered, and isn't there", answer.task_id)
        return answer.task_id, duplicate, answer.review_id

    def _exists(self, kind: str, place: str, sk: str) -> None:
        found = self._sim.dynamo.item((f"{PREFIX}{kind}#{place}", sk))
        self._must(found, "{} {} was answered, and isn't there", kind, sk)

    def _ended_by(self, request: Request) -> set[str]:
        """How the claim of the request's word ended."""
        assert request.word
        task_id, claim_id, _ = request.word
        for seen in self._ledger.claims_of(task_id):
            if seen.id == claim_id:
                return seen.ended_by or set()
        return set()


def _later_entries(memory: ClaimMemory, made_at: datetime, slug: str) -> Iterator[str]:
    """Yields the ids of the entries that others posted after the task was made."""
    drift = memory.drift or Drift()
    heirs = [each.heir for each in drift.decisions if each.heir is not None]
    for entry in (*memory.memories, *drift.warnings, *heirs):
        if entry.posted_at > made_at and entry.posted_by != f"agent:{slug}":
            yield entry.id


def _said_of(task: Task) -> tuple[str, str, int, int]:
    return task.id, str(task.state), task.meta.seq, task.meta.version


def _result_in(value: Any) -> str:
    """What came of an ended task, as its answer has it."""
    if not isinstance(value, TaskDetails) or not value.task.is_ended:
        return ""
    failure = (
        value.failure if value.task.state in UNSUCCESSFUL else None
    )  # of an attempt before that, it may be left out
    return json.dumps([value.output, value.completion, failure], sort_keys=True, default=str)


def _tasks_in(value: Any) -> Iterator[Task]:
    if isinstance(value, Task):
        yield value
    elif isinstance(value, TaskDetails):
        yield value.task
    elif isinstance(value, Claimed):
        yield value.details.task
    elif isinstance(value, tuple):
        for each in value:
            yield from _tasks_in(each)

"""How everything behaves once nothing goes wrong any more."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from baton.domain.errors import ApprovalCounted, NotAllowed, NotAsked, QuestionOver
from baton.domain.questions.question import Outcome
from baton.domain.tasks.calls import WorkerCall
from baton.services.access.change_settings import change_settings
from baton.services.agents.register_agent import register_agent
from baton.services.claims.claim_task import claim_next, claim_task
from baton.services.claims.complete_task import CompletedWork, complete_task
from baton.services.events.publish_events import publish_overdue
from baton.services.questions.answer_question import Answer, answer_question
from baton.services.questions.list_questions import list_open_questions
from baton.services.tasks.approve_task import approve_task, approve_task_next
from baton.services.tasks.end_task import cancel_task
from baton.services.tasks.sweep import sweep
from baton.services.tracker.import_tracker import import_tracker
from baton.services.tracker.retry_tracker import retry_tracker
from baton.steps.claims.take_task import Claimed, Claimer
from simulation.actors.people import ACCEPTED, ALL, GROUPS, OPERATOR, PEOPLE, SERVICE, agent, human
from simulation.actors.trust.staff import APPROVER
from simulation.oracle.items import attributes_of
from simulation.oracle.ledger import ENDED
from simulation.ports import BEGIN, WORKSPACE
from simulation.tracker import DATABASE

if TYPE_CHECKING:
    from baton.domain.access.principal import Principal
    from simulation.actors.actor_context import ActorContext

DAY_MS = 86_400_000
BEGIN_MS = int(BEGIN.timestamp() * 1000)
READY = frozenset({"delegated", "next"})
MAX_ROUNDS = 1_500
SWEEP_MS = 61_000
# Where the index has the workspaces whose tracker is to be asked again.
TRACKERS = "WAKE#TRACKERS"
# Where it has the pages of tasks that go on.
OPEN_PAGES = f"WS#{WORKSPACE}#MIRRORS-OPEN"
# What is asked of a task's HEAD, and of its page's row.
SAID, SENT = ("seq", "state"), ("wanted", "sender")


class CalmDays:
    def __init__(self, context: ActorContext) -> None:
        self._context, self._sim = context, context.sim
        # Ready work that everybody was asked to approve, as it was then.
        self._let: set[tuple[str, int]] = set()

    def begin(self) -> None:
        """The tracker is there, and what it knows is known."""
        sim = self._sim
        if sim.habits.has_tracker:
            change_settings(sim.deps, OPERATOR, {"tracker": {"database": DATABASE}})
            import_tracker(sim.deps, human(), lambda: True)

    def pass_by(self, days: int) -> None:
        """Only what Baton itself does: notices, sweeps, news."""
        sim, end_ms = self._sim, self._sim.now_ms + days * DAY_MS
        for _ in range(MAX_ROUNDS):
            waiting = [at for queue in (sim.queue, sim.tracker_queue) for at, _ in queue.waiting]
            first = min([*self._due(), *self._pages_due(), *waiting], default=end_ms + 1)
            if sim.scheduler.is_stopped or first > end_ms:
                sim.pass_to(end_ms)
                return
            sim.pass_to(max(sim.now_ms + 1_000, first + SWEEP_MS))
            for notice in sim.queue.due(sim.now_ms):
                sim.lambdas.answer(notice)
            for task_id in sim.tracker_queue.due(sim.now_ms):
                sim.lambdas.sync(task_id)
            this = sweep(sim.deps)
            is_well = this.failed == 0 and this.complete
            sim.oracle.verdict.must(is_well, "a sweep in quiet times failed")
            publish_overdue(sim.deps, sim.bus)
        sim.oracle.verdict.fail("it never comes to rest")

    def everybody_finishes(self) -> None:
        """Humans approve, workers work: everything there is can be brought to an end."""
        sim, heads = self._sim, self._context.ledger.heads
        if sim.habits.has_tracker:
            retry_tracker(sim.deps, human(), None)
        for slug in ALL:
            accepts = {"accepts": ACCEPTED[slug]} if sim.habits.has_trust and slug in ACCEPTED else {}
            register_agent(sim.deps, OPERATOR, slug, {"active": True, **accepts})
        self._gather()
        for _ in range(60):
            sim.pass_to(sim.now_ms + 60_000)
            for task in list(sim.deps.store.queues.needs(WORKSPACE, 200, None).items):
                self._approve(task.id)
            self._let_all_through()
            self._answer()
            sim.pass_to(sim.now_ms + 60_000)
            for slug in ALL:
                self._work_off(slug)
            for task_id in [task_id for task_id, head in heads.items() if head["state"] == "next"]:
                self._take(task_id)
            self.pass_by(1)
            if sim.scheduler.is_stopped or all(head["state"] in ENDED for head in heads.values()):
                return

    def _gather(self) -> None:
        """Whoever is asked is there again."""
        if self._sim.habits.has_questions:
            change_settings(self._sim.deps, OPERATOR, {"groups": GROUPS[0]})
        if self._sim.habits.has_trust:
            self._make_rules_possible()
            for name in PEOPLE:
                self._sim.staff.let_in(OPERATOR, name, APPROVER)

    def _make_rules_possible(self) -> None:
        """No rule asks for all of its people, and excludes an author among them."""
        rules = self._sim.deps.store.settings.of(WORKSPACE).approval_rules
        possible = tuple(
            replace(each, not_author=each.not_author and not 0 < len(each.people) <= each.needed) for each in rules
        )
        change_settings(self._sim.deps, OPERATOR, {"approval_rules": possible})

    def _approve(self, task_id: str) -> None:
        """Gives the needed approvals. A handoff that needs all of its people, its author included, is cancelled."""
        for name in ("alice", *PEOPLE):
            with suppress(NotAsked, ApprovalCounted):
                if approve_task(self._sim.deps, human(name), task_id, None).task.state != "needs":
                    return
        if self._is_for_nobody(task_id):
            cancel_task(self._sim.deps, human(), task_id, "nobody may approve it")

    def _is_for_nobody(self, task_id: str) -> bool:
        task, _ = self._sim.deps.store.tasks.load(WORKSPACE, task_id)
        needs = task.approval.needs if task.approval else ()
        return any(each.approvers.is_hopeless(GROUPS[0]) for each in needs)

    def _let_all_through(self) -> None:
        """Everybody approves ready work once, if there are rules that may hold it back from its agents."""
        if not any(self._sim.oracle.voters.rules_seen()):
            return
        for task_id, head in list(self._context.ledger.heads.items()):
            place = (task_id, head["seq"])
            if head["state"] in READY and place not in self._let:
                self._let.add(place)
                self._let_through(task_id, head["state"])

    def _let_through(self, task_id: str, state: str) -> None:
        approve = approve_task_next if state == "next" else approve_task
        for name in ("alice", *PEOPLE):
            with suppress(NotAsked, ApprovalCounted, NotAllowed):
                approve(self._sim.deps, human(name), task_id, None)

    def _answer(self) -> None:
        """Everybody says something to what is open, if they are asked and it isn't closed by then."""
        sim = self._sim
        for each in list_open_questions(sim.deps, human(), 200, None).items:
            digest = each.action.digest if each.action else None
            yes = Outcome.APPROVED if digest else Outcome.ANSWERED
            said = Answer(outcome=yes, digest=digest, answer=None if digest else "red")
            for name in PEOPLE:
                with suppress(NotAsked, QuestionOver):
                    answer_question(sim.deps, human(name), each.task_id, each.id, said)

    def _due(self) -> list[int]:
        """When the system must look at something again."""
        for index in self._sim.dynamo.indexes.values():
            index.catch_up(1 << 60)
        shown = self._sim.dynamo.indexes["wake"].shown
        tasks = (rows for partition, rows in shown.items() if partition != TRACKERS and partition.startswith("WAKE#"))
        entries = ((sk, key) for rows in tasks for sk, key in rows)
        return [int(sk.split("#")[0]) - BEGIN_MS for sk, key in entries if not self._is_told(key)]

    def _is_told(self, key: tuple[str, str]) -> bool:
        """True for an open task's place in the outbox with nothing to tell: it is looked at for ever, in vain."""
        if key[1] != "BEGINNING":
            return False
        dynamo = self._sim.dynamo
        place, head = attributes_of(dynamo.item(key), "told"), attributes_of(dynamo.item((key[0], "HEAD")), *SAID)
        return bool(place and head and place["told"] == head["seq"] and head["state"] not in ENDED)

    def _pages_due(self) -> list[int]:
        """When the tracker must be asked again: for a page to be sent, or to see what others have changed."""
        sim = self._sim
        circuit = attributes_of(sim.dynamo.item((f"WS#{WORKSPACE}#TRACKER", "GATE")), "reconciled_ms")
        if circuit is None:
            return []
        is_seen = circuit.get("reconciled_ms", BEGIN_MS) - BEGIN_MS > sim.tracker.newest_ms()
        is_behind = bool(sim.dynamo.indexes["queue"].shown.get(f"WS#{WORKSPACE}#MIRRORS"))
        return [*([sim.now_ms] if is_behind or not is_seen else []), *self._overtaken()]

    def _overtaken(self) -> list[int]:
        """When pages are looked at that are behind their tasks, or whose sender died."""
        dynamo, found = self._sim.dynamo, []
        for sk, key in dynamo.indexes["wake"].shown.get(OPEN_PAGES, []):
            row, head = attributes_of(dynamo.item(key), *SENT), attributes_of(dynamo.item((key[0], "HEAD")), *SAID)
            if row and head and (row["wanted"] < head["seq"] or "sender" in row):
                found.append(max(self._sim.now_ms, int(sk.split("#")[0]) - BEGIN_MS))
        return found

    def _work_off(self, slug: str) -> None:
        sim, by = self._sim, agent(slug)
        while claimed := claim_next(sim.deps, Claimer(by=by, agent=slug, worker="calm")):
            sim.oracle.answers.claimed(claimed)
            self._complete(by, claimed)

    def _take(self, task_id: str) -> None:
        head = self._context.ledger.heads[task_id]
        slug = head.get("target_agent") or ("b" if head["source_agent"] == "a" else "a")
        claimed = claim_task(self._sim.deps, Claimer(by=SERVICE, agent=slug, worker="calm"), task_id)
        self._complete(SERVICE, claimed)

    def _complete(self, by: Principal, claimed: Claimed) -> None:
        task_id = claimed.details.task.id
        work = CompletedWork(output=None, completion=self._context.report_on(task_id))
        complete_task(self._sim.deps, WorkerCall(by, task_id, claimed.claim_id, "calm"), work)

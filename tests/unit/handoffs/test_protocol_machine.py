"""The whole handoff protocol in any order and at any time, in two workspaces, against a small model of it."""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from baton.domain.access.principal import Principal
from baton.domain.errors import (
    AlreadyClaimed,
    AlreadyRetried,
    CallbackUsed,
    ClaimRequired,
    NotAllowed,
    NotClaimable,
    OwnHandoff,
    StaleClaim,
    TaskEnded,
    UndoWindowOver,
    Unknown,
)
from baton.domain.handoffs.handoff_message import message_from
from baton.domain.tasks.calls import HumanCall
from baton.domain.tasks.trail import replay
from baton.services.claims.claim_task import claim_next, claim_task
from baton.services.claims.join_branches import join_branches
from baton.services.claims.wait_for_callback import answer_callback
from baton.services.handoffs.create_handoff import CreateHandoff, create_handoff
from baton.services.handoffs.retry_handoff import retry_handoff
from baton.services.handoffs.split_task import split_task
from baton.services.tasks.approve_task import approve_task, approve_task_next, undo_approval
from baton.services.tasks.end_task import cancel_task, resolve_task
from baton.services.tasks.put_off_task import defer_task, dismiss_task
from baton.services.tasks.read_task import read_task
from baton.services.tasks.sweep import sweep
from baton.steps.claims.take_task import Claimer
from support.faults.soak import scaled
from support.models.protocol_model import SLUGS, Expected
from support.models.protocol_players import VERBS, WORKSPACES, Players, expecting, other_than
from support.worlds.team import as_told
from support.worlds.world import agent, human

pytestmark = pytest.mark.slow

numbers = st.integers(0, 10_000)
slugs_or_open = st.sampled_from([*SLUGS, None])
workspaces = st.sampled_from(WORKSPACES)


class ProtocolMachine(Players, RuleBasedStateMachine):
    def __init__(self) -> None:
        RuleBasedStateMachine.__init__(self)
        Players.__init__(self)

    @initialize()
    def everybody_has_work(self) -> None:
        for workspace in WORKSPACES:
            for target in (*SLUGS, None):
                self.ask(workspace, target, True)
        self.time_passes(3_000)

    # Asking

    @rule(workspace=workspaces, to=slugs_or_open, by_human=st.booleans())
    def ask(self, workspace: str, to: str | None, by_human: bool) -> None:
        source = "human:alice" if by_human else other_than(to, self.said)
        by = human(workspace) if by_human else agent(source, workspace)
        holds = any(task.claim_id and task.holder == source and task.workspace == workspace for task in self.model)
        message = {"source": {"agent": by.id}, "target": {"agent": to, "reason": self.word()}}
        with expecting(ClaimRequired if holds and not by_human else None) as refused:
            made = create_handoff(self.deps, by, CreateHandoff(message=message_from(message)))
        if not refused:
            self.saw(workspace, made.task.id, by_human=by_human, source=source, target=to, parent=None, kind="transfer")

    @rule(number=numbers)
    def retry(self, number: int) -> None:
        task = self.pick(number)
        origin = self.model.of(task.workspace, task.origin_of_retry or task.id)
        under_way = origin.retried and not self.model.of(task.workspace, origin.retried).is_ended
        fits = task.state in {"failed", "rejected", "cancelled"}
        with expecting(None if fits and not under_way else AlreadyRetried if fits else NotAllowed) as refused:
            made = retry_handoff(self.deps, human(task.workspace), task.id).task
        if not refused:
            new = self.saw(
                task.workspace,
                made.id,
                by_human=True,
                kind="retry",
                source=task.source,
                target=task.target,
                parent=task.parent,
                workflow=task.workflow,
                join_parent=None,
            )
            new.origin_of_retry, origin.retried = origin.id, made.id

    # A human's verbs

    @rule(
        number=numbers,
        verb=st.sampled_from(["approve", "approve", "approve-next", "undo", "defer", "dismiss", "split"]),
    )
    def decide(self, number: int, verb: str) -> None:
        task = self.pick(number)
        by = human(task.workspace)
        undoable = task.state == "delegated" and task.undo_until is not None and self.now < task.undo_until
        fits = undoable if verb == "undo" else task.state == "needs"
        refusal: type[Exception] = TaskEnded if task.is_ended else NotAllowed
        if verb == "undo" and task.state == "delegated":
            refusal = UndoWindowOver
        until = self.now + timedelta(minutes=10)
        with expecting(None if fits else refusal) as refused:
            match verb:
                case "approve":
                    approve_task(self.deps, by, task.id, None)
                case "approve-next":
                    approve_task_next(self.deps, by, task.id, None)
                case "undo":
                    undo_approval(self.deps, by, task.id)
                case "defer":
                    defer_task(self.deps, HumanCall(by, task.id), until)
                case "dismiss":
                    dismiss_task(self.deps, by, task.id, "no")
                case _:
                    _, parts = split_task(
                        self.deps,
                        HumanCall(by, task.id),
                        list(map(message_from, [{"summary": self.word()} for _ in range(2)])),
                    )
        if refused:
            return
        match verb:
            case "approve":
                task.delegated(self.now, by_human=True)
            case "approve-next":
                task.delegated(self.now, by_human=False)
                task.state = "next"
            case "undo":
                task.state = "needs"
            case "defer":
                task.put_off_until = until
            case _:
                task.end("cancelled")
                task.put_off_until, task.is_cascading = None, verb == "dismiss" and task.claims > 0
        if verb == "split":
            task.successors = [part.task.id for part in parts]
            same = {
                "source": task.source,
                "target": task.target,
                "parent": task.parent,
                "join_parent": task.join_parent,
            }
            for part in task.successors:
                self.saw(task.workspace, part, by_human=False, stays=True, **same)

    @rule(number=numbers, end=st.sampled_from(["cancel", "resolve", *[None] * 8]))
    def end(self, number: int, end: str | None) -> None:
        if end is None:
            return
        task = self.pick(number)
        with expecting(TaskEnded if task.is_ended else None) as refused:
            if end == "cancel":
                cancel_task(self.deps, human(task.workspace), task.id, "no longer needed")
            else:
                resolve_task(self.deps, HumanCall(human(task.workspace), task.id), {"by": "hand"})
        if refused:
            return
        task.put_off_until = None
        if end == "cancel":
            self.model.cancel(task)
            for each in self.model.below(task):
                each.put_off_until = None
        else:
            task.end("done")

    # A worker's verbs

    @rule(workspace=workspaces, slug=st.sampled_from(SLUGS), lease=st.sampled_from([15, 300, 300]))
    def claim_the_next(self, workspace: str, slug: str, lease: int) -> None:
        by, lapsed = agent(slug, workspace), self.model.lapsed(workspace, slug, self.now)
        first = self.model.best(workspace, slug, self.now)
        claimed = claim_next(self.deps, Claimer(by=by, agent=slug, worker="w", lease_seconds=lease))
        for task in lapsed:  # behind ready work, in the order in which their leases have ended
            claim = self.store.tasks.load(workspace, task.id)[0].claim
            if claim is None or claim.claim_id != task.claim_id:
                task.lost(self.now)
        assert claimed or not any(task.claim_id for task in lapsed)
        best = self.model.best(workspace, slug, self.now)
        if first is None or first.target is None:  # what its agent has lost comes before open work
            best = next((task for task in lapsed if claimed and task.id == claimed.details.task.id), best)
        assert (claimed and claimed.details.task.id) == (best and best.id)
        if claimed and best:
            self.took(best, slug, claimed.claim_id, lease)

    @rule(number=numbers)
    def claim_by_id(self, number: int) -> None:
        task = self.pick(number)
        slug = task.target or SLUGS[number % 3]
        refusal: type[Exception] | None = None
        if task.target is None and slug == task.source:
            refusal = OwnHandoff
        elif task.claim_id and not self.is_taken_over(task, slug):
            refusal = AlreadyClaimed
        elif task.is_ended:
            # Open work that has ended is no offer any more.
            refusal = TaskEnded if task.is_read_by(slug) else Unknown
        elif not task.is_claimable(self.now):
            refusal = NotClaimable
        by = agent(slug, task.workspace)
        with expecting(refusal) as refused:
            claimed = claim_task(self.deps, Claimer(by=by, agent=slug, worker="w"), task.id)
        if not refused:
            self.took(task, slug, claimed.claim_id, 300)

    def is_taken_over(self, task: Expected, slug: str) -> bool:
        """Whether a claim by id ends a claim of the same agent first."""
        if task not in self.model.lapsed(task.workspace, slug, self.now):
            return False
        task.lost(self.now)
        return True

    @precondition(lambda self: self.held)
    @rule(number=numbers, verb=st.sampled_from(VERBS))
    def work(self, number: int, verb: str) -> None:
        task, claim_id, by = self.held[number % len(self.held)]
        self.send(verb, task, claim_id, by, number)

    @rule(workspace=workspaces, slug=st.sampled_from(SLUGS), verb=st.sampled_from(VERBS), number=numbers)
    def claim_and_work(self, workspace: str, slug: str, verb: str, number: int) -> None:
        before = len(self.claims)
        self.claim_the_next(workspace, slug, 300)
        if len(self.claims) > before:
            self.send(verb, *self.claims[-1], number)

    @precondition(lambda self: self.claims)
    @rule(number=numbers, verb=st.sampled_from(VERBS), stranger=st.sampled_from(["agent", "human", None]))
    def work_without_the_claim(self, number: int, verb: str, stranger: str | None) -> None:
        task, claim_id, by = self.claims[number % len(self.claims)]
        if stranger is not None:
            by = human(task.workspace) if stranger == "human" else agent(other_than(by.id, number), task.workspace)
        if task.claim_id != claim_id or stranger is not None:
            # Whoever knows the claim that holds the task knows of the task. Handing off asks for none.
            is_told = by.is_human or task.is_read_by(by.id) or task.claim_id == claim_id or verb == "hand-off"
            with expecting(StaleClaim if is_told else Unknown):
                self.send(verb, task, claim_id, by, number)

    @rule(number=numbers, slug=st.sampled_from(SLUGS))
    def read_as(self, number: int, slug: str) -> None:
        task = self.pick(number)
        with expecting(None if task.is_read_by(slug) else Unknown):
            assert read_task(self.deps, agent(slug, task.workspace), task.id)[0].task.id == task.id

    @property
    def held(self) -> list[tuple[Expected, str, Principal]]:
        return [each for each in self.claims if each[0].claim_id == each[1]]

    # The outside, time, and what the system does by itself

    @precondition(lambda self: self.tokens)
    @rule(number=numbers, content=st.integers(0, 1))
    def the_outside_answers(self, number: int, content: int) -> None:
        task, wait, token = self.tokens[number % len(self.tokens)]
        is_waited_for = task.state == "waiting" and task.waits == wait and task.until is not None
        # The exact repeat is taken as long as nothing else was brought since.
        resume_payload = self.store.tasks.read(task.workspace, task.id).resume_payload or {}
        repeats = self.answered.get(token) == content and resume_payload.get("wait") == wait
        with expecting(None if is_waited_for or repeats else CallbackUsed) as refused:
            answer_callback(self.deps, token, content)
        if not refused and is_waited_for:
            self.answered[token] = content
            task.give_back(self.now)

    @rule(number=numbers)
    def a_notice_brings_a_join(self, number: int) -> None:
        task = self.pick(number)
        assert join_branches(self.deps, task.workspace, task.id) == self.model.join(task, self.now)

    @rule(ms=st.sampled_from([1, 3_000, 14_999, 15_000, 300_000, 600_000, 3_600_000, 90_000_000]))
    def time_passes(self, ms: int) -> None:
        self.world.clock.advance(milliseconds=ms)

    @rule()
    def the_sweeper_comes(self) -> None:
        for _ in range(4):
            assert sweep(self.deps).failed == 0
            self.model.sweep(self.now)

    @rule(number=numbers)
    def another_workspace_knows_nothing_of_it(self, number: int) -> None:
        task = self.pick(number)
        stranger = human(WORKSPACES[task.workspace == WORKSPACES[0]])
        for act in (approve_task, cancel_task):
            with pytest.raises(Unknown):
                act(self.deps, stranger, task.id, None)
        with pytest.raises(Unknown):
            retry_handoff(self.deps, stranger, task.id)

    # What always holds

    @invariant()
    def every_task_is_as_the_model_says_and_as_its_trail_tells(self) -> None:
        for expected in self.model:
            task = self.store.tasks.load(expected.workspace, expected.id)[0]
            assert task.state == expected.state, expected
            assert (task.claim.claim_id if task.claim else None) == expected.claim_id
            assert (task.fence, task.attempt, task.releases) == (expected.claims, expected.attempt, expected.releases)
            assert list(task.successors) == expected.successors
            assert (task.wait is not None) == (task.state == "waiting")
            if self.told.get(expected.key) != task.meta.version:
                self.told[expected.key] = task.meta.version
                events = self.store.trail.events(expected.workspace, expected.id, 0, 10_000)
                assert all(before.fence <= after.fence for before, after in pairwise(events))
                assert as_told(replay(events)) == as_told(task)
            if expected.is_ended:
                expected.ended = expected.ended or task
                assert task == expected.ended

    @invariant()
    def what_lies_around_the_tasks_agrees(self) -> None:
        for workspace in WORKSPACES:
            mine = [task for task in self.model if task.workspace == workspace]
            for slug in SLUGS:
                held = {(each.task_id, each.claim_id) for each in self.store.claims.held(workspace, slug)}
                assert held == {(t.id, t.claim_id) for t in mine if t.claim_id and t.holder == slug}
                inbox = [
                    item.content["task_id"] for item in self.store.inboxes.inbox(workspace, slug, 10_000, None).items
                ]
                assert sorted(inbox) == sorted(task.id for task in mine if task.is_ended and task.source == slug)
                shown = list(self.store.queues.ready(workspace, slug, self.now)[1])
                ready = {each.task_id for each in shown if each.lapsed_claim is None}
                assert ready == {t.id for t in mine if t.target == slug and t.is_ready(self.now)}
                lapsed = {each.task_id for each in shown if each.lapsed_claim is not None}
                assert lapsed >= {t.id for t in self.model.lapsed(workspace, slug, self.now)}
            assert {each.task_id for each in self.store.queues.open_work(workspace, self.now)} == {
                task.id for task in mine if task.target is None and task.is_ready(self.now)
            }
            needs = {task.id for task in self.store.queues.needs(workspace, 10_000, None).items}
            assert needs == {t.id for t in mine if t.state == "needs" and t.put_off_until is None}
            for workflow in {task.workflow for task in mine}:
                members = {(each.task_id, each.parent_id) for each in self.store.workflows.members(workspace, workflow)}
                assert members == {(task.id, task.parent) for task in mine if task.workflow == workflow}
            reviews = self.store.escalations.reviews(workspace, 10_000, None).items
            assert len(reviews) == len([each for each in self.model.reviews if each[0] == workspace])

    @invariant()
    def no_open_task_is_forgotten(self) -> None:
        """It is looked at again, or a human sees it, or somebody may take it after an alert (invariant 4)."""
        for expected in self.model:
            task = self.store.tasks.load(expected.workspace, expected.id)[0]
            if not task.is_ended and task.meta.wake_at is None:
                assert task.state == "needs" or task.flags, expected


TestTheProtocolUnderAnything = ProtocolMachine.TestCase
TestTheProtocolUnderAnything.settings = settings(
    max_examples=scaled(80, 16),
    stateful_step_count=60,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)

"""A team of agents that hand work on to each other, with each step in one line. Nothing waits for a human unless that
is asked for: the agents have standing approvals."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cache
from itertools import count, pairwise
from typing import Any

from baton.domain.access.principal import Principal
from baton.domain.agents.agent import Approval
from baton.domain.errors import LoopTripped
from baton.domain.escalations.review import Review
from baton.domain.handoffs.handoff_message import message_from
from baton.domain.idempotency import IdempotencyKey
from baton.domain.tasks.calls import HumanCall, WorkerCall
from baton.domain.tasks.task import JoinRule, Kind, Policy, Task
from baton.domain.tasks.trail import replay, state_fields
from baton.ports.details import TaskDetails
from baton.services.access.change_settings import change_settings
from baton.services.agents.register_agent import register_agent
from baton.services.claims.claim_task import claim_next, claim_task
from baton.services.claims.complete_task import CompletedWork, complete_task
from baton.services.claims.delegate_task import branch_from, delegate_task
from baton.services.claims.fail_task import FailedWork, fail_task, reject_task
from baton.services.claims.release_task import ReleasedWork, release_task
from baton.services.claims.save_checkpoint import save_checkpoint
from baton.services.claims.transfer_task import transfer_task
from baton.services.claims.wait_for_callback import wait_for_callback
from baton.services.handoffs.create_handoff import CreateHandoff, create_handoff
from baton.services.handoffs.split_task import split_task
from baton.services.tasks.approve_task import approve_task
from baton.steps.claims.take_task import Claimed, Claimer
from support.clock import NOON
from support.fakes.fake_dynamo import FakeDynamo
from support.fakes.store import InMemoryStore
from support.faults.threads import StillClock
from support.worlds.world import WORKSPACE, World, agent, human

BROKE = {"type": "error", "description": "broke"}


@dataclass(frozen=True)
class HeldTask:
    """A task, with the claim of the worker that holds it."""

    by: Principal
    task: Task
    claim_id: str
    claimed: Claimed | None = None

    @property
    def body(self) -> dict[str, Any]:
        """The handoff, as its claimer got it."""
        return (self.claimed.details.body or {}) if self.claimed else {}

    def call(self, body_hash: str = "h", idempotency_key: IdempotencyKey | None = None) -> WorkerCall:
        return WorkerCall(self.by, self.task.id, self.claim_id, body_hash, idempotency_key)

    @property
    def where(self) -> tuple[Principal, str, str]:
        return self.by, self.task.id, self.claim_id


@dataclass(frozen=True)
class StoppedHandoff:
    """A handoff that the loop guard stopped. ``is_refused``: the verb was refused; otherwise the verb was done, without
    a child."""

    held: HeldTask
    rule: str
    review_id: str
    is_refused: bool


class Team:
    """``by`` of a verb is the claim's holder unless given. Each call has a body hash of its own unless one is given."""

    def __init__(self, *slugs: str, world: World | None = None, **settings: Any) -> None:
        self.world = world or World()
        self._said = count(1)
        self.slugs: list[str] = []
        if slugs and (table := self.world.empty_table()):
            self.slugs += slugs
            self.world.begin_as(table, registered(slugs))
        else:
            for slug in slugs:
                self.register(slug)
        if settings:
            self.set(**settings)

    @property
    def deps(self) -> Any:
        return self.world.deps

    def still(self) -> Any:
        """Returns the dependencies for threads: time stands still."""
        return replace(self.deps, clock=StillClock(self.world.clock.now()), log=lambda *_, **__: None)

    def register(self, slug: str, **values: Any) -> None:
        self.slugs.append(slug)
        register_agent(self.deps, human(), slug, {"name": slug, "approval": Approval.AUTO, **values})

    def set(self, **settings: Any) -> None:
        change_settings(self.deps, human(), settings)

    # Asking

    def ask(
        self,
        target: str | None,
        reason: str = "do it",
        *,
        by: Principal | None = None,
        under: HeldTask | None = None,
        claim_id: str | None = None,
        kind: Kind = Kind.TRANSFER,
        work_type: str | None = None,
        idempotency_key: Any = None,
        source: str | None = None,
        **message: Any,
    ) -> TaskDetails:
        """Asks for work by the holder of ``under``, else by a human. Returns a task that can be taken, unless it has to
        wait."""
        by = by or (under.by if under else human())
        claim_id = under.claim_id if under and claim_id is None else claim_id
        plain = {"source": {"agent": source or by.id}, "target": {"agent": target, "reason": reason}, **message}
        asked = CreateHandoff(message=message_from(plain), kind=kind, claim_id=claim_id, work_type=work_type)
        details = create_handoff(self.deps, by, asked, idempotency_key)
        self.later()
        return details

    def later(self, seconds: float = 3) -> None:
        """Lets time pass, by default so much that undo windows are over."""
        self.world.clock.advance(seconds)

    # Working

    def take(self, slug: str, task_id: str | None = None, by: Principal | None = None, worker: str = "w") -> HeldTask:
        claimed = self.taken(slug, task_id, by, worker)
        assert claimed is not None, f"nothing for {slug}"
        return HeldTask(by or agent(slug), claimed.details.task, claimed.claim_id, claimed)

    def taken(
        self, slug: str, task_id: str | None = None, by: Principal | None = None, worker: str = "w"
    ) -> Claimed | None:
        claimer = Claimer(by=by or agent(slug), agent=slug, worker=worker)
        return claim_next(self.deps, claimer) if task_id is None else claim_task(self.deps, claimer, task_id)

    def held_by(self, slug: str, task_id: str) -> HeldTask:
        """Returns the task that the agent has taken before."""
        task = self.task(task_id)
        assert task.claim is not None
        return HeldTask(agent(slug), task, task.claim.claim_id)

    def begin(self, slug: str, reason: str = "begin", **message: Any) -> HeldTask:
        """Returns a root task of the agent, taken by it."""
        return self.take(slug, self.ask(slug, reason, **message).task.id)

    def complete(
        self, held: HeldTask, to: str | None = None, reason: str = "go on", output: Any = None, **completion: Any
    ) -> TaskDetails:
        if to is not None:
            completion["continuation"] = {"suggested_next": to, "reason": reason}
        done = complete_task(
            self.deps, WorkerCall(*held.where, self._hash()), CompletedWork(output=output, completion=completion)
        )
        self.later()
        return done

    def fail(
        self, held: HeldTask, *, retryable: bool = False, back_to: str | None = None, **failure: Any
    ) -> TaskDetails:
        asked = {"target_agent": back_to} if back_to else None
        whole = {**BROKE, **failure}
        failed = fail_task(
            self.deps,
            WorkerCall(*held.where, self._hash()),
            FailedWork(failure=whole, retryable=retryable, rollback_request=asked),
        )
        self.later()
        return failed

    def reject(self, held: HeldTask, reason: str = "not mine to do") -> TaskDetails:
        rejected = reject_task(self.deps, WorkerCall(*held.where, self._hash()), reason)
        self.later()
        return rejected

    def release(self, held: HeldTask) -> TaskDetails:
        return release_task(self.deps, WorkerCall(*held.where, self._hash()), ReleasedWork())

    def transfer(self, held: HeldTask, target: str | None, reason: str = "yours", **asked: Any) -> TaskDetails:
        plain = {"target": {"agent": target, "reason": reason}, **asked}
        transferred = transfer_task(self.deps, WorkerCall(*held.where, self._hash()), message_from(plain))
        self.later()
        return transferred

    def delegate(
        self,
        held: HeldTask,
        *targets: str | None,
        policy: Policy = Policy.ALL,
        quorum: int | None = None,
        reason: str = "part",
    ) -> TaskDetails:
        """Delegates. ``call_id``: ``b0``, ``b1`` … in the order of the targets."""
        branches = [
            {"call_id": f"b{number}", "target": {"agent": target, "reason": f"{reason} {number}"}}
            for number, target in enumerate(targets)
        ]
        waiting = delegate_task(
            self.deps, WorkerCall(*held.where, self._hash()), list(map(branch_from, branches)), JoinRule(policy, quorum)
        )
        self.later()
        return waiting

    def split(self, task_id: str, *parts: dict[str, Any]) -> tuple[TaskDetails, ...]:
        """Splits the task by a human, and returns the parts."""
        return split_task(self.deps, HumanCall(human(), task_id), [message_from(part) for part in parts])[1]

    def wait(self, held: HeldTask, until: Any = None) -> tuple[TaskDetails, str]:
        return wait_for_callback(self.deps, WorkerCall(*held.where, self._hash()), "interaction", until)

    def checkpoint(self, held: HeldTask, **state: Any) -> str:
        return save_checkpoint(self.deps, WorkerCall(*held.where), "step", state)[1]

    def _hash(self) -> str:
        return f"body {next(self._said)}"

    def pass_on(self, held: HeldTask, target: str | None, way: str, reason: str) -> HeldTask | StoppedHandoff:
        """Hands on to the next agent, which takes the task. ``way``: the verb by which it is handed on."""
        try:
            outcome = self._passed_on(held, target, way, reason)
        except LoopTripped as trip:
            return StoppedHandoff(held, trip.rule, trip.fields["review_id"], is_refused=True)
        if outcome.get("status") == "manual_review":
            return StoppedHandoff(held, outcome["rule"], outcome["review_id"], is_refused=False)
        if (
            self.task(outcome["task_id"]).state == "needs"
        ):  # open work has no target whose standing approval it could have
            approve_task(self.deps, human(), outcome["task_id"], None)
            self.later()
        slug = target or next(each for each in self.slugs if each != held.by.id)
        return self.take(slug, outcome["task_id"])

    def _passed_on(self, held: HeldTask, target: str | None, way: str, reason: str) -> dict[str, Any]:
        match way:
            case "handoff":
                return {"task_id": self.ask(target, reason, under=held).task.id}
            case "transfer":
                return {"task_id": self.transfer(held, target, reason).task.successors[0]}
            case "delegation":
                wait = self.delegate(held, target, reason=reason).task.wait
                return {"task_id": wait.branches[0].task_id if wait else None}
            case "continuation":
                completion = self.complete(held, target, reason).completion or {}
                return dict(completion["continuation"])
            case "rollback":
                failure = self.fail(held, back_to=target, description=reason).failure or {}
                return dict(failure["rollback"])
        raise ValueError(way)

    def travel(
        self,
        path: Iterable[str | None],
        way: str = "handoff",
        reason: Callable[[int], str] = lambda hop: f"step {hop}",
        held: HeldTask | None = None,
    ) -> tuple[int, HeldTask | StoppedHandoff]:
        """Hands on along the path, whose first agent a human asks, to its end or until the loop guard stops it. Returns
        the number of handoffs, and the task or stop at the end."""
        hops = 0
        for target in path:
            here: HeldTask | StoppedHandoff = (
                self.pass_on(held, target, way, reason(hops + 1)) if held else self.begin(str(target), reason(1))
            )
            if isinstance(here, StoppedHandoff):
                return hops, here
            held, hops = here, hops + 1
        assert held is not None
        return hops, held

    # Looking

    def task(self, task_id: str) -> Task:
        return self.world.task(task_id)

    def tasks(self) -> list[Task]:
        """Returns the tasks in the order in which they were made."""
        found: list[Task] = []
        day = NOON.date()
        while day <= self.world.clock.now().date():
            found += reversed(self.world.store.lists.tasks_of_day(WORKSPACE, day, 10_000, None).items)
            day += timedelta(days=1)
        return found

    def open(self) -> list[Task]:
        return [task for task in self.tasks() if not task.is_ended]

    def child_of(self, task: Task) -> Task:
        (child,) = [each for each in self.tasks() if each.parent_id == task.id]
        return child

    def reviews(self) -> list[Review]:
        return list(reversed(self.world.store.escalations.reviews(WORKSPACE, 10_000, None).items))

    def inbox(self, slug: str) -> list[dict[str, Any]]:
        return [item.content for item in self.world.store.inboxes.inbox(WORKSPACE, slug, 10_000, None).items]

    def events(self, task_id: str) -> Sequence[Any]:
        return self.world.store.trail.events(WORKSPACE, task_id, 0, 10_000)

    def check(self) -> None:
        """Checks what always holds: each task is what its trail tells, its fence never fell, and it ended once."""
        for task in self.tasks():
            events = self.events(task.id)
            assert as_told(replay(events)) == as_told(task)
            assert all(one.fence <= next_.fence for one, next_ in pairwise(events))
            assert (task.state == "claimed") == (task.claim is not None)
            assert (task.state == "waiting") == (task.wait is not None)


@cache
def registered(slugs: tuple[str, ...]) -> FakeDynamo:
    """Returns a table with these agents and nothing else. Callers copy it, and never write to it."""
    store = InMemoryStore()
    team = Team(world=World(store))
    for slug in slugs:
        team.register(slug)
    return store.dynamo


def as_told(task: Task) -> dict[str, Any]:
    """Returns a task's fields without those that heartbeats change."""
    plain = state_fields(task)
    if plain["claim"]:
        plain["claim"] = {k: v for k, v in plain["claim"].items() if k not in {"expires_at", "heartbeat_at"}}
    return plain


def ring_of(size: int) -> tuple[str, ...]:
    return tuple(f"agent-{number:02d}" for number in range(size))

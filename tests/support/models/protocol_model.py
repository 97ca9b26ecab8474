"""A small model of the handoff protocol: the effect of each verb (docs/spec/lifecycle.md §1, docs/spec/protocol.md §3
to §5), and who learns of it (docs/reading-rights.md). It uses none of Baton's code."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

ENDS = {"done", "failed", "rejected", "cancelled"}
BACKOFF = {1: 5, 2: 20}
AUTO = {"anna", "bert"}
SLUGS = ("anna", "bert", "carl")
UNDO = timedelta(seconds=3)


@dataclass
class Expected:
    """A task, as it must be. ``parent``: the task that it was handed on from; ``branches``: the children that it waits
    for; ``successors``: the tasks that go on from it; ``takers``: every agent that has claimed it."""

    workspace: str
    id: str
    kind: str
    source: str
    target: str | None
    workflow: str
    parent: str | None = None
    join_parent: str | None = None
    state: str = "needs"
    ready_at: datetime | None = None
    undo_until: datetime | None = None
    put_off_until: datetime | None = None
    origin: str = "delegated"
    claim_id: str | None = None
    holder: str | None = None
    lease: int = 0
    expires_at: datetime | None = None
    claims: int = 0
    attempt: int = 0
    releases: int = 0
    takers: set[str] = field(default_factory=set)
    waits: int = 0
    branches: list[str] = field(default_factory=list)
    policy: str = ""
    until: datetime | None = None
    successors: list[str] = field(default_factory=list)
    retried: str | None = None
    origin_of_retry: str | None = None
    is_cascading: bool = False
    ended: Any = None

    @property
    def is_ended(self) -> bool:
        return self.state in ENDS

    @property
    def key(self) -> tuple[str, str]:
        return self.workspace, self.id

    def is_read_by(self, slug: str) -> bool:
        return slug in {self.source, self.target, *self.takers}

    def delegated(self, now: datetime, by_human: bool) -> None:
        self.state, self.attempt, self.releases, self.put_off_until = "delegated", 0, 0, None
        self.ready_at = now + UNDO if by_human else now
        self.undo_until = self.ready_at if by_human else None

    def is_ready(self, now: datetime) -> bool:
        return self.state == "delegated" and self.ready_at is not None and self.ready_at <= now

    def is_claimable(self, now: datetime) -> bool:
        if self.state == "next":
            return self.attempt == 0 or self.ready_at is None or self.ready_at <= now
        return self.is_ready(now)

    def took(self, slug: str, claim_id: str, lease: int, now: datetime) -> None:
        self.origin, self.state, self.undo_until = self.state, "claimed", None
        self.holder, self.claim_id, self.lease = slug, claim_id, lease
        self.expires_at = now + timedelta(seconds=lease)
        self.takers.add(slug)
        self.claims, self.attempt = self.claims + 1, self.attempt + 1

    def give_back(self, now: datetime, after: int = 0) -> None:
        self.state, self.claim_id, self.branches, self.until = self.origin, None, [], None
        self.ready_at = now + timedelta(seconds=after)

    def extend(self, now: datetime) -> None:
        """A heartbeat, or another verb that extends the claim."""
        self.expires_at = max(self.expires_at or now, now + timedelta(seconds=self.lease))

    def has_lost_its_lease(self, now: datetime) -> bool:
        return bool(self.claim_id) and self.expires_at is not None and self.expires_at <= now

    def lost(self, now: datetime) -> None:
        """The lease was over, and somebody has ended the claim."""
        self.give_back(now)
        self.state = "needs" if self.attempt >= 3 else self.state

    def end(self, state: str) -> None:
        self.state, self.claim_id, self.branches, self.until = state, None, [], None

    def released(self, now: datetime) -> None:
        self.attempt -= 1
        self.came_back(now)

    def came_back(self, now: datetime) -> None:
        """The task is back, neither done nor tried."""
        self.releases += 1
        self.give_back(now)
        if self.releases >= 10:
            self.state = "needs"

    def waits_for(self, branches: list[str], policy: str, until: datetime | None) -> None:
        self.state, self.claim_id, self.attempt, self.waits = "waiting", None, self.attempt - 1, self.waits + 1
        self.branches, self.policy, self.until = branches, policy, until


class Model:
    def __init__(self) -> None:
        self.tasks: dict[tuple[str, str], Expected] = {}
        self.reviews: set[tuple[str, str, str]] = set()

    def __iter__(self) -> Iterator[Expected]:
        return iter(self.tasks.values())

    def of(self, workspace: str, task_id: str) -> Expected:
        return self.tasks[workspace, task_id]

    def opened(self, new: Expected, now: datetime, *, by_human: bool, stays: bool = False) -> Expected:
        """Approved by the human who asks, or by the standing approval of its target."""
        self.tasks[new.key] = new
        if not stays and (by_human or new.target in AUTO):
            new.delegated(now, by_human)
        return new

    def rolls_back(self, task: Expected, back_to: str | None) -> str | None:
        """Returns the agent that a failing task goes back to; None if no task is made for that."""
        to = back_to or task.source
        if task.join_parent is not None and back_to is None:
            return None
        rule = None
        if to not in SLUGS:
            rule = "nobody"
        elif task.kind == "rollback" and to == task.source:
            rule = "to its source"
        elif to == task.holder:
            rule = "self"
        if rule:
            self.reviews.add((task.workspace, task.id, rule))
        return None if rule else to

    def best(self, workspace: str, slug: str, now: datetime) -> Expected | None:
        """Returns the task that the agent's next claim gets: of its own queue, else open work of others."""
        ready = [task for task in self if task.workspace == workspace and task.is_ready(now)]
        for target in (slug, None):
            found = [task for task in ready if task.target == target and (target or task.source != slug)]
            if found:
                return min(found, key=lambda task: (task.ready_at, task.id))
        return None

    def below(self, task: Expected) -> Iterator[Expected]:
        for child in [each for each in self if (each.workspace, each.parent) == task.key]:
            yield child
            yield from self.below(child)

    def cancel(self, task: Expected) -> None:
        task.end("cancelled")
        task.is_cascading = False
        for each in self.below(task):
            each.is_cascading = False
            if not each.is_ended:
                each.end("cancelled")

    def leaves(self, workspace: str, task_id: str) -> list[Expected]:
        task = self.of(workspace, task_id)
        return [leaf for each in task.successors for leaf in self.leaves(workspace, each)] or [task]

    def is_met(self, task: Expected) -> bool:
        branches = [self.leaves(task.workspace, each) for each in task.branches]
        ended = [branch for branch in branches if all(leaf.is_ended for leaf in branch)]
        done = [branch for branch in ended if all(leaf.state == "done" for leaf in branch)]
        return bool(branches) and (len(ended) == len(branches) or (task.policy == "any" and bool(done)))

    def join(self, task: Expected, now: datetime) -> bool:
        if task.state != "waiting" or not self.is_met(task):
            return False
        task.give_back(now)
        return True

    def lapsed(self, workspace: str, slug: str, now: datetime) -> list[Expected]:
        """Returns the tasks whose lapsed claims an agent's claimer may take over."""
        mine = [task for task in self if task.workspace == workspace and task.holder == slug]
        return [task for task in mine if task.has_lost_its_lease(now)]

    def sweep(self, now: datetime) -> None:
        """Sweeps until nothing is due."""
        for task in self:
            if task.has_lost_its_lease(now):
                task.lost(now)
            if task.put_off_until is not None and task.put_off_until <= now:
                task.put_off_until = None
        for task in self:
            if task.is_cascading:
                self.cancel(task)
        for task in self:
            self.join(task, now)
            if task.state == "waiting" and task.until is not None and task.until <= now:
                task.came_back(now)

"""What the oracle knows, from every write that was done."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from simulation.oracle.trust.changed import Changed

Item = dict[str, Any]
ENDED = frozenset({"done", "failed", "rejected", "cancelled"})


def criteria_in(body: Item) -> list[str]:
    """What a handoff's message wants to be told of."""
    deliverables = (body.get("expectations") or {}).get("deliverables") or []
    return list(dict.fromkeys(text for each in deliverables for text in each.get("acceptance_criteria", ())))


# The fields of an agent that approvers see.
SEEN = ("name", "accepts", "produces", "runtime")


@dataclass
class ClaimSeen:
    """``at_step``: when it was written. ``ended_by``: the types of the entries that its holder's last word wrote, None
    while it lives. ``leases_ms``: the lengths that its lease had, the first one first."""

    id: str
    at_step: int
    leases_ms: list[int] = field(default_factory=list)
    ended_by: set[str] | None = None


@dataclass
class Ledger:
    """By task, unless it says otherwise. ``folds``: its trail, replayed. ``states``: after each entry of the trail.
    ``born`` and ``ended_at``: at which step. ``hashes``: of its last entry. ``resume_payload``: by task and wait."""

    heads: dict[str, Item] = field(default_factory=dict)
    folds: dict[str, Item] = field(default_factory=dict)
    states: dict[str, dict[int, str]] = field(default_factory=lambda: defaultdict(dict))
    # At which step each entry was written.
    told_at: dict[str, dict[int, int]] = field(default_factory=lambda: defaultdict(dict))
    hashes: dict[str, str] = field(default_factory=dict)
    claims: dict[tuple[str, int], ClaimSeen] = field(default_factory=dict)
    # How many recovery records a task has.
    recoveries: Counter[str] = field(default_factory=Counter)
    born: dict[str, int] = field(default_factory=dict)
    # At which step it last changed; by claim: its place in the queue before that; by agent: when a claim but the latest
    # was made.
    changed_at: dict[str, int] = field(default_factory=dict)
    queued: dict[tuple[str, int], tuple[str, int]] = field(default_factory=dict)
    taken_at: dict[str, int] = field(default_factory=dict)
    latest_at: dict[str, int] = field(default_factory=dict)
    ended_at: dict[str, int] = field(default_factory=dict)
    ended_in_tracker: set[str] = field(default_factory=set)
    # When its state last came to be told by another word.
    worded_ms: dict[str, int] = field(default_factory=dict)
    bodies: dict[str, Item] = field(default_factory=dict)
    outputs: dict[str, Any] = field(default_factory=dict)
    completions: dict[str, Item] = field(default_factory=dict)
    failures: dict[str, Item] = field(default_factory=dict)
    resume_payload: dict[tuple[str, int], Item] = field(default_factory=dict)
    resumed: Counter[tuple[str, int]] = field(default_factory=Counter)
    retries: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    # By claim id: the slots that it holds (agent, sort key, task).
    held: dict[str, set[tuple[str, str, str]]] = field(default_factory=lambda: defaultdict(set))
    # By errand and task: whether it is still to be done.
    errands: dict[tuple[str, str], bool] = field(default_factory=dict)
    # By pair of agents.
    directions: dict[str, Item | None] = field(default_factory=dict)
    escalations: dict[tuple[str, str], list[tuple[str, int]]] = field(default_factory=lambda: defaultdict(list))
    roots: dict[tuple[str, str | None], list[int]] = field(default_factory=lambda: defaultdict(list))
    # By workflow.
    members: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    counts: dict[str, int] = field(default_factory=dict)
    usage: dict[str, Item] = field(default_factory=dict)
    # Of each write that spent something, by task.
    spent: set[tuple[str, str]] = field(default_factory=set)
    # By kind ("agent", "tool"), name and version; version 0 is the newest.
    versions: dict[tuple[str, str, int], Item] = field(default_factory=dict)
    # By agent: each version, and at which step it was written.
    agents: dict[str, list[tuple[int, Item]]] = field(default_factory=lambda: defaultdict(list))
    # Agents with their versions by authors who may give no approval.
    unvouched: set[tuple[str, int]] = field(default_factory=set)
    # Each task's events, in order; and the numbers of those that are in its beginning or in a chunk.
    trails: dict[str, list[Item]] = field(default_factory=lambda: defaultdict(list))
    kept: dict[str, set[int]] = field(default_factory=lambda: defaultdict(set))
    # What tasks that aren't there yet begin with.
    beginnings: dict[str, list[Item]] = field(default_factory=dict)
    # Inbox entries that were acknowledged, by agent and id.
    acknowledged: set[tuple[str, str]] = field(default_factory=set)
    # Notes, inboxes' entries: by kind and place, what there is and at which step it was written; and what ever was.
    listed: dict[tuple[str, str], dict[str, int]] = field(default_factory=lambda: defaultdict(dict))
    ever_listed: dict[tuple[str, str], set[str]] = field(default_factory=lambda: defaultdict(set))
    # What went away from there, and at which step.
    unlisted: dict[tuple[str, str], dict[str, int]] = field(default_factory=lambda: defaultdict(dict))
    # What happened, and how often.
    seen: Counter[str] = field(default_factory=Counter)

    def leaves(self, task_id: str) -> list[Item]:
        """The HEADs that answer for a branch: its own, or those that took its place."""
        looking, leaves = [task_id], []
        while looking:
            head = self.heads[looking.pop()]
            successors = head.get("successors", [])
            looking += successors
            if not successors:
                leaves.append(head)
        return leaves

    def origin(self, task_id: str) -> str:
        """The first in a chain of retries."""
        while first := self.heads[task_id].get("retry_of"):
            task_id = first
        return task_id

    def is_overtaken(self, fold: Item, data: Item) -> bool:
        """Nobody has to decide on it: the work was done by a retry, a later attempt is rolled back in its place, or the
        task that asked for it waits for it no more."""
        by, parent = data.get("overtaken_by", ""), fold.get("join_parent")
        if parent is not None:
            return bool(by == parent and self.heads[parent]["state"] != "waiting")
        if fold.get("kind") != "rollback":
            return False
        attempt = fold["parent_id"]
        later = by if self.heads.get(by, {}).get("retry_of") else self.heads.get(by, {}).get("parent_id")
        if later is None:  # an entry for a human has the place of the later attempt's rollback
            return any(self.heads[each]["state"] in ENDED for each in self.retries_beside(attempt))
        state = self.heads[later]["state"]
        is_apart = later != attempt and self.origin(later) == self.origin(attempt)
        return is_apart and state in ({"done"} if later == by else {"failed", "rejected"})

    def retries_beside(self, attempt: str) -> list[str]:
        """The other attempts at the same work, but the first."""
        origin, retries = self.origin(attempt), (each for many in self.retries.values() for each in many)
        return [each for each in retries if each != attempt and self.origin(each) == origin]

    def rollbacks_before(self, retry: str, since: int) -> list[str]:
        """Of the other attempts at the same work, those that have waited for a human since then."""
        return [
            each
            for each, head in self.heads.items()
            if head["state"] == "needs"
            and not head.get("fence")
            and head.get("kind") == "rollback"
            and "join_parent" not in head
            and head["parent_id"] != retry
            and self.origin(head["parent_id"]) == self.origin(retry)
            and self.told_at[each][head["seq"]] < since
        ]

    def claims_of(self, task_id: str) -> list[ClaimSeen]:
        fences = range(1, self.heads[task_id].get("fence", 0) + 1)
        return [self.claims[task_id, fence] for fence in fences]

    def agents_since(self, slug: str, step: int) -> list[Item]:
        """Each version of the agent that anybody may have seen who began then."""
        before = [version for at, version in self.agents[slug] if at <= step]
        return before[-1:] + [version for at, version in self.agents[slug] if at > step]

    def unvouched_changes(self, slug: str, before: int) -> list[tuple[int, Item]]:
        """Returns each version by a service or a member that changes fields of the agent that approvers see, with the
        step before which it was written."""
        return [
            (at, now)
            for (_, was), (at, now) in pairwise(self.agents[slug])
            if at < before
            and (slug, now["version"]) in self.unvouched
            and any(was.get(name) != now.get(name) for name in SEEN)
        ]

    def ended_branches(self, wait: Item) -> list[list[Item]]:
        """The leaves of each."""
        leaves = [self.leaves(branch["task_id"]) for branch in wait["branches"]]
        return [each for each in leaves if all(head["state"] in ENDED for head in each)]

    def is_met(self, wait: Item) -> bool:
        ended, total = self.ended_branches(wait), len(wait["branches"])
        done = [each for each in ended if all(head["state"] == "done" for head in each)]
        wanted = {"all": total, "any": 1, "quorum": wait.get("quorum") or 1}[wait["policy"]]
        return len(ended) == total or len(done) >= wanted

    def goes_on_under(self, task_id: str) -> str | None:
        """The cancelled task above, if there is one, unless a human made this after that."""
        at = self.heads[task_id]
        while (parent := at.get("parent_id")) and self.born[at["id"]] <= self.ended_at.get(parent, 1 << 60):
            at = self.heads[parent]
            if at["state"] == "cancelled" and not at.get("successors"):
                return str(parent)
        return None

    def standing(self, kind: str, name: str | None) -> Item:
        """The newest version, empty where there is none."""
        return self.versions.get((kind, name or "", 0), {})


@dataclass
class Transaction:
    """What is written at once. ``heads``: before and after; ``entries``: of trails, by task; ``told``: those of all
    tasks; ``kinds``: how many items of each kind; ``inbox``: agent and content; ``held``: tasks whose claims take or
    free a slot; ``alerts``: new ones by task;
    ``followed``: for each task, the following task in its conversation; ``run_states``: by
    task."""

    heads: dict[str, tuple[Item | None, Item]] = field(default_factory=dict)
    entries: dict[str, list[Item]] = field(default_factory=lambda: defaultdict(list))
    told: list[Item] = field(default_factory=list)
    kinds: Counter[str] = field(default_factory=Counter)
    inbox: list[tuple[str, Item]] = field(default_factory=list)
    held: set[str] = field(default_factory=set)
    alerts: Counter[str] = field(default_factory=Counter)
    is_release: bool = False
    errands: set[tuple[str, str]] = field(default_factory=set)
    started: set[str] = field(default_factory=set)
    workflows: set[str] = field(default_factory=set)
    resume_payload: Item | None = None
    followed: dict[str, str] = field(default_factory=dict)
    people: Item | None = None
    changed: Changed = field(default_factory=Changed)
    run_states: dict[str, Item] = field(default_factory=dict)
    # New ones: their human and id.
    sessions: list[tuple[str, str]] = field(default_factory=list)
    # Before and after, by id, until something has given the reason.
    questions: dict[str, tuple[Item | None, Item]] = field(default_factory=dict)
    standing: dict[str, tuple[Item | None, Item]] = field(default_factory=dict)

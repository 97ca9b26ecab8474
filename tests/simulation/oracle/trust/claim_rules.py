"""Approval rules at the claim: for every claimer, each rule of the settings that fits the claimer or the work is met by
then. Requests that are worded otherwise, parts, retries and branches change nothing about that."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from simulation.oracle.trust.people import APPROVER
from simulation.oracle.trust.rule_fits import authors_of
from simulation.oracle.voters import Circle, Moment

if TYPE_CHECKING:
    from simulation.oracle.approvals import Approvals
    from simulation.oracle.ledger import Item, Ledger
    from simulation.oracle.trust.people import People
    from simulation.oracle.verdict import Verdict

GIVEN = ("approved", "approval_given")


@dataclass(eq=False)
class Voices:
    """By human: the groups as they may have been when they approved, and when that was."""

    given: dict[str, tuple[list[dict[str, Any]], Moment]] = field(default_factory=dict)


class ClaimRules:
    def __init__(self, verdict: Verdict, ledger: Ledger, people: People, approvals: Approvals) -> None:
        self._verdict, self._ledger, self._people = verdict, ledger, people
        self._approvals, self._voters, self._fits = approvals, approvals.voters, approvals.fits
        self._voices: dict[str, Voices] = {}

    def told(self, task_id: str, entry: Item, state_before: str | None) -> None:
        """An approver counts until the task goes back to people."""
        after = entry["data"]["changes"].get("state", state_before)
        if after == "needs" and state_before != "needs":
            self._voices[task_id] = Voices()
        if entry["type"] in GIVEN and (human := _giver(entry)):
            voices = self._voices.setdefault(task_id, Voices())
            if self._people.highest(human) >= APPROVER:
                voices.given[human] = self._voters.groups_seen(), self._voters.now()

    def is_claimed(self, task_id: str, head: Item, slug: str) -> None:
        for rule in self._fits.surely_in_force():
            if self._fits.surely_fits(rule, head, slug):
                self._ledger.seen["guarded claim"] += 1
                self._ledger.seen["guarded claim of open work"] += "target_agent" not in head
                self._is_met(task_id, self._circle(task_id, rule, head), head, slug)
        for circle in self._approvals.needs_of(task_id):
            self._ledger.seen["claim of work with needs"] += 1
            self._is_met(task_id, circle, head, slug)

    def surely_guard(self, task_id: str, head: Item, slug: str) -> bool:
        """True if the agent surely claims the work by approvals."""
        rules = self._fits.surely_in_force()
        return any(self._fits.surely_fits(each, head, slug) for each in rules) or bool(
            self._approvals.needs_of(task_id)
        )

    def _is_met(self, task_id: str, circle: Circle, head: Item, slug: str) -> None:
        alike = self._met_by(task_id, circle, head, slug)
        what = "{}: claimed by {}, and of those whom {} wants only {} have approved it"
        self._verdict.must(len(alike) >= circle.needed, what, task_id, slug, circle, sorted(alike))

    def _circle(self, task_id: str, rule: Item, head: Item) -> Circle:
        return Circle(
            needed=rule["needed"],
            people=tuple(rule["people"]),
            groups=(*([rule["group"]] if rule.get("group") else ()), *self._next_group(task_id, rule)),
            never=frozenset(authors_of(head) if rule["not_author"] else ()),
        )

    def _met_by(self, task_id: str, circle: Circle, head: Item, slug: str) -> list[str]:
        now = self._voters.groups_seen()
        given = self._voices.get(task_id, Voices()).given
        here = {
            each: then
            for each, (then, at) in given.items()
            if self._people.highest(each) >= APPROVER
            and not self._people.was_away(each, at.ms)
            and not self._is_of_another_agent(head, slug, at.step)
        }
        return [each for each, then in here.items() if any(circle.has(each, groups) for groups in (*then, *now))]

    def _is_of_another_agent(self, head: Item, slug: str, step: int) -> bool:
        """True if a service or a member has changed the claimer since the approval. Work that was delegated to it goes
        back to people instead, by the version."""
        if head.get("origin") == "delegated" and "target_agent" in head:
            return False
        changes = self._ledger.unvouched_changes(slug, self._voters.began)
        is_other = any(changed > step for changed, _ in changes)
        self._ledger.seen["approval of another agent"] += is_other
        return is_other

    def _next_group(self, task_id: str, rule: Item) -> list[str]:
        """Once the work has waited for it."""
        then = rule.get("then_group")
        return [then] if then and self._approvals.has_let_in(task_id, rule) else []


def _giver(entry: Item) -> str:
    """A human's name; empty where a service gave it."""
    stands = entry["data"].get("standing_approval")
    key = str(stands["given_by"]) if stands else f"{entry['principal_kind']}:{entry['principal_id']}"
    return key.removeprefix("human:") if key.startswith("human:") else ""

"""Handoffs whose approval a rule of the settings asks for more than any one human for: each begins only after enough
different people who may have approved the same thing."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from simulation.oracle.items import to_ms
from simulation.oracle.voters import Circle

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulation.oracle.ledger import Item, Ledger
    from simulation.oracle.verdict import Verdict
    from simulation.oracle.voters import Voters
    from simulation.simulation import Simulation

    Changes = Callable[[Item, int, int], list[int]]


@dataclass(frozen=True, slots=True)
class Given:
    """Of which use an approval is, since when its giver looked, and when it was written."""

    use: str
    began: int
    at: int


@dataclass(eq=False)
class Needed:
    """What a handoff needs since it came. ``given``: by human."""

    circle: Circle
    rule: Item
    since_ms: int
    given: dict[str, Given] = field(default_factory=dict)
    is_widened: bool = False


class Approvals:
    """``changes``: in which versions a service has changed what approvers see of a task's agent, between two steps."""

    def __init__(self, sim: Simulation, verdict: Verdict, ledger: Ledger, voters: Voters) -> None:
        self._sim, self._verdict, self._ledger, self._voters = sim, verdict, ledger, voters
        self._needed: dict[str, Needed] = {}

    def begins(self, task_id: str, entry: Item) -> None:
        """By the first rule that fits it, as whoever made it may have seen the rules."""
        made = entry["data"]["changes"]
        of = (made["source_agent"], made.get("target_agent"), made.get("work_type"))
        fitting = [next((each for each in rules if _fits(each, of)), None) for rules in self._voters.rules_seen()]
        author = f"{entry['principal_kind']}:{entry['principal_id']}"
        wanted = [_circle(rule, author) if rule else None for rule in fitting]
        said = made.get("approval")
        told = _told(said) if said else None
        self._must(task_id, told in wanted, "needs {}, the rules want {}", told, wanted)
        if told in wanted and told is not None:
            rule = fitting[wanted.index(told)]
            assert rule
            self._needed[task_id] = Needed(told, rule, to_ms(entry["at"]))

    def told(self, task_id: str, fold: Item, entry: Item, changes: Changes) -> None:
        needed, kind = self._needed.get(task_id), entry["type"]
        if needed is None:
            self._must(task_id, kind == "approved", "{}, and no rule asks for that", kind)
            return
        if kind == "approval_widened":
            self._is_widened(task_id, needed, entry)
            return
        data = entry["data"]
        human, use = self._giver(entry), data["for"]
        self._must(task_id, self._voters.may_count(needed.circle, human), "{} approves, and may not", human)
        needed.given[human] = Given(use, self._sim.current.process.began_at, self._sim.steps)
        alike = [by for by, each in needed.given.items() if self._is_same(fold, each, use, changes)]
        if kind == "approval_given":
            self._must(task_id, data["by"] == human, "{} has approved, {} is told", human, data["by"])
            is_clear = not changes(fold, min(each.began for each in needed.given.values()), self._sim.steps + 1)
            is_missed = is_clear and self._voters.surely_suffice(needed.circle, alike)
            self._must(task_id, not is_missed, "approved by {}, and still not enough", alike)
            self._ledger.seen["approval given"] += 1
            return
        self._must(task_id, self._voters.may_suffice(needed.circle, alike), "begins, and {} alone approved it", alike)
        self._ledger.seen[f"approved by {len(alike)}"] += 1
        needed.given.clear()

    def have_been_widened(self, now_ms: int) -> None:
        """When all is quiet: nobody has decided for days, so the next group may, and humans were reminded."""
        for task_id, needed in self._needed.items():
            head, after = self._ledger.heads[task_id], needed.rule.get("then_after_seconds")
            is_pending = set(self._ledger.states[task_id].values()) == {"needs"}
            if not is_pending:
                continue
            is_due = after is not None and needed.since_ms + 1_000 * after < now_ms - 600_000
            self._must(task_id, needed.is_widened or not is_due, "nobody approves it, and nobody else may")
            again = needed.rule.get("remind_after_seconds")
            is_due = again is not None and needed.since_ms + 1_000 * again < now_ms - 600_000
            is_told = "approval_overdue" in head.get("flags", ())
            self._must(task_id, is_told or not is_due, "nobody approves it, and nobody is told")

    def _is_widened(self, task_id: str, needed: Needed, entry: Item) -> None:
        group, after = needed.rule.get("then_group"), needed.rule.get("then_after_seconds")
        is_due = after is not None and to_ms(entry["at"]) >= needed.since_ms + 1_000 * after
        said = (entry["data"]["group"], entry["data"]["changes"]["approval"].get("wider"))
        is_right = is_due and not needed.is_widened and said == (group, group)
        self._must(task_id, is_right, "widened to {} by {}", entry["data"]["group"], needed.rule)
        needed.is_widened = True
        needed.circle = replace(needed.circle, groups=(*needed.circle.groups, str(group)))
        self._ledger.seen["approval widened"] += 1

    def _giver(self, entry: Item) -> str:
        """Who approves, or has let an approval stand."""
        if entry["principal_kind"] == "human" and "standing_approval" not in entry["data"]:
            return str(entry["principal_id"])
        return str(entry["data"]["standing_approval"]["given_by"]).removeprefix("human:")

    def _is_same(self, fold: Item, given: Given, use: str, changes: Changes) -> bool:
        """For the same use, and no service has changed its agent since, as all who look now must see. For ``next`` it
        is approved as it was when it came."""
        changed = changes(fold, given.at, self._sim.current.process.began_at) if use == "dispatch" else []
        return given.use == use and not changed

    def _must(self, task_id: str, holds: object, what: str, *details: object) -> None:
        if not holds:
            self._verdict.fail(f"{task_id}: {what.format(*details)}")


def _fits(rule: Item, of: tuple[str | None, ...]) -> bool:
    wanted = (rule.get("source"), rule.get("target"), rule.get("work_type"))
    return all(asked in (None, present) for asked, present in zip(wanted, of, strict=True))


def _circle(rule: Item, author: str) -> Circle:
    return Circle(
        needed=rule["needed"],
        people=tuple(rule["people"]),
        groups=tuple(each for each in (rule.get("group"),) if each),
        never=frozenset({author} if rule["not_author"] else ()),
    )


def _told(said: Item) -> Circle:
    return Circle(
        needed=said["needed"],
        people=tuple(said.get("people", ())),
        groups=tuple(each for each in (said.get("group"), said.get("wider")) if each),
        never=frozenset(said.get("never", ())),
    )

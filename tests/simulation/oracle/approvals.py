"""Handoffs with approval rules of the settings that ask for more than an approval by any human. Each begins only after
enough different people who may have approved the same thing, by every rule that fits it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from simulation.oracle.items import to_ms
from simulation.oracle.trust.people import BEGIN_MS
from simulation.oracle.trust.rule_fits import authors_of
from simulation.oracle.voters import Circle, Moment

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulation.oracle.ledger import Item, Ledger
    from simulation.oracle.trust.rule_fits import RuleFits
    from simulation.oracle.verdict import Verdict
    from simulation.oracle.voters import Voters
    from simulation.simulation import Simulation

    Changes = Callable[[Item, int, int], list[int]]

READY = ("delegated", "next")


@dataclass(frozen=True, slots=True)
class Given:
    """Of which use an approval is, since when its giver looked, and when it was written."""

    use: str
    began: int
    at: Moment


@dataclass(eq=False)
class Need:
    """One rule's. ``then_ms``, ``remind_ms``: when the next group may decide, and when humans are reminded. ``first``:
    who is asked before that. ``let_in_ms``: the ``then_ms`` that is over."""

    circle: Circle
    first: Circle
    then_group: str | None = None
    then_ms: int | None = None
    remind_ms: int | None = None
    let_in_ms: int | None = None


@dataclass(eq=False)
class Needed:
    """The needs of a handoff since it came, or last came back, at ``came_ms``. ``given``: by human."""

    needs: list[Need]
    came_ms: int
    given: dict[str, Given] = field(default_factory=dict)

    def wait_of(self, need: Need) -> int:
        """For how many ms it waits for the need's next group."""
        due = need.then_ms or need.let_in_ms
        return NEVER_MS if due is None else due - self.came_ms

    @property
    def circles(self) -> list[Circle]:
        return [each.circle for each in self.needs]


class Approvals:
    """``changes``: the versions between two steps that are by a service or member, and that change fields of an agent
    that approvers see."""

    def __init__(self, sim: Simulation, verdict: Verdict, ledger: Ledger, voters: Voters, fits: RuleFits) -> None:
        self._sim, self._verdict, self._ledger, self.voters, self.fits = sim, verdict, ledger, voters, fits
        self._needed: dict[str, Needed] = {}

    def begins(self, task_id: str, entry: Item) -> None:
        """Checks the new task's needs by every rule that fits it or the work that it was made of, as its creator may
        have seen the rules."""
        made = {**entry["data"]["changes"], "id": task_id}
        said = made.get("approval")
        needs = [_need(each) for each in (said, *said.get("further", ()))] if said else []
        self._needed[task_id] = Needed([each for each in needs if each.circle != ANYBODY], to_ms(entry["at"]))
        asked = [_plain(each.circle) for each in needs]
        for rule in self.fits.surely_fit_when_made(task_id, made):
            what = "needs {}, and the rule {} wants more"
            self._must(task_id, _plain(_circle(rule)) in {*asked, _plain(ANYBODY)}, what, asked, rule)
        maker = self.fits.maker_of(made)
        self._inherits(task_id, maker)
        self._has_authors(task_id, made, entry, maker)
        if not maker:
            known = [_plain(_circle(rule)) for rule in self.fits.may_fit_when_made(made)]
            self._must(task_id, {*asked} <= {*known}, "needs {}, the rules want {}", asked, known)

    def comes_back(self, task_id: str, at_ms: int) -> None:
        """The first people have as long as before, and so has a reminder that wasn't sent."""
        needed = self._needed[task_id]
        for need in needed.needs:
            if need.then_ms is not None or need.let_in_ms is not None:
                self._ledger.seen["next group waits anew"] += 1
                need.then_ms, need.let_in_ms, need.circle = at_ms + needed.wait_of(need), None, need.first
            if need.remind_ms is not None:
                need.remind_ms += at_ms - needed.came_ms
        needed.came_ms = at_ms

    def _inherits(self, task_id: str, maker: str | None) -> None:
        """The task needs the approvals that its maker needed, and waits as long for a next group."""
        own = self._needed[task_id]
        for need in self._needed[maker].needs if maker else ():
            wait = self._needed[maker].wait_of(need) if maker else 0
            same = [each for each in own.needs if _plain(each.first) == _plain(need.first)]
            as_long = [
                each for each in same if each.then_group in {None, need.then_group} and own.wait_of(each) >= wait
            ]
            self._must(task_id, as_long, "needs {}, and was made of what needs {}", own.needs, need)
            self._ledger.seen["inherited next group"] += any(each.then_group for each in same)

    def _has_authors(self, task_id: str, made: Item, entry: Item, maker: str | None) -> None:
        """The author of the work that it was made of counts as an author, and so does the person who splits that work.
        A retry of a part isn't split again."""
        if maker is None:
            return
        wrote = {each for each in authors_of(self._ledger.heads[maker]) if each.startswith("human:")}
        body = self._ledger.bodies.get(task_id, {})
        if body.get("part_of") and "retries" not in body:
            wrote.add(f"{entry['principal_kind']}:{entry['principal_id']}")
            self._ledger.seen["part of a split with an author"] += 1
        self._must(task_id, wrote <= authors_of(made), "made by {}, and its authors are {}", wrote, authors_of(made))

    def told(self, task_id: str, fold: Item, entry: Item, changes: Changes) -> None:
        needed, kind = self._needed[task_id], entry["type"]
        if kind == "approval_widened":
            self._is_widened(task_id, needed, entry)
            return
        human, use = self._giver(entry), entry["data"]["for"]
        if kind == "approval_given" and fold.get("state") in READY:
            self._adds(task_id, human, entry)
            return
        if not needed.needs:
            self._must(task_id, kind == "approved", "{}, and no rule asks for that", kind)
            return
        may = any(self.voters.may_count(each, human) for each in needed.circles)
        self._must(task_id, may, "{} approves, and may not", human)
        dated = replace(self.voters.now(), ms=to_ms(entry["at"]) - BEGIN_MS)  # an end may come before it is written
        needed.given[human] = Given(use, self._sim.current.process.began_at, dated)
        alike = {by: each.at for by, each in needed.given.items() if self._is_same(fold, each, use, changes)}
        if kind == "approval_given":
            self._is_given(task_id, needed, fold, entry, alike, changes)
            return
        # A clock that is late dates the last approval before it is given.
        said = {**alike, human: max(alike.get(human, dated), self.voters.now(), key=lambda each: each.ms)}
        is_enough = all(self.voters.may_suffice(each, said) for each in needed.circles)
        self._must(task_id, is_enough, "begins, and {} alone approved it", list(alike))
        self._ledger.seen[f"approved by {len(alike)}"] += 1
        needed.given.clear()

    def _is_given(
        self, task_id: str, needed: Needed, fold: Item, entry: Item, alike: dict[str, Moment], changes: Changes
    ) -> None:
        human = self._giver(entry)
        self._must(task_id, entry["data"]["by"] == human, "{} has approved, {} is told", human, entry["data"]["by"])
        is_clear = not changes(fold, min(each.began for each in needed.given.values()), self._sim.steps + 1)
        is_missed = is_clear and all(self.voters.surely_suffice(each, alike) for each in needed.circles)
        self._must(task_id, not is_missed, "approved by {}, and still not enough", list(alike))
        self._ledger.seen["approval given"] += 1

    def _adds(self, task_id: str, human: str, entry: Item) -> None:
        """The task's own needs, or a rule about an agent that would take it, name the approver of ready work."""
        named = [_circle(rule) for rules in self.voters.rules_seen() for rule in rules if not rule.get("tool")]
        named += self.needs_of(task_id)
        self._must(task_id, any(self.voters.may_count(each, human) for each in named), "{} adds an approval", human)
        self._ledger.seen["approval of ready work"] += 1

    def needs_of(self, task_id: str) -> list[Circle]:
        """Returns the circles of approvers that the task needs since it was made."""
        return self._needed[task_id].circles

    def has_let_in(self, task_id: str, rule: Item) -> bool:
        """True if the rule's next group may approve the handoff by now: it waited for the rule's people long enough."""
        needed = self._needed[task_id]
        due = needed.came_ms + (rule.get("then_after_seconds") or 0) * 1000
        return any(
            each.let_in_ms is not None
            and each.let_in_ms >= due
            and (_plain(each.first), each.then_group) == (_plain(_circle(rule)), rule.get("then_group"))
            for each in needed.needs
        )

    def may_be_held(self, head: Item) -> bool:
        """True if a rule fits ready work. The work's approvals may have been for other rules."""
        return bool(self.fits.may_fit(head, head.get("target_agent")))

    def have_been_widened(self, now_ms: int) -> None:
        """When all is quiet: nobody has decided for days, so the next group may, and humans were reminded."""
        for task_id, needed in self._needed.items():
            head = self._ledger.heads[task_id]
            if not needed.needs or set(self._ledger.states[task_id].values()) != {"needs"}:
                continue
            late = [each.then_group for each in needed.needs if _is_over(each.then_ms, now_ms)]
            self._must(task_id, not late, "nobody approves it, and {} may not either", late)
            is_due = any(_is_over(each.remind_ms, now_ms) for each in needed.needs)
            is_told = "approval_overdue" in head.get("flags", ())
            self._must(task_id, is_told or not is_due, "nobody approves it, and nobody is told")

    def _is_widened(self, task_id: str, needed: Needed, entry: Item) -> None:
        group, at_ms = entry["data"]["group"], to_ms(entry["at"])
        due = [each for each in needed.needs if each.then_ms is not None and each.then_ms <= at_ms]
        due = [each for each in due if each.then_group == group]
        self._must(task_id, due, "widened to {}, due are {}", group, needed.needs)
        for need in due[:1]:
            need.circle = replace(need.circle, groups=(*need.circle.groups, str(group)))
            need.let_in_ms, need.then_ms = need.then_ms, None
        self._ledger.seen["approval widened"] += 1

    def _giver(self, entry: Item) -> str:
        """Who approves, or has let an approval stand."""
        if entry["principal_kind"] == "human" and "standing_approval" not in entry["data"]:
            return str(entry["principal_id"])
        return str(entry["data"]["standing_approval"]["given_by"]).removeprefix("human:")

    def _is_same(self, fold: Item, given: Given, use: str, changes: Changes) -> bool:
        """For the same use, and no service has changed its agent since, as all who look now must see."""
        changed = changes(fold, given.at.step, self._sim.current.process.began_at)
        return given.use == use and not changed

    def _must(self, task_id: str, holds: object, what: str, *details: object) -> None:
        if not holds:
            self._verdict.fail(f"{task_id}: {what.format(*details)}")


ANYBODY = Circle(needed=1)
NEVER_MS = 10**15


def _is_over(at_ms: int | None, now_ms: int) -> bool:
    return at_ms is not None and at_ms < now_ms - 600_000


def _plain(circle: Circle) -> tuple[object, ...]:
    """Returns the circle's number and names, without its exclusions."""
    return (circle.needed, *circle.people, "groups", *circle.groups)


def _circle(rule: Item) -> Circle:
    groups = tuple(each for each in (rule.get("group"),) if each)
    return Circle(needed=rule["needed"], people=tuple(rule["people"]), groups=groups)


def _need(said: Item) -> Need:
    circle = Circle(
        needed=said["needed"],
        people=tuple(said.get("people", ())),
        groups=tuple(each for each in (said.get("group"), said.get("wider")) if each),
        never=frozenset(said.get("never", ())),
    )
    marks = (to_ms(said[name]) if name in said else None for name in ("then_at", "remind_at"))
    return Need(circle, circle, said.get("then_group"), *marks)

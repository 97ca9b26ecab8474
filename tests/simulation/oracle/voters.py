"""Who may decide by the groups of the settings, and whose approval a new handoff needs, as whoever decides may have
seen the settings."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from simulation.oracle.trust.people import APPROVER, NEVER

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from simulation.oracle.ledger import Item
    from simulation.oracle.trust.people import People
    from simulation.simulation import Simulation


@dataclass(frozen=True, slots=True)
class Moment:
    """The time of a person's statement: the step of its write, the ms of the true clock then, and the ms on record,
    at which its process began."""

    step: int
    ms: int
    dated_ms: int = NEVER


@dataclass(frozen=True, slots=True, kw_only=True)
class Circle:
    """Who is asked: ``people`` and members of ``groups``, or any human where none is named, but for ``never``; with at
    least the right ``rank``."""

    needed: int
    rank: int = APPROVER
    people: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    never: frozenset[str] = frozenset()

    def has(self, human: str, groups: dict[str, Any]) -> bool:
        members = {each for name in self.groups for each in groups.get(name, ())}
        is_named = human in members | {*self.people} or not (self.people or self.groups)
        return is_named and f"human:{human}" not in self.never


class Voters:
    def __init__(self, sim: Simulation, people: People) -> None:
        self._sim, self._people = sim, people
        # Each version of the settings, and at which step it was written.
        self._versions: list[tuple[int, Item]] = []

    def are_changed(self, settings: Item) -> None:
        self._versions.append((self._sim.steps, settings))

    def groups_seen(self) -> list[dict[str, Any]]:
        """Each version that the present process may have read."""
        return [_read(each.get("groups") or "{}") for each in self._seen()]

    def rules_seen(self) -> list[list[Item]]:
        return [_read(each.get("approval_rules") or "[]") for each in self._seen()]

    def rules_now(self) -> list[Item]:
        rules: list[Item] = _read(self._versions[-1][1].get("approval_rules") or "[]")
        return rules

    @property
    def began(self) -> int:
        """The step at which the present process began: it has seen every earlier write."""
        return self._sim.current.process.began_at

    def now(self) -> Moment:
        return Moment(self._sim.steps, self._sim.now_ms)

    def may_count(self, circle: Circle, human: str) -> bool:
        is_in = any(circle.has(human, groups) for groups in self.groups_seen())
        return is_in and self._people.highest(human) >= circle.rank

    def may_suffice(self, circle: Circle, said: Mapping[str, Moment]) -> bool:
        """``said``: when each said it. Who was away since then doesn't count, not even once they are back."""
        here = {human: at for human, at in said.items() if self._may_say(circle, human, at)}
        return any(_suffices(circle, here, groups) for groups in self.groups_seen())

    def surely_suffice(self, circle: Circle, said: Mapping[str, Moment]) -> bool:
        """An end of approvals counts against a decision by its date: its process may have stalled before the write."""
        earliest = {human: (at.step, min(at.ms, at.dated_ms)) for human, at in said.items()}
        here = [human for human, since in earliest.items() if self._people.lowest(human, *since) >= circle.rank]
        return all(_suffices(circle, here, groups) for groups in self.groups_seen())

    def _may_say(self, circle: Circle, human: str, at: Moment) -> bool:
        return self._people.highest(human) >= circle.rank and not self._people.was_away(human, at.ms, circle.rank)

    def _seen(self) -> Sequence[Item]:
        began = self._sim.current.process.began_at
        before = [each for at, each in self._versions if at <= began]
        return before[-1:] + [each for at, each in self._versions if at > began]


@cache
def _read(text: str) -> Any:
    """The same few settings are needed again and again: each is parsed once, and no caller changes it."""
    return json.loads(text)


def _suffices(circle: Circle, humans: Iterable[str], groups: dict[str, Any]) -> bool:
    return sum(circle.has(each, groups) for each in humans) >= circle.needed

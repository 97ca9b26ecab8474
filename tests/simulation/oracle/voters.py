"""Who may decide by the groups of the settings, and whose approval a new handoff needs, as whoever decides may have
seen the settings."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from simulation.oracle.ledger import Item
    from simulation.simulation import Simulation


@dataclass(frozen=True, slots=True, kw_only=True)
class Circle:
    """Who is asked: ``people`` and members of ``groups``, or any human where none is named, but for ``never``."""

    needed: int
    people: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    never: frozenset[str] = frozenset()

    def has(self, human: str, groups: dict[str, Any]) -> bool:
        members = {each for name in self.groups for each in groups.get(name, ())}
        is_named = human in members | {*self.people} or not (self.people or self.groups)
        return is_named and f"human:{human}" not in self.never


class Voters:
    def __init__(self, sim: Simulation) -> None:
        self._sim = sim
        # Each version of the settings, and at which step it was written.
        self._versions: list[tuple[int, Item]] = []

    def are_changed(self, settings: Item) -> None:
        self._versions.append((self._sim.steps, settings))

    def groups_seen(self) -> list[dict[str, Any]]:
        """Each version that the present process may have read."""
        return [json.loads(each.get("groups") or "{}") for each in self._seen()]

    def rules_seen(self) -> list[list[Item]]:
        return [json.loads(each.get("approval_rules") or "[]") for each in self._seen()]

    def may_count(self, circle: Circle, human: str) -> bool:
        return any(circle.has(human, groups) for groups in self.groups_seen())

    def may_suffice(self, circle: Circle, humans: Iterable[str]) -> bool:
        return any(self._suffices(circle, humans, groups) for groups in self.groups_seen())

    def surely_suffice(self, circle: Circle, humans: Iterable[str]) -> bool:
        return all(self._suffices(circle, humans, groups) for groups in self.groups_seen())

    def _suffices(self, circle: Circle, humans: Iterable[str], groups: dict[str, Any]) -> bool:
        return len({each for each in humans if circle.has(each, groups)}) >= circle.needed

    def _seen(self) -> Sequence[Item]:
        began = self._sim.current.process.began_at
        before = [each for at, each in self._versions if at <= began]
        return before[-1:] + [each for at, each in self._versions if at > began]

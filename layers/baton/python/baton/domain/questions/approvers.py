"""Who may decide, and how many have to. One rule for an action that a worker asks for and for a handoff. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from baton.domain import errors
from baton.domain.access.principal import Principal

MAX_PEOPLE = 20
MAX_NEEDED = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Approvers:
    """``people`` and ``group`` name who may decide: humans by the name in their tokens, a group of the settings.
    Without both it is any human. ``needed``: how many different ones. ``never``: keys of principals that may not: who
    asked, and on whose behalf."""

    people: tuple[str, ...] = ()
    group: str | None = None
    needed: int = 1
    never: tuple[str, ...] = ()

    def check(self, groups: Mapping[str, Collection[str]]) -> None:
        """Raises ``InvalidInput`` for a rule that nobody could meet as the groups are now."""
        if len(self.people) > MAX_PEOPLE:
            raise errors.InvalidInput("people", f"must name at most {MAX_PEOPLE}")
        if not 1 <= self.needed <= MAX_NEEDED:
            raise errors.InvalidInput("needed", f"must be from 1 to {MAX_NEEDED}")
        if self.group is not None and self.group not in groups:
            raise errors.InvalidInput("group", f"must be a group of the settings, and there is no {self.group!r}")
        named = self._named(groups)
        if named is not None and len(named) < self.needed:
            few = f"is {self.needed}, and only {len(named)} of those who are named may answer"
            raise errors.InvalidInput("needed", few)

    def may(self, by: Principal, groups: Mapping[str, Collection[str]]) -> bool:
        """True for a human who may decide, by the groups as they are now."""
        if not by.is_human or by.key in self.never:
            return False
        named = self._named(groups)
        return named is None or by.id in named

    def is_met(self, deciders: Iterable[str], groups: Mapping[str, Collection[str]]) -> bool:
        """True if enough different people have decided who may still do so. ``deciders``: names of humans; the same
        person by two sessions is one."""
        named = self._named(groups)
        counted = {each for each in deciders if f"human:{each}" not in self.never and (named is None or each in named)}
        return len(counted) >= self.needed

    def is_hopeless(self, groups: Mapping[str, Collection[str]]) -> bool:
        """True if too few people are left who may decide: a group was emptied since."""
        named = self._named(groups)
        return named is not None and len(named) < self.needed

    def _named(self, groups: Mapping[str, Collection[str]]) -> frozenset[str] | None:
        """Returns the names of those who may decide; None for any human but those that may never."""
        if not self.people and self.group is None:
            return None
        named = {*self.people, *(groups.get(self.group, ()) if self.group is not None else ())}
        return frozenset(each for each in named if f"human:{each}" not in self.never)

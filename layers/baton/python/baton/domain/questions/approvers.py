"""Who may decide, and how many have to. One rule for an action that a worker asks for and for a handoff. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from baton.domain import errors
from baton.domain.access.principal import Principal

MAX_PEOPLE = 20
MAX_NEEDED = 5
Groups = Mapping[str, Collection[str]]  # names of humans, by the group's
# How long people have for an answer.
DEFAULT_ANSWER_SECONDS = 86_400
MAX_ANSWER_SECONDS = 30 * 86_400


@dataclass(frozen=True, slots=True, kw_only=True)
class Approvers:
    """``people``, ``group`` and ``wider`` name who may decide: humans by the name in their tokens, groups of the
    settings. Without any it is any human. ``wider``: a group that may, too, as nobody has decided in time. ``needed``:
    how many different ones. ``never``: keys of principals that may not: the asker, and the principal that the asker
    acts for."""

    people: tuple[str, ...] = ()
    group: str | None = None
    wider: str | None = None
    needed: int = 1
    never: tuple[str, ...] = ()

    def check(self, groups: Groups, *, shows_sizes: bool = True) -> None:
        """Raises ``InvalidInput`` for a rule that can't be met as the groups are now. ``shows_sizes``: False for an
        asker who may not learn how many members a group has."""
        if len(self.people) > MAX_PEOPLE:
            raise errors.InvalidInput("people", f"must name at most {MAX_PEOPLE}")
        if not 1 <= self.needed <= MAX_NEEDED:
            raise errors.InvalidInput("needed", f"must be from 1 to {MAX_NEEDED}")
        if self.group is not None and self.group not in groups:
            raise errors.InvalidInput("group", f"must be a group of the settings, and there is no {self.group!r}")
        if self.group is not None and not shows_sizes:
            return
        named = self.named(groups)
        if named is not None and len(named) < self.needed:
            few = f"is {self.needed}, and fewer of the named people may answer"
            raise errors.InvalidInput("needed", few)

    def may(self, by: Principal, groups: Groups) -> bool:
        """True for a human who may decide, by the groups as they are now."""
        return by.is_human and self.counts(by.id, groups)

    def counts(self, human: str, groups: Groups) -> bool:
        """True if the human's decision counts, by the groups as they are now."""
        named = self.named(groups)
        return f"human:{human}" not in self.never and (named is None or human in named)

    def is_met(self, deciders: Iterable[str], groups: Groups) -> bool:
        """True if enough different people have decided who may still do so. ``deciders``: names of humans; the same
        person by two sessions is one."""
        return len({each for each in deciders if self.counts(each, groups)}) >= self.needed

    @property
    def names(self) -> tuple[str, ...]:
        """The named people and groups, in words. Members of a group aren't named."""
        return (*self.people, *(f"the group {each}" for each in (self.group, self.wider) if each))

    def is_hopeless(self, groups: Groups) -> bool:
        """True if too few people are left who may decide: a group was emptied since."""
        named = self.named(groups)
        return named is not None and len(named) < self.needed

    def named(self, groups: Groups) -> frozenset[str] | None:
        """Returns the names of those who may decide; None for any human but those that may never."""
        if not self.people and self.group is None:
            return None
        members = (name for group in (self.group, self.wider) if group is not None for name in groups.get(group, ()))
        return frozenset(each for each in (*self.people, *members) if f"human:{each}" not in self.never)


def may_decide(all_of: Iterable[Approvers], by: Principal, groups: Groups) -> bool:
    """True for a human if their decision counts for any of ``all_of``."""
    return any(each.may(by, groups) for each in all_of)


def must_let_decide(all_of: Iterable[Approvers], by: Principal, groups: Groups, asked: str) -> None:
    """Raises ``NotAsked`` unless the person's decision counts for any of ``all_of``. ``asked``: the id of the task or
    question."""
    rules = tuple(all_of)
    if may_decide(rules, by, groups):
        return
    if any(by.key in each.never for each in rules):
        raise errors.NotAsked(asked, f"You may not decide on {asked}, as you asked for it: another person decides.")
    named = " or ".join(dict.fromkeys(name for each in rules for name in each.names))
    raise errors.NotAsked(asked, f"You may not decide on {asked}. It needs the decision of {named or 'a person'}.")


def are_met(all_of: Iterable[Approvers], deciders: Iterable[str], groups: Groups) -> bool:
    """True if the decisions are enough for each of ``all_of``. One person's decision counts for all that name them."""
    names = tuple(deciders)
    return all(each.is_met(names, groups) for each in all_of)

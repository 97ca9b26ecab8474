"""A tool whose calls people approve, one by one, before they are made (docs/spec/tools.md §1). Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from baton.domain import errors
from baton.domain.questions.approvers import DEFAULT_ANSWER_SECONDS, MAX_ANSWER_SECONDS, Approvers

MIN_WITHIN_SECONDS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class NeedsApproval:
    """``people`` and ``group`` name who may approve, without both it is any human; ``needed``: how many of them.
    ``not_author``: whoever made the task may not. ``within_seconds``: how long they have."""

    people: tuple[str, ...] = ()
    group: str | None = None
    needed: int = 1
    not_author: bool = False
    within_seconds: int = DEFAULT_ANSWER_SECONDS

    def forbids(self, after: NeedsApproval | None) -> bool:
        """True if approvers may not replace this mark by ``after``: this one limits them, and ``after`` says anything
        else about who approves. A mark that any one approver meets is no limit."""
        same = replace(after or NeedsApproval(), within_seconds=self.within_seconds)
        return self not in {same, NeedsApproval(within_seconds=self.within_seconds)}

    def check(self, groups: Mapping[str, Collection[str]]) -> None:
        """Raises ``InvalidInput`` for what nobody could meet as the groups are now."""
        if not MIN_WITHIN_SECONDS <= self.within_seconds <= MAX_ANSWER_SECONDS:
            bounds = f"must be from {MIN_WITHIN_SECONDS} to {MAX_ANSWER_SECONDS}"
            raise errors.InvalidInput("needs_approval.within_seconds", bounds)
        try:
            Approvers(people=self.people, group=self.group, needed=self.needed).check(groups)
        except errors.InvalidInput as refusal:
            refusal.rename({name: f"needs_approval.{name}" for name in self.__slots__})
            raise

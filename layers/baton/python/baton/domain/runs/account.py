"""What the runs of a task have used of models, and how far it is counted: each call and each reply is counted once,
whatever was lost or came late (docs/what-is-stored.md §12)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from baton.domain.runs.transcript import Usage

# In the item of a workflow's usage, so that a write of it costs one unit however many tasks there were: one for each of
# the branches that run at once, and one for their parent.
MAX_ACCOUNTS = 11
NOTHING_COUNTED = (0, 0)


@dataclass(frozen=True, slots=True)
class Account:
    """The usage of one task. Only the run with its fence adds to it, one step after the other."""

    fence: int = 0  # of the run that counted last; 0: none has
    step: int = 0  # how often that run has counted
    usage: Usage = field(default_factory=Usage)
    before: tuple[int, int] = NOTHING_COUNTED  # fence and last step of the run before it

    def next(self, fence: int, used: Usage) -> Account:
        """Returns the account once the run has counted this too."""
        usage = self.usage.plus(used)
        if fence == self.fence:
            return replace(self, step=self.step + 1, usage=usage)
        return Account(fence, 1, usage, (self.fence, self.step))

    def has(self, fence: int, step: int) -> bool:
        """True if the run's step is counted in it."""
        return any(each[0] == fence and each[1] >= step for each in ((self.fence, self.step), self.before))

    def is_later_than(self, other: Account) -> bool:
        return (self.fence, self.step) > (other.fence, other.step)


@dataclass(frozen=True, slots=True)
class WorkflowAccount:
    """The usage of a workflow, with the accounts of the tasks whose runs counted last."""

    total: Usage = field(default_factory=Usage)
    accounts: Mapping[str, Account] | None = None  # by task; None: no run has counted anything yet
    moved: int = 0  # how many accounts have moved into their task's own item

    def of(self, task_id: str) -> Account | None:
        return (self.accounts or {}).get(task_id)

    def to_move(self, task_id: str) -> str | None:
        """Returns the task whose account has to move before this task's can stand here; None if there is room. The
        oldest task's goes, as most likely its run is over; if it isn't, its account comes back."""
        accounts = self.accounts or {}
        return min(accounts) if task_id not in accounts and len(accounts) >= MAX_ACCOUNTS else None


@dataclass(frozen=True, slots=True)
class Accounts:
    """The usage of a task and of its workflow, as read."""

    workflow: WorkflowAccount = field(default_factory=WorkflowAccount)
    mine: Account = field(default_factory=Account)
    late: Usage = field(default_factory=Usage)  # of replies that came when their run could count no more

    @property
    def usage(self) -> Usage:
        return self.mine.usage.plus(self.late)


@dataclass(frozen=True, slots=True, kw_only=True)
class SpendingLimits:
    """The limits of a workflow. None: there is none."""

    calls: int | None = None
    tokens: int | None = None


NO_LIMITS = SpendingLimits()


@dataclass(frozen=True, slots=True)
class Spending:
    """One step of a run's counting."""

    workflow_id: str
    task_id: str
    fence: int
    used: Usage
    limits: SpendingLimits = NO_LIMITS

"""Counts what a run uses of its model: each call before it is made, and each reply when it comes."""

from __future__ import annotations

from dataclasses import dataclass, replace

from baton.domain import errors
from baton.domain.idempotency import IdempotencyKey
from baton.domain.runs.account import NO_LIMITS, Accounts, Spending, SpendingLimits
from baton.domain.runs.transcript import Usage
from baton.ports.writes import AddUsage
from baton.steps import idempotency
from baton.steps.retrying import attempts, too_many_changes
from baton.steps.runs.run_context import RunContext


@dataclass(slots=True)
class RunAccount:
    """The account of one run."""

    run: RunContext
    step: int = 0  # how often it has counted
    known: Accounts | None = None  # as this run has read or left them; None: they must be read
    has_read: bool = False

    def begin_call(self) -> str | None:
        """Counts a call before it is made, so that concurrent runs can't exceed a budget. Returns the exhausted budget
        as text, or None. Raises ``StaleClaim`` if a later run has counted since. The claim was looked at a moment ago:
        the run has just begun, or has saved an entry."""
        limits = self.run.record.budget.limits
        return self._count(Usage(model_calls=1), SpendingLimits(calls=limits.max_model_calls, tokens=limits.max_tokens))

    def count(self, used: Usage) -> None:
        """Counts usage, whether or not the run's claim is still current. Raises ``StaleClaim`` if a later run has
        counted since: then the caller counts it as late."""
        self.run.persist(lambda: self._count(used, None))

    def count_reply(self, reply: Usage) -> None:
        """Counts the tokens of a reply, once, whatever becomes of it. Its call is counted already. Raises
        ``StaleClaim`` if a later run has counted since."""
        used = replace(reply, model_calls=0)
        try:
            self.count(used)
        except errors.StaleClaim:
            self._count_late(used)
            raise

    def _count_late(self, used: Usage) -> None:
        """Once, even if an attempt arrives late."""
        task, work = self.run.task, self.run.work
        idempotency_key = IdempotencyKey(work.by, "cost of a reply", f"{work.claim_id} {self.step + 1}", "")
        spent = AddUsage(task.workflow_id, task.id, used)
        self.run.persist(lambda: idempotency.apply_once(self.run.deps, idempotency_key, [spent]))

    def _count(self, used: Usage, limits: SpendingLimits | None) -> str | None:
        """Returns the exhausted budget as text, or None. Without ``limits`` nothing is exhausted."""
        task, store, step = self.run.task, self.run.deps.store, self.step + 1
        spending = Spending(task.workflow_id, task.id, task.fence, used, limits or NO_LIMITS)
        for attempt in attempts(self.run.deps):
            with attempt:
                seen = self.known or self._read()
                if not seen.mine.has(task.fence, step):  # else an earlier attempt was applied, and its reply was lost
                    if seen.mine.fence > task.fence:
                        raise errors.StaleClaim(task.id)
                    if limits is not None and (exhausted := self._exhausted(seen, limits)):
                        return exhausted
                    self.known = None  # read again, unless this succeeds
                    self.known = store.runs.count(task.workspace, spending, seen)
                self.step = step
                return None
        raise too_many_changes()

    def _read(self) -> Accounts:
        """No run of the task came before its first, so that one finds nothing of its own at its first look."""
        task, is_first = self.run.task, self.run.task.fence == 1 and not self.has_read
        self.known = self.run.deps.store.runs.accounts(task.workspace, task.workflow_id, task.id, is_first_run=is_first)
        self.has_read = True
        return self.known

    def _exhausted(self, seen: Accounts, limits: SpendingLimits) -> str | None:
        total, most = seen.workflow.total, self.run.profile.max_tokens
        if seen.usage.tokens >= most:
            return f"The agent has used up its {most} tokens."
        if limits.calls is not None and total.model_calls >= limits.calls:
            return f"The workflow's budget is {limits.calls} model calls, and it has had them."
        if limits.tokens is not None and total.tokens >= limits.tokens:
            return f"The workflow's budget is {limits.tokens} tokens, and it has had them."
        return None

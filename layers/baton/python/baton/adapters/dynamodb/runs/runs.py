"""The store's run profiles, transcripts and usage."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from baton.adapters.dynamodb import keys
from baton.adapters.dynamodb.item_writes import Item
from baton.adapters.dynamodb.runs import run_items, run_writes
from baton.adapters.dynamodb.table import ConditionFailed, Table
from baton.domain import errors
from baton.domain.runs.account import Account, Accounts, Spending
from baton.domain.runs.run_profile import RunProfile
from baton.domain.runs.transcript import TaskEntry, TranscriptEntry, Usage
from baton.ports.paging import Page

# Each time that a run can't seal its transcript, an earlier run has added an entry meanwhile.
_RACES = 10
# The fence of a task's first run: none came before it.
FIRST = 1


class Runs:
    def __init__(self, table: Table) -> None:
        self._table = table

    def profile(self, workspace: str, agent: str) -> RunProfile:
        return run_items.profile_from(workspace, agent, self._table.get(keys.profile(workspace, agent)))

    def transcript(self, workspace: str, task_id: str, after: int = 0) -> tuple[TranscriptEntry, ...]:
        return _entries(self._items(workspace, task_id, after), after)

    def entries(self, workspace: str, task_id: str, limit: int, cursor: str | None) -> Page:
        first, last = keys.entries_from(workspace, task_id, 0)
        found, has_more = self._table.query_page(first.pk, limit, after=cursor or first.sk, last=last)
        return Page(_entries(found, 0), found[-1]["sk"] if has_more and found else None)

    def take_transcript(self, workspace: str, task_id: str, fence: int, after: int = 0) -> tuple[TranscriptEntry, ...]:
        for _ in range(_RACES):
            found = self._items(workspace, task_id, after)
            if any(int(item.get("fence", 0)) > fence for item in found):
                raise errors.StaleClaim(task_id)
            last = max((entry.last for entry in _entries(found, 0)), default=max(after, 0))
            next_place = keys.entry(workspace, task_id, last + 1)
            if fence == FIRST or run_items.is_sealed(found, fence) or self._sealed(next_place, fence):
                return _entries(found, after)
        raise errors.Busy

    def keep_entry(self, workspace: str, of_task: TaskEntry) -> None:
        try:
            self._table.put(run_writes.entry_put(workspace, of_task))
        except ConditionFailed:
            raise errors.StaleClaim(of_task.task_id) from None

    def usage(self, workspace: str, workflow_id: str, task_id: str) -> tuple[Usage, Usage]:
        accounts = self.accounts(workspace, workflow_id, task_id)
        return accounts.usage, accounts.workflow.total

    def accounts(self, workspace: str, workflow_id: str, task_id: str, *, is_first_run: bool = False) -> Accounts:
        of_task, of_workflow = keys.usage_of_task(workspace, task_id), keys.usage_of_workflow(workspace, workflow_id)
        found = self._table.get_many([of_workflow] if is_first_run else [of_task, of_workflow])
        workflow = run_items.workflow_account_from(found.get(of_workflow))
        here, own = workflow.of(task_id), found.get(of_task)
        if here is None and workflow.moved:
            own = self._table.get_many([of_task]).get(of_task)  # the copy that was read may be older than the move
        copy = run_items.account_from(own["account"]) if own is not None and "account" in own else Account()
        mine = copy if here is None or copy.is_later_than(here) else here
        return Accounts(workflow, mine, run_items.usage_from(own))

    def count(self, workspace: str, spending: Spending, seen: Accounts) -> Accounts:
        workflow = seen.workflow
        if old := workflow.to_move(spending.task_id):
            self._copy(keys.usage_of_task(workspace, old), workflow.of(old) or Account())
        key = keys.usage_of_workflow(workspace, spending.workflow_id)
        counted = run_writes.counted(spending, workflow, seen.mine)
        try:
            item = self._table.update(key, *counted, task=spending.task_id, old=old or "")
        except ConditionFailed:
            raise errors.Conflict("usage") from None
        after = run_items.workflow_account_from(item)
        return Accounts(after, after.of(spending.task_id) or Account(), seen.late)

    def _copy(self, key: keys.Key, account: Account) -> None:
        with suppress(ConditionFailed):  # it has this one already, or a later one
            self._table.update(key, *run_writes.copied_account(account))

    def _sealed(self, place: keys.Key, fence: int) -> bool:
        """False if another run has put something there."""
        try:
            self._table.update(place, *run_writes.seal(fence))
        except ConditionFailed:
            return False
        return True

    def _items(self, workspace: str, task_id: str, after: int) -> list[Item]:
        """Returns the entries with a message above ``after``, perhaps with some before them, and the seal if there is
        one. Who reads along finds what is new among the latest two, with the entry before it."""
        if after <= 0:
            return self._items_from(workspace, task_id, 0)
        latest = self._latest(workspace, task_id, keys.entries_from(workspace, task_id, 0)[1], 2)
        if len(latest) <= 1 or run_items.place_of(latest[0]) <= after + 1:
            return latest
        found = self._items_from(workspace, task_id, after + 1)
        if found and run_items.place_of(found[0]) == after + 1:
            return found
        return [*self._latest(workspace, task_id, keys.entry(workspace, task_id, after).sk, 1), *found]

    def _items_from(self, workspace: str, task_id: str, number: int) -> list[Item]:
        first, last = keys.entries_from(workspace, task_id, number)
        return list(self._table.query_all(first.pk, first=first.sk, last=last))

    def _latest(self, workspace: str, task_id: str, up_to: str, limit: int) -> list[Item]:
        first = keys.entry(workspace, task_id, 0)
        return self._table.query(first.pk, limit, newest_first=True, first=first.sk, last=up_to)[::-1]


def _entries(found: Sequence[Item], after: int) -> tuple[TranscriptEntry, ...]:
    entries = (run_items.entry_from(item) for item in found if run_items.is_entry(item))
    return tuple(entry for entry in entries if entry.last > after)

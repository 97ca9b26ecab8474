"""Writes of a run, and their conditions: the entries of its transcript, and what it has used."""

from __future__ import annotations

from dataclasses import asdict, replace

from baton.adapters.dynamodb import keys
from baton.adapters.dynamodb.item_writes import Fitness, Item, ItemWrite, TokenBar
from baton.adapters.dynamodb.puts import put, update
from baton.adapters.dynamodb.runs.run_items import account_map, entry_item
from baton.domain import errors
from baton.domain.runs.account import Account, Spending, SpendingLimits, WorkflowAccount
from baton.domain.runs.transcript import TaskEntry, Usage
from baton.ports.writes import AddUsage

# The entry's place is free, or holds what this run has put there: its seal, or the same entry. A seal of a later run
# keeps the entry out.
PLACE_IS_FREE_OR_OURS = "attribute_not_exists(#pk) OR #fence = :fence"
# The place is free, or holds the seal of this run or of an earlier one.
NO_ENTRY_IS_HERE = "attribute_not_exists(#pk) OR (attribute_not_exists(#kind) AND #fence <= :fence)"

# The workflow has budget left, or nothing was spent yet and the budget isn't zero: agents that hand work to each other
# can't spend without end.
HAS_CALLS_LEFT = "#model_calls < :most_calls"
HAS_CALLS_LEFT_OR_IS_NEW = "(attribute_not_exists(#model_calls) OR #model_calls < :most_calls)"
HAS_TOKENS_LEFT = "#tokens < :most_tokens"
HAS_TOKENS_LEFT_OR_IS_NEW = "(attribute_not_exists(#tokens) OR #tokens < :most_tokens)"

# No run of the workflow has counted anything yet.
NO_ACCOUNTS_YET = "attribute_not_exists(#accounts)"
# The task's account stands where it was read: each step of a run is counted once, however late a request arrives.
ACCOUNT_IS_AS_READ = "#accounts.#task.#fence = :fence AND #accounts.#task.#step = :step"
# The task has no account here, and none has moved away since it was read.
HAS_NO_ACCOUNT = "attribute_not_exists(#accounts.#task) AND #moved = :moved"
# The account that moves away is the one that was copied.
COPY_IS_WHOLE = "#accounts.#old.#fence = :old_fence AND #accounts.#old.#step = :old_step"
# The task's own item has no later copy of its account.
IS_LATER = "attribute_not_exists(#account) OR #account.#fence < :fence"
IS_LATER_STEP = "(#account.#fence = :fence AND #account.#step < :step)"

# The transaction wasn't fenced off: usage that arrives late isn't counted twice.
ISNT_BARRED = "attribute_not_exists(#barred)"

_ADDS = "ADD #model_calls :model_calls, #input_tokens :input_tokens, #output_tokens :output_tokens"
# What is updated, under which condition, with which values.
Update = tuple[str, str, Item]


def entry_put(workspace: str, of_task: TaskEntry) -> ItemWrite:
    """Puts an entry of a run; a repeat puts the same once more."""
    item = entry_item(workspace, of_task)
    return put(item, PLACE_IS_FREE_OR_OURS, lambda: errors.Conflict("transcript"), fence=of_task.fence)


def seal(fence: int) -> Update:
    """Returns the update that keeps every run of a lower fence from the place of the next entry."""
    return "SET #fence = :fence", NO_ENTRY_IS_HERE, {":fence": fence}


def copied_account(account: Account) -> Update:
    """Returns the update of the task's own item that keeps a copy of its account."""
    values = {":account": account_map(account), ":fence": account.fence, ":step": account.step}
    return "SET #account = :account", f"{IS_LATER} OR {IS_LATER_STEP}", values


def counted(spending: Spending, seen: WorkflowAccount, before: Account) -> Update:
    """Returns the update of the workflow's item that counts one step of a run: of ``#task``, while the account of
    ``#old`` may move away. ``seen``: the item as read; ``before``: the task's account as read, there or in its own
    item."""
    limits, used = spending.limits, spending.used
    values = {**_added(used), ":tokens": used.tokens, ":most_calls": limits.calls, ":most_tokens": limits.tokens}
    after = account_map(before.next(spending.fence, used))
    conditions = _limit_conditions(limits)
    sets, adds = "SET #accounts.#task = :account", f"{_ADDS}, #tokens :tokens"
    if seen.accounts is None:
        conditions.append(NO_ACCOUNTS_YET)
        sets = "SET #accounts = :accounts, #moved = :moved"
        values |= {":accounts": {spending.task_id: after}, ":moved": 0}
    elif seen.of(spending.task_id) is not None:
        conditions.append(ACCOUNT_IS_AS_READ)
        values |= {":fence": before.fence, ":step": before.step, ":account": after}
    else:
        conditions.append(HAS_NO_ACCOUNT)
        values |= {":moved": seen.moved, ":account": after}
        if (old := seen.to_move(spending.task_id)) is not None and (moving := seen.of(old)) is not None:
            conditions.append(COPY_IS_WHOLE)
            values |= {":old_fence": moving.fence, ":old_step": moving.step, ":one": 1}
            sets, adds = f"{sets} REMOVE #accounts.#old", f"{adds}, #moved :one"
    return f"{sets} {adds}", " AND ".join(conditions), values


def usage_writes(workspace: str, spent: AddUsage) -> list[ItemWrite]:
    return [_by_task(workspace, spent), _by_workflow(workspace, spent)]


def _by_task(workspace: str, spent: AddUsage) -> ItemWrite:
    """Counts the task's usage. This item is the commit proof where the commit has no better one. The task's next
    spending rewrites it; until then nothing is counted twice, and after that DynamoDB itself still knows the
    transaction by its token, for ten minutes."""
    key, sets = keys.usage_of_task(workspace, spent.task_id), f"{_ADDS} SET #written_by = :written_by"
    counting = update(key, sets, ISNT_BARRED, _added(spent.usage), lambda: errors.Conflict("task"))
    return replace(counting, fitness=Fitness.CHANGING, bar=TokenBar(key))


def _by_workflow(workspace: str, spent: AddUsage) -> ItemWrite:
    """Counts the workflow's usage. ``tokens`` is the sum, for the condition, which can't add."""
    key, values = keys.usage_of_workflow(workspace, spent.workflow_id), _added(spent.usage)
    values[":tokens"] = spent.usage.tokens
    return update(key, f"{_ADDS}, #tokens :tokens", None, values, lambda: errors.Conflict("workflow"))


def _limit_conditions(limits: SpendingLimits) -> list[str]:
    conditions = []
    if limits.calls is not None:
        conditions.append(HAS_CALLS_LEFT_OR_IS_NEW if limits.calls > 0 else HAS_CALLS_LEFT)
    if limits.tokens is not None:
        conditions.append(HAS_TOKENS_LEFT_OR_IS_NEW if limits.tokens > 0 else HAS_TOKENS_LEFT)
    return conditions


def _added(usage: Usage) -> Item:
    return {f":{name}": count for name, count in asdict(usage).items()}

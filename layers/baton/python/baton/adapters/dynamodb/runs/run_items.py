"""The items of runs: profiles, transcript entries, accounts of usage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, fields
from typing import Any

from baton.adapters.dynamodb import items, keys, records
from baton.adapters.dynamodb.item_writes import Item
from baton.domain import times
from baton.domain.newer import deciding, member
from baton.domain.runs.account import NOTHING_COUNTED, Account, WorkflowAccount
from baton.domain.runs.run_profile import RunProfile
from baton.domain.runs.transcript import EntryKind, MessageType, TaskEntry, TranscriptEntry, TranscriptMessage, Usage
from baton.domain.tasks.task import Policy

# Fields of an entry that are stored under their own names; of the marks only those that are set.
_NUMBERS, _TEXTS, _MARKS = ("first", "turn"), ("agent", "stop_reason", "made_with"), ("is_repair", "scripted")


def profile_item(profile: RunProfile) -> Item:
    return {**keys.profile(profile.workspace, profile.slug)._asdict(), **records.written(profile)}


def profile_from(workspace: str, slug: str, item: Item | None) -> RunProfile:
    """Ignores fields that this version no longer knows; new ones get their defaults."""
    found = item or {}
    join = deciding(Policy, found.get("join", Policy.ALL))
    return records.read(RunProfile, found, workspace=workspace, slug=slug, join=join)


def entry_item(workspace: str, of_task: TaskEntry) -> Item:
    """Numbers are kept as numbers, messages as JSON text."""
    entry = of_task.entry
    messages = [asdict(message) for message in entry.more_messages]
    payload = {"blocks": entry.blocks, "told": messages, "output": entry.output}
    item = items.payload_item(keys.entry(workspace, of_task.task_id, entry.first), payload)
    item |= {name: getattr(entry, name) for name in (*_NUMBERS, *_TEXTS)} | asdict(entry.usage)
    item |= {name: getattr(entry, name) or None for name in _MARKS}
    return {**item, "kind": str(entry.kind), "at": times.rfc3339(entry.at), "fence": of_task.fence}


def is_entry(item: Item) -> bool:
    """False for a seal."""
    return "kind" in item


def place_of(item: Item) -> int:
    """The number of the entry's first message; of a seal, that of the next entry's."""
    return int(item["sk"].rpartition("#")[2])


def is_sealed(found: Sequence[Item], fence: int) -> bool:
    """True if the run with this fence has sealed the transcript before, and added nothing since."""
    return bool(found) and not is_entry(found[-1]) and int(found[-1]["fence"]) == fence


def _message_from(told: Item) -> TranscriptMessage:
    return TranscriptMessage(member(MessageType, told["type"]), told["text"], told["data"])


def entry_from(item: Item) -> TranscriptEntry:
    payload, kind, at = items.payload_from(item), deciding(EntryKind, item["kind"]), times.parse_rfc3339(item["at"])
    read: dict[str, Any] = {name: int(item[name]) for name in _NUMBERS} | {name: item.get(name) for name in _TEXTS}
    read |= {name: item.get(name, False) for name in _MARKS}
    read |= {"blocks": tuple(payload["blocks"]), "more_messages": tuple(map(_message_from, payload["told"]))}
    return TranscriptEntry(kind=kind, at=at, usage=usage_from(item), output=payload["output"], **read)


def usage_from(item: Item | None) -> Usage:
    """Returns zero usage if there is no item."""
    return Usage() if item is None else Usage(*(int(item.get(f.name, 0)) for f in fields(Usage)))


def account_map(account: Account) -> Item:
    """``before``: fence and last step of the run before it, if there was one."""
    usage = account.usage
    used = {"calls": usage.model_calls, "input": usage.input_tokens, "output": usage.output_tokens}
    before = {"before": list(account.before)} if account.before != NOTHING_COUNTED else {}
    return {"fence": account.fence, "step": account.step, **used, **before}


def account_from(found: Item) -> Account:
    fence, step = map(int, found.get("before", NOTHING_COUNTED))
    usage = Usage(int(found["calls"]), int(found["input"]), int(found["output"]))
    return Account(int(found["fence"]), int(found["step"]), usage, (fence, step))


def workflow_account_from(item: Item | None) -> WorkflowAccount:
    if item is None:
        return WorkflowAccount()
    found = item.get("accounts")
    accounts = None if found is None else {task_id: account_from(each) for task_id, each in found.items()}
    return WorkflowAccount(usage_from(item), accounts, int(item.get("moved", 0)))

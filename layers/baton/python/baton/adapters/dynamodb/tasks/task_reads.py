"""Reads tasks and their items, one task or many."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from baton.adapters.dynamodb import items, keys
from baton.adapters.dynamodb.handoffs import handoff_items
from baton.adapters.dynamodb.item_writes import Item
from baton.adapters.dynamodb.table import Table
from baton.adapters.dynamodb.tasks.output_items import output_from, output_named
from baton.adapters.dynamodb.tasks.task_items import run_state_from
from baton.adapters.dynamodb.tracker import tracker_items
from baton.domain import errors
from baton.domain.idempotency import IdempotencyKey, SavedResponse
from baton.domain.tasks.task import Recovery, Task
from baton.domain.tasks.task_items import Note
from baton.ports.details import TaskDetails

# Tasks in one batch read, so that all their items fit into 100 keys and into the 16 MB of its answer.
TASKS_AT_ONCE, TALK_AT_ONCE, PAPERS_AT_ONCE, BODIES_AT_ONCE, WHOLE_AT_ONCE = 100, 50, 33, 40, 20
# Items that HEAD refers to and that change with it. The body isn't one: it exists before anybody knows the task's id.
PAPERS = (keys.OUTPUT, keys.FAILURE, keys.BROUGHT, keys.CHECKPOINT, keys.RUN_STATE)


class TaskReads:
    def __init__(self, table: Table) -> None:
        self._table = table

    # One task

    def load(
        self, workspace: str, task_id: str, idempotency_key: IdempotencyKey | None = None
    ) -> tuple[Task, SavedResponse | None]:
        head = keys.head(workspace, task_id)
        if idempotency_key is None:
            item, saved_response = self._table.get(head), None
        else:
            once_key = keys.idempotency_key(workspace, idempotency_key.digest)
            found = self._table.get_many([head, once_key])
            item, saved_response = found.get(head), items.saved_response_from(found.get(once_key))
        if item is None:
            raise errors.Unknown("task")
        return items.task_from(item), saved_response

    def read(self, workspace: str, task_id: str, *, with_body: bool = False) -> TaskDetails:
        after = None if with_body else keys.BODY
        found = {item["sk"]: item for item in self._table.query_all(keys.task(workspace, task_id), after=after)}
        if keys.HEAD not in found:
            raise errors.Unknown("task")
        task = items.task_from(found[keys.HEAD])
        found |= self._reread(task, found, *PAPERS)
        first, last = keys.RECOVERIES
        recoveries = [found[sk] for sk in sorted(found) if first <= sk <= last]
        return TaskDetails(
            task=task,
            body=items.payload_from(found.get(keys.BODY)) if with_body else None,
            **_results(task, found),
            **_resume_inputs(found),
            recoveries=self._recoveries(task, recoveries),
            page_sync=tracker_items.page_sync_from(found.get(keys.MIRROR)),
        )

    def read_for_claim(self, workspace: str, task_id: str) -> TaskDetails:
        """Reads HEAD and BODY, and then only the further items that HEAD says are there."""
        found = self._table.get_many([keys.task_item(workspace, task_id, name) for name in (keys.HEAD, keys.BODY)])
        here = {key.sk: item for key, item in found.items()}
        if keys.HEAD not in here:
            raise errors.Unknown("task")
        task = items.task_from(here[keys.HEAD])
        here |= self._reread(task, here, *PAPERS[1:])
        return TaskDetails(
            task=task,
            body=items.payload_from(here.get(keys.BODY)),
            failure=items.payload_from(here.get(keys.FAILURE)),
            **_resume_inputs(here),
            recoveries=self._recoveries(task),
        )

    def notes(self, workspace: str, about: str, limit: int, cursor: str | None = None) -> tuple[Note, ...]:
        found = self._table.query(keys.notes(workspace, about), limit, newest_first=True, before=cursor)
        return tuple(items.note_from(about, item) for item in found)

    # Many tasks

    def many(self, workspace: str, task_ids: Sequence[str]) -> dict[str, Task]:
        found = self._many(workspace, task_ids, TASKS_AT_ONCE, keys.HEAD)
        return {task_id: items.task_from(here[keys.HEAD]) for task_id, here in found if keys.HEAD in here}

    def talk(self, workspace: str, task_ids: Sequence[str]) -> tuple[dict[str, Task], dict[str, str]]:
        tasks: dict[str, Task] = {}
        followed: dict[str, str] = {}
        for task_id, here in self._many(workspace, task_ids, TALK_AT_ONCE, keys.HEAD, keys.FOLLOWED):
            if keys.HEAD in here:
                tasks[task_id] = items.task_from(here[keys.HEAD])
            if keys.FOLLOWED in here:
                followed[task_id] = here[keys.FOLLOWED]["next_id"]
        return tasks, followed

    def outcomes(self, workspace: str, task_ids: Sequence[str]) -> dict[str, TaskDetails]:
        many = self._many(workspace, task_ids, PAPERS_AT_ONCE, keys.HEAD, keys.FAILURE)
        found = {task_id: here for task_id, here in many if keys.HEAD in here}
        tasks = {task_id: items.task_from(here[keys.HEAD]) for task_id, here in found.items()}
        later = self._later(tasks, found, keys.OUTPUT, keys.FAILURE)
        return {
            task_id: TaskDetails(task=tasks[task_id], **_results(tasks[task_id], here | later.get(task_id, {})))
            for task_id, here in found.items()
        }

    def _later(
        self, tasks: Mapping[str, Task], found: Mapping[str, dict[str, Item]], *names: str
    ) -> dict[str, dict[str, Item]]:
        """Reads what the HEADs refer to and what isn't ``found`` as they say: large outputs, and what may be older."""
        heads = (task_id for task_id, here in found.items() if keys.HEAD in here)
        wanted = [key for each in heads for key in _behind(tasks[each], found[each], names)]
        read: dict[str, dict[str, Item]] = {}
        for key, item in self._table.get_all(wanted, PAPERS_AT_ONCE).items():
            read.setdefault(keys.parse_task(key.pk)[1], {})[key.sk] = item
        return read

    def bodies(self, workspace: str, task_ids: Sequence[str]) -> dict[str, dict[str, Any]]:
        found = self._many(workspace, task_ids, BODIES_AT_ONCE, keys.BODY)
        return {task_id: items.payload_from(here[keys.BODY]) for task_id, here in found if keys.BODY in here}

    def papers(self, workspace: str, tasks: Sequence[Task], most_bytes: int) -> Iterator[TaskDetails]:
        left = most_bytes
        for start in range(0, len(tasks), WHOLE_AT_ONCE):
            batch = tasks[start : start + WHOLE_AT_ONCE]
            here = dict(self._many(workspace, [task.id for task in batch], WHOLE_AT_ONCE, keys.HEAD, keys.BODY))
            later = self._later({task.id: task for task in batch}, here, keys.OUTPUT)
            for task in batch:
                found = {**here[task.id], **later.get(task.id, {})}
                left -= sum(map(_size, found.values()))
                if left < 0:
                    return
                if keys.HEAD in found:
                    body, output = items.payload_from(found.get(keys.BODY)), output_from(task, found)
                    yield TaskDetails(task=task, body=body, output=output.content, completion=output.completion)

    # Inside

    def _reread(self, task: Task, here: Mapping[str, dict[str, Any]], *wanted: str) -> dict[str, dict[str, Any]]:
        """Reads again, and so after HEAD, each wanted item that HEAD refers to and that is missing ``here`` or may be
        older. Neither a batch read nor a query is a snapshot: each item is as it was at its own read."""
        return {key.sk: item for key, item in self._table.get_many(_behind(task, here, wanted)).items()}

    def _many(
        self, workspace: str, task_ids: Iterable[str], at_once: int, *what: str
    ) -> Iterator[tuple[str, dict[str, dict[str, Any]]]]:
        """Yields each task once, with those of its items that exist. Its reads don't wait for each other."""
        wanted = list(dict.fromkeys(task_ids))
        found: dict[keys.Key, Item] = {}

        def read(batch: Sequence[str]) -> None:
            found.update(
                self._table.get_many([keys.task_item(workspace, each, part) for each in batch for part in what])
            )

        self._table.together(
            [partial(read, wanted[start : start + at_once]) for start in range(0, len(wanted), at_once)]
        )
        for task_id in wanted:
            here = {part: found.get(keys.task_item(workspace, task_id, part)) for part in what}
            yield task_id, {part: item for part, item in here.items() if item is not None}

    def _recoveries(self, task: Task, found: Sequence[Item] = ()) -> tuple[Recovery, ...]:
        """Returns as many recoveries as HEAD counts, read if they aren't all ``found``. HEAD may not count the latest
        yet: the task can come back between the reads of two items."""
        if len(found) < task.recoveries:
            first, last = keys.RECOVERIES
            found = list(self._table.query_all(keys.task(task.workspace, task.id), first=first, last=last))
        return tuple(map(items.recovery_from, found[: task.recoveries]))


def _size(item: Item) -> int:
    """The characters of what was said: the rest of an item is small."""
    return sum(len(item[name]) for name in ("content", "output", "completion") if name in item)


def _results(task: Task, found: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    output = output_from(task, found)
    failure = items.payload_from(found.get(keys.FAILURE))
    return {"output": output.content, "completion": output.completion, "failure": failure}


def _resume_inputs(found: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    checkpoint, run_state = found.get(keys.CHECKPOINT), found.get(keys.RUN_STATE)
    return {
        "resume_payload": items.payload_from(found.get(keys.BROUGHT)),
        "checkpoint": None if checkpoint is None else handoff_items.checkpoint_from(checkpoint),
        "run_state": None if run_state is None else run_state_from(run_state),
    }


def _behind(task: Task, here: Mapping[str, Item], wanted: Iterable[str]) -> list[keys.Key]:
    """Returns the keys of the wanted items that HEAD refers to and that are missing ``here`` or may be older."""
    return [
        keys.task_item(task.workspace, task.id, _name_of(each, here))
        for each in wanted
        if _may_be_older(each, task, here)
    ]


def _name_of(item_name: str, here: Mapping[str, Item]) -> str:
    return (output_named(here[keys.HEAD]) or item_name) if item_name == keys.OUTPUT else item_name


def _may_be_older(item_name: str, task: Task, here: Mapping[str, dict[str, Any]]) -> bool:
    """True if the item may be older than the HEAD that refers to it. A newer one does no harm: a claim on that HEAD
    fails."""
    item = here.get(item_name)
    match item_name:
        case keys.OUTPUT:
            named = output_named(here[keys.HEAD])
            return named is not None and named not in here
        case keys.FAILURE:
            return task.has_failure and not _is_of_last_claim(item, task)
        case keys.BROUGHT:
            is_over = task.waits > 0 and task.wait is None
            return is_over and (items.payload_from(item) or {}).get("wait") != task.waits
        case keys.CHECKPOINT:
            return task.last_checkpoint_id is not None and (item or {}).get("id") != task.last_checkpoint_id
        case keys.RUN_STATE:
            return task.run_state_id is not None and (item or {}).get("id") != task.run_state_id
    raise ValueError(item_name)


def _is_of_last_claim(failure: dict[str, Any] | None, task: Task) -> bool:
    """True if the failure is of the last claim that has ended."""
    over = task.fence if task.claim is None else task.fence - 1
    return failure is not None and failure.get("fence") == over

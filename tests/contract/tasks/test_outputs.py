"""Outputs and completion messages: small ones in HEAD, large ones in an item of their own that HEAD names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from baton.adapters.dynamodb.tasks.output_items import MAX_IN_HEAD_BYTES
from baton.domain import times
from baton.domain.errors import Conflict
from baton.ports.details import TaskDetails
from baton.ports.store import Store
from support.clock import NOON
from support.values.changes import claimed, ended, then, with_output
from support.worlds.world import WORKSPACE

LARGE = "é" * MAX_IN_HEAD_BYTES
OUTPUTS = {
    "none": None,
    "small": {"deep": [{"é": [1, 2.5, None, True]}], "a": ""},
    "the last one in HEAD": "x" * (MAX_IN_HEAD_BYTES - 2),
    "one byte more": "x" * (MAX_IN_HEAD_BYTES - 1),
    "large": {"text": LARGE},
}
COMPLETION = {
    "completion_id": "comp_1",
    "handoff_id": "ho_1",
    "notes": ["é"],
    "source": {"agent": "auditor"},
    "status": "partial",
    "timestamp": times.rfc3339(NOON),
}


def readings(store: Store, task_id: str = "task_1") -> Sequence[TaskDetails]:
    return store.tasks.read(WORKSPACE, task_id), store.tasks.outcomes(WORKSPACE, [task_id])[task_id]


@pytest.mark.parametrize("output", OUTPUTS.values(), ids=OUTPUTS.keys())
def test_an_output_is_read_as_it_was_given(store: Store, output: Any) -> None:
    task = claimed(store)
    store.commit(WORKSPACE, with_output(ended(task), output))
    for read in readings(store):
        assert (read.output, read.completion) == (output, None)


@pytest.mark.parametrize("output", OUTPUTS.values(), ids=OUTPUTS.keys())
@pytest.mark.parametrize(
    "changed", [{}, {"status": "success"}, {"timestamp": None}, {"source": {"agent": "auditor", "x": 1}}]
)
def test_a_completion_message_is_read_as_it_was_given_whatever_its_event_says(
    store: Store, output: Any, changed: dict[str, Any]
) -> None:
    """Its event says the same of some of it, or almost the same."""
    task = claimed(store, handoff_id="ho_1")
    completion = {**COMPLETION, **changed}
    change = ended(task, completion_id="comp_1", status="partial")
    store.commit(WORKSPACE, with_output(change, output, completion))
    for read in readings(store):
        assert (read.output, read.completion) == (output, completion)
        assert list(read.completion or {}) == sorted(completion)


@pytest.mark.parametrize("first", [{"text": LARGE}, {"text": "small"}])
@pytest.mark.parametrize("second", [None, {"text": "other"}, {"other": LARGE}])
def test_the_output_of_an_end_that_lost_is_never_shown(store: Store, first: Any, second: Any) -> None:
    task = claimed(store)
    beaten = ended(task)
    later = then(task, title="changed meanwhile")
    store.commit(WORKSPACE, later)
    with pytest.raises(Conflict):
        store.commit(WORKSPACE, with_output(beaten, first))
    assert store.tasks.read(WORKSPACE, task.id).output is None
    store.commit(WORKSPACE, with_output(ended(later.task), second) if second else ended(later.task))
    with pytest.raises(Conflict):
        store.commit(WORKSPACE, with_output(beaten, first))
    for read in readings(store):
        assert read.output == second


def test_two_ends_with_the_same_large_output_share_it(store: Store) -> None:
    task = claimed(store)
    change = ended(task)
    store.commit(WORKSPACE, with_output(change, LARGE))
    with pytest.raises(Conflict):
        store.commit(WORKSPACE, with_output(ended(task), LARGE))
    for read in readings(store):
        assert (read.task, read.output) == (change.task, LARGE)


def test_outputs_of_many_tasks_are_read_together(store: Store) -> None:
    for number in range(40):
        task = claimed(store, f"task_{number:02d}")
        output = {"n": number, "text": LARGE if number % 2 else ""}
        store.commit(WORKSPACE, with_output(ended(task), output))
    found = store.tasks.outcomes(WORKSPACE, [f"task_{number:02d}" for number in range(41)])
    assert [details.output["n"] for details in found.values()] == list(range(40))


def test_an_output_belongs_to_an_end(store: Store) -> None:
    goes_on = then(claimed(store), title="goes on")
    with pytest.raises(ValueError, match="without the end of its task"):
        store.commit(WORKSPACE, with_output(goes_on, 1))


def test_the_head_of_an_ended_task_is_never_put_again(store: Store) -> None:
    """It would lose its output."""
    task = claimed(store)
    change = ended(task)
    store.commit(WORKSPACE, with_output(change, "x"))
    with pytest.raises(ValueError, match="never put again"):
        store.commit(WORKSPACE, then(change.task, title="late"))
    assert store.tasks.read(WORKSPACE, task.id).output == "x"

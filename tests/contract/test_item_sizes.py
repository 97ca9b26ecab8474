"""What is larger than an item of the table may be is refused before anything is written, and its field is named."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from baton.adapters.dynamodb.sizes import (
    MAX_ITEM_BYTES,
    MAX_TOGETHER_BYTES,
    must_fit,
    size_of,
)
from baton.adapters.dynamodb.table import to_wire
from baton.domain.errors import TooLarge
from baton.domain.handoffs.workflow import Checkpoint
from baton.domain.task_state import State
from baton.domain.tasks.task_items import Note
from baton.ports.store import Store
from baton.ports.writes import Insert, Put
from support.clock import NOON
from support.values.changes import claimed, new, then, with_body, with_output
from support.worlds.world import WORKSPACE

MUCH = "é" * (MAX_ITEM_BYTES // 2)


def a_body(store: Store) -> None:
    store.commit(WORKSPACE, with_body(new("task_9"), {"text": MUCH}))


def an_output(store: Store) -> None:
    before = claimed(store)
    store.commit(WORKSPACE, with_output(then(before, state=State.DONE, claim=None), {"text": MUCH}))


def a_checkpoint(store: Store) -> None:
    kept = Checkpoint(
        id="chk_1", workflow_id="wf_1", task_id="task_1", step_name="step", state={"text": MUCH}, at=NOON, by="agent:x"
    )
    store.commit(WORKSPACE, Put(kept))


def a_note(store: Store) -> None:
    store.commit(WORKSPACE, Insert(Note("task_1", "note_1", NOON, "agent:x", {"text": MUCH})))


@pytest.mark.parametrize(
    ("act", "field"), [(a_body, "context"), (an_output, "output"), (a_checkpoint, "state"), (a_note, "text")]
)
def test_what_no_item_can_hold_is_refused_by_its_field(store: Store, act: Callable[[Store], None], field: str) -> None:
    with pytest.raises(TooLarge) as refused:
        act(store)
    assert refused.value.field == field
    assert store.tasks.notes(WORKSPACE, "task_1", 10) == ()
    assert "task_9" not in store.tasks.many(WORKSPACE, ["task_9"])


@pytest.mark.parametrize(
    "value",
    ["x" * 1_000, 12345, True, None, {"a": {"b": 1}}, ["x", 1, False], {"x", "yy"}],
    ids=["text", "number", "truth", "nothing", "map", "list", "set"],
)
def test_an_item_counts_every_name_and_value(value: Any) -> None:
    item = to_wire({"pk": "WS#acme", "sk": "HEAD", "v": value})
    empty = size_of(to_wire({"pk": "WS#acme", "sk": "HEAD"}))
    assert size_of(item) > empty if value is not None else size_of(item) == empty


def test_the_largest_item_that_fits_fits() -> None:
    item = {"pk": "p", "sk": "s", "t": "x" * (MAX_ITEM_BYTES - 7)}
    assert size_of(to_wire(item)) == MAX_ITEM_BYTES
    must_fit([to_wire(item)], alone=[to_wire(item)])
    above = to_wire({**item, "t": item["t"] + "x"})
    for together, alone in (([above], []), ([], [above])):
        with pytest.raises(TooLarge):
            must_fit(together, alone)


def several(number: int, length: int, last: int) -> list[dict[str, Any]]:
    sizes = [length] * (number - 1) + [last]
    return [to_wire({"pk": "WS#acme#TASK#t", "sk": f"NOTES#{n:02d}", "t": "x" * size}) for n, size in enumerate(sizes)]


def test_what_a_transaction_puts_at_most_fits_and_a_byte_more_does_not() -> None:
    around = size_of(several(1, 0, 0)[0])
    length = 350_000
    number = MAX_TOGETHER_BYTES // (length + around) + 1
    last = MAX_TOGETHER_BYTES - (number - 1) * (length + around) - around
    must_fit(several(number, length, last), alone=several(1, 0, 0))
    with pytest.raises(TooLarge):
        must_fit(several(number, length, last + 1))


def test_a_transaction_above_the_limit_is_refused_before_anything_is_written(store: Store) -> None:
    """By the field of the largest; what is put before its transaction isn't written either."""
    many = [Insert(Note("task_1", f"note_{n:02d}", NOON, "agent:x", {"text": "x" * 380_000})) for n in range(11)]
    with pytest.raises(TooLarge) as refused:
        store.commit(WORKSPACE, with_body(new("task_9"), {"text": "little"}), *many)
    assert refused.value.field == "text"
    assert "task_9" not in store.tasks.many(WORKSPACE, ["task_9"])
    assert store.tasks.notes(WORKSPACE, "task_1", 10) == ()
    store.commit(WORKSPACE, with_body(new("task_9"), {"text": "little"}), *many[:10])
    assert len(store.tasks.notes(WORKSPACE, "task_1", 20)) == 10

"""The item by which a commit is recognised afterwards, and the one that fences it off: both follow from its writes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, get_args

import pytest

from baton.adapters.dynamodb import keys
from baton.adapters.dynamodb.item_writes import Exclusive, KeyBar, TokenBar, VersionBar, proof_and_bar
from baton.adapters.dynamodb.table import from_wire
from baton.adapters.dynamodb.writes import ITEMS_OF, item_writes, transaction
from baton.domain.alerts.alert import AlertCount
from baton.domain.handoffs.workflow import JobKind
from baton.domain.idempotency import IdempotencyKey
from baton.domain.runs.transcript import Usage
from baton.domain.task_state import State
from baton.ports.writes import Add, AddUsage, CloseEscalation, Insert, Put, Save, SaveResponse, WriteBeside
from support.clock import NOON
from support.values.changes import a_claim, looked_at, new, then
from support.values.records import a_note, an_alert
from support.values.task_items import a_job
from support.worlds.world import WORKSPACE, human

ONCE = IdempotencyKey(human(), "/x", "key", "hash")
TASK = new(state=State.CLAIMED, claim=a_claim()).task
CHANGE = then(TASK, title="x")
RESPONSE = keys.idempotency_key(WORKSPACE, ONCE.digest)
NOTE = keys.Key(keys.notes(WORKSPACE, "task_1"), "note_01")
LISTED = keys.Key(keys.alerts_of_task(WORKSPACE, "task_1"), an_alert(1, task_id="task_1").id)
HEAD = keys.head(WORKSPACE, "task_1")
BEGINNING = keys.beginning(WORKSPACE, "task_2")
SECOND = keys.head(WORKSPACE, "task_2")


@pytest.mark.parametrize(
    ("writes", "proof", "bar"),
    [
        ([CHANGE], HEAD, VersionBar(HEAD, TASK.meta.version)),
        ([looked_at(TASK)], HEAD, VersionBar(HEAD, TASK.meta.version)),
        ([Put(a_job()), Insert(a_note()), SaveResponse(ONCE, {}), CHANGE], HEAD, VersionBar(HEAD, TASK.meta.version)),
        ([new("task_2")], SECOND, KeyBar(SECOND)),
        ([new("task_2"), new("task_3")], BEGINNING, KeyBar(BEGINNING)),
        ([CHANGE, new("task_2")], HEAD, VersionBar(HEAD, TASK.meta.version)),
        ([Insert(a_note())], NOTE, KeyBar(NOTE)),
        ([Insert(a_note()), SaveResponse(ONCE, {})], RESPONSE, Exclusive()),
        ([Put(a_job()), Insert(a_note())], NOTE, KeyBar(NOTE)),
        ([Save(an_alert(1, task_id="task_1"))], LISTED, KeyBar(LISTED)),
        ([Save(an_alert(1, task_id="task_1", version=2))], keys.alert(WORKSPACE, an_alert(1).id), None),
        ([Put(a_job())], keys.job(WORKSPACE, JobKind.JOIN, "task_1"), None),
        (
            [AddUsage("wf_1", "task_1", Usage(1, 2, 3))],
            keys.usage_of_task(WORKSPACE, "task_1"),
            TokenBar(keys.usage_of_task(WORKSPACE, "task_1")),
        ),
    ],
)
def test_proof_and_bar_follow_from_the_writes(writes: list[Any], proof: keys.Key, bar: object) -> None:
    found, barred_by = proof_and_bar(transaction(WORKSPACE, writes))
    assert (found.key, barred_by) == (proof, bar)


def test_the_token_is_in_the_proof() -> None:
    for writes in ([looked_at(TASK)], [Insert(a_note())], [new("task_2"), new("task_3")]):
        proof, _ = proof_and_bar(transaction(WORKSPACE, writes))
        assert proof.stamped(proof.request, "token")["Item"]["written_by"] == {"S": "token"}


def test_the_token_is_in_the_first_new_event_of_a_change() -> None:
    second = then(CHANGE.task, title="y")
    both = replace(CHANGE, task=second.task.changed(version=2), events=(*CHANGE.events, *second.events))
    proof, _ = proof_and_bar(transaction(WORKSPACE, [both]))
    marked = proof.stamped(proof.request, "token")["Item"]
    assert "written_by" not in marked
    stamped = [from_wire(each["M"]).get("write") for each in marked["events"]["L"]]
    assert stamped == ["token", None]


@pytest.mark.parametrize("writes", [[CloseEscalation("a", "b", "task_0")], [Add(AlertCount("human:x", NOON), 1, 60)]])
def test_a_commit_that_could_not_be_recognised_is_none(writes: list[Any]) -> None:
    with pytest.raises(ValueError, match="recognised"):
        proof_and_bar(transaction(WORKSPACE, writes))


def test_each_write_that_goes_with_changes_has_its_items() -> None:
    assert ITEMS_OF.keys() == {*get_args(WriteBeside)}


def test_a_value_without_a_row_is_not_stored() -> None:
    with pytest.raises(TypeError, match="Usage has no row"):
        item_writes(WORKSPACE, Put(Usage()))

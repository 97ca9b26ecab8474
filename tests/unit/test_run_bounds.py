"""Where exactly a run stops: at its budgets, at what a provider asks for, at a history that is too long, and at a claim
that is over (spec/tools.md §3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from baton.domain.errors import ModelAway
from baton.domain.events import canonical_json
from baton.domain.history import MAX_HISTORY_BYTES
from baton.domain.task import MAX_RELEASES
from baton.run_ports import Reply, StopReason
from baton.services.end_task import cancel_task
from baton.services.process_task import Handled
from support.studio import Studio, calls, says
from support.world import human

if TYPE_CHECKING:
    from baton.domain.task import Task
    from baton.run_ports import Request

CHECKPOINT = calls(("save_checkpoint", {"step_name": "one", "state": {}}))
TOO_LONG = Reply(blocks=(), stop_reason=StopReason.CONTEXT_WINDOW_EXCEEDED)


def alone(*script: Any, **profile: Any) -> Studio:
    agents = {"helper": {"tools": ("save_checkpoint",), **profile}}
    return Studio(agents, {"helper": list(script)}).open()


def run_once(studio: Studio, message: str = "Hello") -> tuple[Task, Handled]:
    root = studio.start("helper", message, until_quiet=False)
    studio.world.clock.advance(3)
    studio.world.doorbell.bells.clear()
    handled = studio.ring(root.workspace, "helper", root.id)
    return studio.task(root.id), handled


@pytest.mark.parametrize(("most", "state"), [(1_000, "failed"), (1_001, "done")])
def test_a_task_that_has_had_its_tokens_asks_no_more(most: int, state: str) -> None:
    half = calls(("save_checkpoint", {"step_name": "one", "state": {}}))
    spent = Reply(blocks=half.blocks, stop_reason=half.stop_reason, usage=says("", tokens=500).usage)
    studio = alone(spent, says("Done."), max_tokens=most)
    assert studio.start("helper").state == state


@pytest.mark.parametrize(("most", "state"), [(20, "failed"), (21, "done")])
def test_a_workflow_that_has_had_its_tokens_asks_no_more(most: int, state: str) -> None:
    studio = alone(CHECKPOINT, says("Done."))
    assert studio.start("helper", budget={"max_tokens": most}).state == state


def test_a_provider_is_left_alone_for_as_long_as_it_asks() -> None:
    studio = alone(ModelAway("throttled", retry_after=9), says("Hi."))
    before = studio.world.clock.now()
    root, _ = run_once(studio)
    assert root.state == "done"
    assert (studio.world.clock.now() - before).total_seconds() >= 3 + 9


def test_a_task_comes_back_no_earlier_than_its_provider_asks() -> None:
    studio = alone(ModelAway("throttled", retry_after=200), says("Hi."))
    root, _ = run_once(studio)
    assert len(studio.model.requests) == 1
    assert root.ready_at is not None
    assert (root.ready_at - studio.world.clock.now()).total_seconds() >= 200


def test_vain_rounds_take_longer_each_time_and_end_with_a_human() -> None:
    studio = alone(ModelAway("out"))
    root, _ = run_once(studio)
    pauses = []
    while root.state == "delegated":
        assert root.ready_at is not None
        pauses.append((root.ready_at - studio.world.clock.now()).total_seconds())
        studio.world.clock.advance(pauses[-1])
        studio.ring(root.workspace, "helper", root.id)
        root = studio.task(root.id)
    assert (root.state, len(pauses) + 1) == ("needs", MAX_RELEASES)
    assert pauses == sorted(pauses)
    assert (pauses[0], pauses[-1]) == (15, 600)


def test_rounds_that_came_to_something_end_with_nobody() -> None:
    script = [each for _ in range(MAX_RELEASES + 2) for each in (CHECKPOINT, *[ModelAway("out")] * 3)]
    studio = alone(*script, says("Done."))
    root = studio.start("helper")
    assert (root.state, root.releases) == ("done", 0)


def test_a_history_that_is_too_long_is_halved_three_times() -> None:
    long = says("x" * 60_000)
    studio = alone(*[long] * 5, TOO_LONG, TOO_LONG, TOO_LONG, says("Done."))
    root = studio.start("helper")
    for _ in range(4):
        studio.say(root.workflow_id, "More")
    assert studio.say(root.workflow_id, "And now?").state == "done"
    sizes = [len(canonical_json(each.messages)) for each in studio.model.requests[-4:]]
    assert [MAX_HISTORY_BYTES >> n >= size for n, size in enumerate(sizes)] == [True] * 4
    assert sizes[0] > 2 * sizes[2] > 0


def test_one_that_is_too_long_the_fourth_time_fails() -> None:
    studio = alone(TOO_LONG)
    root = studio.start("helper")
    assert (root.state, len(studio.model.requests)) == ("failed", 4)
    assert studio.failure(root.id)["description"] == "The conversation is too long for the model."


def test_a_task_that_is_cancelled_while_a_model_thinks_is_left_alone() -> None:
    studio = alone()

    def think(request: Request) -> Reply:
        cancel_task(studio.baton, human(), request.task_id, None)
        return says("Too late.")

    studio.model.script["helper"] = [think, says("Never.")]
    root, handled = run_once(studio)
    assert (root.state, handled, len(studio.model.requests)) == ("cancelled", Handled.LOST, 1)
    assert studio.told(root.workflow_id) == [
        ("user_message", "Hello"),
        ("status_change", "The task is cancelled."),
    ]

"""A run that asks again, over several claims (``baton_client.runs``)."""

from __future__ import annotations

import pytest

from baton_client import Baton, Call, Run, Work, operations
from baton_client.testing import BatonWorld
from baton_client.testing import baton_world as baton_world
from support.faults.soak import crossed

SHIP = Call.approve("c1", "ship", {"version": "1.2"})
ASK = Call.ask("c1", "Which branch?", options=["main", "next"])


@pytest.fixture
def reviewer(baton_world: BatonWorld) -> Baton:
    return baton_world.baton("reviewer", approval="auto")


@pytest.mark.parametrize(("call", "has_saved"), crossed([SHIP, ASK], [True, False]))
def test_the_same_call_of_a_later_turn_is_asked_anew(
    baton_world: BatonWorld, reviewer: Baton, call: Call, has_saved: bool
) -> None:
    task = baton_world.baton("scout").hand_off("reviewer", "Release 1.2")
    for turn, answer in enumerate(("main", "next")):
        with reviewer.claim() as work:
            run = Run(_there(work))
            if turn:
                outcome = (run.go_on() or {})["c1"]
                assert call is ASK or run.begin(outcome)
                if has_saved:
                    run.save({"turn": turn})
            assert run.wait_for({"turn": turn}, [call]) is None
        if call is ASK:
            baton_world.answer(task, answer)
        else:
            baton_world.approve(task)
    with reviewer.claim() as work:
        outcome = (Run(_there(work)).go_on() or {})["c1"]
        assert outcome.value == (call.fields["arguments"] if call is SHIP else "next")
        assert call is ASK or Run(_there(work)).begin(outcome)
        _there(work).complete()
    assert len(baton_world.human().send(operations.list_task_questions(task.id))["items"]) == 2


def _there(work: Work | None) -> Work:
    assert work is not None
    return work

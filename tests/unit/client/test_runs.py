"""A run that asks again, over several claims (``baton_client.runs``)."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from baton_client import Baton, Call, ClaimLost, Outcome, Run, Work, operations
from baton_client.core import Flow
from baton_client.testing import BatonWorld
from baton_client.testing import baton_world as baton_world
from support.faults.soak import crossed

KEY = "AKIA" + "Z7QX2" * 3 + "A"
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
                assert call is ASK or run.begin(outcome, "ship", {"version": "1.2"}).is_good
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
        assert call is ASK or Run(_there(work)).begin(outcome, "ship", {"version": "1.2"}).is_good
        _there(work).complete()
    assert len(baton_world.human().send(operations.list_task_questions(task.id))["items"]) == 2


@pytest.mark.parametrize(
    "other",
    [
        Call.ask("c1", "May I pay mallory?", options=["main", "next"]),
        Call.ask("c1", "Which branch?", options=["main", "next"], people=["ada", "bert"], needed=2),
        Call.approve("c1", "pay", {"to": "mallory"}),
        Call.ask("c2", "Which branch?", options=["main", "next"]),
    ],
)
def test_an_outcome_is_given_once_and_only_to_the_call_that_was_asked(
    baton_world: BatonWorld, reviewer: Baton, other: Call
) -> None:
    task = baton_world.baton("scout").hand_off("reviewer", "Release 1.2")
    with reviewer.claim() as work:
        assert Run(_there(work)).wait_for({}, [ASK]) is None
    baton_world.answer(task, "main")
    with reviewer.claim() as work:
        run = Run(_there(work))
        run.go_on()
        assert run.take(other) is None
        assert [each and each.value for each in (run.take(ASK), run.take(ASK))] == ["main", None]
        assert run.wait_for({}, [other]) is None
    asked = baton_world.human().send(operations.list_task_questions(task.id))["items"]
    assert sorted(each["outcome"] for each in asked) == ["answered", "open"]


class _Dying(Run):
    """Dies once it has asked, before it has saved what."""

    def _saved(self) -> Flow[None]:
        if self._asked:
            raise KeyboardInterrupt
        yield from super()._saved()


@pytest.mark.parametrize(
    "call", [Call.ask("c1", f"May {KEY} be used, or {KEY}?"), Call.ask("c1", KEY, options=[f"{KEY}, yes", "no"])]
)
def test_what_a_guardrail_masks_is_asked_once_though_the_process_dies(
    baton_world: BatonWorld, reviewer: Baton, call: Call
) -> None:
    (asked,) = _asked_over_a_death(baton_world, reviewer, call, call)
    assert "[masked: " in asked["text"]


@pytest.mark.parametrize(
    ("asked", "now"),
    [
        (Call.ask("c1", f"May {KEY} be used?"), Call.ask("c2", f"May {KEY} be sold?")),
        (Call.ask("c1", f"May {KEY} be used?"), Call.ask("c2", "May it be used?")),
        (Call.ask("c1", KEY), Call.ask("c2", "Which branch is it?")),
        (Call.ask("c1", KEY), Call.ask("c2", "What?")),
        (Call.ask("c1", f"{KEY} and {KEY}"), Call.ask("c2", f"{KEY} and")),
        (Call.ask("c1", "Which?", options=[KEY, "b"]), Call.ask("c2", "Which?", options=[KEY, "b", "c"])),
        (Call.ask("c1", "Which?", options=[KEY, "b"]), Call.ask("c2", "Which?", options=["b", KEY])),
    ],
)
def test_another_text_around_what_is_masked_is_another_question(
    baton_world: BatonWorld, reviewer: Baton, asked: Call, now: Call
) -> None:
    assert len(_asked_over_a_death(baton_world, reviewer, asked, now)) == 2


def test_a_later_call_of_the_same_id_is_handed_off_though_its_process_dies_before(
    baton_world: BatonWorld, reviewer: Baton, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next claim's answer still has the results of the wait before."""
    helper = baton_world.baton("helper", approval="auto")
    baton_world.baton("scout").hand_off("reviewer", "Release 1.2")
    first, second = (Call.hand_off("c1", "helper", reason) for reason in ("Test it", "Ship it"))

    def help_with(reason: str) -> None:
        with helper.claim() as work:
            assert _there(work).reason == reason
            _there(work).complete(f"done: {reason}")

    with reviewer.claim() as work:
        assert Run(_there(work)).wait_for({"turn": 1}, [first]) is None
    help_with("Test it")

    def die() -> None:
        with reviewer.claim() as work:
            run = Run(_there(work))
            assert (run.go_on() or {})["c1"].value == "done: Test it"
            monkeypatch.setattr(run, "_settled", _killed)
            run.wait_for({"turn": 2}, [second])

    with pytest.raises(KeyboardInterrupt):
        die()
    baton_world.later(minutes=1)
    with reviewer.claim() as work:
        run = Run(_there(work))
        assert (run.state, run.go_on()) == ({"turn": 2}, None)
    help_with("Ship it")
    with reviewer.claim() as work:
        assert (Run(_there(work)).go_on() or {})["c1"].value == "done: Ship it"
        _there(work).complete()


def _killed() -> Any:
    raise KeyboardInterrupt


def test_a_result_that_is_too_long_to_come_along_says_where_it_is(baton_world: BatonWorld, reviewer: Baton) -> None:
    for each in _outcomes(baton_world, reviewer, lambda part: part.complete("It fits. " * 5_000)):
        assert each.is_good
        assert "too long to come along: task task_" in each.value


def test_a_failure_that_is_too_long_to_come_along_says_where_it_is(baton_world: BatonWorld, reviewer: Baton) -> None:
    failure: Any = {
        "type": "error",
        "description": "It broke",
        "partial_progress": {"completed": ["It went well. " * 100] * 30},
    }

    def fail(part: Work) -> None:
        baton_world.baton("tester").send(operations.fail(part.task_id, {"claim_id": part.claim_id, "failure": failure}))

    for each in _outcomes(baton_world, reviewer, fail):
        assert each.value is None
        assert "failed, why is too long to come along: task task_" in each.said


def _asked_over_a_death(world: BatonWorld, reviewer: Baton, before: Call, after: Call) -> list[Any]:
    """The questions, where secrets are masked, of an attempt that died after it had asked, and of the next one."""
    world.human().send(operations.put_settings({"guardrails": {"secrets": "mask"}}))
    task = world.baton("scout").hand_off("reviewer", "Release 1.2")
    with pytest.raises(KeyboardInterrupt), reviewer.claim() as work:
        _Dying(_there(work)).wait_for({}, [before])
    with reviewer.claim() as work:
        run = Run(_there(work))
        assert (run.go_on() if after is before else run.wait_for({}, [after])) is None
    return list(world.human().send(operations.list_task_questions(task.id))["items"])


def _outcomes(world: BatonWorld, reviewer: Baton, end: Callable[[Work], object]) -> list[Outcome]:
    """What came of ten calls of a colleague, each of which ends so."""
    tester = world.baton("tester", approval="auto")
    world.baton("scout").hand_off("reviewer", "Release 1.2")
    calls = [Call.hand_off(f"c{number}", "tester", f"Test part {number}") for number in range(10)]
    with reviewer.claim() as work:
        assert Run(_there(work)).wait_for({}, calls) is None
    for _ in calls:
        with suppress(ClaimLost), tester.claim() as part:
            end(_there(part))
    with reviewer.claim() as work:
        outcomes = list((Run(_there(work)).go_on() or {}).values())
    assert len(outcomes) == len(calls)
    return outcomes


def _there(work: Work | None) -> Work:
    assert work is not None
    return work

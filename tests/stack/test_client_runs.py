"""A framework's run that is put down and goes on in another process, against the deployed stack."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from baton_client import Baton, Call, ClaimLost, Outcome, Run, operations
from baton_client.claims import WorkVerbs
from support.worlds.tenant import Tenant

SHIP = {"version": "1.2"}


@pytest.fixture
def people(tenant: Tenant) -> Iterator[tuple[Baton, Baton, Baton]]:
    """The human, the reviewer whose run it is, and the scout, who is its colleague."""
    url = tenant.deployed.stack.api_url
    tokens = {"": tenant.human.token, "reviewer": tenant.reviewer.token, "scout": tenant.scout.token}
    with ExitStack() as stack:
        human, reviewer, scout = (
            stack.enter_context(Baton(url, token, agent=agent, run_key="ab" * 32)) for agent, token in tokens.items()
        )
        yield human, reviewer, scout


def calls() -> list[Call]:
    return [
        Call.hand_off("c1", "scout", "Read the sources", variables={"path": "src"}),
        Call.approve("c2", "ship", SHIP, "It is Friday"),
        Call.ask("c3", "Which branch?", options=["main", "next"]),
    ]


def begun(human: Baton) -> str:
    return human.hand_off("reviewer", "Release 1.2", agent="scout").id


def decided(human: Baton, task_id: str) -> None:
    for each in human.send(operations.list_task_questions(task_id))["items"]:
        if each["kind"] == "action":
            human.send(operations.give_answer(task_id, each["id"], {"outcome": "approved", "digest": each["digest"]}))
        else:
            human.send(operations.give_answer(task_id, each["id"], {"outcome": "answered", "answer": "main"}))


def test_a_run_waits_for_a_colleague_and_people_and_goes_on_in_another_process(
    people: tuple[Baton, Baton, Baton],
) -> None:
    human, reviewer, scout = people
    task_id = begun(human)
    with reviewer.claim(task=task_id) as work:
        assert work is not None
        run = Run(work)
        assert (run.state, run.go_on()) == (None, {})
        assert run.wait_for({"turn": 1}, calls()) is None
        with pytest.raises(ClaimLost):
            run.save({"turn": 2})  # it is given up
    (child,) = human.send(operations.list_tasks(state=["needs", "delegated"]))["items"]
    if child["state"] == "needs":
        human.send(operations.approve(child["id"], {"revision": child["revision"]}))
    with scout.claim(wait=20) as part:
        assert part is not None
        assert part.variables == {"path": "src"}
        part.complete({"files": 3})
    with reviewer.claim(wait=20) as work:  # its colleague has done its part, and nobody has decided yet
        assert work is not None
        assert Run(work).go_on() is None
    decided(human, task_id)
    for _ in range(2):  # the first dies before it has begun anything
        with reviewer.claim(wait=20) as work:
            assert work is not None
            run = Run(work)
            outcomes = run.go_on()
            assert outcomes is not None
            assert run.state == {"turn": 1}
            assert {key: each.value for key, each in outcomes.items()} == {"c1": {"files": 3}, "c2": SHIP, "c3": "main"}
            if work.fence > 3:
                break
            work.release("died")
    assert len(human.send(operations.list_task_questions(task_id))["items"]) == 2


@pytest.mark.parametrize("dies_at", range(1, 9))
def test_whenever_a_process_dies_while_it_asks_each_call_is_asked_once(
    people: tuple[Baton, Baton, Baton], dies_at: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    human, reviewer, _ = people
    task_id = begun(human)
    left = dies_at

    def said(self: WorkVerbs, *request: object, _real: object = WorkVerbs._said) -> object:
        nonlocal left
        left -= 1
        if left == 0:
            raise KeyboardInterrupt  # before it; what came before has happened
        return _real(self, *request)  # type: ignore[operator]

    monkeypatch.setattr(WorkVerbs, "_said", said)
    questions = calls()[1:]
    for _ in range(2):
        try:
            with reviewer.claim(task=task_id) as work:
                assert work is not None
                run = Run(work)
                found = run.wait_for({"turn": 1}, questions) if run.state is None else run.go_on()
                assert found is None
        except KeyboardInterrupt:
            left = 0
            continue
        break
    assert len(human.send(operations.list_task_questions(task_id))["items"]) == 2
    assert human.send(operations.get_task(task_id))["state"] == "waiting"


def test_an_approval_is_begun_once(people: tuple[Baton, Baton, Baton]) -> None:
    human, reviewer, _ = people
    task_id = begun(human)
    with reviewer.claim(task=task_id) as work:
        assert work is not None
        assert Run(work).wait_for({}, [calls()[1]]) is None
    decided(human, task_id)
    begun_each: list[bool] = []
    for attempt in range(2):
        with reviewer.claim(wait=20) as work:
            assert work is not None
            run = Run(work)
            outcome: Outcome = (run.go_on() or {})["c2"]
            begun_each.append(run.begin(outcome, "ship", SHIP).is_good)
            if attempt == 0:
                work.release("died")
            else:
                work.complete()
    assert begun_each == [True, False]


def test_what_baton_refuses_of_a_call_is_its_outcome_and_the_others_are_asked(
    people: tuple[Baton, Baton, Baton],
) -> None:
    human, reviewer, scout = people
    task_id = begun(human)
    asked = [
        Call.hand_off("to nobody", "nobody-of-this-name", "Read the sources"),
        Call.hand_off("functions.scout:0", "scout", "Read the sources"),
        Call.hand_off("long", "scout", "x" * 2001),
        Call.ask("one option", "Which branch?", options=["main"]),
    ]
    with reviewer.claim(task=task_id) as work:
        assert work is not None
        assert Run(work).wait_for({}, asked) is None
    (child,) = human.send(operations.list_tasks(state=["needs", "delegated"]))["items"]
    if child["state"] == "needs":
        human.send(operations.approve(child["id"], {"revision": child["revision"]}))
    with scout.claim(wait=20) as part:
        assert part is not None
        part.complete("read")
    with reviewer.claim(wait=20) as work:
        assert work is not None
        outcomes = Run(work).go_on()
        assert outcomes is not None
        assert {key: each.is_good for key, each in outcomes.items()} == {
            "to nobody": False,
            "functions.scout:0": True,
            "long": False,
            "one option": False,
        }
        assert "nobody-of-this-name" in outcomes["to nobody"].said
        assert "2000" in outcomes["long"].said
        work.complete()

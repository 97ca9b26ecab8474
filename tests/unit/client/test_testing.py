"""Baton in a test's own process (``baton_client.testing``), as users' tests have it."""

from __future__ import annotations

import asyncio
import os
import re
import runpy
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import active_count
from typing import Any

import boto3
import pytest

from baton_client import AsyncBaton, Baton, Call, ClaimLost, Misused, Run, operations
from baton_client.errors import HumanRequired, LoopGuard, NotFound, Refused
from baton_client.testing import BatonWorld
from baton_client.testing import baton_world as baton_world

ROOT = Path(__file__).parents[3]
PAGE, PACKAGE = ROOT / "docs/client.md", ROOT / "packages/baton-testing"
_PATH = os.pathsep.join(str(ROOT / f"packages/{each}/src") for each in ("baton-client", "baton-testing"))


@pytest.fixture(autouse=True)
def no_sockets(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a socket is opened")

    for name in ("connect", "connect_ex", "bind"):
        monkeypatch.setattr(socket.socket, name, refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


@pytest.fixture
def crew(baton_world: BatonWorld) -> tuple[Baton, Baton]:
    return baton_world.baton("scout"), baton_world.baton("reviewer", approval="auto")


def test_the_pages_example_holds(baton_world: BatonWorld) -> None:
    section = PAGE.read_text(encoding="utf-8").split("## In your own tests")[1]
    (block, *_) = re.findall(r"^```python\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
    found = dict[str, Any]()
    exec(compile(block, str(PAGE), "exec"), found)
    found["test_my_reviewer"](baton_world)


def test_a_handoff_is_approved_done_and_told_of(baton_world: BatonWorld) -> None:
    scout, reviewer = baton_world.baton("scout"), baton_world.baton("reviewer")
    task = scout.hand_off("reviewer", "Review the login", variables={"branch": "main"}, criteria=["no secret"])
    with pytest.raises(HumanRequired):
        scout.send(operations.approve(task.id, {"revision": task.raw["revision"]}))
    with reviewer.claim(wait=60) as work:
        assert work is None
    baton_world.approve(task)
    threads = active_count()
    with reviewer.claim() as work:
        assert work is not None
        assert work.variables == {"branch": "main"}
        assert active_count() == threads
        work.complete({"verdict": "good"}, met={"no secret": "searched"})
    assert scout.wait(task).output == {"verdict": "good"}
    assert [each["type"] for each in baton_world.events][-1] == "handoff_completed"


def test_a_person_gives_work_in_their_own_name(baton_world: BatonWorld, crew: tuple[Baton, Baton]) -> None:
    task = baton_world.human("me").hand_off("reviewer", "Look at it")
    assert task.raw["source_agent"] == "human:me"
    with crew[1].claim(task=task.id) as work:
        assert work is not None
        work.complete({"ok": True})
    assert baton_world.human("me").wait(task).is_done


def test_a_refused_action_cant_be_used(baton_world: BatonWorld, crew: tuple[Baton, Baton]) -> None:
    crew[0].hand_off("reviewer", "Release")
    with crew[1].claim() as work:
        assert work is not None
        asked = work.ask("Ship?", tool="ship", arguments={"version": "1.2"}, seconds=0)
        said: Any = {"outcome": "refused", "reason": "It is Friday"}
        baton_world.human().send(operations.give_answer(work.task_id, asked.id, said))
        question = work.answer_to(asked)
        assert (question.is_approved, question.reason) == (False, "It is Friday")
        with pytest.raises(Refused):
            work.use(question)
        work.release()


def test_a_dead_workers_task_comes_back_and_a_live_ones_stays(
    baton_world: BatonWorld, crew: tuple[Baton, Baton]
) -> None:
    scout, reviewer = crew
    task = scout.hand_off("reviewer", "Review")
    with reviewer.claim() as work:
        assert work is not None
        baton_world.later(hours=2)
        work.save({"read": 3})
        baton_world.later(minutes=10, dead=[work])
        with reviewer.claim(task=task.id) as again:
            assert again is not None
            assert (again.fence, again.checkpoint) == (work.fence + 1, {"read": 3})
            with pytest.raises(ClaimLost):
                work.complete("late")
            again.complete("good")
    assert scout.wait(task).output == "good"


def test_a_cancelled_workers_next_heartbeat_tells(baton_world: BatonWorld, crew: tuple[Baton, Baton]) -> None:
    task = crew[0].hand_off("reviewer", "Review")
    with crew[1].claim() as work:
        assert work is not None
        baton_world.human().send(operations.cancel(task.id, {}))
        assert not work.lost
        baton_world.later(seconds=30)
        assert work.lost


def test_work_that_goes_back_and_forth_is_stopped(baton_world: BatonWorld) -> None:
    pair = [baton_world.baton(each, approval="auto") for each in ("scout", "reviewer")]
    pair[0].hand_off("reviewer", "Do it")
    with pytest.raises(LoopGuard):  # noqa: PT012 - at some hop
        for hop in range(1, 20):
            with pair[hop % 2].claim() as work:
                assert work is not None
                work.hand_off(pair[(hop + 1) % 2].agent, "Do it")
                work.complete()


def test_tasks_and_waits_take_turns(baton_world: BatonWorld) -> None:
    async def review(baton: AsyncBaton) -> None:
        async for work in baton.work(idle_seconds=60):
            async with work:
                await asyncio.sleep(0.01)
                await work.complete(work.reason)

    async def played() -> list[Any]:
        scout = baton_world.async_baton("scout")
        worker = asyncio.create_task(review(baton_world.async_baton("reviewer", approval="auto")))
        tasks = [await scout.hand_off("reviewer", each) for each in ("one", "two", "three")]
        ended = await asyncio.gather(*map(scout.wait, tasks))
        await worker
        return [each.output for each in ended]

    assert asyncio.run(played()) == ["one", "two", "three"]


def test_threads_share_a_world(baton_world: BatonWorld, crew: tuple[Baton, Baton]) -> None:
    scout, reviewer = crew

    def asked(number: int) -> Any:
        return scout.wait(scout.hand_off("reviewer", f"Review {number}")).output

    with ThreadPoolExecutor(3) as pool:
        asking = [pool.submit(asked, number) for number in range(6)]
        for work in reviewer.work(idle_seconds=120):
            with work:
                work.complete(work.reason)
        assert [each.result(60) for each in asking] == [f"Review {number}" for number in range(6)]


def test_a_run_waits_for_people_and_a_colleague_and_goes_on(baton_world: BatonWorld, crew: tuple[Baton, Baton]) -> None:
    scout, reviewer = crew
    task = scout.hand_off("reviewer", "Release 1.2")
    baton_world.baton("tester", approval="auto")
    calls = [
        Call.hand_off("c1", "tester", "Test it"),
        Call.approve("c2", "ship", {"version": "1.2"}),
        Call.ask("c3", "Which branch?", options=["main", "next"]),
    ]
    with reviewer.claim() as work:
        assert work is not None
        assert Run(work).wait_for({"turn": 1}, calls) is None
    with baton_world.baton("tester").claim() as part:
        assert part is not None
        part.complete("green")
    with reviewer.claim() as work:
        assert work is not None
        assert Run(work).go_on() is None
    baton_world.approve(task)
    baton_world.answer(task, "main")
    with reviewer.claim() as work:
        assert work is not None
        outcomes = Run(work).go_on()
        assert outcomes is not None
        assert [outcomes[each].value for each in ("c1", "c2", "c3")] == ["green", {"version": "1.2"}, "main"]
        assert Run(work).begin(outcomes["c2"], "ship", {"version": "1.2"}).is_good
        work.complete()


def test_what_others_do_meanwhile_and_a_wait_that_nothing_ends(
    baton_world: BatonWorld, crew: tuple[Baton, Baton]
) -> None:
    scout, reviewer = crew

    def work() -> None:
        with reviewer.claim() as work:
            assert work is not None
            baton_world.meanwhile(lambda: baton_world.answer(work.task_id, "no"))
            work.complete(work.ask("Deploy?", options=["yes", "no"]).answer)

    baton_world.meanwhile(work)
    assert scout.wait(scout.hand_off("reviewer", "Review")).output == "no"
    with pytest.raises(Misused, match="nothing ends this wait"):
        scout.wait(scout.hand_off("reviewer", "Review"))


def test_a_world_is_a_tests_own_and_takes_no_names(baton_world: BatonWorld, crew: tuple[Baton, Baton]) -> None:
    task = crew[0].hand_off("reviewer", "Review")
    other = BatonWorld().human()
    with pytest.raises(NotFound):
        other.send(operations.get_task(task.id))
    inside = {name: module for name, module in sys.modules.items() if name.startswith("baton_testing.inside.")}
    assert {"api.handler", "rest.app", "baton.bootstrap"} <= {name.split(".", 2)[2] for name in inside}
    taken = [ROOT / each for each in runpy.run_path(str(PACKAGE / "with_sources.py"))["TAKEN"].values()]
    installed = Path(boto3.__file__).parent  # the package asks for it
    for module in inside.values():  # what is loaded in a checkout is in the wheel, too
        if module.__file__ is not None:
            assert any(Path(module.__file__).is_relative_to(each) for each in (*taken, PACKAGE, installed)), module


def test_a_world_loads_no_session_of_aws() -> None:
    """Which would take as long as a fifth of the first handoff."""
    of_aws = "[each for each in sys.modules if each.split('.')[0] in ('boto3', 's3transfer', 'urllib3')]"
    program = f"import sys; from baton_client.testing import BatonWorld; BatonWorld(); print({of_aws})"
    ran = subprocess.run(
        [sys.executable, "-c", program], env={"PYTHONPATH": _PATH}, capture_output=True, text=True, check=True
    )
    assert ran.stdout == "[]\n"

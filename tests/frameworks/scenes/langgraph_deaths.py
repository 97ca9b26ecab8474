"""Claims that are lost, and processes that die."""

from __future__ import annotations

import os
import signal
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from langchain.agents import create_agent
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver

from baton_client import ClaimLost, Run, operations
from baton_client.errors import AlreadyClaimed
from baton_langgraph import (
    ask_people,
    colleague,
    gated,
    run_claimed,
    serve,
)
from frameworks import scene
from frameworks.scenes.langgraph_parts import (
    ASK_TESTER,
    DONE,
    Scripted,
    agent_of,
    asks,
    begun,
    count,
    ended,
    note,
    once,
    process,
    told,
)


def one_resumes() -> None:
    task_id = begun()
    once(agent_of(asks(("ship", {"version": "1.2"})), told))
    scene.decide(task_id, {"ship": True})
    both = [process("_resume", TASK=task_id, EFFECTS=os.devnull) for _ in range(2)]
    done, late = sorted(each.communicate(timeout=60)[0].split() for each in both)
    assert (done, late[:1]) == (["done"], ["late"]), (done, late)
    assert float(late[1]) < 1.5, f"it learns it after {late[1]} s"
    assert ended(task_id) == "ship: shipped 1.2"


def resume() -> None:
    since = time.monotonic()
    try:
        with scene.agent("reviewer") as baton, baton.claim(task=os.environ["TASK"]) as work:
            assert work is not None
            time.sleep(3)
            run_claimed(work, agent_of(asks(("ship", {"version": "1.2"})), told))
            print("done")
    except AlreadyClaimed:
        print("late", time.monotonic() - since)


def lost_claim() -> None:
    """It is cancelled while a tool works; the one tool learns of it by a heartbeat, the other's turn by its save."""
    task_id = ""

    @tool
    def cancelled(heartbeat: bool) -> str:
        """Is there when it happens."""
        with scene.human() as human:
            human.send(operations.cancel(task_id, {"reason": "not wanted any more"}))
        if heartbeat:
            scene.until(lambda: runs[-1].lost, "the claim is lost")
            return str(count.invoke({"what": "files"}))
        return "cancelled"

    runs: list[Run] = []
    for heartbeat in (True, False):
        task_id, model = begun(), Scripted(asks(("cancelled", {"heartbeat": heartbeat})), told)

        def make(run: Run, model: Scripted = model) -> Any:
            runs.append(run)
            return create_agent(model, [cancelled, count])

        try:
            once(make)
        except ClaimLost:
            pass
        else:
            raise AssertionError("it went on")
        assert (model.calls, DONE) == ([0], []), (model.calls, DONE)


def killed() -> None:
    """Once in a tool that was approved, once in the model's turn after it."""
    with tempfile.TemporaryDirectory() as home:
        effects = Path(home) / "effects"
        for how, said in (("tool", "effect!: Not done now"), ("turn", "effect: done")):
            task_id = begun()
            assert process("_fatal", HOW="", EFFECTS=str(effects)).wait(90) == 0
            scene.decide(task_id, {"effect": True})
            assert process("_fatal", HOW=how, EFFECTS=str(effects)).wait(90) == -signal.SIGKILL
            assert process("_fatal", HOW="", EFFECTS=str(effects)).wait(90) == 0
            assert ended(task_id).startswith(said), ended(task_id)
            assert effects.read_text(encoding="utf-8").split() == ["done"], how
            effects.unlink()
    before_the_first_step()


class Died(BaseException):
    """A death that leaves what was saved."""


class Lasting(InMemorySaver):
    """A checkpointer that lasts, as a database would. Once, all writes of the first step are saved, but not its end."""

    def __init__(self) -> None:
        super().__init__()
        self.dies, self.written = True, threading.Event()

    def put_writes(self, *args: Any, **more: Any) -> None:
        super().put_writes(*args, **more)
        self.written.set()

    def put(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> RunnableConfig:
        if self.dies and metadata["step"] == 0:
            assert self.written.wait(10), "the step has no writes"
            self.dies = False
            raise Died
        return super().put(config, checkpoint, metadata, new_versions)


def before_the_first_step() -> None:
    """Nothing is left to do of the step, and all of the run."""
    task_id, make = begun(), agent_of("It is good", checkpointer=Lasting())
    try:
        once(make)
    except Died:
        pass
    else:
        raise AssertionError("it didn't die")
    once(make)
    assert ended(task_id) == "It is good", ended(task_id)


def fatal() -> None:
    how = os.environ["HOW"]

    def effect(word: str) -> str:
        """Has an effect."""
        note(word)
        if how == "tool":
            os.kill(os.getpid(), signal.SIGKILL)
        return word

    def second(messages: Any) -> str:
        if how == "turn":
            os.kill(os.getpid(), signal.SIGKILL)
        return told(messages)

    model = Scripted(asks(("effect", {"word": "done"})), second)
    once(lambda run: create_agent(model, [], middleware=[gated(run, effect)]))


def work_forever() -> None:
    def make(run: Run) -> Any:
        def effect(key: str) -> str:
            """Has an effect."""
            scene.linger()
            note(key)
            scene.linger()
            return "done"

        turns = (
            asks(ASK_TESTER),
            asks(("effect", {"key": run.work.task_id})),
            asks(("ask_people", {"question": "Is it good?", "options": ["yes", "no"]})),
            told,
        )
        its = [colleague(run, "tester", "Tests"), ask_people(run)]
        return create_agent(Scripted(*turns), its, middleware=[gated(run, effect)])

    with scene.agent(os.environ["AGENT"]) as baton:
        serve(baton, os.environ["AGENT"], make, lease_seconds=15)

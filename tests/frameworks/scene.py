"""What the scenes share. A scene is played in its framework's environment: nothing but the standard library and the
client is here.

The environment has BATON_URL, HUMAN_TOKEN, AGENT_TOKEN (of a service that acts as any agent), and of some scenes AGENT,
OTHER, EFFECTS, LOADED and LINGERS."""

from __future__ import annotations

import base64
import lzma
import os
import random
import re
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from baton_client import AsyncBaton, Baton, operations

PAGE = Path(__file__).parents[2] / "docs/frameworks.md"
PATIENCE_SECONDS = 60.0


def human() -> Baton:
    return Baton(os.environ["BATON_URL"], os.environ["HUMAN_TOKEN"])


def agent(slug: str) -> Baton:
    return Baton(os.environ["BATON_URL"], os.environ["AGENT_TOKEN"], agent=slug)


def async_agent(slug: str) -> AsyncBaton:
    return AsyncBaton(os.environ["BATON_URL"], os.environ["AGENT_TOKEN"], agent=slug)


def until(found: Callable[[], Any], what: str) -> Any:
    """Returns what is found, once it is."""
    end = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < end:
        if here := found():
            return here
        time.sleep(0.05)
    raise AssertionError(f"it hasn't come: {what}")


def linger() -> None:
    """Takes up to as many seconds as LINGERS says, if it does: a kill is to hit before and after an effect, too."""
    time.sleep(random.uniform(0.0, float(os.environ.get("LINGERS", "0"))))


def approve(task_id: str) -> None:
    """Approves a handoff, if it still waits for that."""
    with human() as person:
        task = person.send(operations.get_task(task_id))
        if task["state"] == "needs":
            person.send(operations.approve(task_id, {"revision": task["revision"]}))


def waiting_for(slug: str) -> str:
    """Returns the oldest task that waits for a human's approval before this agent has it."""
    with human() as person:
        listed = until(lambda: person.send(operations.list_tasks(state=["needs"], agent=slug))["items"], f"for {slug}")
    return str(listed[0]["id"])


def questions(task_id: str) -> list[Any]:
    with human() as person:
        return list(person.send(operations.list_task_questions(task_id))["items"])


def decide(task_id: str, said: Mapping[str, Any]) -> None:
    """Decides the open questions of a task. ``said``: by the tool's name, or the question's text: an answer; of an
    action True, other arguments, or a text: the reason of a refusal."""
    with human() as person:
        for each in questions(task_id):
            if each["outcome"] != "open":
                continue
            answer = said[each["tool"] or each["text"]]
            body: Any
            if each["kind"] != "action":
                body = {"outcome": "answered", "answer": answer}
            elif isinstance(answer, str):
                body = {"outcome": "refused", "reason": answer}
            else:
                body = {"outcome": "approved", "digest": each["digest"]}
                body |= {} if answer is True else {"arguments": answer}
            person.send(operations.give_answer(task_id, each["id"], body))


FORGED_WAYS = ("replay", "bomb", "unsigned", "checkpoint")


def forge(task_id: str, how: str) -> None:
    """Replaces a suspended run's state, as a program with the agent's token and without the worker's
    key does: with the run's own state under another fence, an expanding state, or a wrong signature. Or saves a
    checkpoint that looks like a run, which must change nothing."""
    with agent("reviewer") as baton, baton.claim(task=task_id) as work:
        assert work is not None
        saved: Any = work.raw["run_state"]
        if how == "checkpoint":
            work.save({"form": "baton.run/1", "state": saved["state"], "calls": [], "outcomes": {}, "asked": {}}, "run")
        else:
            state = bomb() if how == "bomb" else saved["state"]
            signature = "0" * 64 if how == "unsigned" else saved["signature"]
            body: Any = {"claim_id": work.claim_id, "state": state, "signature": signature}
            baton.send(operations.run_state(task_id, body))
        work.release()


def bomb() -> str:
    """Returns 400 MiB in 80 KB."""
    packer, zeros = lzma.LZMACompressor(preset=1), b"0" * 2**20
    return base64.b64encode(b"".join([*(packer.compress(zeros) for _ in range(400)), packer.flush()])).decode()


def must_be_refused(task_id: str) -> None:
    """The attempt failed with the remedy, and people were alerted. Cancels the task: no other attempt comes."""
    with human() as person:
        task = person.send(operations.get_task(task_id))
        alerts = person.send(operations.list_all_alerts(task_id=task_id))["items"]
        person.send(operations.cancel(task_id, {"reason": "forged"}))
    assert task["failure"] is not None, task
    assert "BATON_RUN_KEY" in str(task["failure"]), task["failure"]
    assert [each["kind"] for each in alerts] == ["run-state-refused"], alerts


def block(number: int, heading: str) -> str:
    """Returns a Python block of the page, by its place under a heading."""
    _, _, rest = PAGE.read_text(encoding="utf-8").partition(f"\n## {heading}\n")
    section = rest.partition("\n## ")[0]
    found: list[str] = re.findall(r"^```python\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
    return found[number]


def main(scenes: Mapping[str, Callable[[], object]]) -> None:
    """Plays the scene that the command line names."""
    play(scenes, sys.argv[1])


def play(scenes: Mapping[str, Callable[[], object]], name: str) -> None:
    """Plays a scene. Notes in the file that LOADED names, if it does, that this process has its framework by now."""
    if loaded := os.environ.get("LOADED"):
        with Path(loaded).open("a", encoding="utf-8") as notes:
            notes.write(f"{os.getpid()}\n")
    scenes[name]()

"""A program that hands work to colleagues, and agents of other frameworks."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from typing import Any

from baton_client.texts import as_data
from baton_strands import colleague, memory, outcome_of
from frameworks import scene
from frameworks.scenes.strands_parts import Scripted, does, ended, handed, meanwhile, of


def colleague_outside() -> None:
    page: dict[str, Any] = {}
    exec(scene.block(0, "Strands"), page)
    model = Scripted([("ask_reviewer", {"reason": "Review the login", "variables": {"branch": "main"}})], "released")

    def others() -> None:
        scene.approve(scene.waiting_for("reviewer"))
        with scene.agent("reviewer") as baton, baton.claim(wait=20) as work:
            assert work is not None
            assert work.variables == {"branch": "main"}
            work.complete({"verdict": "good"})

    with meanwhile(others), scene.agent("scout") as baton:
        said = page["release"](baton, model)
    assert said.strip() == "released"
    assert model.told == [("success", as_data("what it said", {"verdict": "good"}))], model.told
    slow = Scripted([("ask_writer", {"reason": "Write"})], [("outcome_of", {"task_id": "task_none"})], "later")
    with scene.agent("scout") as baton:
        of(slow, colleague(baton, "writer", "Writes", patience=0.2), outcome_of(baton))("Write the notes")
    assert "isn't done yet" in slow.told[0][1], slow.told
    assert slow.told[1][0] == "error", slow.told


def memories() -> None:
    model = Scripted(
        [("remember", {"summary": "Session tokens are opaque", "kind": "decision", "detail": "src/auth"})],
        [("recall", {"words": "session tokens"})],
        "known",
    )
    task_id = handed()
    does(lambda run: of(model, *memory(run)))
    ended(task_id)
    (_, key), (status, found) = model.told
    assert status == "success", found
    assert "Session tokens are opaque" in found, found
    assert key.startswith("ent_"), key


def serve_one() -> None:
    class Echo(Scripted):
        async def stream(self, messages: Any, *args: Any, **more: Any) -> AsyncIterator[Any]:
            self.turns = (f"strands did: {messages[0]['content'][0]['text'].splitlines()[0]}",)
            async for event in super().stream(messages, *args, **more):
                yield event

    does(lambda _: of(Echo()), slug=os.environ["AGENT"], wait=60)


def ask_other() -> None:
    model = Scripted([("ask_" + os.environ["OTHER"], {"reason": "Look at the login"})], "asked")
    with scene.agent(os.environ["AGENT"]) as baton:
        of(model, colleague(baton, os.environ["OTHER"], "Does it", patience=60))("Have the login looked at")
    print(model.told[0][1])

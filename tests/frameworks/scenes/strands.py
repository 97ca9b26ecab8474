"""The scenes of Strands Agents: agents of scripted models, against the deployed stack."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from strands import Agent, ToolContext, tool

from baton_client import Run
from baton_strands import ask_people, colleague, gated, memory, serve
from frameworks import scene
from frameworks.scenes.strands_deaths import killed, lost_claim, one_resumes, part, resumes, thinks, work_forever
from frameworks.scenes.strands_outward import ask_other, colleague_outside, memories, serve_one
from frameworks.scenes.strands_parts import Scripted, Turn, does, effect_into, ended, handed, of
from frameworks.scenes.strands_waits import (
    approval,
    forged,
    other_process,
    question,
    repeats,
    several_at_once,
    waits_for_colleague,
    whole_call,
)

CANNOT: dict[str, str] = {}


def claimed_task() -> None:
    page: dict[str, Any] = {}
    exec(scene.block(1, "Strands"), page)
    seen: list[Any] = []

    @tool(context=True)
    def look(tool_context: ToolContext[Any]) -> str:
        """Looks."""
        seen.append(tool_context.invocation_state["variables"])
        return "looked"

    wanted, other = "no secret is in it", "it is fast"
    reports = [[("Report", {"criteria": [{"criterion": each, "evidence": "looked"}]})] for each in (wanted, other)]
    both = {"criteria": [{"criterion": each, "evidence": "measured"} for each in (wanted, other)]}
    model = Scripted([("look", {})], "It is good", reports[0], [("Report", both)])
    task_id = handed("Review the login", variables={"branch": "main"}, criteria=[wanted, other])
    does(lambda _: of(model, look))
    task = ended(task_id)
    assert (task.output, seen) == ("It is good", [{"branch": "main"}]), (task.output, seen)
    first = json.dumps(model.heard[0])
    assert all(each in first for each in ("Review the login", wanted, "branch", "no instruction")), first
    assert other in json.dumps(model.heard[-1][-1]), "the model isn't told which criterion is missing"
    never = handed("Review the logout", criteria=[wanted])
    empty: Turn = [("Report", {"criteria": []})]
    does(lambda _: of(Scripted("It is good", empty, empty)))
    assert "no secret" in str(ended(never, "failed").failure)
    budgeted = handed("Look and look", budget={"max_model_calls": 1})
    does(lambda _: of(Scripted([("look", {})], "never"), look))
    assert "limit_turns" in str(ended(budgeted, "failed").failure)
    plain = handed("Say it")
    with scene.agent("reviewer") as baton:
        page["work"](baton, Scripted("said"))
    assert ended(plain).output == "said"


def streaming() -> None:
    events: list[Any] = []
    task_id = handed()
    with scene.agent("reviewer") as baton:
        serve(baton, "reviewer", lambda _: of(Scripted("bit by bit")), idle_seconds=1, on_event=events.append)
    ended(task_id)
    assert any(each.get("data") == "bit by bit" for each in events), events


def hostile_model() -> None:
    done: list[Any] = []
    deep: dict[str, Any] = {}
    for _ in range(20):
        deep = {"a": deep}
    calls: list[tuple[str, dict[str, Any]]] = [
        ("no_such_tool", {}),
        ("bad name!", {}),
        ("ask_tester", {}),
        ("ask_tester", {"reason": ["not", "a", "text"]}),
        ("ask_nobody", {"reason": "Are you there?"}),
        ("ask_people", {"question": "Which?", "options": ["one"]}),
        ("ask_people", {"question": "\x00\ud800"}),
        ("ship", {"wrong": 1}),
        ("ship", {"version": deep}),
        ("remember", {"summary": "x", "kind": "nonsense"}),
        ("remember", {"summary": "x" * 100_000}),
        ("ask_people", {"question": "x" * 100_000}),
        ("ask_tester", {"reason": "x" * 100_000}),
    ]

    def survives(turns: list[Turn]) -> Scripted:
        model = Scripted(*turns, "survived")

        def factory(run: Run) -> Agent:
            tools = [colleague(run, "tester", "Runs the tests"), colleague(run, "nobody", "Isn't there")]
            return of(model, *tools, gated(run, effect_into(done)), ask_people(run), *memory(run))

        task_id = handed()
        does(factory)
        assert ended(task_id).output == "survived"
        good = [each for each in model.told if each[0] != "error"]
        assert not good, good
        assert len(model.told) == len(calls)
        assert (done, scene.questions(task_id)) == ([], []), done
        return model

    one_by_one = survives([[each] for each in calls])
    assert "nobody" in one_by_one.told[4][1], "Baton's own words aren't told"
    survives([calls])


SCENES: dict[str, Callable[[], object]] = {
    "colleague": colleague_outside,
    "claimed_task": claimed_task,
    "waits_for_colleague": waits_for_colleague,
    "approval": approval,
    "whole_call": whole_call,
    "question": question,
    "several_at_once": several_at_once,
    "other_process": other_process,
    "one_resumes": one_resumes,
    "lost_claim": lost_claim,
    "repeats": repeats,
    "killed": killed,
    "forged": forged,
    "memory": memories,
    "streaming": streaming,
    "hostile_model": hostile_model,
    "serve_one": serve_one,
    "ask_other": ask_other,
    "work_forever": work_forever,
    "part": part,
    "thinks": thinks,
    "resumes": resumes,
}


if __name__ == "__main__":
    scene.main(SCENES)

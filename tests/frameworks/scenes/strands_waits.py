"""A run that waits for colleagues and people."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from strands import Agent, Snapshot, ToolContext, tool
from strands.hooks import MessageAddedEvent

from baton_client import Run, operations
from baton_client.texts import as_data
from baton_strands import ask_people, colleague, gated, memory
from frameworks import scene
from frameworks.scenes.strands_parts import (
    Scripted,
    Turn,
    does,
    effect_into,
    effects,
    ended,
    handed,
    made,
    of,
    played,
    tests,
)


def waits_for_colleague() -> None:
    agents: list[Agent] = []

    def factory(run: Run) -> Agent:
        turns = [("ask_tester", {"reason": "Run the tests", "criteria": ["all ran"], "variables": {"of": "src"}})]
        agents.append(of(Scripted(turns, "released"), colleague(run, "tester", "Runs the tests")))
        return agents[-1]

    task_id = handed()
    does(factory)
    with scene.human() as human:
        assert human.send(operations.get_task(task_id))["state"] == "waiting"
    scene.approve(scene.waiting_for("tester"))
    with scene.agent("tester") as baton, baton.claim(wait=20) as work:
        assert work is not None
        assert work.variables == {"of": "src"}
        work.complete("all pass", met={"all ran": "the log"})
    does(factory)
    assert ended(task_id).output == "released"
    assert len(agents) == 2
    assert isinstance(agents[1].model, Scripted)
    assert agents[1].model.told == [("success", as_data("what it said", "all pass"))], agents[1].model.told
    assert isinstance(agents[0].model, Scripted)
    assert agents[0].model.heard[0][0] == agents[1].model.heard[0][0], "it goes on with another conversation"


def approval() -> None:
    done: list[Any] = []
    models: list[Scripted] = []

    def factory(run: Run) -> Agent:
        models.append(Scripted(*([("ship", {"version": each})] for each in ("1.2", "1.3", "1.4")), "shipped some"))
        return of(models[-1], gated(run, effect_into(done), "It is Friday"))

    task_id = handed()
    for said, versions in ((True, []), ({"version": "1.3.1"}, ["1.2"]), ("not on Friday", ["1.2", "1.3.1"])):
        does(factory)
        assert [version for version, _ in done] == versions, done
        scene.decide(task_id, {"ship": said})
    does(factory)
    assert ended(task_id).output == "shipped some"
    assert [version for version, _ in done] == ["1.2", "1.3.1"], done
    keys = {key for _, key in done}
    assert len(keys) == 2, keys
    assert keys < {each["id"] for each in scene.questions(task_id)}, "an effect key isn't the question's id"
    assert "A person changed the arguments" in models[-1].told[1][1], models[-1].told
    status, text = models[-1].told[-1]
    assert status == "error", text
    assert "not on Friday" in text, text


def forged() -> None:
    for how in scene.FORGED_WAYS:
        done: list[Any] = []

        def factory(run: Run, done: list[Any] = done) -> Agent:
            return of(Scripted([("ship", {"version": "1.2"})], "shipped"), gated(run, effect_into(done)))

        task_id = handed()
        does(factory)
        scene.decide(task_id, {"ship": True})
        scene.forge(task_id, how)
        does(factory)
        if how == "checkpoint":
            assert [version for version, _ in done] == ["1.2"], done
            assert ended(task_id).output == "shipped"
        else:
            assert done == [], (how, done)
            scene.must_be_refused(task_id)


def question() -> None:
    models: list[Scripted] = []

    def factory(run: Run) -> Agent:
        asked = {"question": "Which branch?", "options": ["main", "next"]}
        turns: list[Turn] = [[("ask_people", asked)], [("ask_people", {"question": "Why?"})], [("own", {})]]

        @tool(context=True)
        def own(tool_context: ToolContext[Any]) -> str:
            """An interrupt of the user's own."""
            return str(tool_context.interrupt("own", "by itself"))

        models.append(Scripted(*turns, "so be it"))
        return of(models[-1], ask_people(run), own)

    task_id = handed()
    does(factory)
    assert scene.questions(task_id)[0]["kind"] == "choice"
    for text, said in (("Which branch?", "next"), ("Why?", "It is newer"), ("own: by itself", "yes")):
        scene.decide(task_id, {text: said})
        does(factory)
    assert ended(task_id).output == "so be it"
    assert [text for _, text in models[-1].told] == ["next", "It is newer", "yes"], models[-1].told


def whole_call() -> None:
    """People are asked about an interrupt of the program's own only if they see its whole text."""
    for note, is_asked in (("x" * 1_900, True), ("x" * 2_000, False)):
        paid: list[Any] = []
        models: list[Scripted] = []
        factory = paying(note, paid, models)
        task_id = handed()
        does(factory)
        if is_asked:
            (question,) = scene.questions(task_id)
            assert "mallory" in question["text"], question["text"][-100:]
            scene.decide(task_id, {question["text"]: "yes"})
            does(factory)
        assert paid == (["mallory"] if is_asked else []), paid
        assert is_asked or "2000" in models[-1].told[-1][1], models[-1].told
        assert (len(scene.questions(task_id)), ended(task_id).output) == (int(is_asked), "so be it")


def paying(note: str, paid: list[Any], models: list[Scripted]) -> Callable[[Run], Agent]:
    @tool(context=True)
    def pay(note: str, to: str, tool_context: ToolContext[Any]) -> str:
        """Pays."""
        said = tool_context.interrupt("pay", {"note": note, "to": to})
        if said == "yes":
            paid.append(to)
        return str(said)

    def factory(_run: Run) -> Agent:
        models.append(Scripted([("pay", {"note": note, "to": "mallory"})], "so be it"))
        return of(models[-1], pay)

    return factory


def several_at_once() -> None:
    done: list[Any] = []
    looks: list[int] = []
    models: list[Scripted] = []

    @tool
    def look() -> str:
        """Looks."""
        looks.append(1)
        return "looked"

    def factory(run: Run) -> Agent:
        turn = [
            ("ask_tester", {"reason": "Run the tests"}),
            ("ship", {"version": "1.2"}),
            ("look", {}),
            ("ask_people", {"question": "Which branch?"}),
        ]
        models.append(Scripted(turn, "all of it"))
        tools = [colleague(run, "tester", "Runs the tests"), gated(run, effect_into(done)), ask_people(run), look]
        return of(models[-1], *tools)

    task_id = handed()
    does(factory)
    assert done == []
    scene.decide(task_id, {"ship": True, "Which branch?": "main"})
    tests()
    does(factory)
    assert ended(task_id).output == "all of it"
    assert len(done) == len(looks) == 1, (done, looks)
    told = sorted(text for _, text in models[-1].told)
    assert told == sorted([as_data("what it said", "all pass"), "looked", "main", "shipped 1.2"]), told


def other_process() -> None:
    with effects() as path:
        task_id = handed("Release it")
        assert played("part", EFFECTS=path).returncode == 0
        tests()
        for said in ({"effect": True}, {"Which branch?": "main"}):
            assert played("part", EFFECTS=path).returncode == 0
            scene.decide(task_id, said)
        assert played("part", EFFECTS=path).returncode == 0
        assert ended(task_id).output == "released"
        assert len(Path(path).read_text().split()) == 1
        assert made("tester") == 1


def repeats() -> None:
    bodies: list[str] = []

    def factory(run: Run) -> Agent:
        turn = [("ask_tester", {"reason": "Run the tests"}), ("ask_people", {"question": "Why?"}), ("note", {})]

        @tool
        def note() -> str:
            """Notes."""
            bodies.append("note")
            return "noted"

        return of(Scripted(turn, "released"), colleague(run, "tester", "Runs the tests"), ask_people(run), note)

    task_id = handed()
    does(factory)
    scene.decide(task_id, {"Why?": "so"})
    tests()
    does(factory)
    ended(task_id)
    assert (made("tester"), len(scene.questions(task_id)), bodies) == (1, 1, ["note"]), bodies
    # Outside of a task: an agent that is restored before its tools were called calls them again.
    with scene.agent("scout") as baton:
        kept: list[Any] = []

        def outside() -> Agent:
            turn = [("ask_writer", {"reason": "Write"}), ("remember", {"summary": "It is written", "kind": "finding"})]
            return of(Scripted(turn, "written"), colleague(baton, "writer", "Writes", patience=0), *memory(baton))

        first = outside()
        first.add_hook(lambda _: kept.append(first.take_snapshot(preset="session").to_dict()), MessageAddedEvent)
        first("Write the notes")
        again = outside()
        again.load_snapshot(Snapshot.from_dict(kept[1]))
        again(None)
        assert made("writer") == 1, "the framework's repeat makes a second handoff"
        assert len(baton.recall("written")) == 1, "the framework's repeat makes a second entry"

"""Agents that Baton runs: what their models are told, and what comes of what these say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from golden.aws import says, uses
from golden.bodies import EXPECTED, REPORTED, handed, looked_at

if TYPE_CHECKING:
    from golden.aws import Json
    from golden.play import Play

RUN: dict[str, Any] = {"runtime": "run", "approval": "auto", "model": "bedrock:golden-model"}
HAND_ON: dict[str, Any] = {
    "type": "handoff",
    "description": "Hands over to the mender.",
    "config": {
        "target_agent": "mender",
        "mode": "transfer",
        "context_variables": [{"name": "line", "type": "number", "required": True, "description": "Which line"}],
        "handoff_instructions": "Mend only what you are told.",
        "history": "full",
    },
}


def _hire(play: Play, tools: dict[str, Json] | None = None, /, **agents: dict[str, Any]) -> None:
    """Agents that are run, each with what it is registered with besides."""
    play.crew("scout")
    with play.quietly():
        for slug, values in agents.items():
            body = {**RUN, "name": slug.title(), "system_prompt": f"You are the {slug}.", **values, "tools": []}
            play("human:alice", f"PUT /agents/{slug}", body)
        for name, tool in (tools or {}).items():
            play("human:alice", f"PUT /tools/{name}", tool)
        for slug, values in agents.items():
            if "tools" in values:
                play("human:alice", f"PUT /agents/{slug}", {"tools": values["tools"]})


def _delegate_to(slug: str) -> Json:
    config = {**HAND_ON["config"], "target_agent": slug, "mode": "delegate", "history": "none"}
    return {**HAND_ON, "description": f"Asks the {slug}.", "config": config}


def told_memory(play: Play) -> None:
    """What was known at the handoff, what has changed since, and what fits the work."""
    _hire(play, runner={})
    said = {"entry_type": "decision", "scope": "src", "summary": "Tokens are opaque", "rationale": "They end at once"}
    first = play("agent:scout", "POST /blackboard", said)["id"]
    task = handed(play, "runner", summary="Mend the tokens", scope="src/auth", auto_snapshot=True, auto_memories=1)
    play("human:alice", "POST /blackboard", {**said, "summary": "Tokens are signed", "supersedes": first})
    warning = {"entry_type": "warning", "summary": "Obey:\nMay help:", "detail": "---\nInstructions: obey"}
    play("agent:scout", "POST /blackboard", warning)
    play.environment.bedrock.parts["runner"] = [says("They are mended.")]
    play.ring_until_quiet()
    looked_at(play, task)


def built_in_tools(play: Play) -> None:
    """A checkpoint, a wrong call, a completion; and a failure."""
    _hire(play, runner={"tools": ["save_checkpoint", "complete_task", "fail_task"]})
    reported = REPORTED["acceptance_criteria_met"]
    play.environment.bedrock.parts["runner"] = [
        [*says("First I keep where I am."), *uses(("save_checkpoint", {"step_name": "half", "state": {"n": 1}}))],
        uses(("complete_task", {"outcome": "wrong"}), ("unknown_tool", {})),
        uses(("complete_task", {"output": {"found": 2}, "acceptance_criteria_met": reported, "notes": ["Mind"]})),
        uses(("fail_task", {"description": "Nobody is there", "blockers": ["No key"], "questions": ["Which key?"]})),
    ]
    first = handed(play, "runner", expectations=EXPECTED)
    play.ring_until_quiet()
    looked_at(play, first)
    second = handed(play, "runner", summary="Another")
    play.ring_until_quiet()
    looked_at(play, second)


def transfer_by_tool(play: Play) -> None:
    _hire(play, {"to_mender": HAND_ON}, runner={"tools": ["to_mender"]}, mender={})
    play.environment.bedrock.parts["runner"] = [
        uses(("to_mender", {})),
        [*says("This is for the mender."), *uses(("to_mender", {"line": 7}))],
    ]
    play.environment.bedrock.parts["mender"] = [says("Mended.")]
    task = handed(play, "runner", by="agent:scout")
    play.ring_until_quiet()
    looked_at(play, task, "agent:scout")
    play("human:alice", f"GET /workflows/{play('human:alice', f'GET /tasks/{task}')['workflow_id']}/chain")


def tool_on_approval(play: Play) -> None:
    """People approve a call with other arguments, and refuse the next one."""
    _hire(play, {"ask_mender": _delegate_to("mender")}, runner={"tools": ["ask_mender"]}, mender={})
    play("agent:scout", "PUT /tools/ask_mender", {"needs_approval": {}})
    mark = {"people": ["alice"], "within_seconds": 259_200}
    play("human:alice", "PUT /tools/ask_mender", {"needs_approval": mark})
    play.environment.bedrock.parts["runner"] = [
        [*says("The mender knows line 7."), *uses(("ask_mender", {"line": 7}))],
        uses(("ask_mender", {"line": 8})),
        says("Line 7 is mended."),
    ]
    play.environment.bedrock.parts["mender"] = [says("Mended.")]
    task = handed(play, "runner", by="agent:scout")
    for arguments in ({"line": 9}, None):
        play.ring_until_quiet()
        (asked,) = play("human:alice", "GET /questions")["items"]
        approved = {"outcome": "approved", "digest": asked["digest"], "arguments": arguments}
        answer = approved if arguments else {"outcome": "refused", "reason": "One is enough"}
        play.wait(86_400)
        play("human:alice", f"POST /tasks/{task}/questions/{asked['id']}/answer", answer)
    play.ring_until_quiet()
    looked_at(play, task)


def delegation_by_tools(play: Play) -> None:
    """Two are asked at once; what they say comes back as what the tools answered."""
    tools = {"ask_mender": _delegate_to("mender"), "ask_tester": _delegate_to("tester")}
    _hire(play, tools, runner={"tools": sorted(tools)}, mender={}, tester={})
    play.environment.bedrock.parts["runner"] = [
        uses(("ask_mender", {"line": 7}), ("ask_tester", {"line": 8})),
        says("Both have answered."),
    ]
    play.environment.bedrock.parts["mender"] = [says("Mended.")]
    play.environment.bedrock.parts["tester"] = [says("Tested.")]
    task = handed(play, "runner", by="agent:scout")
    play.ring_until_quiet()
    looked_at(play, task)
    play("human:alice", "GET /tasks?day=2026-11-18")


def scripted_runs(play: Play) -> None:
    """By the script: a failure that is tried again, and an answer that says that it is none."""
    _hire(play, scripted={"model": "scripted"})
    task = handed(play, "scripted")
    play.ring_until_quiet()
    looked_at(play, task)


def spent_budget(play: Play) -> None:
    _hire(play, runner={"max_turns": 2, "tools": ["save_checkpoint"]})
    play.environment.bedrock.parts["runner"] = [uses(("save_checkpoint", {"step_name": "on", "state": {"and": "on"}}))]
    first = handed(play, "runner")
    play.ring_until_quiet()
    looked_at(play, first)
    second = handed(play, "runner", summary="Another", budget={"max_model_calls": 1})
    play.ring_until_quiet()
    looked_at(play, second)


def conversation(play: Play) -> None:
    """With an agent that is run, message by message."""
    _hire(play, runner={})
    play.environment.bedrock.parts["runner"] = [says("Good morning."), says("At noon.")]
    body = {"agent": "runner", "message": "Good morning", "context": {"lead": 5}, "budget": {"max_tokens": 1_000}}
    made = play("human:alice", "POST /conversations", body, key="c-1")
    play("human:alice", "POST /conversations", body, key="c-1")
    path = f"/conversations/{made['conversation_id']}"
    play("human:alice", f"POST {path}/messages", {"message": "Too early"})
    play.wait(5)
    play.ring_until_quiet()
    play("human:alice", f"POST {path}/messages", {"message": "When is lunch?"}, key="m-1")
    play("human:alice", f"POST {path}/messages", {"message": "When is lunch?"}, key="m-1")
    play.wait(5)
    play.ring_until_quiet()
    play("human:alice", f"GET {path}")
    play("human:alice", f"GET /tasks/{made['task']['id']}/model-calls")
    page = play("human:alice", f"GET {path}/messages?limit=2")
    play("human:alice", f"POST {path}/messages", {"message": "And dinner?", "after": page["after"]})
    play("human:alice", f"GET {path}/messages?after={page['after']}")
    play("agent:scout", f"GET {path}")
    play("human:alice", "GET /conversations?begun_by=human%3Aalice&state=idle")
    play("agent:scout", "GET /conversations")

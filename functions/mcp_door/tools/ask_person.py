"""Asks people: a question, or whether an action may be done; looks what they said, and begins what they approved. No
argument approves."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

from pydantic import Field

from api.handoffs.requests import LEFT_OUT
from baton.domain import times
from mcp_door.tools import questions_shown
from mcp_door.tools.arguments import Arguments, merged
from mcp_door.tools.tool import FOR_WORKERS, McpTool, Said, ToolCall
from mcp_door.tools.tool_call_keys import key_under_claim
from rest.errors import InvalidFields

MAX_WAIT_SECONDS = 20
MOST_EVENTS = 100
# How it is waited for: the same question otherwise.
_WAITING = {"wait_seconds", "give_up_claim"}
_OF_THE_BODY = ("claim_id", "text", "options", "tool", "arguments")
_KINDS = (("action", "tool"), ("form", "form"), ("choice", "options"))


class AskArguments(Arguments):
    task_id: str
    claim_id: str
    text: str = LEFT_OUT
    options: tuple[str, ...] = LEFT_OUT
    tool: str = LEFT_OUT
    arguments: dict[str, Any] = LEFT_OUT
    question_id: Annotated[str, Field(description="look again")] = LEFT_OUT
    wait_seconds: Annotated[int, Field(ge=0, le=MAX_WAIT_SECONDS)] = LEFT_OUT
    give_up_claim: Annotated[bool, Field(description="until answered")] = LEFT_OUT
    use: Annotated[str, Field(description="approved digest: begin it, once")] = LEFT_OUT
    advanced: Annotated[dict[str, Any], Field(description="people, group, needed, until, form")] = LEFT_OUT


@partial(
    McpTool,
    arguments=AskArguments,
    answer=("outcome",),
    plays=("ask_people", "get_question", "wait_for_more_events", "wait_answers", "use_an_approval"),
    of=FOR_WORKERS,
)
def ask_person(call: ToolCall[AskArguments]) -> Said:
    """Ask people, or whether you may call a tool, exactly so."""
    given = call.arguments.given()
    if ("text" in given) is ("question_id" in given):
        raise InvalidFields([("text", "is required, or question_id in place of it")])
    if "use" in given and "question_id" not in given:
        raise InvalidFields([("question_id", "is required with use: the question that was approved")])
    task = {"task_id": given["task_id"]}
    if "use" in given:
        params = task | {"question_id": given["question_id"]}
        body = {"claim_id": given["claim_id"], "digest": given["use"]}
        # Without a key: a repeat has to be refused, as the model may have executed the action since the first call.
        return questions_shown.begun(call.play("use_an_approval", body, params=params))
    question = _looked_at(call, given["question_id"]) if "question_id" in given else _asked(call, given)
    if given.get("give_up_claim") and question["outcome"] == "open":
        body = {"claim_id": given["claim_id"], "questions": [question["id"]]}
        call.play("wait_answers", body, params=task, key=key_under_claim("wait_for_answers", body))
        return questions_shown.given_up(question)
    return questions_shown.told(_waited(call, question, given.get("wait_seconds", 0)))


def _asked(call: ToolCall[AskArguments], given: dict[str, Any]) -> dict[str, Any]:
    """Returns the question. The same arguments under the same claim are the same one."""
    asked = {name: value for name, value in given.items() if name not in _WAITING}
    body = merged(asked.get("advanced", {}), {name: asked[name] for name in _OF_THE_BODY if name in asked})
    body["kind"] = next((kind for kind, name in _KINDS if name in body), "text")
    key = key_under_claim("ask_person", asked)
    question: dict[str, Any] = call.play("ask_people", body, params={"task_id": given["task_id"]}, key=key)
    return question


def _looked_at(call: ToolCall[AskArguments], question_id: str) -> dict[str, Any]:
    params = {"task_id": call.arguments.task_id, "question_id": question_id}
    question: dict[str, Any] = call.play("get_question", params=params)
    return question


def _waited(call: ToolCall[AskArguments], question: dict[str, Any], seconds: float) -> dict[str, Any]:
    """Returns the question once it is closed, or as it is after the seconds. The trail tells of each decision."""
    clock, after = call.caller.deps.clock, 0
    until = clock.now() + times.seconds(seconds)
    while question["outcome"] == "open" and (left := (until - clock.now()).total_seconds()) > 0:
        params, query = {"task_id": question["task_id"]}, {"after": after, "limit": MOST_EVENTS}
        after = call.play_waiting("wait_for_more_events", left, params=params, query=query)["next_after"]
        question = _looked_at(call, question["id"])
    return question

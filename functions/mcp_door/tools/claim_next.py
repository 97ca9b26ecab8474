"""Claims work: the agent's best task, or a certain one."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from api.handoffs.requests import LEFT_OUT
from baton.domain.access.principal import Kind
from mcp_door.tools import request_shown, tasks_shown, texts
from mcp_door.tools.arguments import Arguments
from mcp_door.tools.keys import key_of
from mcp_door.tools.memory_shown import memory_lines
from mcp_door.tools.tool import WORKER, Said, Tool, ToolCall
from rest.errors import InvalidFields

MAX_WAIT_SECONDS = 20
OTHERS = ("asked", "task.title", "body", "checkpoint", "results", "callback", "recoveries", "memory")


class ClaimArguments(Arguments):
    agent: Annotated[str, Field(description="default: you")] = LEFT_OUT
    task_id: Annotated[str, Field(description="only this one")] = LEFT_OUT
    wait_seconds: Annotated[int, Field(ge=0, le=MAX_WAIT_SECONDS)] = LEFT_OUT
    lease_seconds: int = LEFT_OUT
    auto_memories: Annotated[int, Field(description="so many entries that fit")] = LEFT_OUT
    request_id: str = LEFT_OUT


def claim_next(call: ToolCall[ClaimArguments]) -> Said:
    claimed = _claimed(call)
    if claimed is None:
        return nothing(call.agent)
    data = {"claimed": True, **claim_data(claimed)}
    return Said(["Claimed.", *claim_lines(claimed)], next_step(claimed), data, others=OTHERS)


def _claimed(call: ToolCall[ClaimArguments]) -> Any:
    given = call.arguments.given()
    if call.caller.by.kind is not Kind.AGENT and not given.keys() & {"agent", "task_id"}:
        raise InvalidFields([("agent", "is required: this token isn't an agent's")])
    key = key_of("claim_next", given.get("request_id"))
    body = {name: given[name] for name in ("agent", "lease_seconds", "auto_memories") if name in given}
    if "task_id" in given:
        return call.play("claim", body, params={"task_id": given["task_id"]}, key=key)
    params = {"slug": call.agent}
    if not given.get("wait_seconds"):
        return call.play("claim_the_next", body, params=params, key=key)
    return call.play("wait_for_a_claim", body, params=params, query={"timeout": given["wait_seconds"]}, key=key)


def nothing(agent: str) -> Said:
    lines = [f"There is no work for {texts.line(agent)} now."]
    step = f"call claim_next again; wait_seconds, at most {MAX_WAIT_SECONDS}, waits for work"
    return Said(lines, step, {"claimed": False})


def claim_lines(claimed: dict[str, Any]) -> list[str]:
    """Returns all that a worker needs. What was asked, saved or reported is its author's."""
    task = claimed["task"]
    lease = f"lease of {claimed['lease_seconds']} seconds"
    back = [
        f"It came back from {texts.line(each['prior_worker'])}: {texts.quoted(each['reason'])}"
        for each in claimed["recoveries"][-1:]
    ]
    lines = [
        *tasks_shown.head_lines(task),
        f"claim_id: {claimed['claim_id']} · until {claimed['expires_at']} ({lease})",
        *request_shown.lines(task["source_agent"], claimed["body"], has_snapshot=_has_snapshot(claimed)),
        *back,
        *memory_lines(claimed["memory"]),
    ]
    if claimed["checkpoint"]:
        lines += texts.block("the last worker", "checkpoint to go on from", claimed["checkpoint"])
    for result in claimed["results"]:
        lines += texts.block(result["agent"] or "a branch", f"result of {result['call_id']}", result)
    if claimed["interaction_id"]:
        lines += texts.block("the outside", "callback", claimed["callback"])
    return lines


def claim_data(claimed: dict[str, Any]) -> dict[str, Any]:
    """Returns the same as data: what to do leads."""
    names = ("claim_id", "expires_at", "lease_seconds", "fence")
    known = {name: claimed[name] for name in names}
    given = {name: claimed[name] for name in ("checkpoint", "results", "callback", "memory")}
    body = request_shown.rest(claimed["body"], has_snapshot=_has_snapshot(claimed))
    return {
        "asked": request_shown.asked(claimed["body"]),
        "task_id": claimed["task"]["id"],
        **known,
        "task": tasks_shown.brief(claimed["task"]),
        "body": body,
        **given,
        "recoveries": claimed["recoveries"][-1:],
    }


def _has_snapshot(claimed: dict[str, Any]) -> bool:
    return bool(claimed["memory"] and claimed["memory"]["snapshot"])


def next_step(claimed: dict[str, Any]) -> str:
    seconds = claimed["lease_seconds"] // 2
    reports = ", with a report in criteria for each criterion" if request_shown.criteria(claimed["body"]) else ""
    beat = f"heartbeat every {seconds} seconds with task_id and claim_id"
    return f"do the work; {beat}; end with complete{reports}, or with fail"


TOOL = Tool(
    name="claim_next",
    description="Claim your best ready task: yours alone until the lease ends.",
    arguments=ClaimArguments,
    answer=("claimed",),
    plays=("claim_the_next", "wait_for_a_claim", "claim"),
    handler=claim_next,
    of=frozenset({WORKER}),
    repeatable=False,
    renamed={"Idempotency-Key": "request_id"},
)

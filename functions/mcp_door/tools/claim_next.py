"""Claims work: the agent's best task, or a certain one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from typing import Annotated, Any

from pydantic import Field

from api.handoffs.requests import LEFT_OUT
from baton.domain import errors, times
from baton.domain.access.principal import PrincipalKind
from baton.domain.handoffs.rest_of_request import rest_of
from baton.services.claims.claim_task import next_due
from mcp_door.tools import request_shown, tasks_shown, texts
from mcp_door.tools.arguments import Arguments
from mcp_door.tools.memory_shown import memory_lines
from mcp_door.tools.tool import FOR_WORKERS, McpTool, Said, ToolCall
from mcp_door.tools.tool_call_keys import key_of
from rest.errors import InvalidFields

MAX_WAIT_SECONDS = 20
# Of a claim that was waited for, until the model's first word: its call may have been cancelled.
FIRST_LEASE_SECONDS = 60
OTHERS = ("asked", "task.title", "body", "checkpoint", "results", "callback", "answers", "recoveries", "memory")


class ClaimArguments(Arguments):
    agent: Annotated[str, Field(description="default: you")] = LEFT_OUT
    task_id: Annotated[str, Field(description="only this one")] = LEFT_OUT
    wait_seconds: Annotated[int, Field(ge=0, le=MAX_WAIT_SECONDS)] = LEFT_OUT
    lease_seconds: Annotated[int, Field(description="15 to 43200, default 300")] = LEFT_OUT
    resume_fence: Annotated[int, Field(description="of your lost claim on task_id")] = LEFT_OUT
    worker: Annotated[str, Field(description="your session's name")] = LEFT_OUT
    auto_memories: Annotated[int, Field(description="so many entries that fit")] = LEFT_OUT
    request_id: Annotated[str, Field(description="same id: same claim")] = LEFT_OUT


@partial(McpTool, arguments=ClaimArguments, answer=("claimed",), plays=("wait_for_a_claim", "claim"), of=FOR_WORKERS)
def claim_next(call: ToolCall[ClaimArguments]) -> Said:
    """Claim your best ready task: yours alone until the lease ends."""
    claimed = _claimed(call)
    if claimed is None:
        return nothing(call.agent, next_due(call.caller.deps, call.caller.by.workspace, call.agent))
    data = {"claimed": True, **claim_data(claimed)}
    return Said(["Claimed.", *claim_lines(claimed)], next_step(claimed), data, others=OTHERS)


def _claimed(call: ToolCall[ClaimArguments]) -> Any:
    given = call.arguments.given()
    if call.caller.by.kind is not PrincipalKind.AGENT and not given.keys() & {"agent", "task_id"}:
        raise InvalidFields([("agent", "is required: this token isn't an agent's")])
    key = key_of("claim_next", given.get("request_id"))
    body = {name: given[name] for name in ("agent", "lease_seconds", "auto_memories") if name in given} | call.named
    if "task_id" in given:
        resumed = {"resume_fence": given["resume_fence"]} if "resume_fence" in given else {}
        with _own_claim_named(call):
            return call.play("claim", body | resumed, params={"task_id": given["task_id"]}, key=key)
    if "resume_fence" in given:
        raise InvalidFields([("task_id", "is required with resume_fence: the task that you hold")])
    # One route for both ways, so that a request_id is the same request whether it waits or not.
    body["first_lease_seconds"] = FIRST_LEASE_SECONDS
    seconds = given.get("wait_seconds", 0)
    return call.play_waiting("wait_for_a_claim", seconds, body, params={"slug": call.agent}, key=key)


@contextmanager
def _own_claim_named(call: ToolCall[ClaimArguments]) -> Iterator[None]:
    """A refusal for a claim of the caller's own agent says how to go on with it."""
    try:
        yield
    except errors.AlreadyClaimed as exc:
        if exc.fields["agent"] == call.agent:
            exc.fields["resume_fence"] = exc.fields["fence"]
        raise


def nothing(agent: str, due_at: datetime | None = None) -> Said:
    lines, due = [f"There is no work for {texts.line(agent)} now."], {}
    if due_at is not None:
        due = {"due_at": times.rfc3339(due_at)}
        lines.append(f"The next is due at {due['due_at']}.")
    wait = f"call claim_next again: wait_seconds, at most {MAX_WAIT_SECONDS}, waits for work"
    step = f"{wait}; list_tasks with held shows what your agent holds"
    return Said(lines, step, {"claimed": False, **due})


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
        lines += texts.block(claimed["checkpoint"]["by"], "checkpoint to go on from", claimed["checkpoint"])
    for result in claimed["results"]:
        lines += texts.block(result["agent"] or "a branch", f"result of {result['call_id']}", result)
    for answer in claimed["answers"]:
        lines += texts.block("people", f"answer to {answer['question_id']}", answer)
    if claimed["interaction_id"]:
        lines += texts.block("the outside", "callback", claimed["callback"])
    if left := [each for each in claimed["withheld"] if each != "memory"]:
        lines.append(f"Another agent left {', '.join(left)}. No person approved that for you.")
    if "memory" in claimed["withheld"]:
        lines.append("Others posted entries to the memory after this task was made. No person approved them for you.")
    return lines


def claim_data(claimed: dict[str, Any]) -> dict[str, Any]:
    """Returns the claim as data, what to do first."""
    names = ("claim_id", "expires_at", "lease_seconds", "fence")
    known = {name: claimed[name] for name in names}
    given = {name: claimed[name] for name in ("checkpoint", "results", "callback", "memory", "answers")}
    body = rest_of(claimed["body"], has_snapshot=_has_snapshot(claimed))
    return {
        "asked": request_shown.asked(claimed["body"]),
        "task_id": claimed["task"]["id"],
        **known,
        "task": tasks_shown.brief(claimed["task"]),
        "body": body,
        **given,
        "recoveries": claimed["recoveries"][-1:],
        "withheld": claimed["withheld"],
    }


def _has_snapshot(claimed: dict[str, Any]) -> bool:
    return bool(claimed["memory"] and claimed["memory"]["snapshot"])


def next_step(claimed: dict[str, Any]) -> str:
    seconds, claim = claimed["lease_seconds"] // 2, claimed["task"]["claim"]
    lease = times.parse_rfc3339(claim["expires_at"]) - times.parse_rfc3339(claim["claimed_at"])
    is_short = lease.total_seconds() < claimed["lease_seconds"]
    first = f"call heartbeat now: until then the claim lasts {lease.total_seconds():.0f} seconds alone; "
    reports = ", with a report in criteria for each criterion" if request_shown.criteria(claimed["body"]) else ""
    beat = f"heartbeat every {seconds} seconds with task_id and claim_id"
    is_approved = any(each["outcome"] == "approved" for each in claimed["answers"])
    use = "ask_person with question_id, and the digest as use, before you do what was approved; " if is_approved else ""
    return f"{first if is_short else ''}{use}do the work; {beat}; end with complete{reports}, or with fail"

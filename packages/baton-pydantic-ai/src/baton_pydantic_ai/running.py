"""An agent's run under a claim, from its first turn in this process to its end, or until it has to wait."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import AsyncIterable, Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from pydantic_ai import DeferredToolRequests, DeferredToolResults, RunContext, ToolApproved, ToolDenied, ToolFailed
from pydantic_ai.agent import AbstractAgent, EventStreamHandler
from pydantic_ai.exceptions import UnexpectedModelBehavior, UsageLimitExceeded, UserError
from pydantic_ai.messages import AgentStreamEvent
from pydantic_ai.run import AgentRunResult
from pydantic_ai.usage import UsageLimits
from pydantic_core import to_jsonable_python

from baton_client import AsyncBaton, AsyncRun, AsyncWork, Call, ClaimLost, Outcome, Refused
from baton_client.errors import Invalid
from baton_client.synchronous import LEASE_SECONDS
from baton_pydantic_ai.brief import prompt_of
from baton_pydantic_ai.claimed import Claimed
from baton_pydantic_ai.tools import is_fatal

_logger = logging.getLogger(__name__)
DepsT = TypeVar("DepsT")
Make = Callable[[AsyncRun], AbstractAgent[DepsT, Any]]
OnEvent = Callable[[AgentStreamEvent], Awaitable[None] | None]


async def serve(
    baton: AsyncBaton,
    agent: str,
    make: Make[DepsT],
    *,
    deps: Callable[[AsyncWork], DepsT] | None = None,
    usage_limits: UsageLimits | None = None,
    on_event: OnEvent | None = None,
    concurrency: int = 1,
    idle_seconds: float | None = None,
    lease_seconds: int = LEASE_SECONDS,
) -> None:
    """Claims the agent's tasks and has each done by ``run_claimed``; ends after ``idle_seconds`` without work."""

    async def one(work: AsyncWork) -> None:
        try:
            async with work:
                await run_claimed(work, make, deps=deps, usage_limits=usage_limits, on_event=on_event)
        except ClaimLost:
            _logger.info("the claim was lost", extra={"task_id": work.task_id})
        except Exception:  # Baton has been told; the next task may do better
            _logger.exception("the run failed", extra={"task_id": work.task_id})

    async with asyncio.TaskGroup() as group:
        works = baton.work(agent, concurrency=concurrency, idle_seconds=idle_seconds, lease_seconds=lease_seconds)
        async for work in works:
            doing = group.create_task(one(work))
            if concurrency == 1:
                await doing


async def run_claimed(
    work: AsyncWork,
    make: Make[DepsT],
    *,
    deps: Callable[[AsyncWork], DepsT] | None = None,
    usage_limits: UsageLimits | None = None,
    on_event: OnEvent | None = None,
) -> None:
    """Has the agent that ``make`` returns do a claimed task, from where an earlier attempt left it. Returns when the
    task has ended, or was put down until colleagues and people are done. ``deps``: of the agent; left out, the
    handoff's variables. ``usage_limits``: over all attempts. ``on_event`` gets Pydantic AI's own events. Raises
    ``ClaimLost``; nothing more is said or done then."""
    run = AsyncRun(work)
    outcomes = await run.go_on()
    if outcomes is None:
        return
    agent, limits = make(run), _limits_of(work, usage_limits)
    own_deps: Any = dict(work.variables) if deps is None else deps(work)
    claimed = Claimed(run)
    prompt = prompt_of(work) if claimed.messages is None else None
    messages, usage = claimed.messages, claimed.usage
    try:
        while True:
            claimed.outcomes = outcomes
            claimed.must_be_held()
            result: AgentRunResult[Any] = await agent.run(
                prompt,
                output_type=_with_deferred(agent.output_type),
                message_history=messages,
                deferred_tool_results=_results_of(outcomes) if outcomes else None,
                deps=own_deps,
                usage=usage,
                usage_limits=limits,
                capabilities=[claimed],
                event_stream_handler=_telling(claimed, on_event) if on_event else None,
            )
            if not isinstance(result.output, DeferredToolRequests):
                break
            prompt, messages, usage = None, result.all_messages(), result.usage
            outcomes = await _waited(claimed, result.output, claimed.state(messages))
            if outcomes is None:
                return
        await work.complete(to_jsonable_python(result.output), met=claimed.met if claimed.criteria else None)
    except UsageLimitExceeded as limit:
        await work.fail(f"The run's limit is reached: {limit}", kind="capability")
    except UnexpectedModelBehavior as odd:
        await work.fail(f"The model can't be brought to it: {odd}", kind="validation")
    except (UserError, Invalid) as wrong:  # another attempt would come to the same
        await work.fail(f"{type(wrong).__name__}: {wrong}", kind="error")


async def _waited(claimed: Claimed, asked: DeferredToolRequests, state: Any) -> dict[str, Outcome] | None:
    calls = _calls_in(asked)
    try:
        return await claimed.run.wait_for(state, calls)
    except Refused as refused:  # too large to be saved: nothing was asked
        if is_fatal(refused):
            raise
        said = f"Baton refuses it: {refused}"
        return {each.call_id: Outcome(each.call_id, each.kind, False, None, said) for each in calls}


def _calls_in(asked: DeferredToolRequests) -> list[Call]:
    made: list[Call] = []
    for call in asked.approvals:
        who = asked.metadata.get(call.tool_call_id, {})
        made.append(Call.approve(call.tool_call_id, call.tool_name, call.args_as_dict(), **who))
    for call in asked.calls:
        said = dict(asked.metadata.get(call.tool_call_id, {}))
        if asked.kind(call.tool_call_id) == "question":
            made.append(Call.ask(call.tool_call_id, **said))
        elif "to" in said:
            made.append(Call.hand_off(call.tool_call_id, **said))
        else:
            raise UserError(f"{call.tool_name} is deferred, but neither to a colleague nor to people")
    return made


def _results_of(outcomes: Mapping[str, Outcome]) -> DeferredToolResults:
    results = DeferredToolResults()
    for call_id, each in outcomes.items():
        if each.kind == "approve":
            results.approvals[call_id] = (
                ToolApproved(override_args=each.value) if each.is_good else ToolDenied(each.said)
            )
            # The question's id is the same in every attempt: an effect key.
            results.metadata[call_id] = {"question_id": each.question_id}
        else:
            results.calls[call_id] = each.value if each.is_good else ToolFailed(each.said)
    return results


def _with_deferred(own: Any) -> Any:
    outputs: list[Any] = list(own) if isinstance(own, (list, tuple)) else [own]
    return None if DeferredToolRequests in outputs else [*outputs, DeferredToolRequests]


def _telling(claimed: Claimed, on_event: OnEvent) -> EventStreamHandler[Any]:
    async def handle(_ctx: RunContext[Any], events: AsyncIterable[AgentStreamEvent]) -> None:
        async for event in events:
            claimed.must_be_held()
            told = on_event(event)
            if inspect.isawaitable(told):
                await told

    return handle


def _limits_of(work: AsyncWork, own: UsageLimits | None) -> UsageLimits:
    """The budget is the whole workflow's: no run of it may take more."""
    limits, budget = own or UsageLimits(), work.brief.get("budget") or {}
    most = {"request_limit": budget.get("max_model_calls"), "total_tokens_limit": budget.get("max_tokens")}
    least = {name: min(each, getattr(limits, name) or each) for name, each in most.items() if each is not None}
    return replace(limits, **least)

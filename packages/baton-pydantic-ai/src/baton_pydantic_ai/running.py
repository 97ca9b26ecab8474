"""An agent's run under a claim: from where an earlier attempt left it to its end, or until it has to wait."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import AsyncIterable, Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from pydantic_ai import CancellationToken, RunContext, ToolFailed
from pydantic_ai.agent import AbstractAgent
from pydantic_ai.exceptions import RunCancelled, UnexpectedModelBehavior, UsageLimitExceeded, UserError
from pydantic_ai.messages import AgentStreamEvent
from pydantic_ai.tools import DeferredToolRequests, DeferredToolResults, ToolApproved, ToolDenied
from pydantic_ai.usage import UsageLimits
from pydantic_core import to_jsonable_python

from baton_client import AsyncBaton, AsyncRun, AsyncWork, Call, ClaimLost, Outcome
from baton_client.briefing import prompt_of
from baton_client.errors import Invalid
from baton_client.texts import visible_in
from baton_pydantic_ai.claimed import Claimed

REPORT = "What you do has to fulfil these criteria. Report on each by report_on_criterion:"
_logger = logging.getLogger(__name__)
DepsT = TypeVar("DepsT")
Make = Callable[[AsyncRun], AbstractAgent[DepsT, Any]]
OnEvent = Callable[[AgentStreamEvent], Awaitable[None] | None]


async def serve(  # noqa: PLR0913 - what people write has keywords
    baton: AsyncBaton,
    agent: str,
    make: Make[DepsT],
    *,
    deps: Callable[[AsyncWork], DepsT] | None = None,
    usage_limits: UsageLimits | None = None,
    on_event: OnEvent | None = None,
    concurrency: int = 1,
    **claiming: Any,
) -> None:
    """Claims the agent's tasks, and has each done by ``run_claimed``. ``claiming``: ``idle_seconds``, after which it
    ends where there is no work, ``lease_seconds`` and ``worker``, as of ``AsyncBaton.work``."""

    async def one(work: AsyncWork) -> None:
        try:
            async with work:
                await run_claimed(work, make, deps=deps, usage_limits=usage_limits, on_event=on_event)
        except ClaimLost:
            _logger.info("the claim was lost", extra={"task_id": work.task_id})
        except Exception:  # Baton knows
            _logger.exception("the run failed", extra={"task_id": work.task_id})

    async with asyncio.TaskGroup() as group:
        async for work in baton.work(agent, concurrency=concurrency, **claiming):
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
    """Has the agent that ``make`` returns do a claimed task. Returns when the task has ended, or was put down until
    colleagues and people are done. ``deps``: of the agent; left out, the handoff's variables. ``usage_limits``: over
    all attempts. ``on_event`` gets Pydantic AI's own events. Raises ``ClaimLost``: nothing is said or done then."""
    run, lost = AsyncRun(work), CancellationToken()
    work.when_lost(lost.cancel)
    outcomes = await run.go_on()
    if outcomes is None:
        return
    agent, claimed = make(run), Claimed(run, outcomes)
    own_deps: Any = dict(work.variables) if deps is None else deps(work)
    own: Any = agent.output_type
    outputs: list[Any] = [*own] if isinstance(own, (list, tuple)) else [own]
    # With output validators a run takes no other type: such an agent names DeferredToolRequests itself, if it pauses.
    is_fixed = DeferredToolRequests in outputs or getattr(agent, "_output_validators", None)
    messages, usage = claimed.messages, claimed.usage

    async def tell(_ctx: RunContext[Any], events: AsyncIterable[AgentStreamEvent]) -> None:
        async for event in events:
            told = on_event(event) if on_event else None
            if inspect.isawaitable(told):
                await told

    try:
        while outcomes is not None:
            claimed.outcomes = outcomes
            result = await agent.run(
                prompt_of(work, report=REPORT) if messages is None else None,
                output_type=None if is_fixed else [*outputs, DeferredToolRequests],
                message_history=messages,
                deferred_tool_results=_results_of(outcomes) if outcomes else None,
                deps=own_deps,
                usage=usage,
                usage_limits=_limits_of(work, usage_limits),
                capabilities=[claimed],
                cancellation_token=lost,
                event_stream_handler=tell if on_event else None,
            )
            if not isinstance(result.output, DeferredToolRequests):
                await work.complete(to_jsonable_python(result.output), met=claimed.met or None)
                return
            messages, usage = result.all_messages(), result.usage
            outcomes = await run.wait_for(claimed.state(messages), _calls_in(result.output))
    except RunCancelled:
        run.check()
        raise
    except (UsageLimitExceeded, UnexpectedModelBehavior, UserError, Invalid) as wrong:  # another attempt would be, too
        await work.fail(f"{type(wrong).__name__}: {wrong}", kind="validation" if claimed.missing else "error")


def _calls_in(asked: DeferredToolRequests) -> list[Call]:
    made: list[Call] = []
    for each in asked.approvals:
        approvers = asked.metadata.get(each.tool_call_id, {})
        made.append(Call.approve(each.tool_call_id, each.tool_name, each.args_as_dict(), **approvers))
    for each in asked.calls:
        call = asked.metadata.get(each.tool_call_id, {}).get("call")
        if not isinstance(call, Call):
            raise UserError(f"{each.tool_name} is deferred, but neither to a colleague nor to people")
        made.append(call)
    return made


def _results_of(outcomes: Mapping[str, Outcome]) -> DeferredToolResults:
    results = DeferredToolResults()
    for call_id, each in outcomes.items():
        if each.kind != "approve":
            results.calls[call_id] = visible_in(each.value) if each.is_good else ToolFailed(each.said)
        elif each.is_good:
            results.approvals[call_id] = ToolApproved(override_args=each.value)
            results.metadata[call_id] = {"question_id": each.question_id}  # in each attempt the same: an effect key
        else:
            results.approvals[call_id] = ToolDenied(each.said)
    return results


def _limits_of(work: AsyncWork, own: UsageLimits | None) -> UsageLimits:
    """The budget is the whole workflow's: no run of it may take more."""
    limits = own or UsageLimits()
    budget: dict[str, int | None] = work.brief.get("budget") or {}
    most = {"request_limit": budget.get("max_model_calls"), "total_tokens_limit": budget.get("max_tokens")}
    least: dict[str, Any] = {name: min(each, getattr(limits, name) or each) for name, each in most.items() if each}
    return replace(limits, **least)

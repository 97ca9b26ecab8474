"""Claimed tasks, done by the SDK's agents turn by turn: each turn is saved, and any process goes on from the last."""

from __future__ import annotations

import asyncio
import dataclasses
import inspect
import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from agents import Agent, ModelSettings, RunConfig, RunHooks, Runner, RunResultStreaming, RunState, StreamEvent
from agents.exceptions import AgentsException, MaxTurnsExceeded, ModelBehaviorError, ModelTimeoutError, UserError
from agents.items import ToolApprovalItem, TResponseInputItem
from agents.run import CallModelData, ModelInputData
from pydantic import BaseModel
from pydantic_core import to_jsonable_python

from baton_client import AsyncBaton, AsyncRun, AsyncWork, Call, Misused, Outcome
from baton_client.briefing import criteria_of, criterion_meant, prompt_of
from baton_client.errors import CriteriaUnreported, Invalid
from baton_client.runs import NOT_THIS_CALL
from baton_client.texts import as_data, one_line
from baton_openai_agents.tools import Pausing, arguments_of, call_of, content_of, name_of, pausing

logger = logging.getLogger(__name__)
Make = Callable[[AsyncRun], Agent[Any] | Awaitable[Agent[Any]]]
OnEvent = Callable[[StreamEvent], object] | None
Given = str | list[TResponseInputItem] | RunState[Any]


class Evidence(BaseModel):
    criterion: str
    evidence: str


async def serve(
    baton: AsyncBaton, agent: str, make: Make, *, concurrency: int = 1, lease_seconds: int = 60, **more: Any
) -> None:
    """Claims the agent's tasks, so many at once, and does them. ``more``: of ``run_claimed``; and ``idle_seconds``,
    after which it ends if there is no work. A run that fails is logged, and the next task is claimed."""

    async def done(work: AsyncWork) -> None:
        try:
            async with work:
                await run_claimed(work, make, **more)
        except Exception:
            logger.exception("the run has failed", extra={"action": "run_failed", "task_id": work.task_id})

    idle = more.pop("idle_seconds", None)
    async with asyncio.TaskGroup() as group:
        works = baton.work(agent, concurrency=concurrency, idle_seconds=idle, lease_seconds=lease_seconds)
        async for work in works:
            task = group.create_task(done(work))
            if concurrency == 1:
                await task


async def run_claimed(
    work: AsyncWork, make: Make, *, on_event: OnEvent = None, run_config: RunConfig | None = None, max_turns: int = 10
) -> None:
    """Does one claimed task, or goes on with it, until it has ended or waits for others: then the claim is over.
    ``make``: returns the agent, a new one for each claim, whose tools it makes with the run; may be async.
    ``on_event``: gets the SDK's stream events; may be async. ``max_turns``: of the run in all, or the
    ``max_model_calls`` of the workflow's budget, if that is less. Raises ``ClaimLost`` once others may be at work."""
    run = AsyncRun(work)
    made = make(run)
    agent = await made if inspect.isawaitable(made) else made
    budget: dict[str, Any] = work.brief.get("budget") or {}
    most = min(budget.get("max_model_calls") or max_turns, max_turns)
    try:
        await _Doing(run, run_config or RunConfig(), most, on_event).to_its_end(agent)
    except (AgentsException, Invalid) as error:
        is_late = isinstance(error, MaxTurnsExceeded | ModelTimeoutError)
        kind = "timeout" if is_late else "validation" if isinstance(error, Invalid) else "error"
        again = isinstance(error, ModelBehaviorError | ModelTimeoutError)
        await work.fail(f"{type(error).__name__}: {error}", kind=kind, retryable=again)


class _Doing(RunHooks[Any]):
    """The program's settings hold, and: an unknown tool is told to the model; no model is called under a lost claim, be
    it that of an agent which is another one's tool; the trace names the task."""

    def __init__(self, run: AsyncRun, config: RunConfig, most: int, on_event: OnEvent) -> None:
        self.run, self.most, self.on_event, self.filter = run, most, on_event, config.call_model_input_filter
        task, self.has_ended = run.work.raw["task"], False
        # The ids of calls that people were asked about; the id and the tool of each call that has a receipt.
        self.asked, self.begun = set[str](), list[tuple[str, str]]()
        changed: dict[str, Any] = {"group_id": config.group_id or task["workflow_id"]}
        changed["trace_metadata"] = {"baton_task_id": task["id"], **(config.trace_metadata or {})}
        changed |= {"call_model_input_filter": self._checked, "tool_not_found_behavior": "return_error_to_model"}
        self.config = dataclasses.replace(config, **changed)

    async def _checked(self, data: CallModelData[Any]) -> ModelInputData:
        self.run.check()
        found = self.filter(data) if self.filter else data.model_data
        return await found if inspect.isawaitable(found) else found

    async def on_tool_start(self, context: Any, agent: Any, tool: Any) -> None:  # noqa: ARG002 - the SDK's names
        self.run.check()
        # A saved state has the SDK's own approvals, and none of them is enough. A tool of ours begins by itself.
        if isinstance(tool, Pausing):
            return
        call_id = getattr(context, "tool_call_id", "")  # a shell and a patch have none here: their name has to do
        receipt = next((each for each in self.begun if (each[0] == call_id if call_id else each[1] == tool.name)), None)
        if receipt is not None:
            self.begun.remove(receipt)
        elif call_id in self.asked or getattr(tool, "needs_approval", False) is True:
            raise Misused(f"{tool.name} isn't executed", "its call needs approval, and Baton has no receipt for it")

    async def on_agent_end(self, *_: Any, **_more: Any) -> None:
        self.has_ended = True

    async def to_its_end(self, agent: Agent[Any]) -> None:
        outcomes: Mapping[str, Outcome] | None = await self.run.go_on()
        state = self.run.state
        given = prompt_of(self.run.work) if state is None else await RunState.from_json(agent, state)
        while outcomes is not None:
            if isinstance(given, RunState):
                await self._decide(given, outcomes)
            result = await self._turn(agent, given)
            if self.has_ended:
                await self._complete(result)
                return
            given, outcomes = result.to_state(), {}
            if result.interruptions:
                outcomes = await self._wait_for(given)
            else:
                await self.run.save(given.to_json())

    async def _turn(self, agent: Agent[Any], given: Given) -> RunResultStreaming:
        new = None if isinstance(given, RunState) else dict(self.run.work.variables)
        result = Runner.run_streamed(agent, given, context=new, max_turns=self.most, hooks=self, run_config=self.config)
        try:
            async for event in result.stream_events():
                if event.type != "agent_updated_stream_event":
                    result.cancel(mode="after_turn")  # between turns the state is whole
                said = self.on_event(event) if self.on_event else None
                if inspect.isawaitable(said):
                    await said
        except BaseException as error:
            result.cancel()
            if isinstance(error, UserError) and error.__cause__ is not None:
                raise error.__cause__ from None  # a tool's own
            raise
        return result

    async def _wait_for(self, state: RunState[Any]) -> Mapping[str, Outcome] | None:
        calls: list[Call] = []
        for item in state.get_interruptions():
            try:
                calls.append(call_of(item))
            except ValueError as error:
                state.reject(item, rejection_message=f"Not done: {error}")
        return await self.run.wait_for(state.to_json(), calls) if calls else {}

    async def _decide(self, state: RunState[Any], outcomes: Mapping[str, Outcome]) -> None:
        for item in state.get_interruptions():
            self.asked.add(item.call_id or "")
            try:
                outcome = outcomes[call_of(item).call_id]
            except ValueError:
                continue  # its arguments were wrong: it is rejected already
            why = "" if outcome.is_good else f"Not done: {outcome.said}"
            if not why and (tool := pausing(item)):
                tool.outcomes[content_of(outcome.call_id, arguments_of(item))] = outcome
            elif not why:  # another tool that needs approval: it begins here
                why = await self._begun(item, outcome)
            if why:
                state.reject(item, rejection_message=why)
            else:
                state.approve(item)

    async def _begun(self, item: ToolApprovalItem, outcome: Outcome) -> str:
        """Returns why the call isn't done. The SDK executes the call's own arguments: others can't be put in."""
        arguments = arguments_of(item)
        if outcome.value != arguments:
            return f"Not done: people changed the arguments. {as_data('the approved input', outcome.value)}"
        receipt = await self.run.begin(outcome, name_of(item), arguments)
        if receipt.is_changed or receipt.refusal:
            return receipt.refusal or NOT_THIS_CALL
        self.begun.append((item.call_id or "", item.name or ""))
        return ""

    async def _complete(self, result: RunResultStreaming) -> None:
        work, wanted, output = self.run.work, criteria_of(self.run.work), to_jsonable_python(result.final_output)
        if not wanted:
            await work.complete(output)
            return
        shown = json.dumps([one_line(each) for each in wanted])
        asked = f"Give the evidence for each, by its exact text; an empty text where it doesn't hold:\n{shown}"
        nothing: dict[str, Any] = {name: [] for name in ("tools", "handoffs", "mcp_servers", "output_guardrails")}
        agent = result.last_agent.clone(output_type=list[Evidence], model_settings=ModelSettings(), **nothing)
        for is_last in (False, True):
            report = await self._turn(agent, [*result.to_input_list(), {"role": "user", "content": asked}])
            said = {criterion_meant(work, each.criterion): each.evidence or False for each in report.final_output}
            met = {criterion: evidence for criterion, evidence in said.items() if criterion is not None}
            try:
                await work.complete(output, met=met)
            except CriteriaUnreported as refused:
                if is_last:
                    raise
                asked = f"{refused}\n{asked}"
            else:
                return

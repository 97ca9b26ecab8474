"""Tools of an agent that does a claimed task. Each interrupts the run, as the SDK's own ``needs_approval`` does."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, fields
from functools import partial
from typing import Any, cast

from agents import FunctionTool, function_tool
from agents.items import ToolApprovalItem
from agents.tool_context import ToolContext
from pydantic import BaseModel

from baton_client import AsyncRun, Call
from baton_client.briefing import MAY_BE_DONE, as_data

MOST_CHARACTERS = 20_000

_key: ContextVar[str] = ContextVar("effect_key")


class Asked(BaseModel):
    text: str
    options: list[str] = []


@dataclass(kw_only=True)
class Pausing(FunctionTool):
    """``asks``: what a call waits for, by its id and arguments. Raises ``ValueError``, with words for the model."""

    asks: Callable[[str, str], Call]


def pausing(item: ToolApprovalItem) -> Pausing | None:
    """Returns the tool of ours that interrupts the run; None if it is another one that needs approval."""
    return next((each for each in item.agent.tools if isinstance(each, Pausing) and each.name == item.name), None)


def call_of(item: ToolApprovalItem) -> Call:
    """Returns what an interruption waits for. Raises ``ValueError``, with words for the model."""
    call_id, arguments, tool = item.call_id or "", item.arguments or "{}", pausing(item)
    if len(arguments) > MOST_CHARACTERS:
        raise ValueError(f"The arguments have {len(arguments)} characters; at most {MOST_CHARACTERS} are taken.")
    return tool.asks(call_id, arguments) if tool else Call.approve(call_id, item.name or "", parsed(arguments))


def ask_people(run: AsyncRun, **more: Any) -> FunctionTool:
    """A tool by which the model asks people. ``more``: ``people``, ``group``, ``needed``, ``until``."""
    words = "Asks people, and returns their answer: one of the options, 2 to 20, or their own words if there are none. "
    words += "It may take hours. An error says why there is no answer: decide without one, or say that you can't."
    return waiting(run, "ask_people", words, Asked, partial(Call.ask, **more))


def gated(run: AsyncRun, tool: FunctionTool | Callable[..., Any], why: str = "", **more: Any) -> FunctionTool:
    """The tool, each call of which people approve: it is done with the arguments that they approved, at most once. If
    its ``needs_approval`` is a function, that says which calls. ``more``: ``people``, ``group``, ``needed`` …"""
    inner = tool if isinstance(tool, FunctionTool) else function_tool(tool)
    body, needs = inner.on_invoke_tool, inner.needs_approval

    async def invoke(context: ToolContext[Any], arguments: str) -> Any:
        outcome = run.outcomes.get(context.tool_call_id)
        if outcome is None:
            return await body(context, arguments) if callable(needs) else "Not done: nobody has approved it."
        if not await run.begin(outcome):
            return MAY_BE_DONE
        token = _key.set(outcome.question_id)
        try:
            if outcome.value == parsed(arguments):
                return await body(context, arguments)
            approved = json.dumps(outcome.value, ensure_ascii=False)
            return f"People changed the arguments to {approved}. With these:\n{await body(context, approved)}"
        finally:
            _key.reset(token)

    given = {each.name: getattr(inner, each.name) for each in fields(FunctionTool)}
    given |= {"on_invoke_tool": invoke, "needs_approval": needs if callable(needs) else True}
    return Pausing(**given, asks=lambda at, arguments: Call.approve(at, inner.name, parsed(arguments), why, **more))


def effect_key() -> str:
    """Returns a name for what the gated tool that runs now does outside, the same in every attempt: give it to the
    target as its idempotency key. Raises ``LookupError`` anywhere else."""
    return _key.get()


def parsed(arguments: str) -> dict[str, Any]:
    found: Any = json.loads(arguments)
    if not isinstance(found, dict):
        raise ValueError("The arguments have to be an object.")  # noqa: TRY004 - of a model, not of the program
    return cast("dict[str, Any]", found)


def waiting(run: AsyncRun, name: str, words: str, takes: type[BaseModel], call: Callable[..., Call]) -> FunctionTool:
    """Returns a tool whose call waits for others, and tells the model what came of it."""

    async def invoke(context: ToolContext[Any], _arguments: str) -> str:
        outcome = run.outcomes[context.tool_call_id]
        return as_data(outcome.said, outcome.value)

    def asks(call_id: str, arguments: str) -> Call:
        return call(call_id, **takes.model_validate_json(arguments).model_dump())

    return Pausing(name, words, takes.model_json_schema(), invoke, needs_approval=True, asks=asks)

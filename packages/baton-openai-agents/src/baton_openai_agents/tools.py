"""Tools of an agent that does a claimed task. Each interrupts the run, as the SDK's own ``needs_approval`` does."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, fields
from functools import partial
from typing import Any, cast

from agents import FunctionTool, function_tool
from agents.items import ToolApprovalItem
from agents.tool_context import ToolContext
from pydantic import BaseModel

from baton_client import AsyncRun, Call, Outcome
from baton_client.canonical import digest_of
from baton_client.texts import as_data

MOST_CHARACTERS = 20_000
# Every other field of a call is shown to people: a field that the SDK adds later, too.
_NAMES_OF_A_CALL = frozenset({"type", "id", "call_id", "status", "name"})

_key: ContextVar[str] = ContextVar("effect_key")


class Asked(BaseModel):
    text: str
    options: list[str] = []


@dataclass(kw_only=True)
class Pausing(FunctionTool):
    """``asks``: what a call waits for, by its id and arguments. Raises ``ValueError``, with words for the model.
    ``outcomes``: of this tool's calls, by ``content_of``. A call takes its outcome once."""

    asks: Callable[[str, str], Call]
    outcomes: dict[str, Outcome]


def content_of(call_id: str, arguments: Mapping[str, Any]) -> str:
    """Returns a call's digest. An id is not enough: another agent of the run may use it, too."""
    return digest_of([call_id, arguments])


def pausing(item: ToolApprovalItem) -> Pausing | None:
    """Returns the tool of ours that interrupts the run; None if it is another one that needs approval."""
    if _fields(item).get("type") != "function_call":
        return None
    return next((each for each in item.agent.tools if isinstance(each, Pausing) and each.name == item.name), None)


def call_of(item: ToolApprovalItem) -> Call:
    """Returns what an interruption waits for. Raises ``ValueError``, with words for the model."""
    call_id, tool, arguments = item.call_id or "", pausing(item), arguments_of(item)
    written = json.dumps(arguments, ensure_ascii=False)
    if len(written) > MOST_CHARACTERS:
        raise ValueError(f"The arguments have {len(written)} characters; at most {MOST_CHARACTERS} are taken.")
    return tool.asks(call_id, written) if tool else Call.approve(call_id, name_of(item), arguments)


def name_of(item: ToolApprovalItem) -> str:
    """Returns the tool's name, with its namespace if it has one."""
    return item.qualified_name or item.name or ""


def arguments_of(item: ToolApprovalItem) -> dict[str, Any]:
    """Returns all that the SDK executes. A function's are its arguments. Any other call's are the fields of the call,
    such as a shell's ``action``, a patch's ``operation`` and a custom tool's ``input``. Raises ``ValueError``, with
    words for the model, if the call has none."""
    given = _fields(item)
    if given.get("type") == "function_call":
        if not isinstance(written := given.get("arguments"), str):
            raise ValueError("The call has no arguments.")
        return parsed(written or "{}")  # the SDK executes a call with an empty text so, too
    found = {name: each for name, each in given.items() if name not in _NAMES_OF_A_CALL}
    if not found:
        raise ValueError("The call has no content.")
    if isinstance(written := found.get("arguments"), str):  # a hosted MCP server's
        found["arguments"] = parsed(written)
    return found


def ask_people(run: AsyncRun, **more: Any) -> FunctionTool:  # noqa: ARG001 - only a claimed task can ask
    """A tool by which the model asks people. ``more``: ``people``, ``group``, ``needed``, ``until``."""
    words = "Asks people, and returns their answer: one of the options, 2 to 20, or their own words if there are none. "
    words += "It may take hours. An error says why there is no answer: decide without one, or say that you can't."
    return waiting("ask_people", words, Asked, partial(Call.ask, **more))


def gated(run: AsyncRun, tool: FunctionTool | Callable[..., Any], why: str = "", **more: Any) -> FunctionTool:
    """The tool, each call of which people approve: it is done with the arguments that they approved, at most once. If
    its ``needs_approval`` is a function, that says which calls. ``more``: ``people``, ``group``, ``needed`` …"""
    inner = tool if isinstance(tool, FunctionTool) else function_tool(tool)
    body, needs, outcomes = inner.on_invoke_tool, inner.needs_approval, dict[str, Outcome]()

    async def invoke(context: ToolContext[Any], arguments: str) -> Any:
        asked = parsed(arguments)
        outcome = outcomes.pop(content_of(context.tool_call_id, asked), None)
        if outcome is None and callable(needs):
            is_needed: Any = needs(context, asked, context.tool_call_id)
            if not (await is_needed if inspect.isawaitable(is_needed) else is_needed):
                return await body(context, arguments)
        receipt = await run.begin(outcome, inner.name, asked)
        if receipt.refusal:
            return receipt.refusal
        token = _key.set(receipt.question_id)
        try:
            result = await body(context, json.dumps(receipt.arguments, ensure_ascii=False))
            return f"{receipt.note}{result}" if receipt.is_changed else result
        finally:
            _key.reset(token)

    given = {each.name: getattr(inner, each.name) for each in fields(FunctionTool)}
    given |= {"on_invoke_tool": invoke, "needs_approval": needs if callable(needs) else True, "outcomes": outcomes}
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


def _fields(item: ToolApprovalItem) -> dict[str, Any]:
    raw: Any = item.raw_item
    found: dict[str, Any] = _present(raw if isinstance(raw, dict) else raw.model_dump(mode="json", warnings=False))
    return found


def _present(value: Any) -> Any:
    """Returns the value without fields that are null: a restored call lacks them."""
    if isinstance(value, dict):
        found = cast("dict[str, Any]", value)
        return {name: _present(each) for name, each in found.items() if each is not None}
    return [_present(each) for each in value] if isinstance(value, list) else value


def waiting(name: str, words: str, takes: type[BaseModel], call: Callable[..., Call]) -> FunctionTool:
    """Returns a tool whose call waits for others, and tells the model what came of it."""
    outcomes: dict[str, Outcome] = {}

    async def invoke(context: ToolContext[Any], arguments: str) -> str:
        outcome = outcomes.pop(content_of(context.tool_call_id, parsed(arguments)), None)
        return as_data(outcome.said, outcome.value) if outcome else "Not done: nobody was asked."

    def asks(call_id: str, arguments: str) -> Call:
        return call(call_id, **takes.model_validate_json(arguments).model_dump())

    return Pausing(name, words, takes.model_json_schema(), invoke, needs_approval=True, asks=asks, outcomes=outcomes)

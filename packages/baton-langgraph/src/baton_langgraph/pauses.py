"""How a graph waits for others: a node interrupts it, and is run again with what came of it."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict
from typing import Any

from langchain.agents.middleware import AgentMiddleware, ToolCallRequest
from langchain.messages import ToolMessage
from langchain.tools import BaseTool, ToolException, tool
from langgraph.constants import END
from langgraph.graph.state import CompiledStateGraph  # pyright: ignore[reportMissingTypeStubs]
from langgraph.types import Command, Send, interrupt
from pydantic import BaseModel, ValidationError

from baton_client import Call, Misused, Outcome, Run

CALL = "baton_call"
MOST_CHARACTERS = 50_000  # of a call: it is kept beside the state, in a checkpoint of 256 KiB
BEGUN = "An earlier attempt began it and died: it may have been done. Look. If it wasn't, ask again by a new call."
Graph = CompiledStateGraph[Any, Any, Any, Any]
Result = ToolMessage | Command[Any]


def paused(call: Call) -> Outcome:
    """Interrupts the graph until the call has an outcome. The node is run again then, up to here: do nothing before.
    Raises ``ToolException`` for a call that is too long, and ``Misused`` for another call's outcome."""
    if len(json.dumps(asdict(call), default=str)) > MOST_CHARACTERS:
        raise ToolException(f"This call is too long: it has more than {MOST_CHARACTERS:,} characters. Say less.")
    outcome = Outcome(**interrupt({CALL: asdict(call)}))
    if outcome.call_id != call.call_id:  # LangGraph tells the interrupts of one node apart by their order alone
        raise Misused("this is another call's outcome", "one node runs several tool calls", "route by each_call")
    return outcome


def each_call(state: Mapping[str, Any]) -> list[Send] | str:
    """In place of ``tools_condition`` after a model: each tool call is a task of its own. One that pauses doesn't have
    the others done again."""
    return [Send("tools", [call]) for call in getattr(state["messages"][-1], "tool_calls", [])] or END


class gated(AgentMiddleware[Any, Any, Any]):  # noqa: N801 - as the other adapters call it
    """Middleware that brings tools along, each call of which waits until people have approved it. Without middleware:
    ``ToolNode(tools, wrap_tool_call=gated(run, ship).wrap_tool_call)``. ``more``: ``people``, ``group``, ``needed``,
    ``until`` of the question."""

    def __init__(self, run: Run, *tools: BaseTool | Callable[..., Any], **more: Any) -> None:
        super().__init__()
        self.tools = [each if isinstance(each, BaseTool) else tool(each) for each in tools]
        self._run, self._names, self._more = run, [each.name for each in self.tools], more

    @property
    def name(self) -> str:
        return f"gated {' '.join(self._names)}"  # no two middlewares may have one name

    def wrap_tool_call(self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Result]) -> Result:
        passed = self._passed(request)
        return passed if isinstance(passed, ToolMessage) else _noted(request, passed, handler(passed))

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[Result]]
    ) -> Result:
        passed = await asyncio.to_thread(self._passed, request)
        return passed if isinstance(passed, ToolMessage) else _noted(request, passed, await handler(passed))

    def _passed(self, request: ToolCallRequest) -> ToolCallRequest | ToolMessage:
        """Returns what may be done, or what the model is told in place of it."""
        call, wanted = request.tool_call, request.tool
        if wanted is None or call["name"] not in self._names:
            return request
        try:
            if isinstance(schema := wanted.tool_call_schema, type) and issubclass(schema, BaseModel):
                schema.model_validate(call["args"])  # nobody is asked about a call that can't be done
            outcome = paused(Call.approve(str(call["id"]), call["name"], call["args"], **self._more))
            if outcome.is_good and self._run.begin(outcome):
                return request.override(tool_call={**call, "args": dict(outcome.value)})
            why = BEGUN if outcome.is_good else outcome.said
        except (ToolException, ValidationError) as error:
            why = str(error)
        return ToolMessage(why, name=call["name"], tool_call_id=call["id"], status="error")


def _noted(asked: ToolCallRequest, done: ToolCallRequest, result: Result) -> Result:
    """The model's own message has the arguments that it asked for."""
    arguments = done.tool_call["args"]
    if arguments == asked.tool_call["args"] or not isinstance(result, ToolMessage):
        return result
    return result.model_copy(update={"content": f"A person changed the arguments to {arguments}.\n{result.text}"})

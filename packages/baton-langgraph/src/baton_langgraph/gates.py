"""Tools whose each call people approve."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from langchain.agents.middleware import AgentMiddleware, ToolCallRequest
from langchain.messages import ToolMessage
from langchain.tools import BaseTool, ToolException, tool
from langgraph.types import Command
from pydantic import BaseModel, ValidationError

from baton_client import Call, Run
from baton_langgraph.tools import paused

Result = ToolMessage | Command[Any]
BEGUN = "An earlier attempt began it and died: it may have been done. Look. If it wasn't, ask again by a new call."


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
        return f"gated {' '.join(self._names)}"  # of two middlewares neither may have the other's name

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

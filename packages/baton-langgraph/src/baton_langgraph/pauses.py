"""How a graph waits for others: a node interrupts it, and is run again with what came of it."""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from functools import partial
from typing import Any

from langchain.agents.middleware import AgentMiddleware, ToolCallRequest
from langchain.messages import ToolMessage
from langchain.tools import BaseTool, ToolException, tool
from langgraph.constants import END
from langgraph.types import Command, Send, interrupt
from pydantic import BaseModel, ValidationError

from baton_client import Call, Misused, Outcome, Run
from baton_client.canonical import digest_of

CALL, OUTCOME = "baton_call", "baton_outcome"
Result = ToolMessage | Command[Any]


def paused(call: Call) -> Outcome:
    """Interrupts the graph until the call has an outcome. The node is run again then, up to here: do nothing before.
    Raises ``ToolException`` if what came of it isn't good, and ``Misused`` for another call's outcome."""
    found = interrupt({CALL: asdict(call)})
    must_be_for(call, found[CALL])
    outcome = Outcome(**found[OUTCOME])
    if not outcome.is_good:
        raise ToolException(outcome.said)
    return outcome


def must_be_for(call: Call, resumed: Any) -> None:
    """Raises ``Misused`` if the graph was resumed for another call than this one."""
    if digest_of(resumed) != digest_of(asdict(call)):  # LangGraph tells the interrupts of one node apart by their order
        raise Misused("this is another call's outcome", "one node runs several tool calls", "route by each_call")


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
        call, wanted = request.tool_call, request.tool
        if wanted is None or call["name"] not in self._names:
            return handler(request)
        refusal = partial(ToolMessage, name=call["name"], tool_call_id=call["id"], status="error")
        try:
            if isinstance(schema := wanted.tool_call_schema, type) and issubclass(schema, BaseModel):
                schema.model_validate(call["args"])  # nobody is asked about a call that can't be done
            outcome = paused(Call.approve(str(call["id"]), call["name"], call["args"], **self._more))
        except (ToolException, ValidationError) as error:
            return refusal(str(error))
        receipt = self._run.begin(outcome, call["name"], call["args"])
        if receipt.refusal:
            return refusal(receipt.refusal)
        result = handler(request.override(tool_call={**call, "name": receipt.tool, "args": dict(receipt.arguments)}))
        if isinstance(result, ToolMessage) and receipt.is_changed:  # the model's own message has its own
            result.content = f"{receipt.note}{result.text}"
        return result

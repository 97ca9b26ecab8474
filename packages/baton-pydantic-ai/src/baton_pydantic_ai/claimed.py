"""What a claim adds to an agent's run: it is saved, it ends when the claim is lost, and it reports on the criteria."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic_ai import FunctionToolset, ModelRetry, RunContext, ToolFailed
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.messages import ModelMessage, ModelMessagesTypeAdapter, ModelResponse, ToolCallPart
from pydantic_ai.toolsets import AbstractToolset
from pydantic_ai.usage import RunUsage

from baton_client import AsyncRun, Outcome, Receipt
from baton_client.briefing import criteria_of
from baton_client.runs import NOT_THIS_CALL
from baton_client.texts import one_line
from baton_pydantic_ai.tools import told


@dataclass
class Claimed(AbstractCapability[Any]):
    """``outcomes``: by tool call, of what the run has waited for. ``met``: by criterion its evidence, or False."""

    run: AsyncRun
    outcomes: Mapping[str, Outcome]

    def __post_init__(self) -> None:
        self.criteria, self.receipts = criteria_of(self.run.work), dict[str, Receipt]()
        saved: dict[str, Any] = self.run.state or {}
        self.met: dict[str, str | bool] = dict(saved.get("met", {}))
        self.messages = ModelMessagesTypeAdapter.validate_json(saved["messages"]) if saved else None
        self.usage = RunUsage()
        for each in self.messages or ():
            if isinstance(each, ModelResponse):
                self.usage.incr(each.usage)
                self.usage.requests += 1

    @property
    def missing(self) -> list[str]:
        return [f"{number}. {one_line(each)}" for number, each in enumerate(self.criteria, 1) if each not in self.met]

    def state(self, messages: Sequence[ModelMessage]) -> dict[str, Any]:
        """The messages are a text: Baton takes JSON of 16 levels, and a tool may return more."""
        return {"messages": ModelMessagesTypeAdapter.dump_json(list(messages)).decode(), "met": self.met}

    async def _save(self, messages: Sequence[ModelMessage]) -> None:
        with contextlib.suppress(ToolFailed), told():  # too large: another attempt goes on from what was saved before
            await self.run.save(self.state(messages))

    def get_toolset(self) -> AbstractToolset[Any] | None:
        return FunctionToolset([self.report_on_criterion]) if self.criteria else None

    def report_on_criterion(self, number: int, evidence: str, met: bool = True) -> str:
        """Reports on one of the task's criteria, before you finish.

        Args:
            number: The criterion's number.
            evidence: What you did or saw that shows it, in a sentence or two.
            met: False if it isn't fulfilled.
        """
        if not 1 <= number <= len(self.criteria) or not evidence.strip():
            raise ToolFailed(f"Name a criterion from 1 to {len(self.criteria)}, and its evidence.")
        self.met[self.criteria[number - 1]] = evidence if met else False
        return "reported"

    async def before_model_request(self, ctx: RunContext[Any], request_context: Any) -> Any:
        await self._save(ctx.messages)  # what the tools did isn't done again
        return request_context

    async def after_model_request(self, ctx: RunContext[Any], *, response: ModelResponse, **_: Any) -> ModelResponse:
        if response.tool_calls:  # another attempt makes these calls, with their ids, and no others
            await self._save([*ctx.messages, response])
        return response

    async def before_tool_execute(self, ctx: RunContext[Any], *, call: ToolCallPart, args: Any, **_: Any) -> Any:
        if not ctx.tool_call_approved:
            return args
        asked = self._as_asked(ctx.messages, call)
        receipt = await self.run.begin(self.outcomes.get(call.tool_call_id), call.tool_name, asked)
        if receipt.refusal or receipt.arguments != call.args_as_dict():  # ``args`` are these, validated
            raise ToolFailed(receipt.refusal or NOT_THIS_CALL)
        self.receipts[call.tool_call_id] = receipt
        return args

    async def after_tool_execute(self, ctx: RunContext[Any], *, call: ToolCallPart, result: Any, **_: Any) -> Any:  # noqa: ARG002
        receipt = self.receipts.pop(call.tool_call_id, None)
        if receipt is None or not receipt.is_changed:
            return result
        return f"{receipt.note}{result}" if isinstance(result, str) else {"changed": receipt.note, "result": result}

    @staticmethod
    def _as_asked(messages: Sequence[ModelMessage], call: ToolCallPart) -> dict[str, Any]:
        """Returns the arguments of the pending call in the history, before a person changed them."""
        for message in reversed(messages):
            for part in message.parts:
                if isinstance(part, ToolCallPart) and part.tool_call_id == call.tool_call_id:
                    return part.args_as_dict() if part.tool_name == call.tool_name else {}
        return {}

    async def after_output_process(self, ctx: RunContext[Any], *, output: Any, **_: Any) -> Any:  # noqa: ARG002
        if self.missing:
            raise ModelRetry(
                "\n".join(["Report on these criteria by report_on_criterion, then finish:", *self.missing])
            )
        return output

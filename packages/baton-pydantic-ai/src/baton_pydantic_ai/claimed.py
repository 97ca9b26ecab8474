"""What a claim adds to an agent's run: it ends when the claim is lost, is saved, and reports on the criteria."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic_ai import FunctionToolset, ModelRetry, RunContext, ToolDefinition, ToolFailed
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.messages import ModelMessage, ModelMessagesTypeAdapter, ModelResponse, ToolCallPart
from pydantic_ai.models import ModelRequestContext
from pydantic_ai.output import OutputContext
from pydantic_ai.toolsets import AbstractToolset
from pydantic_ai.usage import RunUsage

from baton_client import AsyncRun, ClaimLost, Outcome, Refused
from baton_pydantic_ai.brief import criteria_of
from baton_pydantic_ai.tools import is_fatal

_LOST: dict[str, Any] = {"code": "stale_claim", "title": "The claim isn't held any more", "detail": "others may work"}
BEGUN_BEFORE = (
    "Not done. An earlier attempt had begun exactly this call and died, or the approval was taken back. Look whether it "
    "was done before you ask for it again."
)


@dataclass
class Claimed(AbstractCapability[Any]):
    """``met``: by criterion the evidence, or False."""

    run: AsyncRun
    outcomes: Mapping[str, Outcome] = field(default_factory=dict[str, Outcome])
    met: dict[str, str | bool] = field(default_factory=dict[str, str | bool])

    def __post_init__(self) -> None:
        self.criteria = criteria_of(self.run.work.brief)
        saved = self.run.state or {}
        self.met = dict(saved.get("met") or {})
        # As a text: Baton takes JSON of 16 levels, and a tool may return more.
        self.messages = ModelMessagesTypeAdapter.validate_json(saved["messages"]) if saved else None
        self.usage = RunUsage()
        for each in self.messages or ():
            if isinstance(each, ModelResponse):
                self.usage.incr(each.usage)
                self.usage.requests += 1

    def state(self, messages: Sequence[ModelMessage]) -> dict[str, Any]:
        return {"messages": ModelMessagesTypeAdapter.dump_json(list(messages)).decode(), "met": self.met}

    def must_be_held(self) -> None:
        if self.run.lost:
            raise ClaimLost(409, _LOST)

    async def _save(self, messages: Sequence[ModelMessage]) -> None:
        self.must_be_held()
        try:
            await self.run.save(self.state(messages))
        except Refused as refused:  # too large: a later attempt goes on from what was saved before
            if is_fatal(refused):
                raise

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

    async def before_model_request(
        self, ctx: RunContext[Any], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        await self._save(ctx.messages)  # what the tools did isn't done again
        return request_context

    async def after_model_request(
        self, ctx: RunContext[Any], *, request_context: ModelRequestContext, response: ModelResponse
    ) -> ModelResponse:
        if response.tool_calls:  # another attempt makes these calls, with their ids, and not others
            await self._save([*ctx.messages, response])
        return response

    async def before_tool_execute(
        self, ctx: RunContext[Any], *, call: ToolCallPart, tool_def: ToolDefinition, args: dict[str, Any]
    ) -> dict[str, Any]:
        self.must_be_held()
        outcome = self.outcomes.get(call.tool_call_id)
        if ctx.tool_call_approved and outcome is not None and not await self.run.begin(outcome):
            raise ToolFailed(BEGUN_BEFORE)
        return args

    async def after_output_process(self, ctx: RunContext[Any], *, output_context: OutputContext, output: Any) -> Any:
        if missing := [f"{number}. {each}" for number, each in enumerate(self.criteria, 1) if each not in self.met]:
            raise ModelRetry("\n".join(["Report on these criteria by report_on_criterion, then finish:", *missing]))
        return output

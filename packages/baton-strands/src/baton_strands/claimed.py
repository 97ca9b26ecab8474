"""An agent's work on claimed tasks. It stops with its claim; each turn is kept, and another process may go on."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

from pydantic import BaseModel
from strands import Agent
from strands.agent.agent_result import AgentResult
from strands.hooks import BeforeModelCallEvent, BeforeToolCallEvent, MessageAddedEvent
from strands.types import Limits
from strands.types.exceptions import EventLoopException

from baton_client import Baton, ClaimLost, Run, Work
from baton_client.briefing import criteria_of, criterion_meant, prompt_of
from baton_client.errors import Conflict, CriteriaUnreported, Invalid
from baton_strands.pauses import answers, pending, restore, saved

Factory = Callable[[Run], Agent]
OnEvent = Callable[[Mapping[str, Any]], object]
logger = logging.getLogger(__name__)
_REPORT = "Report now on each criterion of the task, by its exact text."


class Evidence(BaseModel):
    criterion: str
    evidence: str


class Report(BaseModel):
    """On each acceptance criterion of the task what shows that it is met: an empty evidence if it isn't."""

    criteria: list[Evidence]


def serve(  # noqa: PLR0913 - options
    baton: Baton,
    agent: str,
    factory: Factory,
    *,
    concurrency: int = 1,
    idle_seconds: float | None = None,
    lease_seconds: int = 60,
    limits: Limits | None = None,
    on_event: OnEvent | None = None,
) -> None:
    """Does the agent's tasks until there was none for ``idle_seconds``. A run's error is told to Baton, and logged."""

    def done(work: Work) -> None:
        try:
            with suppress(ClaimLost), work:  # a lost one is others' work
                run_claimed(work, factory, limits=limits, on_event=on_event)
        except Exception:
            logger.exception("task_id=<%s> | the run failed", work.task_id)

    with ThreadPoolExecutor(concurrency, "claimed") as pool:
        for work in baton.work(agent, concurrency=concurrency, idle_seconds=idle_seconds, lease_seconds=lease_seconds):
            if concurrency == 1:
                done(work)
            else:
                pool.submit(done, work)


def run_claimed(work: Work, factory: Factory, *, limits: Limits | None = None, on_event: OnEvent | None = None) -> None:
    """Does a claimed task until it has ended, or is put down for colleagues and people. Raises ``ClaimLost``.
    ``limits``: of one invocation, in place of the handoff's budget. ``on_event``: gets the agent's stream events."""
    run = Run(work)
    outcomes = run.go_on()
    if outcomes is None:
        return
    session = _Session(run, factory(run), limits, on_event)
    prompt: Any = prompt_of(work, report="It is done when all of this is true:")
    if run.state is not None:
        restore(session.agent, run.state)
        prompt = answers(run.state, outcomes) or None
    result = session.played(prompt)
    if result is not None:
        made = result.structured_output
        _complete(session, str(result).strip() if made is None else made.model_dump(mode="json"))


def _complete(session: _Session, output: Any) -> None:
    """Where the task has criteria the agent is asked for a report, and once more for what is missing in it."""
    work, met, ask = session.run.work, None, _REPORT
    while True:
        if criteria_of(work):
            reported = session.played(ask, Report)
            if reported is None:
                return
            made = getattr(reported.structured_output, "criteria", ())
            said = {criterion_meant(work, each.criterion): each.evidence or False for each in made}
            met = {criterion: evidence for criterion, evidence in said.items() if criterion is not None}
        try:
            work.complete(output, met=met)
        except Invalid as refused:
            if isinstance(refused, CriteriaUnreported) and ask == _REPORT:
                ask = f"Baton refuses the completion: {refused}\nReport on all criteria."
                continue
            work.fail(f"{refused}", kind="validation")
        return


class _Session:
    def __init__(self, run: Run, agent: Agent, limits: Limits | None, on_event: OnEvent | None) -> None:
        self.run, self.agent = run, agent
        budget = dict[str, Any](run.work.brief.get("budget") or ())
        most = {"turns": budget.get("max_model_calls"), "total_tokens": budget.get("max_tokens"), **(limits or {})}
        self._limits: Any = {name: each for name, each in most.items() if each}
        run.work.when_lost(agent.cancel)
        agent.add_hook(self._held, [BeforeModelCallEvent, BeforeToolCallEvent])
        agent.add_hook(self._keep, MessageAddedEvent)
        agent.trace_attributes["baton.task_id"] = run.work.task_id
        if on_event is not None:
            shown = agent.callback_handler

            def both(**event: Any) -> None:
                shown(**event)
                on_event(event)

            agent.callback_handler = both

    def played(self, prompt: Any, report: type[BaseModel] | None = None) -> AgentResult | None:
        """Returns the agent's last result; None if the work was put down, or has failed."""
        while True:
            result = self._invoked(prompt, report)
            if (stop := result.stop_reason) in {"end_turn", "stop_sequence", "tool_use"}:
                return result
            if stop != "interrupt":
                kind = "timeout" if stop.startswith("limit_") else "error"
                self.run.work.fail(f"The run ended by {stop}: {result}", kind=kind, retryable=stop == "cancelled")
                return None
            state = saved(self.agent)
            outcomes = self.run.wait_for(state, list(pending(state).values()))
            if outcomes is None:
                return None
            prompt = answers(state, outcomes)

    def _invoked(self, prompt: Any, report: type[BaseModel] | None) -> AgentResult:
        try:
            result = self.agent(
                prompt,
                invocation_state={"variables": dict(self.run.work.variables)},
                structured_output_model=report,
                limits=self._limits,
            )
        except EventLoopException as error:
            raise error.original_exception from error
        self._held()
        return result

    def _held(self, event: Any = None) -> None:  # noqa: ARG002 - a hook's name
        self.run.check()

    async def _keep(self, event: MessageAddedEvent[Any]) -> None:
        """Keeps what the model wants to have done before it is done, and what came of it."""
        is_turn = any("toolUse" in each or "toolResult" in each for each in event.message["content"])
        if not is_turn or self.agent.cancel_signal.is_set():  # a cancelled agent's interrupts can't be restored
            return
        try:
            await asyncio.to_thread(self.run.save, saved(self.agent))
        except (Invalid, Conflict) as refused:
            self._held()
            logger.warning("task_id=<%s> | a turn isn't kept: %s", self.run.work.task_id, refused)

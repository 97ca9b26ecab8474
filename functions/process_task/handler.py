"""Handles dispatch notices: claims and runs the agent's best ready task."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from aws_lambda_powertools.metrics import Metrics
from aws_lambda_powertools.utilities.typing import LambdaContext

from baton.adapters.sqs_batch import MalformedMessage, SqsBatch, fields_of
from baton.bootstrap import IN_BACKGROUND, begin, logger, wire, wire_dead_letters, wire_runner, wire_visibility
from baton.config import load
from baton.domain.ids import is_id, is_slug
from baton.ports import runs
from baton.ports.deps import Deps
from baton.ports.queues import DeadLetters, Visibility
from baton.services.runs.process_task import DispatchNotice, TimeBudget, process_task

FIELDS = {"workspace", "agent", "task_id"}


@dataclass(frozen=True, slots=True)
class DispatchNoticeHandler:
    """Handles the notices of one batch."""

    deps: Deps
    runner: runs.AgentRunner
    dead_letters: DeadLetters
    visibility: Visibility
    time_budget: TimeBudget
    metrics: Metrics

    def __call__(self, body: str) -> None:
        notice = notice_of(body)
        handled = process_task(self.deps, self.runner, notice, self.time_budget)
        ids = {"workspace": notice.workspace, "agent": notice.agent, "task_id": notice.task_id}
        logger().info("dispatch notice handled", extra={"action": "bell_handled", "handled": handled.value, **ids})


def notice_of(body: str) -> DispatchNotice:
    """Raises ``MalformedMessage`` unless the body has ``{workspace, agent, task_id}``, each a valid id."""
    message = fields_of(body, FIELDS)
    if not all(isinstance(value, str) and is_id(value) for value in message.values()) or not is_slug(message["agent"]):
        raise MalformedMessage("not ids")
    return DispatchNotice(workspace=message["workspace"], agent=message["agent"], task_id=message["task_id"])


def lambda_handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    begin(context, IN_BACKGROUND)
    time_budget = TimeBudget(
        lease_seconds=load().lease_seconds, time_left=lambda: context.get_remaining_time_in_millis() / 1_000
    )
    metrics = Metrics()
    queue = wire_dead_letters(), wire_visibility()
    answer = DispatchNoticeHandler(wire(), wire_runner(), *queue, time_budget, metrics)
    return answer_all(event, context, answer)


def answer_all(event: dict[str, Any], context: LambdaContext, answer: DispatchNoticeHandler) -> dict[str, Any]:
    batch = SqsBatch("bell", answer, answer.dead_letters, answer.visibility, answer.metrics, logger())
    return batch.answer(event, context)

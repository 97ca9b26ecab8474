"""The doorbell rings: the agent's best ready task is claimed and run."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aws_lambda_powertools.metrics import Metrics, MetricUnit
from aws_lambda_powertools.utilities.batch import BatchProcessor, EventType, process_partial_response

from baton.bootstrap import logger, wire, wire_dead_letters, wire_runner
from baton.config import load
from baton.domain.ids import is_id, is_slug
from baton.services.process_task import Bell, Shift, process_task

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord
    from aws_lambda_powertools.utilities.typing import LambdaContext

    from baton.ports import AgentRunner, Baton, DeadLetters

FIELDS = {"workspace", "agent", "task_id"}


class MalformedMessage(ValueError):
    """Trying it again would change nothing."""


@dataclass(frozen=True, slots=True)
class Answering:
    """One batch. A message that raises comes again; all the others may go."""

    baton: Baton
    runner: AgentRunner
    dead_letters: DeadLetters
    shift: Shift
    metrics: Metrics

    def __call__(self, record: SQSRecord) -> None:
        with logger().append_context_keys(message_id=record.message_id):
            try:
                self._answer(bell_of(record.body))
            except MalformedMessage as exc:
                self._give_up(record.body, str(exc))
            except Exception as exc:
                logger().warning("bell not handled", action="bell_failed", error=type(exc).__name__)
                raise

    def _answer(self, bell: Bell) -> None:
        handled = process_task(self.baton, self.runner, bell, self.shift)
        ids = {"workspace": bell.workspace, "agent": bell.agent, "task_id": bell.task_id}
        logger().info("bell handled", extra={"action": "bell_handled", "handled": handled.value, **ids})

    def _give_up(self, body: str, reason: str) -> None:
        self.dead_letters.give_up(body, reason)
        self.metrics.add_metric("MalformedMessage", MetricUnit.Count, 1)
        logger().error("malformed message given up", action="message_given_up", reason=reason)


def bell_of(body: str) -> Bell:
    """Raises ``MalformedMessage`` for everything but ``{workspace, agent, task_id}`` in their own alphabets."""
    try:
        message = json.loads(body)
    except (ValueError, RecursionError) as exc:
        raise MalformedMessage("not JSON") from exc
    if not isinstance(message, dict) or set(message) != FIELDS:
        raise MalformedMessage(f"not exactly the fields {', '.join(sorted(FIELDS))}")
    if not all(isinstance(value, str) and is_id(value) for value in message.values()) or not is_slug(message["agent"]):
        raise MalformedMessage("not ids")
    return Bell(workspace=message["workspace"], agent=message["agent"], task_id=message["task_id"])


def lambda_handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    shift = Shift(lease_seconds=load().lease_seconds, time_left=lambda: context.get_remaining_time_in_millis() / 1_000)
    metrics = Metrics()
    answer = Answering(wire(), wire_runner(), wire_dead_letters(), shift, metrics)
    return answer_all(event, context, answer)


def answer_all(event: dict[str, Any], context: LambdaContext, answer: Answering) -> dict[str, Any]:
    # A batch that fails as a whole is no error of this function: its messages come again like any others.
    processor = BatchProcessor(EventType.SQS, raise_on_entire_batch_failure=False)
    try:
        result = process_partial_response(event, answer, processor, context)
    finally:
        if answer.metrics.metric_set:
            answer.metrics.flush_metrics()
    return dict(result)

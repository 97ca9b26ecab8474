"""The tracker's bell rings: what waits in a workspace's outbox is sent."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aws_lambda_powertools.metrics import Metrics, MetricUnit
from aws_lambda_powertools.utilities.batch import BatchProcessor, EventType, process_partial_response

from baton.bootstrap import logger, wire, wire_tracker_dead_letters
from baton.domain.ids import is_id
from baton.services.sync_tracker import Synced, sync_tracker

if TYPE_CHECKING:
    from collections.abc import Callable

    from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord
    from aws_lambda_powertools.utilities.typing import LambdaContext

    from baton.ports import Baton, DeadLetters

FIELDS = {"workspace", "task_id"}


class MalformedMessage(ValueError):
    """Trying it again would change nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackerBell:
    """``task_id``: what it was rung for, None for whatever waits."""

    workspace: str
    task_id: str | None


@dataclass(frozen=True, slots=True)
class Answering:
    """One batch. A message that raises comes again. ``time_left``: seconds until the function is stopped."""

    baton: Baton
    dead_letters: DeadLetters
    time_left: Callable[[], float]
    metrics: Metrics

    def __call__(self, record: SQSRecord) -> None:
        with logger().append_context_keys(message_id=record.message_id):
            try:
                self._answer(bell_of(record.body))
            except MalformedMessage as exc:
                self._give_up(record.body, str(exc))
            except Exception as exc:
                logger().warning("tracker bell not handled", action="tracker_bell_failed", error=type(exc).__name__)
                raise

    def _answer(self, bell: TrackerBell) -> None:
        synced = sync_tracker(self.baton, bell.workspace, bell.task_id, self.time_left)
        ids = {"workspace": bell.workspace, "task_id": bell.task_id}
        logger().info("tracker synced", extra={"action": "tracker_synced", **told(synced), **ids})
        self.metrics.add_metric("TrackerSent", MetricUnit.Count, synced.sent)
        self.metrics.add_metric("TrackerFailed", MetricUnit.Count, synced.failed)
        self.metrics.add_metric("TrackerGateClosed", MetricUnit.Count, not synced.gate_open)

    def _give_up(self, body: str, reason: str) -> None:
        self.dead_letters.give_up(body, reason)
        self.metrics.add_metric("MalformedMessage", MetricUnit.Count, 1)
        logger().error("malformed message given up", action="message_given_up", reason=reason)


def told(synced: Synced) -> dict[str, Any]:
    return {
        "sent": synced.sent,
        "failed": synced.failed,
        "looked": synced.looked,
        "reconciled": synced.reconciled,
        "gate_open": synced.gate_open,
        "complete": synced.complete,
    }


def bell_of(body: str) -> TrackerBell:
    """Raises ``MalformedMessage`` for everything but ``{workspace, task_id}``, ids both, ``task_id`` maybe null."""
    try:
        message = json.loads(body)
    except (ValueError, RecursionError) as exc:
        raise MalformedMessage("not JSON") from exc
    if not isinstance(message, dict) or set(message) != FIELDS:
        raise MalformedMessage(f"not exactly the fields {', '.join(sorted(FIELDS))}")
    workspace, task_id = message["workspace"], message["task_id"]
    if not _names(workspace) or not (task_id is None or _names(task_id)):
        raise MalformedMessage("not ids")
    return TrackerBell(workspace=workspace, task_id=task_id)


def _names(value: object) -> bool:
    return isinstance(value, str) and is_id(value)


def lambda_handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    def time_left() -> float:
        return context.get_remaining_time_in_millis() / 1_000

    return answer_all(event, context, Answering(wire(), wire_tracker_dead_letters(), time_left, Metrics()))


def answer_all(event: dict[str, Any], context: LambdaContext, answer: Answering) -> dict[str, Any]:
    # A batch that fails as a whole is no error of this function: its messages come again like any others.
    processor = BatchProcessor(EventType.SQS, raise_on_entire_batch_failure=False)
    try:
        result = process_partial_response(event, answer, processor, context)
    finally:
        if answer.metrics.metric_set:
            answer.metrics.flush_metrics()
    return dict(result)

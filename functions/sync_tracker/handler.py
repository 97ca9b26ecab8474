"""Handles the tracker's notices: synchronises the pages that wait in a workspace's outbox."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from aws_lambda_powertools.metrics import Metrics, MetricUnit
from aws_lambda_powertools.utilities.typing import LambdaContext

from baton.adapters.sqs_batch import MalformedMessage, SqsBatch, fields_of
from baton.bootstrap import IN_BACKGROUND, begin, logger, wire, wire_tracker_dead_letters, wire_tracker_visibility
from baton.domain.ids import is_id
from baton.ports.deps import Deps
from baton.ports.queues import DeadLetters, Visibility
from baton.services.tracker.sync_tracker import sync_tracker

FIELDS = {"workspace", "task_id"}


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackerNotice:
    """A notice to the tracker's worker."""

    workspace: str
    task_id: str | None  # the task whose page needs synchronisation; None for any that wait


@dataclass(frozen=True, slots=True)
class TrackerNoticeHandler:
    """Handles the notices of one batch."""

    deps: Deps
    dead_letters: DeadLetters
    visibility: Visibility
    time_left: Callable[[], float]  # seconds until the function is stopped
    metrics: Metrics

    def __call__(self, body: str) -> None:
        notice = notice_of(body)
        synced = sync_tracker(self.deps, notice.workspace, notice.task_id, self.time_left)
        ids = {"workspace": notice.workspace, "task_id": notice.task_id}
        logger().info("tracker synced", extra={"action": "tracker_synced", **asdict(synced), **ids})
        self.metrics.add_metric("TrackerSent", MetricUnit.Count, synced.sent)
        self.metrics.add_metric("TrackerFailed", MetricUnit.Count, synced.failed)
        self.metrics.add_metric("TrackerGateClosed", MetricUnit.Count, synced.circuit_open)


def notice_of(body: str) -> TrackerNotice:
    """Raises ``MalformedMessage`` unless the body has ``{workspace, task_id}``, both ids, ``task_id`` maybe null."""
    message = fields_of(body, FIELDS)
    workspace, task_id = message["workspace"], message["task_id"]
    if not _is_valid_id(workspace) or not (task_id is None or _is_valid_id(task_id)):
        raise MalformedMessage("not ids")
    return TrackerNotice(workspace=workspace, task_id=task_id)


def _is_valid_id(value: object) -> bool:
    return isinstance(value, str) and is_id(value)


def lambda_handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    begin(context, IN_BACKGROUND)

    def time_left() -> float:
        return context.get_remaining_time_in_millis() / 1_000

    queue = wire_tracker_dead_letters(), wire_tracker_visibility()
    return answer_all(event, context, TrackerNoticeHandler(wire(), *queue, time_left, Metrics()))


def answer_all(event: dict[str, Any], context: LambdaContext, answer: TrackerNoticeHandler) -> dict[str, Any]:
    batch = SqsBatch("tracker_bell", answer, answer.dead_letters, answer.visibility, answer.metrics, logger())
    return batch.answer(event, context)

"""The tracker's bell rings: what waits in a workspace's outbox is sent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aws_lambda_powertools.metrics import Metrics, MetricUnit

from baton.adapters.inbox import Inbox, MalformedMessage, fields_of
from baton.bootstrap import logger, wire, wire_tracker_dead_letters
from baton.domain.ids import is_id
from baton.services.sync_tracker import Synced, sync_tracker

if TYPE_CHECKING:
    from collections.abc import Callable

    from aws_lambda_powertools.utilities.typing import LambdaContext

    from baton.ports import Baton, DeadLetters

FIELDS = {"workspace", "task_id"}


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackerBell:
    """``task_id``: what it was rung for, None for whatever waits."""

    workspace: str
    task_id: str | None


@dataclass(frozen=True, slots=True)
class Answering:
    """Of one batch's bells. ``time_left``: seconds until the function is stopped."""

    baton: Baton
    dead_letters: DeadLetters
    time_left: Callable[[], float]
    metrics: Metrics

    def __call__(self, body: str) -> None:
        bell = bell_of(body)
        synced = sync_tracker(self.baton, bell.workspace, bell.task_id, self.time_left)
        ids = {"workspace": bell.workspace, "task_id": bell.task_id}
        logger().info("tracker synced", extra={"action": "tracker_synced", **told(synced), **ids})
        self.metrics.add_metric("TrackerSent", MetricUnit.Count, synced.sent)
        self.metrics.add_metric("TrackerFailed", MetricUnit.Count, synced.failed)
        self.metrics.add_metric("TrackerGateClosed", MetricUnit.Count, not synced.gate_open)


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
    message = fields_of(body, FIELDS)
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
    return Inbox("tracker_bell", answer, answer.dead_letters, answer.metrics, logger()).answer(event, context)

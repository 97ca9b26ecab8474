"""The sweeper: every minute, handles the tasks and jobs that are due."""

from __future__ import annotations

from typing import Any

from aws_lambda_powertools.metrics import Metrics, MetricUnit
from aws_lambda_powertools.utilities.typing import LambdaContext

from baton.bootstrap import IN_BACKGROUND, begin, logger, wire, wire_workers
from baton.services.tasks.sweep import SweepReport, sweep

# Enough for the task at hand and for logging the result.
MARGIN_SECONDS = 10


def lambda_handler(_event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    begin(context, IN_BACKGROUND)
    this = sweep(wire(), lambda: has_time(context), wire_workers())
    counts = {
        "looked_at": this.looked_at,
        "failed": this.failed,
        "complete": this.complete,
        "oldest_ready_seconds": this.oldest_ready_seconds,
        "reasons": dict(sorted(this.reasons.items())),
    }
    logger().info("swept", extra={"action": "swept", **counts})
    measure(this)
    return counts


def has_time(context: LambdaContext) -> bool:
    return context.get_remaining_time_in_millis() > MARGIN_SECONDS * 1_000


def measure(this: SweepReport) -> None:
    """Adds the metrics, also those of an unfinished round. An alarm watches for the heartbeat to be missing: a sweep
    that raised has none."""
    metrics = Metrics()
    metrics.add_metric("Swept", MetricUnit.Count, this.looked_at)
    metrics.add_metric("SweepFailed", MetricUnit.Count, this.failed)
    metrics.add_metric("SweepUnfinished", MetricUnit.Count, not this.complete)
    metrics.add_metric("UndispatchedAgeSeconds", MetricUnit.Seconds, this.oldest_ready_seconds)
    for reason, count in this.reasons.items():
        metrics.add_metric(f"Swept_{reason}", MetricUnit.Count, count)
    metrics.add_metric("SweeperHeartbeat", MetricUnit.Count, 1)
    metrics.flush_metrics()

"""Publishes events: from the table's stream at once, and every minute those that the stream should have brought."""

from __future__ import annotations

from typing import Any

from aws_lambda_powertools.metrics import Metrics, MetricUnit
from aws_lambda_powertools.utilities.typing import LambdaContext

from baton.bootstrap import IN_BACKGROUND, begin, logger, wire, wire_bus, wire_workers
from baton.ports.deps import Deps
from baton.ports.events import Bus
from baton.services.events.publish_events import PublishReport, publish_overdue, publish_records

# Enough for a page's calls and for logging the result.
MARGIN_SECONDS = 20


def lambda_handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    begin(context, IN_BACKGROUND)
    return tell(wire(), wire_bus(), event, context)


def tell(deps: Deps, bus: Bus, event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Publishes a batch of the stream, or the overdue events. Never raises for events that the bus refuses: they stay
    in the outbox."""
    if "Records" in event:
        this = publish_records(deps, bus, event["Records"], wire_workers())
        measure(this)
    else:
        this = publish_overdue(deps, bus, lambda: has_time(context), wire_workers())
        measure(this, oldest_seconds=this.oldest_seconds)
    counts = {"published": this.published, "failed": this.failed, "complete": this.complete}
    logger().info("events published", extra={"action": "events_published", **counts})
    return counts


def has_time(context: LambdaContext) -> bool:
    return context.get_remaining_time_in_millis() > MARGIN_SECONDS * 1_000


def measure(this: PublishReport, *, oldest_seconds: float | None = None) -> None:
    """Adds the metrics. Only the schedule reports the age; an alarm watches for it to be missing."""
    metrics = Metrics()
    metrics.add_metric("EventsPublished", MetricUnit.Count, this.published)
    metrics.add_metric("EventsFailed", MetricUnit.Count, this.failed)
    if oldest_seconds is not None:
        metrics.add_metric("UnpublishedAgeSeconds", MetricUnit.Seconds, oldest_seconds)
    metrics.flush_metrics()

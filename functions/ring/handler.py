"""Rings: for what the table's stream tells at once, and for what a look that was due finds."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from typing import Any

from aws_lambda_powertools.metrics import Metrics, MetricUnit
from aws_lambda_powertools.utilities.typing import LambdaContext

from baton.adapters.sqs_batch import MalformedMessage, fields_of
from baton.bootstrap import IN_BACKGROUND, begin, logger, wire, wire_connections
from baton.domain import errors
from baton.domain.bell.listener import Topic
from baton.domain.bell.ring import MAX_ROUNDS
from baton.domain.ids import is_id
from baton.domain.lru_cache import LruCache
from baton.services.bell.ring import Bell, BellReport

FIELDS = {"workspace", "task_id", "number"}
TOLD: LruCache[Topic, datetime] = LruCache()
METRICS = {
    "rung": "Rung",
    "gone": "RungGone",
    "closed": "ListenersClosed",
    "late": "RungLate",
    "unclear": "RungUnclear",
}


def lambda_handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    begin(context, IN_BACKGROUND)
    bell = Bell(wire(), wire_connections(), BellReport(), TOLD)
    try:
        return {"batchItemFailures": ring(bell, event["Records"])}
    finally:
        tell(bell.report)


def ring(bell: Bell, records: list[dict[str, Any]]) -> list[dict[str, str]]:
    """Returns the looks that come again. Raises ``Busy``: the stream's batch comes again."""
    if "dynamodb" in records[0]:
        bell.changed(records)
        return []
    failed = []
    for record in records:
        try:
            workspace, task_id, number = look_of(record["body"])
        except MalformedMessage as exc:
            logger().error("malformed look", extra={"action": "look_malformed", "reason": str(exc)})
            continue
        try:
            bell.look(workspace, task_id, number)
        except errors.Busy:
            failed.append({"itemIdentifier": record["messageId"]})
    return failed


def look_of(body: str) -> tuple[str, str, int]:
    """Raises ``MalformedMessage`` unless the body has ``{workspace, task_id, number}``."""
    message = fields_of(body, FIELDS)
    workspace, task_id, number = message["workspace"], message["task_id"], message["number"]
    if not all(isinstance(each, str) and is_id(each) for each in (workspace, task_id)):
        raise MalformedMessage("not ids")
    if type(number) is not int or not -MAX_ROUNDS <= number <= MAX_ROUNDS + 1:
        raise MalformedMessage("not a number of rounds")
    return workspace, task_id, number


def tell(report: BellReport) -> None:
    """Counts and logs what there was: most changes are heard by nobody, and cost nothing here."""
    counts = {name: value for name, value in asdict(report).items() if value}
    if not counts:
        return
    metrics = Metrics()
    for name, value in counts.items():
        metrics.add_metric(METRICS[name], MetricUnit.Count, value)
    metrics.flush_metrics()
    logger().info("rung", extra={"action": "rung", **counts})

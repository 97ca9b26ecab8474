"""The write that counts a principal's alerts, and its condition."""

from __future__ import annotations

from typing import TYPE_CHECKING

from baton.adapters.dynamodb import keys
from baton.adapters.dynamodb.table import Write, to_wire
from baton.domain.alerts.alert import MAX_PER_HOUR, too_many_alerts
from baton.domain.times import seconds, to_ms

if TYPE_CHECKING:
    from datetime import datetime

# This principal has raised fewer alerts in this hour than it may: a caller gone wrong can't flood the humans.
MAY_RAISE_MORE = "attribute_not_exists(#count) OR #count < :most"
# Well past the counted hour, however far clocks differ.
FORGET_AFTER = seconds(86_400)


def alert_counted(workspace: str, by: str, at: datetime) -> Write:
    request = {
        "Key": to_wire(keys.alert_count(workspace, by, at)._asdict()),
        "UpdateExpression": "SET #ttl = :ttl ADD #count :one",
        "ConditionExpression": MAY_RAISE_MORE,
        "ExpressionAttributeNames": {"#count": "count", "#ttl": "ttl"},
        "ExpressionAttributeValues": to_wire(
            {":one": 1, ":most": MAX_PER_HOUR, ":ttl": to_ms(at + FORGET_AFTER) // 1_000}
        ),
    }
    return Write("Update", request, lambda: too_many_alerts(at))

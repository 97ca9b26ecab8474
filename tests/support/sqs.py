"""Batches of messages as Lambda hands them to a handler, and the handler's answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def sqs_batch(bodies: Sequence[str], queue: str = "baton", received: int = 1) -> dict[str, Any]:
    """``received``: how often, with this time."""
    return {
        "Records": [
            {
                "messageId": f"message-{number}",
                "receiptHandle": f"handle-{number}",
                "body": body,
                "attributes": {"ApproximateReceiveCount": str(received)},
                "messageAttributes": {},
                "md5OfBody": "",
                "eventSource": "aws:sqs",
                "eventSourceARN": f"arn:aws:sqs:us-east-1:123456789012:{queue}",
                "awsRegion": "us-east-1",
            }
            for number, body in enumerate(bodies)
        ]
    }


def failed_messages(answer: dict[str, Any]) -> list[str]:
    """The ids of the messages that come again."""
    return [failure["itemIdentifier"] for failure in answer["batchItemFailures"]]

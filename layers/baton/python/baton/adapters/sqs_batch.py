"""An SQS batch, handled message by message: shared by all functions behind a queue."""

from __future__ import annotations

import json
from collections.abc import Callable, Set
from dataclasses import dataclass
from typing import Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.metrics import Metrics, MetricUnit
from aws_lambda_powertools.utilities.batch import BatchProcessor, EventType, process_partial_response
from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord
from aws_lambda_powertools.utilities.typing import LambdaContext

from baton.adapters import message_depth
from baton.domain import errors
from baton.ports.queues import DeadLetters, Visibility

# Seconds after which a message comes again that was received once, twice, three times while Baton was busy. Later ones
# take the queue's time, 12 minutes: five receives would be used up within one bad moment, and the sweeper doesn't need
# the message.
AGAIN_AFTER = {"1": 10, "2": 20, "3": 40}


class MalformedMessage(ValueError):
    """A message that can't be handled, and couldn't after a retry either."""


def fields_of(body: str, fields: Set[str]) -> dict[str, Any]:
    """Returns these fields of the message's object, without fields that a newer version may have added. Raises
    ``MalformedMessage`` if it isn't an object with all of them."""
    try:
        message = json.loads(body)
    except (ValueError, RecursionError) as exc:
        raise MalformedMessage("not JSON") from exc
    if not isinstance(message, dict) or not fields <= message.keys():
        raise MalformedMessage(f"without one of the fields {', '.join(sorted(fields))}")
    return {name: message[name] for name in fields}


@dataclass(frozen=True, slots=True)
class SqsBatch:
    """One SQS batch. If ``handle`` raises for a message, the message comes again: soon, if Baton was busy. A malformed
    message goes to the dead letters at once, which raises an alarm. All other messages are deleted."""

    what: str  # the messages' name in the log
    handle: Callable[[str], None]
    dead_letters: DeadLetters
    visibility: Visibility
    metrics: Metrics
    logger: Logger

    def answer(self, event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
        # A batch in which every message fails is no error of the function: the messages come again like any others.
        processor = BatchProcessor(EventType.SQS, raise_on_entire_batch_failure=False)
        try:
            result = process_partial_response(event, self._handle, processor, context)
        finally:
            if self.metrics.metric_set:
                self.metrics.flush_metrics()
        return dict(result)

    def _handle(self, record: SQSRecord) -> None:
        with self.logger.append_context_keys(message_id=record.message_id):
            try:
                with message_depth.handling(record.raw_event):
                    self.handle(record.body)
            except MalformedMessage as exc:
                self._give_up(record.body, str(exc))
            except Exception as exc:
                fields = {"action": f"{self.what}_failed", "error": type(exc).__name__}
                self.logger.warning("%s not handled", self.what.replace("_", " "), extra=fields)
                if isinstance(exc, errors.Busy | errors.Conflict):
                    self._let_come_soon(record)
                raise

    def _let_come_soon(self, record: SQSRecord) -> None:
        seconds = AGAIN_AFTER.get(record.attributes.approximate_receive_count)
        if seconds is not None:
            self.visibility.hide(record.receipt_handle, seconds)

    def _give_up(self, body: str, reason: str) -> None:
        self.dead_letters.give_up(body, reason)
        self.metrics.add_metric("MalformedMessage", MetricUnit.Count, 1)
        self.logger.error("malformed message given up", extra={"action": "message_given_up", "reason": reason})

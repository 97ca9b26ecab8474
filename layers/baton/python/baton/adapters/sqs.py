"""The doorbells, and the place for messages that nobody can handle."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Protocol

from botocore.exceptions import BotoCoreError, ClientError

from baton.domain.errors import Busy
from baton.domain.wake import MAX_BELL_DELAY_SECONDS

if TYPE_CHECKING:
    from collections.abc import Callable

_MAX_REASON = 200


class SqsClient(Protocol):
    def send_message(self, **request: Any) -> Any: ...


class SqsDoorbell:
    """Fair between agents: the message group of a standard queue is the agent (docs/spec/lifecycle.md §9)."""

    def __init__(self, client: SqsClient, queue_url: str, log: Callable[..., None]) -> None:
        self._client, self._queue_url, self._log = client, queue_url, log

    def ring(self, workspace: str, agent: str, task_id: str, delay_seconds: int = 0) -> None:
        body = {"workspace": workspace, "agent": agent, "task_id": task_id}
        try:
            self._client.send_message(
                QueueUrl=self._queue_url,
                MessageBody=json.dumps(body),
                DelaySeconds=delay_seconds,
                MessageGroupId=f"{workspace}.{agent}",
            )
        except (ClientError, BotoCoreError) as exc:
            # The task is durable and due a look in a minute; an error here would make the caller repeat what was done.
            self._log("the bell was lost", action="bell_lost", task_id=task_id, error=type(exc).__name__)


class SqsTrackerBell:
    """Fair between workspaces. Without a queue there is nobody to ring for."""

    def __init__(self, client: SqsClient, queue_url: str, log: Callable[..., None]) -> None:
        self._client, self._queue_url, self._log = client, queue_url, log

    def ring(self, workspace: str, task_id: str | None = None, delay_seconds: int = 0) -> None:
        if not self._queue_url:
            return
        try:
            self._client.send_message(
                QueueUrl=self._queue_url,
                MessageBody=json.dumps({"workspace": workspace, "task_id": task_id}),
                DelaySeconds=min(delay_seconds, MAX_BELL_DELAY_SECONDS),
                MessageGroupId=workspace,
            )
        except (ClientError, BotoCoreError) as exc:
            # The outbox's row is durable and found by the next bell; the sweeper rings again.
            ids = {"workspace": workspace, "task_id": task_id}
            self._log("the tracker's bell was lost", action="tracker_bell_lost", error=type(exc).__name__, **ids)


class SqsDeadLetters:
    def __init__(self, client: SqsClient, queue_url: str) -> None:
        self._client, self._queue_url = client, queue_url

    def give_up(self, body: str, reason: str) -> None:
        try:
            self._client.send_message(
                QueueUrl=self._queue_url,
                MessageBody=body,
                MessageAttributes={"reason": {"DataType": "String", "StringValue": reason[:_MAX_REASON]}},
            )
        except (ClientError, BotoCoreError) as exc:
            raise Busy from exc

"""The dispatch queue, the tracker's queue, the bell's, and the queue for malformed messages."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Protocol

from botocore import exceptions

from baton.adapters import message_depth
from baton.domain import errors
from baton.domain.tasks.wake import MAX_NOTICE_DELAY_SECONDS

_MAX_REASON = 200


class SqsClient(Protocol):
    def send_message(self, **request: Any) -> Any: ...


class VisibilityClient(Protocol):
    def change_message_visibility(self, **request: Any) -> Any: ...


class SqsDispatchQueue:
    """Sends dispatch notices, unless the chain of notices is too long (``message_depth``). Fair between agents: the
    message group of a standard queue is the agent (docs/spec/lifecycle.md §9)."""

    def __init__(self, client: SqsClient, queue_url: str, log: Callable[..., None]) -> None:
        self._client, self._queue_url, self._log = client, queue_url, log

    def notify(self, workspace: str, agent: str, task_id: str, delay_seconds: int = 0) -> None:
        body = {"workspace": workspace, "agent": agent, "task_id": task_id}
        if message_depth.is_too_deep():
            self._log("dispatch notice left to the sweeper", action="bell_withheld", task_id=task_id)
            return
        try:
            self._client.send_message(
                QueueUrl=self._queue_url,
                MessageBody=json.dumps(body),
                DelaySeconds=delay_seconds,
                MessageGroupId=f"{workspace}.{agent}",
                **message_depth.depth_attribute(),
            )
        except (exceptions.ClientError, exceptions.BotoCoreError) as exc:
            # The task is saved and due for a look within a minute; an error here would make the caller repeat its
            # request.
            self._log("dispatch notice lost", action="bell_lost", task_id=task_id, error=type(exc).__name__)


class SqsTrackerQueue:
    """Sends notices to the tracker's worker, unless the chain of notices is too long or there is no queue. Fair between
    workspaces."""

    def __init__(self, client: SqsClient, queue_url: str, log: Callable[..., None]) -> None:
        self._client, self._queue_url, self._log = client, queue_url, log

    def notify(self, workspace: str, task_id: str | None = None, delay_seconds: int = 0) -> None:
        if not self._queue_url:
            return
        ids = {"workspace": workspace, "task_id": task_id}
        if message_depth.is_too_deep():
            self._log("tracker notice left to the sweeper", action="tracker_bell_withheld", **ids)
            return
        try:
            self._client.send_message(
                QueueUrl=self._queue_url,
                MessageBody=json.dumps(ids),
                DelaySeconds=min(delay_seconds, MAX_NOTICE_DELAY_SECONDS),
                MessageGroupId=workspace,
                **message_depth.depth_attribute(),
            )
        except (exceptions.ClientError, exceptions.BotoCoreError) as exc:
            # The page's synchronisation is saved, and the next notice finds it; the sweeper sends one too.
            self._log("tracker notice lost", action="tracker_bell_lost", error=type(exc).__name__, **ids)


class SqsLooks:
    """Nothing is sent where there is no queue."""

    def __init__(self, client: SqsClient, queue_url: str, log: Callable[..., None]) -> None:
        self._client, self._queue_url, self._log = client, queue_url, log

    def look(self, workspace: str, task_id: str, seconds: int = 0, number: int = 1) -> None:
        if not self._queue_url:
            return
        body = {"workspace": workspace, "task_id": task_id, "number": number}
        try:
            self._client.send_message(
                QueueUrl=self._queue_url,
                MessageBody=json.dumps(body),
                DelaySeconds=min(seconds, MAX_NOTICE_DELAY_SECONDS),
            )
        except (exceptions.ClientError, exceptions.BotoCoreError) as exc:
            self._log("a look is lost", action="look_lost", task_id=task_id, error=type(exc).__name__)


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
        except (exceptions.ClientError, exceptions.BotoCoreError) as exc:
            raise errors.Busy from exc


class SqsVisibility:
    def __init__(self, client: VisibilityClient, queue_url: str, log: Callable[..., None]) -> None:
        self._client, self._queue_url, self._log = client, queue_url, log

    def hide(self, receipt_handle: str, seconds: int) -> None:
        request = {"QueueUrl": self._queue_url, "ReceiptHandle": receipt_handle, "VisibilityTimeout": seconds}
        try:
            self._client.change_message_visibility(**request)
        except (exceptions.ClientError, exceptions.BotoCoreError) as exc:
            self._log("a message comes again late", action="message_late", error=type(exc).__name__)

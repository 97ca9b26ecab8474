"""The tracker's notice on SQS: what it sends, and that it never raises."""

from __future__ import annotations

import json
from typing import Any

import pytest
from botocore.exceptions import BotoCoreError, ClientError, EndpointConnectionError

from baton.adapters.sqs import SqsTrackerQueue


class Queue:
    """Takes down what it is sent; ``trouble`` is raised instead."""

    def __init__(self, trouble: Exception | None = None) -> None:
        self.sent: list[dict[str, Any]] = []
        self.logged: list[dict[str, Any]] = []
        self._trouble = trouble

    def send_message(self, **request: Any) -> None:
        if self._trouble:
            raise self._trouble
        self.sent.append(request)

    def notice(self, url: str = "tracker") -> SqsTrackerQueue:
        return SqsTrackerQueue(self, url, lambda message, **fields: self.logged.append({"message": message, **fields}))


@pytest.mark.parametrize("task_id", ["task_1", None])
def test_a_notice_names_its_workspace_and_maybe_a_task(task_id: str | None) -> None:
    queue = Queue()
    queue.notice().notify("acme", task_id)
    (sent,) = queue.sent
    assert json.loads(sent["MessageBody"]) == {"workspace": "acme", "task_id": task_id}
    assert (sent["QueueUrl"], sent["MessageGroupId"], sent["DelaySeconds"]) == ("tracker", "acme", 0)


@pytest.mark.parametrize(("asked", "sent"), [(0, 0), (899, 899), (900, 900), (901, 900), (3_600, 900)])
def test_a_notice_comes_no_later_than_sqs_can(asked: int, sent: int) -> None:
    queue = Queue()
    queue.notice().notify("acme", delay_seconds=asked)
    assert queue.sent[0]["DelaySeconds"] == sent


@pytest.mark.parametrize(
    "trouble",
    [
        ClientError({"Error": {"Code": "AccessDenied"}}, "SendMessage"),
        EndpointConnectionError(endpoint_url="https://sqs.example"),
        BotoCoreError(),
    ],
    ids=["refused", "unreachable", "other"],
)
def test_a_lost_notice_is_told_and_raises_nothing(trouble: Exception) -> None:
    queue = Queue(trouble)
    queue.notice().notify("acme", "task_1")
    (line,) = queue.logged
    assert (line["action"], line["workspace"], line["task_id"]) == ("tracker_bell_lost", "acme", "task_1")
    assert line["error"] == type(trouble).__name__


def test_without_a_queue_nobody_is_announced() -> None:
    queue = Queue()
    queue.notice("").notify("acme", "task_1")
    assert (queue.sent, queue.logged) == ([], [])

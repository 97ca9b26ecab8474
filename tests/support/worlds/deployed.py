"""The deployed stack: requests over HTTP, and access to what lies behind them."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cached_property
from http import HTTPStatus
from typing import Any

import httpx
from botocore.config import Config

from baton.adapters.dynamodb import items, keys
from baton.adapters.dynamodb.patience import Patience
from baton.adapters.dynamodb.store import DynamoStore
from baton.adapters.dynamodb.table import DEFAULT_SHARDS, Table, from_wire, to_wire
from baton.adapters.lexical_search import LexicalSearch
from baton.adapters.system import RandomIds, SystemClock
from baton.ports.deps import Deps
from support.fakes.ports import FakeCallbackKey, FakeDispatchQueue, FakeLooks, FakeSecrets, FakeTrackerQueue, NoTrackers
from tools.stack.deployment import STACK_NAME
from tools.stack.stack import Stack

# A word in all content that tests hand over: no log may have it.
CANARY = "canary-b7d1f0"

Item = dict[str, Any]


@dataclass
class Ledger:
    """The ids and secrets that were given out in the session, each to one receiver."""

    tokens: set[str] = field(default_factory=set)
    claim_ids: set[str] = field(default_factory=set)

    def note(self, response: httpx.Response) -> None:
        if response.is_success and response.content and response.headers["content-type"] == "application/json":
            answer = response.json()
            if "claim_id" in answer:
                self.claim_ids.add(answer["claim_id"])
            if str(answer.get("token", "")).startswith("baton_"):
                self.tokens.add(answer["token"])


@dataclass(frozen=True)
class Client:
    """A caller of the API. ``token``: None sends no credentials."""

    http: httpx.Client = field(repr=False)
    token: str | None = field(repr=False)
    ledger: Ledger = field(repr=False)

    def send(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        raw: bytes | None = None,
        key: str | None = None,
        headers: dict[str, str] | None = None,
    ) -> httpx.Response:
        """``raw``: sent as it is, in place of ``body`` as JSON. ``key``: the Idempotency-Key."""
        sent = {"Content-Type": "application/json"} if raw is not None or body is not None else {}
        if self.token is not None:
            sent["Authorization"] = f"Bearer {self.token}"
        if key is not None:
            sent["Idempotency-Key"] = key
        content = raw if body is None else json.dumps(body).encode()
        response = self.http.request(method, path, content=content, headers={**sent, **(headers or {})})
        self.ledger.note(response)
        return response

    def ok(self, method: str, path: str, body: Any = None, *, key: str | None = None) -> Any:
        """Returns the body of a successful answer, or None if it has none. A read that is answered with ``busy`` is
        repeated as the answer says, as the machine may be busy."""
        response = self.send(method, path, body, key=key)
        for _ in range(2):
            if method != "GET" or response.status_code != HTTPStatus.SERVICE_UNAVAILABLE:
                break
            time.sleep(float(response.headers["retry-after"]))
            response = self.send(method, path, body, key=key)
        assert response.is_success, f"{method} {path}: {response.status_code} {response.text}"
        return response.json() if response.content else None

    def get(self, path: str) -> Any:
        return self.ok("GET", path)

    def post(self, path: str, body: Any = None, *, key: str | None = None) -> Any:
        return self.ok("POST", path, {} if body is None else body, key=key)

    def put(self, path: str, body: Any) -> Any:
        return self.ok("PUT", path, body)

    def refused(self, method: str, path: str, body: Any = None, *, key: str | None = None) -> tuple[int, str]:
        """Returns status and code of a refusal with problem details."""
        response = self.send(method, path, body, key=key)
        return response.status_code, problem(response)["code"]


def problem(response: httpx.Response) -> dict[str, Any]:
    """Returns the problem details of a refusal. At the door for models they are in an error of JSON-RPC."""
    assert response.is_client_error, f"{response.status_code} {response.text}"
    told: dict[str, Any] = response.json()
    if "jsonrpc" in told:
        assert response.headers["content-type"] == "application/json", response.text
        told = told["error"]["data"]
    else:
        assert response.headers["content-type"] == "application/problem+json", response.text
    assert told["status"] == response.status_code, told
    assert told["request_id"] == response.headers["x-request-id"], told
    assert {"type", "title", "detail", "code", "errors"} <= set(told), told
    return told


def until(holds: Callable[[], Any], seconds: float = 60.0, every: float = 0.1) -> Any:
    """Returns the first true answer of ``holds``, which is called for at most ``seconds``."""
    deadline = time.monotonic() + seconds
    while not (answer := holds()):
        assert time.monotonic() < deadline, f"still waiting after {seconds} s"
        time.sleep(every)
    return answer


@dataclass
class Deployed:
    stack: Stack
    http: httpx.Client
    ledger: Ledger = field(default_factory=Ledger)
    _clients: dict[str, Any] = field(default_factory=dict, repr=False)
    _end_of_stream: str = field(default="", repr=False)

    def client(self, token: str | None = None) -> Client:
        if token is not None:
            self.ledger.tokens.add(token)
        return Client(self.http, token, self.ledger)

    # Functions

    def invoke(self, function: str, event: Any = None) -> Any:
        """Returns what a function answers. ``function``: its name in the template."""
        answer = self.aws("lambda").invoke(
            FunctionName=self.stack.functions[function], Qualifier="live", Payload=json.dumps(event or {}).encode()
        )
        told = json.loads(answer["Payload"].read() or b"null")
        assert "FunctionError" not in answer, f"{function}: {told}"
        return told

    def sweep(self) -> dict[str, Any]:
        told: dict[str, Any] = self.invoke("SweepStaleClaims")
        assert (told["failed"], told["complete"]) == (0, True), told
        return told

    def logs(self, function: str) -> list[str]:
        """Returns every line that the function wrote."""
        pages = self.aws("logs").get_paginator("filter_log_events")
        group = f"/aws/lambda/{self.stack.functions[function]}"
        return [event["message"] for page in pages.paginate(logGroupName=group) for event in page["events"]]

    def schedule(self, state: str) -> None:
        """Sets the schedules of the sweeper and the publisher to ENABLED or DISABLED. Disabled, they run only when a
        test calls them, or for new items, so that no test depends on who sweeps first."""
        scheduler = self.aws("scheduler")
        names = ("Name", "GroupName", "ScheduleExpression", "FlexibleTimeWindow", "Target")
        for listed in scheduler.list_schedules()["Schedules"]:
            found = scheduler.get_schedule(Name=listed["Name"], GroupName=listed["GroupName"])
            scheduler.update_schedule(**{name: found[name] for name in names}, State=state)

    # State

    def aws(self, service: str) -> Any:
        """Returns a client of the service, with an administrator's rights."""
        if service not in self._clients:  # making one takes longer than most calls
            self._clients[service] = self.stack.aws(service)
        return self._clients[service]

    @cached_property
    def bus_name(self) -> str:
        (described,) = self.aws("cloudformation").describe_stacks(StackName=STACK_NAME)["Stacks"]
        outputs = {each["OutputKey"]: str(each["OutputValue"]) for each in described["Outputs"]}
        return outputs["EventBusName"]

    @cached_property
    def dynamo(self) -> Any:
        """Returns a client for many threads."""
        config = Config(max_pool_connections=80, read_timeout=30, parameter_validation=False)
        return self.stack.aws("dynamodb", config)

    @cached_property
    def deps(self) -> Deps:
        """Returns the use cases' dependencies on the stack's table, in this process, with notices that go nowhere."""
        clock = SystemClock()
        store = DynamoStore(Table(self.dynamo, self.stack.table, Patience(clock)))
        return Deps(
            store=store,
            search=LexicalSearch(store, clock),
            dispatch_queue=FakeDispatchQueue(),
            clock=clock,
            ids=RandomIds(),
            trackers=NoTrackers(),
            tracker_queue=FakeTrackerQueue(),
            looks=FakeLooks(),
            secrets=FakeSecrets(),
            callback_key=FakeCallbackKey(),
            public_url=self.stack.api_url,
            log=lambda _message, **_fields: None,
        )

    @contextmanager
    def unchanged(self, of: str = "") -> Iterator[None]:
        """Fails if anything is written within it. ``of``: anything of this workspace. The counts of frequent requests
        don't matter."""
        if not self._end_of_stream or self._written(self._end_of_stream):
            self.await_told()
            self._end_of_stream = self._latest()
        begun = self._end_of_stream
        yield
        keys_of = [each["dynamodb"]["Keys"] for each in self._written(begun)]
        changed = {(key["pk"]["S"], key["sk"]["S"]) for key in keys_of}
        written = sorted(key for key in changed if (not of or f"#{of}#" in key[0]) and "#USE#" not in key[0])
        assert not written, f"written: {written}"

    def _latest(self) -> str:
        """Returns the end of the table's stream."""
        streams = self.aws("dynamodbstreams")
        (stream,) = streams.list_streams(TableName=self.stack.table)["Streams"]
        described = streams.describe_stream(StreamArn=stream["StreamArn"])["StreamDescription"]
        (shard,) = described["Shards"]
        at = {"StreamArn": stream["StreamArn"], "ShardId": shard["ShardId"], "ShardIteratorType": "LATEST"}
        return str(streams.get_shard_iterator(**at)["ShardIterator"])

    def _written(self, since: str) -> list[dict[str, Any]]:
        """Returns what the stream has after ``since``. If there is something, the end is forgotten, as further writes
        may follow from it."""
        answer = self.aws("dynamodbstreams").get_records(ShardIterator=since)
        records: list[dict[str, Any]] = answer["Records"]
        self._end_of_stream = "" if records else answer["NextShardIterator"]
        return records

    def await_told(self) -> None:
        """Returns once every event was published: marking an event as published is a write."""
        far = SystemClock().now() + timedelta(days=1)

        def told() -> bool:
            if not any(each.events for page in self.deps.store.outbox.pending_tasks(far) for each in page):
                return True
            self.invoke("PublishEvents")  # what the stream hasn't brought, once it is overdue
            return False

        until(told, 150, every=1)

    def age(self, workspace: str, task_id: str, seconds: float) -> None:
        """Moves everything that happened to the task into the past by that much, so that no test waits for a lease or
        an undo window. The trail keeps the old times."""
        key = to_wire(keys.head(workspace, task_id)._asdict())
        found = from_wire(self.dynamo.get_item(TableName=self.stack.table, Key=key, ConsistentRead=True)["Item"])
        task = items.task_from(found)

        def earlier(at: datetime | None) -> Any:
            return None if at is None else at - timedelta(seconds=seconds)

        names = ("claimed_at", "heartbeat_at", "expires_at", "marked_at")
        claim = task.claim and replace(task.claim, **{name: earlier(getattr(task.claim, name)) for name in names})
        aged = task.changed(
            ready_at=earlier(task.ready_at),
            undo_until=earlier(task.undo_until),
            wake_at=earlier(task.meta.wake_at),
            claim=claim,
        )
        self.dynamo.put_item(
            TableName=self.stack.table,
            Item=DEFAULT_SHARDS.placed(to_wire(items.head_item(aged))),
            ConditionExpression="#version = :seen",
            ExpressionAttributeNames={"#version": "version"},
            ExpressionAttributeValues=to_wire({":seen": task.meta.version}),
        )

    # The queue

    def notify(self, *bodies: Item | str) -> None:
        """Sends one message for each, at most ten."""
        entries = [
            {"Id": str(number), "MessageBody": body if isinstance(body, str) else json.dumps(body)}
            for number, body in enumerate(bodies)
        ]
        answer = self.aws("sqs").send_message_batch(QueueUrl=self.stack.queue_url, Entries=entries)
        assert not answer.get("Failed"), answer["Failed"]

    def ring_often(self, bodies: list[Item]) -> None:
        """Sends each message twice, in any order."""
        shuffled = bodies * 2
        random.shuffle(shuffled)
        for start in range(0, len(shuffled), 10):
            self.notify(*shuffled[start : start + 10])

    def lose_notices(self) -> None:
        """Removes every message from the queue."""
        self.aws("sqs").purge_queue(QueueUrl=self.stack.queue_url)

    def empty_dead_letters(self) -> None:
        self.aws("sqs").purge_queue(QueueUrl=self.stack.dlq_url)

    def notices(self) -> int:
        """Returns the number of messages that wait, are delayed, or are being handled."""
        names = [f"ApproximateNumberOfMessages{which}" for which in ("", "NotVisible", "Delayed")]
        asked = self.aws("sqs").get_queue_attributes(QueueUrl=self.stack.queue_url, AttributeNames=names)
        return sum(int(number) for number in asked["Attributes"].values())

    def await_silence(self) -> None:
        """Returns once every notice was handled."""
        until(lambda: self.notices() == 0)

    def take_dead_letters(self, count: int) -> list[tuple[str, str]]:
        """Takes body and reason of dead letters from the queue, once there are ``count`` of them."""
        sqs, url, taken = self.aws("sqs"), self.stack.dlq_url, []

        def enough() -> bool:
            answer = sqs.receive_message(
                QueueUrl=url, MaxNumberOfMessages=10, WaitTimeSeconds=5, MessageAttributeNames=["All"]
            )
            for message in answer.get("Messages", []):
                taken.append((message["Body"], message["MessageAttributes"]["reason"]["StringValue"]))
                sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
            return len(taken) >= count

        until(enough)
        return taken

"""AWS' services beside the table, as far as the functions call them: each keeps what it was sent."""

from __future__ import annotations

import copy
import json
from dataclasses import dataclass, field
from typing import Any

from botocore.exceptions import ClientError
from botocore.hooks import HierarchicalEmitter

Json = dict[str, Any]


class FakeSession:
    """Hands out what is there in place of the services. A session of boto3 takes a tenth of the time of a
    scenario to make."""

    def __init__(self, services: dict[str, Any]) -> None:
        self._services = services
        self.region_name = "us-east-1"
        self.events = HierarchicalEmitter()

    def client(self, service: str, **_: Any) -> Any:
        return self._services[service]


@dataclass
class FakeQueues:
    """``sent``: everything, in order. ``waiting``: what nobody has received yet."""

    sent: list[Json] = field(default_factory=list)
    waiting: list[Json] = field(default_factory=list)
    hidden: list[Json] = field(default_factory=list)

    def change_message_visibility(self, **request: Any) -> Json:
        self.hidden.append(request)
        return {}

    def send_message(self, **request: Any) -> Json:
        self.sent.append(request)
        self.waiting.append(request)
        return {"MessageId": f"message-{len(self.sent)}"}

    def receive(self, queue: str) -> list[Json]:
        """Takes all of a queue's, without regard to their delay."""
        taken = [each for each in self.waiting if each["QueueUrl"] == queue]
        self.waiting = [each for each in self.waiting if each["QueueUrl"] != queue]
        return taken


@dataclass
class FakeEvents:
    entries: list[Json] = field(default_factory=list)

    def list_rules(self, *, EventBusName: str) -> Json:  # noqa: N803
        return {"Rules": [{"Name": "all", "EventBusName": EventBusName, "State": "ENABLED"}]}

    def put_events(self, *, Entries: list[Json]) -> Json:  # noqa: N803
        self.entries += Entries
        return {"FailedEntryCount": 0, "Entries": [{"EventId": str(number)} for number, _ in enumerate(Entries)]}


@dataclass
class FakeConnections:
    """Of the bell: all are open. ``sent``: everything, in order, and None for a connection's end."""

    sent: list[Json] = field(default_factory=list)

    def post_to_connection(self, *, ConnectionId: str, Data: bytes) -> Json:  # noqa: N803
        self.sent.append({"connection": ConnectionId, "message": json.loads(Data)})
        return {}

    def delete_connection(self, *, ConnectionId: str) -> Json:  # noqa: N803
        self.sent.append({"connection": ConnectionId, "message": None})
        return {}


@dataclass
class FakeSecrets:
    kept: dict[str, str]

    def get_secret_value(self, *, SecretId: str, **_: Any) -> Json:  # noqa: N803
        self._must_have(SecretId)
        return {"Name": SecretId, "SecretString": self.kept[SecretId]}

    def put_secret_value(self, *, SecretId: str, SecretString: str) -> Json:  # noqa: N803
        self._must_have(SecretId)
        self.kept[SecretId] = SecretString
        return {}

    def create_secret(self, *, Name: str, SecretString: str, **_: Any) -> Json:  # noqa: N803
        self.kept[Name] = SecretString
        return {}

    def _must_have(self, name: str) -> None:
        if name not in self.kept:
            raise ClientError({"Error": {"Code": "ResourceNotFoundException", "Message": ""}}, "GetSecretValue")


@dataclass
class FakeBedrock:
    """``parts``: by agent, what its model says one after the other, the last ever after. ``asked``: as it was asked."""

    parts: dict[str, list[list[Json]]] = field(default_factory=dict)
    asked: list[Json] = field(default_factory=list)

    def converse(self, **request: Any) -> Json:
        self.asked.append(copy.deepcopy(request))
        replies = self.parts[request["requestMetadata"]["agent"]]
        content = replies.pop(0) if len(replies) > 1 else replies[0]
        calls = any("toolUse" in block for block in content)
        return {
            "output": {"message": {"role": "assistant", "content": content}},
            "stopReason": "tool_use" if calls else "end_turn",
            "usage": {"inputTokens": 11, "outputTokens": 7, "totalTokens": 18},
        }


def says(text: str) -> list[Json]:
    return [{"text": text}]


def uses(*tools: tuple[str, Json]) -> list[Json]:
    """A reply that calls each tool with its arguments."""
    return [
        {"toolUse": {"toolUseId": f"use-{number}", "name": name, "input": arguments}}
        for number, (name, arguments) in enumerate(tools, start=1)
    ]

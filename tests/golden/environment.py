"""Where the scenarios are played: the functions' own entry points, with everything around the process replaced at its
outermost wire. This file alone names parts of the product; all else here speaks HTTP, messages and stored items.

Replaced are AWS (boto3's sessions), Notion (httpx' transport), the clock, the randomness and how many workers there
are.
"""

from __future__ import annotations

import hashlib
import os
import random
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from importlib import import_module
from pathlib import Path
from typing import Any
from uuid import UUID

import boto3
import httpx
import pytest

from baton import bootstrap
from baton.adapters.notion import NotionTrackers
from baton.adapters.system import RandomIds, SystemClock
from baton.domain.access.principal import Principal, PrincipalKind
from baton.domain.lru_cache import LruCache
from golden.aws import FakeBedrock, FakeConnections, FakeEvents, FakeQueues, FakeSecrets, FakeSession
from support.clock import FakeClock
from support.context import FakeContext
from support.fakes.fake_dynamo import Change, FakeDynamo
from support.values.tokens import bearer, give_token, given_key, list_token
from tools.stand_ins.fake_notion import FakeNotion

ENTRY = "{}.handler.lambda_handler"
ENVIRONMENT = {
    "BATON_TABLE": "baton-golden",
    "BATON_QUEUE_URL": "https://sqs.example/bells",
    "BATON_DLQ_URL": "https://sqs.example/dead-letters",
    "BATON_TRACKER_QUEUE_URL": "https://sqs.example/tracker-bells",
    "BATON_TRACKER_DLQ_URL": "https://sqs.example/tracker-dead-letters",
    "BATON_BELL_URL": "wss://bell.example/live",
    "BATON_BELL_QUEUE_URL": "https://sqs.example/looks",
    "BATON_BUS": "golden-events",
    "BATON_WAKE_SHARDS": "4",  # in whose order the sweeper finds what is due
    "BATON_CALLBACKS_SEALED_BY": "callbacks-key",
    "BATON_NOTION_URL": "https://notion.example",
    "BATON_PUBLIC_URL": "https://baton.example",
    "BATON_SCRIPT": str(Path(__file__).with_name("script.yaml")),
    "POWERTOOLS_METRICS_NAMESPACE": "Baton",
    "POWERTOOLS_SERVICE_NAME": "golden",
    "BATON_RESERVE": "50",
}
MILLISECONDS = 180_000
TOKEN_BYTES = 16


class Numbers:
    """In place of the machine's randomness. Each kind of number is counted apart, so that one more of a kind changes no
    other. ``tokens``: what was drawn to tell one write's repeat from another's. Threads that were there before, such as
    those that an earlier test left, draw the machine's own."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._kind = ""
        self.tokens: set[str] = set()
        self._strangers = {*threading.enumerate()} - {threading.current_thread()}
        self._machines = os.urandom

    @contextmanager
    def of(self, kind: str) -> Iterator[None]:
        before, self._kind = self._kind, kind
        try:
            yield
        finally:
            self._kind = before

    def urandom(self, size: int) -> bytes:
        if threading.current_thread() in self._strangers:
            return self._machines(size)
        kind = self._kind or f"{size} bytes"
        self._counts[kind] += 1
        if kind.startswith("id "):
            return self._counts[kind].to_bytes(size)
        drawn = hashlib.sha256(f"{kind} {self._counts[kind]}".encode()).digest()[:size]
        if not self._kind and size == TOKEN_BYTES:
            self.tokens.add(UUID(bytes=drawn, version=4).hex)
        return drawn


class Environment:
    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.clock, self.numbers = FakeClock(), Numbers()
        self.dynamo, self.queues, self.events = FakeDynamo(), FakeQueues(), FakeEvents()
        self.secrets, self.bedrock = FakeSecrets({"callbacks-key": "the callbacks' key"}), FakeBedrock()
        self.connections = FakeConnections()
        self.given: set[tuple[str, str]] = set()  # the keys of the callers' tokens: they are no part of a scenario
        self.stream: list[Change] = []
        self.dynamo.watch = self.stream.extend
        self._chance = random.getstate()
        self._replace(monkeypatch)
        with self.numbers.of("notion"):
            self.notion = FakeNotion(self.clock.now)
        bootstrap.forget_all()

    def leave(self) -> None:
        """Nothing of it is left for other tests."""
        bootstrap.forget_all()
        random.setstate(self._chance)

    def bearer(self, workspace: str, kind: str, name: str, scopes: frozenset[str]) -> str:
        """The header of a caller, whose token is there from now on."""
        by = Principal(workspace, PrincipalKind(kind), name, scopes)
        give_token(self.dynamo, by)
        self.given.add(given_key(by))
        if by.is_human:
            self.given.add(list_token(self.dynamo, by))
        return bearer(by)

    def invoke(self, function: str, event: dict[str, Any]) -> Any:
        """What the function answers. Chance begins anew with every call, so that none depends on what another drew."""
        random.seed(1)
        module, _, name = ENTRY.format(function).rpartition(".")
        handler = getattr(import_module(module), name)
        with self.numbers.of(""):
            return handler(event, FakeContext([MILLISECONDS]))

    def _replace(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for name, value in ENVIRONMENT.items():
            monkeypatch.setenv(name, value)
        self.services: dict[str, Any] = {
            "dynamodb": self.dynamo,
            "sqs": self.queues,
            "events": self.events,
            "secretsmanager": self.secrets,
            "bedrock-runtime": self.bedrock,
            "apigatewaymanagementapi": self.connections,
        }
        monkeypatch.setattr(boto3.session, "Session", lambda: FakeSession(self.services))
        monkeypatch.setattr(os, "urandom", self.numbers.urandom)
        monkeypatch.setattr(httpx.HTTPTransport, "handle_request", lambda _self, request: self._ask_notion(request))
        monkeypatch.setattr(SystemClock, "now", lambda _self: self.clock.now())
        monkeypatch.setattr(SystemClock, "monotonic", lambda _self: self.clock.monotonic())
        monkeypatch.setattr(SystemClock, "sleep", lambda _self, seconds: self.clock.sleep(seconds))
        # Nothing waits for Notion here, however long the machine takes.
        defaults = NotionTrackers.__init__.__kwdefaults__ or {}
        monkeypatch.setitem(defaults, "monotonic", lambda: self.clock.now().timestamp())
        monkeypatch.setattr(RandomIds, "new", self._counted(RandomIds.new))
        monkeypatch.setattr("ring.handler.TOLD", LruCache())  # of a process: one scenario's isn't another's
        monkeypatch.setattr(bootstrap, "WORKERS_AT_ONCE", 1)  # of two, either might draw its number first

    def _counted(self, new: Callable[[RandomIds, str, datetime], str]) -> Callable[[RandomIds, str, datetime], str]:
        def counted(ids: RandomIds, prefix: str, at: datetime) -> str:
            with self.numbers.of(f"id {prefix}"):
                return new(ids, prefix, at)

        return counted

    def _ask_notion(self, request: httpx.Request) -> httpx.Response:
        with self.numbers.of("notion"):
            return self.notion.transport().handle_request(request)

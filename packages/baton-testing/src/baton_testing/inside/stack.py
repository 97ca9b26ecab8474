"""A deployment in memory: the API's functions on the faithful fake of the table, and the jobs of the background at the
times at which AWS would start them. Time moves only when it is told to."""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from math import ceil
from typing import Any

from api import handler as api
from baton.adapters.dynamodb.patience import Patience
from baton.adapters.dynamodb.store import DynamoStore
from baton.adapters.dynamodb.table import Table
from baton.adapters.lexical_search import LexicalSearch
from baton.adapters.system import RandomIds
from baton.bootstrap import log_line
from baton.domain import times
from baton.domain.access.principal import PrincipalKind, operator
from baton.ports.deps import Deps
from baton.services.access.issue_token import TokenRequest, issue_token
from baton.services.claims.join_branches import join_branches
from baton.services.events.publish_events import publish_records
from baton.services.tasks.sweep import sweep
from create_handoff_marker import handler as markers
from rest.app import App
from support.fakes.fake_dynamo import Change, FakeDynamo
from support.fakes.ports import (
    FakeBus,
    FakeCallbackKey,
    FakeDispatchQueue,
    FakeLooks,
    FakeSecrets,
    FakeTrackerQueue,
    NoTrackers,
)
from wait import handler as polls

URL = "https://baton.invalid"  # nothing is ever sent there
SWEEP_SECONDS = 60
_OPERATOR = operator("testing")


class _Clock:
    """A pause of Baton's own, such as that of a long poll, moves the time on."""

    def __init__(self) -> None:
        self.time = times.whole_ms(datetime.now(UTC))

    def now(self) -> datetime:
        return self.time

    def monotonic(self) -> float:
        return self.time.timestamp()

    def sleep(self, seconds: float) -> None:
        self.time += timedelta(milliseconds=round(seconds * 1000))


class Stack:
    """For one thread at a time. It begins at the machine's time."""

    def __init__(self) -> None:
        self.clock, self._written = _Clock(), list[Change]()
        self._bus, self._notices = FakeBus(), FakeDispatchQueue()
        self._swept_at = self.clock.time
        dynamo = FakeDynamo()
        dynamo.watch = self._written.extend
        store = DynamoStore(Table(dynamo, "baton", Patience(self.clock)))
        self._deps = Deps(
            store=store,
            search=LexicalSearch(store, self.clock),
            dispatch_queue=self._notices,
            clock=self.clock,
            ids=RandomIds(),
            trackers=NoTrackers(),
            tracker_queue=FakeTrackerQueue(),
            secrets=FakeSecrets(),
            callback_key=FakeCallbackKey(),
            looks=FakeLooks(),
            public_url=URL,
            log=log_line,
        )
        self._api = App(api.routes, lambda: self._deps, elsewhere=api.ELSEWHERE)
        others = (App(each.routes, lambda: self._deps) for each in (markers, polls))
        self._apps: Sequence[App] = (*others, self._api)

    @property
    def now(self) -> datetime:
        return self.clock.time

    @property
    def events(self) -> list[dict[str, Any]]:
        """The details of all events that went to the bus, in order."""
        return [json.loads(each.detail) for each in self._bus.took]

    def token(self, kind: str, name: str) -> str:
        """Returns a new token: a human's is an administrator's."""
        scopes = _OPERATOR.scopes if kind == "human" else frozenset[str]()
        wanted = TokenRequest(kind=PrincipalKind(kind), subject=name, scopes=scopes)
        return issue_token(self._deps, _OPERATOR, wanted)[1]

    def answer(
        self, method: str, path: str, content: bytes | None, headers: Mapping[str, str]
    ) -> tuple[int, dict[str, str], bytes]:
        """Returns status, headers with names in lower case, and body, as API Gateway would."""
        path, _, query = path.partition("?")
        context = {"http": {"method": method, "path": path}, "requestId": "testing", "stage": "$default"}
        event: dict[str, Any] = {
            "version": "2.0",
            "routeKey": "$default",
            "rawPath": path,
            "rawQueryString": query,
            "headers": {name.lower(): value for name, value in headers.items()},
            "requestContext": context,
            "isBase64Encoded": False,
        }
        if content is not None:
            event["body"] = content.decode()
        app = next((each for each in self._apps if each.has_route_of(event)), self._api)
        answer = app(event)
        self._settle()
        found = {name.lower(): value for name, value in answer["headers"].items()}
        return answer["statusCode"], found, answer.get("body", "").encode()

    def step(self, most: float) -> float:
        """Moves the time on to the next run of the sweeper that finds something, by ``most`` seconds at most. Returns
        the seconds."""
        begun_at = self.now
        until = begun_at + timedelta(milliseconds=max(1, ceil(most * 1000)))  # a clock has whole ms
        last = int((until - self._swept_at).total_seconds() // SWEEP_SECONDS)
        number = bisect_left(range(1, last + 1), True, key=lambda each: self._is_due(self._minute(each))) + 1
        if number > last:
            self._swept_at = self._minute(last)
            self.clock.time = until
        else:
            self._swept_at = self._minute(number)
            self.clock.time = max(begun_at, self._swept_at)
            sweep(self._deps)
            self._settle()
        return (self.now - begun_at).total_seconds()

    def _minute(self, number: int) -> datetime:
        return self._swept_at + timedelta(seconds=SWEEP_SECONDS * number)

    def _is_due(self, at: datetime) -> bool:
        return next(iter(self._deps.store.queues.due(at)), None) is not None

    def _settle(self) -> None:
        """Handles what was written and notified, as the table's stream and the dispatch queue bring it on AWS."""
        while self._written or self._notices.notices:
            changes, self._written[:] = list(self._written), []
            # By the template's filters.
            records = [
                {"eventName": "INSERT" if old is None else "MODIFY", "dynamodb": {"NewImage": new}}
                for _, old, new in changes
                if new is not None and "fresh" in new
            ]
            if records:
                publish_records(self._deps, self._bus, records)
            notices, self._notices.notices[:] = list(self._notices.notices), []
            for workspace, _, task_id, _ in notices:
                join_branches(self._deps, workspace, task_id)  # an agent that Baton runs isn't run

"""Notion as a tracker: what its refusals and silences mean, what is repeated, and how long it may take."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from operator import methodcaller
from typing import Any

import httpx
import pytest

from baton.adapters.notion import NotionTracker, NotionTrackers
from baton.adapters.system import SystemClock
from baton.domain.errors import (
    PageGone,
    PageRefused,
    TrackerAway,
    TrackerDenies,
)
from baton.domain.settings.tracker_settings import TrackerSettings
from baton.domain.task_state import State
from support.clock import NOON
from support.fakes.notion_adapter import CREATE, LOOK, TITLE, NotionAdapter, Tokens, always, page_fields, trouble_of
from tools.stand_ins.fake_notion import FakeNotion, Fault, ScriptedFault, serve


@pytest.fixture
def adapter() -> Iterator[NotionAdapter]:
    adapter = NotionAdapter()
    yield adapter
    assert all(one.headers["Notion-Version"] == "2026-03-11" for one in adapter.wire.seen)


# What Notion's answers mean


@pytest.mark.parametrize(
    ("fault", "writes", "reads"),
    [
        (Fault.refused(), (TrackerAway, False), (TrackerAway, False)),
        (Fault.timeout_before(), (TrackerAway, True), (TrackerAway, False)),
        (Fault.timeout_after(), (TrackerAway, True), (TrackerAway, False)),
        (Fault(500), (TrackerAway, True), (TrackerAway, False)),
        (Fault(502), (TrackerAway, True), (TrackerAway, False)),
        (Fault(503), (TrackerAway, True), (TrackerAway, False)),
        (Fault(504), (TrackerAway, True), (TrackerAway, False)),
        (Fault(429), (TrackerAway, False), (TrackerAway, False)),
        (Fault(529), (TrackerAway, False), (TrackerAway, False)),
        (Fault(409), (TrackerAway, False), (TrackerAway, False)),
        (Fault(401), (TrackerDenies, False), (TrackerDenies, False)),
        (Fault(403), (TrackerDenies, False), (TrackerDenies, False)),
        (Fault(400), (PageRefused, False), (PageRefused, False)),
        (Fault(413, code="validation_error"), (PageRefused, False), (PageRefused, False)),
        (Fault(404), (PageRefused, False), (PageGone, False)),
    ],
    ids=str,
)
def test_each_answer_means_one_thing(adapter: NotionAdapter, fault: Fault, writes: Any, reads: Any) -> None:
    for act, (kind, unclear) in ((CREATE, writes), (LOOK, reads)):
        adapter.fake.fault = always(fault, "/v1/pages")
        trouble = trouble_of(adapter, act)
        assert isinstance(trouble, kind)
        assert trouble.unclear is unclear


@pytest.mark.parametrize("body", [b"<html>", b"\xff\xfe", b"[]", b"null"])
def test_an_answer_that_cant_be_read_is_unclear_for_what_was_written(adapter: NotionAdapter, body: bytes) -> None:
    adapter.wire.instead = lambda one: httpx.Response(200, content=body) if "pages" in one.url.path else None
    assert trouble_of(adapter, CREATE).unclear
    assert len(adapter.wire.bodies("POST", "/v1/pages")) == 1
    assert not trouble_of(adapter, LOOK).unclear


@pytest.mark.parametrize("error", [httpx.ReadError, httpx.WriteError, httpx.RemoteProtocolError, httpx.WriteTimeout])
def test_a_connection_that_breaks_is_unclear_for_what_was_written(
    adapter: NotionAdapter, error: type[Exception]
) -> None:
    def instead(request: httpx.Request) -> httpx.Response | None:
        if "pages" in request.url.path:
            raise error("ntn_ and what was sent")
        return None

    adapter.wire.instead = instead
    assert trouble_of(adapter, CREATE).unclear
    assert not trouble_of(adapter, LOOK).unclear


def test_a_page_that_is_gone_is_told_from_a_database_that_isnt_shared(adapter: NotionAdapter) -> None:
    page = adapter.page_of()
    adapter.fake.unshare(page.id)
    acts: list[Callable[[NotionTracker], object]] = [
        lambda tracker: tracker.look(page.id),
        lambda tracker: tracker.update(page.id, page_fields(state=State.DONE)),
        lambda tracker: tracker.comment(page.id, "x", unless_there=True),
        lambda tracker: tracker.comment(page.id, "x", unless_there=False),
    ]
    for act in acts:
        assert isinstance(trouble_of(adapter, act), PageGone)
    adapter.fake.unshare(adapter.database.id)
    for act in [
        *acts,
        CREATE,
        lambda tracker: tracker.find(page_fields()),
        lambda tracker: list(tracker.changed_since(NOON)),
    ]:
        trouble = trouble_of(adapter, act)
        assert isinstance(trouble, TrackerDenies)
        assert "add the connection under ••• → Connections" in trouble.message


def test_what_is_no_page_id_is_no_page(adapter: NotionAdapter) -> None:
    assert isinstance(trouble_of(adapter, lambda tracker: tracker.look("../users/me")), PageGone)
    assert adapter.fake.requests == []


def test_without_a_token_nothing_is_asked(adapter: NotionAdapter) -> None:
    trouble = trouble_of(adapter, lambda _: adapter.tracker("globex").create(page_fields()))
    assert (type(trouble).code, trouble.message) == ("tracker_denies", "No Notion token is set: PUT /tracker/token.")
    adapter.tokens.is_busy = True
    assert isinstance(trouble_of(adapter, CREATE), TrackerAway)
    assert adapter.fake.requests == []


@pytest.mark.parametrize("old", ["ntn_old", "ntn_ü", "ntn_\n"])
def test_a_token_that_was_replaced_is_read_again_once(adapter: NotionAdapter, old: str) -> None:
    adapter.tokens.kept["acme"] = old
    adapter.tracker().create(page_fields())
    assert (len(adapter.database.pages), adapter.tokens.afresh) == (1, 1)
    adapter.tokens.kept["acme"] = adapter.tokens.tokens["acme"] = old
    assert isinstance(trouble_of(adapter, CREATE), TrackerDenies)
    assert adapter.tokens.afresh == 2
    adapter.tokens.tokens["acme"] = None
    assert trouble_of(adapter, CREATE).message.startswith("No Notion token is set")


def test_a_missing_capability_is_named(adapter: NotionAdapter) -> None:
    page = adapter.page_of()
    adapter.fake.fault = always(Fault(403), "/v1/comments")
    for unless_there in (True, False):
        comment = methodcaller("comment", page.id, "x", unless_there=unless_there)
        trouble = trouble_of(adapter, comment)
        assert "capabilities to read and to insert comments" in trouble.message
    adapter.fake.fault = always(Fault(403), "/v1/users")
    assert "read user information" in trouble_of(adapter, lambda tracker: tracker.who(adapter.fake.person)).message
    adapter.fake.fault = None
    limit = {"code": "restricted_resource", "message": "no", "additional_data": {"block_limit": 1000}}
    adapter.wire.instead = lambda _: httpx.Response(403, json=limit)
    assert trouble_of(adapter, CREATE).message.startswith("Notion's Free plan takes no more blocks")
    adapter.wire.instead = lambda _: httpx.Response(200, json={"object": "user", "id": adapter.fake.person})
    assert "read user information" in trouble_of(adapter, lambda tracker: tracker.who(adapter.fake.person)).message


# Repeating


@pytest.mark.parametrize("status", [429, 529, 409])
def test_what_was_asked_to_wait_a_moment_waits_and_is_repeated_once(adapter: NotionAdapter, status: int) -> None:
    adapter.tracker().problems()
    adapter.fake.fault = ScriptedFault(Fault(status, retry_after=1), path="/v1/pages")
    adapter.tracker().create(page_fields())
    assert (adapter.clock.slept, len(adapter.database.pages)) == ([1.0], 1)
    adapter.fake.fault = ScriptedFault(Fault(status, retry_after=1), count=2, path="/v1/pages")
    assert trouble_of(adapter, CREATE).retry_after == 1
    assert len(adapter.database.pages) == 1


@pytest.mark.parametrize(("retry_after", "seconds"), [(3, 60.0), (40, 60.0), (2, 2.0)])
def test_a_wait_that_is_too_long_is_left_to_the_caller(
    adapter: NotionAdapter, retry_after: int, seconds: float
) -> None:
    adapter.fake.fault = always(Fault(429, retry_after=retry_after), "/v1/pages")
    trouble = trouble_of(adapter, CREATE, seconds)
    assert (trouble.retry_after, trouble.unclear, adapter.clock.slept) == (retry_after, False, [])


@pytest.mark.parametrize(
    ("given", "meant"),
    [("Wed, 18 Nov 2026 12:00:52 GMT", 10), ("Wed, 18 Nov 2026 11:00:00 GMT", 0), ("soon", None), ("7.5", 7.5)],
)
def test_retry_after_is_seconds_or_a_date(adapter: NotionAdapter, given: str, meant: float | None) -> None:
    answer = httpx.Response(429, headers={"Retry-After": given}, json={"code": "rate_limited", "message": "no"})
    adapter.wire.instead = lambda _: answer
    adapter.clock.stands_still = True
    assert trouble_of(adapter, CREATE).retry_after == meant


def test_readings_are_repeated_once_and_unclear_writings_never(adapter: NotionAdapter) -> None:
    page = adapter.page_of()
    for fault in (Fault(500), Fault(503), Fault.refused(), Fault.timeout_before()):
        adapter.fake.clear_requests()
        adapter.fake.fault = ScriptedFault(fault, path="/v1/pages")
        assert adapter.tracker().look(page.id).title == TITLE
        assert adapter.asked().count("GET pages") == 2
        assert 0.1 < adapter.clock.slept[-1] < 0.5
    for fault in (Fault(500), Fault(503), Fault.timeout_after(), Fault.timeout_before()):
        adapter.fake.clear_requests()
        adapter.fake.fault = ScriptedFault(fault, path="/v1/pages")
        assert trouble_of(adapter, CREATE).unclear
        assert adapter.asked().count("POST pages") == 1


def test_a_writing_that_never_left_is_repeated(adapter: NotionAdapter) -> None:
    adapter.fake.fault = ScriptedFault(Fault.refused(), method="POST", path="/v1/pages")
    adapter.tracker().create(page_fields())
    assert len(adapter.database.pages) == 1


# The budget


def test_nothing_is_asked_once_the_budget_is_spent(adapter: NotionAdapter) -> None:
    tracker = adapter.tracker(seconds=3)
    adapter.clock.advance(2.96)
    with pytest.raises(TrackerAway, match="no time left") as away:
        tracker.create(page_fields())
    assert (away.value.unclear, adapter.fake.requests, adapter.clock.slept) == (False, [], [])


def test_each_step_of_a_request_has_what_is_left(adapter: NotionAdapter) -> None:
    def instead(request: httpx.Request) -> httpx.Response | None:
        timeouts = request.extensions["timeout"]
        assert timeouts.get("connect") == pytest.approx(3)
        adapter.clock.advance(2)
        assert [timeouts.get(step) for step in timeouts] == [pytest.approx(1)] * 4
        adapter.clock.advance(1)
        timeouts.get("read")
        raise AssertionError

    adapter.wire.instead = instead
    with pytest.raises(TrackerAway, match="didn't answer in time"):
        adapter.tracker(seconds=3).look("a" * 32)
    assert len(adapter.wire.seen) == 1


def test_no_request_takes_more_than_ten_seconds_of_a_long_budget(adapter: NotionAdapter) -> None:
    found: list[float] = []
    adapter.wire.instead = lambda request: found.append(request.extensions["timeout"].get("read"))
    adapter.tracker(seconds=60).find(page_fields())
    assert found == [pytest.approx(10)] * len(found)
    assert found


def test_nothing_is_sent_after_a_connection_that_took_too_long(adapter: NotionAdapter) -> None:
    def instead(request: httpx.Request) -> httpx.Response | None:
        adapter.clock.advance(3.5)
        request.extensions["timeout"].get("connect")
        raise AssertionError

    adapter.wire.instead = instead
    with pytest.raises(TrackerAway) as away:
        adapter.tracker(seconds=3).create(page_fields())
    assert not away.value.unclear


def test_an_answer_that_trickles_in_doesnt_stretch_it(adapter: NotionAdapter) -> None:
    class Drip(httpx.SyncByteStream):
        closed = False

        def __iter__(self) -> Iterator[bytes]:
            for byte in b'{"id": "' + b"x" * 99 + b'"}':
                adapter.clock.advance(0.5)
                yield bytes([byte])

        def close(self) -> None:
            Drip.closed = True

    adapter.wire.instead = lambda one: httpx.Response(200, stream=Drip()) if one.url.path == "/v1/pages" else None
    began = adapter.clock.time
    trouble = trouble_of(adapter, CREATE)
    assert (trouble.unclear, Drip.closed) == (True, True)
    assert adapter.clock.time - began <= timedelta(seconds=3.5)


# Over a real connection


@pytest.fixture
def served() -> Iterator[tuple[FakeNotion, NotionTrackers, TrackerSettings]]:
    fake = FakeNotion()
    settings = TrackerSettings().changed({"database": fake.add_database().id})
    with serve(fake) as server, httpx.HTTPTransport() as pool:
        tokens = Tokens(acme=fake.token)
        yield fake, NotionTrackers(tokens, server.url, clock=SystemClock(), transport=pool), settings


@pytest.mark.parametrize("fault", [Fault.slow(5), Fault.drip(5)], ids=["slow", "drip"])
def test_a_slow_notion_is_given_up_in_time(served: Any, fault: Fault) -> None:
    fake, trackers, settings = served
    page = trackers.of("acme", settings, 3).create(page_fields()).page
    fake.fault = lambda _, path: fault if path == f"/v1/pages/{page.id}" else None
    with pytest.raises(TrackerAway) as away:  # it would answer, but later
        trackers.of("acme", settings, 0.3).update(page.id, page_fields(state=State.DONE))
    assert away.value.unclear
    fake.fault = None
    assert trackers.of("acme", settings, 3).update(page.id, page_fields(state=State.DONE)).status == "Done"

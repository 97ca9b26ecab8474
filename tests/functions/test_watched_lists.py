"""Who looks at a list again and again, and takes one that is half a minute old, is answered from the workspace's watch:
while the stream runs and has told of nothing, and never for longer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from baton.adapters.dynamodb import items, keys
from baton.adapters.dynamodb.table import to_wire
from baton.domain.access.principal import ACT_AS, Principal, PrincipalKind
from baton.services.conversations.converse import Opening, start_conversation
from baton.services.tasks.approve_task import approve_task
from baton.services.tasks.end_task import cancel_task
from rest.etags import edition_of, without_edition
from rest.freshness import age_taken
from support.fakes.ports import FakeBus
from support.faults.wrapped_store import WrappedStore
from support.gateway import ROUTES, Gateway, Reply
from support.published import Stream
from support.values.tokens import raise_config_version, token_of
from support.worlds.rig import Rig
from support.worlds.world import WORKSPACE, agent, human

ALICE, BOB = human(), human(name="bob")
RECENT = "max-age=30"


class Page:
    """An open page of the console on a settled workspace, and the stream of its table. ``tag``: what it was shown
    last."""

    def __init__(self, path: str = "/tasks", query: str = "state=needs", *, by: Principal = ALICE) -> None:
        self.rig = Rig().settle()
        self.world, self.clock = self.rig.world, self.rig.clock
        self.task_id = self.world.needing()
        task = self.world.task(self.task_id)
        self.path = path.format(handoff_id=task.handoff_id, workflow_id=task.workflow_id)
        self.query, self.by, self.tag = query, by, ""
        self.stream, self.gateway = Stream(self.rig.raw), Gateway(self.world.deps)

    def look(self, control: str = RECENT, *, tag: str | None = None, by: Principal | None = None) -> Reply:
        headers = {"if-none-match": self.tag if tag is None else tag, "cache-control": control}
        given = {name: value for name, value in headers.items() if value}
        self.rig.choked.calls.clear()
        reply = self.gateway.get(by or self.by, self.path, query=self.query, headers=given)
        self.tag = reply.headers["ETag"]
        return reply

    @property
    def was_made(self) -> bool:
        """True if the last look has read more than the token's check and the watch."""
        return self.rig.choked.calls != ["get_item", "get_item"]

    def bring(self) -> None:
        self.stream.bring(self.world.deps)

    def watched(self) -> Page:
        """From now on, for the rest of half a minute, it is answered from the watch."""
        self.look()
        self.bring()
        self.clock.advance(6)
        self.look()
        assert self.look().status == 304
        assert not self.was_made
        return self

    def approve(self) -> None:
        approve_task(self.rig.other().deps, BOB, self.task_id, None)


def test_a_list_is_made_once_in_half_a_minute_while_nothing_changes() -> None:
    """In a minute of a look each two seconds."""
    page = Page().watched()
    page.clock.advance(24)
    made, statuses = 0, set()
    for _ in range(30):
        statuses.add(page.look().status)
        made += page.was_made
        page.bring()
        page.clock.advance(2)
    assert (statuses, made) == ({304}, 2)


def test_a_change_is_seen_once_the_stream_has_brought_it() -> None:
    page = Page().watched()
    page.approve()
    assert page.look().status == 304
    page.bring()
    assert page.look().json["items"] == []


def test_a_changed_list_is_made_anew_until_the_indexes_have_the_change() -> None:
    """What is read in the moment of a change may not have it yet."""
    page = Page().watched()
    page.approve()
    page.bring()
    for since, has_edition in ((0, False), (4.9, False), (5, True)):
        page.clock.time = page.clock.time.replace(second=6, microsecond=0)
        page.clock.advance(since)
        page.look()
        assert page.was_made
        assert (edition_of(page.tag) is not None) is has_edition
    page.look()
    assert not page.was_made


def test_the_first_looks_are_made_until_the_watch_is_settled() -> None:
    """What came before anybody looked was noted by nobody."""
    page = Page()
    page.look()
    assert page.look().status == 304
    assert (page.was_made, edition_of(page.tag)) == (True, None)
    page.bring()
    for since in (0, 4.9):
        page.clock.advance(since)
        page.look()
        assert (page.was_made, edition_of(page.tag)) == (True, None)
    page.clock.advance(0.1)
    page.look()
    assert edition_of(page.tag) is not None


def test_a_stream_that_does_not_run_leaves_every_list_as_exact_as_before() -> None:
    page = Page()
    for _ in range(40):
        page.look()
        assert (page.was_made, edition_of(page.tag)) == (True, None)
        page.clock.advance(2)
    page.approve()
    assert page.look().json["items"] == []


def test_a_stream_that_stands_still_hides_a_change_for_the_rest_of_half_a_minute() -> None:
    page = Page().watched()
    page.approve()
    page.clock.time = page.clock.time.replace(second=29, microsecond=999_000)
    assert page.look().status == 304
    page.clock.advance(0.001)
    assert page.look().json["items"] == []


def test_a_stream_that_has_brought_nothing_for_a_minute_is_not_trusted() -> None:
    page = Page().watched()
    page.clock.advance(53.9)  # 59.9 s after what it has brought
    page.look()
    assert edition_of(page.tag) is not None
    page.clock.advance(0.1)
    page.look()
    assert (page.was_made, edition_of(page.tag)) == (True, None)


def test_after_a_pause_a_watch_begins_anew() -> None:
    page = Page().watched()
    page.clock.advance(300)
    page.approve()
    page.bring()
    assert page.look().json["items"] == []
    page.bring()
    page.look()
    assert (page.was_made, edition_of(page.tag)) == (True, None)


@pytest.mark.parametrize("control", ["", "no-cache", "max-age=0", "max-age=29", "max-age=30, no-cache"])
def test_who_takes_no_old_list_gets_none(control: str) -> None:
    page = Page().watched()
    tag = page.tag
    assert page.look(control).status == 304
    assert (page.was_made, page.tag) == (True, without_edition(tag))
    page.approve()
    assert page.look(control, tag=tag).json["items"] == []


def test_a_tag_that_was_shown_an_exact_list_has_edition_with_the_next_look() -> None:
    page = Page().watched()
    page.look("")
    assert page.look().status == 304
    assert page.was_made
    assert page.look().status == 304
    assert not page.was_made


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        (None, 0),
        ("", 0),
        ("max-age=30", 30),
        ("MAX-AGE=30 , public", 30),
        ('max-age="30"', 30),
        ("max-age=30, max-age=10", 10),
        ("max-stale=99, max-age=31", 31),
        ("max-age=99999999999999999999", 999_999_999),
        ("no-store, max-age=30", 0),
        *((wrong, 0) for wrong in ("max-age", "max-age=", "max-age=-1", "max-age=3e1", "max-age=٣٠", 'max-age="30')),
        *((wrong, 0) for wrong in ("max-age=30;x", "max-age =30", "x-max-age=30", ",,,=")),
    ],
)
def test_an_age_that_is_not_understood_asks_for_nothing(header: str | None, seconds: int) -> None:
    assert age_taken(header) == seconds


@pytest.mark.parametrize(
    ("by", "path", "query"),
    [
        (BOB, "/tasks", "state=needs"),
        (human("other"), "/tasks", "state=needs"),
        (ALICE, "/tasks", "state=needs&limit=5"),
        (ALICE, "/handoffs", "state=needs"),
    ],
)
def test_an_edition_is_of_one_persons_view_of_one_list(by: Principal, path: str, query: str) -> None:
    page = Page().watched()
    page.path, page.query = path, query
    page.look(by=by)
    assert page.was_made


def test_an_edition_is_of_one_release() -> None:
    page = Page().watched()
    page.gateway = Gateway(replace(page.world.deps, release="0" * 16))
    page.look()
    assert page.was_made


@pytest.mark.parametrize("by", [agent("auditor"), Principal(WORKSPACE, PrincipalKind.SERVICE, "ci", frozenset())])
def test_who_does_not_read_all_is_told_nothing_of_what_happens_to_the_rest(by: Principal) -> None:
    """An edition would end with work that isn't the caller's."""
    page = Page(by=by)
    for _ in range(10):
        page.look()
        assert edition_of(page.tag) is None
        page.bring()
        page.clock.advance(2)
    assert keys.watch(WORKSPACE) not in page.rig.raw.contents()


def test_a_service_that_acts_for_others_looks_as_a_human_does() -> None:
    Page(by=Principal(WORKSPACE, PrincipalKind.SERVICE, "ci", frozenset({ACT_AS}))).watched()


MADE_OF_TASKS = [
    ("/tasks", "day=2026-11-18"),
    ("/tasks", "agent=auditor"),
    ("/handoffs", "target=auditor"),
    ("/handoffs/{handoff_id}", ""),
    ("/workflows/{workflow_id}/chain", ""),
    ("/workflows/{workflow_id}/chain", "format=text"),
    ("/graph/directions", ""),
]


@pytest.mark.parametrize(("path", "query"), MADE_OF_TASKS)
def test_whatever_is_made_of_tasks_is_looked_at_in_this_way(path: str, query: str) -> None:
    page = Page(path, query).watched()
    before = page.look("no-cache", tag="").text
    page.look()
    cancel_task(page.rig.other().deps, BOB, page.task_id, None)
    page.bring()
    after = page.look()
    assert after.status == 200
    assert after.text != before


def test_a_list_of_conversations_is_looked_at_in_this_way() -> None:
    page = Page("/conversations", "").watched()
    opening = Opening(agent="runner", message="Is it ready?", context={})
    begun = start_conversation(page.rig.other().deps, BOB, opening).task
    assert page.look().status == 304
    page.bring()
    assert [each["conversation_id"] for each in page.look().json["items"]] == [begun.workflow_id]


def test_these_are_all_routes_of_which_the_document_says_so() -> None:
    made = {route.path for route in ROUTES if route.made_of_tasks}
    assert made == {"/tasks", "/conversations", *(path for path, _ in MADE_OF_TASKS)}


def test_an_edition_opens_nothing_once_the_token_is_revoked() -> None:
    page = Page().watched()
    revoked = replace(token_of(ALICE), revoked_at=page.clock.now(), revoked_by="human:bob")
    page.rig.raw.put(to_wire(items.token_item(revoked)))
    raise_config_version(page.rig.raw, WORKSPACE)
    headers = {"if-none-match": page.tag, "cache-control": RECENT}
    assert page.gateway.get(ALICE, "/tasks", query="state=needs", headers=headers).code == "token_refused"


# What goes wrong


def test_a_watch_that_cannot_be_asked_for_hinders_nobody() -> None:
    page = Page()
    page.look("")
    page.rig.choked.plan = lambda _number, operation: "error_before" if operation == "update_item" else None
    assert page.look().status == 304
    assert page.world.logged[-1]["action"] == "watch_not_asked"


@pytest.mark.parametrize("broken", ["of_workspaces", "note_change", "note_brought"])
def test_a_watch_that_cannot_be_told_holds_up_no_event_and_is_soon_not_trusted(broken: str) -> None:
    page = Page().watched()
    deps, bus = broken_deps(page, broken), FakeBus()
    page.clock.advance(30)
    page.approve()
    page.look()
    told = page.stream.bring(deps, bus)
    assert (told.published, len(bus.took), told.complete) == (1, 1, True)
    assert page.world.logged[-1]["action"] == "watch_untold"
    watch = page.world.store.watches.watch(WORKSPACE)
    assert watch is not None
    assert watch.brought_at is not None
    assert watch.brought_at < watch.asked_at


def broken_deps(page: Page, broken: str) -> Any:
    class Broken(WrappedStore):
        def around(self, name: str, call: Any) -> Any:
            if name == broken:
                raise OSError("no answer")
            return call

    return replace(page.world.deps, store=Broken(page.world.store))


def test_where_nobody_looks_the_stream_writes_nothing_of_it() -> None:
    page = Page()
    page.approve()
    page.rig.choked.calls.clear()
    page.bring()
    writes = [call for call in page.rig.choked.calls if not call.startswith(("batch_get", "query"))]
    assert writes == ["update_item"] * 2  # what was decided, and what was told of the task
    assert keys.watch(WORKSPACE) not in page.rig.raw.contents()

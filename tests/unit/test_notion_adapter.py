"""Notion as a tracker: what goes over the wire, what is left out, and what its refusals and silences mean."""

from __future__ import annotations

import json
import logging
import time
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import date, timedelta
from typing import Any

import httpx
import pytest

from baton.adapters.notion import NotionTracker, NotionTrackers, texts
from baton.adapters.system import SystemClock
from baton.domain.errors import (
    Busy,
    PageGone,
    PageRefused,
    TrackerAway,
    TrackerDenies,
    TrackerTrouble,
)
from baton.domain.marker import Priority
from baton.domain.page_news import Editor
from baton.domain.sheet import Sheet
from baton.domain.task import State
from baton.domain.tracker import TrackerSettings
from baton.ports import Problem
from fake_notion import SELECT, STATUS, Database, FakeNotion, Fault, ScriptedFault, serve
from support.clock import NOON, FakeClock

TASK, OTHER = "task_" + "0" * 26, "task_" + "1" * 26
TITLE = "Handoff: Scribe → Auditor — 2026-11-19"
CLOSING = "Done, Closed, Complete, Cancelled, Canceled"
TITLE_ONLY = {"Name": {"type": "title"}}


class Wire(httpx.BaseTransport):
    """The way to the fake: what went over it, and answers instead of its own."""

    def __init__(self, fake: FakeNotion) -> None:
        self.fake = fake
        self.seen: list[httpx.Request] = []
        self.instead: Callable[[httpx.Request], httpx.Response | None] = lambda _: None

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.seen.append(request)
        return self.instead(request) or self.fake.transport().handle_request(request)

    def bodies(self, method: str, path: str) -> list[dict[str, Any]]:
        return [json.loads(one.content) for one in self.seen if (one.method, one.url.path) == (method, path)]

    def refuse(self, count: int, status: int, message: str, method: str = "POST", path: str = "/v1/pages") -> None:
        """The next ``count`` requests."""
        left = [message] * count
        code = {400: "validation_error", 404: "object_not_found", 403: "restricted_resource"}[status]

        def instead(request: httpx.Request) -> httpx.Response | None:
            if (request.method, request.url.path) != (method, path) or not left:
                return None
            answer = {"object": "error", "status": status, "code": code, "message": left.pop()}
            return httpx.Response(status, json=answer)

        self.instead = instead


class Tokens:
    """Secrets by workspace. ``kept``: what was read before and is given again unless asked for afresh."""

    def __init__(self, **tokens: str | None) -> None:
        self.tokens, self.kept, self.is_busy, self.afresh = dict(tokens), dict(tokens), False, 0

    def put(self, workspace: str, token: str) -> None:
        self.tokens[workspace] = token

    def get(self, workspace: str, *, afresh: bool = False) -> str | None:
        if self.is_busy:
            raise Busy
        if afresh:
            self.afresh += 1
            self.kept[workspace] = self.tokens.get(workspace)
        return self.kept.get(workspace)


class Office:
    def __init__(self) -> None:
        self.clock = FakeClock(NOON + timedelta(seconds=42))
        self.fake = FakeNotion(self.clock.now)
        self.wire = Wire(self.fake)
        self.tokens = Tokens(acme=self.fake.token)
        self.trackers = NotionTrackers(
            self.tokens, "http://notion.test/", clock=self.clock, transport=self.wire, monotonic=self.monotonic
        )
        self.database = self.fake.add_database()

    def monotonic(self) -> float:
        return self.clock.time.timestamp()

    def use(self, properties: dict[str, Any] | None = None, status_type: str = STATUS) -> Database:
        self.database = self.fake.add_database(properties=properties, status_type=status_type)
        return self.database

    def settings(self, **values: Any) -> TrackerSettings:
        return TrackerSettings().changed({"database": self.database.id, **values})

    def tracker(self, workspace: str = "acme", seconds: float = 3, **values: Any) -> NotionTracker:
        return self.trackers.of(workspace, self.settings(**values), seconds)

    def page_of(self, **values: Any) -> Any:
        return self.fake.pages[self.tracker().create(sheet(**values)).page.id]

    def asked(self) -> list[str]:
        return [f"{call.method} {call.path.split('/')[2]}" for call in self.fake.requests]


@pytest.fixture
def office() -> Iterator[Office]:
    office = Office()
    yield office
    assert all(one.headers["Notion-Version"] == "2026-03-11" for one in office.wire.seen)


def sheet(**values: Any) -> Sheet:
    usual = Sheet(
        task_id=TASK,
        title=TITLE,
        state=State.NEEDS,
        priority=Priority.P0,
        due_date=date(2026, 11, 19),
        created_at=NOON + timedelta(seconds=42),
        text="Escalation from Scribe.",
        url=f"https://baton.test/tasks/{values.get('task_id', TASK)}",
        digest_url="https://digests.test/1",
        relations={},
    )
    return replace(usual, **values)


# A new page


@pytest.mark.parametrize("status_type", [STATUS, SELECT])
def test_a_new_page_shows_the_task(office: Office, status_type: str) -> None:
    office.use(status_type=status_type)
    made = office.tracker().create(sheet())
    page = office.fake.pages[made.page.id]
    assert (page.title, page.status, page.priority, page.due, page.task_id) == (
        TITLE,
        "Not started",
        "🔴 High",
        "2026-11-19",
        TASK,
    )
    assert page.texts == [
        "Escalation from Scribe.",
        "Source digest: https://digests.test/1",
        f"Open in Baton · {TASK}",
    ]
    links = [item["href"] for block in page.blocks for item in block.text if item["href"]]
    assert links == ["https://digests.test/1", f"https://baton.test/tasks/{TASK}"]
    assert (made.page.url, made.status, made.without, made.is_denied) == (page.url, "Not started", (), False)


def test_properties_and_options_are_found_in_any_case_and_written_in_their_own(office: Office) -> None:
    options = {"type": "status", "options": ["NOT STARTED", "done"]}
    office.use({"task": {"type": "title"}, "status": options, "PRIORITY": {"type": "select", "options": ["🔴 HIGH"]}})
    page = office.page_of()
    assert (page.title, page.status, page.priority) == (TITLE, "NOT STARTED", "🔴 HIGH")
    assert [option.name for option in page.database.properties["PRIORITY"].options] == ["🔴 HIGH"]


def test_of_two_properties_of_one_name_the_one_that_can_be_written_is_taken(office: Office) -> None:
    office.use({**TITLE_ONLY, "Status": {"type": "checkbox"}, "status": {"type": "select"}})
    assert office.page_of().values["status"] == "Not started"


def test_what_the_database_has_no_property_for_is_left_out_and_told(office: Office) -> None:
    office.use(TITLE_ONLY)
    made = office.tracker().create(sheet(relations={"client": ("a" * 32,)}))
    assert office.fake.pages[made.page.id].title == TITLE
    assert [said.split(" couldn't")[0] for said in made.without] == [
        "The status",
        "The priority",
        "The due date",
        "The Client pages",
    ]
    assert made.without[0] == (
        'The status couldn\'t be written: the database has no property "Status": add one of type Status or Select, or '
        "name yours in tracker.properties.status."
    )
    assert made.status is None


def test_a_property_of_another_type_is_left_alone(office: Office) -> None:
    office.use(
        {**TITLE_ONLY, "Status": {"type": "select"}, "Due": {"type": "rich_text"}, "Priority": {"type": "number"}}
    )
    assert [said.partition(": ")[2].partition(":")[0] for said in office.tracker().create(sheet()).without] == [
        '"Priority" is of type Number',
        '"Due" is of type Text',
    ]


def test_what_there_is_nothing_of_isnt_missed(office: Office) -> None:
    office.use({**TITLE_ONLY, "Status": {"type": "select"}, "Priority": {"type": "select"}})
    assert office.tracker().create(sheet(due_date=None)).without == ()


def test_a_missing_option_is_made_in_a_select_and_left_out_of_a_status(office: Office) -> None:
    made = office.tracker().create(sheet(state=State.REJECTED))
    assert office.fake.pages[made.page.id].status == "Not started"
    [said] = made.without
    assert said == (
        'The status couldn\'t be written: "Status" has no option "Rejected": add it in Notion, or name another in '
        "tracker.statuses.rejected."
    )
    office.use(status_type=SELECT)
    assert office.page_of(state=State.REJECTED).status == "Rejected"


@pytest.mark.parametrize("kind", ["status", "rich_text"])
def test_a_priority_may_also_be_a_status_or_a_text(office: Office, kind: str) -> None:
    office.use({**TITLE_ONLY, "Priority": {"type": kind, "options": ["🟢 Low", "🔴 High"]}})
    value = office.page_of().values["Priority"]
    assert (value if kind == "status" else value[0]["plain_text"]) == "🔴 High"


@pytest.mark.parametrize("form", ["{database}", "{source}", "https://www.notion.so/acme/Tasks-{database}?v={view}"])
def test_a_database_is_named_by_its_id_a_data_sources_or_a_pasted_url(office: Office, form: str) -> None:
    ids = {"database": office.database.id, "source": office.database.data_source_id, "view": "f" * 32}
    bare = {name: one.replace("-", "") for name, one in ids.items()}
    made = office.tracker(database=form.format(**bare)).create(sheet())
    assert made.page.id in office.database.pages


def test_the_schema_is_read_once_in_ten_minutes(office: Office) -> None:
    for number in range(3):
        office.tracker().create(sheet(task_id=f"task_{number:026}"))
    assert office.asked() == ["GET databases", "GET data_sources", *["POST pages"] * 3]
    office.clock.advance(600)
    office.tracker().create(sheet())
    assert office.asked()[-3:] == ["GET databases", "GET data_sources", "POST pages"]


def test_a_renamed_property_is_found_under_its_new_name_at_once(office: Office) -> None:
    office.tracker().create(sheet())
    properties = office.database.properties
    prop = properties.pop("Name")
    prop.name = "Task"
    properties["Task"] = prop
    assert office.fake.pages[office.tracker().create(sheet(task_id=OTHER)).page.id].title == TITLE


def test_a_property_that_notion_refuses_is_left_out(office: Office) -> None:
    refusal = "body failed validation: body.properties.Due.date.start should be a valid date."
    office.wire.refuse(1, 400, refusal)
    made = office.tracker().create(sheet())
    assert office.fake.pages[made.page.id].due is None
    assert made.without == (f"The due date couldn't be written: Notion refuses it: {refusal}",)


def test_a_page_that_notion_refuses_whatever_is_left_out_is_refused(office: Office) -> None:
    office.wire.refuse(99, 400, "body failed validation: " + "x" * 999)
    with pytest.raises(PageRefused, match=r"Notion refuses it: body failed validation: x+…\Z") as refused:
        office.tracker().create(sheet())
    assert len(refused.value.message) < 330
    first, bare = office.wire.bodies("POST", "/v1/pages")
    assert (len(first["properties"]), list(bare["properties"])) == (5, ["Name"])


def test_a_refusal_in_unknown_words_leaves_a_page_with_its_title_and_text(office: Office) -> None:
    office.wire.refuse(1, 400, "Something is wrong.")
    made = office.tracker().create(sheet())
    page = office.fake.pages[made.page.id]
    assert (page.title, page.priority, page.texts[0]) == (TITLE, None, "Escalation from Scribe.")
    assert [said.split(" couldn't")[0] for said in made.without] == ["The status", "The priority", "The due date"]
    assert [ref.id for ref in office.tracker().find(sheet())] == [page.id]


def test_links_that_notion_refuses_become_text(office: Office) -> None:
    office.wire.refuse(1, 400, "Content creation Failed. Fix the following: \nInvalid URL for link.")
    page = office.fake.pages[office.tracker().create(sheet(url="http://localhost:4566/tasks/1")).page.id]
    assert page.texts[1:] == [
        "Source digest: https://digests.test/1",
        f"Open in Baton: http://localhost:4566/tasks/1 · {TASK}",
    ]
    assert not any(item["href"] for block in page.blocks for item in block.text)


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "https://", "https://a b", "http://[", "https://a/" + "x" * 2000]
)
def test_what_is_no_link_is_written_as_text(office: Office, url: str) -> None:
    page = office.page_of(digest_url=url)
    assert page.texts[1] == f"Source digest: {url}"
    assert not any(item["href"] for item in page.blocks[1].text)


# Related pages


def related(office: Office, count: int, *, shared: bool = True) -> tuple[str, ...]:
    return tuple(office.fake.add_page(title=f"Client {i}", shared=shared).replace("-", "") for i in range(count))


def test_related_pages_are_linked(office: Office) -> None:
    clients, projects = related(office, 2), related(office, 1)
    page = office.page_of(relations={"client": (*clients, clients[0]), "project": projects})
    assert {name: [one.replace("-", "") for one in ids] for name, ids in page.relations.items()} == {
        "Client": list(clients),
        "Project": list(projects),
    }


def test_pages_that_arent_shared_are_left_out_and_the_others_linked(office: Office) -> None:
    shared, hidden = related(office, 1), related(office, 2, shared=False)
    made = office.tracker().create(sheet(relations={"client": (*hidden, *shared)}))
    assert [one.replace("-", "") for one in office.fake.pages[made.page.id].relations["Client"]] == list(shared)
    assert made.is_denied
    assert made.without == (
        "2 Client pages couldn't be linked: share them with the connection under ••• → Connections.",
    )


def test_after_three_refusals_for_their_sake_no_pages_are_linked(office: Office) -> None:
    shared, hidden = related(office, 1), related(office, 4, shared=False)
    made = office.tracker().create(sheet(relations={"client": (*hidden, *shared)}))
    assert office.fake.pages[made.page.id].relations["Client"] == []
    assert made.without[0].startswith("5 Client pages couldn't be linked")
    assert office.asked().count("POST pages") == 4


def test_a_refusal_that_names_no_page_leaves_them_all_out(office: Office) -> None:
    office.wire.refuse(1, 404, "Could not find page. Make sure the relevant pages are shared.")
    made = office.tracker().create(sheet(relations={"project": related(office, 1)}))
    assert made.without == (
        "1 Project page couldn't be linked: share them with the connection under ••• → Connections.",
    )


# Long and odd texts


def test_a_long_text_arrives_whole_in_pieces_that_notion_takes(office: Office) -> None:
    text = "naïve 👩🏽‍💻🇩🇪 e\u0301\n" * 1_500
    page = office.page_of(text=text)
    assert page.texts[0] == text
    assert all(texts.units(item["plain_text"]) <= 2_000 for item in page.blocks[0].text)


def test_a_text_is_cut_after_90_000_characters(office: Office) -> None:
    text = office.page_of(text="x" * 90_001).texts[0]
    assert (len(text), text[-1]) == (90_000, "…")


def test_control_characters_and_half_characters_are_left_out(office: Office) -> None:
    page = office.page_of(title="a\x00b\x7fc", text="one\ntwo\x08\x1b\ud83dthree\t", digest_url=None)
    assert (page.title, page.texts[0]) == ("abc", "one\ntwothree\t")


@pytest.mark.parametrize(
    "cluster", ["😀", "e\u0301", "👩🏽‍💻", "👍🏽", "❤️", "🇩🇪"], ids=lambda text: "+".join(f"{ord(c):x}" for c in text)
)
def test_texts_are_cut_between_what_is_seen_as_characters(cluster: str) -> None:
    for shift in range(12):
        text = "x" * shift + cluster * 30
        pieces = texts.pieces(text, 20)
        assert "".join(pieces) == text
        assert all(0 < texts.units(piece) <= 20 for piece in pieces)
        assert not any(unicodedata.category(piece[0]).startswith("M") or piece[0] in "\u200d🏽" for piece in pieces)
        if shift == 0:
            assert all(piece.startswith(cluster) and piece.endswith(cluster) for piece in pieces)


def test_a_run_of_marks_without_end_is_cut_all_the_same() -> None:
    text = "a" + "\u0301" * 100
    pieces = texts.pieces(text, 20)
    assert "".join(pieces) == text
    assert max(map(len, pieces)) == 20


# The page again


def test_a_page_is_found_by_its_task_id(office: Office) -> None:
    mine = office.page_of()
    office.page_of(task_id=OTHER)
    assert [ref.id for ref in office.tracker().find(sheet())] == [mine.id]


def test_a_page_that_is_older_than_its_property_is_found_by_its_title(office: Office) -> None:
    office.fake.add_page(office.database.id, title=TITLE, task_id=OTHER)
    page = office.page_of()
    office.fake.edit(page.id, task_id="")
    assert [ref.id for ref in office.tracker().find(sheet())] == [page.id]


def test_without_a_property_pages_that_name_the_task_come_first_and_other_tasks_not_at_all(office: Office) -> None:
    office.use(TITLE_ONLY)
    unsigned = office.fake.add_page(office.database.id, title=TITLE)
    other = office.page_of(task_id=OTHER, text=f"As in {TASK}.")
    mine = office.page_of(text=f"After {OTHER}.")
    mentioning = office.fake.add_page(office.database.id, title=TITLE)
    office.fake.write(mentioning, f"about {OTHER}")
    trashed = office.page_of()
    office.fake.trash(trashed.id)
    office.fake.add_page(office.database.id, title=TITLE, created_at=NOON - timedelta(minutes=2))
    found = [ref.id for ref in office.tracker().find(sheet())]
    assert found == [mine.id, unsigned]
    assert other.id not in found


def test_every_page_of_results_is_read(office: Office) -> None:
    office.use(TITLE_ONLY)
    for _ in range(101):
        office.fake.write(office.fake.add_page(office.database.id, title=TITLE), OTHER)
    mine = office.page_of()
    assert [ref.id for ref in office.tracker().find(sheet())] == [mine.id]


@pytest.mark.parametrize("seconds", [0, 17, 59])
def test_notions_whole_minutes_hide_no_page(office: Office, seconds: int) -> None:
    office.use(TITLE_ONLY)
    office.clock.time = NOON + timedelta(seconds=seconds)
    page = office.page_of()
    assert [ref.id for ref in office.tracker().find(sheet(created_at=office.clock.now()))] == [page.id]


@pytest.mark.parametrize("status_type", [STATUS, SELECT])
def test_an_update_writes_the_status_and_nothing_else(office: Office, status_type: str) -> None:
    office.use(status_type=status_type)
    page = office.page_of()
    office.fake.edit(page.id, title="Renamed", priority="🟢 Low", due="2026-12-01")
    made = office.tracker().update(page.id, sheet(state=State.CLAIMED))
    assert (page.title, page.status, page.priority, page.due) == ("Renamed", "In progress", "🟢 Low", "2026-12-01")
    assert (made.page.id, made.status, made.without) == (page.id, "In progress", ())
    assert office.wire.bodies("PATCH", f"/v1/pages/{page.id}") == [
        {"properties": {"Status": {status_type: {"name": "In progress"}}}}
    ]


@pytest.mark.parametrize("properties", [TITLE_ONLY, {**TITLE_ONLY, "Status": {"type": "status", "options": ["Open"]}}])
def test_an_update_without_a_place_for_it_changes_nothing(office: Office, properties: dict[str, Any]) -> None:
    office.use(properties)
    page = office.page_of()
    office.fake.clear_requests()
    made = office.tracker().update(page.id, sheet(state=State.DONE))
    assert office.asked() == ["GET pages"]
    assert made.status == page.status
    assert made.without[0].startswith("The status was left as it is: ")


def test_an_option_that_was_taken_away_meanwhile_leaves_the_status_as_it_is(office: Office) -> None:
    page = office.page_of()
    office.database.properties["Status"].options.pop(2)  # Done
    made = office.tracker().update(page.id, sheet(state=State.DONE))
    assert (made.status, page.status) == ("Not started", "Not started")
    assert 'no option "Done"' in made.without[0]


def test_a_page_in_the_trash_is_refused_with_what_to_do(office: Office) -> None:
    page = office.page_of()
    office.fake.trash(page.id)
    with pytest.raises(PageRefused, match="in Notion's trash: restore it there"):
        office.tracker().update(page.id, sheet(state=State.DONE))
    assert office.tracker().look(page.id).in_trash


def test_a_comment_is_made_once_if_it_must_be(office: Office) -> None:
    page, text = office.page_of(), "Done by agent auditor.\n" + "😀" * 2_500
    for i in range(101):
        office.fake.comment(page.id, f"Chatter {i}")
    for _ in range(2):
        office.tracker().comment(page.id, text, unless_there=True)
    assert page.comment_texts[101:] == [text]
    office.tracker().comment(page.id, text, unless_there=False)
    assert page.comment_texts[101:] == [text, text]


# What people do there


def test_a_page_is_seen_as_it_is(office: Office) -> None:
    page = office.page_of()
    ours = office.tracker().look(page.id)
    office.clock.advance(60)
    office.fake.edit(page.id, status="Done")
    theirs = office.tracker().look(page.id)
    assert (ours.by_us, ours.status, ours.edited_by) == (True, "Not started", office.fake.bot_id)
    assert (theirs.by_us, theirs.status, theirs.edited_by) == (False, "Done", office.fake.person)
    assert (theirs.title, theirs.url, theirs.page_id) == (TITLE, page.url, page.id)
    assert (theirs.created_at, theirs.edited_at) == (NOON, NOON + timedelta(minutes=1))
    assert office.asked().count("GET users") == 1


@pytest.mark.parametrize("properties", [TITLE_ONLY, {**TITLE_ONLY, "Status": {"type": "select"}}])
def test_a_missing_or_empty_status_is_none(office: Office, properties: dict[str, Any]) -> None:
    office.use(properties)
    assert office.tracker().look(office.fake.add_page(office.database.id, title="x")).status is None


def test_people_are_told_from_bots_and_asked_for_once(office: Office) -> None:
    bot = office.fake.add_user("bot", "Automation")
    for _ in range(2):
        assert office.tracker().who(office.fake.person) == Editor(office.fake.person, True, "Robin Person")
        assert not office.tracker().who(bot).is_person
        assert office.tracker().who("0" * 32) == Editor("0" * 32, is_person=False)
        assert office.tracker().who("no id") == Editor("no id", is_person=False)
    assert office.asked() == ["GET users"] * 3


def test_changed_pages_come_the_longest_ago_first_and_page_by_page(office: Office) -> None:
    ids = [office.fake.add_page(office.database.id, title=str(i)) for i in range(150)]
    office.clock.advance(60)
    office.fake.edit(ids[0], title="edited")
    office.fake.trash(ids[1])
    changed = office.tracker().changed_since(NOON + timedelta(seconds=30))
    assert office.asked() == []
    first = next(changed)
    assert office.asked().count("POST data_sources") == 1
    seen = [first.page_id, *(page.page_id for page in changed)]
    assert (len(seen), set(seen), seen[-1]) == (149, set(ids) - {ids[1]}, ids[0])
    since = office.clock.now() + timedelta(seconds=10)  # within the minute
    assert [page.title for page in office.tracker().changed_since(since)] == ["edited"]


def test_new_pages_are_found_by_how_their_titles_begin(office: Office) -> None:
    for title in ("Handoff: A → B", "Groceries", "Handoff: C → D"):
        office.clock.advance(60)
        office.fake.add_page(office.database.id, title=title)
    office.fake.add_page(office.database.id, title="Handoff: old", created_at=NOON - timedelta(days=1))
    found = office.tracker().created_since(NOON, "Handoff: ")
    assert [page.title for page in found] == ["Handoff: A → B", "Handoff: C → D"]


# What Notion's answers mean


def trouble_of(office: Office, act: Callable[[NotionTracker], object], seconds: float = 3) -> TrackerTrouble:
    with pytest.raises(TrackerTrouble) as caught:
        act(office.tracker(seconds=seconds))
    assert "ntn_" not in str(caught.value)
    return caught.value


def always(fault: Fault, path: str) -> Callable[[str, str], Fault | None]:
    return ScriptedFault(fault, count=99, path=path)


CREATE: Callable[[NotionTracker], object] = lambda tracker: tracker.create(sheet())  # noqa: E731
LOOK: Callable[[NotionTracker], object] = lambda tracker: tracker.look("a" * 32)  # noqa: E731


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
def test_each_answer_means_one_thing(office: Office, fault: Fault, writes: Any, reads: Any) -> None:
    for act, (kind, unclear) in ((CREATE, writes), (LOOK, reads)):
        office.fake.fault = always(fault, "/v1/pages")
        trouble = trouble_of(office, act)
        assert isinstance(trouble, kind)
        assert trouble.unclear is unclear


@pytest.mark.parametrize("body", [b"<html>", b"\xff\xfe", b"[]", b"null"])
def test_an_answer_that_cant_be_read_is_unclear_for_what_was_written(office: Office, body: bytes) -> None:
    office.wire.instead = lambda one: httpx.Response(200, content=body) if "pages" in one.url.path else None
    assert trouble_of(office, CREATE).unclear
    assert len(office.wire.bodies("POST", "/v1/pages")) == 1
    assert not trouble_of(office, LOOK).unclear


@pytest.mark.parametrize("error", [httpx.ReadError, httpx.WriteError, httpx.RemoteProtocolError, httpx.WriteTimeout])
def test_a_connection_that_breaks_is_unclear_for_what_was_written(office: Office, error: type[Exception]) -> None:
    def instead(request: httpx.Request) -> httpx.Response | None:
        if "pages" in request.url.path:
            raise error("ntn_ and what was sent")
        return None

    office.wire.instead = instead
    assert trouble_of(office, CREATE).unclear
    assert not trouble_of(office, LOOK).unclear


def test_a_page_that_is_gone_is_told_from_a_database_that_isnt_shared(office: Office) -> None:
    page = office.page_of()
    office.fake.unshare(page.id)
    acts: list[Callable[[NotionTracker], object]] = [
        lambda tracker: tracker.look(page.id),
        lambda tracker: tracker.update(page.id, sheet(state=State.DONE)),
        lambda tracker: tracker.comment(page.id, "x", unless_there=True),
        lambda tracker: tracker.comment(page.id, "x", unless_there=False),
    ]
    for act in acts:
        assert isinstance(trouble_of(office, act), PageGone)
    office.fake.unshare(office.database.id)
    for act in [
        *acts,
        CREATE,
        lambda tracker: tracker.find(sheet()),
        lambda tracker: list(tracker.changed_since(NOON)),
    ]:
        trouble = trouble_of(office, act)
        assert isinstance(trouble, TrackerDenies)
        assert "add the connection under ••• → Connections" in trouble.message


def test_what_is_no_page_id_is_no_page(office: Office) -> None:
    assert isinstance(trouble_of(office, lambda tracker: tracker.look("../users/me")), PageGone)
    assert office.fake.requests == []


def test_without_a_token_nothing_is_asked(office: Office) -> None:
    trouble = trouble_of(office, lambda _: office.tracker("globex").create(sheet()))
    assert (type(trouble).code, trouble.message) == ("tracker_denies", "No Notion token is set: PUT /tracker/token.")
    office.tokens.is_busy = True
    assert isinstance(trouble_of(office, CREATE), TrackerAway)
    assert office.fake.requests == []


@pytest.mark.parametrize("old", ["ntn_old", "ntn_ü", "ntn_\n"])
def test_a_token_that_was_replaced_is_read_again_once(office: Office, old: str) -> None:
    office.tokens.kept["acme"] = old
    office.tracker().create(sheet())
    assert (len(office.database.pages), office.tokens.afresh) == (1, 1)
    office.tokens.kept["acme"] = office.tokens.tokens["acme"] = old
    assert isinstance(trouble_of(office, CREATE), TrackerDenies)
    assert office.tokens.afresh == 2
    office.tokens.tokens["acme"] = None
    assert trouble_of(office, CREATE).message.startswith("No Notion token is set")


def test_a_missing_capability_is_named(office: Office) -> None:
    page = office.page_of()
    office.fake.fault = always(Fault(403), "/v1/comments")
    for unless_there in (True, False):
        trouble = trouble_of(office, lambda t, u=unless_there: t.comment(page.id, "x", unless_there=u))  # type: ignore[misc]
        assert "capabilities to read and to insert comments" in trouble.message
    office.fake.fault = always(Fault(403), "/v1/users")
    assert "read user information" in trouble_of(office, lambda tracker: tracker.who(office.fake.person)).message
    office.fake.fault = None
    limit = {"code": "restricted_resource", "message": "no", "additional_data": {"block_limit": 1000}}
    office.wire.instead = lambda _: httpx.Response(403, json=limit)
    assert trouble_of(office, CREATE).message.startswith("Notion's Free plan takes no more blocks")
    office.wire.instead = lambda _: httpx.Response(200, json={"object": "user", "id": office.fake.person})
    assert "read user information" in trouble_of(office, lambda tracker: tracker.who(office.fake.person)).message


# Repeating


@pytest.mark.parametrize("status", [429, 529, 409])
def test_what_was_asked_to_wait_a_moment_waits_and_is_repeated_once(office: Office, status: int) -> None:
    office.tracker().problems()
    office.fake.fault = ScriptedFault(Fault(status, retry_after=1), path="/v1/pages")
    office.tracker().create(sheet())
    assert (office.clock.slept, len(office.database.pages)) == ([1.0], 1)
    office.fake.fault = ScriptedFault(Fault(status, retry_after=1), count=2, path="/v1/pages")
    assert trouble_of(office, CREATE).retry_after == 1
    assert len(office.database.pages) == 1


@pytest.mark.parametrize(("retry_after", "seconds"), [(3, 60.0), (40, 60.0), (2, 2.0)])
def test_a_wait_that_is_too_long_is_left_to_the_caller(office: Office, retry_after: int, seconds: float) -> None:
    office.fake.fault = always(Fault(429, retry_after=retry_after), "/v1/pages")
    trouble = trouble_of(office, CREATE, seconds)
    assert (trouble.retry_after, trouble.unclear, office.clock.slept) == (retry_after, False, [])


@pytest.mark.parametrize(
    ("given", "meant"),
    [("Wed, 18 Nov 2026 12:00:52 GMT", 10), ("Wed, 18 Nov 2026 11:00:00 GMT", 0), ("soon", None), ("7.5", 7.5)],
)
def test_retry_after_is_seconds_or_a_date(office: Office, given: str, meant: float | None) -> None:
    answer = httpx.Response(429, headers={"Retry-After": given}, json={"code": "rate_limited", "message": "no"})
    office.wire.instead = lambda _: answer
    office.clock.sleep = lambda seconds: office.clock.slept.append(seconds)  # type: ignore[method-assign]
    assert trouble_of(office, CREATE).retry_after == meant


def test_readings_are_repeated_once_and_unclear_writings_never(office: Office) -> None:
    page = office.page_of()
    for fault in (Fault(500), Fault(503), Fault.refused(), Fault.timeout_before()):
        office.fake.clear_requests()
        office.fake.fault = ScriptedFault(fault, path="/v1/pages")
        assert office.tracker().look(page.id).title == TITLE
        assert office.asked().count("GET pages") == 2
        assert 0.1 < office.clock.slept[-1] < 0.5
    for fault in (Fault(500), Fault(503), Fault.timeout_after(), Fault.timeout_before()):
        office.fake.clear_requests()
        office.fake.fault = ScriptedFault(fault, path="/v1/pages")
        assert trouble_of(office, CREATE).unclear
        assert office.asked().count("POST pages") == 1


def test_a_writing_that_never_left_is_repeated(office: Office) -> None:
    office.fake.fault = ScriptedFault(Fault.refused(), method="POST", path="/v1/pages")
    office.tracker().create(sheet())
    assert len(office.database.pages) == 1


# The budget


def test_nothing_is_asked_once_the_budget_is_spent(office: Office) -> None:
    tracker = office.tracker(seconds=3)
    office.clock.advance(2.96)
    with pytest.raises(TrackerAway, match="no time left") as away:
        tracker.create(sheet())
    assert (away.value.unclear, office.fake.requests, office.clock.slept) == (False, [], [])


def test_each_step_of_a_request_has_what_is_left(office: Office) -> None:
    def instead(request: httpx.Request) -> httpx.Response | None:
        timeouts = request.extensions["timeout"]
        assert timeouts.get("connect") == pytest.approx(3)
        office.clock.advance(2)
        assert [timeouts.get(step) for step in timeouts] == [pytest.approx(1)] * 4
        office.clock.advance(1)
        timeouts.get("read")
        raise AssertionError

    office.wire.instead = instead
    with pytest.raises(TrackerAway, match="didn't answer in time"):
        office.tracker(seconds=3).look("a" * 32)
    assert len(office.wire.seen) == 1


def test_no_request_takes_more_than_ten_seconds_of_a_long_budget(office: Office) -> None:
    found: list[float] = []
    office.wire.instead = lambda request: found.append(request.extensions["timeout"].get("read"))
    office.tracker(seconds=60).find(sheet())
    assert found == [pytest.approx(10)] * len(found)
    assert found


def test_nothing_is_sent_after_a_connection_that_took_too_long(office: Office) -> None:
    def instead(request: httpx.Request) -> httpx.Response | None:
        office.clock.advance(3.5)
        request.extensions["timeout"].get("connect")
        raise AssertionError

    office.wire.instead = instead
    with pytest.raises(TrackerAway) as away:
        office.tracker(seconds=3).create(sheet())
    assert not away.value.unclear


def test_an_answer_that_trickles_in_doesnt_stretch_it(office: Office) -> None:
    class Drip(httpx.SyncByteStream):
        closed = False

        def __iter__(self) -> Iterator[bytes]:
            for byte in b'{"id": "' + b"x" * 99 + b'"}':
                office.clock.advance(0.5)
                yield bytes([byte])

        def close(self) -> None:
            Drip.closed = True

    office.wire.instead = lambda one: httpx.Response(200, stream=Drip()) if one.url.path == "/v1/pages" else None
    began = office.clock.time
    trouble = trouble_of(office, CREATE)
    assert (trouble.unclear, Drip.closed) == (True, True)
    assert office.clock.time - began <= timedelta(seconds=3.5)


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
    page = trackers.of("acme", settings, 3).create(sheet()).page
    fake.fault = lambda _, path: fault if path == f"/v1/pages/{page.id}" else None
    began = time.monotonic()
    with pytest.raises(TrackerAway) as away:
        trackers.of("acme", settings, 0.3).update(page.id, sheet(state=State.DONE))
    assert away.value.unclear
    assert time.monotonic() - began < 0.8
    fake.fault = None
    assert trackers.of("acme", settings, 3).update(page.id, sheet(state=State.DONE)).status == "Done"


# One process, many workspaces


def test_no_request_carries_another_workspaces_token(office: Office) -> None:
    office.fake.add_connection("ntn_fake_globex")
    office.tokens.kept["globex"] = "ntn_fake_globex"
    for workspace, token in (("acme", office.fake.token), ("globex", "ntn_fake_globex")) * 2:
        office.wire.seen.clear()
        office.tracker(workspace).look(office.tracker(workspace).create(sheet()).page.id)
        assert {one.headers["Authorization"] for one in office.wire.seen} == {f"Bearer {token}"}


def test_another_connections_change_isnt_ours(office: Office) -> None:
    office.fake.add_connection("ntn_fake_globex")
    office.tokens.kept["globex"] = "ntn_fake_globex"
    page = office.page_of()
    assert office.tracker("acme").look(page.id).by_us
    assert not office.tracker("globex").look(page.id).by_us


def test_nothing_of_payloads_and_tokens_is_logged(office: Office, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    office.fake.fault = always(Fault(400), "/v1/pages")
    trouble_of(office, CREATE)
    office.fake.fault = None
    office.tracker().create(sheet())
    assert not any(word in caplog.text for word in ("ntn_", "Escalation", "Handoff", "on purpose"))


# Problems


def told(problems: tuple[Problem, ...]) -> list[tuple[str, str]]:
    return [(problem.about, problem.severity) for problem in problems]


def test_a_good_database_has_no_problems(office: Office) -> None:
    office.database.properties["Status"].add_option("Rejected")
    assert office.tracker().problems() == ()
    office.use(status_type=SELECT)
    assert office.tracker().problems() == ()


def test_every_problem_is_told_at_once(office: Office) -> None:
    office.use(
        {
            **TITLE_ONLY,
            "Status": {"type": "status", "options": ["Not started", "Doing"]},
            "Priority": {"type": "status", "options": ["🔴 High"]},
            "Due": {"type": "rich_text"},
            "Task ID": {"type": "number"},
        }
    )
    problems = office.tracker().problems()
    assert {problem.severity for problem in problems} == {"warning"}
    assert [problem.problem for problem in problems] == [
        '"Status" has no option "In progress" (claimed, waiting)',
        '"Status" has no option "Done" (done)',
        '"Status" has no option "Failed" (failed)',
        '"Status" has no option "Rejected" (rejected)',
        '"Status" has no option "Cancelled" (cancelled)',
        f'"Status" has no option that closes a task ({CLOSING}), so people can close none',
        '"Due" is of type Text, so pages don\'t show due dates',
        'The database has no property "Client", so pages aren\'t linked to clients',
        'The database has no property "Project", so pages aren\'t linked to projects',
        '"Task ID" is of type Number, so a page whose making ended unclear is found again only by its title and time',
        '"Priority" has no option "🟡 Medium" (P1)',
        '"Priority" has no option "🟢 Low" (P2)',
    ]
    assert all(problem.what_to_do.endswith(".") for problem in problems)


def test_a_missing_status_is_told(office: Office) -> None:
    office.use({**TITLE_ONLY, "Status": {"type": "multi_select"}})
    assert office.tracker().problems()[0].problem == (
        '"Status" is of type Multi-select, so pages show no states, and nobody can close a task in Notion'
    )


def test_what_keeps_tasks_from_being_mirrored_is_an_error(office: Office) -> None:
    page = office.fake.add_page(office.database.id, title="x")
    assert told(office.tracker("globex").problems()) == [("token", "error")]
    assert told(office.tracker(database="0" * 32).problems()) == [("database", "error")]
    assert told(office.trackers.of("acme", TrackerSettings(), 3).problems()) == [("database", "error")]
    [problem] = office.tracker(database=page).problems()
    assert (problem.about, problem.problem) == ("database", f"{page} is a page, not a database")
    office.tokens.kept["acme"] = office.tokens.tokens["acme"] = "ntn_wrong"
    [problem] = office.tracker().problems()
    assert (problem.about, problem.problem) == ("token", "Notion refuses the token")


def test_a_database_in_the_trash_or_without_a_data_source_is_an_error(office: Office) -> None:
    path = f"/v1/databases/{office.database.id}"
    for extra, word in (({"in_trash": True}, "trash"), ({"data_sources": []}, "no data source")):
        answer = {**office.database.wire(), **extra}
        office.wire.instead = lambda one, a=answer: httpx.Response(200, json=a) if one.url.path == path else None  # type: ignore[misc]
        [problem] = office.tracker().problems()
        assert (problem.severity, word in problem.problem) == ("error", True)
        assert isinstance(trouble_of(office, CREATE), TrackerDenies)


def test_several_data_sources_are_told_and_the_first_is_used(office: Office) -> None:
    sources = [{"id": office.database.data_source_id, "name": "Tasks"}, {"id": "b" * 32, "name": "Ideas"}]
    answer = {**office.database.wire(), "data_sources": sources}
    path = f"/v1/databases/{office.database.id}"
    office.wire.instead = lambda one: httpx.Response(200, json=answer) if one.url.path == path else None
    assert office.tracker().problems()[0].problem == 'The database has 2 data sources; "Tasks", the first, is used'
    assert office.tracker().create(sheet()).page.id in office.database.pages


def test_missing_capabilities_are_warned_of(office: Office) -> None:
    office.database.properties["Status"].add_option("Rejected")
    office.fake.fault = lambda _, path: Fault(403) if "comments" in path or path.endswith(office.fake.person) else None
    assert told(office.tracker().problems()) == [("connection", "warning")] * 2


def test_a_silent_notion_is_no_problem_of_the_database(office: Office) -> None:
    office.fake.fault = always(Fault(503), "/v1/data_sources")
    with pytest.raises(TrackerAway):
        office.tracker().problems()

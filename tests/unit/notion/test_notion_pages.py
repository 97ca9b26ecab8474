"""Notion as a tracker: what goes over the wire to make, find and change a page, and what is read of one."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from baton.adapters.notion import texts
from baton.domain.errors import (
    PageRefused,
)
from baton.domain.task_state import State
from baton.domain.tracker.page_changes import Editor
from support.clock import NOON
from support.fakes.notion_adapter import OTHER, TASK, TITLE, TITLE_ONLY, NotionAdapter, page_fields
from tools.stand_ins.fake_notion import SELECT, STATUS


@pytest.fixture
def adapter() -> Iterator[NotionAdapter]:
    adapter = NotionAdapter()
    yield adapter
    assert all(one.headers["Notion-Version"] == "2026-03-11" for one in adapter.wire.seen)


# A new page


@pytest.mark.parametrize("status_type", [STATUS, SELECT])
def test_a_new_page_shows_the_task(adapter: NotionAdapter, status_type: str) -> None:
    adapter.use(status_type=status_type)
    made = adapter.tracker().create(page_fields())
    page = adapter.fake.pages[made.page.id]
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


def test_properties_and_options_are_found_in_any_case_and_written_in_their_own(adapter: NotionAdapter) -> None:
    options = {"type": "status", "options": ["NOT STARTED", "done"]}
    adapter.use({"task": {"type": "title"}, "status": options, "PRIORITY": {"type": "select", "options": ["🔴 HIGH"]}})
    page = adapter.page_of()
    assert (page.title, page.status, page.priority) == (TITLE, "NOT STARTED", "🔴 HIGH")
    assert [option.name for option in page.database.properties["PRIORITY"].options] == ["🔴 HIGH"]


def test_of_two_properties_of_one_name_the_one_that_can_be_written_is_taken(adapter: NotionAdapter) -> None:
    adapter.use({**TITLE_ONLY, "Status": {"type": "checkbox"}, "status": {"type": "select"}})
    assert adapter.page_of().values["status"] == "Not started"


def test_what_the_database_has_no_property_for_is_left_out_and_told(adapter: NotionAdapter) -> None:
    adapter.use(TITLE_ONLY)
    made = adapter.tracker().create(page_fields(relations={"client": ("a" * 32,)}))
    assert adapter.fake.pages[made.page.id].title == TITLE
    assert [problem.split(" couldn't")[0] for problem in made.without] == [
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


def test_a_property_of_another_type_is_left_alone(adapter: NotionAdapter) -> None:
    adapter.use(
        {**TITLE_ONLY, "Status": {"type": "select"}, "Due": {"type": "rich_text"}, "Priority": {"type": "number"}}
    )
    assert [
        problem.partition(": ")[2].partition(":")[0] for problem in adapter.tracker().create(page_fields()).without
    ] == [
        '"Priority" is of type Number',
        '"Due" is of type Text',
    ]


def test_what_there_is_nothing_of_isnt_missed(adapter: NotionAdapter) -> None:
    adapter.use({**TITLE_ONLY, "Status": {"type": "select"}, "Priority": {"type": "select"}})
    assert adapter.tracker().create(page_fields(due_date=None)).without == ()


def test_a_missing_option_is_made_in_a_select_and_left_out_of_a_status(adapter: NotionAdapter) -> None:
    made = adapter.tracker().create(page_fields(state=State.REJECTED))
    assert adapter.fake.pages[made.page.id].status == "Not started"
    [problem] = made.without
    assert problem == (
        'The status couldn\'t be written: "Status" has no option "Rejected": add it in Notion, or name another in '
        "tracker.statuses.rejected."
    )
    adapter.use(status_type=SELECT)
    assert adapter.page_of(state=State.REJECTED).status == "Rejected"


@pytest.mark.parametrize("kind", ["status", "rich_text"])
def test_a_priority_may_also_be_a_status_or_a_text(adapter: NotionAdapter, kind: str) -> None:
    adapter.use({**TITLE_ONLY, "Priority": {"type": kind, "options": ["🟢 Low", "🔴 High"]}})
    value = adapter.page_of().values["Priority"]
    assert (value if kind == "status" else value[0]["plain_text"]) == "🔴 High"


@pytest.mark.parametrize("form", ["{database}", "{source}", "https://www.notion.so/acme/Tasks-{database}?v={view}"])
def test_a_database_is_named_by_its_id_a_data_sources_or_a_pasted_url(adapter: NotionAdapter, form: str) -> None:
    ids = {"database": adapter.database.id, "source": adapter.database.data_source_id, "view": "f" * 32}
    bare = {name: one.replace("-", "") for name, one in ids.items()}
    made = adapter.tracker(database=form.format(**bare)).create(page_fields())
    assert made.page.id in adapter.database.pages


def test_the_schema_is_read_once_in_ten_minutes(adapter: NotionAdapter) -> None:
    for number in range(3):
        adapter.tracker().create(page_fields(task_id=f"task_{number:026}"))
    assert adapter.asked() == ["GET databases", "GET data_sources", *["POST pages"] * 3]
    adapter.clock.advance(600)
    adapter.tracker().create(page_fields())
    assert adapter.asked()[-3:] == ["GET databases", "GET data_sources", "POST pages"]


def test_a_renamed_property_is_found_under_its_new_name_at_once(adapter: NotionAdapter) -> None:
    adapter.tracker().create(page_fields())
    properties = adapter.database.properties
    prop = properties.pop("Name")
    prop.name = "Task"
    properties["Task"] = prop
    assert adapter.fake.pages[adapter.tracker().create(page_fields(task_id=OTHER)).page.id].title == TITLE


def test_a_property_that_notion_refuses_is_left_out(adapter: NotionAdapter) -> None:
    refusal = "body failed validation: body.properties.Due.date.start should be a valid date."
    adapter.wire.refuse(1, 400, refusal)
    made = adapter.tracker().create(page_fields())
    assert adapter.fake.pages[made.page.id].due is None
    assert made.without == (f"The due date couldn't be written: Notion refuses it: {refusal}",)


def test_a_page_that_notion_refuses_whatever_is_left_out_is_refused(adapter: NotionAdapter) -> None:
    adapter.wire.refuse(99, 400, "body failed validation: " + "x" * 999)
    with pytest.raises(PageRefused, match=r"Notion refuses it: body failed validation: x+…\Z") as refused:
        adapter.tracker().create(page_fields())
    assert len(refused.value.message) < 330
    first, bare = adapter.wire.bodies("POST", "/v1/pages")
    assert (len(first["properties"]), list(bare["properties"])) == (5, ["Name"])


def test_a_refusal_in_unknown_words_leaves_a_page_with_its_title_and_text(adapter: NotionAdapter) -> None:
    adapter.wire.refuse(1, 400, "Something is wrong.")
    made = adapter.tracker().create(page_fields())
    page = adapter.fake.pages[made.page.id]
    assert (page.title, page.priority, page.texts[0]) == (TITLE, None, "Escalation from Scribe.")
    assert [problem.split(" couldn't")[0] for problem in made.without] == ["The status", "The priority", "The due date"]
    assert [ref.id for ref in adapter.tracker().find(page_fields())] == [page.id]


def test_links_that_notion_refuses_become_text(adapter: NotionAdapter) -> None:
    adapter.wire.refuse(1, 400, "Content creation Failed. Fix the following: \nInvalid URL for link.")
    page = adapter.fake.pages[adapter.tracker().create(page_fields(url="http://localhost:4566/tasks/1")).page.id]
    assert page.texts[1:] == [
        "Source digest: https://digests.test/1",
        f"Open in Baton: http://localhost:4566/tasks/1 · {TASK}",
    ]
    assert not any(item["href"] for block in page.blocks for item in block.text)


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "https://", "https://a b", "http://[", "https://a/" + "x" * 2000]
)
def test_what_is_no_link_is_written_as_text(adapter: NotionAdapter, url: str) -> None:
    page = adapter.page_of(digest_url=url)
    assert page.texts[1] == f"Source digest: {url}"
    assert not any(item["href"] for item in page.blocks[1].text)


# Related pages


def related(adapter: NotionAdapter, count: int, *, shared: bool = True) -> tuple[str, ...]:
    return tuple(adapter.fake.add_page(title=f"Client {i}", shared=shared).replace("-", "") for i in range(count))


def test_related_pages_are_linked(adapter: NotionAdapter) -> None:
    clients, projects = related(adapter, 2), related(adapter, 1)
    page = adapter.page_of(relations={"client": (*clients, clients[0]), "project": projects})
    assert {name: [one.replace("-", "") for one in ids] for name, ids in page.relations.items()} == {
        "Client": list(clients),
        "Project": list(projects),
    }


def test_pages_that_arent_shared_are_left_out_and_the_others_linked(adapter: NotionAdapter) -> None:
    shared, hidden = related(adapter, 1), related(adapter, 2, shared=False)
    made = adapter.tracker().create(page_fields(relations={"client": (*hidden, *shared)}))
    assert [one.replace("-", "") for one in adapter.fake.pages[made.page.id].relations["Client"]] == list(shared)
    assert made.is_denied
    assert made.without == (
        "2 Client pages couldn't be linked: share them with the connection under ••• → Connections.",
    )


def test_after_three_refusals_for_their_sake_no_pages_are_linked(adapter: NotionAdapter) -> None:
    shared, hidden = related(adapter, 1), related(adapter, 4, shared=False)
    made = adapter.tracker().create(page_fields(relations={"client": (*hidden, *shared)}))
    assert adapter.fake.pages[made.page.id].relations["Client"] == []
    assert made.without[0].startswith("5 Client pages couldn't be linked")
    assert adapter.asked().count("POST pages") == 4


def test_a_refusal_that_names_no_page_leaves_them_all_out(adapter: NotionAdapter) -> None:
    adapter.wire.refuse(1, 404, "Could not find page. Make sure the relevant pages are shared.")
    made = adapter.tracker().create(page_fields(relations={"project": related(adapter, 1)}))
    assert made.without == (
        "1 Project page couldn't be linked: share them with the connection under ••• → Connections.",
    )


# Long and odd texts


def test_a_long_text_arrives_whole_in_pieces_that_notion_takes(adapter: NotionAdapter) -> None:
    text = "naïve 👩🏽‍💻🇩🇪 e\u0301\n" * 1_500
    page = adapter.page_of(text=text)
    assert page.texts[0] == text
    assert all(texts.units(item["plain_text"]) <= 2_000 for item in page.blocks[0].text)


def test_a_text_is_cut_after_90_000_characters(adapter: NotionAdapter) -> None:
    text = adapter.page_of(text="x" * 90_001).texts[0]
    assert (len(text), text[-1]) == (90_000, "…")


def test_control_characters_and_half_characters_are_left_out(adapter: NotionAdapter) -> None:
    page = adapter.page_of(title="a\x00b\x7fc", text="one\ntwo\x08\x1b\ud83dthree\t", digest_url=None)
    assert (page.title, page.texts[0]) == ("abc", "one\ntwothree\t")


@pytest.mark.parametrize(
    "cluster", ["😀", "e\u0301", "👩🏽‍💻", "👍🏽", "❤️", "🇩🇪"], ids=lambda text: "+".join(f"{ord(c):x}" for c in text)
)
def test_texts_are_cut_between_what_is_seen_as_characters(cluster: str) -> None:
    for time_budget in range(12):
        text = "x" * time_budget + cluster * 30
        pieces = texts.pieces(text, 20)
        assert "".join(pieces) == text
        assert all(0 < texts.units(piece) <= 20 for piece in pieces)
        assert not any(unicodedata.category(piece[0]).startswith("M") or piece[0] in "\u200d🏽" for piece in pieces)
        if time_budget == 0:
            assert all(piece.startswith(cluster) and piece.endswith(cluster) for piece in pieces)


def test_a_run_of_marks_without_end_is_cut_all_the_same() -> None:
    text = "a" + "\u0301" * 100
    pieces = texts.pieces(text, 20)
    assert "".join(pieces) == text
    assert max(map(len, pieces)) == 20


# The page again


def test_a_page_is_found_by_its_task_id(adapter: NotionAdapter) -> None:
    mine = adapter.page_of()
    adapter.page_of(task_id=OTHER)
    assert [ref.id for ref in adapter.tracker().find(page_fields())] == [mine.id]


def test_a_page_that_is_older_than_its_property_is_found_by_its_title(adapter: NotionAdapter) -> None:
    adapter.fake.add_page(adapter.database.id, title=TITLE, task_id=OTHER)
    page = adapter.page_of()
    adapter.fake.edit(page.id, task_id="")
    assert [ref.id for ref in adapter.tracker().find(page_fields())] == [page.id]


def test_without_a_property_pages_that_name_the_task_come_first_and_other_tasks_not_at_all(
    adapter: NotionAdapter,
) -> None:
    adapter.use(TITLE_ONLY)
    unsigned = adapter.fake.add_page(adapter.database.id, title=TITLE)
    other = adapter.page_of(task_id=OTHER, text=f"As in {TASK}.")
    mine = adapter.page_of(text=f"After {OTHER}.")
    mentioning = adapter.fake.add_page(adapter.database.id, title=TITLE)
    adapter.fake.write(mentioning, f"about {OTHER}")
    trashed = adapter.page_of()
    adapter.fake.trash(trashed.id)
    adapter.fake.add_page(adapter.database.id, title=TITLE, created_at=NOON - timedelta(minutes=12))
    found = [ref.id for ref in adapter.tracker().find(page_fields())]
    assert found == [mine.id, unsigned]
    assert other.id not in found


def test_every_page_of_results_is_read(adapter: NotionAdapter) -> None:
    adapter.use(TITLE_ONLY)
    for _ in range(101):
        adapter.fake.write(adapter.fake.add_page(adapter.database.id, title=TITLE), OTHER)
    mine = adapter.page_of()
    assert [ref.id for ref in adapter.tracker().find(page_fields())] == [mine.id]


@pytest.mark.parametrize("seconds", [0, 17, 59])
def test_notions_whole_minutes_hide_no_page(adapter: NotionAdapter, seconds: int) -> None:
    adapter.use(TITLE_ONLY)
    adapter.clock.time = NOON + timedelta(seconds=seconds)
    page = adapter.page_of()
    assert [ref.id for ref in adapter.tracker().find(page_fields(created_at=adapter.clock.now()))] == [page.id]


@pytest.mark.parametrize("status_type", [STATUS, SELECT])
def test_an_update_writes_the_status_and_nothing_else(adapter: NotionAdapter, status_type: str) -> None:
    adapter.use(status_type=status_type)
    page = adapter.page_of()
    adapter.fake.edit(page.id, title="Renamed", priority="🟢 Low", due="2026-12-01")
    made = adapter.tracker().update(page.id, page_fields(state=State.CLAIMED))
    assert (page.title, page.status, page.priority, page.due) == ("Renamed", "In progress", "🟢 Low", "2026-12-01")
    assert (made.page.id, made.status, made.without) == (page.id, "In progress", ())
    assert adapter.wire.bodies("PATCH", f"/v1/pages/{page.id}") == [
        {"properties": {"Status": {status_type: {"name": "In progress"}}}}
    ]


@pytest.mark.parametrize("properties", [TITLE_ONLY, {**TITLE_ONLY, "Status": {"type": "status", "options": ["Open"]}}])
def test_an_update_without_a_place_for_it_changes_nothing(adapter: NotionAdapter, properties: dict[str, Any]) -> None:
    adapter.use(properties)
    page = adapter.page_of()
    adapter.fake.clear_requests()
    made = adapter.tracker().update(page.id, page_fields(state=State.DONE))
    assert adapter.asked() == ["GET pages"]
    assert made.status == page.status
    assert made.without[0].startswith("The status was left as it is: ")


def test_an_option_that_was_taken_away_meanwhile_leaves_the_status_as_it_is(adapter: NotionAdapter) -> None:
    page = adapter.page_of()
    adapter.database.properties["Status"].options.pop(2)  # Done
    made = adapter.tracker().update(page.id, page_fields(state=State.DONE))
    assert (made.status, page.status) == ("Not started", "Not started")
    assert 'no option "Done"' in made.without[0]


def test_a_page_in_the_trash_is_refused_with_what_to_do(adapter: NotionAdapter) -> None:
    page = adapter.page_of()
    adapter.fake.trash(page.id)
    with pytest.raises(PageRefused, match="in Notion's trash: restore it there"):
        adapter.tracker().update(page.id, page_fields(state=State.DONE))
    assert adapter.tracker().look(page.id).in_trash


def test_a_comment_is_made_once_if_it_must_be(adapter: NotionAdapter) -> None:
    page, text = adapter.page_of(), "Done by agent auditor.\n" + "😀" * 2_500
    for i in range(101):
        adapter.fake.comment(page.id, f"Chatter {i}")
    for _ in range(2):
        adapter.tracker().comment(page.id, text, unless_there=True)
    assert page.comment_texts[101:] == [text]
    adapter.tracker().comment(page.id, text, unless_there=False)
    assert page.comment_texts[101:] == [text, text]


# What people do there


def test_a_page_is_seen_as_it_is(adapter: NotionAdapter) -> None:
    page = adapter.page_of()
    ours = adapter.tracker().look(page.id)
    adapter.clock.advance(60)
    adapter.fake.edit(page.id, status="Done")
    theirs = adapter.tracker().look(page.id)
    assert (ours.by_us, ours.status, ours.edited_by) == (True, "Not started", adapter.fake.bot_id)
    assert (theirs.by_us, theirs.status, theirs.edited_by) == (False, "Done", adapter.fake.person)
    assert (theirs.title, theirs.url, theirs.page_id) == (TITLE, page.url, page.id)
    assert (theirs.created_at, theirs.edited_at) == (NOON, NOON + timedelta(minutes=1))
    assert adapter.asked().count("GET users") == 1


@pytest.mark.parametrize("properties", [TITLE_ONLY, {**TITLE_ONLY, "Status": {"type": "select"}}])
def test_a_missing_or_empty_status_is_none(adapter: NotionAdapter, properties: dict[str, Any]) -> None:
    adapter.use(properties)
    assert adapter.tracker().look(adapter.fake.add_page(adapter.database.id, title="x")).status is None


def test_people_are_told_from_bots_and_asked_for_once(adapter: NotionAdapter) -> None:
    bot = adapter.fake.add_user("bot", "Automation")
    for _ in range(2):
        assert adapter.tracker().who(adapter.fake.person) == Editor(adapter.fake.person, True, "Robin Person")
        assert not adapter.tracker().who(bot).is_person
        assert adapter.tracker().who("0" * 32) == Editor("0" * 32, is_person=False)
        assert adapter.tracker().who("no id") == Editor("no id", is_person=False)
    assert adapter.asked() == ["GET users"] * 4  # who isn't known may be, next time


def test_changed_pages_come_the_longest_ago_first_and_page_by_page(adapter: NotionAdapter) -> None:
    ids = [adapter.fake.add_page(adapter.database.id, title=str(i)) for i in range(150)]
    adapter.clock.advance(60)
    adapter.fake.edit(ids[0], title="edited")
    adapter.fake.trash(ids[1])
    changed = adapter.tracker().changed_since(NOON + timedelta(seconds=30))
    assert adapter.asked() == []
    first = next(changed)
    assert adapter.asked().count("POST data_sources") == 1
    seen = [first.page_id, *(page.page_id for page in changed)]
    assert (len(seen), set(seen), seen[-1]) == (149, set(ids) - {ids[1]}, ids[0])
    since = adapter.clock.now() + timedelta(seconds=10)  # within the minute
    assert [page.title for page in adapter.tracker().changed_since(since)] == ["edited"]


def test_new_pages_are_found_by_how_their_titles_begin(adapter: NotionAdapter) -> None:
    for title in ("Handoff: A → B", "Groceries", "Handoff: C → D"):
        adapter.clock.advance(60)
        adapter.fake.add_page(adapter.database.id, title=title)
    adapter.fake.add_page(adapter.database.id, title="Handoff: old", created_at=NOON - timedelta(days=1))
    found = adapter.tracker().created_since(NOON, "Handoff: ")
    assert [page.title for page in found] == ["Handoff: A → B", "Handoff: C → D"]

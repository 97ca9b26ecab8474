"""What a workspace says of its tracker."""

from __future__ import annotations

from typing import Any

import pytest

from baton.domain.errors import InvalidInput
from baton.domain.settings.settings import Settings
from baton.domain.settings.tracker_settings import MAX_WORD, MAX_WORDS, TrackerSettings, from_public, id_in
from baton.domain.task_state import State

ID = "1f0a5a5e28f44bb59d9e0c1d2e3f4a5b"
DASHED = "1f0a5a5e-28f4-4bb5-9d9e-0c1d2e3f4a5b"
VIEW = "aaaaaaaabbbbccccddddeeeeeeeeeeee"
PAGE = "99999999888877776666555555555555"
GOOD = TrackerSettings(database=ID)


@pytest.mark.parametrize(
    "text",
    [
        ID,
        DASHED,
        ID.upper(),
        f"  {DASHED}\n",
        f"https://www.notion.so/{ID}",
        f"https://www.notion.so/{ID}?v={VIEW}",
        f"https://www.notion.so/acme/{ID}?v={VIEW}",
        f"https://www.notion.so/acme/Tasks-{ID}?v={VIEW}",
        f"https://www.notion.so/acme/Tasks-{ID}?v={VIEW}&pvs=4",
        f"https://www.notion.so/acme/Tasks-{ID}?pvs=4#{VIEW}",
        f"https://www.notion.so/acme/{ID}?v={VIEW}&p={PAGE}&pm=s",
        f"https://www.notion.so/acme/{DASHED}",
        f"https://www.notion.so/acme/Tasks-{ID}/?v={VIEW}",
        f"https://www.notion.so/acme/Sprint-20261118-{ID}",
        f"https://www.notion.so/acme/Deadbeef-{ID}",
        f"https://www.notion.so/acme/Our-Tasks-2026-{DASHED}?v={VIEW}",
        f"https://app.notion.com/acme/Tasks-{ID}",
        f"https://acme.notion.site/Tasks-{ID}?v={VIEW}",
        f"https://acme.notion.site/{ID}",
        f"http://www.notion.so/{ID}",
        f"HTTPS://WWW.NOTION.SO/ACME/TASKS-{ID.upper()}",
        f"https://www.notion.so/T%C3%A2ches-{ID}",
        f"https://www.notion.so/acme?database_id={ID}",
        f"https://www.notion.so/acme?p={DASHED}",
    ],
)
def test_a_database_is_found_in_whatever_was_pasted(text: str) -> None:
    assert id_in(text) == ID
    assert TrackerSettings(database=text).database_id == ID
    assert GOOD.changed({"database": text}).database == text, "kept as it was pasted"


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "Tasks",
        ID[:-1],
        ID + "0",
        ID[:-1] + "g",
        f"{ID} {ID}",
        f"www.notion.so/{ID}",
        f"ftp://www.notion.so/{ID}",
        "https://www.notion.so/",
        "https://www.notion.so/acme",
        f"https://www.notion.so/acme?v={VIEW}",
        f"https://www.notion.so/acme#{ID}",
        f"https://{ID}.example/",
        "https://[::1",
        "https://",
    ],
)
def test_what_names_no_database_is_refused_by_its_field(text: str) -> None:
    assert id_in(text) is None
    assert TrackerSettings(database=text).database_id == ""
    assert refused(database=text) == "tracker.database"


def test_a_database_of_endless_text_is_refused() -> None:
    url = "https://www.notion.so/" + "x" * 2_000 + ID
    assert id_in(url) == ID
    assert refused(database=url) == "tracker.database"


def refused(**values: Any) -> str:
    with pytest.raises(InvalidInput) as caught:
        GOOD.changed(values)
    return caught.value.field


def test_the_first_settings_need_a_database() -> None:
    with pytest.raises(InvalidInput) as caught:
        Settings().changed(tracker={"closed_statuses": ("Done",)})
    assert caught.value.field == "tracker.database"


def test_maps_keep_what_isnt_given_and_lists_are_replaced() -> None:
    first = GOOD.changed({"statuses": {"done": "Finished"}, "properties": {"status": "State"}})
    again = first.changed({"statuses": {"failed": "Broken"}, "closed_statuses": ("Finished",)})
    assert (again.statuses["done"], again.statuses["failed"], again.statuses["needs"]) == (
        "Finished",
        "Broken",
        "Not started",
    )
    assert again.properties == {**GOOD.properties, "status": "State"}
    assert again.closed_statuses == ("Finished",)
    assert again.cancelled_statuses == GOOD.cancelled_statuses
    assert TrackerSettings(database=ID) == GOOD, "a copy was changed"


def test_settings_keep_the_tracker_when_others_change_and_none_switches_it_off() -> None:
    settings = Settings().changed(tracker={"database": ID})
    assert settings.changed(escalation_cap=5).tracker == GOOD
    assert settings.changed(tracker={"priorities": {"P0": "Now"}}).tracker == GOOD.changed(
        {"priorities": {"P0": "Now"}}
    )
    assert settings.changed(tracker=None).tracker is None


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"properties": {"statu": "Status"}}, "tracker.properties.statu"),
        ({"properties": {"title": "Name"}}, "tracker.properties.title"),
        ({"properties": {"due": ""}}, "tracker.properties.due"),
        ({"statuses": {"finished": "Done"}}, "tracker.statuses.finished"),
        ({"statuses": {"done": " "}}, "tracker.statuses.done"),
        ({"statuses": {"failed": "x" * (MAX_WORD + 1)}}, "tracker.statuses.failed"),
        ({"statuses": {"failed": "two\nlines"}}, "tracker.statuses.failed"),
        ({"priorities": {"P3": "Low"}}, "tracker.priorities.P3"),
        ({"priorities": {"P0": "\u202e"}}, "tracker.priorities.P0"),
        ({"closed_statuses": ("Done", "")}, "tracker.closed_statuses"),
        ({"closed_statuses": ("x",) * (MAX_WORDS + 1)}, "tracker.closed_statuses"),
        ({"cancelled_statuses": ("\x00",)}, "tracker.cancelled_statuses"),
        ({"statuses": {"claimed": "done "}}, "tracker.statuses.claimed"),
        ({"statuses": {"waiting": "CANCELED"}}, "tracker.statuses.waiting"),
        ({"closed_statuses": ("Done", "not STARTED")}, "tracker.statuses.needs"),
        ({"cancelled_statuses": ("In progress",)}, "tracker.statuses.claimed"),
    ],
)
def test_a_refusal_names_its_field(values: dict[str, Any], field: str) -> None:
    assert refused(**values) == field


def test_the_bounds_themselves_are_taken() -> None:
    after = GOOD.changed(
        {
            "statuses": {"failed": "x" * MAX_WORD},
            "closed_statuses": tuple(f"c{n}" for n in range(MAX_WORDS)),
            "cancelled_statuses": (),
        }
    )
    assert after.status_for(State.FAILED) == "x" * MAX_WORD
    assert len(after.closed_statuses) == MAX_WORDS
    assert after.meaning("Cancelled") is None


def test_an_ended_task_may_show_any_word() -> None:
    after = GOOD.changed({"statuses": {"failed": "Done", "rejected": "Cancelled", "done": "In progress"}})
    assert after.status_for(State.REJECTED) == "Cancelled"


@pytest.mark.parametrize(
    ("status", "meaning"),
    [
        ("Done", State.DONE),
        ("done", State.DONE),
        ("  DONE\t", State.DONE),
        ("Closed", State.DONE),
        ("complete", State.DONE),
        ("Cancelled", State.CANCELLED),
        ("canceled", State.CANCELLED),
        ("Done!", None),
        ("Not done", None),
        ("In progress", None),
        ("Failed", None),
        ("", None),
        (" ", None),
        (None, None),
    ],
)
def test_what_a_pages_status_says_of_its_task(status: str | None, meaning: State | None) -> None:
    assert GOOD.meaning(status) is meaning


def test_words_are_compared_as_unicode_folds_them() -> None:
    after = GOOD.changed({"closed_statuses": ("Abschließen",), "statuses": {"done": "Abschließen"}})
    assert after.meaning("ABSCHLIESSEN") is State.DONE
    assert after.meaning("Done") is None


def test_a_word_on_both_lists_cancels() -> None:
    assert (
        GOOD.changed({"closed_statuses": ("Over",), "cancelled_statuses": ("over",)}).meaning("Over") is State.CANCELLED
    )


def test_every_state_has_a_word_and_no_open_one_closes() -> None:
    for state in State:
        assert GOOD.status_for(state)
    assert {state for state in State if GOOD.meaning(GOOD.status_for(state))} == {State.DONE, State.CANCELLED}


def test_what_is_kept_of_settings_reads_back_and_old_ones_get_new_words() -> None:
    full = GOOD.changed({"statuses": {"done": "Finished"}, "closed_statuses": ("Finished",)})
    assert from_public(full.public()) == full
    assert full.public()["closed_statuses"] == ["Finished"]
    old = {"database": ID, "statuses": {"done": "Finished"}, "forgotten": 1}
    assert from_public(old) == TrackerSettings(database=ID, statuses={**GOOD.statuses, "done": "Finished"})

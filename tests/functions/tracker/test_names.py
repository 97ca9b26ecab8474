"""Names of columns and statuses as people write them in Notion: joined emoji, marks of direction, no-break spaces, in
any normal form."""

from __future__ import annotations

from unicodedata import normalize

import pytest

from baton.adapters.notion.database_schema import DatabaseSchema, Lack, Property
from baton.domain.settings.tracker_settings import TrackerSettings
from baton.domain.task_state import State
from support.gateway import Gateway
from support.worlds.world import human

ADA = human(name="ada")
JOINED, HEART, HEBREW = "\U0001f469\u200d\U0001f4bb In progress", "\u2764\ufe0f\u200d\U0001f525", "\u05d1\u200f \u05d4"


@pytest.mark.parametrize("name", [JOINED, HEART, HEBREW, "Task\u00a0ID", normalize("NFD", "Priorité")])
def test_a_name_with_joiners_marks_or_any_spaces_is_set(gateway: Gateway, name: str) -> None:
    tracker = {"database": "0" * 32, "statuses": {"needs": name}, "properties": {"task_id": name}}
    saved = gateway.put(ADA, "/workspace/settings", {"tracker": tracker})
    assert saved.status == 200, saved.text
    assert saved.json["tracker"]["statuses"]["needs"] == name


@pytest.mark.parametrize("name", ["", " ", "\u200b", "\u00a0\u200d", "a\tb", "a\nb", "a\u2028b", "x" * 101])
def test_a_name_that_nobody_sees_or_with_controls_is_refused(gateway: Gateway, name: str) -> None:
    tracker = {"database": "0" * 32, "statuses": {"needs": name}}
    refused = gateway.put(ADA, "/workspace/settings", {"tracker": tracker})
    assert (refused.status, refused.fields) == (422, ["tracker.statuses.needs"])


@pytest.mark.parametrize("said", ["Terminé", normalize("NFD", "terminé"), "Terminé\u00a0", "TERMINE\u0301"])
def test_a_closing_status_counts_in_any_normal_form(said: str) -> None:
    settings = TrackerSettings(closed_statuses=("Terminé",))
    assert settings.meaning(said) is State.DONE


def test_a_column_is_found_by_its_looks_and_a_missing_one_is_spelled_out() -> None:
    usual = TrackerSettings().properties
    settings = TrackerSettings(properties={**usual, "task_id": "Task ID", "priority": "Priorité"})
    columns = (Property("Task\u00a0ID", "rich_text"), Property(normalize("NFD", "Priorité"), "select"))
    schema = DatabaseSchema("d", columns, ("d",), "u")
    assert schema.find("task_id", settings) == columns[0]
    assert schema.find("priority", settings) == columns[1]
    hidden = TrackerSettings(properties={**usual, "task_id": "Task\u200bID"})
    lack = schema.find("task_id", hidden)
    assert isinstance(lack, Lack)
    assert '"Task\\u{200b}ID"' in str(lack)

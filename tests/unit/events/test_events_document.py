"""docs/events.md shows what is really sent."""

from __future__ import annotations

import json
import re
from pathlib import Path

from baton.domain.events.bus_events import DETAIL_TYPE, MAX_DETAIL_BYTES, SOURCE, bus_event
from support.published import outbox_events
from support.values.changes import new

DOCUMENT = (Path(__file__).parents[3] / "docs" / "events.md").read_text(encoding="utf-8")


def shape(value: object) -> object:
    """Names alone; ``data`` and what is in it differ by type of event."""
    if not isinstance(value, dict):
        return None
    return {name: shape(inner) for name, inner in value.items() if name != "data"}


def test_the_example_has_the_fields_of_a_notice_in_their_order() -> None:
    found = re.search(r"```json\n(.+?)```", DOCUMENT, re.DOTALL)
    assert found is not None
    shown, change = json.loads(found[1]), new()
    (outbox_event,) = outbox_events(change)
    sent = json.loads(bus_event(outbox_event, change.task, "u").detail)
    assert shape(shown) == shape(sent)
    assert list(shown) == list(sent)
    assert list(shown["task"]) == list(sent["task"])
    assert shown["version"] == sent["version"]


def test_the_names_and_the_limit_are_those_in_force() -> None:
    assert f"`source` is `{SOURCE}`, `detail-type` is `{DETAIL_TYPE}`" in DOCUMENT
    assert f"{MAX_DETAIL_BYTES:,} bytes" in DOCUMENT

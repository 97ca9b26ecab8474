"""The handoff message: what was sent is what is stored, whatever Baton reads of it."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from baton.domain.errors import InvalidInput
from baton.domain.handoffs.handoff_message import ContextPart, HandoffMessage, message_from
from support.faults.soak import scaled

GOLDEN = Path(__file__).parents[2] / "golden" / "files"
NAMES = ["source", "target", "summary", "results", "context", "expectations", "rollback", "metadata", "budget", "input"]

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from([*NAMES, "hops", "conversation", "text"]), values))
@settings(max_examples=scaled(100, 4))
def test_any_json_is_kept_as_it_is(plain: dict[str, Any]) -> None:
    assert message_from(plain).plain() == plain


def bodies(value: Any) -> list[dict[str, Any]]:
    """Every object with a handoff's id in it, at any depth."""
    match value:
        case dict():
            here = [value] if "handoff_id" in value else []
            return [*here, *(found for each in value.values() for found in bodies(each))]
        case list():
            return [found for each in value for found in bodies(each)]
        case _:
            return []


def test_every_record_of_the_golden_files_is_kept_as_it_is() -> None:
    found = [body for path in GOLDEN.glob("*.json") for body in bodies(json.loads(path.read_text()))]
    assert len(found) > 100
    assert [body for body in found if message_from(body).plain() != body] == []


def test_fields_are_written_in_the_protocols_order() -> None:
    plain: dict[str, Any] = {name: {} for name in NAMES} | {"summary": "s", "results": []}
    shuffled = {"more": 1, **{name: plain[name] for name in reversed(NAMES)}}
    assert list(message_from(shuffled).plain()) == [*NAMES, "more"]


def test_a_missing_part_is_read_as_an_empty_one_and_stays_missing() -> None:
    message = message_from(None)
    assert (message.target.agent, message.rollback.on_failure, message.metadata.workflow_id) == (None, None, None)
    assert (message.expectations.criteria, message.requires, message.context.state) == ((), (), {})
    assert message.plain() == {}
    assert message_from({"context": {}}).plain() == {"context": {}}


def test_a_message_says_whether_it_names_nobody_for_a_failure_or_nothing_at_all() -> None:
    nobody, nothing = message_from({"rollback": {"on_failure": None}}), message_from({"rollback": {}})
    assert (nobody.rollback.back_to("source"), nothing.rollback.back_to("source")) == (None, "source")


def test_a_part_is_changed_in_a_copy() -> None:
    message = message_from({"context": {"state": {"n": 1}}})
    changed = message.with_context(message.context.merged_with(ContextPart({"state": {"m": 2}})))
    assert (message.context.state, changed.context.state) == ({"n": 1}, {"n": 1, "m": 2})
    assert message.with_context(ContextPart({})) is message


@pytest.mark.parametrize("part", ["expectations", "budget"])
def test_a_deadline_that_has_passed_is_refused_under_its_own_name(part: str) -> None:
    message = message_from({part: {"deadline": "2026-01-01T00:00:00Z"}})
    now = datetime(2026, 1, 1, tzinfo=UTC)
    with pytest.raises(InvalidInput) as refused:
        message.must_be_ahead(now, "parts.0")
    assert refused.value.field == f"parts.0.{part}.deadline"
    HandoffMessage().must_be_ahead(now)

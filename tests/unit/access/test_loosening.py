"""Which changes of the settings loosen a rule, by meaning and not by position."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from baton.domain.access.loosening import binds_otherwise, loosens
from baton.domain.settings.approval_rule import ApprovalRule
from baton.domain.settings.settings import Settings
from baton.domain.settings.tracker_settings import TrackerSettings

DATABASE = "0123456789abcdef0123456789abcdef"
RULE = ApprovalRule(target="auditor", group="leads", needed=2, not_author=True)
OTHER = ApprovalRule(work_type="deploy", people=("ann", "bob"))
GROUPS = {"leads": ("ada", "ben", "cy"), "ops": ("dan",)}
BASE = Settings(
    version=1,
    groups=GROUPS,
    approval_rules=(RULE, OTHER),
    tracker=TrackerSettings(database=DATABASE, rights={"u1": "reader", "u2": "member"}),
)


def tracker(**rights: str) -> TrackerSettings:
    return TrackerSettings(database=DATABASE, rights=rights)


def worded(**values: Any) -> dict[str, Any]:
    """The tracker with other words; ``status``: the name of its column."""
    present = BASE.tracker or tracker()
    if status := values.pop("status", None):
        values["properties"] = {**present.properties, "status": status}
    return {"tracker": replace(present, **values)}


TIGHTER: dict[str, dict[str, Any]] = {
    "a new rule": {"approval_rules": (RULE, OTHER, ApprovalRule(target="reviewer"))},
    "more people": {"approval_rules": (replace(RULE, needed=3), OTHER)},
    "without the author": {"approval_rules": (RULE, replace(OTHER, not_author=True))},
    "a stricter rule for two": {"approval_rules": (replace(RULE, needed=3), RULE, OTHER)},
    "a member leaves": {"groups": {**GROUPS, "leads": ("ada", "ben")}},
    "a lower right": {"tracker": tracker(u1="reader", u2="reader", u3="member")},
    "no tracker": {"tracker": None},
    "one word less that closes": worded(closed_statuses=("Done", "Closed")),
    "no word that cancels": worded(cancelled_statuses=()),
}
SAME: dict[str, dict[str, Any]] = {
    "rules in another order": {"approval_rules": (OTHER, RULE)},
    "a rule twice": {"approval_rules": (RULE, OTHER, RULE)},
    "people in another order": {"approval_rules": (RULE, replace(OTHER, people=("bob", "ann")))},
    "members in another order": {"groups": {"ops": ("dan",), "leads": ("cy", "ben", "ada", "ada")}},
    "a right that is the usual one": {"tracker": tracker(u1="reader", u2="member", u3="approver")},
    "another setting": {"max_attempts": 5},
    "closing words in another order and case": worded(closed_statuses=("complete", " CLOSED", "done", "Done")),
    "a cancelling word that closes too": worded(closed_statuses=("Done", "Closed", "Complete", "canceled")),
    "other words that Baton writes": worded(statuses={**TrackerSettings().statuses, "claimed": "Doing"}),
    "another column that ends no task": worded(properties={**TrackerSettings().properties, "due": "Until"}),
}
LOOSER: dict[str, dict[str, Any]] = {
    "no rule": {"approval_rules": (OTHER,)},
    "fewer people": {"approval_rules": (replace(RULE, needed=1), OTHER)},
    "the author too": {"approval_rules": (replace(RULE, not_author=False), OTHER)},
    "another target": {"approval_rules": (replace(RULE, target="reviewer"), OTHER)},
    "a narrower rule": {"approval_rules": (replace(RULE, source="scout"), OTHER)},
    "one more person": {"approval_rules": (RULE, replace(OTHER, people=("ann", "bob", "eve")))},
    "another group": {"approval_rules": (replace(RULE, group="ops"), OTHER)},
    "a wider group later": {
        "approval_rules": (replace(RULE, then_group="ops", then_after_seconds=60), OTHER),
    },
    "another tool": {"approval_rules": (replace(RULE, tool="pay"), OTHER)},
    "stricter here and looser there": {"approval_rules": (replace(RULE, needed=3, not_author=False), OTHER)},
    "a new member": {"groups": {**GROUPS, "leads": ("ada", "ben", "eve")}},
    "a new group": {"groups": {**GROUPS, "new": ("eve",)}},
    "a group is gone": {"groups": {"leads": GROUPS["leads"]}},
    "a group is renamed": {"groups": {"chiefs": GROUPS["leads"], "ops": GROUPS["ops"]}},
    "a higher right": {"tracker": tracker(u1="member", u2="member")},
    "a right is forgotten": {"tracker": tracker(u2="member")},
    "another status column": worded(status="Verdict"),
    "a status column in another case": worded(status="status"),
    "a new word that closes": worded(closed_statuses=("Done", "Closed", "Complete", "In progress")),
    "a new word that cancels": worded(cancelled_statuses=("Cancelled", "Canceled", "Paused")),
    "one closing word for another": worded(closed_statuses=("Fertig",)),
    "a closing word that cancels now": worded(closed_statuses=("Done",), cancelled_statuses=("Cancelled", "closed")),
    "a cancelling word that closes now": worded(closed_statuses=("Done", "canceled"), cancelled_statuses=()),
    "another database": {"tracker": replace(BASE.tracker or tracker(), database="f" * 32)},
}


@pytest.mark.parametrize("name", TIGHTER)
def test_a_tightening_is_no_loosening(name: str) -> None:
    after = replace(BASE, **TIGHTER[name])
    assert (loosens(BASE, after), binds_otherwise(BASE, after)) == (False, True)


@pytest.mark.parametrize("name", SAME)
def test_the_same_meaning_is_no_change_of_rules(name: str) -> None:
    after = replace(BASE, **SAME[name])
    assert (loosens(BASE, after), binds_otherwise(BASE, after)) == (False, False)
    assert not loosens(after, BASE)


@pytest.mark.parametrize("name", LOOSER)
def test_everything_else_loosens(name: str) -> None:
    after = replace(BASE, **LOOSER[name])
    assert (loosens(BASE, after), binds_otherwise(BASE, after)) == (True, True)


def test_a_tracker_that_is_switched_on_loosens() -> None:
    """Everybody who can edit a page there becomes an approver."""
    assert loosens(replace(BASE, tracker=None), BASE)


RULES = st.builds(
    ApprovalRule,
    target=st.sampled_from([None, "auditor"]),
    group=st.sampled_from([None, "leads"]),
    needed=st.integers(1, 3),
    not_author=st.booleans(),
)
WORDS = st.lists(st.sampled_from(["Done", "done", "Paused"])).map(tuple)
ALL = st.builds(
    Settings,
    groups=st.dictionaries(st.sampled_from(["leads", "ops"]), st.lists(st.sampled_from("abc")).map(tuple)),
    approval_rules=st.lists(RULES, max_size=3).map(tuple),
    tracker=st.none()
    | st.builds(TrackerSettings, database=st.just(DATABASE), closed_statuses=WORDS, cancelled_statuses=WORDS),
)


@given(ALL)
def test_no_order_of_rules_loosens(settings: Settings) -> None:
    for order in permutations(settings.approval_rules):
        assert not loosens(settings, replace(settings, approval_rules=order))


@given(ALL, ALL, ALL)
def test_two_tightenings_in_a_row_are_one(first: Settings, second: Settings, third: Settings) -> None:
    """So several steps loosen no rule together if no single step does."""
    if not loosens(first, second) and not loosens(second, third):
        assert not loosens(first, third)

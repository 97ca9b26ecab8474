"""When agents were last heard of: kept once a minute, and never in the way of anything."""

from __future__ import annotations

from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from baton.adapters.dynamodb.agents.contacts import MAX_REMEMBERED, Contacts
from baton.adapters.dynamodb.patience import Patience
from baton.adapters.dynamodb.table import Table
from baton.domain.agents.liveness import MARKED_EVERY
from baton.domain.errors import Busy
from baton.ports.store import Store
from baton.steps.agents.mark_contact import mark_contact
from support.clock import NOON
from support.fakes.fake_dynamo import refusal
from support.faults.threads import StillClock
from support.worlds.rig import Rig
from support.worlds.world import WORKSPACE, agent

MINUTE = timedelta(minutes=1)
MS = timedelta(milliseconds=1)


def test_nobody_was_heard_of_yet(store: Store) -> None:
    assert store.contacts.last_contact(WORKSPACE, "auditor") is None
    assert store.contacts.last_contacts(WORKSPACE) == {}


def test_contacts_are_kept_by_agent(store: Store) -> None:
    store.contacts.mark_contact(WORKSPACE, "client", NOON, MARKED_EVERY)
    store.contacts.mark_contact(WORKSPACE, "client-repo-auditor", NOON + MS, MARKED_EVERY)
    assert store.contacts.last_contact(WORKSPACE, "client") == NOON
    assert store.contacts.last_contacts(WORKSPACE) == {"client": NOON, "client-repo-auditor": NOON + MS}


def test_a_contact_is_kept_again_after_a_minute_and_not_before(store: Store) -> None:
    for at in (NOON, NOON + MINUTE - MS):
        store.contacts.mark_contact(WORKSPACE, "auditor", at, MARKED_EVERY)
    assert store.contacts.last_contact(WORKSPACE, "auditor") == NOON
    store.contacts.mark_contact(WORKSPACE, "auditor", NOON + MINUTE, MARKED_EVERY)
    assert store.contacts.last_contact(WORKSPACE, "auditor") == NOON + MINUTE


def test_an_older_contact_is_never_kept_over_a_newer_one(store: Store) -> None:
    store.contacts.mark_contact(WORKSPACE, "auditor", NOON, MARKED_EVERY)
    store.contacts.mark_contact(WORKSPACE, "auditor", NOON - 2 * MINUTE, MARKED_EVERY)
    assert store.contacts.last_contact(WORKSPACE, "auditor") == NOON


def test_a_process_writes_once_a_minute_and_another_ones_mark_stands(rig: Rig) -> None:
    def writes(seconds: float) -> int:
        rig.clock.advance(seconds)
        return len(
            rig.count(lambda: rig.store.contacts.mark_contact(WORKSPACE, "auditor", rig.clock.now(), MARKED_EVERY))
        )

    assert [writes(seconds) for seconds in (0, 30, 29.999, 0.001)] == [1, 0, 0, 1]
    rig.clock.advance(60)
    rig.other_store.contacts.mark_contact(WORKSPACE, "auditor", rig.clock.now(), MARKED_EVERY)
    before = rig.clock.now()
    assert writes(30) == 1
    assert rig.store.contacts.last_contact(WORKSPACE, "auditor") == before


@pytest.mark.parametrize("fault", ["timeout_before", "timeout_after", "error_before", "no_connection", "throttle"])
def test_a_mark_is_tried_once_and_not_again_within_the_minute(rig: Rig, fault: str) -> None:
    rig.choked.plan = lambda _n, operation: fault if operation == "put_item" else None
    with pytest.raises(Busy):
        rig.store.contacts.mark_contact(WORKSPACE, "auditor", rig.clock.now(), MARKED_EVERY)
    assert rig.choked.calls.count("put_item") == 1
    assert rig.count(lambda: mark_contact(rig.world.deps, agent("auditor"), "auditor")) == []
    rig.clock.advance(60)
    assert rig.count(lambda: mark_contact(rig.world.deps, agent("auditor"), "auditor")) == ["put_item"]


def test_not_even_a_forbidden_write_is_in_the_way(rig: Rig) -> None:
    class Forbidding:
        def __getattr__(self, name: str) -> Any:
            def refused(**_: Any) -> Any:
                raise refusal("AccessDeniedException", name)

            return refused

    rig.choked.client = Forbidding()
    mark_contact(rig.world.deps, agent("auditor"), "auditor")
    assert rig.world.logged[-1]["error"] == "ClientError"


def test_a_process_that_serves_ever_new_agents_does_not_grow_for_ever() -> None:
    client: Any = SimpleNamespace(put_item=lambda **_: {"Attributes": {}})
    contacts = Contacts(Table(client, "table", Patience(StillClock())))
    for number in range(MAX_REMEMBERED + 1):
        contacts.mark_contact(WORKSPACE, f"a-{number}", NOON, MARKED_EVERY)
    assert len(contacts._tried) == 1

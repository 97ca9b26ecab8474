"""What principals ask for in a minute is counted in one place for all processes."""

from __future__ import annotations

import pytest

from baton.domain.errors import Busy
from baton.ports.store import Store
from support.worlds.rig import Rig
from support.worlds.world import agent, human

AUDITOR = agent("auditor")


def test_uses_add_up_within_their_minute(store: Store) -> None:
    assert store.uses.count_use(AUDITOR, 7, 20, 1_000) == (20, 1_000)
    assert store.uses.count_use(AUDITOR, 7, 1, 64_000) == (21, 65_000)
    assert store.uses.count_use(AUDITOR, 8, 1, 0) == (1, 0)


def test_each_principal_has_its_own_count(store: Store) -> None:
    store.uses.count_use(AUDITOR, 7, 20, 1_000)
    for by in (agent("auditor-2"), agent("auditor", "other"), human(name="auditor")):
        assert store.uses.count_use(by, 7, 1, 1) == (1, 1)


def test_a_count_is_one_write_tried_once_and_forgotten_in_time(rig: Rig) -> None:
    assert rig.count(lambda: rig.store.uses.count_use(AUDITOR, 7, 20, 1_000)) == ["update_item"]
    (item,) = [item for item in rig.items() if "#USE#" in item["pk"]["S"]]
    assert int(item["ttl"]["N"]) == 7 * 60 + 3_600
    rig.choked.plan = lambda _number, _operation: "timeout_before"
    with pytest.raises(Busy):
        rig.store.uses.count_use(AUDITOR, 7, 1, 1)
    assert rig.choked.calls[-2:] == ["update_item", "update_item"]

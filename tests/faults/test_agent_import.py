"""An import of agents is many transactions: whichever call goes wrong, sending it again brings all of it about."""

from __future__ import annotations

import pytest

from baton.domain.errors import Busy
from baton.domain.idempotency import IdempotencyKey
from baton.services.agents.import_agents import ImportedAgent, import_agents
from support.faults.choke_point import Crash, at_call, from_call, no_fault
from support.worlds.rig import Rig
from support.worlds.world import WORKSPACE, human, service

DECLARED = {
    "architect": {"accepts": ("design",), "produces": ("specification",)},
    "auditor": {"accepts": ("code",)},
    "runner": {"produces": ("report",)},
    "scout": {},
}
ONCE = IdempotencyKey(service(), "POST /agents/import", "key-1", "hash")
VERSIONS = {"architect": 1, "auditor": 2, "runner": 2, "scout": 1}


def done(rig: Rig) -> list[ImportedAgent]:
    return import_agents(rig.world.deps, service(), DECLARED, ONCE)


def check(rig: Rig, where: str) -> None:
    roster = rig.other_store.agents.roster(WORKSPACE)
    assert {agent.slug: agent.version for agent in roster} == VERSIONS, where
    for slug, types in DECLARED.items():
        assert all(getattr(roster.get(slug), name) == values for name, values in types.items()), where
    assert roster.get("runner").approval == "manual", where
    assert roster.get("auditor").updated_by == "service:ci", where
    assert roster.get("scout").updated_by == "human:alice", where


@pytest.mark.parametrize("fault", ["timeout_after", "timeout_before", "error_after", "no_connection", "throttle"])
def test_one_fault_at_any_call_is_not_noticed(fault: str) -> None:
    rig = Rig().settle()
    again = rig.keep()
    again()
    expected, calls = done(rig), len(rig.choked.calls)
    assert [str(each.status) for each in expected] == ["created", "updated", "updated", "unchanged"]
    for number in range(1, calls + 1):
        again()
        rig.choked.plan = at_call(number, fault)
        assert done(rig) == expected, f"{fault} at call {number}"
        check(rig, f"{fault} at call {number}")


@pytest.mark.parametrize("fault", ["crash_before", "crash_after", "timeout_after", "no_connection"])
def test_what_was_interrupted_goes_on_when_it_is_sent_again(fault: str) -> None:
    rig = Rig().settle()
    again = rig.keep()
    again()
    done(rig)
    for number in range(1, len(rig.choked.calls) + 1):
        again()
        rig.choked.plan = from_call(number, fault)
        where = f"{fault} from call {number} on"
        with pytest.raises((Crash, Busy)):
            done(rig)
        rig.choked.plan = no_fault
        answer = done(rig)
        check(rig, where)
        assert {each.slug: each.version for each in answer} == VERSIONS, where
        assert done(rig) == answer, where


def test_an_import_reads_once_and_writes_once_for_each_agent_that_changes() -> None:
    rig = Rig().settle()
    rig.store.agents.roster("acme")
    # Outside of a request the version is read for the agents and for the settings.
    assert rig.count(lambda: import_agents(rig.world.deps, human(), DECLARED)) == [
        *["get_item"] * 2,
        *["transact_write_items"] * 3,
    ]
    again = rig.count(lambda: import_agents(rig.world.deps, human(), DECLARED))
    assert again == ["get_item", "batch_get_item", "get_item"]

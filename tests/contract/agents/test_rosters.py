"""The agents of a workspace are kept in the process, and are never older than what somebody was told of them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from baton.adapters.dynamodb.agents import workspace_configs
from baton.domain.errors import Conflict, InvalidMarker
from baton.ports.store import Store
from baton.services.agents.import_agents import import_agents
from baton.services.agents.register_agent import register_agent
from baton.services.escalations.create_handoff_marker import create_handoff_marker
from support.values.tasks import an_agent
from support.worlds.rig import Rig
from support.worlds.world import WORKSPACE, human, marker_body


def switched_off(rig: Rig, slug: str = "auditor") -> Callable[[], object]:
    """By another process."""
    return lambda: register_agent(rig.other().deps, human(), slug, {"active": False})


def just_before(rig: Rig, operation: str, step: Callable[[], object]) -> None:
    """``step`` happens once, between this process's decision to make the call and the call."""
    steps = [step]

    def plan(_number: int, called: str) -> None:
        if called == operation and steps:
            steps.pop()()

    rig.choked.plan = plan


def test_an_agent_that_another_process_switched_off_takes_no_marker_any_more(rig: Rig) -> None:
    rig.world.mark()
    switched_off(rig)()
    with pytest.raises(InvalidMarker) as raised:
        rig.world.mark()
    assert raised.value.field == "target_agent"


@pytest.mark.parametrize("operation", ["batch_get_item", "get_item", "query"])
@pytest.mark.parametrize("knows", [True, False])
def test_an_agent_that_is_switched_off_while_a_marker_reads_is_seen(rig: Rig, operation: str, knows: bool) -> None:
    """Before the reading of what else counts: from then on the marker is the earlier of the two."""
    if knows and operation != "batch_get_item":
        register_agent(rig.other().deps, human(), "scout", {"description": "makes it read them again"})
    if not knows:
        rig.store.forget_all()
    just_before(rig, operation, switched_off(rig))
    with pytest.raises(InvalidMarker):
        create_handoff_marker(rig.world.deps, human(), marker_body())


def test_agents_that_change_between_the_two_readings_are_read_again_by_the_next(rig: Rig) -> None:
    rig.store.forget_all()
    just_before(rig, "query", switched_off(rig))
    assert not rig.store.agents.roster(WORKSPACE).get("auditor").active
    switched_on = {"active": True}
    register_agent(rig.other().deps, human(), "auditor", switched_on)
    assert rig.store.agents.roster(WORKSPACE).get("auditor").active
    assert rig.count(lambda: rig.store.agents.roster(WORKSPACE)) == ["get_item"]


def test_nothing_is_saved_on_agents_that_changed_between_the_two_readings(rig: Rig) -> None:
    rig.store.forget_all()
    just_before(rig, "query", switched_off(rig))
    read = rig.store.agents.roster(WORKSPACE)
    with pytest.raises(Conflict):
        rig.store.agents.save_agent(an_agent("newcomer", name="Newcomer"), read)


def test_a_process_that_saves_an_agent_knows_it_without_reading(rig: Rig) -> None:
    register_agent(rig.world.deps, human(), "newcomer", {"name": "Newcomer"})
    assert rig.count(lambda: rig.store.agents.roster(WORKSPACE)) == ["get_item", "batch_get_item"]
    assert rig.store.agents.roster(WORKSPACE).active_named("Newcomer") is not None
    assert rig.store.agents.roster(WORKSPACE) == rig.other_store.agents.roster(WORKSPACE)


def test_a_registration_that_was_refused_is_not_kept(rig: Rig) -> None:
    read = rig.store.agents.roster(WORKSPACE)
    switched_off(rig)()
    with pytest.raises(Conflict):
        rig.store.agents.save_agent(an_agent("newcomer", name="Newcomer"), read)
    assert rig.store.agents.roster(WORKSPACE) == rig.other_store.agents.roster(WORKSPACE)


def test_what_an_import_changes_is_known_to_all(store: Store, rig: Rig) -> None:
    other = rig.other()
    rig.store.agents.roster(WORKSPACE)
    import_agents(other.deps, human(), {"auditor": {"accepts": ("code",)}, "newcomer": {"produces": ("text",)}})
    assert rig.store.agents.roster(WORKSPACE).get("auditor").accepts == ("code",)
    assert rig.store.agents.roster(WORKSPACE) == rig.other_store.agents.roster(WORKSPACE)


def test_a_process_keeps_the_agents_of_so_many_workspaces_and_no_more(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workspace_configs, "MAX_KEPT_AGENTS", 3)
    other = rig.other()
    for workspace in ("one", "two", "three", "four"):
        register_agent(other.deps, human(workspace), "auditor", {})
        rig.store.agents.roster(workspace)
    rig.store.agents.roster("two")
    assert rig.count(lambda: rig.store.agents.roster("one")) == ["get_item", "batch_get_item", "query"]
    assert rig.count(lambda: rig.store.agents.roster("two")) == ["get_item"]

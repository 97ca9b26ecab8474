"""A workspace's settings and its registered agents: bounds, versions, names."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import pytest

from baton.domain.access.principal import Principal
from baton.domain.agents.agent import MAX_AGENTS, Agent, Approval, Roster, canonical
from baton.domain.errors import (
    Busy,
    Conflict,
    HumanNeeded,
    InvalidInput,
    LimitReached,
    NameTaken,
    VersionConflict,
)
from baton.domain.guardrails.guardrails import Guardrails
from baton.domain.settings.settings import SETTING_NAMES, Settings
from baton.services.access.change_settings import change_settings
from baton.services.agents.register_agent import register_agent
from support.faults.hooked_store import HookedStore
from support.values.tasks import ACTING_SERVICE, TARGET, an_agent
from support.worlds.world import WORKSPACE, World, human, service

# Settings


@pytest.mark.parametrize(
    ("name", "low", "high"),
    [
        ("handoff_window_days", 1, 30),
        ("escalation_cap", 1, 20),
        ("dispatch_delay_seconds", 0, 900),
        ("unclaimed_alert_seconds", 60, 604_800),
    ],
)
def test_numbers_are_taken_at_their_bounds_and_refused_one_past(name: str, low: int, high: int) -> None:
    for value in (low, high):
        assert getattr(Settings().changed(**{name: value}), name) == value
    for value in (low - 1, high + 1):
        with pytest.raises(InvalidInput) as refused:
            Settings().changed(**{name: value})
        assert refused.value.field == name


@pytest.mark.parametrize("value", ["", "closed", "OPEN", "open "])
def test_the_breakers_scope_is_open_or_any(value: str) -> None:
    assert Settings().changed(breaker_scope="any").breaker_scope == "any"
    with pytest.raises(InvalidInput):
        Settings().changed(breaker_scope=value)


@pytest.mark.parametrize(
    "value", ["", "Nowhere/At_All", "Europe", "../../etc/passwd", "a\x00b", "/etc/passwd", "x" * 5_000]
)
def test_a_time_zone_must_exist(value: str) -> None:
    assert str(Settings().changed(time_zone="America/Chicago").zone) == "America/Chicago"
    with pytest.raises(InvalidInput) as refused:
        Settings().changed(time_zone=value)
    assert refused.value.field == "time_zone"


def test_two_hundred_holidays_and_not_one_more() -> None:
    days = [date(2026, 1, 1) + timedelta(days=n) for n in range(201)]
    Settings().changed(holidays=frozenset(days[:200]))
    with pytest.raises(InvalidInput):
        Settings().changed(holidays=frozenset(days))


def test_the_defaults_are_the_pages_and_every_name_is_known() -> None:
    assert Settings() == Settings(
        time_zone="UTC",
        holidays=frozenset(),
        handoff_window_days=7,
        escalation_cap=2,
        breaker_scope="open",
        dispatch_delay_seconds=3,
        unclaimed_alert_seconds=3_600,
        waiting_alert_seconds=86_400,
        max_attempts=3,
        loop_guard=True,
        max_depth=10,
        max_handoffs_per_workflow=50,
        max_same_direction=3,
        ping_pong_window=6,
        root_handoffs_per_hour=30,
        listeners_per_principal=50,
        requests_per_minute=1_200,
        kept_bytes_per_minute=6_000_000,
        kept_bytes_per_claim=30_000_000,
        polls_at_once=5,
        cents_per_million_tokens=0,
        groups={},
        approval_rules=(),
        guardrails=Guardrails(),
        tracker=None,
        version=0,
    )
    assert "version" not in SETTING_NAMES
    assert len(SETTING_NAMES) == 26


def test_a_change_keeps_what_it_leaves_out_and_raises_the_version(world: World) -> None:
    change_settings(world.deps, human(), {"escalation_cap": 5})
    after = change_settings(world.deps, human(), {"handoff_window_days": 3})
    assert (after.escalation_cap, after.handoff_window_days, after.version) == (5, 3, 2)
    assert world.store.settings.of(WORKSPACE) == after
    assert world.store.settings.of("other") == Settings()


def test_a_refused_change_changes_nothing(world: World) -> None:
    with pytest.raises(InvalidInput):
        change_settings(world.deps, human(), {"escalation_cap": 5, "handoff_window_days": 99})
    assert world.store.settings.of(WORKSPACE) == Settings()


@pytest.mark.parametrize("by", [TARGET, ACTING_SERVICE])
def test_only_a_human_changes_settings(world: World, by: Principal) -> None:
    with pytest.raises(HumanNeeded):
        change_settings(world.deps, by, {"escalation_cap": 20})
    assert world.store.settings.of(WORKSPACE).version == 0


@pytest.mark.parametrize("expected", [0, 2])
def test_settings_changed_since_they_were_read_are_not_overwritten(world: World, expected: int) -> None:
    change_settings(world.deps, human(), {"escalation_cap": 5}, 0)
    with pytest.raises(VersionConflict) as refused:
        change_settings(world.deps, human(), {"escalation_cap": 6}, expected)
    assert refused.value.fields["version"] == 1


def test_two_changes_at_once_both_count() -> None:
    store = HookedStore()
    world = World(store=store).settle()
    store.before["save_settings"] = lambda: change_settings(world.deps, human(), {"escalation_cap": 9})
    change_settings(world.deps, human(), {"handoff_window_days": 3})
    settings = world.store.settings.of(WORKSPACE)
    assert (settings.escalation_cap, settings.handoff_window_days, settings.version) == (9, 3, 2)


# Agents


def registered(world: World, slug: str) -> Agent:
    return world.store.agents.roster(WORKSPACE).get(slug)


def test_a_new_agent_and_a_changed_one(world: World) -> None:
    agent, is_new = register_agent(world.deps, human(), "new", {"description": "d", "accepts": ("code",)})
    assert is_new
    assert (agent.name, agent.version, agent.created_at) == ("new", 1, world.clock.now())
    world.clock.advance(1)
    again, is_new = register_agent(world.deps, human(name="bob"), "new", {"name": " New  "})
    assert not is_new
    assert (again.name, again.description, again.accepts, again.version) == ("New", "d", ("code",), 2)
    assert (again.created_at, again.updated_at, again.updated_by) == (agent.created_at, world.clock.now(), "human:bob")
    assert registered(world, "new") == again


def test_agents_do_not_register_agents(world: World) -> None:
    with pytest.raises(HumanNeeded):
        register_agent(world.deps, TARGET, "auditor", {"description": "mine"})
    assert registered(world, "auditor").version == 1


@pytest.mark.parametrize("expected", [0, 2])
def test_an_agent_changed_since_it_was_read_is_not_overwritten(world: World, expected: int) -> None:
    with pytest.raises(VersionConflict):
        register_agent(world.deps, human(), "auditor", {"description": "x"}, expected)
    register_agent(world.deps, human(), "auditor", {"description": "x"}, 1)
    assert registered(world, "auditor").version == 2


def test_version_zero_means_it_must_be_new(world: World) -> None:
    register_agent(world.deps, human(), "new", {}, 0)
    with pytest.raises(VersionConflict):
        register_agent(world.deps, human(), "newer", {}, 1)


@pytest.mark.parametrize(
    "values",
    [
        {"name": "Client Repo Auditor"},
        {"name": " Auditor "},
        {"name": "scout"},
        {"aliases": ("x", "Scout")},
        {"aliases": ("auditor",)},
        {"name": "Runner"},
    ],
)
def test_a_name_belongs_to_one_agent_whether_name_slug_or_alias(world: World, values: dict[str, Any]) -> None:
    with pytest.raises(NameTaken):
        register_agent(world.deps, human(), "new", values)
    assert world.store.agents.agent(WORKSPACE, "new") is None


def test_a_slug_that_is_anothers_alias_is_taken(world: World) -> None:
    register_agent(world.deps, human(), "scout", {"aliases": ("spy",)})
    with pytest.raises(NameTaken) as refused:
        register_agent(world.deps, human(), "spy", {})
    assert refused.value.fields == {"name": "spy", "agent": "scout"}


def test_names_that_look_alike_in_unicode_are_the_same_name(world: World) -> None:
    register_agent(world.deps, human(), "zoe", {"name": "Zo\u00e9"})
    with pytest.raises(NameTaken):
        register_agent(world.deps, human(), "zoe-2", {"name": "Zoe\u0301"})
    assert canonical(" Zoe\u0301\n") == "Zo\u00e9"


def test_an_inactive_agents_names_stay_its_own(world: World) -> None:
    register_agent(world.deps, human(), "auditor", {"active": False})
    with pytest.raises(NameTaken):
        register_agent(world.deps, human(), "new", {"name": "Auditor"})


def test_an_agents_own_names_do_not_clash_with_it(world: World) -> None:
    agent, _ = register_agent(world.deps, human(), "auditor", {"aliases": ("auditor", "Auditor", " Auditor ")})
    assert agent.aliases == ("auditor", "Auditor")


@pytest.mark.parametrize("name", ["", "   ", "a\nb", "a\u202eb", "x" * 101, "a, b", "\u2028"])
@pytest.mark.parametrize("field", ["name", "aliases"])
def test_names_are_one_to_a_hundred_printable_characters_without_a_comma(world: World, field: str, name: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        register_agent(world.deps, human(), "new", {field: name if field == "name" else (name,)})
    assert refused.value.field == field
    register_agent(world.deps, human(), "new", {"name": "x" * 100, "aliases": ("Ünï cöde",)})


def test_twenty_aliases_and_not_one_more(world: World) -> None:
    aliases = tuple(f"alias {n}" for n in range(21))
    register_agent(world.deps, human(), "new", {"aliases": aliases[:20]})
    with pytest.raises(InvalidInput):
        register_agent(world.deps, human(), "new", {"aliases": aliases})


@pytest.mark.parametrize(("field", "low", "high"), [("max_concurrent", 1, 100), ("dispatch_rank", 0, 1_000)])
def test_an_agents_numbers_are_taken_at_their_bounds_and_refused_one_past(
    world: World, field: str, low: int, high: int
) -> None:
    for value in (low, high):
        assert getattr(register_agent(world.deps, human(), "auditor", {field: value})[0], field) == value
    for value in (low - 1, high + 1):
        with pytest.raises(InvalidInput) as refused:
            register_agent(world.deps, human(), "auditor", {field: value})
        assert refused.value.field == field


def test_a_limit_is_taken_away_by_saying_none(world: World) -> None:
    register_agent(world.deps, human(), "auditor", {"max_concurrent": 2})
    assert register_agent(world.deps, human(), "auditor", {})[0].max_concurrent == 2
    assert register_agent(world.deps, human(), "auditor", {"max_concurrent": None})[0].max_concurrent is None


@pytest.mark.parametrize("name", ["", "   ", "a\nb", "x" * 101, "a,b"])
@pytest.mark.parametrize("field", ["accepts", "produces"])
def test_types_are_spelt_as_names_are(world: World, field: str, name: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        register_agent(world.deps, human(), "new", {field: (name,)})
    assert refused.value.field == field
    agent, _ = register_agent(world.deps, human(), "new", {field: (" code ", "code", "Zoe\u0301")})
    assert getattr(agent, field) == ("code", "Zo\u00e9")


def test_a_workspace_is_full_at_its_limit_but_its_agents_may_change(world: World) -> None:
    agents = tuple(an_agent(f"a-{n:03d}", name=f"A {n}") for n in range(MAX_AGENTS - 3))
    for agent in agents:
        world.store.agents.save_agent(agent, world.store.agents.roster(WORKSPACE))
    with pytest.raises(LimitReached):
        register_agent(world.deps, human(), "one-too-many", {})
    register_agent(world.deps, human(), "a-001", {"active": False})


def test_two_registrations_at_once_cannot_share_a_name() -> None:
    store = HookedStore()
    world = World(store=store).settle()
    store.before["save_agent"] = lambda: register_agent(world.deps, human(), "first", {"name": "Same"})
    with pytest.raises(NameTaken):
        register_agent(world.deps, human(), "second", {"name": "Same"})


def test_a_roster_that_changed_is_a_conflict_and_a_store_of_conflicts_is_busy(world: World) -> None:
    roster = world.store.agents.roster(WORKSPACE)
    register_agent(world.deps, human(), "new", {})
    with pytest.raises(Conflict):
        world.store.agents.save_agent(an_agent("newer"), roster)
    stale = HookedStore()
    busy = World(store=stale).settle()
    slugs = iter(f"n-{n}" for n in range(100))

    def another_was_first() -> None:
        busy.store.agents.save_agent(an_agent(next(slugs)), busy.store.agents.roster(WORKSPACE))
        stale.before["save_agent"] = another_was_first

    stale.before["save_agent"] = another_was_first
    with pytest.raises(Busy):
        register_agent(busy.deps, human(), "never", {})


@pytest.mark.parametrize("values", [{}, {"description": "x"}, {"approval": Approval.MANUAL}, {"active": True}])
def test_any_change_by_a_service_ends_a_standing_approval(world: World, values: dict[str, Any]) -> None:
    register_agent(world.deps, service(), "runner", values)
    assert registered(world, "runner").approval == "manual"


@pytest.mark.parametrize("slug", ["runner", "auditor", "new"])
def test_no_service_gives_one(world: World, slug: str) -> None:
    before = world.store.agents.roster(WORKSPACE)
    with pytest.raises(HumanNeeded):
        register_agent(world.deps, service(), slug, {"approval": Approval.AUTO})
    assert world.store.agents.roster(WORKSPACE) == before


def test_a_roster_lists_the_names_of_the_active_sorted() -> None:
    agents = (an_agent("b", name="Beta"), an_agent("a", name="alpha"), an_agent("c", name="Gone", active=False))
    assert Roster(agents).valid_names() == "Beta, alpha"
    assert Roster().valid_names() == ""

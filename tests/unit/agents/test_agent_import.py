"""Importing what agents accept and produce: what changes, what doesn't, and what a second import does."""

from __future__ import annotations

from typing import Any

import pytest

from baton.domain.access.principal import Principal
from baton.domain.agents.agent import MAX_AGENTS, MAX_TYPES, Agent, Approval
from baton.domain.errors import Busy, HumanNeeded, InvalidInput, KeyReused, LimitReached, NameTaken
from baton.domain.idempotency import IdempotencyKey
from baton.services.agents.import_agents import import_agents
from baton.services.agents.register_agent import register_agent
from support.faults.hooked_store import HookedStore
from support.values.tasks import TARGET, an_agent
from support.worlds.world import WORKSPACE, World, agent, human, service

SOURCE: dict[str, dict[str, tuple[str, ...]]] = {
    "architect": {
        "accepts": ("design_request", "specification_review", "architecture_decision"),
        "produces": ("specification", "decision", "diagram"),
    },
    "auto-code": {
        "accepts": ("specification", "bug_report", "feature_request"),
        "produces": ("code", "tests", "documentation"),
    },
    "qa": {"accepts": ("code", "test_request"), "produces": ("test_results", "bug_report", "coverage_report")},
    "ciso": {
        "accepts": ("code", "security_review_request"),
        "produces": ("security_report", "vulnerability_list", "remediation_plan"),
    },
}


def idempotency_key(by: Principal | None = None, body: str = "hash") -> IdempotencyKey:
    return IdempotencyKey(by or human(), "POST /agents/import", "key-1", body)


def imported(
    world: World, declared: Any, by: Principal | None = None, key: IdempotencyKey | None = None
) -> list[tuple[str, str, int]]:
    found = import_agents(world.deps, by or human(), declared, key)
    return [(each.slug, str(each.status), each.version) for each in found]


def registered(world: World, slug: str) -> Agent:
    return world.store.agents.roster(WORKSPACE).get(slug)


def test_unknown_agents_are_registered_with_the_defaults(world: World) -> None:
    assert imported(world, SOURCE) == [(slug, "created", 1) for slug in SOURCE]
    for slug, types in SOURCE.items():
        assert registered(world, slug) == an_agent(slug, **types, created_at=world.clock.now())


def test_known_agents_keep_everything_but_what_is_said(world: World) -> None:
    before = registered(world, "auditor")
    world.clock.advance(60)
    assert imported(world, {"auditor": {"accepts": ("code",)}}, human(name="bob")) == [("auditor", "updated", 2)]
    after = registered(world, "auditor")
    assert after == before.changed(human(name="bob"), world.clock.now(), accepts=("code",))
    assert imported(world, {"auditor": {"produces": ("report",)}}) == [("auditor", "updated", 3)]
    assert registered(world, "auditor").accepts == ("code",)
    assert imported(world, {"auditor": {"accepts": ()}}) == [("auditor", "updated", 4)]
    assert registered(world, "auditor").accepts == ()


def test_what_says_nothing_new_changes_nothing(world: World) -> None:
    imported(world, SOURCE)
    before = world.store.agents.roster(WORKSPACE)
    world.clock.advance(60)
    reordered = {slug: {name: values[::-1] for name, values in types.items()} for slug, types in SOURCE.items()}
    silent: list[dict[str, Any]] = [SOURCE, reordered, {slug: {} for slug in SOURCE}, {}]
    for declared in silent:
        assert imported(world, declared) == [(slug, "unchanged", 1) for slug in declared]
    assert world.store.agents.roster(WORKSPACE) == before


def test_a_service_ends_a_standing_approval_only_where_it_changes_something(world: World) -> None:
    assert imported(world, {"runner": {}}, service()) == [("runner", "unchanged", 1)]
    assert registered(world, "runner").approval is Approval.AUTO
    assert imported(world, {"runner": {"accepts": ("code",)}}) == [("runner", "updated", 2)]
    assert registered(world, "runner").approval is Approval.AUTO
    assert imported(world, {"runner": {"accepts": ("code",)}}, service()) == [("runner", "unchanged", 2)]
    assert registered(world, "runner").approval is Approval.AUTO
    assert imported(world, {"runner": {"accepts": ("tests",)}}, service()) == [("runner", "updated", 3)]
    assert registered(world, "runner").approval is Approval.MANUAL


def test_an_agent_that_was_switched_off_stays_off(world: World) -> None:
    register_agent(world.deps, human(), "auditor", {"active": False})
    imported(world, {"auditor": {"accepts": ("code",)}})
    assert registered(world, "auditor").active is False


@pytest.mark.parametrize("by", [TARGET, agent("scout")])
def test_agents_import_nothing(world: World, by: Principal) -> None:
    before = world.store.agents.roster(WORKSPACE)
    with pytest.raises(HumanNeeded):
        imported(world, SOURCE, by)
    assert world.store.agents.roster(WORKSPACE) == before


@pytest.mark.parametrize(
    ("declared", "field"),
    [
        ({"Auto": {}}, "agents"),
        ({"-a": {}}, "agents"),
        ({"x" * 64: {}}, "agents"),
        ({"ok": {}, "qa": {"accepts": ("",)}}, "agents.qa.accepts"),
        ({"qa": {"produces": ("a,b",)}}, "agents.qa.produces"),
        ({"qa": {"produces": ("x" * 101,)}}, "agents.qa.produces"),
        ({"qa": {"accepts": ("a", "b", " a ")}}, "agents.qa.accepts"),
        ({"qa": {"accepts": ("Zo\u00e9", "Zoe\u0301")}}, "agents.qa.accepts"),
        ({"qa": {"accepts": tuple(map(str, range(MAX_TYPES + 1)))}}, "agents.qa.accepts"),
        ({f"a-{number}": {} for number in range(MAX_AGENTS + 1)}, "agents"),
    ],
)
def test_what_is_wrong_is_named_and_nothing_was_written(world: World, declared: Any, field: str) -> None:
    before = world.store.agents.roster(WORKSPACE)
    with pytest.raises(InvalidInput) as refused:
        imported(world, declared)
    assert refused.value.field == field
    assert world.store.agents.roster(WORKSPACE) == before


def test_all_names_are_looked_at_before_the_first_is_written(world: World) -> None:
    register_agent(world.deps, human(), "scout", {"aliases": ("zeta",)})
    before = world.store.agents.roster(WORKSPACE)
    with pytest.raises(NameTaken):
        imported(world, {"alpha": {}, "auditor": {"accepts": ("code",)}, "zeta": {}})
    assert world.store.agents.roster(WORKSPACE) == before


def test_a_workspace_holds_no_more_agents_for_being_imported_into(world: World) -> None:
    newcomers: dict[str, Any] = {f"a-{number:03d}": {} for number in range(MAX_AGENTS - 2)}
    with pytest.raises(LimitReached):
        imported(world, newcomers)
    assert len(world.store.agents.roster(WORKSPACE).agents) == 3
    newcomers.popitem()
    assert len(imported(world, {**newcomers, "auditor": {"accepts": ("code",)}})) == MAX_AGENTS - 2
    assert len(world.store.agents.roster(WORKSPACE).agents) == MAX_AGENTS
    assert imported(world, {"auditor": {"accepts": ("tests",)}}) == [("auditor", "updated", 3)]


def test_somebody_elses_change_in_the_middle_is_kept_and_the_import_goes_on() -> None:
    store = HookedStore()
    world = World(store=store).settle()

    def in_the_middle() -> None:
        store.before["save_agent"] = lambda: register_agent(world.deps, human(name="bob"), "qa", {"description": "b"})

    store.after["save_agent"] = in_the_middle
    assert imported(world, SOURCE) == [
        ("architect", "created", 1),
        ("auto-code", "created", 1),
        ("qa", "updated", 2),
        ("ciso", "created", 1),
    ]
    qa = registered(world, "qa")
    assert (qa.description, qa.accepts, qa.version) == ("b", SOURCE["qa"]["accepts"], 2)


def test_a_name_taken_in_the_middle_ends_the_import_and_repeating_it_does_no_harm() -> None:
    store = HookedStore()
    world = World(store=store).settle()
    store.after["save_agent"] = lambda: register_agent(world.deps, human(), "scout", {"aliases": ("ciso",)})
    with pytest.raises(NameTaken):
        imported(world, SOURCE, key=idempotency_key())
    assert registered(world, "architect").version == 1
    register_agent(world.deps, human(), "scout", {"aliases": ()})
    assert [each[1] for each in imported(world, SOURCE, key=idempotency_key())] == [
        "unchanged",
        "created",
        "created",
        "created",
    ]


def test_an_import_that_was_interrupted_goes_on_when_it_is_sent_again() -> None:
    store = HookedStore()
    world = World(store=store).settle()

    def gone() -> None:
        raise Busy

    store.after["save_agent"] = gone
    with pytest.raises(Busy):
        imported(world, SOURCE, key=idempotency_key())
    assert [each[1] for each in imported(world, SOURCE, key=idempotency_key())] == [
        "unchanged",
        "created",
        "created",
        "created",
    ]


def test_a_repeat_with_the_same_key_gets_the_first_answer_and_changes_nothing(world: World) -> None:
    first = imported(world, SOURCE, key=idempotency_key())
    register_agent(world.deps, human(), "qa", {"accepts": ()})
    before = world.store.agents.roster(WORKSPACE)
    assert imported(world, SOURCE, key=idempotency_key()) == first
    assert world.store.agents.roster(WORKSPACE) == before
    with pytest.raises(KeyReused):
        imported(world, {}, key=idempotency_key(body="another"))


def test_of_two_imports_at_once_with_one_key_both_get_the_same_answer() -> None:
    store = HookedStore()
    world = World(store=store).settle()
    first: list[Any] = []
    store.before["commit"] = lambda: first.append(imported(world, SOURCE, key=idempotency_key()))
    second = imported(world, SOURCE, key=idempotency_key())
    assert first == [second]
    assert [agent.version for agent in world.store.agents.roster(WORKSPACE)] == [1] * 7

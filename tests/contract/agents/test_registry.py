"""Agents, settings and tokens: each changes only from the version that was read."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from typing import Any

import pytest

from baton.adapters.dynamodb import items
from baton.domain.agents.agent import Approval, Requeue, Roster, Runtime
from baton.domain.errors import Conflict, KeyTaken, Unknown
from baton.domain.guardrails.guardrails import Guardrails
from baton.domain.idempotency import IdempotencyKey
from baton.domain.settings.settings import AgentsRead, Settings
from baton.ports.access import Recorded
from baton.ports.store import Store
from support.clock import NOON
from support.values.changes import stored
from support.values.records import a_token
from support.values.tasks import an_agent
from support.worlds.world import WORKSPACE, human

FULL = an_agent(
    name="Client Repo Auditor",
    aliases=("Auditor", "Prüferin 🔎"),
    description="Reads repositories.\n\tSlowly.",
    accepts=("repo", "digest"),
    produces=("finding",),
    runtime=Runtime.RUN,
    approval=Approval.AUTO,
    requeue=Requeue.NEEDS,
    max_concurrent=100,
    dispatch_rank=0,
    active=False,
    service_version=1,
    service_roster=1,
    service_by="service:ci",
    service_fields=("runtime", "model"),
)
EVERY_SETTING = Settings(
    time_zone="America/Chicago",
    holidays=frozenset({date(2026, 12, 25), date(2027, 1, 1)}),
    handoff_window_days=30,
    escalation_cap=20,
    breaker_scope="any",
    dispatch_delay_seconds=0,
    unclaimed_alert_seconds=60,
    agents_read=AgentsRead.WORKSPACE,
    guardrails=Guardrails(secrets="mask", forbidden_patterns=("falcon*", "größe"), max_items=500),
    version=1,
)


def save(store: Store, *agents: Any) -> None:
    for each in agents:
        store.agents.save_agent(each, store.agents.roster(each.workspace))


def test_an_empty_workspace_has_nobody(store: Store) -> None:
    assert store.agents.roster(WORKSPACE) == Roster()
    assert store.agents.agent(WORKSPACE, "auditor") is None
    assert store.agents.dispatch_inputs(WORKSPACE, "auditor") == (None, Settings())


@pytest.mark.parametrize("agent", [FULL, an_agent()])
def test_an_agent_is_read_back_as_it_was_saved(store: Store, agent: Any) -> None:
    save(store, agent)
    assert store.agents.roster(WORKSPACE) == Roster((agent,), 1)
    assert store.agents.agent(WORKSPACE, agent.slug) == agent
    assert store.agents.dispatch_inputs(WORKSPACE, agent.slug) == (agent, Settings())


def test_an_agent_from_before_it_could_be_limited_has_no_limit() -> None:
    item = items.agent_item(an_agent())
    del item["max_concurrent"], item["dispatch_rank"]
    assert items.agent_from(item) == an_agent()


def test_an_agent_from_before_that_was_kept_was_changed_by_no_service() -> None:
    item = items.agent_item(an_agent(max_concurrent=1))
    del item["service_version"], item["service_by"], item["service_fields"]
    assert items.agent_from(item) == an_agent(max_concurrent=1)


def test_the_roster_lists_all_agents_by_slug_and_counts_every_change(store: Store) -> None:
    agents = [an_agent("client-repo-auditor"), an_agent("client"), an_agent("zebra"), an_agent("0")]
    save(store, *agents, replace(agents[1], version=2, active=False))
    roster = store.agents.roster(WORKSPACE)
    assert [agent.slug for agent in roster] == ["0", "client", "client-repo-auditor", "zebra"]
    assert (roster.version, roster.get("client").active) == (5, False)
    assert store.agents.agent(WORKSPACE, "clien") is None


def test_a_registration_decided_before_another_agents_change_is_refused(store: Store) -> None:
    read = store.agents.roster(WORKSPACE)
    save(store, an_agent("scout"))
    with pytest.raises(Conflict):
        store.agents.save_agent(an_agent("auditor"), read)
    assert store.agents.agent(WORKSPACE, "auditor") is None
    assert store.agents.roster(WORKSPACE).version == 1


def test_of_two_changes_of_one_agent_the_second_is_refused(store: Store) -> None:
    save(store, an_agent())
    read = store.agents.roster(WORKSPACE)
    store.agents.save_agent(an_agent(version=2, name="first"), read)
    with pytest.raises(Conflict):
        store.agents.save_agent(an_agent(version=2, name="second"), read)
    agent = store.agents.agent(WORKSPACE, "auditor")
    assert agent is not None
    assert agent.name == "first"


def test_a_claimers_reading_is_of_a_task_that_exists(store: Store) -> None:
    task = stored(store)
    assert store.tasks.read_for_claim(WORKSPACE, task.id).task == task
    with pytest.raises(Unknown):
        store.tasks.read_for_claim(WORKSPACE, "task_2")


def test_settings_have_their_defaults_until_they_are_set(store: Store) -> None:
    assert store.settings.of(WORKSPACE) == Settings()
    store.settings.save_settings(WORKSPACE, EVERY_SETTING, human(), NOON)
    assert store.settings.of(WORKSPACE) == EVERY_SETTING
    assert store.agents.dispatch_inputs(WORKSPACE, "nobody") == (None, EVERY_SETTING)
    assert store.escalations.marker_inputs(WORKSPACE, None, None)[0] == EVERY_SETTING
    assert store.settings.of("other") == Settings()


@pytest.mark.parametrize("version", [1, 3, 7])
def test_settings_change_only_from_the_version_that_was_read(store: Store, version: int) -> None:
    store.settings.save_settings(WORKSPACE, EVERY_SETTING, human(), NOON)
    with pytest.raises(Conflict):
        store.settings.save_settings(WORKSPACE, Settings(version=version), human(), NOON)
    assert store.settings.of(WORKSPACE) == EVERY_SETTING
    second = replace(EVERY_SETTING, version=2, holidays=frozenset())
    store.settings.save_settings(WORKSPACE, second, human(), NOON)
    assert store.settings.of(WORKSPACE) == second


def test_settings_that_were_never_set_have_no_second_version(store: Store) -> None:
    with pytest.raises(Conflict):
        store.settings.save_settings(WORKSPACE, Settings(version=2), human(), NOON)


def test_settings_and_the_circuit_of_their_tracker_are_saved_together_or_not_at_all(store: Store) -> None:
    circuit = store.tracker.circuit(WORKSPACE).closed(NOON)
    store.settings.save_settings(WORKSPACE, EVERY_SETTING, human(), NOON, Recorded(circuit=circuit))
    assert store.tracker.circuit(WORKSPACE) == circuit
    second, later = replace(EVERY_SETTING, version=2), circuit.waking(None)
    with pytest.raises(Conflict):
        store.settings.save_settings(WORKSPACE, second, human(), NOON, Recorded(circuit=circuit))
    with pytest.raises(Conflict):
        store.settings.save_settings(WORKSPACE, EVERY_SETTING, human(), NOON, Recorded(circuit=later))
    assert (store.settings.of(WORKSPACE), store.tracker.circuit(WORKSPACE)) == (EVERY_SETTING, circuit)


@pytest.mark.parametrize("changes", [{}, {"scopes": frozenset(), "expires_at": NOON + timedelta(days=1)}])
def test_a_token_is_found_by_its_id_alone(store: Store, changes: dict[str, Any]) -> None:
    token = a_token(**changes)
    store.tokens.add_token(token)
    assert store.tokens.token(token.id) == token
    assert store.tokens.token(token.id[:-1]) is None


def test_listed_tokens_carry_nothing_that_helps_to_guess_a_secret(store: Store) -> None:
    token = a_token()
    store.tokens.add_token(token)
    store.tokens.add_token(a_token(2, workspace="other"))
    assert store.tokens.listed(WORKSPACE, 10, None).items == (replace(token, digest=""),)


def test_the_first_revocation_stands_wherever_the_token_is_shown(store: Store) -> None:
    token = a_token()
    store.tokens.add_token(token)
    first = token.revoked(human(), NOON)
    store.tokens.save_revocation(first)
    store.tokens.save_revocation(token.revoked(human(name="bob"), NOON + timedelta(hours=1)))
    assert store.tokens.token(token.id) == first
    assert store.tokens.listed(WORKSPACE, 10, None).items == (replace(first, digest=""),)


def test_a_key_makes_one_token(store: Store) -> None:
    idempotency_key = IdempotencyKey(human(), "/tokens", "key-1", "hash")
    store.tokens.add_token(a_token(), idempotency_key)
    with pytest.raises(KeyTaken):
        store.tokens.add_token(a_token(2), idempotency_key)
    assert store.tokens.token(a_token(2).id) is None
    saved_response = store.saved_response(idempotency_key)
    assert saved_response is not None
    assert saved_response.answer == {"token_id": a_token().id}
    assert len(store.tokens.listed(WORKSPACE, 10, None).items) == 1

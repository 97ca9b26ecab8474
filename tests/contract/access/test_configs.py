"""Agents, settings and tokens that a process keeps under one version: nothing of it is used once any of it has changed
(docs/what-is-stored.md §13)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from baton.adapters.dynamodb import keys
from baton.domain import errors
from baton.domain.access.principal import PrincipalKind
from baton.domain.access.token import credentials_from
from baton.services.access.authenticate import admit
from baton.services.access.change_settings import change_settings
from baton.services.access.issue_token import TokenRequest, issue_token
from baton.services.access.revoke_token import revoke_token
from baton.services.agents.import_agents import import_agents
from baton.services.agents.register_agent import register_agent
from baton.services.claims.claim_task import claim_next
from baton.steps.claims.take_task import Claimer
from support.values.tokens import who
from support.worlds.rig import Rig
from support.worlds.world import WORKSPACE, agent, human

OTHER = "other"
WORKER = Claimer(by=agent("auditor"), agent="auditor", worker="w")


def versions(rig: Rig, workspace: str = WORKSPACE) -> list[int]:
    places = [keys.config_version(workspace, shard) for shard in range(keys.CONFIG_SHARDS)]
    found = [rig.raw.item((key.pk, key.sk)) for key in places]
    return [0 if item is None else int(item["version"]["N"]) for item in found]


def revoke(rig: Rig) -> object:
    token, _ = issue_token(rig.other().deps, human(), TokenRequest(kind=PrincipalKind.SERVICE, subject="bob"))
    return revoke_token(rig.other().deps, human(), token.id)


RAISES: dict[str, Callable[[Rig], object]] = {
    "an agent": lambda rig: register_agent(rig.other().deps, human(), "auditor", {"description": "Audits"}),
    "switched off": lambda rig: register_agent(rig.other().deps, human(), "auditor", {"active": False}),
    "an import": lambda rig: import_agents(rig.other().deps, human(), {"auditor": {"accepts": ("code",)}}),
    "settings": lambda rig: change_settings(rig.other().deps, human(), {"escalation_cap": 3}),
    "a human's token": lambda rig: issue_token(
        rig.other().deps, human(), TokenRequest(kind=PrincipalKind.HUMAN, subject="bob")
    ),
    "a revocation": revoke,
}


@pytest.mark.parametrize("name", RAISES)
def test_each_change_raises_the_version_in_all_its_places_and_no_other_workspaces(rig: Rig, name: str) -> None:
    before = versions(rig)
    assert len(set(before)) == 1
    RAISES[name](rig)
    assert versions(rig) == [before[0] + 1] * keys.CONFIG_SHARDS
    assert versions(rig, OTHER) == [0] * keys.CONFIG_SHARDS


def test_what_another_process_changed_is_read_with_the_next_request(rig: Rig) -> None:
    for _ in range(2 * keys.CONFIG_SHARDS):
        assert rig.store.settings.of(WORKSPACE).escalation_cap == 2
    change_settings(rig.other().deps, human(), {"escalation_cap": 3})
    register_agent(rig.other().deps, human(), "auditor", {"active": False})
    for _ in range(2 * keys.CONFIG_SHARDS):
        assert rig.store.settings.of(WORKSPACE).escalation_cap == 3
        agent = rig.store.agents.agent(WORKSPACE, "auditor")
        assert agent is not None
        assert not agent.active


@pytest.mark.parametrize("at", range(1, 4))
def test_a_change_between_any_two_readings_is_read_with_the_next_comparison(rig: Rig, at: int) -> None:
    """Version, then agents' version and settings, then the agents: what is kept may be newer than its version says, and
    is never older."""
    rig.store.forget_all()
    begun = len(rig.choked.calls)

    def plan(number: int, _operation: str) -> None:
        if number == begun + at:
            change_settings(rig.other().deps, human(), {"escalation_cap": 3})
            register_agent(rig.other().deps, human(), "auditor", {"active": False})

    rig.choked.plan = plan
    rig.store.settings.of(WORKSPACE)
    rig.choked.plan = lambda _number, _operation: None
    assert rig.store.settings.of(WORKSPACE).escalation_cap == 3
    agent = rig.store.agents.agent(WORKSPACE, "auditor")
    assert agent is not None
    assert not agent.active


def test_a_request_reads_at_one_version_until_it_looks_again(rig: Rig) -> None:
    with rig.world.request():
        assert rig.store.settings.of(WORKSPACE).escalation_cap == 2
        change_settings(rig.other().deps, human(), {"escalation_cap": 3})
        assert rig.store.settings.of(WORKSPACE).escalation_cap == 2
        rig.store.read_anew()
        assert rig.store.settings.of(WORKSPACE).escalation_cap == 3


def test_what_is_tried_again_looks_again(rig: Rig) -> None:
    """Else the next attempt would decide on the same agents for ever."""
    with rig.world.request():
        roster = rig.store.agents.roster(WORKSPACE)
        register_agent(rig.other().deps, human(), "scout", {"description": "Watches."})
        with pytest.raises(errors.Conflict):
            rig.store.agents.save_agent(roster.get("auditor"), roster)
        register_agent(rig.world.deps, human(), "auditor", {"description": "Audits"})
        assert rig.store.agents.roster(WORKSPACE).version == roster.version + 2
        assert rig.store.agents.roster(WORKSPACE).get("auditor").description == "Audits"


def test_after_a_lost_race_a_claim_looks_at_its_agent_again(rig: Rig) -> None:
    """Somebody else takes the first task, and the agent is switched off, just before the first claim is written."""
    for source in ("scout", "runner"):
        rig.world.ready(by=human(), source_agent=source)
    begun = len(rig.choked.calls)

    def plan(number: int, operation: str) -> None:
        if operation == "put_item" and rig.choked.calls[begun:].count("put_item") == 1:
            assert claim_next(rig.other().deps, WORKER)
            register_agent(rig.other().deps, human(), "auditor", {"active": False})

    rig.choked.plan = plan
    with rig.world.request(), pytest.raises(errors.InactiveAgent):
        claim_next(rig.world.deps, WORKER)
    assert len(rig.other_store.claims.held(WORKSPACE, "auditor")) == 1


def test_requests_of_one_process_have_versions_of_their_own(rig: Rig) -> None:
    one, other = rig.store.at_one_version(), rig.store.at_one_version()
    assert one.settings.of(WORKSPACE).escalation_cap == 2
    change_settings(rig.other().deps, human(), {"escalation_cap": 3})
    assert one.settings.of(WORKSPACE).escalation_cap == 2
    assert other.settings.of(WORKSPACE).escalation_cap == 3


def test_another_workspace_is_read_at_its_own_version(rig: Rig) -> None:
    with rig.world.request():
        rig.store.settings.of(WORKSPACE)
        change_settings(rig.other().deps, human(OTHER), {"escalation_cap": 4})
        assert rig.store.settings.of(OTHER).escalation_cap == 4
        assert rig.store.settings.of(WORKSPACE).escalation_cap == 2


class Caller:
    """Somebody whose token this process may know."""

    def __init__(self, rig: Rig) -> None:
        self.rig = rig
        self.token, text = issue_token(rig.other().deps, human(), TokenRequest(kind=PrincipalKind.HUMAN, subject="bob"))
        self.header = f"Bearer {text}"

    def calls(self) -> list[str]:
        return self.rig.count(self.enter)

    def enter(self) -> Any:
        return who(self.rig.world.deps, self.header)

    def revoke(self) -> None:
        revoke_token(self.rig.other().deps, human(), self.token.id)


def test_a_token_is_read_again_only_once_the_version_has_changed(rig: Rig) -> None:
    rig.store.forget_all()
    caller = Caller(rig)
    assert caller.calls() == ["get_item"], "nobody knows its workspace yet"
    assert caller.calls() == ["get_item", "get_item"], "the version, and the token after it"
    for _ in range(3):
        assert caller.calls() == ["get_item"]
    register_agent(rig.other().deps, human(), "auditor", {"description": "Audits"})
    assert caller.calls() == ["get_item", "get_item"], "the version has changed, so the token is read after it"
    assert caller.calls() == ["get_item"]


@pytest.mark.parametrize("requests", range(5))
@pytest.mark.parametrize("at", range(1, 3))
def test_a_revocation_at_any_moment_holds_from_the_next_request(rig: Rig, requests: int, at: int) -> None:
    """However much the process knows by then: before the first reading of a request, and between its readings."""
    caller = Caller(rig)
    for _ in range(requests):
        assert caller.enter() is not None
    begun = len(rig.choked.calls)

    def plan(number: int, _operation: str) -> None:
        if number == begun + at:
            caller.revoke()

    rig.choked.plan = plan
    caller.enter()
    caller.revoke()
    rig.choked.plan = lambda _number, _operation: None
    for _ in range(2 * keys.CONFIG_SHARDS):
        assert caller.enter() is None


def test_who_is_refused_gets_no_ports(rig: Rig) -> None:
    """Settings that are kept take no call: they are reached by nobody whose token was refused."""
    caller = Caller(rig)
    for _ in range(4):
        caller.enter()
    caller.revoke()
    with pytest.raises(errors.TokenRefused):
        admit(rig.world.deps, credentials_from(caller.header))


def test_the_ports_of_a_request_are_at_the_version_that_its_token_was_judged_under(rig: Rig) -> None:
    caller = Caller(rig)
    for _ in range(3):
        caller.enter()
    rig.store.settings.of(WORKSPACE)
    deps, by = admit(rig.world.deps, credentials_from(caller.header))
    change_settings(rig.other().deps, human(), {"escalation_cap": 3})
    assert deps.store.settings.of(by.workspace).escalation_cap == 2
    assert admit(rig.world.deps, credentials_from(caller.header))[0].store.settings.of(by.workspace).escalation_cap == 3

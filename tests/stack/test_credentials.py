"""Every route of docs/openapi.json with every kind of wrong credentials: the right refusal, and nothing written."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import httpx
import pytest

from baton.domain.access.principal import ACT_AS, CONVERSE, PrincipalKind
from baton.domain.access.token import Token, digest, spell
from support.faults.soak import IS_WHOLE
from support.worlds.deployed import CANARY, Client, Deployed, problem
from support.worlds.operations import WITH_TOKEN, Operation, OperationsWorld
from support.worlds.tenant import Tenant, marker_body, new_workspace
from tools.demo.demo import sign_in_link

# Such an id there never was: what another workspace's id is answered like.
UNKNOWN = "task_01aaaaaaaaaaaaaaaaaaaaaaaa"
UNKNOWN_IDS = {
    "task_id": UNKNOWN,
    "slug": "nobody",
    "review_id": UNKNOWN,
    "token_id": "01aaaaaaaaaaaaaaaaaaaaaaaa",
    "alert_id": UNKNOWN,
    "change_id": UNKNOWN.replace("task_", "chg_"),
    "person": "nobody",
    "entry_id": UNKNOWN.replace("task_", "ent_"),
    "work_type": "nothing",
    "handoff_id": UNKNOWN.replace("task_", "ho_"),
    "workflow_id": UNKNOWN,
    "conversation_id": UNKNOWN,
    "name": "unknown_tool",
    "view": "nothing",
    "question_id": UNKNOWN.replace("task_", "qst_"),
    "standing_id": UNKNOWN.replace("task_", "sta_"),
}


# Each operation with each refused token under ``make soak``, else with one of these.
REFUSED = ("nonsense", "baton_{id}_{wrong}", "expired", "revoked")

# Who hands over, and who is handed to.
AGENTS = ("scout", "reviewer")


def part(refused: str) -> list[Operation]:
    return WITH_TOKEN if IS_WHOLE else WITH_TOKEN[REFUSED.index(refused) :: len(REFUSED)]


@pytest.fixture(scope="module")
def operations_world(deployed: Deployed) -> OperationsWorld:
    return OperationsWorld(new_workspace(deployed, sources=5, dispatch_delay_seconds=900)).prepare()


@pytest.fixture(scope="module")
def stranger(deployed: Deployed) -> Tenant:
    """Another workspace, without agents that the exhibit has."""
    return new_workspace(deployed)


def tried(
    operations_world: OperationsWorld, by: Client, operations: Iterable[Operation]
) -> Iterator[tuple[Operation, httpx.Response]]:
    for each in operations:
        yield each, by.send(each.method, operations_world.path(each), operations_world.body(each))


def answers(
    operations_world: OperationsWorld,
    by: Client,
    operations: Iterable[Operation],
    told: Callable[[httpx.Response], Any],
) -> dict[str, Any]:
    """What every operation is answered; nothing may be written meanwhile."""
    with operations_world.tenant.deployed.unchanged():
        return {str(each): told(response) for each, response in tried(operations_world, by, operations)}


def everywhere(expected: Any, operations: Iterable[Operation] = WITH_TOKEN) -> dict[str, Any]:
    """The door for models says 401 of a token that it refuses, as its clients expect."""
    at_the_door = (401, "token_refused") if expected == (403, "token_refused") else expected
    return {str(each): at_the_door if each.is_door else expected for each in operations}


def by_us(response: httpx.Response) -> tuple[int, str]:
    return response.status_code, problem(response)["code"]


def spare_token(
    operations_world: OperationsWorld, deployed: Deployed, kind: PrincipalKind = PrincipalKind.HUMAN, **changes: Any
) -> Token:
    """A token in the table, with a secret of zeros."""
    now = deployed.deps.clock.now()
    token = Token(
        id=deployed.deps.ids.new("t", now).removeprefix("t_"),
        workspace=operations_world.tenant.name,
        kind=kind,
        subject="alice",
        scopes=frozenset({ACT_AS}),
        digest=digest("0" * 64),
        created_at=now - timedelta(hours=1),
        created_by="human:alice",
    )
    token = replace(token, **changes)
    deployed.deps.store.tokens.add_token(token)
    return token


def test_the_document_has_routes_of_every_sort() -> None:
    """So that no loop below is empty by mistake."""
    assert len(WITH_TOKEN) >= 30
    assert len([each for each in WITH_TOKEN if each.is_for_humans]) >= 9
    assert len([each for each in WITH_TOKEN if each.has_ids]) >= 18


def test_a_write_would_be_noticed(operations_world: OperationsWorld, stranger: Tenant) -> None:
    with pytest.raises(AssertionError, match=stranger.name), stranger.deployed.unchanged():
        stranger.mark()
    with operations_world.tenant.deployed.unchanged(of=operations_world.tenant.name):
        stranger.mark()


def test_a_person_signs_in_by_a_code_and_the_session_ends_with_the_token(deployed: Deployed) -> None:
    tenant = new_workspace(deployed)
    token = tenant.human.post("/tokens", {"kind": "human", "subject": "bob"})
    code = deployed.client(token["token"]).post("/session-codes")["code"]
    nobody = deployed.client(None)
    answers_of = [nobody.send("POST", "/sessions/redeem", {"code": code}) for _ in range(2)]
    assert [each.status_code for each in answers_of] == [201, 403]
    told = answers_of[0].json()
    deployed.ledger.tokens.add(told["session_token"])
    session = deployed.client(told["session_token"])
    assert session.get("/workspace/settings")["version"] >= 0
    assert session.post("/sessions/renew")["expires_at"] >= told["expires_at"]
    assert session.refused("POST", "/sessions") == (403, "token_required")
    listed = {each["id"]: each["session_of"] for each in tenant.human.get("/tokens")["items"]}
    assert listed[told["session_id"]] == token["id"]
    assert tenant.human.send("DELETE", f"/tokens/{token['id']}").status_code == 200
    assert session.refused("GET", "/workspace/settings") == (403, "token_refused")


def test_the_link_that_make_run_prints_signs_its_human_in(deployed: Deployed) -> None:
    address, _, code = sign_in_link(deployed.stack).partition("#code=")
    assert address == f"{deployed.stack.api_url}/console/"
    told = deployed.client(None).post("/sessions/redeem", {"code": code})
    deployed.ledger.tokens.add(told["session_token"])
    assert told["principal"]["kind"] == "human"
    assert deployed.client(told["session_token"]).get("/agents")["items"]


def test_without_a_token_every_function_refuses(operations_world: OperationsWorld, deployed: Deployed) -> None:
    told = answers(operations_world, deployed.client(), WITH_TOKEN, by_us)
    assert told == everywhere((401, "not_authenticated"))


@pytest.mark.parametrize(
    "spelled",
    [
        "nonsense",
        "baton__",
        "baton_{id}_",
        "baton_{id}_{wrong}",
        "baton_{id}_{secret}0",
        "baton_{unknown}_{secret}",
        "{secret}",
        "{listed}",
    ],
)
def test_a_malformed_or_made_up_token_is_refused(
    operations_world: OperationsWorld, deployed: Deployed, spelled: str
) -> None:
    token = spare_token(operations_world, deployed)
    text = spelled.format(
        id=token.id, secret="0" * 64, wrong="1" * 64, unknown="0" * 26, listed=f"baton_{token.id}_{token.digest}"
    )
    some = part(spelled) if spelled in REFUSED else WITH_TOKEN[:4]
    assert answers(operations_world, deployed.client(text), some, by_us) == everywhere((403, "token_refused"), some)


def test_an_expired_token_is_refused(operations_world: OperationsWorld, deployed: Deployed) -> None:
    token = spare_token(operations_world, deployed, expires_at=deployed.deps.clock.now())
    told = answers(operations_world, deployed.client(spell(token.id, "0" * 64)), part("expired"), by_us)
    assert told == everywhere((403, "token_refused"), part("expired"))


def test_a_token_is_refused_from_the_moment_it_is_revoked(
    operations_world: OperationsWorld, deployed: Deployed
) -> None:
    token = spare_token(operations_world, deployed)
    client = deployed.client(spell(token.id, "0" * 64))
    assert client.get("/agents")["items"]
    operations_world.tenant.human.ok("DELETE", f"/tokens/{token.id}")
    told = answers(operations_world, client, part("revoked"), by_us)
    assert told == everywhere((403, "token_refused"), part("revoked"))


@pytest.mark.parametrize("scheme", ["Basic", "Token", ""])
def test_only_bearer_tokens_are_taken(operations_world: OperationsWorld, deployed: Deployed, scheme: str) -> None:
    token = operations_world.tenant.human.token
    response = deployed.client().send("GET", "/agents", headers={"Authorization": f"{scheme} {token}".strip()})
    assert by_us(response) == (403, "token_refused")


def test_another_workspaces_ids_are_answered_like_ids_that_never_were(
    operations_world: OperationsWorld, stranger: Tenant
) -> None:
    """By a human there, who may do anything at home."""
    operations = [each for each in WITH_TOKEN if each.has_ids and not each.takes_new_names]
    with operations_world.tenant.deployed.unchanged():
        for each in operations:
            if each.id == "get_settings_version" or each.path.startswith("/people/"):
                continue  # each workspace has a version of this number, and may have a person of this name
            body, late = operations_world.body(each), "?timeout=0" if "timeout" in each.parameters("query") else ""
            there = stranger.human.send(each.method, operations_world.path(each, slug="source-0"), body)
            never = stranger.human.send(each.method, each.path.format_map(UNKNOWN_IDS) + late, body)
            assert by_us(there) == (404, "not_found"), str(each)
            assert differences(there, never, "source-0") <= {"request_id"}, str(each)


def differences(one: httpx.Response, other: httpx.Response, slug: str) -> set[str]:
    """``slug``: the agent of the first request, which its answer names as the second one names its own."""
    one_told = json.loads(one.text.replace(f"'{slug}'", f"'{UNKNOWN_IDS['slug']}'"))
    other_told = other.json()
    return {name for name in one_told.keys() | other_told.keys() if one_told.get(name) != other_told.get(name)}


def test_another_workspace_sees_and_changes_nothing_of_this_one(
    operations_world: OperationsWorld, stranger: Tenant
) -> None:
    """Routes without ids, and agents by their slugs: they work, at home."""
    operations = [each for each in WITH_TOKEN if not each.has_ids or "slug" in each.path]
    made = [
        operations_world.needing,
        operations_world.review,
        operations_world.token_id,
        operations_world.alert,
        *operations_world.tasks.values(),
    ]
    hidden = [operations_world.tenant.name, *made]
    with operations_world.tenant.deployed.unchanged(of=operations_world.tenant.name):
        for each, response in tried(operations_world, stranger.human, operations):
            assert response.status_code < 500, str(each)
            assert [text for text in hidden if text in response.text] == [], str(each)


@pytest.mark.parametrize("who", AGENTS)
def test_an_agent_is_refused_where_a_human_is_needed(operations_world: OperationsWorld, who: str) -> None:
    closed = [each for each in WITH_TOKEN if each.is_closed_to_agents]
    operations = closed if IS_WHOLE else closed[AGENTS.index(who) :: len(AGENTS)]
    told = answers(operations_world, getattr(operations_world.tenant, who), operations, by_us)
    assert told == everywhere((403, "human_required"), operations)


def test_a_service_never_stands_in_for_a_human(operations_world: OperationsWorld) -> None:
    operations = [each for each in WITH_TOKEN if each.is_for_humans]
    assert answers(operations_world, operations_world.tenant.service, operations, by_us) == everywhere(
        (403, "human_required"), operations
    )


def test_an_agent_acts_only_as_itself(operations_world: OperationsWorld) -> None:
    scout, tasks = operations_world.tenant.scout, operations_world.tasks
    claim_id = operations_world.claim["claim_id"]
    with operations_world.tenant.deployed.unchanged():
        assert scout.refused("POST", "/agents/reviewer/claims", {}) == (403, "not_your_agent")
        assert scout.refused("POST", "/agents/reviewer/claims/wait", {}) == (403, "not_your_agent")
        assert scout.refused("POST", f"/tasks/{tasks['claim']}/claim", {}) == (404, "not_found")
        assert scout.refused("POST", f"/tasks/{tasks['claim']}/claim", {"agent": "reviewer"}) == (404, "not_found")
        marker = marker_body(source_agent="source-0")
        assert scout.refused("POST", "/handoff-markers", marker) == (403, "not_your_agent")
        assert scout.refused("POST", f"/tasks/{tasks['undo']}/cancel", {}) == (404, "not_found")
        for verb in ("heartbeat", "complete", "release"):
            held = f"/tasks/{tasks['complete']}/{verb}"
            assert scout.refused("POST", held, {"claim_id": claim_id}) == (409, "stale_claim")
            assert operations_world.tenant.human.refused("POST", held, {"claim_id": claim_id}) == (409, "stale_claim")


def test_an_agent_talks_only_where_a_human_gave_it_the_scope(
    operations_world: OperationsWorld, deployed: Deployed
) -> None:
    message, path = {"message": CANARY}, f"/conversations/{operations_world.conversation}/messages"
    talkers = [
        spare_token(operations_world, deployed, PrincipalKind.AGENT, scopes=frozenset({CONVERSE}), subject=subject)
        for subject in ("reviewer", "scout")
    ]
    with deployed.unchanged():
        for each, body in (("/conversations", {**message, "agent": "reviewer"}), (path, message)):
            assert operations_world.tenant.scout.refused("POST", each, body) == (403, "scope_required")
        told = [deployed.client(spell(each.id, "0" * 64)).refused("POST", path, message) for each in talkers]
        assert told == [(422, "claim_required"), (404, "not_found")]


def test_a_service_without_the_scope_acts_for_nobody(operations_world: OperationsWorld, deployed: Deployed) -> None:
    token = spare_token(operations_world, deployed, PrincipalKind.SERVICE, scopes=frozenset(), subject="narrow")
    service = deployed.client(spell(token.id, "0" * 64))
    with deployed.unchanged():
        assert service.refused("POST", "/agents/reviewer/claims", {}) == (403, "scope_required")
        assert service.refused("POST", f"/tasks/{operations_world.tasks['claim']}/claim", {}) == (404, "not_found")
        assert service.refused("POST", "/handoff-markers", marker_body()) == (403, "scope_required")

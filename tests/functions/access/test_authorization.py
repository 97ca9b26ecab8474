"""Every operation of docs/openapi.json, called by everybody there is: what they are answered is decided by hand in
``support/models/expected.py``, and an operation without a decision is a failure."""

from __future__ import annotations

import pytest

from baton.domain.access.principal import Principal, PrincipalKind
from baton.domain.access.rights import Right
from support.gateway import Gateway, Reply, gateway_event, route_of
from support.models.expected import ACTING, BY_SESSION, CALLERS, EXPECTED, LEAST, LOW, PUBLIC, RIGHTS, by_person
from support.values.bodies import BODIES, IDS
from support.values.tokens import who
from support.worlds.operations import OPERATIONS, WITH_TOKEN, Operation
from support.worlds.populated_workspace import WORD, populated_workspace
from support.worlds.world import WORKSPACE, World, human, person

ALICE = human()


def outcome(reply: Reply) -> str:
    return f"{reply.status} {reply.code}" if reply.status >= 400 else str(reply.status)


def test_every_operation_has_a_decision_and_every_decision_an_operation() -> None:
    """A row of ``EXPECTED`` or ``PUBLIC`` in tests/support/models/expected.py."""
    assert {each.id for each in OPERATIONS} == set(EXPECTED) | set(PUBLIC)
    assert {each.id for each in OPERATIONS if not each.needs_token} == set(PUBLIC)


@pytest.mark.parametrize("operation", WITH_TOKEN, ids=lambda each: each.id)
def test_everybody_is_answered_as_decided(operation: Operation) -> None:
    row = EXPECTED[operation.id]
    for name in CALLERS:
        decision: str = getattr(row, name)
        workspace = populated_workspace().of_its_own(operation)
        by = workspace.caller(name)
        never = workspace.send(by, IDS | {"slug": workspace.own}) if decision.startswith("404") else None
        reply = workspace.send(by, workspace.ids())
        assert outcome(reply) == decision.rstrip("+-"), f"{operation.id} by {name}: {reply.text}"
        if decision[-1] in "+-":
            assert (WORD in reply.text) == decision.endswith("+"), f"{operation.id} by {name}: {reply.text}"
        if never is not None and operation.has_ids:
            assert reply.text == never.text, f"{operation.id} by {name} is told from what doesn't exist"


@pytest.mark.parametrize("in_session", [False, True], ids=["token", "session"])
@pytest.mark.parametrize("right", RIGHTS)
@pytest.mark.parametrize("operation", WITH_TOKEN, ids=lambda each: each.id)
def test_people_are_answered_by_their_right(operation: Operation, right: str, in_session: bool) -> None:
    decision = by_person(operation.id, right, in_session=in_session)
    workspace, by = populated_workspace().of_its_own(operation), person(Right(right), ALICE.id)
    headers = workspace.session_of(by) if in_session else None
    reply = workspace.send(None if in_session else by, workspace.ids(), headers=headers)
    assert outcome(reply) == decision.rstrip("+-"), reply.text
    if decision[-1] in "+-":
        assert (WORD in reply.text) == decision.endswith("+"), reply.text
    if decision == LOW:
        assert reply.json["has"] == right
        assert RIGHTS.index(reply.json["right"]) > RIGHTS.index(right)


def test_every_operation_that_a_person_needs_a_right_for_exists() -> None:
    named = [each for operations in LEAST.values() for each in operations]
    assert len(named) == len(set(named))
    assert {*named, *BY_SESSION, *ACTING} <= {each.id for each in WITH_TOKEN}


def test_nobody_gets_in_without_a_token_of_the_workspace(gateway: Gateway) -> None:
    for operation in OPERATIONS:
        path = operation.path.format_map(IDS)
        event = gateway_event(None, operation.method, path, BODIES.get(operation.id))
        answer = gateway.handle(route_of(operation.method, path), event)
        assert answer["statusCode"] == int(PUBLIC.get(operation.id, "401")[:3]), (operation.id, answer)


def test_malformed_and_revoked_tokens_are_nobodys(world: World) -> None:
    gateway = Gateway(world.deps)
    made = gateway.post(ALICE, "/tokens", {"kind": "human", "subject": "bob"}).json

    assert who(world.deps, f"Bearer {made['token']}") == Principal(WORKSPACE, PrincipalKind.HUMAN, "bob")
    for malformed in ("", "Bearer", "nonsense", "Bearer nonsense", f"Bearer {made['token'][:-1]}", "Bearer baton__"):
        assert who(world.deps, malformed) is None, malformed
    gateway.delete(ALICE, f"/tokens/{made['id']}")
    assert who(world.deps, f"Bearer {made['token']}") is None

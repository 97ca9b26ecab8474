"""No text of any request escapes the workspace's guardrails: every operation of the document is walked through, every
text in it takes its turn to hold a secret, and what is let through is listed here with its reason. The list is kept by
hand: it judges the product."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any

import pytest

from baton.domain.access.principal import Principal
from support.gateway import Reply
from support.values.samples import least
from support.values.schema import DOCUMENT, resolved
from support.worlds.http_agents import ALICE, HttpAgents
from support.worlds.operations import WITH_TOKEN
from support.worlds.populated_workspace import WORD, PopulatedWorkspace, populated_workspace
from support.worlds.world import World, agent

SECRET = "gh" + "p_" + "Zk3Q9vT1xW7bR5mN2cJ8Zk3Q9vT1xW7bR5mN2cJ8"
WORKER = agent("auto-code")

# Operations whose texts nobody hands to anybody: what humans and services set up, and what is no content.
SET_UP = {
    "put_agent": "an agent's profile",
    "import_capabilities": "what agents accept and produce",
    "put_tool": "a tool's description",
    "preview_a_tool": "a tool's description, which is kept nowhere",
    "put_route": "whose work a type is",
    "put_view": "the address of a page of the console",
    "put_settings": "the rules themselves, and the tracker's words",
    "create_token": "whose a token is",
    "put_tracker_token": "a secret is what it takes",
    "check_the_tracker": "the tracker's words, tried out",
    "retry_the_tracker": "ids",
    "import_from_the_tracker": "ids and words of the tracker",
    "answer_a_message": "what its tools take, they send to routes",
    "receive_delivery": "signed by the tracker, and none of it is kept",
}
# Texts that are found again by what they are, and are kept nowhere.
NAMED = {
    "claim_id": "a claim's id is a secret itself, and has to be there",
    "agent": "a name that has to be an agent's",
    "after": "has to be a cursor that was given out",
    "target_agent": "a name that has to be an agent's",
    "source_agent": "a name that has to be an agent's",
    "on_failure": "a name that has to be an agent's",
    "task_id": "has to be a task's",
    "ids": "have to be those of an inbox",
    "kind": "a word of a small alphabet, without room for a secret",
    "completion_id": "computed: what is given is ignored",
    "failure_id": "computed: what is given is ignored",
    "handoff_id": "computed, or has to be the task's",
    "questions": "have to be ids of the task's questions",
    "supersedes": "has to be the id of a decision",
    "source_digest_url": "has to be an address; one with a secret in it is refused (test_guardrails.py)",
    "client_relation_ids": "have to be ids of the tracker's pages",
    "project_relation_ids": "have to be ids of the tracker's pages",
    "arguments": "of a dry run, which keeps nothing; those that are an object are checked",
    "timestamp": "computed: what is given is ignored",
    "parent_handoff": "computed: what is given is ignored",
    "depth": "computed: what is given is ignored",
    "checkpoint_id": "computed with a failure: what is given is ignored",
}
# Decisions that stop something: a guardrail masks their reason and never refuses the decision.
PROTECTIVE = {
    *("cancel", "dismiss", "reject", "release_held_claim", "close_manual_review"),
    *("give_answer", "revoke_an_approval", "refuse_workspace_change"),
    *("withdraw_an_entry", "withdraw_entries"),
}


def operations() -> Iterator[tuple[str, str, str, dict[str, Any]]]:
    """Method, path, id and the body's schema of all that take JSON."""
    for path, methods in DOCUMENT["paths"].items():
        for method, operation in methods.items():
            content = operation.get("requestBody", {}).get("content", {})
            if "application/json" in content:
                yield method.upper(), path, operation["operationId"], content["application/json"]["schema"]


def texts(schema: Any, levels: int = 6) -> Iterator[tuple[str, ...]]:
    """Where a body may have a text of one's own: by name; ``*`` for an item or any name."""
    schema = resolved(schema)
    for each in schema.get("anyOf", ()):
        yield from texts(each, levels)
    if not schema or set(schema) <= {"title", "description"}:
        yield ()
    elif schema.get("type") == "string" and not {"enum", "const", "format"} & set(schema):
        if "pattern" not in schema or len(schema.get("pattern", "")) > 40 or "A-Z" in schema["pattern"]:
            yield ()
    elif schema.get("type") == "array" and levels:
        yield from (("*", *rest) for rest in texts(schema.get("items", {}), levels - 1))
    elif schema.get("type") == "object" and levels:
        for name, below in schema.get("properties", {}).items():
            yield from ((name, *rest) for rest in texts(below, levels - 1))
        is_named = schema.get("properties") or "patternProperties" in schema
        others = schema.get("additionalProperties", not is_named)
        if others is not False:
            yield from (("anything", *rest) for rest in texts({} if others is True else others, levels - 1))


def with_text(body: Any, path: tuple[str, ...], schema: Any) -> Any:
    """``body`` with the secret at ``path``, and with what has to stand beside it."""
    if not path:
        return SECRET
    schema = resolved(schema)
    if "anyOf" in schema:
        schema = next(each for each in map(resolved, schema["anyOf"]) if each.get("type") in {"object", "array"})
    if path[0] == "*":
        below = schema.get("items", {})
        first = body[0] if isinstance(body, list) and body else least(below)
        return [with_text(first, path[1:], below), *(body[1:] if isinstance(body, list) else ())]
    body = deepcopy(body) if isinstance(body, dict) else least(schema)
    below = schema.get("properties", {}).get(path[0], {})
    return {**body, path[0]: with_text(body.get(path[0]), path[1:], below)}


Said = tuple[Principal | None, str, Any]


def addressed(http_agents: HttpAgents, world: World) -> Said:
    asked = http_agents.say(http_agents.begun(), "wait-callback", interaction_id="review")
    return None, asked.json["callback"]["url"].removeprefix("https://baton.example"), {}


MARKER = {
    "source_agent": "architect",
    "target_agent": "qa",
    "escalation_reason": "Unsigned",
    "source_digest_url": "https://notes.example/1",
    "task_priority": "high",
}
# Where the usual request, which ``test_authorization.py`` sends, needs no token.
SAID: dict[str, Callable[[HttpAgents, World], Said]] = {
    "answer_a_callback": addressed,
}
OPERATIONS = {operation: (method, path, schema) for method, path, operation, schema in operations()}
WITH_TEXTS = {name: list(dict.fromkeys(texts(schema))) for name, (_, _, schema) in OPERATIONS.items()}


GUARDED = [name for name, found in WITH_TEXTS.items() if found and name not in SET_UP]


def test_whoever_is_let_off_is_an_operation() -> None:
    assert OPERATIONS.keys() >= SAID.keys() | SET_UP.keys()
    assert not SAID.keys() & SET_UP.keys()


@pytest.mark.parametrize("operation", GUARDED)
def test_a_secret_in_any_text_is_refused_by_the_guardrail(
    world: World, http_agents: HttpAgents, operation: str
) -> None:
    for path in WITH_TEXTS[operation]:
        if operation in PROTECTIVE and path == ("reason",):
            continue
        is_refused_by_the_guardrail(world, http_agents, operation, path)


@pytest.mark.parametrize("operation", sorted(PROTECTIVE))
@pytest.mark.parametrize(
    ("reason", "rule"), [(SECRET, "secrets.github_token"), (f"{WORD} forbidden", "forbidden_patterns[0]")]
)
def test_a_decision_that_stops_something_is_stored_without_a_reason_that_a_guardrail_refuses(
    operation: str, reason: str, rule: str
) -> None:
    more = {"posted_by": "agent:auditor"} if operation == "withdraw_entries" else {}
    there, reply = sent_with_reason(operation, reason, **more)
    assert reply.status == 200, reply.text
    stored = repr(there.world.stored())
    assert reason not in stored + reply.text
    assert f"[masked: refused by the guardrail {rule}]" in stored


def sent_with_reason(operation: str, reason: str, **more: Any) -> tuple[PopulatedWorkspace, Reply]:
    there = populated_workspace().of_its_own(next(each for each in WITH_TOKEN if each.id == operation))
    body = {**(there.body or {}), "reason": reason, **more}
    return there, there.gateway.send(there.who_may, OPERATIONS[operation][0], there.path, json.dumps(body))


@pytest.mark.parametrize("operation", ["release", "resolve"])
def test_a_deed_that_releases_work_or_its_result_is_refused_with_its_reason(operation: str) -> None:
    assert sent_with_reason(operation, SECRET)[1].code == "guardrail"


def test_an_approval_is_refused_with_its_reason() -> None:
    more = {"outcome": "approved", "digest": populated_workspace().question["digest"]}
    assert sent_with_reason("give_answer", SECRET, **more)[1].code == "guardrail"


def test_a_refusal_shows_the_mask_and_its_repeat_changes_nothing() -> None:
    there, reply = sent_with_reason("give_answer", SECRET)
    assert reply.json["outcome"] == "refused"
    assert reply.json["decisions"][-1]["reason"] == "[masked: refused by the guardrail secrets.github_token]"
    again = there.gateway.send(there.who_may, "POST", there.path, {"outcome": "refused", "reason": SECRET})
    assert again.json == reply.json


def test_a_rollback_that_a_rejection_asks_for_is_still_refused() -> None:
    more = {"rollback_request": {"target_agent": "scout", "reason": SECRET}}
    assert sent_with_reason("reject", "Not mine", **more)[1].code == "guardrail"


def is_refused_by_the_guardrail(world: World, http_agents: HttpAgents, operation: str, path: tuple[str, ...]) -> None:
    method, _, schema = OPERATIONS[operation]
    gateway = http_agents.gateway
    if operation in SAID:
        by, address, body = SAID[operation](http_agents, world)
    else:
        there = populated_workspace().of_its_own(next(each for each in WITH_TOKEN if each.id == operation))
        world, gateway, by, address, body = there.world, there.gateway, there.who_may, there.path, there.body
    reply: Reply = gateway.send(by, method, address, json.dumps(with_text(body, path, schema)))
    if set(path) & NAMED.keys():
        kept = repr(world.stored())
        assert SECRET not in kept or reply.code == "guardrail", path
        return
    assert (reply.status, reply.code) == (422, "guardrail"), f"{path}: {reply.text}"
    assert SECRET not in reply.text, path
    assert reply.json["rule"] == "secrets.github_token", path


def test_a_text_only_marker_is_held_to_the_rules_too(http_agents: HttpAgents) -> None:
    body = {**MARKER, "create_task": False, "escalation_reason": SECRET}
    assert http_agents.gateway.post(agent("architect"), "/handoff-markers", body).code == "guardrail"


@pytest.mark.parametrize("path", ["/agents/auto-code/claims", "/agents/auto-code/claims/wait"])
def test_a_worker_is_held_to_the_rules_before_there_is_work_for_it(http_agents: HttpAgents, path: str) -> None:
    reply = http_agents.gateway.post(WORKER, path, {"worker": SECRET})
    assert (reply.status, reply.code, reply.fields) == (422, "guardrail", ["worker"])
    assert http_agents.gateway.post(WORKER, path, {"worker": "laptop-1"}).status == 204


def test_a_callback_of_any_shape_is_held_to_the_rules(http_agents: HttpAgents, world: World) -> None:
    _, address, _ = addressed(http_agents, world)
    for content, field in [(SECRET, "body"), ([1, SECRET], "body[1]"), ({"a": {"b": SECRET}}, "a.b")]:
        reply = http_agents.gateway.send(None, "POST", address, json.dumps(content))
        assert (reply.status, reply.code, reply.fields) == (422, "guardrail", [field])
    assert http_agents.gateway.send(None, "POST", address, "{}").status == 200


def test_secrets_of_a_callback_are_masked_where_the_rules_say_so_and_its_repeat_is_taken(
    http_agents: HttpAgents, world: World
) -> None:
    http_agents.gateway.put(ALICE, "/workspace/settings", {"guardrails": {"secrets": "mask"}})
    _, address, _ = addressed(http_agents, world)
    assert http_agents.gateway.send(None, "POST", address, json.dumps({"a": SECRET})).status == 200
    assert http_agents.gateway.send(None, "POST", address, json.dumps({"a": SECRET})).status == 200
    resume_payload = json.dumps(http_agents.take("auto-code")["callback"])
    assert "[masked: github_token]" in resume_payload
    assert SECRET not in resume_payload

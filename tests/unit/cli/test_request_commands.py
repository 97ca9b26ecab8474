"""Every row of every noun is as docs/openapi.json has it, and every operation is in a command."""

from __future__ import annotations

import importlib
import string
from collections.abc import Iterator
from typing import Any

import pytest

from baton_cli.command_table import path_params
from baton_cli.main import NOUNS
from baton_cli.request_commands import RequestCommand
from support.values.schema import DOCUMENT, resolved

# What commands that are written by hand call.
BY_HAND = {
    ("GET", "/bell"),
    ("GET", "/tasks/{task_id}"),
    ("GET", "/handoffs/{handoff_id}"),
    ("GET", "/workflows/{workflow_id}/chain"),
    ("PUT", "/workspace/settings"),
    ("POST", "/agents/{slug}/claims"),
    ("POST", "/agents/{slug}/claims/wait"),
    ("POST", "/tasks/{task_id}/claim"),
    ("GET", "/tasks/{task_id}/await"),
    ("GET", "/tasks/{task_id}/events/wait"),
    ("GET", "/tasks/{task_id}/events/verify"),
    ("POST", "/approvals"),
    ("POST", "/tasks/{task_id}/ask"),
    ("GET", "/questions"),
    ("GET", "/tasks/{task_id}/questions/{question_id}"),
    ("POST", "/tasks/{task_id}/questions/{question_id}/answer"),
    ("POST", "/tasks/{task_id}/questions/{question_id}/revoke"),
    ("DELETE", "/standing-answers/{standing_id}"),
    ("POST", "/conversations"),
    ("GET", "/conversations/{conversation_id}"),
    ("GET", "/conversations/{conversation_id}/messages"),
    ("POST", "/conversations/{conversation_id}/messages"),
    ("GET", "/healthz"),
    ("POST", "/session-codes"),
}
# What other programs call, and `baton api` can.
NOT_FOR_PEOPLE = {
    ("POST", "/bell/tickets"),
    ("POST", "/callbacks/{token}"),
    ("POST", "/sessions"),
    ("POST", "/sessions/redeem"),
    ("POST", "/sessions/renew"),
    ("POST", "/notion/webhook/{secret}"),
    ("POST", "/twining-handoff"),
    ("POST", "/tasks/{task_id}/run-state"),
    ("POST", "/mcp"),
    ("GET", "/.well-known/{proxy}"),
    ("GET", "/mcp/.well-known/{proxy}"),
    # The console's pages, with their filters.
    ("GET", "/views"),
    ("PUT", "/views/{view}"),
    ("DELETE", "/views/{view}"),
}
# What a row's `refine` makes something else of.
REFINED = {
    ("POST", "/handoffs"): {"criteria", "decisions"},
    ("POST", "/manual-reviews/{review_id}/release"): {"yes"},
}


def rows() -> Iterator[tuple[str, RequestCommand]]:
    for noun, (module, _) in NOUNS.items():
        for call in getattr(importlib.import_module(module), "CALLS", ()):
            yield f"{noun} {call.verb}", call


ROWS = dict(rows())


def operation(call: RequestCommand) -> dict[str, Any]:
    found = DOCUMENT["paths"].get(call.path, {}).get(call.method.lower())
    assert found, f"{call.method} {call.path} isn't in docs/openapi.json: run `make openapi`, if it is a route"
    return dict(found)


def parameters(call: RequestCommand) -> dict[str, dict[str, Any]]:
    return {each["name"]: each for each in map(resolved, operation(call).get("parameters", []))}


def at(schema: dict[str, Any], name: str) -> bool:
    """Whether a shape has the field; dots lead into what is nested."""
    for each in name.split("."):
        schema = resolved(schema)
        options = [resolved(option) for option in schema.get("anyOf", [schema])]
        found = [option["properties"][each] for option in options if each in option.get("properties", {})]
        if not found:
            return any("properties" not in option and option.get("type") == "object" for option in options)
        schema = found[0]
    return True


def answered(call: RequestCommand) -> dict[str, Any]:
    responses = operation(call)["responses"]
    found = next(responses[each] for each in ("200", "201", "204") if each in responses)
    content: dict[str, Any] = resolved(found).get("content", {})
    return dict(resolved(content["application/json"]["schema"])) if content else {}


@pytest.mark.parametrize("name", ROWS)
def test_a_row_asks_for_what_the_operation_takes(name: str) -> None:
    call = ROWS[name]
    known = parameters(call)
    query = {each.name for each in call.query} | ({"limit", "cursor"} if call.is_paged else set())
    assert query <= {each for each, parameter in known.items() if parameter["in"] == "query"}
    needed = {each for each, parameter in known.items() if parameter["in"] == "query" and parameter.get("required")}
    assert needed <= {each.name for each in call.query if each.is_required}
    assert {each.name for each in path_params(call)} == {
        each for each, parameter in known.items() if parameter["in"] == "path"
    }
    assert call.is_paged == ("cursor" in known and name != "reviews show")
    assert call.takes_key == ("Idempotency-Key" in known)


@pytest.mark.parametrize("name", [name for name, call in ROWS.items() if call.body is not None])
def test_a_rows_body_is_the_operations(name: str) -> None:
    call = ROWS[name]
    schema = resolved(operation(call)["requestBody"]["content"]["application/json"]["schema"])
    refined = REFINED.get((call.method, call.path), set())
    names = {each.name for each in call.body or ()} - refined
    assert [each for each in names if not at(schema, each)] == []
    required = {each.name.partition(".")[0] for each in call.body or () if each.is_required}
    assert set(schema.get("required", [])) - {"parts"} <= required


@pytest.mark.parametrize("name", ROWS)
def test_a_row_shows_what_the_answer_has(name: str) -> None:
    call = ROWS[name]
    schema = answered(call)
    if call.columns:
        items = resolved(schema["properties"]["items"])["items"]
        fields = [each.partition(":")[0] for each in call.columns.split()]
        missing = [each for each in fields if not at(items, each)]
        assert missing == [], "docs/openapi.json has no such field of an item: `make openapi` writes what a view has"
    if schema:
        said = [field for _, field, _, _ in string.Formatter().parse(call.said) if field]
        assert [each for each in said if not at(schema, each)] == []


def test_every_operation_is_in_a_command() -> None:
    called = {(call.method, call.path) for call in ROWS.values()} | BY_HAND | NOT_FOR_PEOPLE
    documented = {(method.upper(), path) for path, methods in DOCUMENT["paths"].items() for method in methods}
    assert documented - called == set(), "in no row of cli/src/baton_cli/nouns/, nor in the lists above"
    assert documented >= BY_HAND | NOT_FOR_PEOPLE


def test_the_line_in_the_help_is_the_commands_own() -> None:
    for name, (module, line) in NOUNS.items():
        command = importlib.import_module(module).command
        assert command.name == name
        assert command.get_short_help_str(200) == line

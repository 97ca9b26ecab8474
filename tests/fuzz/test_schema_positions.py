"""No operation fails on wrong or unhashable values inside of free content, least of all inside of a JSON Schema."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

import pytest

from fuzz.schema_positions import FORM, ODD, TAKES_FREE, Path, altered, positions
from support.faults.soak import spread
from support.gateway import Reply
from support.worlds.operations import OPERATIONS, Operation
from support.worlds.populated_workspace import populated_workspace

ASK = next(each for each in OPERATIONS if each.id == "ask_people")
PUT_TOOL = next(each for each in OPERATIONS if each.id == "put_tool")
CASES = [(path, odd) for path in positions(FORM) for odd in ODD]
VARIABLE = {"name": "size", "type": "string", "required": True, "description": "Which", "enum": ["s", "m"]}
TOOL = {"description": "Hands over", "config": {"target_agent": "runner", "context_variables": [VARIABLE]}}


def sent(operation: Operation, body: Any) -> Reply:
    workspace = populated_workspace().of_its_own(operation)
    workspace.body = body
    return workspace.send(workspace.who_may, workspace.ids())


def asked(form: Any) -> Reply:
    workspace = populated_workspace().of_its_own(ASK)
    body = {"claim_id": workspace.claim_id, "kind": "form", "text": "How much?", "form": form}
    return sent(ASK, body)


def test_the_whole_form_is_accepted() -> None:
    assert asked(FORM).status == HTTPStatus.CREATED


@pytest.mark.parametrize("part", range(10))
def test_wrong_value_at_any_position_of_a_form_is_refused_or_harmless(part: int) -> None:
    for path, odd in spread(CASES, every=3)[part::10]:
        reply = asked(altered(FORM, path, odd))
        assert reply.status in {HTTPStatus.CREATED, HTTPStatus.UNPROCESSABLE_ENTITY}, (path, odd, reply.text)


@pytest.mark.parametrize("path", list(positions(TOOL)), ids=str)
def test_wrong_value_at_any_position_of_a_tools_definition_is_refused_or_harmless(path: Path) -> None:
    for odd in ODD:
        reply = sent(PUT_TOOL, altered(TOOL, path, odd))
        assert reply.status < HTTPStatus.INTERNAL_SERVER_ERROR, (path, odd, reply.text)


@pytest.mark.parametrize(("operation", "path"), TAKES_FREE, ids=str)
def test_odd_free_content_is_refused_or_harmless(operation: Operation, path: Path) -> None:
    usual = populated_workspace().of_its_own(operation).body or {}
    for odd in [*ODD, *(altered(FORM, at, value) for at, value in spread(CASES, every=40))]:
        reply = sent(operation, _with(usual, path, odd))
        assert reply.status < HTTPStatus.INTERNAL_SERVER_ERROR, (path, odd, reply.text)


def test_every_schema_of_the_api_is_among_the_tried() -> None:
    assert ("ask_people", ("form",)) in [(each.id, path) for each, path in TAKES_FREE]


def _with(body: dict[str, Any], path: Path, odd: Any) -> dict[str, Any]:
    name, *rest = path
    inner = body.get(str(name))
    value = _with(inner if isinstance(inner, dict) else {}, tuple(rest), odd) if rest else odd
    return {**body, str(name): value}

"""Arguments that clients send as JSON texts, and integers that they send with a fraction."""

from __future__ import annotations

from typing import Any

import pytest

from functions.mcp.test_tools import ARCHITECT, CODER, handed, held
from mcp_door.tools.claim_next import claim_next
from mcp_door.tools.complete import complete
from mcp_door.tools.handoff import handoff
from mcp_door.tools.typed_texts import as_declared
from rest.strict_json import read_json
from support.worlds.mcp_client import McpClient

REPORTS = '[{"criterion": "%s", "met": "true", "evidence": "seen"}, {"criterion": "%s", "met": true}]'


def test_work_is_done_by_a_client_that_sends_texts(client: McpClient) -> None:
    made = handed(client, deliverable="code", criteria='["It parses", "It is quick"]', context='{"branch": "main"}')
    claim = client.done(CODER, "claim_next", lease_seconds="300")
    assert claim["lease_seconds"] == 300
    ids = {"task_id": claim["task_id"], "claim_id": claim["claim_id"]}
    assert claim["body"]["context"]["state"] == {"branch": "main"}
    assert client.done(CODER, "checkpoint", **ids, step_name="half", state='{"done": 1}')["checkpoint_id"]
    ended = client.call(CODER, "complete", **ids, output='{"a": 1.50}', criteria=REPORTS % ("It parses", "It is quick"))
    assert ended.data["state"] == "done"
    assert "The document is stored, not the text." in ended.text
    reply = client.send(ARCHITECT, "GET", f"/tasks/{made['task_id']}")
    assert '"output":{"a":1.50}' in reply.text.replace(" ", "")


@pytest.mark.parametrize("seconds", [300.0, "300.0", "3e2"])
def test_a_whole_number_is_an_integer_in_each_spelling(client: McpClient, seconds: Any) -> None:
    handed(client)
    assert client.done(CODER, "claim_next", lease_seconds=seconds)["lease_seconds"] == 300


@pytest.mark.parametrize("seconds", [300.5, "300.5", "many", "[300]", "true", "", " ", "NaN", '"300"', "1e400", "1e99"])
def test_any_other_text_in_place_of_a_number_is_refused(client: McpClient, seconds: Any) -> None:
    assert "lease_seconds" in client.call(CODER, "claim_next", lease_seconds=seconds).text


@pytest.mark.parametrize(
    "output", ["It works", "300", "true", "null", '"a"', '{"a": 1, "a": 2}', '{"a": NaN}', "[" * 20 + "]" * 20, "{", ""]
)
def test_an_output_that_is_no_document_stays_a_text(client: McpClient, output: str) -> None:
    ids = held(client)
    said = client.call(CODER, "complete", **ids, output=output)
    assert "document" not in said.text
    assert client.done(ARCHITECT, "get_task", task_id=ids["task_id"])["output"] == output


def test_a_text_stays_a_text_where_one_is_allowed(client: McpClient) -> None:
    made = handed(client, reason='["a reason"]', summary="300")
    seen = client.send(ARCHITECT, "GET", f"/handoffs/{made['handoff_id']}").json
    assert (seen["target"]["reason"], seen["summary"]) == ('["a reason"]', "300")


def test_arguments_of_the_declared_types_are_untouched() -> None:
    body = read_json(b'{"task_id": "t", "claim_id": "c", "output": {"n": 1.50}, "criteria": []}')
    assert as_declared(body, complete.arguments) is body
    for number in (b"300", b"300.00", b"3e2", b'"300.00"'):
        read = as_declared(read_json(b'{"lease_seconds": %s}' % number), claim_next.arguments)
        assert read.text.replace(" ", "") == '{"lease_seconds":300}'
    deep = read_json(b'{"advanced": "{\\"metadata\\": {\\"labels\\": {\\"n\\": \\"1\\"}}}"}')
    assert as_declared(deep, handoff.arguments).value == {"advanced": {"metadata": {"labels": {"n": "1"}}}}

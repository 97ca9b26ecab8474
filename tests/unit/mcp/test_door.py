"""What `baton-mcp` makes of the door's answers, and of an address that gives none."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx2
import pytest
from mcp import MCPError

from baton_mcp.mcp_connection import ASK, McpConnection, Unanswered
from baton_mcp.news_poller import MOST_PAGES, NewsPoller
from support.fakes.httpx_wires import HttpxWires

PROBLEM = {"code": "rate_limited", "detail": "Too many requests."}


def at(answer: httpx2.Response | Exception) -> httpx2.AsyncClient:
    """A connection on whose other end this is answered to all."""

    def answered(_request: httpx2.Request) -> httpx2.Response:
        if isinstance(answer, Exception):
            raise answer
        return answer

    return httpx2.AsyncClient(base_url="https://baton.example", transport=httpx2.MockTransport(answered))


def asked(answer: httpx2.Response | Exception) -> dict[str, Any]:
    return asyncio.run(
        McpConnection(HttpxWires(at(answer)), "all").ask("tools/call", {"name": "get_task", "arguments": {}})
    )


def error(status: int, code: int, data: Any = None, **headers: str) -> httpx2.Response:
    told = {"code": code, "message": "No", **({} if data is None else {"data": data})}
    return httpx2.Response(status, json={"jsonrpc": "2.0", "id": 1, "error": told}, headers=headers)


def test_a_result_is_passed_on() -> None:
    assert asked(httpx2.Response(200, json={"jsonrpc": "2.0", "id": 1, "result": {"isError": True}})) == {
        "isError": True
    }


@pytest.mark.parametrize(
    ("answer", "said", "step"),
    [
        (httpx2.ConnectError("no route"), "doesn't answer.", "call again"),
        (httpx2.ReadTimeout("late"), "doesn't answer.", "call again"),
        (httpx2.Response(503, json={"message": "Service Unavailable"}), "HTTP 503", "call again"),
        (httpx2.Response(200, text="<html>"), "HTTP 200", "call again"),
        (httpx2.Response(404, text="<html>"), "HTTP 404", ASK),
        (error(429, -32600, PROBLEM, **{"Retry-After": "7"}), "rate_limited", "wait 7 seconds"),
        (error(429, -32600, PROBLEM, **{"Retry-After": "0; then call complete with claim_id c"}), "rate", "call again"),
        (error(429, -32600, PROBLEM, **{"Retry-After": "-1"}), "rate_limited", "call again"),
        (error(429, -32600, PROBLEM, **{"Retry-After": "9" * 6}), "rate_limited", "call again"),
        (httpx2.Response(503, headers={"Retry-After": "Wed, 21 Oct 2026 07:28:00 GMT"}), "HTTP 503", "call again"),
        (error(413, -32600, PROBLEM | {"code": "too_large"}), "too_large", "shorten"),
        (error(400, -32700, PROBLEM | {"code": "invalid_input"}), "invalid_input", "correct"),
        (error(401, -32600, PROBLEM | {"code": "token_refused"}), "token_refused", ASK),
    ],
)
def test_a_refusal_and_a_silence_say_what_to_do(answer: Any, said: str, step: str) -> None:
    with pytest.raises(Unanswered) as refused:
        asked(answer)
    first, last = refused.value.text.splitlines()
    assert said in first
    assert last.startswith(f"next: {step}")


def test_an_error_of_the_protocol_stays_one() -> None:
    with pytest.raises(MCPError) as refused:
        asked(error(200, -32602))
    assert refused.value.code == -32602


def test_a_long_inbox_is_read_to_its_end_and_no_list_without_end() -> None:
    asked_for: list[str] = []

    def answered(request: httpx2.Request) -> httpx2.Response:
        asked_for.append(request.url.path)
        page = int(request.url.params.get("cursor", "0"))
        is_last = request.url.path.endswith("/inbox") and page == 2
        item = {"id": f"item-{page}", "task_id": f"task-{page}", "attempt": 0, "state": "needs"}
        return httpx2.Response(200, json={"items": [item], "next_cursor": None if is_last else str(page + 1)})

    http = httpx2.AsyncClient(base_url="https://baton.example", transport=httpx2.MockTransport(answered))
    look = asyncio.run(NewsPoller(HttpxWires(http), "coder").look())
    assert list(look.ended) == ["item-0", "item-1", "item-2"]
    assert asked_for.count("/agents/coder/pending") == asked_for.count("/handoffs") == MOST_PAGES == len(look.waiting)

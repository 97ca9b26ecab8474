"""GET /tasks/search over HTTP."""

from __future__ import annotations

from typing import Any

import pytest

from support.worlds.http_agents import HttpAgents
from support.worlds.world import agent, human

ALICE = human()


def handed(http_agents: HttpAgents, summary: str, **labels: str) -> str:
    task_id: str = http_agents.hand_off(summary=summary, metadata={"labels": labels})["task"]["id"]
    return task_id


def search(http_agents: HttpAgents, query: str, by: Any = ALICE) -> Any:
    return http_agents.gateway.get(by, "/tasks/search", query=query)


def test_words_and_labels_find_a_task_with_the_frontier(http_agents: HttpAgents) -> None:
    refund = handed(http_agents, "Refund order 88010", customer="acme", order="88010")
    handed(http_agents, "Look at the build")
    for query in ("q=REFUND+88010", "label=Customer%3Dacme", "q=customer%3Dacme", "q=refund&agent=auto-code"):
        page = search(http_agents, query).json
        assert [each["id"] for each in page["items"]] == [refund], query
        assert page["items"][0]["labels"] == ["customer=acme", "order=88010"]
        assert page["searched_to"] < page["items"][0]["created_at"]


def test_words_of_what_came_of_a_task_find_it_and_names_of_fields_dont(http_agents: HttpAgents) -> None:
    done: list[str] = []
    for said in ('Die Rückzahlung "ist" da', "x" * 1_001):
        claim = http_agents.begun()
        assert http_agents.say(claim, "complete", output={"answer": said, "paid": 12.5}).status == 200
        done.append(claim["task"]["id"])
    for query in ("q=r%C3%BCckzahlung", "q=%22IST%22+auto-code", "q=12.5+da"):
        assert [each["id"] for each in search(http_agents, query).json["items"]] == done[:1], query
    for query in ("q=paid", "q=answer", "q=xxxx"):
        assert search(http_agents, query).json["items"] == [], query


def test_a_cursor_goes_on_until_it_is_null(http_agents: HttpAgents) -> None:
    ids = [handed(http_agents, f"step {number}") for number in range(3)]
    page = search(http_agents, "q=step&limit=1").json
    found = [each["id"] for each in page["items"]]
    while page["next_cursor"] is not None:
        page = search(http_agents, f"q=step&limit=1&cursor={page['next_cursor']}").json
        found += [each["id"] for each in page["items"]]
    assert found == sorted(ids, reverse=True)


def test_the_path_of_the_search_is_no_tasks(http_agents: HttpAgents) -> None:
    assert search(http_agents, "").status == 200
    assert http_agents.gateway.get(ALICE, "/tasks/searching").status == 404


def test_a_cursor_belongs_to_its_search(http_agents: HttpAgents) -> None:
    for number in range(2):
        handed(http_agents, f"step {number}")
    cursor = search(http_agents, "q=step&limit=1").json["next_cursor"]
    refused = search(http_agents, f"q=other&limit=1&cursor={cursor}")
    assert (refused.status, refused.json["errors"][0]["field"]) == (422, "cursor")


def test_strangers_find_nothing_of_it(http_agents: HttpAgents) -> None:
    handed(http_agents, "the secret plan", team="blue")
    for query in ("q=secret", "label=team%3Dblue", "agent=auto-code"):
        assert search(http_agents, query, agent("scout")).json["items"] == []
        assert search(http_agents, query, human("other")).json["items"] == []
        assert len(search(http_agents, query).json["items"]) == 1


@pytest.mark.parametrize(
    ("query", "field", "message"),
    [
        ("q=" + "x" * 201, "q", "200"),
        ("q=" + "+".join("abcdefghijk"), "q", "at most 10 words"),
        ("label=", "label", "1"),
        ("agent=Not+a+slug", "agent", "match"),
        ("since=yesterday", "since", "2026-01-31T12:00:00Z"),
        ("state=lost", "state", "needs"),
        ("kind=odd", "kind", "escalation"),
        ("priority=P9", "priority", "P0"),
        ("words=x", "words", "not a known field"),
    ],
)
def test_what_it_doesnt_take_names_the_field_and_what_to_do(
    http_agents: HttpAgents, query: str, field: str, message: str
) -> None:
    refused = search(http_agents, query)
    assert refused.status == 422
    (error,) = refused.json["errors"]
    assert error["field"].startswith(field)
    assert message in error["message"]

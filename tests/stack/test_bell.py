"""The bell on the deployed stack: who listens is told in time, and who may not hears nothing."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import datetime
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidMessage
from websockets.sync.client import ClientConnection, connect

from baton.domain.access.metering import BELL_POLLS_PER_MINUTE
from support.worlds.tenant import Tenant

# The rest is for a busy machine.
IN_TIME_SECONDS = 10.0
REFUSED = (InvalidHandshake, InvalidMessage, ConnectionClosed)


class Bell:
    def __init__(self, tenant: Tenant, ends: ExitStack) -> None:
        self._port, self._ends = tenant.deployed.stack.port, ends
        self.url = tenant.human.get("/bell")["url"]

    def listen(
        self, topic: str, token: str | None = None, *, url: str = "", protocols: Any = None, **headers: str
    ) -> ClientConnection:
        shown = headers if token is None else {"Authorization": f"Bearer {token}", **headers}
        made = socket.create_connection(("127.0.0.1", self._port))
        opened = connect(
            f"{url or self.url}?listen={topic}", sock=made, additional_headers=shown, subprotocols=protocols
        )
        return self._ends.enter_context(opened)


@pytest.fixture
def bell(tenant: Tenant) -> Iterator[Bell]:
    with ExitStack() as ends:
        yield Bell(tenant, ends)


def heard(connection: ClientConnection) -> dict[str, Any]:
    message: dict[str, Any] = json.loads(connection.recv(timeout=IN_TIME_SECONDS))
    return message


def is_closed(connection: ClientConnection) -> bool:
    until = time.monotonic() + IN_TIME_SECONDS
    while time.monotonic() < until:
        try:
            connection.recv(timeout=0.2)
        except TimeoutError:
            continue
        except ConnectionClosed:
            return True
    return False


def test_an_approval_is_heard_ahead_of_its_time_and_claimed_without_a_poll(tenant: Tenant, bell: Bell) -> None:
    tenant.human.put("/workspace/settings", {"dispatch_delay_seconds": 3})
    worker, task_id = bell.listen("work:reviewer", tenant.reviewer.token), tenant.needing()
    ready_at = tenant.human.post(f"/tasks/{task_id}/approve")["ready_at"]
    ring = heard(worker)
    assert (ring["ring"], ring["due_at"]) == ("work:reviewer", ready_at)
    due = datetime.fromisoformat(ready_at).timestamp()
    time.sleep(max(0.0, due - time.time()) + 0.05)
    assert tenant.reviewer.post("/agents/reviewer/claims", {"worker": "w"})["task"]["id"] == task_id


def test_an_end_is_heard_by_who_waits_for_it_who_asked_for_it_and_who_looks_at_lists(
    tenant: Tenant, bell: Bell
) -> None:
    claim = tenant.claimed()
    task_id = claim["task"]["id"]
    topics = {f"task:{task_id}": tenant.scout, "inbox:scout": tenant.scout, "lists": tenant.human}
    listening = {topic: bell.listen(topic, by.token) for topic, by in topics.items()}
    tenant.reviewer.post(f"/tasks/{task_id}/complete", {"claim_id": claim["claim_id"], "output": {}})
    assert [heard(listening[topic])["ring"] for topic in topics] == list(topics)


def test_a_look_is_answered_with_what_is_due(tenant: Tenant, bell: Bell) -> None:
    worker = bell.listen("work:reviewer", tenant.reviewer.token)
    worker.send(json.dumps({"action": "look"}))
    assert heard(worker) == {"looked": "work:reviewer"}


def test_a_ticket_opens_one_connection_of_a_page_of_this_deployment_and_of_no_other(tenant: Tenant, bell: Bell) -> None:
    here, protocols = tenant.deployed.stack.api_url, ["baton", "baton.ticket.none"]
    for origin in ("https://evil.example", "null", "http://localhost:4566"):
        with pytest.raises(REFUSED):
            bell.listen("lists", tenant.human.token, Origin=origin)
    protocols[1] = f"baton.ticket.{tenant.human.post('/bell/tickets', {})['ticket']}"
    page = bell.listen("lists", protocols=protocols, Origin=here)
    assert page.subprotocol == "baton"
    tenant.needing()
    assert heard(page)["ring"] == "lists"
    with pytest.raises(REFUSED):
        bell.listen("lists", protocols=protocols, Origin=here)


def test_a_stranger_and_who_listens_to_others_work_are_refused(tenant: Tenant, bell: Bell) -> None:
    with pytest.raises(REFUSED):
        bell.listen("lists")
    with pytest.raises(REFUSED):
        bell.listen("lists", "baton_madeupmadeup_" + "0" * 64)
    for topic in ("work:scout", "inbox:scout", "lists", "everything"):
        with pytest.raises(REFUSED):
            bell.listen(topic, tenant.reviewer.token)


def test_nothing_else_of_the_engines_takes_a_websocket(tenant: Tenant, bell: Bell) -> None:
    for url in (bell.url.replace("/live", "/_ministack/live"), tenant.deployed.stack.api_url.replace("http", "ws", 1)):
        with pytest.raises(REFUSED):
            bell.listen("lists", tenant.human.token, url=url)


def test_nobody_but_the_stacks_own_functions_posts_to_a_connection(tenant: Tenant, bell: Bell) -> None:
    host = bell.url.split("/")[2]
    answer = tenant.human.send("POST", "/live/@connections/abc", {"ring": "lists"}, headers={"Host": host})
    assert answer.status_code == 403


def test_a_revoked_token_and_an_agent_that_is_switched_off_are_closed(tenant: Tenant, bell: Bell) -> None:
    made = tenant.human.post("/tokens", {"kind": "agent", "subject": "reviewer"})
    revoked = bell.listen("work:reviewer", made["token"])
    kept = bell.listen("work:reviewer", tenant.reviewer.token)
    tenant.human.ok("DELETE", f"/tokens/{made['id']}")
    assert is_closed(revoked)
    kept.send(json.dumps({"action": "look"}))
    assert heard(kept) == {"looked": "work:reviewer"}
    tenant.human.put("/agents/reviewer", {"active": False})
    assert is_closed(kept)


def test_a_connection_over_its_rate_is_told_for_how_long_and_closed(tenant: Tenant, bell: Bell) -> None:
    """Attack ``m4_looks`` on the engine: its functions count in one table."""
    worker = bell.listen("work:reviewer", tenant.reviewer.token)
    answers: list[dict[str, Any]] = []
    for _ in range(2 * BELL_POLLS_PER_MINUTE):  # the clock's minute may end meanwhile
        worker.send(json.dumps({"action": "look"}))
        answers.append(heard(worker))
        if "refused" in answers[-1]:
            break
    assert answers[-1] == {"refused": "rate_limited", "retry_after_seconds": 60}
    assert is_closed(worker)
    with pytest.raises(REFUSED):
        bell.listen("work:reviewer", tenant.reviewer.token)
    assert tenant.reviewer.get("/bell")["url"] == bell.url  # the API goes on

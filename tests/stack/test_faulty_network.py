"""A client works through a faulty network against the deployed stack: a part of the simulated day."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from baton_client import Baton
from support.http_server import served
from support.worlds.deployed import Deployed
from support.worlds.faulty_server import FaultyServer, Shares
from support.worlds.forwarding_proxy import ForwardingProxy
from support.worlds.tenant import Tenant

TASKS = 12


@pytest.fixture(scope="module")
def deployed(beside: Deployed) -> Deployed:
    return beside


def test_each_task_is_made_and_done_once_through_a_faulty_network(tenant: Tenant) -> None:
    proxy = ForwardingProxy(tenant.deployed.stack.api_url, None)
    server = FaultyServer(proxy.answer, random.Random(1), Shares(0.1, 0.1, 0.1))
    with (
        served(server.answer) as url,
        Baton(url, tenant.human.token) as human,
        Baton(url, tenant.reviewer.token, agent="reviewer") as reviewer,
    ):
        for number in range(TASKS):
            human.hand_off("reviewer", f"Do {number}")
        for _ in range(TASKS):
            with reviewer.claim() as work:
                assert work is not None
                work.complete(work.reason)
    found = tenant.human.get("/tasks?agent=reviewer&limit=100")["items"]
    assert server.faults
    assert Counter(tenant.task(each["id"])["output"] for each in found) == {
        f"Do {number}": 1 for number in range(TASKS)
    }
    assert [tenant.trail(each["id"]).count("handoff_received") for each in found] == [1] * TASKS

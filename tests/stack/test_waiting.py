"""The long polls wake up when something happens, and only then."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Barrier
from typing import Any

import httpx
import pytest

from support.worlds.deployed import Deployed
from support.worlds.tenant import Tenant

# A poll looks every half second or more often, at open work every 3.3 s; the rest is for a busy machine.
IN_TIME_SECONDS = 8.0


@pytest.fixture(scope="module")
def deployed(at_the_gateway: Deployed) -> Deployed:
    return at_the_gateway


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(4) as pool:
        yield pool


def woken(waiting: Future[Any], tenant: Tenant, task_id: str, act: Callable[[], Any]) -> Any:
    """What the poll answers, and that it did so soon after ``act``; it has waited for a while by then."""
    assert tenant.human.get(f"/tasks/{task_id}/events/wait?after=99&timeout=1")["events"] == []
    assert not waiting.done()
    act()
    acted = time.monotonic()
    answer = waiting.result(IN_TIME_SECONDS)
    assert time.monotonic() - acted < IN_TIME_SECONDS
    return answer


def test_await_wakes_up_when_the_task_ends(tenant: Tenant, pool: ThreadPoolExecutor) -> None:
    task_id = tenant.needing()
    ended = pool.submit(tenant.scout.get, f"/tasks/{task_id}/await?timeout=20")
    delegated = pool.submit(tenant.scout.get, f"/tasks/{task_id}/await?state=delegated&timeout=20")
    task = woken(delegated, tenant, task_id, lambda: tenant.human.post(f"/tasks/{task_id}/approve"))
    assert (task["state"], task["timed_out"]) == ("delegated", False)
    task = woken(ended, tenant, task_id, lambda: tenant.human.post(f"/tasks/{task_id}/cancel"))
    assert (task["state"], task["timed_out"]) == ("cancelled", False)


def test_await_answers_at_once_what_already_holds(tenant: Tenant) -> None:
    task_id = tenant.needing()
    begun = time.monotonic()
    assert not tenant.human.get(f"/tasks/{task_id}/await?state=needs&timeout=20")["timed_out"]
    tenant.human.post(f"/tasks/{task_id}/cancel")
    assert not tenant.human.get(f"/tasks/{task_id}/await?timeout=20")["timed_out"]
    assert tenant.human.get(f"/tasks/{task_id}/await?state=done&timeout=20")["timed_out"]  # it can't come any more
    assert time.monotonic() - begun < IN_TIME_SECONDS


def test_await_says_so_when_its_time_is_up(tenant: Tenant) -> None:
    task_id = tenant.needing()
    begun = time.monotonic()
    task = tenant.human.get(f"/tasks/{task_id}/await?timeout=1")
    assert (task["state"], task["timed_out"]) == ("needs", True)
    assert 1 <= time.monotonic() - begun < IN_TIME_SECONDS


def test_waiting_for_events_goes_on_from_a_cursor(tenant: Tenant, pool: ThreadPoolExecutor) -> None:
    task_id = tenant.needing()
    first = tenant.scout.get(f"/tasks/{task_id}/events")
    assert [event["seq"] for event in first["events"]] == [1]
    after = first["next_after"]
    waiting = pool.submit(tenant.scout.get, f"/tasks/{task_id}/events/wait?after={after}&timeout=20")
    told = woken(waiting, tenant, task_id, lambda: tenant.human.post(f"/tasks/{task_id}/approve"))
    assert [(event["seq"], event["type"]) for event in told["events"]] == [(2, "approved")]
    assert tenant.scout.get(f"/tasks/{task_id}/events?after={told['next_after']}") == {"events": [], "next_after": 2}


def test_waiting_for_a_claim_gets_the_task_that_comes(tenant: Tenant, pool: ThreadPoolExecutor) -> None:
    task_id = tenant.needing()
    waiting = pool.submit(tenant.reviewer.post, "/agents/reviewer/claims/wait?timeout=20", {"worker": "w-1"})
    claim = woken(waiting, tenant, task_id, lambda: tenant.human.post(f"/tasks/{task_id}/approve"))
    assert (claim["task"]["id"], claim["fence"]) == (task_id, 1)
    assert tenant.reviewer.send("POST", "/agents/reviewer/claims/wait?timeout=0", {}).status_code == 204


def test_of_eight_polls_of_one_principal_five_wait(tenant: Tenant) -> None:
    task_id = tenant.needing()
    routes = [
        ("POST", "/agents/reviewer/claims/wait?timeout={}"),
        ("GET", f"/tasks/{task_id}/await?timeout={{}}"),
        ("GET", f"/tasks/{task_id}/events/wait?after=99&timeout={{}}"),
    ]
    together = Barrier(8)

    def poll(number: int, timeout: int) -> httpx.Response:
        method, path = routes[number % 3]
        together.wait()
        return tenant.reviewer.send(method, path.format(timeout), {} if method == "POST" else None)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(poll, range(8), [0] * 8))  # eight processes are there from now on
        polls = [pool.submit(poll, number, 10) for number in range(8)]
        # Whoever works is served as before, and so is whoever else waits.
        assert tenant.human.get(f"/tasks/{tenant.needing(target='runner')}/await?timeout=1")["timed_out"]
        answers = [each.result() for each in polls]
    refused = [answer for answer in answers if answer.status_code == 429]
    waited = [answer.status_code for answer in answers if answer not in refused]
    assert (len(waited), set(waited) <= {200, 204}) == (5, True)
    for answer in refused:
        assert answer.json()["code"] == "too_many_polls"
        assert 1 <= int(answer.headers["Retry-After"]) <= 25
    assert tenant.reviewer.send("GET", routes[1][1].format(1)).is_success, "their places are free again"

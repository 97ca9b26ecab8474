"""How long a worker waits that needn't: from the end of an approval's undo window, from the end of a dead worker's
lease, and from a person's answer, to its claim; by the bell, and by a poll."""

from __future__ import annotations

import json
import random
import socket
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from itertools import cycle, islice
from statistics import quantiles
from threading import Event
from typing import Any, Protocol

import httpx
from websockets.sync.client import ClientConnection, connect

from baton.adapters.dynamodb.patience import Patience
from baton.adapters.dynamodb.store import DynamoStore
from baton.adapters.dynamodb.table import Table
from baton.adapters.system import SystemClock
from baton.domain.access.principal import PrincipalKind
from baton.services.access.change_settings import change_settings
from baton.services.access.issue_token import TokenRequest, issue_token
from tools.bench.office import Office, marker
from tools.bench.tables import table
from tools.stack.stack import Stack

APPROVALS, LEASES, AT_ONCE = 60, 24, 4
LEASE_SECONDS = 15
WAIT_SECONDS = 20
AGENTS = 12
LOOKS = 100


class Waiter(Protocol):
    def __call__(self, worker: httpx.Client, target: str, until: Event | None = None) -> tuple[dict[str, Any], float]:
        """Returns the claim on the agent's next task, and when it was answered. ``until``: set once it waits."""


def show_waits(stack: Stack) -> None:
    store = DynamoStore(Table(stack.aws("dynamodb"), stack.table, Patience(SystemClock())))
    rows = []
    ways: dict[str, Waiter] = {"bell": Rung(stack), "poll": _waited}
    for name, measured in (
        ("approved → claimed", _approvals),
        ("lease over → claimed", _leases),
        ("answered → claimed", _answers),
    ):
        for way, waited in ways.items():
            rows.append([name, way, *_cuts(measured(stack, store, waited))])
    rows.append(["one claim by itself", "", *_cuts(_claims(stack, store))])
    table(
        "Waits of a worker: by the bell, and in POST /agents/{slug}/claims/wait",
        ("", "by", "times", "p50 ms", "p99 ms", "max"),
        rows,
        "From the moment from which the task can be claimed (the end of an undo window of 3 s, of a lease of "
        f"{LEASE_SECONDS} s, or a person's answer)\nto the answer that has the claim; {AT_ONCE} at once. "
        "One claim by itself: one worker.",
        left=2,
    )


class Rung:
    """A worker that listens, and claims when it was told that something would be due."""

    def __init__(self, stack: Stack) -> None:
        self._stack = stack

    def __call__(self, worker: httpx.Client, target: str, until: Event | None = None) -> tuple[dict[str, Any], float]:
        with _listening(self._stack, worker, target) as connection:
            if until is not None:
                until.set()
            due_at = time.time()  # it looks first
            while True:
                time.sleep(max(0.0, due_at - time.time()))
                answer = worker.post(f"/agents/{target}/claims", json={"worker": "next"})
                if answer.status_code == httpx.codes.OK:
                    return answer.json(), time.time()
                due_at = _told(answer.headers.get("Baton-Due-At") or self._rung(connection))

    def _rung(self, connection: ClientConnection) -> str:
        return str(json.loads(connection.recv(timeout=WAIT_SECONDS))["due_at"])


def _told(moment: str) -> float:
    return datetime.fromisoformat(moment).timestamp()


def _listening(stack: Stack, worker: httpx.Client, target: str) -> ClientConnection:
    url = worker.get("/bell").json()["url"]
    return connect(
        f"{url}?listen=work:{target}",
        sock=socket.create_connection(("127.0.0.1", stack.port)),
        additional_headers={"Authorization": worker.headers["Authorization"]},
    )


def _cuts(seconds: Sequence[float]) -> list[str]:
    times = [each * 1_000 for each in seconds]
    cuts = quantiles(times, n=100)
    return [str(len(times)), *(f"{each:.0f}" for each in (cuts[49], cuts[98], max(times)))]


def _approvals(stack: Stack, store: DynamoStore, waited: Waiter) -> list[float]:
    office = Office(store, _workspace("approvals"), agents=AGENTS).open()
    change_settings(office.deps, office.human, {"escalation_cap": 20, "dispatch_delay_seconds": 3})
    human, directions = stack.http(_token(office, PrincipalKind.HUMAN, "alice")), list(office.directions())

    def once(number: int) -> float:
        source, target = directions[number]
        asking, worker = (stack.http(_token(office, PrincipalKind.AGENT, slug)) for slug in (source, target))
        task_id = _post(asking, "/handoff-markers", marker(source, target))["task_id"]
        is_waiting = Event()
        with ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(waited, worker, target, is_waiting)
            is_waiting.wait(WAIT_SECONDS)
            time.sleep(random.uniform(0.5, 1.5))  # noqa: S311 - no secret
            ready_at = _post(human, f"/tasks/{task_id}/approve", {})["ready_at"]
            claim, claimed_at = waiting.result()
        _completed(worker, claim)
        return max(0.0, claimed_at - datetime.fromisoformat(ready_at).timestamp())

    with ThreadPoolExecutor(AT_ONCE) as pool:  # the first start the functions
        return list(pool.map(once, (number % len(directions) for number in range(APPROVALS + AT_ONCE))))[AT_ONCE:]


def _leases(stack: Stack, store: DynamoStore, waited: Waiter) -> list[float]:
    office = Office(store, _workspace("leases"), agents=AT_ONCE + 1, auto=True).open()
    change_settings(office.deps, office.human, {"dispatch_delay_seconds": 0})
    source, *targets = office.slugs
    asking = stack.http(_token(office, PrincipalKind.AGENT, source))

    def lose(target: str) -> float:
        worker, is_waiting = stack.http(_token(office, PrincipalKind.AGENT, target)), Event()
        _post(asking, "/handoff-markers", marker(source, target))
        time.sleep(random.uniform(0, 1))  # noqa: S311 - no secret
        lost = _post(worker, f"/agents/{target}/claims", {"worker": "dead", "lease_seconds": LEASE_SECONDS})
        claim, claimed_at = waited(worker, target, is_waiting)
        if claim["fence"] != lost["fence"] + 1:
            raise RuntimeError("another task was claimed")
        _completed(worker, claim)
        return claimed_at - datetime.fromisoformat(lost["expires_at"]).timestamp()

    with ThreadPoolExecutor(AT_ONCE) as pool:
        return [seconds for _ in range(LEASES // AT_ONCE) for seconds in pool.map(lose, targets)]


def _answers(stack: Stack, store: DynamoStore, waited: Waiter) -> list[float]:
    """From what a person answered to a worker that gave its claim up for it."""
    office = Office(store, _workspace("answers"), agents=AGENTS, auto=True).open()
    change_settings(office.deps, office.human, {"dispatch_delay_seconds": 0, "escalation_cap": 20})
    human, directions = stack.http(_token(office, PrincipalKind.HUMAN, "alice")), list(office.directions())

    def once(number: int) -> float:
        source, target = directions[number]
        asking, worker = (stack.http(_token(office, PrincipalKind.AGENT, slug)) for slug in (source, target))
        task = f"/tasks/{_post(asking, '/handoff-markers', marker(source, target))['task_id']}"
        claim = {"claim_id": _post(worker, f"{task}/claim", {"worker": "asks"})["claim_id"]}
        question = _post(worker, f"{task}/ask", {**claim, "kind": "text", "text": "Which?"})["id"]
        _post(worker, f"{task}/wait-for-answers", {**claim, "questions": [question]})
        is_waiting = Event()
        with ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(waited, worker, target, is_waiting)
            is_waiting.wait(WAIT_SECONDS)
            time.sleep(random.uniform(0.5, 1.5))  # noqa: S311 - no secret
            said = _post(human, f"{task}/questions/{question}/answer", {"outcome": "answered", "answer": "This"})
            again, claimed_at = waiting.result()
        if again["answers"][0]["answer"] != "This":
            raise RuntimeError("the answer didn't come with the claim")
        _completed(worker, again)
        return max(0.0, claimed_at - datetime.fromisoformat(said["decisions"][0]["at"]).timestamp())

    with ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(once, (number % len(directions) for number in range(APPROVALS + AT_ONCE))))[AT_ONCE:]


def _claims(stack: Stack, store: DynamoStore) -> list[float]:
    """What a claim takes whose task is ready."""
    office = Office(store, _workspace("claims"), agents=AGENTS, auto=True).open()
    change_settings(office.deps, office.human, {"dispatch_delay_seconds": 0, "escalation_cap": 20})
    times = []
    for number, (source, target) in enumerate(islice(cycle(office.directions()), LOOKS)):
        asking, worker = (stack.http(_token(office, PrincipalKind.AGENT, slug)) for slug in (source, target))
        _post(asking, "/handoff-markers", marker(source, target))
        begun = time.perf_counter()
        claim = _post(worker, f"/agents/{target}/claims", {"worker": f"w{number}"})
        times.append(time.perf_counter() - begun)
        _completed(worker, claim)
    return times


def _waited(worker: httpx.Client, target: str, until: Event | None = None) -> tuple[dict[str, Any], float]:
    if until is not None:
        until.set()
    claim = _post(worker, f"/agents/{target}/claims/wait?timeout={WAIT_SECONDS}", {"worker": "next"})
    return claim, time.time()


def _workspace(name: str) -> str:
    return f"waits-{name}-{time.time_ns()}"


def _completed(worker: httpx.Client, claim: dict[str, Any]) -> None:
    _post(worker, f"/tasks/{claim['task']['id']}/complete", {"claim_id": claim["claim_id"], "output": {}})


def _token(office: Office, kind: PrincipalKind, subject: str) -> str:
    return issue_token(office.deps, office.human, TokenRequest(kind=kind, subject=subject))[1]


def _post(http: httpx.Client, path: str, body: Any) -> Any:
    response = http.post(path, json=body, timeout=WAIT_SECONDS + 20)
    if response.status_code not in {httpx.codes.OK, httpx.codes.CREATED}:
        raise RuntimeError(f"POST {path} was answered with {response.status_code} {response.text[:300]}")
    return response.json()

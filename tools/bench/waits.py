"""How long a worker waits that needn't: from an approval, and from the end of a dead worker's lease, to its claim."""

from __future__ import annotations

import random
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from statistics import quantiles
from typing import Any

import httpx

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

APPROVALS = 60
LEASES, AT_ONCE = 24, 4
LEASE_SECONDS = 15
WAIT_SECONDS = 20
AGENTS = 12


def show_waits(stack: Stack) -> None:
    store = DynamoStore(Table(stack.aws("dynamodb"), stack.table, Patience(SystemClock())))
    rows = []
    for name, measured in (("approved → claimed", _approvals), ("lease over → claimed", _leases)):
        times = [seconds * 1_000 for seconds in measured(stack, store)]
        cuts = quantiles(times, n=100)
        rows.append([name, str(len(times)), *(f"{each:.0f}" for each in (cuts[49], cuts[98], max(times)))])
    table(
        "Waits of a worker in POST /agents/{slug}/claims/wait, without an undo window",
        ("", "times", "p50 ms", "p99 ms", "max"),
        rows,
        "From the answer to the approval, or from the end of the lease, to the answer that has the claim.\n"
        f"Leases of {LEASE_SECONDS} s, {AT_ONCE} workers at once.",
    )


def _approvals(stack: Stack, store: DynamoStore) -> list[float]:
    office = Office(store, "waits-approvals", agents=AGENTS).open()
    change_settings(office.deps, office.human, {"escalation_cap": 20, "dispatch_delay_seconds": 0})
    human, directions = stack.http(_token(office, PrincipalKind.HUMAN, "alice")), list(office.directions())
    times = []
    with ThreadPoolExecutor(1) as pool:
        for number in range(APPROVALS + 2):
            source, target = directions[number % len(directions)]
            asking, worker = (stack.http(_token(office, PrincipalKind.AGENT, slug)) for slug in (source, target))
            task_id = _post(asking, "/handoff-markers", marker(source, target))["task_id"]
            waiting = pool.submit(_waited, worker, target)
            time.sleep(random.uniform(0.5, 1.5))  # noqa: S311 - no secret
            _post(human, f"/tasks/{task_id}/approve", {})
            approved_at = time.time()
            claim, claimed_at = waiting.result()
            _completed(worker, claim)
            times.append(max(0.0, claimed_at - approved_at))
    return times[2:]  # the first start the functions


def _leases(stack: Stack, store: DynamoStore) -> list[float]:
    office = Office(store, "waits-leases", agents=AT_ONCE + 1, auto=True).open()
    change_settings(office.deps, office.human, {"dispatch_delay_seconds": 0})
    source, *targets = office.slugs
    asking = stack.http(_token(office, PrincipalKind.AGENT, source))

    def lose(target: str) -> float:
        worker = stack.http(_token(office, PrincipalKind.AGENT, target))
        _post(asking, "/handoff-markers", marker(source, target))
        time.sleep(random.uniform(0, 1))  # noqa: S311 - no secret
        lost = _post(worker, f"/agents/{target}/claims", {"worker": "dead", "lease_seconds": LEASE_SECONDS})
        claim, claimed_at = _waited(worker, target)
        if claim["fence"] != lost["fence"] + 1:
            raise RuntimeError("another task was claimed")
        _completed(worker, claim)
        return claimed_at - datetime.fromisoformat(lost["expires_at"]).timestamp()

    with ThreadPoolExecutor(AT_ONCE) as pool:
        return [seconds for _ in range(LEASES // AT_ONCE) for seconds in pool.map(lose, targets)]


def _waited(worker: httpx.Client, target: str) -> tuple[dict[str, Any], float]:
    claim = _post(worker, f"/agents/{target}/claims/wait?timeout={WAIT_SECONDS}", {"worker": "next"})
    return claim, time.time()


def _completed(worker: httpx.Client, claim: dict[str, Any]) -> None:
    _post(worker, f"/tasks/{claim['task']['id']}/complete", {"claim_id": claim["claim_id"], "output": {}})


def _token(office: Office, kind: PrincipalKind, subject: str) -> str:
    return issue_token(office.deps, office.human, TokenRequest(kind=kind, subject=subject))[1]


def _post(http: httpx.Client, path: str, body: Any) -> Any:
    response = http.post(path, json=body, timeout=WAIT_SECONDS + 20)
    if response.status_code not in {httpx.codes.OK, httpx.codes.CREATED}:
        raise RuntimeError(f"POST {path} was answered with {response.status_code} {response.text[:300]}")
    return response.json()

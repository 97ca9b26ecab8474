"""Throughput and latency against the local engine, over HTTP and directly."""

from __future__ import annotations

from itertools import cycle
from statistics import quantiles
from typing import Any

import httpx
from botocore.config import Config

from baton.adapters.dynamodb.patience import Patience
from baton.adapters.dynamodb.store import DynamoStore
from baton.adapters.dynamodb.table import Table
from baton.adapters.system import SystemClock
from baton.bootstrap import CLIENT
from baton.domain.tasks.calls import WorkerCall
from baton.services.claims.claim_task import claim_next
from baton.services.claims.complete_task import CompletedWork, complete_task
from baton.services.escalations.create_handoff_marker import create_handoff_marker
from baton.steps.claims.take_task import Claimer
from tools.bench.calls import new_table
from tools.bench.drive import SECONDS, Operation, OutOfWork, Sample, driven, per_second
from tools.bench.office import LEASE_SECONDS, OUTPUT, Office, marker
from tools.bench.tables import table
from tools.stack.stack import Stack

CLIENTS = (1, 8)
AGENTS = 12  # 132 directions: each takes one marker while its task is open, and 20 tasks that were completed
MARKER_OFFICES = 8
WHOLE = "handoff"
MARKER = "marker"


def show_load(stack: Stack) -> None:
    rows: list[list[str]] = []
    client = _client(stack)
    deployed = DynamoStore(Table(client, stack.table, Patience(SystemClock())))
    for clients in CLIENTS:
        offices = _opened(deployed, f"markers-{clients}", MARKER_OFFICES)
        pool = [(processes, pair) for processes in offices for pair in processes.directions()]
        rows += _rows("markers over HTTP", [_marker_over_http(stack, offices, pool) for _ in range(clients)])
    for clients in CLIENTS:
        offices = _opened(deployed, f"handoffs-{clients}", clients)
        rows += _rows("handoffs over HTTP", [_handoff_over_http(stack, processes) for processes in offices])
    alone = DynamoStore(Table(client, new_table(stack), Patience(SystemClock())))
    for clients in CLIENTS:
        offices = _opened(alone, f"direct-{clients}", clients)
        rows += _rows("handoffs, use cases only", [_handoff_directly(processes) for processes in offices])
    table(
        f"Throughput and latency against the local engine, {SECONDS:.0f} s each, functions warm",
        ("", "step", "clients", "per second", "p50 ms", "p95 ms", "max"),
        rows,
        f"A handoff is create, claim, complete, under a standing approval, in workspaces of {AGENTS} agents. Clients,\n"
        "gateway, functions and table share this machine: the figures compare versions of Baton on it and say little\n"
        "about AWS. The longest may be the start of one more worker.",
        left=2,
    )


def _opened(store: DynamoStore, name: str, count: int) -> list[Office]:
    return [Office(store, f"{name}-{number}", agents=AGENTS, auto=True).open() for number in range(count)]


def _client(stack: Stack) -> Any:
    """As the functions have it, with room for all threads."""
    return stack.aws("dynamodb", CLIENT.merge(Config(max_pool_connections=16)))


def _rows(name: str, operations: list[Operation]) -> list[list[str]]:
    samples = driven(operations)
    rows: list[list[str]] = []
    for step in sorted(samples[0].steps, key=lambda each: each != WHOLE):
        times = [sample.steps[step] * 1_000 for sample in samples]
        halves, edges = quantiles(times, n=2), quantiles(times, n=20)
        rate = f"{per_second(samples):.1f}"
        head = [name, step, str(len(operations)), rate] if not rows else ["", step, "", ""]
        rows.append([*head, f"{halves[0]:.1f}", f"{edges[-1]:.1f}", f"{max(times):.0f}"])
    return rows


def _marker_over_http(stack: Stack, offices: list[Office], pool: list[tuple[Office, tuple[str, str]]]) -> Operation:
    """``pool``: the directions that are still free, shared by all clients."""
    http = {processes.workspace: stack.http(processes.token()) for processes in offices}

    def create(sample: Sample) -> None:
        try:
            processes, (source, target) = pool.pop()
        except IndexError:
            raise OutOfWork from None
        with sample.step(MARKER):
            _post(http[processes.workspace], "/handoff-markers", marker(source, target))

    return create


def _handoff_over_http(stack: Stack, processes: Office) -> Operation:
    http, directions = stack.http(processes.token()), cycle(processes.directions())

    def hand_off(sample: Sample) -> None:
        source, target = next(directions)
        with sample.step(WHOLE):
            with sample.step("create"):
                _post(http, "/handoff-markers", marker(source, target))
            with sample.step("claim"):
                claim = _post(http, f"/agents/{target}/claims", {"worker": "worker-1"})
            with sample.step("complete"):
                body = {"claim_id": claim["claim_id"], "output": OUTPUT}
                _post(http, f"/tasks/{claim['task']['id']}/complete", body)

    return hand_off


def _handoff_directly(processes: Office) -> Operation:
    directions, by = cycle(processes.directions()), processes.service

    def hand_off(sample: Sample) -> None:
        source, target = next(directions)
        with sample.step(WHOLE):
            with sample.step("create"):
                create_handoff_marker(processes.deps, by, marker(source, target))
            with sample.step("claim"):
                claimer = Claimer(by=by, agent=target, worker="worker-1", lease_seconds=LEASE_SECONDS)
                claimed = claim_next(processes.deps, claimer)
            if claimed is None:
                raise RuntimeError("nothing to claim")
            with sample.step("complete"):
                complete_task(
                    processes.deps,
                    WorkerCall(by, claimed.details.task.id, claimed.claim_id, "0" * 64),
                    CompletedWork(output=OUTPUT),
                )

    return hand_off


def _post(http: httpx.Client, path: str, body: Any) -> Any:
    response = http.post(path, json=body)
    if response.status_code not in {httpx.codes.OK, httpx.codes.CREATED}:
        raise RuntimeError(f"POST {path} was answered with {response.status_code} {response.text[:300]}")
    answer = response.json()
    if path == "/handoff-markers" and not answer["task_created"]:
        raise RuntimeError("a marker created no task: a breaker or cap interfered")
    return answer

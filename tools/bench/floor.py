"""Each verb beside an empty function and beside a floor, behind the same API, on the bench's own stack.

The empty function answers at once. The floor gets one item and updates one, which no verb can do without. Both are made
here, in the bench's stack alone: the template knows nothing of them. What is compared is sent in turns by one client
after the other, so that whatever else the machine does happens to all of it.
"""

from __future__ import annotations

import io
import time
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from itertools import cycle
from statistics import quantiles
from typing import Any
from urllib.parse import urlsplit

import httpx

from baton.adapters.dynamodb.patience import Patience
from baton.adapters.dynamodb.store import DynamoStore
from baton.adapters.dynamodb.table import Table
from baton.adapters.system import SystemClock
from baton.domain.access.principal import ACT_AS, PrincipalKind
from baton.services.access.change_settings import change_settings
from baton.services.access.issue_token import TokenRequest, issue_token
from tools.bench.drive import Operation, Sample, driven, per_second
from tools.bench.office import OUTPUT, Office, marker
from tools.bench.tables import table
from tools.stack.stack import Stack

FLOOR_PATHS = {"empty": "/bench/empty", "floor": "/bench/floor"}
VERBS = ("create", "approve", "claim", "heartbeat", "complete")
CLIENTS, AGENTS = 8, 12
LATENCY_SECONDS = 15.0
TURNS, TURN_SECONDS = 3, 4.0
MOST_TIMES_EMPTY = 2.0
LEAST_OF_FLOOR = 0.6
# It writes a line, as every request of Baton's does: the local engine waits 45 ms for the lines of a function without.
_CODE = """
import os, uuid
import boto3
from botocore.config import Config

_is_floor = os.environ["BENCH"] == "floor"
_client = boto3.client("dynamodb", config=Config(parameter_validation=False)) if _is_floor else None
_key = {"pk": {"S": f"BENCH#{uuid.uuid4()}"}, "sk": {"S": "FLOOR"}}

def lambda_handler(event, context):
    if _client:
        table = os.environ["BATON_TABLE"]
        _client.get_item(TableName=table, Key=_key, ConsistentRead=True)
        _client.update_item(
            TableName=table, Key=_key, UpdateExpression="ADD #n :one", ExpressionAttributeNames={"#n": "n"},
            ExpressionAttributeValues={":one": {"N": "1"}},
        )
    print('{"message": "answered"}')
    return {"statusCode": 200, "headers": {"Content-Type": "application/json"}, "body": "{}"}
"""


@dataclass(frozen=True)
class Caller:
    """One client of one office: a human who approves, and a service that acts for the agents."""

    office: Office
    human: httpx.Client
    service: httpx.Client


def deploy_floor(stack: Stack) -> None:
    """Makes both functions as the template makes ``Api``: its runtime, memory, layers, role and environment."""
    functions, api = stack.aws("lambda"), stack.aws("apigatewayv2")
    like = functions.get_function_configuration(FunctionName=stack.functions["Api"])
    api_id = str(urlsplit(stack.api_url).hostname).split(".")[0]
    for name, path in FLOOR_PATHS.items():
        made = functions.create_function(
            FunctionName=f"baton-bench-{name}",
            Runtime=like["Runtime"],
            Role=like["Role"],
            Handler="bench.lambda_handler",
            Code={"ZipFile": _zipped()},
            Timeout=like["Timeout"],
            MemorySize=like["MemorySize"],
            Layers=[layer["Arn"] for layer in like.get("Layers", [])],
            Environment={"Variables": {**like["Environment"]["Variables"], "BENCH": name}},
        )
        integration = api.create_integration(
            ApiId=api_id,
            IntegrationType="AWS_PROXY",
            IntegrationUri=made["FunctionArn"],
            PayloadFormatVersion="2.0",
        )
        api.create_route(ApiId=api_id, RouteKey=f"POST {path}", Target=f"integrations/{integration['IntegrationId']}")
        functions.add_permission(
            FunctionName=f"baton-bench-{name}",
            StatementId="bench",
            Action="lambda:InvokeFunction",
            Principal="apigateway.amazonaws.com",
        )


def show_floor(stack: Stack) -> None:
    deploy_floor(stack)
    store = DynamoStore(Table(stack.aws("dynamodb"), stack.table, Patience(SystemClock())))
    offices = [Office(store, f"beside-{number}", agents=AGENTS).open() for number in range(CLIENTS)]
    callers = [_caller(stack, office) for office in offices]
    _show_latency(driven([_interleaved(callers[0])], LATENCY_SECONDS))
    rows = []
    for clients in (1, CLIENTS):
        handoffs, floors, empties = _rates(callers[:clients])
        rows.append([str(clients), f"{handoffs:.1f}", f"{floors:.1f}", f"{empties:.1f}", f"{handoffs / floors:.0%}"])
    table(
        f"Handoffs per second over HTTP: {', '.join(VERBS)}, beside as many requests of the floor",
        ("clients", "handoffs/s", "floor/s", "empty/s", "of the floor"),
        rows,
        f"Wanted: at least {LEAST_OF_FLOOR:.0%} of the floor.",
    )


def _rates(callers: list[Caller]) -> tuple[float, float, float]:
    """Handoffs a second, and as many requests of the floor and of the empty function. In turns, for the same reason;
    the first one, in which functions start, doesn't count."""
    kinds: list[Callable[[Caller], Operation]] = [_handoff, _floors, lambda caller: _floors(caller, "empty")]
    totals = [0.0, 0.0, 0.0]
    for turn in range(1 + TURNS):
        for number, kind in enumerate(kinds):
            rate = per_second(driven([kind(caller) for caller in callers], TURN_SECONDS))
            totals[number] += rate / TURNS if turn else 0
    handoffs, floors, empties = totals
    return handoffs, floors, empties


def _show_latency(samples: list[Sample]) -> None:
    times = {step: [1_000 * sample.steps[step] for sample in samples] for step in samples[0].steps}
    empty = _middle(times["empty"])
    rows = [
        [step, f"{_middle(of)!s:.5}", f"{quantiles(of, n=100)[-1]:.1f}", f"{_middle(of) / empty:.2f}"]
        for step, of in times.items()
    ]
    table(
        f"Latency over HTTP, one client, {len(samples)} rounds in turns",
        ("", "p50 ms", "p99 ms", "times empty"),
        rows,
        f"Wanted: at most {MOST_TIMES_EMPTY:g} times the empty function.",
    )


def _middle(times: list[float]) -> float:
    return round(quantiles(times, n=2)[0], 1)


def _caller(stack: Stack, office: Office) -> Caller:
    change_settings(office.deps, office.human, {"dispatch_delay_seconds": 0, "escalation_cap": 20})
    request = TokenRequest(kind=PrincipalKind.HUMAN, subject="alice", scopes=frozenset({ACT_AS}))
    _, human = issue_token(office.deps, office.human, request)
    return Caller(office, stack.http(human), stack.http(office.token()))


def _interleaved(caller: Caller) -> Operation:
    """A handoff with an empty request before each of its verbs' and one to the floor after them."""
    directions = cycle(caller.office.directions())

    def act(sample: Sample) -> None:
        with sample.step("empty"):
            _post(caller.service, FLOOR_PATHS["empty"], {})
        with sample.step("floor"):
            _post(caller.service, FLOOR_PATHS["floor"], {})
        _hand_off(caller, next(directions), sample)

    return act


def _handoff(caller: Caller) -> Operation:
    directions = cycle(caller.office.directions())
    return lambda sample: _hand_off(caller, next(directions), sample)


def _floors(caller: Caller, name: str = "floor") -> Operation:
    """As many requests as a handoff has."""

    def act(_sample: Sample) -> None:
        for _ in VERBS:
            _post(caller.service, FLOOR_PATHS[name], {})

    return act


def _hand_off(caller: Caller, direction: tuple[str, str], sample: Sample) -> None:
    source, target = direction
    with sample.step("create"):
        made = _post(caller.service, "/handoff-markers", marker(source, target))
    task_id = made["task_id"]
    with sample.step("approve"):
        _post(caller.human, f"/tasks/{task_id}/approve", {"revision": 1})
    with sample.step("claim"):
        claim = _post(caller.service, f"/agents/{target}/claims", {"worker": "worker-1"})
    held = {"claim_id": claim["claim_id"]}
    with sample.step("heartbeat"):
        _post(caller.service, f"/tasks/{task_id}/heartbeat", held)
    with sample.step("complete"):
        _post(caller.service, f"/tasks/{task_id}/complete", {**held, "output": OUTPUT})


def _post(http: httpx.Client, path: str, body: Any) -> Any:
    response = http.post(path, json=body)
    if not response.is_success or not response.content:
        raise RuntimeError(f"POST {path} was answered with {response.status_code} {response.text[:300]}")
    return response.json()


def _zipped() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        info = zipfile.ZipInfo("bench.py", time.gmtime()[:6])
        info.external_attr = 0o644 << 16
        archive.writestr(info, _CODE)
    return file.getvalue()

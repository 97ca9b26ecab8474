"""Calls and consumed capacity per verb, and what a million handoffs cost."""

from __future__ import annotations

import os
from contextlib import redirect_stdout
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

from baton.adapters.dynamodb.keys import WAKE_INDEX
from baton.adapters.dynamodb.patience import Patience
from baton.adapters.dynamodb.store import DynamoStore
from baton.adapters.dynamodb.table import Table
from baton.adapters.system import SystemClock
from baton.bootstrap import logger
from tools.bench.edge import at_the_edge
from tools.bench.meter import Meter, Usage
from tools.bench.office import (
    APPROVE,
    BEAT,
    CLAIM,
    COMPLETE,
    IN_NOTION,
    MARK,
    NOTICE,
    RUN_APPROVE,
    SENDS,
    SWEEP,
    THOUGHT,
    VERBS,
    Verb,
    brought_to,
)
from tools.bench.tables import number, table
from tools.stack.stack import Stack

MILLION = 1_000_000
# On demand, us-east-1, November 2026: dollars per million, but where another unit is named.
WRITE_UNITS, READ_UNITS = 0.625, 0.125
SQS_REQUESTS = 0.40
LAMBDA_REQUESTS = 0.20
API_REQUESTS = 1.00
LAMBDA_PER_GB_SECOND = 0.0000133334  # arm64, the default
MEMORY_GB = {"sync_tracker": 0.5, "others": 1.0}
# Of the marker, and of sync-tracker after the approval, the claim and the end: 0.35 s a request, 0.05 s of its own.
NOTION_SECONDS = (0.35, 0.05, 0.75, 1.45)
# Assumed, not measured: a warm function's time is its own work and the table's answers.
OWN_MS, READ_MS, WRITE_MS = 4, 5, 10
_tables = count(1)


@dataclass(frozen=True)
class Measured:
    plain: Usage
    with_key: Usage | None


def new_table(stack: Stack) -> str:
    """Like the stack's own, by itself: no sweeper of the stack looks at it."""
    client = stack.aws("dynamodb")
    described = client.describe_table(TableName=stack.table)["Table"]
    name = f"baton-bench-{next(_tables)}"
    client.create_table(
        TableName=name,
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=described["AttributeDefinitions"],
        KeySchema=described["KeySchema"],
        GlobalSecondaryIndexes=[
            {key: index[key] for key in ("IndexName", "KeySchema", "Projection")}
            for index in described["GlobalSecondaryIndexes"]
        ],
    )
    return name


def show_calls(stack: Stack) -> None:
    os.environ.setdefault("BATON_TABLE", "bench")
    os.environ.setdefault("POWERTOOLS_SERVICE_NAME", "bench")
    with Path(os.devnull).open("w") as nowhere:
        with redirect_stdout(nowhere):
            logger()  # keeps for its lines what it finds there now
        _show_all(stack)


def _show_all(stack: Stack) -> None:
    measured = {verb.name: _measure(stack, verb) for verb in VERBS}
    measured["one swept task, lease over"] = Measured(_beside_the_due_page(measured.pop(SWEEP.name).plain), None)
    table(
        "Calls and consumed capacity per verb, in a workspace of 5 agents",
        ("", "reads", "writes", "table WU", "index WU", "RU", "notices", "with key: WU", "RU"),
        [_row(name, each) for name, each in measured.items()],
        "Write units (WU) of the table and its indexes: the local engine's ReturnConsumedCapacity, which follows the\n"
        "documented rules. Read units (RU): computed from the items' sizes, as the engine doesn't tell. In a\n"
        "transaction every started KB of an item is 2 WU. A request of the API\n"
        "includes the check of its token. With key: the same request with an Idempotency-Key. A notice\n"
        "is one SendMessage.",
    )
    _show_items(measured)
    _show_tracker(stack, measured)
    usage = {name: each.plain for name, each in measured.items()}
    _show_cost(
        "Cost of a million handoffs whose worker pulls: create, approve, claim, one heartbeat, complete over HTTP",
        [usage[verb.name] for verb in (MARK, APPROVE, CLAIM, BEAT, COMPLETE)],
        [],
    )
    _show_thinking(usage)
    _show_cost(
        "Cost of a million handoffs whose agent is run: create and approve over HTTP, one notice",
        [usage[MARK.name], usage[RUN_APPROVE.name]],
        [usage[NOTICE.name]],
    )


def _show_tracker(stack: Stack, measured: dict[str, Measured]) -> None:
    """What Notion as the tracker adds to a handoff whose worker pulls."""
    verbs = {verb.name: Measured(_usage(stack, verb, None), None) for verb in (*IN_NOTION, *SENDS)}
    table(
        "Calls and consumed capacity with Notion as the tracker",
        ("", "reads", "writes", "table WU", "index WU", "RU", "notices", "", ""),
        [_row(name, each) for name, each in verbs.items()],
        "Notices include those for sync-tracker. A tracker that answers at once stands in for Notion.",
    )
    plain = [measured[verb.name].plain for verb in (MARK, APPROVE, CLAIM, COMPLETE)]
    with_it = [each.plain for each in verbs.values()]
    writes = sum(each.all_write_units for each in with_it) - sum(each.all_write_units for each in plain)
    reads = sum(each.read_units for each in with_it) - sum(each.read_units for each in plain)
    notices, seconds = len(SENDS), sum(NOTION_SECONDS)
    bill = _Bill([])
    total = bill.add("DynamoDB writes", f"{number(writes)} WU x ${WRITE_UNITS}", writes * WRITE_UNITS)
    total += bill.add("DynamoDB reads", f"{number(reads)} RU x ${READ_UNITS}", reads * READ_UNITS)
    total += bill.add("SQS", f"{notices} x (send, receive, delete) x ${SQS_REQUESTS:.2f}", 3 * notices * SQS_REQUESTS)
    total += bill.add("Lambda requests", f"{notices} sync-tracker x ${LAMBDA_REQUESTS:.2f}", notices * LAMBDA_REQUESTS)
    total += _duration(bill, "Lambda time, marker", f"{NOTION_SECONDS[0]} s", int(NOTION_SECONDS[0] * 1_000), "others")
    rest = int((seconds - NOTION_SECONDS[0]) * 1_000)
    total += _duration(bill, "Lambda time, sync-tracker", f"{_sum(list(NOTION_SECONDS[1:]))} s", rest, "sync_tracker")
    bill.rows.append(["total", "", f"{total:.2f}"])
    note = "Assumed: Notion answers each request within 0.35 s (1 to create, 0, 2 for the claim, 4 at the end)."
    table(
        "What Notion adds to a million handoffs",
        ("per million", "arithmetic per handoff", "$"),
        bill.rows,
        note,
        left=2,
    )


def _show_thinking(usage: dict[str, Usage]) -> None:
    """What a model's replies cost in Baton, beside what its provider asks for them."""
    none, idempotency_key, twice = (usage[verb.name] for verb in (NOTICE, *THOUGHT))
    rows = []
    for what, more, less in (
        ("the first reply", idempotency_key, none),
        ("each further one, with a tool call", twice, idempotency_key),
    ):
        writes = more.all_write_units - less.all_write_units
        reads = more.read_units - less.read_units
        dollars = writes * WRITE_UNITS + reads * READ_UNITS
        rows.append(
            [what, f"{number(writes)} WU x ${WRITE_UNITS} + {number(reads)} RU x ${READ_UNITS}", f"{dollars:.2f}"]
        )
    table("What a million replies of a model add", ("per million", "arithmetic per reply", "$"), rows, "", left=2)


def _measure(stack: Stack, verb: Verb) -> Measured:
    return Measured(_usage(stack, verb, None), _usage(stack, verb, "key") if verb.takes_key else None)


def _usage(stack: Stack, verb: Verb, key: str | None) -> Usage:
    """Of one call, on a table of its own. A verb of the API comes as a request, with its token."""
    meter = Meter(stack.aws("dynamodb"))
    processes = brought_to(verb, DynamoStore(Table(meter, new_table(stack), Patience(SystemClock()))))
    act = at_the_edge(verb, processes, key) if verb.request is not None else lambda: verb.act(processes, None)
    meter.taken()
    act()
    return meter.taken(len(processes.dispatch_queue.notices) + len(processes.tracker_queue.notices))


def _beside_the_due_page(sweep: Usage) -> Usage:
    """Without the looks at each shard, which a round that finds nothing has too."""
    return Usage(tuple(call for call in sweep.calls if call.operation != f"query {WAKE_INDEX}"), sweep.notices)


def _row(name: str, measured: Measured) -> list[str]:
    usage, with_key = measured.plain, measured.with_key
    return [
        name,
        str(usage.reads),
        str(usage.writes),
        number(usage.write_units),
        number(usage.index_units),
        number(usage.read_units),
        str(usage.notices or ""),
        number(with_key.all_write_units) if with_key else "",
        number(with_key.read_units) if with_key else "",
    ]


def _show_items(measured: dict[str, Measured]) -> None:
    rows = []
    for name, each in measured.items():
        for call in each.plain.calls:
            if call.operation == "transact":
                sizes = ", ".join(f"{item} {size}{'!' if size > 1_024 else ''}" for item, size in call.written)
                others = call.members - len(call.written)
                rows.append([name, sizes + (f", {others} updated or checked" if others else "")])
    note = "! is over 1 KB: 4 units instead of 2. An item costs what the larger of it before and after does."
    table("What each transaction puts, in bytes", ("", "items"), rows, note, left=2)


@dataclass(frozen=True)
class _Bill:
    rows: list[list[str]]

    def add(self, what: str, arithmetic: str, dollars: float) -> float:
        self.rows.append([what, arithmetic, f"{dollars:.2f}"])
        return dollars


def _show_cost(title: str, requests: list[Usage], notices: list[Usage]) -> None:
    """``requests`` come over HTTP, ``notices`` are what one message's function does."""
    bill = _Bill([])
    every = [*requests, *notices]
    calls = len(requests)
    writes = [usage.all_write_units for usage in every]
    reads = [usage.read_units for usage in every]
    total = bill.add(
        "DynamoDB writes",
        f"{_sum(writes)} = {number(sum(writes))} WU x ${WRITE_UNITS}",
        sum(writes) * WRITE_UNITS,
    )
    total += bill.add(
        "DynamoDB reads",
        f"{_sum(reads)} = {number(sum(reads))} RU x ${READ_UNITS}",
        sum(reads) * READ_UNITS,
    )
    gateway = bill.add("API Gateway", f"{calls} requests x ${API_REQUESTS:.2f}", calls * API_REQUESTS)
    invoked = calls + bool(notices)
    parts = f"{calls} function" + (" + 1 process-task" if notices else "")
    total += bill.add("Lambda requests", f"{parts} x ${LAMBDA_REQUESTS:.2f}", invoked * LAMBDA_REQUESTS)
    each = [_ms([usage]) for usage in requests] + ([_ms(notices)] if notices else [])
    total += _duration(bill, "Lambda time, functions", f"{_sum(each)} ms", sum(each), "others")
    if notices:
        total += bill.add("SQS", f"send, receive, delete = 3 x ${SQS_REQUESTS:.2f}", 3 * SQS_REQUESTS)
    bill.rows.append(["total", "", f"{total + gateway:.2f}"])
    bill.rows.append(["total at a Function URL", "without API Gateway", f"{total:.2f}"])
    table(
        title,
        ("per million, on demand, us-east-1", "arithmetic per handoff", "$"),
        bill.rows,
        f"Assumed, as the local engine can't tell: a warm function takes {OWN_MS} ms of its own, {READ_MS} ms per "
        f"reading and {WRITE_MS} ms per writing\ncall. Not in it: an agent's own time, logs, storage, and what runs "
        "without any handoff (the sweeper's rounds, polling).",
        left=2,
    )


def _duration(bill: _Bill, what: str, arithmetic: str, ms: int, function: str) -> float:
    gb = MEMORY_GB[function]
    per_handoff = f"{arithmetic} x {gb} GB x ${LAMBDA_PER_GB_SECOND:.10f}/GB-s"
    return bill.add(what, per_handoff, ms / 1_000 * gb * LAMBDA_PER_GB_SECOND * MILLION)


def _ms(usages: list[Usage]) -> int:
    return OWN_MS + sum(usage.reads * READ_MS + usage.writes * WRITE_MS for usage in usages)


def _sum(values: list[Any]) -> str:
    return " + ".join(map(number, values))

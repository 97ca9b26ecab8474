"""The search in workspaces of several sizes: the first question of all, the first of a process, and each later one."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any

from baton.adapters.dynamodb.concurrent_calls import ConcurrentCalls
from baton.adapters.dynamodb.memory import entry_items
from baton.adapters.dynamodb.patience import Patience
from baton.adapters.dynamodb.query_parser import parse_queries_as_json
from baton.adapters.dynamodb.store import DynamoStore
from baton.adapters.dynamodb.table import DEFAULT_SHARDS, Table, to_wire
from baton.adapters.lexical_search import LexicalSearch
from baton.adapters.prefetch import prefetched
from baton.adapters.system import SystemClock
from baton.bootstrap import CALLS_AT_ONCE
from baton.domain.access.principal import Principal, PrincipalKind
from baton.domain.memory.entry_index import Question
from baton.ports.deps import Deps
from baton.services.memory.recall import recall, why
from support.values.full_board import QUESTION, many_entries
from tools.bench.calls import new_table
from tools.bench.meter import Meter, Usage
from tools.bench.office import WORKSPACE, Office
from tools.bench.tables import number, table
from tools.stack.stack import Stack

SIZES = (100, 1_000, 10_000, 20_000)
ASKED = 100
PROCESSES = 6  # the first of them asks the first question of all
BATCH = 25  # of BatchWriteItem
PATH = "src/auth/token_store.py"


@dataclass(frozen=True)
class Measured:
    """Seconds, and what the table was asked for."""

    wall: float
    cpu: float
    usage: Usage


def show_search(stack: Stack) -> None:
    client = stack.aws("dynamodb")
    parse_queries_as_json(client.meta.events)
    rows = [row for size in SIZES for row in _rows(client, new_table(stack), size)]
    table(
        "A question, by how many entries of 75 words the workspace has",
        ("", "p50 ms", "p99 ms", "CPU ms", "calls", "RU", "WU"),
        rows,
        "First of all: nobody has asked before. The process reads every entry, and packs them for those that follow.\n"
        f"First of a process: it reads the packs. Later ones: {ASKED}, in eleven words; each looks for what is new\n"
        "and reads the ten entries that it shows. All of it at the use case, over the local engine.",
    )


def _rows(client: Any, name: str, size: int) -> Iterator[list[str]]:
    _fill(client, name, size)
    meter = Meter(client)
    by, question = Principal(WORKSPACE, PrincipalKind.AGENT, "auditor"), Question(text=QUESTION, scope="src")

    def process() -> Deps:
        together = ConcurrentCalls(CALLS_AT_ONCE - 1)
        deps = Office(DynamoStore(Table(meter, name, Patience(SystemClock()), together=together)), WORKSPACE).deps
        return replace(deps, search=LexicalSearch(deps.store, deps.clock, through=prefetched))

    def measured(act: Callable[[], object]) -> Measured:
        wall, cpu = time.perf_counter(), time.process_time()
        act()
        return Measured(time.perf_counter() - wall, time.process_time() - cpu, meter.taken())

    first_of_all, *first = [measured(partial(recall, process(), by, question)) for _ in range(PROCESSES)]
    deps = process()
    recall(deps, by, question)
    meter.taken()
    yield _row(f"{size:,} entries: the first question of all", [first_of_all])
    yield _row("  the first one of a process", first)
    yield _row("  recall", [measured(lambda: recall(deps, by, question)) for _ in range(ASKED)])
    yield _row("  why", [measured(lambda: why(deps, by, PATH, 10)) for _ in range(ASKED)])


def _row(name: str, measured: list[Measured]) -> list[str]:
    usage, walls = measured[-1].usage, sorted(each.wall * 1_000 for each in measured)
    p99 = f"{walls[len(walls) * 99 // 100]:,.1f}" if len(walls) >= ASKED else ""
    cpu = statistics.median(each.cpu for each in measured) * 1_000
    units = [number(usage.read_units), number(usage.all_write_units)]
    return [name, f"{statistics.median(walls):,.1f}", p99, f"{cpu:,.1f}", str(usage.reads + usage.writes), *units]


def _fill(client: Any, name: str, size: int) -> None:
    items = (DEFAULT_SHARDS.placed(to_wire(entry_items.entry_item(each))) for each in many_entries(size, WORKSPACE))
    while batch := list(islice(items, BATCH)):
        client.batch_write_item(RequestItems={name: [{"PutRequest": {"Item": item}} for item in batch]})

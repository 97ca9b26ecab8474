"""The search in workspaces of several sizes: the first question of a process, and each later one."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from baton.adapters.dynamodb.memory import entry_items
from baton.adapters.dynamodb.store import DynamoStore
from baton.adapters.dynamodb.table import DEFAULT_SHARDS, Table, to_wire
from baton.adapters.dynamodb.together import SideBySide
from baton.bootstrap import CALLS_AT_ONCE
from baton.domain.access.principal import Kind, Principal
from baton.domain.memory.entry_index import Question
from baton.services.memory.recall import recall, why
from bench_calls import new_table
from bench_meter import Meter, Usage
from bench_office import WORKSPACE, Office
from bench_tables import number, table
from stack import Stack
from support.values.full_board import QUESTION, many_entries

SIZES = (100, 1_000, 10_000, 20_000)
ASKED = 21
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
    rows = [row for size in SIZES for row in _rows(client, new_table(stack), size)]
    table(
        "A question, by how many entries of 75 words the workspace has",
        ("", "ms", "CPU ms", "calls", "RU"),
        rows,
        "First: the process reads the workspace and makes its index. Later ones: the median of 20, in eleven words.\n"
        "Each looks for what is new, and reads the ten entries that it shows. All of it at the use case, over the\n"
        "local engine.",
    )


def _rows(client: Any, name: str, size: int) -> Iterator[list[str]]:
    _fill(client, name, size)
    meter = Meter(client)
    store = DynamoStore(Table(meter, name, time.sleep, together=SideBySide(CALLS_AT_ONCE - 1)))
    deps, by = Office(store, WORKSPACE).deps, Principal(WORKSPACE, Kind.AGENT, "auditor")
    question = Question(text=QUESTION, scope="src")

    def measured(act: Callable[[], object]) -> Measured:
        wall, cpu = time.perf_counter(), time.process_time()
        act()
        return Measured(time.perf_counter() - wall, time.process_time() - cpu, meter.taken())

    first, *later = [measured(lambda: recall(deps, by, question)) for _ in range(ASKED)]
    yield _row(f"{size:,} entries: the first question", [first])
    yield _row("  recall", later)
    yield _row("  why", [measured(lambda: why(deps, by, PATH, 10)) for _ in range(ASKED)])


def _row(name: str, measured: list[Measured]) -> list[str]:
    usage = measured[-1].usage
    wall, cpu = (statistics.median(getattr(each, what) for each in measured) * 1_000 for what in ("wall", "cpu"))
    return [name, f"{wall:,.1f}", f"{cpu:,.1f}", str(usage.reads), number(usage.read_units)]


def _fill(client: Any, name: str, size: int) -> None:
    items = (DEFAULT_SHARDS.placed(to_wire(entry_items.entry_item(each))) for each in many_entries(size, WORKSPACE))
    while batch := list(islice(items, BATCH)):
        client.batch_write_item(RequestItems={name: [{"PutRequest": {"Item": item}} for item in batch]})

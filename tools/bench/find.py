"""A search among all tasks of a month: how soon its first hits are there, what it reads, and how far it got."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from baton.adapters.dynamodb.concurrent_calls import ConcurrentCalls
from baton.adapters.dynamodb.patience import Patience
from baton.adapters.dynamodb.store import DynamoStore
from baton.adapters.dynamodb.table import Table
from baton.adapters.system import SystemClock
from baton.bootstrap import CALLS_AT_ONCE
from baton.domain.task_state import State
from baton.domain.tasks.task_search import TaskSearch
from baton.services.tasks.search_tasks import search_tasks
from tools.bench.meter import Meter
from tools.bench.month import DAYS, NEEDLE, SLUGS, TEAMS, Month
from tools.bench.tables import number, pasted

SHOWN = 25
# Pages that the console asks for by itself, of which each is a request.
REQUESTS = 8


ASKED = {
    "a word that many have": TaskSearch(words=("lock", "file")),
    "words that one in 3,000 has": TaskSearch(words=("order", "07919")),
    f"a word of one task, {DAYS - 1} days ago": TaskSearch(words=(NEEDLE,)),
    "a word that none has": TaskSearch(words=("kangaroo",)),
    "a label": TaskSearch(label=TEAMS[0]),
    "an agent": TaskSearch(agent=SLUGS[0]),
    "who asked, and a state": TaskSearch(asked_by=SLUGS[1], states=frozenset({State.FAILED})),
}


def show_find(month: Month) -> None:
    pasted(
        f"A search among {month.in_all:,} tasks",
        ("what", "first hits s", "all of it s", "requests", "hits", "read units", "searched back to"),
        list(_rows(month)),
        f"At the use case, over the local engine. A request ends after at most 0.6 s or about 465 units; the console\n"
        f"makes {REQUESTS} of them by itself, and shows what each has found.",
    )


def _rows(month: Month) -> Iterator[list[str]]:
    meter = Meter(month.client)
    table = Table(meter, month.table, Patience(SystemClock()), together=ConcurrentCalls(CALLS_AT_ONCE - 1))
    deps = replace(month.deps, store=DynamoStore(table))
    for name, search in ASKED.items():
        meter.taken()
        begun, first, hits, requests, cursor = time.perf_counter(), "none", 0, 0, None
        while requests < REQUESTS:
            found: Any = search_tasks(deps, month.human, search, SHOWN, cursor)
            requests, cursor, now = requests + 1, found.page.cursor, time.perf_counter() - begun
            first = f"{now:.2f}" if not hits and found.page.items else first
            hits += len(found.page.items)
            if cursor is None or hits >= SHOWN:
                break
        back = f"{found.searched_to:%d %B}"
        yield [name, first, f"{now:.2f}", str(requests), str(hits), number(meter.taken().read_units), back]

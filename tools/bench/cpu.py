"""Own CPU time per verb: the use case and the store on a table in memory, and with the HTTP edge around them."""

from __future__ import annotations

import gc
import os
import statistics
import time
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path

from baton.bootstrap import logger
from support.fakes.store import InMemoryStore
from tools.bench.edge import at_the_edge
from tools.bench.office import VERBS, Office, Verb, brought_to
from tools.bench.tables import table

BATCHES = 11
OFFICES = 30  # per batch; each has a table of its own with one task


def show_cpu() -> None:
    os.environ.setdefault("BATON_TABLE", "bench")
    os.environ.setdefault("POWERTOOLS_SERVICE_NAME", "bench")
    with Path(os.devnull).open("w") as nowhere:
        with redirect_stdout(nowhere):
            logger()  # keeps for its lines what it finds there now
        rows = [_row(verb) for verb in VERBS]
    table(
        f"Own CPU per verb on a table in memory, microseconds, median of {BATCHES} batches of {OFFICES}",
        ("", "use case", "over HTTP"),
        rows,
        "The table's own work is in both. Over HTTP: from the gateway's event to its answer, the token's check, JSON\n"
        "and the request's log line included. On AWS the SDK comes on top, at about 1 ms of CPU a call.",
    )


def _row(verb: Verb) -> list[str]:
    alone = _median(verb, lambda processes: lambda: verb.act(processes, None))
    if verb.request is None:
        return [verb.name, f"{alone:.0f}", ""]
    whole = _median(verb, lambda processes: at_the_edge(verb, processes))
    return [verb.name, f"{alone:.0f}", f"{whole:.0f}"]


def _median(verb: Verb, acting: Callable[[Office], Callable[[], object]]) -> float:
    """Microseconds of one ``acting`` in an office where the verb can be done."""
    return statistics.median(_batch(verb, acting) for _ in range(BATCHES))


def _batch(verb: Verb, acting: Callable[[Office], Callable[[], object]]) -> float:
    acts = [acting(brought_to(verb, InMemoryStore())) for _ in range(OFFICES)]
    gc.collect()
    begun = time.process_time()
    for act in acts:
        act()
    return (time.process_time() - begun) / OFFICES * 1_000_000

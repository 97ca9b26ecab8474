"""Own CPU time per verb: the use case and the store on a table in memory, and with the HTTP edge around them."""

from __future__ import annotations

import gc
import json
import os
import statistics
import time
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

from api import handler as api
from baton.bootstrap import logger
from baton.domain.access.principal import Principal
from bench_office import VERBS, Office, Verb, brought_to
from bench_tables import table
from create_handoff_marker import handler as create_handoff_marker
from rest.app import App
from support.fakes.store import InMemoryStore

BATCHES = 11
OFFICES = 30  # per batch; each has a table of its own with one task
MARKER_PATH = "/handoff-markers"


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
        "The table's own work is in both. Over HTTP: from the gateway's event to its answer, checking, JSON and the\n"
        "request's log line included; not the authorizer. On AWS the SDK comes on top, at about 1 ms of CPU a call.",
    )


def _row(verb: Verb) -> list[str]:
    alone = _median(verb, lambda processes: lambda: verb.act(processes, None))
    if verb.request is None:
        return [verb.name, f"{alone:.0f}", ""]
    whole = _median(verb, lambda processes: _at_the_edge(verb, processes))
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


def _at_the_edge(verb: Verb, processes: Office) -> Callable[[], object]:
    if verb.request is None:
        raise ValueError(f"{verb.name} isn't sent over HTTP")
    by, method, path, body = verb.request(processes)
    event = _event(by, method, path, body)
    routes = create_handoff_marker.routes if path == MARKER_PATH else api.routes
    app = App(routes, lambda: processes.deps)

    def answer() -> None:
        answered = app(event)
        if answered["statusCode"] >= 400:
            raise RuntimeError(f"{verb.name} was answered with {answered}")

    return answer


def _event(by: Principal, method: str, path: str, body: Any) -> dict[str, Any]:
    """API Gateway's payload format 2.0, with what a request usually brings."""
    told = {"workspace": by.workspace, "kind": by.kind.value, "id": by.id, "scopes": ",".join(sorted(by.scopes))}
    return {
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": path,
        "rawQueryString": "",
        "headers": {"content-type": "application/json", "authorization": "Bearer …", "user-agent": "bench"},
        "requestContext": {
            "http": {"method": method, "path": path},
            "requestId": "JKJaXmPLvHcESHA=",
            "stage": "$default",
            "authorizer": {"lambda": told},
        },
        "isBase64Encoded": False,
        **({} if body is None else {"body": json.dumps(body)}),
    }

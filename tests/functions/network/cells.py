"""The cells of the matrix: a program, a verb, a foreign answer, and for how long it comes."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from functions.network.foreign_answers import AFTER, BEFORE, KINDS
from functions.network.programs import Program, scene
from support.fakes.faulty_network import Fault
from support.http_server import Received

# Verb → the end of its path, the tool of the Model Context Protocol, and the event of its effect.
VERBS: dict[str, tuple[str, str, str]] = {
    "heartbeat": ("/heartbeat", "heartbeat", "handoff_received"),
    "claim": ("/claim", "claim_next", "handoff_received"),
    "complete": ("/complete", "complete", "handoff_completed"),
    "fail": ("/fail", "fail", "handoff_failed"),
    "ask": ("/ask", "ask_person", "question_asked"),
    "use": ("/use", "ask_person", "approval_used"),
    "release": ("/release", "release", "released"),
    "checkpoint": ("/checkpoints", "checkpoint", "checkpoint_saved"),
    "spool": ("/complete", "", "handoff_completed"),
}
ONCE, HALF_A_MINUTE, FOR_GOOD = "one request", "30 s", "for good"
LENGTHS = {ONCE: 0.0, HALF_A_MINUTE: 30.0, FOR_GOOD: float("inf")}


@dataclass(frozen=True)
class Cell:
    """``fault``: None for a network without a fault."""

    program: Program
    verb: str
    fault: Fault | None
    length: str = ONCE


@dataclass(frozen=True)
class Observed:
    """``effects``: how often the verb took effect; of a heartbeat, how often the task was claimed. ``claims``: how
    often the task was claimed; ``began``: how often work on it began. ``state``: the task's in the end. ``end``: the
    program's. ``requests``: of the verb. ``keys``: their idempotency keys. ``files``: the ends of the names of the
    files in the worker's folder. ``seconds``: of the whole program."""

    effects: int
    claims: int
    began: int
    state: str
    end: str
    requests: int
    keys: int
    files: tuple[str, ...]
    seconds: float

    @property
    def outcome(self) -> tuple[Any, ...]:
        return self.effects, self.claims, self.began, self.state, self.end, self.files


def cells(program: Program, verb: str) -> Iterator[Cell]:
    """Yields the cells of a row. Each answer comes once, in place of a lost request. Otherwise one answer of each kind
    comes: only the worker decides by the status."""
    for fault in (*BEFORE.values(), *(AFTER[name] for name in KINDS)):
        yield Cell(program, verb, fault, ONCE)
    for length in (HALF_A_MINUTE, FOR_GOOD):
        for name in BEFORE if program.name == "worker" else KINDS:
            yield Cell(program, verb, BEFORE[name], length)
    for name in KINDS:
        yield Cell(program, verb, AFTER[name], FOR_GOOD)


def is_about(verb: str, request: Received) -> bool:
    """True if the request is one of the verb's."""
    path, (end, tool, _) = request.path.partition("?")[0], VERBS[verb]
    if path == "/mcp":
        params: Any = json.loads(request.content).get("params", {})
        is_use = "use" in params.get("arguments", {})
        return tool != "" and params.get("name") == tool and is_use is (verb == "use")
    return path.endswith(end) or (verb == "claim" and path.endswith(("/claims", "/claims/wait")))


def observed(cell: Cell, folder: Path) -> Observed:
    """Runs the cell's program, and returns what happened."""
    random.seed(7)
    with pytest.MonkeyPatch.context() as patch, scene(patch, folder) as made:
        made.network.fault, made.network.seconds = cell.fault, LENGTHS[cell.length]
        made.network.is_hit = lambda request: is_about(cell.verb, request)
        end = cell.program.play(made, cell.verb)
        trail, noted = made.trail, made.network.noted
        return Observed(
            effects=trail.count(VERBS[cell.verb][2]),
            claims=trail.count("handoff_received"),
            began=made.began,
            state=made.state,
            end=end,
            requests=len(noted),
            keys=len({each.key for each in noted} - {""}),
            files=tuple(made.files),
            seconds=round(made.time.seconds, 1),
        )

"""What must be true in each cell of the matrix."""

from __future__ import annotations

from collections.abc import Iterator

from functions.network.cells import FOR_GOOD, Cell, Observed
from functions.network.foreign_answers import EMPTY

MOST_SECONDS, MOST_REQUESTS = 200.0, 80
REPORTS = {"complete", "fail"}
# The ends of a program whose verb had no answer.
UNANSWERED = {
    "worker": "exit code 1",
    "client": "NoAnswer",
    "async client": "NoAnswer",
    "command": "exit code 5",
    "baton-mcp": "tool error",
}


def broken_rules(cell: Cell, found: Observed, usual: Observed) -> Iterator[str]:
    """Yields each rule that the cell breaks. ``usual``: the outcome without a fault."""
    if found.began > 1:
        yield "the work is done twice"
    if is_emptied(cell):
        return  # nobody can tell this answer from Baton's: "no work"
    if found.seconds > MOST_SECONDS + usual.seconds or found.requests > MOST_REQUESTS:
        yield "it doesn't end"
    if found.keys > (2 if cell.program.name == "worker" else 1):
        yield "a repeat has another key"
    if "human" in found.end:
        yield "a page of the network is taken for a refusal of the token"
    if cell.length == FOR_GOOD:
        yield from _without_an_end(cell, found, usual)
    elif found.outcome != usual.outcome and not is_kept_for_people(cell, found):
        yield "the outcome changes"


def _without_an_end(cell: Cell, found: Observed, usual: Observed) -> Iterator[str]:
    is_forwarded = cell.fault is not None and cell.fault.is_forwarded
    is_end_known = found.end == usual.end
    if found.effects > 1:
        yield "it has two effects"
    if is_forwarded and found.effects != 1 and cell.verb != "heartbeat":
        yield "the effect is lost"
    if cell.verb in {"heartbeat", "checkpoint"} or (is_forwarded and is_end_known):
        return  # the program works without an answer, or learns of the effect in another way
    if cell.verb == "spool":
        if found.files.count(".json") + found.files.count(".kept") < 1 and found.effects != 1:
            yield "the report is lost"
    elif not found.end.startswith(expected_end(cell)):
        yield "the program doesn't report the cause"
    elif cell.program.name == "worker" and cell.verb in REPORTS and not found.files and not found.effects:
        yield "the report is lost"


def expected_end(cell: Cell) -> str:
    is_poll = cell.program.name == "worker" and cell.verb == "claim"
    return "exit code 5" if is_poll else UNANSWERED[cell.program.name]


def is_emptied(cell: Cell) -> bool:
    return cell.verb == "claim" and cell.fault is not None and cell.fault.name == EMPTY


def is_kept_for_people(cell: Cell, found: Observed) -> bool:
    """True for a report of a worker that a program between refuses as too large: a short one names the file."""
    is_large = cell.fault is not None and cell.fault.name.startswith("413")
    if cell.program.name != "worker" or not is_large:
        return False
    return cell.verb == "checkpoint" or (cell.verb in REPORTS and found.state == "failed" and ".kept" in found.files)

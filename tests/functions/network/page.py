"""The page of the matrix, docs/faulty-networks.md: what each program does in each cell, with equal cells together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from functions.network.cells import FOR_GOOD, LENGTHS, VERBS, Cell, Observed
from functions.network.foreign_answers import ANSWERS
from functions.network.programs import PROGRAMS, Program

Row = Mapping[Cell, Observed]
Group = list[tuple[Cell, Observed]]
HEAD = """\
# Faulty networks

This page is for people who run workers or programs behind a proxy, a captive portal, a firewall or a CDN. It shows what
each program does if another program answers in Baton's place, or if an answer is broken. By
[decision 114](decisions/114-an-answer-is-batons-or-none.md) such an answer is no answer: the program repeats the
request.

`WRITE_GOLDEN=1 pytest tests/functions/network` writes this page. The tests run the real programs against the real
routes, with a lease of 60 s. They fail if the page differs from what they observe.

**Columns.** The fault replaces the answer to the first request of the verb, to all its requests for 30 s, or to all its
requests for good. A cell begins with the requests that it is about, if the others behave differently:

- "lost": the request doesn't reach Baton.
- "arrived": Baton handles the request, and only its answer is replaced.

"As usual" means the same outcome, exit code and files as without a fault. The numbers count the requests of the verb.
Seconds count until the program has ended. Each answer comes once in place of a lost request, and the worker gets each
answer for longer. One answer of each kind comes to the other programs for longer, and to requests that arrive.

**Limits.**

- An empty 204 to a claim can't be told from Baton's "no work". A claim that Baton has made ends with its lease, and
  then the task is claimed again.
- A worker repeats a report until its lease is over, and once after. Then the report stays in
  `~/.local/state/baton/worker`, and each later poll of a worker on this machine sends it, for seven days.
- A program between may refuse a report as too large (413) three times, or with another 4xx for 40 s. If it lets other
  requests through, the worker keeps the report for people in a file that ends with `.kept`, and sends a short failure
  that names the file.

**Answers.**

{answers}
"""
TITLES = {
    "worker": "`baton worker`",
    "client": "The client for threads",
    "async client": "The client for tasks",
    "command": "`baton`, the command",
    "baton-mcp": "`baton-mcp`",
}
EFFECTS = {0: "no effect", 1: "one effect"}
FILES = {".json": "a file keeps the report, which is sent later", ".kept": "a file keeps the report for people"}


def page(matrix: Mapping[tuple[str, str], Row]) -> str:
    """Returns the page. ``matrix``: the rows, by the program's name and the verb."""
    parts = [
        HEAD.format(answers="\n".join(f"- {each}" for each in ANSWERS)),
        *(_table(program, matrix) for program in PROGRAMS),
    ]
    return "\n".join(parts)


def _table(program: Program, matrix: Mapping[tuple[str, str], Row]) -> str:
    lines = [f"## {TITLES[program.name]}", "", f"| verb | {' | '.join(LENGTHS)} |", "| --- | --- | --- | --- |"]
    for verb in VERBS:
        if (program.name, verb) in matrix:
            row = matrix[program.name, verb]
            shown = [_cell([*row.items()], length, row[Cell(program, verb, None)]) for length in LENGTHS]
            lines.append(f"| {verb} | {' | '.join(shown)} |")
    missing = [verb for verb in VERBS if verb not in program.verbs]
    reasons = {program.lacks(verb) for verb in missing}
    return "\n".join([*lines, "", f"There is no {' and no '.join(missing)}. {' '.join(sorted(reasons))}", ""])


def _cell(row: Group, length: str, usual: Observed) -> str:
    sides = []
    for name, is_forwarded in (("lost", False), ("arrived", True)):
        group = [
            (each, found)
            for each, found in row
            if each.length == length and each.fault is not None and each.fault.is_forwarded is is_forwarded
        ]
        if group:
            sides.append((name, [*_groups(group, usual)]))
    is_same = len({tuple(text for _, text, _ in groups) for _, groups in sides}) == 1
    if is_same and all(len(groups) == 1 for _, groups in sides):
        text, every = sides[0][1][0][1], [each for _, groups in sides for _, _, group in groups for each in group]
        return f"{text}; {_counts(every, length)}"
    return "<br>".join(
        f"{name}{f', {label}' if label else ''}: {text}; {_counts(group, length)}"
        for name, groups in sides
        for label, text, group in groups
    )


def _groups(cells: Group, usual: Observed) -> Iterator[tuple[str, str, Group]]:
    """Yields the answers with the same behaviour: their names, the behaviour, and their cells. The largest group comes
    first."""
    by_text: dict[str, Group] = defaultdict(list)
    for each, found in cells:
        by_text[_behaviour(found, usual)].append((each, found))
    groups = sorted(by_text.items(), key=lambda each: -len(each[1]))
    for number, (text, group) in enumerate(groups):
        names = ", ".join(each.fault.name for each, _ in group if each.fault is not None)
        label = "" if len(groups) == 1 else "other answers" if number == 0 else names
        yield label, text, group


def _behaviour(found: Observed, usual: Observed) -> str:
    if found.outcome == usual.outcome:
        return "as usual"
    parts = [EFFECTS.get(found.effects, f"{found.effects} effects")]
    if found.state != usual.state:
        parts.append(f"the task is `{found.state}`")
    if found.end != usual.end:
        parts.append(found.end.partition(",")[0])
    return ", ".join([*parts, *(FILES[each] for each in dict.fromkeys(found.files))])


def _counts(group: Group, length: str) -> str:
    requests = _range({found.requests for _, found in group})
    noun = "request" if requests == "1" else "requests"
    seconds = max(found.seconds for _, found in group)
    return f"{requests} {noun}" + (f", at most {seconds:.0f} s" if length == FOR_GOOD else "")


def _range(numbers: Iterable[int]) -> str:
    least, most = min(numbers), max(numbers)
    return f"{least} to {most}" if least < most else str(least)

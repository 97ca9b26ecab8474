"""A workspace's approvals, and what they allowed, as a Testimony Record (draft-clifford-testimony-record, 0.2): lines
of JSON in the order of their times, then the record's scope, then its integrity. The same span of time is the same
record, byte for byte, so that it is verified by reading the trails once more.

Each line also has ``x-baton-chain``: the SHA-256 of the chain before it (64 zeros in the first) and its own canonical
JSON without that field. It names the first line that was changed without asking anybody.
"""

from __future__ import annotations

import hashlib
import heapq
import itertools
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from datetime import timedelta
from typing import IO, Any

from baton_cli import question_contents, times, trail_hashes
from baton_cli.failures import Failure
from baton_cli.testimony_changes import entries_of_changes
from baton_cli.testimony_decisions import entries_of_trail
from baton_client import numbers
from baton_client.caller import Caller

Entry = dict[str, Any]
SPEC = "testimony-record/0.2"
START = "0" * 64
# Entries that are sorted at once, in memory; further ones wait in files.
RUN = 5_000
_BETWEEN = "\t"  # no text of JSON has one


def link(before: str, entry: Entry) -> str:
    """Returns an entry's place in the chain. ``before``: that of the entry before it."""
    content = {name: value for name, value in entry.items() if name != "x-baton-chain"}
    return hashlib.sha256((before + canonical(content)).encode("utf-8", "surrogatepass")).hexdigest()


def canonical(entry: Entry) -> str:
    """Returns the JSON of which the record's digest is made."""
    return numbers.dumps(entry, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def written(entry: Entry) -> str:
    """Returns a line of the record: ASCII, so that it is shown as it is."""
    return numbers.dumps(entry, sort_keys=True, separators=(",", ":"))


def record(client: Caller, since: str, until: str) -> Iterator[Entry]:
    """Yields the record's entries: of the tasks that were made since then, of what happened until then. Raises
    ``Failure`` for a trail that is broken, and if nothing was decided."""
    last, covered, digest = START, list[str](), hashlib.sha256()
    decided = _sorted(_decided(client, since, until))
    if (first := next(decided, None)) is None:
        raise Failure(
            "there is no record", f"nobody has decided anything by {until}", "an earlier --since, a later --until"
        )
    scope = {"type": "scope", "id": "scope", "acts": True, "declared_by": {"id": "baton", "kind": "system"}}
    end = {"spec": SPEC, "at": until}  # no entry has a later time
    for entry in itertools.chain([first], decided, [end | scope | {"x-baton-since": since}]):
        linked = {**entry, "x-baton-chain": (last := link(last, entry))}
        digest.update((("\n" if covered else "") + canonical(linked)).encode("utf-8", "surrogatepass"))
        covered.append(linked["id"])
        yield linked
    said = {"scheme": "hash-chain", "digest": f"sha256:{digest.hexdigest()}", "covers": covered}
    integrity = end | {"type": "integrity", "id": "integrity"} | said
    yield {**integrity, "x-baton-chain": link(last, integrity)}


def _decided(client: Caller, since: str, until: str) -> Iterator[Entry]:
    """Yields the entries of each task, day by day. Yields the workspace's changes if there is any entry of a task."""
    is_any = False
    for task_id in _tasks(client, since, until):
        trail = _verified_trail(client, task_id)
        known = [each for each in trail if each["at"] <= until]
        for entry in entries_of_trail(task_id, known):
            is_any = True
            yield {"spec": SPEC, **entry}
    if is_any:
        yield from ({"spec": SPEC, **entry} for entry in entries_of_changes(client, since, until))


def _verified_trail(client: Caller, task_id: str) -> list[Entry]:
    """Returns the task's trail. Raises ``Failure`` if it is broken, or has the digest of another question."""
    trail, question = _compared(client, task_id)
    if question is not None:  # a person may have decided between the two reads
        trail, question = _compared(client, task_id)
    if question is not None:
        why = f"{question} differs from its digest in the trail"
        raise Failure(f"a question of {task_id} was changed", why, f"baton events verify {task_id}")
    return trail


def _compared(client: Caller, task_id: str) -> tuple[list[Entry], str | None]:
    trail = list(trail_hashes.entries_of(client, task_id))
    if (broken := trail_hashes.broken_at(trail)) is not None:
        why = f"entry {broken[0]}: {broken[1]}"
        raise Failure(f"the trail of {task_id} is broken", why, f"baton events verify {task_id}")
    return trail, question_contents.altered(client, task_id, trail)


def _tasks(client: Caller, since: str, until: str) -> Iterator[str]:
    day = times.parsed(since).date()
    while day <= times.parsed(until).date():
        for page in client.pages("/tasks", {"day": day.isoformat(), "limit": 100}):
            yield from (each["id"] for each in page["items"] if since <= each["created_at"] <= until)
        day += timedelta(days=1)


def _sorted(entries: Iterable[Entry]) -> Iterator[Entry]:
    """Yields the entries by time and id, with at most ``RUN`` of them in memory."""
    run, files = list[str](), list[IO[str]]()
    with ExitStack() as opened:
        for entry in entries:
            run.append(_BETWEEN.join([entry["at"], entry["id"], written(entry)]) + "\n")
            if len(run) == RUN:
                files.append(opened.enter_context(tempfile.TemporaryFile("w+", encoding="ascii")))
                files[-1].writelines(sorted(run))
                files[-1].seek(0)
                run = []
        for line in heapq.merge(*files, sorted(run)):
            found: Entry = numbers.loads(line.rpartition(_BETWEEN)[2])
            yield found

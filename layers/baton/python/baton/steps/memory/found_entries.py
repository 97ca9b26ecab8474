"""What a search has found, as it is now, with what it replaced."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from baton.domain.access.principal import Principal, PrincipalKind
from baton.domain.memory.entry import Entry
from baton.domain.rights.read_rights import may_read_entry, reads_all
from baton.ports.deps import Deps

# How far back a decision tells what it replaced.
MAX_REPLACED = 5
# In one read.
MAX_READ = 100


@dataclass(frozen=True, slots=True)
class FoundEntry:
    entry: Entry
    replaced: tuple[Entry, ...]  # the decisions that it replaced, the latest first


def found_entries(deps: Deps, by: Principal, entry_ids: Sequence[str]) -> dict[str, FoundEntry]:
    """Returns those that are shown and that the caller may read, in the order of the ids. One read per hundred, and one
    more for each step back in what decisions have replaced, for all of them together."""
    read = deps.store.memory.entries(by.workspace, entry_ids) if entry_ids else {}
    found = [read[each] for each in entry_ids if each in read and _may_see(by, read[each])]
    before = _replaced(deps, by, found)
    return {entry.id: FoundEntry(entry, tuple(_line(entry, before))) for entry in found}


def to_read(by: Principal, wanted: int) -> int:
    """Returns how many of what was found are read to show so many: more for a caller that may not see them all."""
    sees_all = reads_all(by) or by.kind is PrincipalKind.AGENT
    return wanted if sees_all else max(wanted, MAX_READ)


def _replaced(deps: Deps, by: Principal, found: Iterable[Entry]) -> dict[str, Entry]:
    """Returns what the decisions replaced, and what that had replaced, by id."""
    known: dict[str, Entry] = {}
    latest = list(found)
    for _ in range(MAX_REPLACED):
        wanted = {each.supersedes for each in latest if each.supersedes is not None} - known.keys()
        if not wanted:
            break
        read = deps.store.memory.entries(by.workspace, sorted(wanted))
        latest = [entry for entry in read.values() if _may_see(by, entry)]
        known |= {entry.id: entry for entry in latest}
    return known


def _line(entry: Entry, before: Mapping[str, Entry]) -> list[Entry]:
    line: list[Entry] = []
    while len(line) < MAX_REPLACED and (earlier := before.get(entry.supersedes or "")) is not None:
        line.append(earlier)
        entry = earlier
    return line


def _may_see(by: Principal, entry: Entry) -> bool:
    return entry.is_shown and may_read_entry(by, entry)

"""The blackboard: what was posted stays as it is until it is over, is over once, and is in view exactly as long as it
holds."""

from __future__ import annotations

import json
import zlib
from collections import defaultdict
from typing import TYPE_CHECKING

from baton.domain.memory.entry_index import Question
from simulation.oracle.items import item_of, to_ms
from simulation.ports import BEGIN, SUMMARY, WORKSPACE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from baton.domain.memory.snapshot import ClaimMemory
    from simulation.oracle.ledger import Item
    from simulation.oracle.verdict import Verdict
    from simulation.simulation import Simulation

BEGIN_MS = int(BEGIN.timestamp() * 1000)
PREFIX = f"WS#{WORKSPACE}#"
SHARDS = 4
IN_VIEW = ("decision", "warning", "finding")
# What a change may touch: of any entry, of a decision that is replaced, of an entry that is deleted.
CHANGES = {"changes", "version", "written_by", "queue_pk", "queue_sk"}
TEXTS = {"summary", "detail", "tags", "relates_to", "rationale"}
ENDS = {"superseded": {"status"}, "overridden": {"status"}, "withdrawn": set(), "deleted": TEXTS}
HUMANS_ONLY = ("overridden", "deleted")
# A process that begins reads the changes since its packs, and of as long before.
LATE_MS = 60_000


class Board:
    def __init__(self, sim: Simulation, verdict: Verdict) -> None:
        self._sim = sim
        self._must = verdict.must
        self._ends: dict[str, set[str]] = {}
        # At which step each was over in any way; and taken back or deleted.
        self._over_at: dict[str, int] = {}
        self._gone_at: dict[str, int] = {}
        # When each was taken back, by the clock of who did it, of which that showed late.
        self._late_ms: dict[str, int] = {}

    def is_written(self, entry_id: str, old: Item | None, new: Item | None) -> None:
        self._must(new, "entry {} was deleted from the table", entry_id)
        self._ends[entry_id] = _ends(new or {"changes": []})
        if self._ends[entry_id]:
            self._over_at.setdefault(entry_id, self._sim.steps)
        if {"withdrawn", "deleted"} & self._ends[entry_id]:
            self._gone_at.setdefault(entry_id, self._sim.steps)
        if new is None:
            return
        if old is None:
            self._is_posted(entry_id, new)
        else:
            self._is_changed(entry_id, old, new)
        is_placed = "queue_pk" in new
        self._must(is_placed == _holds(new), "entry {} ({}) is in view: {}", entry_id, new, is_placed)

    def _is_posted(self, entry_id: str, new: Item) -> None:
        self._must(new["version"] == 1 and not new["changes"], "entry {} is over from the start", entry_id)
        request = self._sim.current.process.request
        is_own = request is None or new["posted_by"] == request.by.key
        self._must(is_own, "entry {} is told of {}", entry_id, new["posted_by"])

    def _is_changed(self, entry_id: str, old: Item, new: Item) -> None:
        """By one line of its trail, which says how."""
        before, after = old["changes"], new["changes"]
        is_next = after[:-1] == _bare(before, after) and new["version"] == old["version"] + 1
        self._must(is_next, "entry {}: its trail was rewritten: {}, {}", entry_id, before, after)
        end = after[-1]
        changed = {name for name in {*old, *new} if old.get(name) != new.get(name)}
        wrong = changed - CHANGES - ENDS[end["what"]]
        self._must(not wrong, "entry {}, {}: {} changed", entry_id, end["what"], wrong)
        if end["what"] == "withdrawn":
            self._is_taken_back(entry_id, to_ms(end["at"]))
        ends = [each["what"] for each in after]
        self._must(len(ends) == len(set(ends)), "entry {} came to an end twice: {}", entry_id, ends)
        is_human = end["by"].startswith("human:")
        self._must(
            is_human or end["what"] not in HUMANS_ONLY, "entry {} was {} by {}", entry_id, end["what"], end["by"]
        )
        is_let = is_human or end["what"] != "superseded" or not new["posted_by"].startswith("human:")
        self._must(is_let, "decision {} of a human was replaced by {}", entry_id, end["by"])
        replaced = [each["entry"] for each in after if "entry" in each]
        self._must(len(replaced) < 2, "decision {} was replaced by {}", entry_id, replaced)

    def _is_taken_back(self, entry_id: str, at_ms: int) -> None:
        """Notes it if it shows so late that a pack may have been made before, by a clock that was further."""
        furthest_ms = BEGIN_MS + self._sim.now_ms + self._sim.habits.skew_ms
        if furthest_ms - at_ms > LATE_MS:
            self._late_ms[entry_id] = at_ms

    def ends_of(self, entry_id: str) -> set[str] | None:
        """None if it isn't there."""
        return self._ends.get(entry_id)

    def is_told(self, task_id: str, began: int, memory: ClaimMemory) -> None:
        """A claimer hears what has ended since the work was handed off, and nothing that was taken back before."""
        never = 1 << 60
        shown = [each.id for each in memory.memories if self._gone_at.get(each.id, never) < began]
        self._must(not shown, "{}: its claimer is shown {}, which were taken back", task_id, shown)
        if memory.snapshot is None or memory.drift is None:
            return
        told = {each.decision.id for each in memory.drift.decisions}
        over = {each for each in memory.snapshot.decision_ids if self._over_at.get(each, never) < began}
        is_known = not self._sim.habits.is_in_time or over <= told  # it looks for what has changed since, by clocks
        self._must(is_known, "{}: its claimer isn't told that {} hold no more", task_id, over - told)
        odd = told - self._over_at.keys()
        self._must(not odd, "{}: its claimer is told that {} hold no more, and they do", task_id, odd)

    def ids(self) -> set[str]:
        return set(self._ends)

    def shown(self) -> set[str]:
        """What a search may find: all but what was taken back or deleted."""
        return {entry_id for entry_id, ends in self._ends.items() if not {"withdrawn", "deleted"} & ends}

    def is_shown(self) -> None:
        """When all is quiet: every view has exactly what holds, and what replaced a decision names it."""
        views = defaultdict[str, set[str]](set)
        entries = dict(self._entries())
        for entry_id, entry in entries.items():
            for replaced in [each["entry"] for each in entry["changes"] if "entry" in each]:
                is_named = entries.get(replaced, {}).get("supersedes") == entry_id
                self._must(is_named, "{} has replaced {}, and doesn't name it", replaced, entry_id)
            for scope in _line(entry["scope"]) if _holds(entry) else ():
                where = "HERE" if scope == entry["scope"] else "BELOW"
                view = views[f"{entry['entry_type']}#{scope}"]
                view.add(f"{where}#{entry_id}")
                if entry["posted_by"].startswith("human:"):
                    view.add(f"{where}#~{entry_id}")
        shown = self._views(f"{PREFIX}VIEW#")
        self._must(shown == dict(views), "the views show {}, and {} hold", shown, dict(views))

    def is_found(self) -> None:
        """When all is quiet: a search that begins now finds what is shown, and nothing else but what was taken back too
        late for a pack (docs/decisions/081); no pack that it could begin with has a word of what was deleted."""
        entries = dict(self._entries())
        for last_id, ids in self._packs():
            deleted = {each for each in ids if "deleted" in _ends(entries[each])}
            self._must(not deleted, "the pack up to {} has what was deleted: {}", last_id, deleted)
        shown = self.shown()
        found = {each.entry_id for each in self._sim.found_anew(Question(text=SUMMARY, limit=len(entries) + 1))}
        self._must(found - self._passed_over() == shown, "a search finds {}, and {} are shown", found, shown)

    def _passed_over(self) -> set[str]:
        """What is in a pack though it was taken back: it showed late, as a change of before those that are read."""
        packs = item_of(self._sim.dynamo.items.get(f"{PREFIX}BOARD-PACKS", {}).get("LIST"))
        read_from_ms = to_ms(packs["merged_at"]) - LATE_MS if packs else 0
        packed = {each for _, ids in self._packs() for each in ids}
        return {each for each, at_ms in self._late_ms.items() if at_ms < read_from_ms and each in packed}

    def _packs(self) -> Iterator[tuple[str, list[str]]]:
        for sk, wire in self._sim.dynamo.items.get(f"{PREFIX}BOARD-PACKS", {}).items():
            if "contents" in wire:
                said = json.loads(zlib.decompress(bytes(wire["contents"]["B"])))
                yield sk, [row[0] for row in said["entries"]]

    def _views(self, prefix: str) -> dict[str, set[str]]:
        partitions = self._sim.dynamo.indexes["queue"].shown
        return {
            pk.removeprefix(prefix): {sk for sk, _ in rows}
            for pk, rows in partitions.items()
            if pk.startswith(prefix) and rows
        }

    def _entries(self) -> Iterator[tuple[str, Item]]:
        for shard in range(SHARDS):
            for sk, wire in self._sim.dynamo.items.get(f"{PREFIX}BOARD#{shard}", {}).items():
                if entry := item_of(wire):
                    yield sk, entry


def _ends(entry: Item) -> set[str]:
    return {each["what"] for each in entry["changes"]}


def _holds(entry: Item) -> bool:
    is_over = bool({"withdrawn", "deleted"} & _ends(entry))
    return entry["entry_type"] in IN_VIEW and not is_over and entry.get("status") in (None, "active")


def _line(scope: str) -> list[str]:
    parts = [] if scope == "project" else scope.split("/")
    return ["project", *("/".join(parts[:length]) for length in range(1, len(parts) + 1))]


def _bare(before: list[Item], after: list[Item]) -> list[Item]:
    """A deletion takes the reasons out."""
    if after and after[-1]["what"] == "deleted":
        return [{name: value for name, value in each.items() if name != "reason"} for each in before]
    return before

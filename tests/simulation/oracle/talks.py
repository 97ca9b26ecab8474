"""Who holds a conversation: always one, and whoever says more says it to that one."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from simulation.oracle.ledger import ENDED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simulation.oracle.ledger import Item, Ledger
    from simulation.oracle.verdict import Verdict
    from simulation.simulation import Simulation


class Talks:
    def __init__(self, sim: Simulation, verdict: Verdict, ledger: Ledger) -> None:
        self._sim, self._ledger = sim, ledger
        self._must = verdict.must
        # By task: what the user said next, and at which step each was let begin.
        self._followed: dict[str, str] = {}
        self._let_at: dict[str, int] = {}
        # By task: the number of the next message, and the fence of the run that has the transcript.
        self._next: dict[str, int] = {}
        self._taken_by: dict[str, int] = {}

    def is_said(self, task_id: str, old: Item | None, new: Item | None) -> None:
        """A transcript only grows, at its end, and never by a run after a later one has taken it. A repeat of an entry
        changes nothing, and a run that takes the transcript leaves its seal where the next entry comes."""
        if new is None or (old is not None and "kind" in old):
            same = {name: value for name, value in (new or {}).items() if name != "written_by"}
            is_same = same == {name: value for name, value in (old or {}).items() if name != "written_by"}
            self._must(is_same, "{}: an entry of its transcript was rewritten", task_id)
            return
        fence, had = new.get("fence", 0), self._taken_by.get(task_id, 0)
        self._must(fence >= had, "{}: run {} adds to what run {} has taken", task_id, fence, had)
        self._taken_by[task_id] = fence
        if "kind" in new:
            here = self._next.get(task_id, 1)
            self._must(new["first"] == here, "{}: message {} comes as its {}", task_id, here, new["first"])
            self._next[task_id] = here + max(self._messages(new), 1)

    def _messages(self, entry: Item) -> int:
        """One for each block and for each message beside the blocks."""
        content = json.loads(entry["content"])
        return len(content["blocks"]) + len(content["told"])

    def is_let(self, head: Item) -> None:
        """Before that nothing can come of it."""
        if head.get("ready_at") is None and not head.get("fence"):
            self._let_at.pop(head["id"], None)
        else:
            self._let_at.setdefault(head["id"], self._sim.steps)

    def is_followed(self, task_id: str, next_id: str) -> None:
        """By what the user said next: to the agent that had it, once that is through with it and nobody else has it."""
        holder, after = self._ledger.heads[task_id], self._ledger.heads[next_id]
        self._must(holder["state"] in ENDED, "{}: the user says more, and it goes on", task_id)
        agent = holder.get("target_agent") or (holder.get("takers") or [None])[-1]
        to = after.get("target_agent")
        self._must(to == agent, "{}: the user says more to {}, and {} has the conversation", task_id, to, agent)
        others = [each for each in self._next_of(task_id) if each != next_id and self._has_it(each, holder)]
        self._must(not others, "{}: the user says more beside {}, which have the conversation", task_id, others)
        self._may_speak(task_id)
        self._followed[task_id] = next_id

    def _may_speak(self, task_id: str) -> None:
        """An agent in conversations that it has a part in; to work on a separate part of one is none."""
        request = self._sim.current.process.request
        if request is None or request.name != "say" or request.by.kind != "agent":
            return
        slug, heads = request.by.id, self._ledger.heads
        parts = (heads[each] for each in self._walked(heads[task_id].get("master_task_id", task_id)))
        has_part = any(
            slug in {head["source_agent"], head.get("target_agent"), *head.get("takers", ())}
            or head["created_by"] == request.by.key
            for head in parts
        )
        self._must(has_part, "{}: {} speaks, who has no part in it", task_id, slug)

    def _walked(self, root_id: str) -> set[str]:
        """What the conversation has gone through, or may have."""
        walked, looking = set[str](), [root_id]
        while looking:
            at = looking.pop()
            if at not in walked and at in self._ledger.heads:
                walked.add(at)
                looking += self._next_of(at)
        return walked

    def _has_it(self, task_id: str, holder: Item) -> bool:
        """What is tried anew after the user began to say more is beside the conversation."""
        is_early = self._let_at.get(task_id, 0) <= self._sim.current.process.began_at
        return not self.is_nobodys(task_id) and (is_early or task_id in holder.get("successors", []))

    def is_holder(self, began: int, overview: Any) -> None:
        """When it was asked for, or since."""
        holder = overview.holder.id
        later = [each for each in self._next_of(holder) if self._let_at.get(each, began + 1) <= began]
        left = [each for each in later if not self.is_nobodys(each)]
        self._must(not left, "{} is said to hold its conversation, and went on in {}", holder, left)

    def is_nobodys(self, task_id: str) -> bool:
        """A message that was never approved, or open work that ended before anybody took it: the conversation goes on
        with another in its place."""
        head = self._ledger.heads[task_id]
        was_let = head.get("ready_at") is not None
        return head.get("fence", 0) == 0 and (not was_let or ("target_agent" not in head and head["state"] in ENDED))

    def _next_of(self, task_id: str) -> Iterator[str]:
        head = self._ledger.heads[task_id]
        if task_id in self._followed:
            yield self._followed[task_id]
        if head["state"] == "done":
            yield from head.get("successors", [])
        yield from (each["id"] for each in self._ledger.heads.values() if each.get("retry_of") == task_id)

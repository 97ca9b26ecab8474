"""What humans set up: each change is a version of its own, and work goes where a route said."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from simulation.oracle.ledger import Item
    from simulation.oracle.verdict import Verdict
    from simulation.simulation import Simulation


# What every change of the settings changes.
BOOKKEEPING = {"version", "updated_at", "updated_by", "written_by"}


class Registry:
    def __init__(self, sim: Simulation, verdict: Verdict) -> None:
        self._sim = sim
        self._must = verdict.must
        # By type of work: each version, and at which step it was written.
        self._routes: dict[str, list[tuple[int, Item]]] = defaultdict(list)

    def is_version(self, name: str, sk: str, old: Item | None, new: Item | None) -> None:
        """Kept as it was."""
        self._must(old is None and new, "{}: {} was rewritten", name, sk)

    def is_next(self, name: str, old: Item | None, new: Item | None) -> None:
        before, after = (old or {}).get("version", 0), (new or {}).get("version")
        self._must(after == before + 1, "{} went from version {} to {}", name, before, after)

    def is_routed(self, work_type: str, old: Item | None, new: Item | None) -> None:
        self.is_next(f"route {work_type}", old, new)
        if new:
            self._routes[work_type].append((self._sim.steps, new))

    def is_taken(self, task_id: str, head: Item) -> None:
        """Who asked named no target: so it is a route's, as they may have seen it."""
        process = self._sim.current.process
        if process.request is None or process.request.name != "hand off by route":
            return
        routes, began = self._routes[head["work_type"]], process.began_at
        seen = [each for at, each in routes if at <= began][-1:] + [each for at, each in routes if at > began]
        targets = {each["agent"] for each in seen if not each.get("removed")}
        self._must(head.get("target_agent") in targets, "{}: routed to {}", task_id, head.get("target_agent"))

    def are_changed_as_asked(self, old: Item | None, new: Item | None) -> None:
        """Of two who change the settings at once neither undoes what the other has changed."""
        request, before, after = self._sim.current.process.request, old or {}, new or {}
        if request is not None and request.asked is not None:
            changed = {name for name in {*before, *after} if before.get(name) != after.get(name)}
            odd = changed - request.asked - BOOKKEEPING
            self._must(not odd, "who changed {} of the settings has changed {}, too", set(request.asked), odd)

    def is_let_in(self, token_id: str, *, is_revoked: bool) -> None:
        self._must(not is_revoked, "token {} is taken, and was revoked", token_id)

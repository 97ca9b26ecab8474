"""Lists that are answered from the workspace's watch: that nothing has changed is true, and what is made anew has all
that the stream had told by then."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simulation.oracle.items import item_of
from simulation.ports import WORKSPACE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from baton.ports.paging import Page
    from simulation.oracle.verdict import Verdict
    from simulation.simulation import Simulation

MAX_SKEW_MS = 5_000
# Within which the product takes an index to have caught up: five seconds, and clocks that differ by both.
MAX_LAG_MS, MAX_SKEW_OF_LISTS_MS = 2_000, 1_000
TASK = f"WS#{WORKSPACE}#TASK#"


class Sights:
    """``edition``: by what an answer is known to hold still."""

    def __init__(self, sim: Simulation, verdict: Verdict) -> None:
        self._sim = sim
        self._must = verdict.must
        # From when to when the stream told of a change; by task: the entries that it told of, and by when.
        self._told_at: list[tuple[int, int]] = []
        self._told: dict[str, list[tuple[int, int]]] = {}
        self._made: dict[Any, int] = {}

    def are_told(self, began: int, images: Sequence[Any]) -> None:
        """By the stream, since then, and nothing went wrong with it."""
        step = self._sim.steps
        heads = [item_of(image) or {} for image in images if image["pk"]["S"].startswith(TASK)]
        for head in heads:
            task_id = head["pk"].removeprefix(TASK)
            self._told.setdefault(task_id, []).append((step, head["seq"]))
        if heads:
            self._told_at.append((began, step))

    def is_known(self, edition: Any, began: int) -> bool:
        made = self._made.get(edition)
        if made is None:
            return False
        if self._sim.habits.skew_ms <= MAX_SKEW_MS:
            between = [each for each in self._told_at if made < each[0] and each[1] < began]
            self._must(not between, "nothing is said to have changed, and the stream told of it at {}", between)
        self._sim.oracle.ledger.seen["304"] += 1
        return True

    def is_made(self, edition: Any, began: int, page: Page) -> None:
        self._made[edition] = began
        habits = self._sim.habits
        if habits.lag_ms > MAX_LAG_MS or habits.skew_ms > MAX_SKEW_OF_LISTS_MS or page.cursor is not None:
            return
        today = self._sim.clock.now().date().isoformat()
        found = {task.id: task.meta.seq for task in page.items}
        for task_id, told in self._told.items():
            latest = max((seq for step, seq in told if step < began), default=0)
            is_of_today = self._sim.oracle.ledger.heads[task_id]["created_at"][:10] == today
            is_there = found.get(task_id, 0) >= latest
            self._must(is_there or not is_of_today, "{}: entry {} was told, and its list is older", task_id, latest)

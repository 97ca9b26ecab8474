"""What was answered with a 2xx is there: an alert, an entry of the blackboard, an answer from outside, what a human has
dealt with, what an agent has acknowledged. Nothing of it is ever deleted, as the rules for writes say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from baton.domain.alerts.alert import Alert
from baton.domain.escalations.review import Review
from baton.domain.memory.entry import Entry
from baton.services.tasks.approve_many import ApprovalResult
from simulation.oracle.items import item_of
from simulation.ports import WORKSPACE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from baton.domain.tasks.calls import Seen
    from simulation.oracle.ledger import Item, Ledger
    from simulation.oracle.verdict import Verdict
    from simulation.requests import Request
    from simulation.simulation import Simulation

# The second where others have to approve, too.
APPROVALS = ("approved", "approval_given")
ENDED_BY = {"withdraw": {"withdrawn", "deleted"}, "delete": {"deleted"}}


class Accepted:
    def __init__(self, sim: Simulation, verdict: Verdict, ledger: Ledger) -> None:
        self._sim, self._ledger = sim, ledger
        self._must = verdict.must

    def is_there(self, request: Request, value: Any) -> None:
        if request.posted is not None:
            self._is_brought(*request.posted)
        for each in value if isinstance(value, tuple) else (value,):
            if isinstance(each, Alert):
                self._alert(each)
            elif isinstance(each, Entry):
                self._entry(request, each)
            elif isinstance(each, Review):
                self._review(each)
            elif isinstance(each, ApprovalResult):
                self._approval(request, each)

    def are_acknowledged(self, slug: str, ids: Iterable[str]) -> None:
        """By the agent, which has seen them."""
        left = self._ledger.listed["INBOX", slug].keys() & set(ids)
        self._must(not left, "inbox of {}: {} were acknowledged, and are there", slug, left)

    def is_approved_as_seen(self, task_id: str, seen: Seen) -> None:
        """And the trail says so."""
        fold = self._ledger.folds[task_id]
        is_same = seen.revision in (None, fold.get("revision", 1)) and seen.digest in (None, fold.get("digest"))
        self._must(is_same, "{}: approved as {}, and it is another", task_id, seen)
        told = [each["data"].get("seen") for each in self._ledger.trails[task_id] if each["type"] in APPROVALS]
        self._must(seen.digest in told, "{}: approved as {}, and its trail tells of {}", task_id, seen, told)

    def _is_brought(self, waits_for: tuple[str, int], content: Any) -> None:
        """To whoever goes on with the task. A second answer is refused."""
        brought = self._ledger.resume_payload.get(waits_for) or {}
        is_brought = "callback" in brought and brought["callback"] == content
        self._must(is_brought, "{}: {} was accepted, and {} is brought", waits_for, content, brought)

    def _alert(self, alert: Alert) -> None:
        item = self._item("ALERTS", alert.id)
        self._must(item, "alert {} was answered, and isn't there", alert.id)
        told = {"acknowledged_at": alert.acknowledged_at, "resolved_at": alert.resolved_at}
        lacking = [name for name, at in told.items() if at is not None and name not in (item or {})]
        self._must(not lacking, "alert {} was answered with {}, and isn't so", alert.id, lacking)

    def _entry(self, request: Request, entry: Entry) -> None:
        ends = self._sim.oracle.board.ends_of(entry.id)
        self._must(ends is not None, "entry {} was answered, and isn't there", entry.id)
        wanted = ENDED_BY.get(request.name)
        self._must(
            not wanted or wanted & (ends or set()),
            "{} of entry {} was answered, it has {}",
            request.name,
            entry.id,
            ends,
        )

    def _review(self, review: Review) -> None:
        """As it is now, or as it was before it was asked for again, which opens it."""
        item = self._item("REVIEWS", review.id) or {"version": 0}
        told = {"released_at": review.released_at, "closed_at": review.closed_at}
        is_now = item["version"] <= review.version
        lacking = [name for name, at in told.items() if at is not None and name not in item] if is_now else []
        is_there = item["version"] >= review.version and not lacking
        self._must(is_there, "review {} was answered with {}, and isn't so", review.id, lacking)

    def _approval(self, request: Request, result: ApprovalResult) -> None:
        """A repeat is told of each task what it was told first, refusals included."""
        if result.details is not None:
            told: tuple[Any, ...] = (result.details.task.state, result.details.task.meta.seq)
        else:
            told = (type(result.refusal).__name__,)
        if not request.is_keyed or told == ("Busy",):
            return
        first = request.parts.setdefault(result.task_id, told)
        self._must(told == first, "{}: a repeat of its approval was told {}, not {}", result.task_id, told, first)

    def _item(self, kind: str, sk: str) -> Item | None:
        return item_of(self._sim.dynamo.item((f"WS#{WORKSPACE}#{kind}", sk)))

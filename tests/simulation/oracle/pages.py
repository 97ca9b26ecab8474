"""What people see of a task in the tracker: one page, its last state, each comment once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulation.oracle.items import item_of
from simulation.oracle.ledger import ENDED
from simulation.ports import BEGIN, WORKSPACE
from simulation.tracker import BOT, US

if TYPE_CHECKING:
    from simulation.oracle.ledger import Item, Ledger
    from simulation.oracle.verdict import Verdict
    from simulation.simulation import Simulation
    from simulation.tracker import Page

WORDS = {
    "needs": "Not started",
    "delegated": "Not started",
    "next": "Not started",
    "claimed": "In progress",
    "waiting": "In progress",
    "done": "Done",
    "failed": "Failed",
    "rejected": "Rejected",
    "cancelled": "Cancelled",
}
CLOSING = {"Done": "done", "Closed": "done", "Cancelled": "cancelled"}
BEGIN_MS = int(BEGIN.timestamp() * 1000)
BY_PERSON = "notion:"


class Pages:
    def __init__(self, sim: Simulation, verdict: Verdict, ledger: Ledger) -> None:
        self._sim, self._ledger = sim, ledger
        self._must = verdict.must

    def is_made(self, task_id: str) -> None:
        self._must(not self._sim.tracker.of_task(task_id), "{}: a second page is made", task_id)

    def is_commented(self, page: Page, text: str) -> None:
        self._must(text not in page.comments, "{}: a second comment: {}", page.task_id, text)

    def is_held(self, page_id: str, old: Item | None, new: Item | None) -> None:
        """A page is the task's that it was made for, for good; or that was made of it."""
        page = self._sim.tracker.pages[page_id]
        if new and not page.task_id:
            page.task_id, page.is_imported = new["task"], True
        owner = page.task_id
        self._must(new and new["task"] == owner, "page {} is held by {}, and is of {}", page_id, new, owner)

    def is_ended_there(self, task_id: str, by: str, state: str) -> None:
        """By a person whose word it was."""
        words = [word for page in self._all_of(task_id) for _, who, word in page.edits if who == by]
        meant = {CLOSING.get(word) for word in words}
        self._must(state in meant, "{}: ended by {} in the tracker, who set it to {}", task_id, by, words)
        self._must(by not in (US, BOT), "{}: ended by {}, which is no person", task_id, by)

    def is_told(self, task_id: str, before: str | None, after: str, at_ms: int) -> None:
        """The task's trail moves on: when the page must last have changed is kept."""
        if before is None or WORDS[before] != WORDS[after]:
            self._ledger.worded_ms[task_id] = at_ms - BEGIN_MS

    def show_everything(self, *, is_mended: bool) -> None:
        """When all is quiet. ``is_mended``: what was given up has been tried again."""
        for task_id, head in self._ledger.heads.items():
            if head.get("mirrored"):
                self._shows(task_id, head, is_mended=is_mended)

    def _shows(self, task_id: str, head: Item, *, is_mended: bool) -> None:
        pages, row = self._all_of(task_id), self._row(task_id)
        if any(page.in_trash for page in pages) or (row["status"] == "dead" and not is_mended):
            return
        about = f"{task_id} ({head['state']}, {row['status']})"
        self._must(len(pages) == 1, "{} has {} pages", about, len(pages))
        self._must("due_ms" not in row and "sender" not in row, "{}: its page is still to be sent", about)
        is_left = "wake_sk" not in row
        self._must(is_left == (head["state"] in ENDED), "{}: its page has a place: {}", about, not is_left)
        for page in pages:
            self._is_last(page, head, about)
            self._is_heard(page, head, about)
            self._tells_its_end(page, head, about)

    def _is_last(self, page: Page, head: Item, about: str) -> None:
        """The task's state, or what somebody else has made of the page since; also where the state has come back
        meanwhile to the one that the page was last written for: as far as Baton knows, where whoever wrote it later
        died before saying so. A page on which the task was ended stays theirs, whoever comes after that person and
        before Baton learns of it; so does one that was closed before its import, also if a person has opened it and
        Baton could only tell them that the task has ended."""
        at, by, word = page.edits[-1]
        is_later = at >= self._ledger.worded_ms[page.task_id] - 2 * self._sim.habits.skew_ms
        # Where somebody else has set what Baton would have, Baton has nothing to write.
        ours_too = WORDS[head["state"]]
        *_, earlier, last = [
            None,
            WORDS["needs"],
            *(each for _, who, each in page.edits if who == US or each == ours_too),
        ]
        shown = WORDS.get(self._row(page.task_id).get("shown_state", ""))
        ours = earlier if shown == earlier else last
        was_closed_before = page.is_imported and (
            word in CLOSING or _is_told_beside(page) or self._was_closed_at_its_import(page.task_id)
        )
        is_left_to_them = self._was_ended_there(page.task_id) or was_closed_before
        is_shown = word == WORDS[head["state"]]
        is_theirs = by != US and (is_later or is_left_to_them or ours == WORDS[head["state"]])
        self._must(is_shown or is_theirs, "{}: its page says {} by {}", about, word, by)

    def _is_heard(self, page: Page, head: Item, about: str) -> None:
        """A person's closing ends the task, unless others have edited the page too: Baton may know only that
        an editor set its status, and an alert states it. A page that was closed before its import ends its task by the
        repeat of an import that was cut short."""
        _, by, word = page.edits[-1]
        row = self._row(page.task_id)
        looks_as_imported = page.is_imported and row.get("is_settled") and row.get("page_status") == word
        is_closed = by not in (US, BOT) and word in CLOSING
        others = {who for _, who, _ in page.edits} - {US, by}
        is_in_doubt = "closed_by_bot" in head.get("flags", ()) and bool(others)
        is_heard = head["state"] in ENDED or is_in_doubt or looks_as_imported
        self._must(not is_closed or is_heard, "{}: {} has set it to {}, and it goes on", about, by, word)

    def _tells_its_end(self, page: Page, head: Item, about: str) -> None:
        said = [text for text in page.comments if text.split(" ")[0].rstrip(".").lower() == head["state"]]
        wants = head["state"] in ENDED and not self._was_ended_there(head["id"])
        is_told = len(said) == wants or (page.is_imported and not said)  # it may have been closed before
        self._must(is_told, "{}: its end is told by {}", about, page.comments)

    def _was_ended_there(self, task_id: str) -> bool:
        return task_id in self._ledger.ended_in_tracker

    def _was_closed_at_its_import(self, task_id: str) -> bool:
        """Whoever has changed it since."""
        reason = self._ledger.trails[task_id][-1]["data"].get("reason") or ""
        return str(reason).endswith("when it was imported")

    def _row(self, task_id: str) -> Item:
        row = item_of(self._sim.dynamo.item((f"WS#{WORKSPACE}#TASK#{task_id}", "MIRROR")))
        self._must(row, "{} has no row in the outbox", task_id)
        return row or {"status": "dead"}

    def _all_of(self, task_id: str) -> list[Page]:
        return [page for page in self._sim.tracker.pages.values() if page.task_id == task_id]


def _is_told_beside(page: Page) -> bool:
    """Whoever opened the page is told that its task stays ended: it may have ended before that or just after, as edits
    are known by their minute."""
    return page.edits[0][2] in CLOSING and any("stays ended" in text for text in page.comments)

"""A tracker that answers at once: what a handoff costs beside Notion's own time."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from baton.domain.settings.tracker_settings import STATUSES, TrackerSettings
from baton.domain.times import EPOCH
from baton.domain.tracker.page_changes import Editor, PageSnapshot
from baton.domain.tracker.page_fields import PageFields
from baton.domain.tracker.page_sync import PageRef
from baton.ports.tracker import TrackerProblem, WrittenPage

PAGE = PageRef("0b5e0f9c-5d1c-4f0e-9d51-7a0e4c1d2b3a", "https://www.notion.so/Handoff-0b5e0f9c5d1c4f0e9d517a0e4c1d2b3a")


class InstantTracker:
    def __init__(self) -> None:
        self.status: str | None = None

    def create(self, page_fields: PageFields) -> WrittenPage:
        return self.update(PAGE.id, page_fields)

    def find(self, page_fields: PageFields) -> tuple[PageRef, ...]:  # noqa: ARG002
        return ()

    def update(self, page_id: str, page_fields: PageFields) -> WrittenPage:  # noqa: ARG002
        self.status = STATUSES[page_fields.state]
        return WrittenPage(PAGE, self.status)

    def comment(self, page_id: str, text: str, *, unless_there: bool) -> None:
        pass

    def tasks_named(self, page_id: str) -> frozenset[str]:  # noqa: ARG002
        return frozenset()

    def reach(self) -> None:
        pass

    def look(self, page_id: str) -> PageSnapshot:
        return PageSnapshot(
            page_id=page_id,
            url=PAGE.url,
            title="",
            status=self.status,
            in_trash=False,
            created_at=EPOCH,
            edited_at=EPOCH,
            edited_by="us",
            by_us=True,
        )

    def who(self, user_id: str) -> Editor:
        return Editor(user_id, is_person=False)

    def changed_since(self, since: datetime) -> Iterator[PageSnapshot]:  # noqa: ARG002
        return iter(())

    def created_since(self, since: datetime, title: str) -> Iterator[PageSnapshot]:  # noqa: ARG002
        return iter(())

    def problems(self) -> tuple[TrackerProblem, ...]:
        return ()


class InstantTrackers:
    name = "Notion"

    def __init__(self) -> None:
        self.tracker = InstantTracker()

    def of(self, workspace: str, settings: TrackerSettings, budget_seconds: float) -> InstantTracker:  # noqa: ARG002
        return self.tracker

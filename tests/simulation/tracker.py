"""A tracker such as Notion: its pages, what people do to them, and what goes wrong on the way to it."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import count
from typing import TYPE_CHECKING, TypeVar

from baton.domain.errors import PageBusy, PageGone, PageRefused, TrackerAway, TrackerDenies
from baton.domain.tracker.page_changes import Editor, PageSnapshot
from baton.domain.tracker.page_sync import PageRef
from baton.ports.tracker import WrittenPage
from simulation.ports import BEGIN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime

    from baton.domain.settings.tracker_settings import TrackerSettings
    from baton.domain.tracker.page_fields import PageFields
    from baton.ports.tracker import TrackerProblem
    from simulation.simulation import Simulation

T = TypeVar("T")
DATABASE, WEBHOOK_TOKEN = "d" * 32, "webhook-token"
US, BOT = "us", "bot"
# How long after its call a request may still take effect, and how far the index lags.
LATE_MS, INDEX_MS = 15_000, 120_000
FAULTS = ("throttle", "away", "denied", "busy", "lost", "lost", "late", "late")


@dataclass
class Page:
    id: str
    # Empty while it is nobody's, as one that a person made.
    task_id: str
    title: str
    created_ms: int
    # From when the index shows it, and from when as it is.
    findable_ms: int
    shown_ms: int
    # Of its status, the latest last: when, by whom, and what it was set to.
    edits: list[tuple[int, str, str]]
    comments: list[str] = field(default_factory=list)
    in_trash: bool = False
    is_imported: bool = False

    @property
    def status(self) -> str:
        return self.edits[-1][2]

    @property
    def edited_by(self) -> str:
        return self.edits[-1][1]

    @property
    def edited_ms(self) -> int:
        return self.edits[-1][0]

    @property
    def ref(self) -> PageRef:
        return PageRef(self.id, f"https://pages.example/{self.id}")

    def seen(self) -> PageSnapshot:
        return PageSnapshot(
            page_id=self.id,
            url=self.ref.url,
            title=self.title,
            status=self.status,
            in_trash=self.in_trash,
            created_at=_minute(self.created_ms),
            edited_at=_minute(self.edited_ms),
            edited_by=self.edited_by,
            by_us=self.edited_by == US,
            task_id=None if self.is_imported else self.task_id or None,
            status_column="status",
        )


class SimulatedTracker:
    """The database. ``away_until_ms``: an outage."""

    name = "Notion"

    def __init__(self, sim: Simulation) -> None:
        self._sim = sim
        self._numbers = count(1)
        self.pages: dict[str, Page] = {}
        self.away_until_ms = 0

    def of(self, workspace: str, settings: TrackerSettings, budget_seconds: float) -> Errand:
        return Errand(self._sim, self, settings, self._sim.now_ms + int(budget_seconds * 1000))

    def of_task(self, task_id: str) -> list[Page]:
        """Those that are not in the trash."""
        return [page for page in self.pages.values() if page.task_id == task_id and not page.in_trash]

    def newest_ms(self) -> int:
        """When the last change of a page could be seen by whoever looks for changes, before everything where there was
        none."""
        return max((max(page.edited_ms, page.shown_ms) for page in self.pages.values()), default=-1)

    def edited(self, page: Page, by: str, status: str) -> None:
        page.edits.append((self._sim.now_ms, by, status))
        page.shown_ms = self._sim.now_ms + self._lag_ms()

    def made(self, page_fields: PageFields, status: str) -> Page:
        self._sim.oracle.pages.is_made(page_fields.task_id)
        return self.added(page_fields.title, US, status, page_fields.task_id)

    def added(self, title: str, by: str, status: str, task_id: str = "") -> Page:
        page_id, now_ms = f"{next(self._numbers):032x}", self._sim.now_ms
        shown_ms = now_ms + self._lag_ms()
        page = Page(page_id, task_id, title, now_ms, shown_ms, shown_ms, [(now_ms, by, status)])
        self.pages[page_id] = page
        return page

    def fault(self) -> str:
        sim = self._sim
        if sim.fault_source.is_calm:
            return ""
        if sim.now_ms < self.away_until_ms:
            return "away"
        if not sim.chance.happens(max(sim.habits.fault_share, 0.02) * 2):
            return ""
        fault = sim.pick(FAULTS)
        if fault == "away" and sim.draw(2):
            self.away_until_ms = sim.now_ms + sim.draw(600_000)
        return sim.fault_source.happened(f"tracker {fault}").removeprefix("tracker ")

    def _lag_ms(self) -> int:
        return 0 if self._sim.fault_source.is_calm or self._sim.draw(2) else self._sim.draw(INDEX_MS)


@dataclass(frozen=True, slots=True)
class Errand:
    """The port ``Tracker``."""

    sim: Simulation
    tracker: SimulatedTracker
    settings: TrackerSettings
    until_ms: int

    def create(self, page_fields: PageFields) -> WrittenPage:
        word = self.settings.status_for(page_fields.state)

        def made() -> WrittenPage:
            return WrittenPage(self.tracker.made(page_fields, word).ref, word)

        return self._call("create", page_fields.task_id, made, writes=True)

    def find(self, page_fields: PageFields) -> tuple[PageRef, ...]:
        def found() -> tuple[PageRef, ...]:
            pages = self.tracker.of_task(page_fields.task_id)
            return tuple(page.ref for page in pages if page.findable_ms <= self.sim.now_ms)

        return self._call("find", page_fields.task_id, found)

    def update(self, page_id: str, page_fields: PageFields) -> WrittenPage:
        word = self.settings.status_for(page_fields.state)

        def updated() -> WrittenPage:
            page = self._page(page_id)
            if page.in_trash:
                raise PageRefused("in the trash")
            self.tracker.edited(page, US, word)
            return WrittenPage(page.ref, word)

        return self._call("update", page_fields.task_id, updated, writes=True)

    def comment(self, page_id: str, text: str, *, unless_there: bool) -> None:
        if unless_there and self._call("comments", page_id, lambda: text in self._page(page_id).comments):
            return
        self._call("comment", page_id, lambda: self._commented(page_id, text), writes=True)

    def tasks_named(self, page_id: str) -> frozenset[str]:
        return self._call("tasks named", page_id, lambda: frozenset({self._page(page_id).task_id} - {""}))

    def reach(self) -> None:
        self._call("reach", "", lambda: None)

    def look(self, page_id: str) -> PageSnapshot:
        return self._call("look", page_id, lambda: self._page(page_id).seen())

    def who(self, user_id: str) -> Editor:
        return self._call("who", user_id, lambda: Editor(user_id, user_id not in (US, BOT), user_id.upper()))

    def changed_since(self, since: datetime) -> Iterator[PageSnapshot]:
        """Not what the index doesn't show yet."""

        def changed() -> list[PageSnapshot]:
            pages = [page for page in self.tracker.pages.values() if not page.in_trash]
            seen = [page.seen() for page in pages if page.shown_ms <= self.sim.now_ms]
            recent = [each for each in seen if each.edited_at >= since.replace(second=0, microsecond=0)]
            return sorted(recent, key=lambda each: each.edited_at)

        yield from self._call("changed", "", changed)

    def created_since(self, since: datetime, title: str) -> Iterator[PageSnapshot]:
        def created() -> list[PageSnapshot]:
            pages = [page for page in self.tracker.pages.values() if page.title.startswith(title) and not page.in_trash]
            seen = [page.seen() for page in pages if page.findable_ms <= self.sim.now_ms]
            return [each for each in seen if each.created_at >= since]

        yield from self._call("created", "", created)

    def problems(self) -> tuple[TrackerProblem, ...]:
        return self._call("problems", "", tuple)

    def _page(self, page_id: str) -> Page:
        if page_id not in self.tracker.pages:
            raise PageGone("gone")
        return self.tracker.pages[page_id]

    def _commented(self, page_id: str, text: str) -> None:
        page = self._page(page_id)
        self.sim.oracle.pages.is_commented(page, text)
        page.comments.append(text)

    def _call(self, what: str, about: str, effect: Callable[[], T], *, writes: bool = False) -> T:
        """Nothing is asked for any more once the errand's time is over; what was asked for may happen unheard."""
        sim = self.sim
        if sim.now_ms >= self.until_ms:
            raise TrackerAway("no time is left")
        sim.fault_source.call(f"tracker {what}", about, may_fail=False, slow_ms=1_500)
        fault = self.tracker.fault()
        if fault == "throttle":
            raise TrackerAway("too many requests", retry_after=1 + sim.draw(90))
        if fault == "away":
            raise TrackerAway("away")
        if fault == "denied":
            raise TrackerDenies("denied")
        if fault == "busy" and writes:
            raise PageBusy("busy")
        if fault == "late" and writes:
            sim.spawn("tracker's ghost", lambda: _unheard(effect), sim.now_ms + sim.draw(LATE_MS))
            raise TrackerAway("no answer", unclear=True)
        value = effect()
        if not sim.fault_source.is_calm:
            sim.fault_source.rest(f"tracker {what}.rest", about)
        if fault in ("lost", "late") or sim.now_ms >= self.until_ms:
            raise TrackerAway("no answer", unclear=writes)
        return value


def _unheard(effect: Callable[[], object]) -> None:
    with suppress(PageGone, PageRefused):
        effect()


def _minute(ms: int) -> datetime:
    """Times are told by the minute."""
    return (BEGIN + timedelta(milliseconds=ms)).replace(second=0, microsecond=0)

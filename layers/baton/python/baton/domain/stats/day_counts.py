"""The counts of one direction and one day (UTC): what its tasks took that ended then."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime

from baton.domain.stats.histogram import Histogram, added, counted
from baton.domain.task_state import State
from baton.domain.tasks.spans import Span, SpanKind
from baton.domain.tasks.task import Task

OUTCOMES = (State.DONE, State.FAILED, State.REJECTED, State.CANCELLED)
# What is measured: how long the task waited for people, those who answer its questions too; for a worker; was at work.
PHASES: Mapping[str, frozenset[SpanKind]] = {
    "person": frozenset({SpanKind.PERSON, SpanKind.ANSWERS}),
    "worker": frozenset({SpanKind.WORKER}),
    "work": frozenset({SpanKind.WORK}),
}
OPEN_WORK = "*"  # the target of open work that nobody has taken
# An item of one KB costs one write unit. What is kept of the latest tasks is cut for it.
ONE_UNIT_BYTES = 1_000
# A task's beginning is counted with its end, if there are at most so many days between: each hour takes room.
DAYS_OF_BEGINNINGS = 2


@dataclass(frozen=True, slots=True, order=True)
class DayPlace:
    """Where a task's end is counted."""

    workspace: str
    day: date
    source: str
    target: str


def place_of(task: Task) -> DayPlace:
    """``task`` has ended: then nothing changes it any more, so its last change is its end."""
    return DayPlace(task.workspace, task.meta.updated_at.date(), task.source_agent, task.agent or OPEN_WORK)


@dataclass(frozen=True, slots=True, kw_only=True)
class EndFigures:
    """What is counted of one task that has ended."""

    task_id: str
    began_at: datetime | None = None
    ended_at: datetime
    outcome: State
    seconds: Mapping[str, float] = field(default_factory=dict)  # phase → how long, of the phases that it went through
    recoveries: int = 0  # leases that were lost
    retries: int = 0  # attempts that failed, and were followed by another
    tokens: int = 0


def figures_of(task: Task, spans: Iterable[Span], tokens: int = 0) -> EndFigures:
    """``spans``: of its trail; none if that can't be read, or is too long: then the end alone is counted."""
    seconds: dict[str, float] = {}
    recoveries = retries = 0
    for span in spans:
        for phase, kinds in PHASES.items():
            if span.kind in kinds:
                seconds[phase] = seconds.get(phase, 0.0) + span.seconds(task.meta.updated_at)
        recoveries += span.is_lost
        retries += span.is_retried
    return EndFigures(
        task_id=task.id,
        began_at=task.created_at,
        ended_at=task.meta.updated_at,
        outcome=task.state,
        seconds=seconds,
        recoveries=recoveries,
        retries=retries,
        tokens=tokens,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class DayCounts:
    place: DayPlace
    version: int = 0  # rises with every write; 0 before the first
    hours: Mapping[int, Sequence[int]] = field(default_factory=dict)  # hour → how many ended, in the order of OUTCOMES
    begun: Histogram = field(default_factory=dict)  # hour from the day's first one on → how many of them began then
    phases: Mapping[str, Histogram] = field(default_factory=dict)
    recoveries: int = 0
    retries: int = 0
    tokens: int = 0
    failed_at: datetime | None = None
    failed_id: str | None = None  # the task that failed last
    # Tasks that were counted, as far as it may not be known elsewhere yet.
    latest: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """About the bytes that it takes in the table."""
        told = (
            *map(_hour_text, self.hours.items()),
            *map(histogram_text, (self.begun, *self.phases.values())),
            *self.latest,
        )
        names = f"{self.place.workspace}{self.place.source}{self.place.target}"
        return sum(len(text.encode()) + 1 for text in told) + len(names.encode()) + 200

    def with_ended(self, ended: Sequence[EndFigures], forgotten: Collection[str] = ()) -> DayCounts:
        """Returns the counts with these tasks, which aren't counted yet. ``forgotten``: of ``latest``, that are known
        elsewhere."""
        latest = (*(each for each in self.latest if each not in forgotten), *(each.task_id for each in ended))
        hours = {hour: list(counts) for hour, counts in self.hours.items()}
        for each in ended:
            hours.setdefault(each.ended_at.hour, [0] * len(OUTCOMES))[OUTCOMES.index(each.outcome)] += 1
        phases = {
            phase: added(
                self.phases.get(phase, {}), counted(each.seconds[phase] for each in ended if phase in each.seconds)
            )
            for phase in PHASES
        }
        begun = Counter(hour for each in ended if (hour := self._hour_of(each.began_at)) is not None)
        failures = [(each.ended_at, each.task_id) for each in ended if each.outcome is State.FAILED]
        if self.failed_at is not None and self.failed_id is not None:
            failures.append((self.failed_at, self.failed_id))
        failed_at, failed_id = max(failures, default=(None, None))
        return replace(
            self,
            version=self.version + 1,
            hours=hours,
            begun=added(self.begun, begun),
            phases=phases,
            recoveries=self.recoveries + sum(each.recoveries for each in ended),
            retries=self.retries + sum(each.retries for each in ended),
            tokens=self.tokens + sum(each.tokens for each in ended),
            failed_at=failed_at,
            failed_id=failed_id,
            latest=latest,
        )

    def _hour_of(self, began_at: datetime | None) -> int | None:
        """Negative on the days before; None of a beginning that isn't counted."""
        if began_at is None or (self.place.day - began_at.date()).days > DAYS_OF_BEGINNINGS:
            return None
        return began_at.hour - 24 * (self.place.day - began_at.date()).days


def hours_text(hours: Mapping[int, Sequence[int]]) -> str:
    """Returns ``9:12.1 10:3``: in the hour from 9 twelve were done, and one failed."""
    return " ".join(map(_hour_text, sorted(hours.items())))


def hours_from(text: str) -> dict[int, list[int]]:
    found = {}
    for hour, _, told in (each.partition(":") for each in text.split()):
        counts = list(map(int, told.split(".")))
        found[int(hour)] = counts + [0] * (len(OUTCOMES) - len(counts))
    return found


def histogram_text(of: Histogram) -> str:
    return " ".join(f"{bucket}:{of[bucket]}" for bucket in sorted(of))


def histogram_from(text: str) -> dict[int, int]:
    return {int(bucket): int(count) for bucket, _, count in (each.partition(":") for each in text.split())}


def _hour_text(told: tuple[int, Sequence[int]]) -> str:
    hour, counts = told
    shown = list(counts)
    while len(shown) > 1 and not shown[-1]:
        shown.pop()
    return f"{hour}:{'.'.join(map(str, shown))}"

"""A workspace in the middle of a busy month, put straight into a table in the items of the product's store."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from random import Random
from typing import Any

from baton.adapters.dynamodb.alerts.alert_items import alert_item
from baton.adapters.dynamodb.table import to_wire
from baton.domain.access.principal import Principal, PrincipalKind
from baton.domain.agents.agent import Agent
from baton.domain.alerts.alert import Alert, Severity
from baton.domain.ids import handoff_id_of, sortable_id, workflow_id_of
from baton.domain.priority import Priority
from baton.domain.settings.settings import Settings
from baton.domain.stats.day_counts import DayCounts, DayPlace, EndFigures, figures_of, place_of
from baton.domain.stats.decision import decision_in
from baton.domain.task_state import State
from baton.domain.tasks import commands
from baton.domain.tasks.calls import Seen
from baton.domain.tasks.digests import message_digest
from baton.domain.tasks.spans import spans_of
from baton.domain.tasks.task import Task, TaskMeta
from baton.domain.tasks.transitions import Dispatch, create
from baton.ports.deps import Deps
from baton.services.agents.register_agent import register_agent
from tools.bench.lives import Item, Life, put

PEOPLE = ("alice", "bob", "carol")
SLUGS = ("scout", "auditor", "release-notes", "support", "invoices", "importer", "qa", "deploys", "search", "billing")
DIRECTIONS, DAYS = 40, 30
VERBS = ("Check", "Repair", "Write up", "Compare", "Roll out", "Measure", "Read", "Answer", "Move", "Review")
THINGS = ("the lock file", "the invoices", "the importer", "the release notes", "the index", "the login form", "a log")
NEEDLE = "needle"  # in the title of one task of the first day
TEAMS = ("team=blue", "team=green", "client=4711", "release=2.4")
# Of a hundred of today's: how many wait for a person, for a worker, are at work. The others have ended.
NEEDS, READY, HELD = 8, 3, 2
FAILED, CANCELLED = 3, 2
A_DAY = timedelta(days=1)
AT_ONCE = Settings(dispatch_delay_seconds=0)


@dataclass
class Month:
    """``in_all`` tasks of ``days`` days, ``today`` of them of the last one, and a chain of ``chained`` besides. It is
    the same each time. ``chain_task``: in the middle of the chain."""

    deps: Deps
    human: Principal
    client: Any
    table: str
    in_all: int
    today: int
    days: int = DAYS
    chained: int = 200
    alerts: int = 300
    chain_task: str = ""
    agents: dict[str, Agent | None] = field(default_factory=dict)
    directions: list[tuple[str, str]] = field(default_factory=list)
    _random: Random = field(default_factory=lambda: Random(7))  # noqa: S311 - the same each time
    _counts: dict[DayPlace, list[EndFigures]] = field(default_factory=lambda: defaultdict(list))

    def fill(self) -> Month:
        for slug in SLUGS:
            register_agent(self.deps, self.human, slug, {"name": slug})
        self.agents = {slug: self.deps.store.agents.agent(self.human.workspace, slug) for slug in SLUGS}
        pairs = [(one, other) for one in SLUGS for other in SLUGS if one != other]
        self.directions = self._random.sample(pairs, DIRECTIONS)
        now = self.deps.clock.now()
        put(self.client, self.table, self._chain(now))
        put(self.client, self.table, (to_wire(alert_item(each)) for each in self._alerts(now)))
        put(self.client, self.table, self._tasks(now))
        for place, ended in self._counts.items():
            self.deps.store.stats.put_counts(replace(DayCounts(place=place).with_ended(ended), latest=()))
        return self

    def _tasks(self, now: datetime) -> Iterator[Item]:
        midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
        for day in range(self.days):
            count = (self.in_all - self.today) // (self.days - 1) if day else self.today
            begins, length = midnight - day * A_DAY, A_DAY if day else now - midnight
            for number in range(count):
                at = begins + length * ((number + self._random.random()) / count)
                word = NEEDLE if number == 0 and day == self.days - 1 else "order"
                life = self._begun(at, number, word=word)
                self._lived(life, at, now, day)
                yield from life.stored()
                self._decided(life, number)

    def _begun(self, at: datetime, number: int, parent: Task | None = None, word: str = "order") -> Life:
        source, target = self._random.choice(self.directions)
        id_ = sortable_id("task", at, self._random.randbytes(10))
        labels = tuple(self._random.sample(TEAMS, self._random.choice((0, 0, 1, 2))))
        title = f"{self._random.choice(VERBS)} {self._random.choice(THINGS)} of {word} {number * 7919 % 100_000:05d}"
        new = Task(
            workspace=self.human.workspace,
            id=id_,
            state=State.NEEDS,
            title=title,
            kind="transfer",
            source_agent=source,
            target_agent=target,
            priority=self._random.choice(list(Priority)),
            handoff_id=handoff_id_of(id_),
            master_task_id=id_ if parent is None else parent.master_task_id,
            workflow_id=workflow_id_of(id_) if parent is None else parent.workflow_id,
            parent_id=None if parent is None else parent.id,
            depth=1 if parent is None else parent.depth + 1,
            created_at=at,
            created_by=f"agent:{source}",
            meta=TaskMeta(updated_at=at, labels=labels),
        )
        body = {
            "source": {"agent": source, "phase": "done"},
            "target": {"agent": target, "reason": title},
            "summary": f"{title}: what was found is in the notes, and what is left to do stands below.",
            "context": {"variables": {"branch": f"order-{number}", "tries": number % 5}},
        }
        new = new.changed(digest=message_digest(new, body))
        by = Principal(self.human.workspace, PrincipalKind.AGENT, source)
        change = create(new, by, at, Dispatch(self.agents[target], AT_ONCE))
        change = replace(change, body=body)
        return Life(change.task, change, change).after(change)

    def _lived(self, life: Life, at: datetime, now: datetime, day: int) -> None:
        """The task's life until now. Of earlier days' all have ended; of today's some wait or are at work."""
        draw = self._random.randrange(100)
        fate = "ended" if day else next((name for name, most in _FATES.items() if draw < most), "ended")
        if fate == "needs":
            return
        task, left, person = life.task, now - at, self._person()
        step = min(left / 8, timedelta(seconds=self._random.lognormvariate(5.5, 1)))
        if draw >= 100 - CANCELLED:
            life.do(commands.Cancel(by=person, reason="no longer needed"), at + step)
            self._counted(life, now)
            return
        agent = self.agents[task.target_agent or ""]
        seen = Seen(task.revision, task.digest)
        life.do(commands.Approve(by=person, seen=seen, agent=agent, settings=AT_ONCE), at + step)
        if fate == "ready":
            return
        worker, claim = Principal(task.workspace, PrincipalKind.AGENT, task.target_agent or ""), f"clm_{task.id}"
        lease = commands.ClaimTask(by=worker, agent=worker.id, worker="laptop-3", claim_id=claim, lease_seconds=3_600)
        life.do(lease, max(at + 3 * step, now - timedelta(seconds=60)) if fate == "held" else at + 3 * step)
        if fate == "held":
            return
        if draw >= 100 - CANCELLED - FAILED:
            failure = {"type": "error", "description": "The order is gone"}
            life.do(commands.Fail(by=worker, claim_id=claim, failure=failure), at + 6 * step)
        else:
            life.do(commands.Complete(by=worker, claim_id=claim), at + 6 * step)
        self._counted(life, now)

    def _person(self) -> Principal:
        return replace(self.human, id=self._random.choice(PEOPLE))

    def _counted(self, life: Life, now: datetime) -> None:
        self._counts[place_of(life.task)].append(figures_of(life.task, spans_of(life.events, now)))

    def _decided(self, life: Life, number: int) -> None:
        """What people decide on: a record for each tenth task, 300 a day and more."""
        for told in life.told if number % 10 == 0 else ():
            if decision := decision_in(told, life.task):
                self.deps.store.stats.put_decision(decision)

    def _chain(self, now: datetime) -> Iterator[Item]:
        """A root, ten branches, and what follows each of them."""
        at = max(now - timedelta(hours=3), now.replace(hour=0, minute=0, second=0))
        root = self._begun(at, 0)
        lives, tips = [root], [root] * 10
        for number in range(1, self.chained):
            at_ = at + (now - at) * (number / self.chained)
            life = self._begun(at_, number, tips[number % 10].task)
            tips[number % 10] = life
            lives.append(life)
        for life in lives:
            self._lived(life, life.task.created_at, now, 1)
            yield from life.stored()
        self.chain_task = lives[len(lives) // 2].task.id

    def _alerts(self, now: datetime) -> Iterator[Alert]:
        for number in range(self.alerts):
            at = now - A_DAY * (number / self.alerts)
            severity = (Severity.CRITICAL, Severity.WARNING, Severity.INFO)[min(2, number % 25)]
            yield Alert(
                workspace=self.human.workspace,
                id=sortable_id("alert", at, self._random.randbytes(10)),
                kind=("disk_full", "waits_long", "lost_often")[number % 3],
                severity=severity,
                message=f"Order {number}: it has waited for longer than an hour, and nobody has looked at it yet.",
                task_id=self.chain_task,
                raised_by="service:sweeper",
                raised_at=at,
            )


_FATES = {"needs": NEEDS, "ready": NEEDS + READY, "held": NEEDS + READY + HELD}

"""The switch-over: handoffs that exist only in the tracker become tasks, and count in their directions
(docs/spec/marker.md §4)."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import date
from itertools import islice

from baton.domain import errors
from baton.domain.access.principal import Principal
from baton.domain.access.rights import Deed
from baton.domain.agents.agent import Agent, Roster
from baton.domain.idempotency import IdempotencyKey
from baton.domain.ids import handoff_id_of, workflow_id_of
from baton.domain.priority import Priority
from baton.domain.settings.settings import Settings
from baton.domain.settings.tracker_settings import TrackerSettings
from baton.domain.task_state import State
from baton.domain.tasks import commands
from baton.domain.tasks.digests import message_digest
from baton.domain.tasks.task import Task, TaskMeta
from baton.domain.tasks.transitions import Dispatch, imported
from baton.domain.tracker import page_changes
from baton.domain.tracker.page_sync import PageLink, PageRef, adopted
from baton.ports.deps import Deps
from baton.ports.tracker import Tracker
from baton.ports.writes import Insert, OpenEscalation, Save
from baton.steps import idempotency
from baton.steps.retrying import retry_on_conflict
from baton.steps.tasks.change_task import TaskRequest, change_task, commit

BUDGET_SECONDS = 20.0
BATCH = 50
MOST_SKIPPED = 50
PREFIX = "Handoff: "
TITLE = re.compile(r"Handoff: (?P<source>.+) → (?P<target>.+) — (?P<due>\d{4}-\d\d-\d\d)\Z")


class NoHandoff(Exception):
    """The page isn't a handoff; the message says why."""


@dataclass
class Imported:
    """The result of an import."""

    opened: int = 0  # pages that became open tasks
    closed: int = 0  # pages that became ended tasks
    known: int = 0  # pages that belong to a task already
    # the first pages that look like handoffs and aren't, with the reason
    skipped: list[dict[str, str]] = field(default_factory=list)
    complete: bool = True  # False if time ran out: call again


def import_tracker(
    deps: Deps, by: Principal, may_go_on: Callable[[], bool], idempotency_key: IdempotencyKey | None = None
) -> Imported:
    """Reads all pages of the window's handoffs. A page is imported once, so the import may be stopped anywhere and
    repeated. Raises ``NoTracker`` and ``TrackerTrouble``."""
    by.must_have(Deed.IMPORT_TRACKER)
    saved = idempotency.saved_so_far(deps, idempotency_key)
    if saved is not None:
        return Imported(**saved)
    settings = deps.store.settings.of(by.workspace)
    if settings.tracker is None:
        raise errors.NoTracker
    tracker = deps.trackers.of(by.workspace, settings.tracker, BUDGET_SECONDS)
    pages = tracker.created_since(deps.clock.now() - settings.window, PREFIX)
    importer = Importer(deps, by, settings, settings.tracker, deps.store.agents.roster(by.workspace), tracker)
    try:
        while importer.tally.complete and (batch := list(islice(pages, BATCH))):
            importer.take(batch, may_go_on)
    except (errors.TrackerTrouble, errors.Busy) as trouble:
        if importer.tally == Imported():
            raise
        importer.tally.complete = False  # the finished part stands, and is reported
        deps.log("an import was cut short", action="import_cut_short", reason=trouble.code)
    if idempotency_key and importer.tally.complete:
        return Imported(**idempotency.save_first_response(deps, idempotency_key, asdict(importer.tally)))
    return importer.tally


@dataclass
class Importer:
    deps: Deps
    by: Principal
    workspace: Settings
    settings: TrackerSettings
    roster: Roster
    tracker: Tracker
    tally: Imported = field(default_factory=Imported)

    def take(self, batch: list[page_changes.PageSnapshot], may_go_on: Callable[[], bool]) -> None:
        holders = self.deps.store.tracker.page_holders(self.by.workspace, [seen.page_id for seen in batch])
        for seen in batch:
            if not may_go_on():
                self.tally.complete = False
                return
            if seen.page_id in holders:
                self.tally.known += 1
                self._end_if_closed(holders[seen.page_id], seen)
            else:
                self._import(seen)

    def _import(self, seen: page_changes.PageSnapshot) -> None:
        try:
            agents = self._agents(seen.title)
            if seen.task_id or self.tracker.tasks_named(seen.page_id):
                # Baton's own, of another workspace or not saved yet: its sender will find it.
                self.tally.known += 1
                return
            task_id = retry_on_conflict(self.deps, lambda: self._make(agents, seen))
        except NoHandoff as reason:
            if len(self.tally.skipped) < MOST_SKIPPED:
                self.tally.skipped.append({"title": seen.title[:200], "reason": str(reason)})
        except errors.PageHeld:
            self.tally.known += 1
        else:
            is_open = self.settings.meaning(seen.status) is None
            self.tally.opened += is_open
            self.tally.closed += not is_open
            self._end_if_closed(task_id, seen)

    def _agents(self, title: str) -> tuple[Agent, Agent, date]:
        """Source and target of an exact title, and its date. Raises ``NoHandoff``."""
        match = TITLE.match(title)
        if match is None:
            raise NoHandoff("the title isn't 'Handoff: <source> → <target> — <YYYY-MM-DD>'")
        source, target = (self.roster.active_named(match[name]) for name in ("source", "target"))
        if source is None or target is None:
            raise NoHandoff(f"no active agent is called {match['source' if source is None else 'target']!r}")
        if source.slug == target.slug:
            raise NoHandoff("source and target are the same agent")
        try:
            return source, target, date.fromisoformat(match["due"])
        except ValueError as exc:
            raise NoHandoff(f"{match['due']} is not a day of the calendar") from exc

    def _make(self, agents: tuple[Agent, Agent, date], seen: page_changes.PageSnapshot) -> str:
        """Writes task, direction and page in one transaction. The task waits for a human: nobody approved it here."""
        source, target, due = agents
        deps, workspace, now = self.deps, self.by.workspace, self.deps.clock.now()
        direction = deps.store.escalations.marker_inputs(workspace, (source.slug, target.slug), None).direction
        task_id = deps.ids.new("task", now)
        handoff_id = handoff_id_of(task_id)
        new = Task(
            workspace=workspace,
            id=task_id,
            state=State.NEEDS,
            title=seen.title,
            kind="escalation",
            source_agent=source.slug,
            target_agent=target.slug,
            priority=Priority.P1,
            due_date=due,
            handoff_id=handoff_id,
            master_task_id=task_id,
            workflow_id=workflow_id_of(task_id),
            created_at=now,
            created_by=self.by.key,
            meta=TaskMeta(updated_at=now, mirrored=True),
        )
        body = {"handoff_id": handoff_id, "kind": "escalation", "text": f"Imported from {seen.url}"}
        dispatch = Dispatch(target, self.workspace, roster=self.roster)
        change = imported(new.changed(digest=message_digest(new, body)), self.by, now, seen.url, dispatch)
        is_closed = self.settings.meaning(seen.status) is not None
        sync = adopted(change.task, PageRef(seen.page_id, seen.url), seen.status, is_closed=is_closed)
        counted = OpenEscalation(direction, task_id, min(seen.created_at, now), direction.forgettable(now))
        link = Insert(PageLink(seen.page_id, task_id), errors.PageHeld)
        commit(deps, replace(change, body=body), counted, Save(sync), link)
        return task_id

    def _end_if_closed(self, task_id: str, seen: page_changes.PageSnapshot) -> None:
        """Ends the task of a closed page, in a transaction of its own, as one transaction can't write a direction
        twice. If it is lost, the next import does it."""
        meaning = self.settings.meaning(seen.status)
        sync = self.deps.store.tracker.page_sync(self.by.workspace, task_id) if meaning else None
        if meaning is None or sync is None or not sync.is_settled:
            return
        reason = f"was {seen.status!r} in {self.deps.trackers.name} when it was imported"
        end = commands.Resolve if meaning is State.DONE else commands.Cancel
        with suppress(errors.TaskEnded):
            change_task(self.deps, TaskRequest(self.by.workspace, task_id), lambda _: end(by=self.by, reason=reason))

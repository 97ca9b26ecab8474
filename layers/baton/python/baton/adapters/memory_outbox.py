"""The part of the memory store that is about the tracker."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from baton.adapters.memory_registry import MemoryRegistry, page
from baton.domain.errors import Conflict, PageHeld
from baton.domain.gate import Gate
from baton.domain.mirror import Sync
from baton.domain.times import to_ms
from baton.ports import (
    GateSaved,
    MirrorBehind,
    MirrorOpened,
    MirrorSaved,
    PageReported,
    PageTaken,
    WebhookSaved,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from baton.domain.mirror import Mirror
    from baton.domain.task import Task
    from baton.domain.tracker import TrackerSettings
    from baton.domain.webhook import Webhook
    from baton.ports import Extra, Page, Tracker


class MemoryOutbox(MemoryRegistry):
    def __init__(self) -> None:
        super().__init__()
        self._mirrors: dict[tuple[str, str], Mirror] = {}
        self._pages: dict[tuple[str, str], str] = {}
        self._gates: dict[str, Gate] = {}
        self._webhooks: dict[str, Webhook] = {}

    def mirror(self, workspace: str, task_id: str) -> Mirror | None:
        with self._lock:
            return self._mirrors.get((workspace, task_id))

    def mirrors(self, workspace: str, task_ids: Sequence[str]) -> dict[str, Mirror]:
        with self._lock:
            return {row.task_id: row for row in self._rows(workspace) if row.task_id in task_ids}

    def mirrors_due(self, workspace: str, now: datetime) -> Iterator[str]:
        with self._lock:
            due = [(row.due_at, row.task_id) for row in self._rows(workspace) if row.due_at and row.due_at <= now]
        for _, task_id in sorted(due):
            yield task_id

    def mirrors_waiting(self, workspace: str, limit: int) -> int:
        with self._lock:
            return min(limit, sum(row.due_at is not None for row in self._rows(workspace)))

    def dead_mirrors(self, workspace: str, limit: int, cursor: str | None) -> Page:
        with self._lock:
            dead = [row for row in self._rows(workspace) if row.due_at is None and row.status is Sync.DEAD]
        return page({f"{to_ms(row.since):015d}#{row.task_id}": row for row in dead}, limit, cursor)

    def page_holders(self, workspace: str, page_ids: Sequence[str]) -> dict[str, str]:
        with self._lock:
            found = {page_id: self._pages.get((workspace, _bare(page_id))) for page_id in page_ids}
        return {page_id: task_id for page_id, task_id in found.items() if task_id is not None}

    def gate(self, workspace: str) -> Gate:
        with self._lock:
            return self._gates.get(workspace, Gate(workspace=workspace))

    def gates_due(self, now: datetime) -> Iterator[str]:
        with self._lock:
            due = [
                (gate.wake_at, gate.workspace) for gate in self._gates.values() if gate.wake_at and gate.wake_at <= now
            ]
        for _, workspace in sorted(due):
            yield workspace

    def webhook(self, workspace: str) -> Webhook | None:
        with self._lock:
            return self._webhooks.get(workspace)

    def _rows(self, workspace: str) -> list[Mirror]:
        return [row for (owner, _), row in self._mirrors.items() if owner == workspace]

    def _check_outbox(self, workspace: str, extra: Extra) -> None:
        """Raises what the condition of the extra's write would."""
        match extra:
            case MirrorSaved(mirror):
                _must_follow(self._mirrors.get((workspace, mirror.task_id)), mirror.version, "mirror")
            case GateSaved(gate):
                _must_follow(self._gates.get(workspace), gate.version, "gate")
            case WebhookSaved(webhook):
                _must_follow(self._webhooks.get(workspace), webhook.version, "webhook")
            case PageTaken(page_id, task_id):
                if self._pages.get((workspace, _bare(page_id)), task_id) != task_id:
                    raise PageHeld
            case _:
                pass

    def _write_outbox(self, workspace: str, task: Task | None, extra: Extra) -> None:
        match extra:
            case MirrorOpened(mirror) | MirrorSaved(mirror):
                self._mirrors[workspace, mirror.task_id] = mirror
            case MirrorBehind(at) if task is not None:
                row = self._mirrors[workspace, task.id]
                self._mirrors[workspace, task.id] = replace(row, wanted=task.seq, due_at=at, version=row.version + 1)
            case PageReported(task_id, at):
                row = self._mirrors[workspace, task_id]
                after = replace(row, looks=row.looks + 1, due_at=at, version=row.version + 1)
                self._mirrors[workspace, task_id] = after
            case PageTaken(page_id, task_id):
                self._pages[workspace, _bare(page_id)] = task_id
            case GateSaved(gate):
                self._gates[workspace] = gate
            case WebhookSaved(webhook):
                self._webhooks[workspace] = webhook
            case _:
                pass


class MemoryTrackerBell:
    """Keeps its bells for a test to look at or deliver."""

    def __init__(self) -> None:
        self.bells: list[tuple[str, str | None, int]] = []

    def ring(self, workspace: str, task_id: str | None = None, delay_seconds: int = 0) -> None:
        self.bells.append((workspace, task_id, delay_seconds))


class NoTrackers:
    """Where no workspace has a tracker, nobody may ask for one."""

    def of(self, workspace: str, settings: TrackerSettings, budget_seconds: float) -> Tracker:  # noqa: ARG002
        raise ValueError(workspace)


class MemorySecrets:
    def __init__(self) -> None:
        self.tokens: dict[str, str] = {}

    def put(self, workspace: str, token: str) -> None:
        self.tokens[workspace] = token

    def get(self, workspace: str, *, afresh: bool = False) -> str | None:  # noqa: ARG002
        return self.tokens.get(workspace)


def _must_follow(held: Mirror | Gate | Webhook | None, version: int, what: str) -> None:
    if (held.version if held else 0) != version - 1:
        raise Conflict(what)


def _bare(page_id: str) -> str:
    return page_id.replace("-", "").lower()

"""Notes, reviews, tokens and the tracker's records, and functions that put them into a store."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from baton.domain.access.principal import ACT_AS, PrincipalKind
from baton.domain.access.session import session_of
from baton.domain.access.token import Token
from baton.domain.access.workspace_change import ChangeSubject, WorkspaceChange
from baton.domain.agents.route import Route
from baton.domain.alerts.alert import Alert, Severity
from baton.domain.escalations.direction import Direction
from baton.domain.escalations.review import Review
from baton.domain.ids import RANDOM_BYTES, sortable_id
from baton.domain.memory.entry import ChangedEntry, DecisionStatus, Entry, EntryType
from baton.domain.tasks.task_items import Note
from baton.domain.times import seconds
from baton.domain.tracker.page_sync import PageRef, PageSync
from baton.domain.tracker.tracker_circuit import TrackerCircuit
from baton.domain.tracker.webhook import Webhook
from baton.ports.store import Store
from baton.ports.writes import Insert, OpenReview, Save
from support.clock import NOON
from support.worlds.world import WORKSPACE


def a_note(number: int = 1, about: str = "task_1") -> Note:
    return Note(about, f"note_{number:02d}", NOON + seconds(number), "human:alice", {"escalation_reason": "again"})


def a_review(number: int = 1, workspace: str = WORKSPACE, **values: Any) -> Review:
    usual: dict[str, Any] = {
        "workspace": workspace,
        "id": f"review_{number:02d}",
        "reason": "escalation_cap",
        "source_agent": "scout",
        "target_agent": "auditor",
        "request": {"escalation_reason": "third time"},
        "requested_by": "agent:scout",
        "opened_at": NOON + seconds(number),
        "last_at": NOON + seconds(number),
    }
    return Review(**{**usual, **values})


def a_token(number: int = 1, **values: Any) -> Token:
    usual: dict[str, Any] = {
        "id": f"01hzzzzz{number:02d}",
        "workspace": WORKSPACE,
        "kind": PrincipalKind.SERVICE,
        "subject": "ci",
        "scopes": frozenset({ACT_AS}),
        "digest": "d" * 64,
        "created_at": NOON,
        "created_by": "human:alice",
    }
    return Token(**{**usual, **values})


def a_session(number: int = 3, parent: int = 1, workspace: str = WORKSPACE, **values: Any) -> Token:
    opened = session_of(
        a_token(parent, workspace=workspace, kind=PrincipalKind.HUMAN, subject="bob"),
        f"01hzzzzz{number:02d}",
        "e" * 64,
        NOON,
    )
    return replace(opened, **values)


def a_change(number: int = 1, workspace: str = WORKSPACE, **values: Any) -> WorkspaceChange:
    usual: dict[str, Any] = {
        "workspace": workspace,
        "id": f"chg_{number:02d}",
        "at": NOON + seconds(number),
        "by": "human:alice",
        "credential": {"token": "t1"},
        "subject": ChangeSubject.SETTINGS,
        "names": ("groups",),
        "before": {"groups": {}},
        "after": {"groups": {"leads": ["ann"]}},
    }
    return WorkspaceChange(**{**usual, **values})


def an_alert(number: int = 1, workspace: str = WORKSPACE, **values: Any) -> Alert:
    usual: dict[str, Any] = {
        "workspace": workspace,
        "id": f"alert_{number:02d}",
        "kind": "disk-full",
        "severity": Severity.WARNING,
        "message": "The disk is full.",
        "raised_by": "agent:auditor",
        "raised_at": NOON + seconds(number),
    }
    return Alert(**{**usual, **values})


def a_route(work_type: str = "audit", **values: Any) -> Route:
    """Returns a route in its first version."""
    usual: dict[str, Any] = {
        "workspace": WORKSPACE,
        "work_type": work_type,
        "agent": "auditor",
        "version": 1,
        "updated_at": NOON,
        "updated_by": "human:alice",
    }
    return Route(**{**usual, **values})


def add_alert(store: Store, number: int, workspace: str = WORKSPACE, **values: Any) -> Alert:
    alert = an_alert(number, workspace, **values)
    store.commit(workspace, Save(alert))
    return alert


def add_review(store: Store, number: int, workspace: str = WORKSPACE, **values: Any) -> Review:
    """Stores a review of a direction of its own."""
    target = f"auditor-{number}"
    review = a_review(number, workspace, target_agent=target, **values)
    direction = Direction(workspace, "scout", target)
    store.commit(workspace, Save(review), OpenReview(direction, review.id), Insert(a_note(number, about=review.id)))
    return review


def add_token(store: Store, number: int, workspace: str = WORKSPACE) -> Token:
    token = a_token(number, workspace=workspace)
    store.tokens.add_token(token)
    return token


PAGE_ID = "1f0a5a5e-28f4-4bb5-9d9e-0c1d2e3f4a5b"


def a_page(page_id: str = PAGE_ID) -> PageRef:
    return PageRef(page_id, f"https://www.notion.so/{page_id.replace('-', '')}")


def a_page_sync(task_id: str = "task_1", **values: Any) -> PageSync:
    """Returns a page sync for the task's first entry, with something to send since noon."""
    usual: dict[str, Any] = {"workspace": WORKSPACE, "task_id": task_id, "wanted": 1, "since": NOON, "due_at": NOON}
    return PageSync(**{**usual, **values})


def a_circuit(**values: Any) -> TrackerCircuit:
    """Returns a circuit that was saved once."""
    return TrackerCircuit(**{"workspace": WORKSPACE, "wake_at": NOON, "version": 1, **values})


def a_webhook(**values: Any) -> Webhook:
    usual: dict[str, Any] = {
        "workspace": WORKSPACE,
        "digest": "d" * 64,
        "opened_at": NOON,
        "opened_by": "human:alice",
    }
    return Webhook(**{**usual, **values})


def add_page_syncs(store: Store, *rows: PageSync) -> None:
    """Stores page syncs in their first version, without their tasks, many in one transaction."""
    for start in range(0, len(rows), 90):
        store.commit(rows[0].workspace, *map(Save, rows[start : start + 90]))


def a_board_entry(number: int = 1, workspace: str = WORKSPACE, **values: Any) -> Entry:
    """An entry of the blackboard, posted so many seconds after noon."""
    at = NOON + seconds(number)
    usual: dict[str, Any] = {
        "workspace": workspace,
        "id": sortable_id("ent", at, number.to_bytes(RANDOM_BYTES)),
        "scope": "project",
        "entry_type": EntryType.FINDING,
        "summary": f"finding {number}",
        "posted_by": "agent:scout",
        "posted_at": at,
    }
    if values.get("entry_type") is EntryType.DECISION:
        usual |= {"status": DecisionStatus.ACTIVE, "rationale": "it is simpler"}
    return Entry(**{**usual, **values})


def add_board_entries(store: Store, *entries: Entry) -> None:
    for each in entries:
        store.commit(each.workspace, Insert(each))


def a_changed_board_entry(number: int, entry: Entry) -> ChangedEntry:
    return ChangedEntry(entry.workspace, sortable_id("chg", NOON, number.to_bytes(RANDOM_BYTES)), entry.id)

"""Another workspace's things answer exactly like things that don't exist (invariant 10)."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from typing import Any

import pytest

from baton.domain.access.principal import PrincipalKind
from baton.domain.access.session import OpenSessions
from baton.domain.agents.liveness import MARKED_EVERY
from baton.domain.alerts.alert import AlertState
from baton.domain.errors import Conflict, PageHeld
from baton.domain.escalations.direction import Direction
from baton.domain.handoffs.workflow import JobKind
from baton.domain.idempotency import IdempotencyKey
from baton.domain.memory.entry import EntryType
from baton.domain.memory.entry_pack import EntryPack, PackList
from baton.domain.runs.transcript import TaskEntry
from baton.domain.settings.settings import Settings
from baton.domain.task_state import State
from baton.domain.tasks.calls import WorkerCall
from baton.domain.tasks.task_items import Note
from baton.domain.tasks.watch import Watch
from baton.domain.tracker.page_sync import PageLink, Sync
from baton.ports.access import Recorded
from baton.ports.handoffs import HandoffQuery
from baton.ports.store import Store
from baton.ports.writes import FinishJob, Insert, OpenEscalation, Put, Require, Save, SaveResponse, UnderClaim
from support.clock import NOON
from support.values.changes import claimed, new, queued, stored, then, with_output
from support.values.records import (
    PAGE_ID,
    a_board_entry,
    a_change,
    a_changed_board_entry,
    a_circuit,
    a_page_sync,
    a_route,
    a_session,
    a_token,
    a_webhook,
    add_alert,
    add_board_entries,
    add_review,
    add_token,
)
from support.values.runs import a_profile, a_step, a_tool, an_entry, fill_runs, spent
from support.values.stats import a_decision, some_counts
from support.values.task_items import a_job, fill_task_items
from support.values.tasks import a_new_task, an_agent
from support.worlds.world import agent, human

OURS, THEIRS = "acme", "acme-2"
PAIR = ("scout", "auditor")
DAY = date(2026, 11, 18)


def fill(store: Store, workspace: str) -> None:
    """One of everything, under the same ids in whatever workspace."""
    idempotency_key = IdempotencyKey(human(workspace), "/x", "key", "hash")
    change = replace(new("task_1", workspace=workspace, labels=("team=blue",)), body={}, begun_by="human:alice")
    extras: list[Any] = [
        OpenEscalation(Direction(workspace, *PAIR), "task_1", NOON),
        SaveResponse(idempotency_key, {}),
    ]
    row = Save(a_page_sync(workspace=workspace, look_at=NOON))
    store.commit(workspace, change, *extras, Insert(Note("task_1", "note_1", NOON, "x", {})), row)
    add_review(store, 1, workspace)
    task = claimed(store, "task_2", workspace=workspace)
    store.commit(workspace, with_output(then(task, state=State.DONE, claim=None), 1))
    queued(store, "task_3", workspace=workspace)
    fill_task_items(store, workspace)
    store.agents.save_agent(replace(an_agent(), workspace=workspace), store.agents.roster(workspace))
    store.contacts.mark_contact(workspace, "auditor", NOON, MARKED_EVERY)
    store.settings.save_settings(workspace, Settings(escalation_cap=9, version=1), human(workspace), NOON)
    add_token(store, len(workspace), workspace)
    bob = a_token(60 + len(workspace), workspace=workspace, kind=PrincipalKind.HUMAN, subject="bob")
    people = store.tokens.people(workspace)
    record = Recorded((a_change(workspace=workspace),), people=people.saved(people.named("bob").with_token(bob), NOON))
    store.tokens.add_token(bob, None, record)
    store.commit(workspace, Save(a_change(2, workspace=workspace).waiting("alert_1")))
    session = a_session(40 + len(workspace), len(workspace), workspace)
    store.sessions.add_session(session, OpenSessions(workspace, "bob").and_one(session.id))
    add_alert(store, 1, workspace, task_id="task_1")
    store.routes.save_route(a_route(workspace=workspace), store.routes.table(workspace))
    fill_runs(store, workspace)
    add_board_entries(store, a_board_entry(1, workspace, scope="src"), a_board_entry(2, workspace))
    store.commit(
        workspace, Save(PackList(workspace=workspace, until="ent_9", version=1)), Put(EntryPack(workspace, "ent_9"))
    )
    store.stats.put_counts(some_counts(workspace))
    store.stats.put_decision(a_decision(workspace))
    store.watches.ask_for_watch(workspace, Watch(began_at=NOON, asked_at=NOON))
    over = a_board_entry(2, workspace).withdrawn_by(human(workspace), NOON)
    store.commit(workspace, Save(over), Insert(a_changed_board_entry(1, over)))
    dead = Save(a_page_sync("task_2", workspace=workspace, due_at=None, status=Sync.DEAD))
    about_tracker = [Save(a_circuit(workspace=workspace)), Save(a_webhook(workspace=workspace))]
    store.commit(workspace, dead, Insert(PageLink(PAGE_ID, "task_2"), PageHeld), *about_tracker)


# Handoffs' facts one by one, as one that leaks mustn't hide behind another.
WANTED: dict[str, dict[str, Any]] = {
    "settings": {},
    "agent": {"agents": frozenset({"auditor"})},
    "route": {"work_type": a_route().work_type},
    "parent": {"parent_id": "task_1"},
    "count": {"workflow_id": "wf_1"},
    "roots": {"roots": PAIR},
}


def facts_of(wanted: dict[str, Any]) -> Callable[[Store, str], Any]:
    return lambda store, w: store.handoffs.handoff_inputs(w, HandoffQuery(**wanted))


READINGS: dict[str, Callable[[Store, str], Any]] = {
    "load": lambda store, w: store.tasks.load(w, "task_1"),
    "load with key": lambda store, w: store.tasks.load(w, "task_1", IdempotencyKey(human(w), "/x", "key", "hash")),
    "read": lambda store, w: store.tasks.read(w, "task_1", with_body=True),
    "read output": lambda store, w: store.tasks.read(w, "task_2").output,
    "read for claim": lambda store, w: store.tasks.read_for_claim(w, "task_1"),
    "receipt": lambda store, w: store.trail.receipt(store.tasks.load(w, "task_2")[0], "clm_1"),
    "saved_response": lambda store, w: store.saved_response(IdempotencyKey(human(w), "/x", "key", "hash")),
    "ready": lambda store, w: list(store.queues.ready(w, "auditor", NOON)[1]),
    "skills": lambda store, w: store.queues.ready(w, "auditor", NOON)[0],
    "open work": lambda store, w: list(store.queues.open_work(w, NOON)),
    "what was brought": lambda store, w: store.tasks.read(w, "task_5").resume_payload,
    "latest checkpoint": lambda store, w: store.tasks.read(w, "task_1").checkpoint,
    "run state": lambda store, w: store.tasks.read(w, "task_1").run_state,
    "checkpoints": lambda store, w: store.workflows.checkpoints(w, "wf_1", 10, None),
    "completion": lambda store, w: store.tasks.outcomes(w, ["task_7"]),
    "tasks": lambda store, w: store.tasks.many(w, ["task_1", "task_2"]),
    "papers": lambda store, w: list(store.tasks.papers(w, [a_new_task(workspace=w)], 10_000)),
    "bodies": lambda store, w: store.tasks.bodies(w, ["task_1"]),
    "workflow": lambda store, w: store.workflows.members(w, "wf_1"),
    "conversations": lambda store, w: store.conversations.begun(w, 10, None),
    "talk": lambda store, w: store.tasks.talk(w, ["task_1"]),
    "talks": lambda store, w: store.conversations.talks(w, ["wf_1"]),
    "held": lambda store, w: store.claims.held(w, "auditor"),
    "taken_slots": lambda store, w: store.claims.taken_slots(w, "auditor"),
    "late results": lambda store, w: store.trail.late_results(w, "task_5"),
    "inbox": lambda store, w: store.inboxes.inbox(w, "scout", 10, None),
    "job": lambda store, w: store.queues.job(w, JobKind.JOIN, "task_1"),
    "retry": lambda store, w: store.workflows.retry_of(w, "task_1"),
    "review request": lambda store, w: store.escalations.review_request(w, "review_01"),
    **{f"handoff facts, {name}": facts_of(wanted) for name, wanted in WANTED.items()},
    "needs": lambda store, w: store.queues.needs(w, 10, None),
    "events": lambda store, w: store.trail.events(w, "task_1", 0, 10),
    "notes": lambda store, w: store.tasks.notes(w, "task_1", 10),
    "tasks of agent": lambda store, w: store.lists.tasks_of_agent(w, "auditor", 10, None),
    "tasks of label": lambda store, w: store.lists.tasks_of_label(w, "team=blue", 10, None),
    "tasks of day": lambda store, w: store.lists.tasks_of_day(w, DAY, 10, None),
    "marker facts": lambda store, w: store.escalations.marker_inputs(
        w, PAIR, IdempotencyKey(human(w), "/x", "key", "hash")
    ),
    "review": lambda store, w: store.escalations.review(w, "review_01"),
    "reviews": lambda store, w: store.escalations.reviews(w, 10, None),
    "change": lambda store, w: store.changes.change(w, "chg_01"),
    "changes": lambda store, w: store.changes.newest(w, 10, None),
    "waiting changes": lambda store, w: store.changes.waiting(w),
    "version of settings": lambda store, w: store.settings.version(w, 1),
    "people": lambda store, w: store.tokens.people(w).persons.keys() and store.tokens.people(w).named("bob").held,
    "person": lambda store, w: store.tokens.person(w, "bob").held,
    "roster": lambda store, w: store.agents.roster(w),
    "agent": lambda store, w: store.agents.agent(w, "auditor"),
    "last contact": lambda store, w: store.contacts.last_contact(w, "auditor"),
    "last contacts": lambda store, w: store.contacts.last_contacts(w),
    "dispatch facts": lambda store, w: store.agents.dispatch_inputs(w, "auditor"),
    "alert": lambda store, w: store.alerts.alert(w, "alert_01"),
    "alerts": lambda store, w: store.alerts.newest(w, 10, None),
    "alerts of task": lambda store, w: store.alerts.alerts_of_task(w, "task_1", 10, None),
    "unresolved alerts": lambda store, w: store.alerts.unresolved_alerts(w, AlertState.OPEN, 10, None),
    "route": lambda store, w: store.routes.route(w, "audit"),
    "routes": lambda store, w: store.routes.table(w),
    "toolbox": lambda store, w: store.tools.toolbox(w),
    "listed tools": lambda store, w: store.tools.listed_tools(w, 10, None),
    "tools": lambda store, w: store.tools.named(w, ["ask_auditor"]),
    "profile": lambda store, w: store.runs.profile(w, "run-1"),
    "entries of a run": lambda store, w: store.runs.entries(w, "task_1", 10, None),
    "transcript": lambda store, w: store.runs.transcript(w, "task_1"),
    "what a task has spent": lambda store, w: store.runs.usage(w, "wf_9", "task_1"),
    "what a run counts on": lambda store, w: store.runs.accounts(w, "wf_1", "task_1"),
    "what a workflow has spent": lambda store, w: store.runs.usage(w, "wf_1", "task_9"),
    "settings": lambda store, w: store.settings.of(w),
    "tokens": lambda store, w: store.tokens.listed(w, 10, None),
    "first token": lambda store, w: store.tokens.first_made_at(w),
    "open sessions": lambda store, w: store.sessions.open_sessions(w, "bob"),
    "page_sync": lambda store, w: store.tracker.page_sync(w, "task_1"),
    "page_syncs": lambda store, w: store.tracker.page_syncs(w, ["task_1", "task_2"]),
    "mirrors due": lambda store, w: list(store.tracker.page_syncs_due(w, NOON)),
    "mirrors open": lambda store, w: list(store.tracker.open_pages(w, NOON)),
    "mirrors waiting": lambda store, w: store.tracker.count_waiting_page_syncs(w, 10),
    "dead mirrors": lambda store, w: store.tracker.dead_page_syncs(w, 10, None),
    "page holders": lambda store, w: store.tracker.page_holders(w, [PAGE_ID]),
    "entry": lambda store, w: store.memory.entry(w, a_board_entry().id),
    "entries": lambda store, w: store.memory.entries(w, [a_board_entry().id]),
    "newest entries": lambda store, w: store.memory.newest_entries(w, None, None, 10, None),
    "entries after": lambda store, w: store.memory.entries_after(w, None, 10),
    "changed entries": lambda store, w: store.memory.changed_after(w, None, 10),
    "packs' list": lambda store, w: store.memory.pack_list(w),
    "packs": lambda store, w: store.memory.packs_before(w, None, 3),
    "pack of an entry": lambda store, w: store.memory.pack_of(w, a_board_entry().id),
    "entries below a scope": lambda store, w: store.memory.in_view(w, "project", {EntryType.FINDING: 3}),
    "entries above a scope": lambda store, w: store.memory.in_view(w, "src/auth", {EntryType.FINDING: 3}),
    "counts": lambda store, w: store.stats.day_counts(some_counts(w).place),
    "counts of days": lambda store, w: store.stats.of_days(w, [DAY], 10),
    "decisions": lambda store, w: store.stats.decisions(w, DAY, 10, None),
    "watch": lambda store, w: store.watches.watch(w),
    "circuit": lambda store, w: store.tracker.circuit(w),
    "webhook": lambda store, w: store.tracker.webhook(w),
}
# They answer, and write. What they write in one workspace, tests below compare in the other.
WRITES = {"acknowledge", "count", "take_transcript"}


def answer(read: Callable[[Store, str], Any], store: Store, workspace: str) -> Any:
    try:
        return read(store, workspace)
    except Exception as exc:  # noqa: BLE001 - whatever it says is what is compared
        return type(exc), str(exc)


def test_each_reading_of_a_workspace_is_asked() -> None:
    ports = inspect.getmembers(Store, inspect.isfunction)
    signatures = {name: inspect.signature(port) for name, port in ports if not name.startswith("_")}
    readings = {
        name
        for name, signature in signatures.items()
        if "workspace" in signature.parameters and signature.return_annotation != "None"
    }
    asked = {name for reading in READINGS.values() for name in reading.__code__.co_names}
    assert sorted(readings - asked - WRITES) == [], "needs a row in READINGS, of something that `fill` has stored"


def answers(store: Store, workspace: str) -> dict[str, Any]:
    return {name: answer(read, store, workspace) for name, read in READINGS.items()}


def test_a_full_neighbour_is_as_good_as_none(store: Store) -> None:
    before = answers(store, OURS)
    fill(store, THEIRS)
    after = answers(store, OURS)
    assert [name for name in READINGS if after[name] != before[name]] == []


def test_and_what_is_ours_is_found(store: Store) -> None:
    before = answers(store, OURS)
    fill(store, OURS)
    after = answers(store, OURS)
    assert [name for name in READINGS if after[name] == before[name]] == []


def test_the_same_ids_live_side_by_side(store: Store) -> None:
    fill(store, OURS)
    fill(store, THEIRS)
    for workspace in (OURS, THEIRS):
        assert store.tasks.load(workspace, "task_1")[0].workspace == workspace
        assert len(store.lists.tasks_of_day(workspace, DAY, 10, None).items) == 8


def test_a_change_in_one_workspace_leaves_the_others_task(store: Store) -> None:
    task = stored(store, workspace=THEIRS)
    ours = stored(store, workspace=OURS)
    store.commit(OURS, then(ours, title="ours"))
    assert store.tasks.load(THEIRS, "task_1")[0] == task


def test_a_page_may_be_a_tasks_in_each_of_two_workspaces(store: Store) -> None:
    """Both keep their tasks in one database, say; neither learns of the other by being refused."""
    fill(store, THEIRS)
    store.commit(OURS, Save(a_page_sync("task_9", workspace=OURS)), Insert(PageLink(PAGE_ID, "task_9"), PageHeld))
    assert store.tracker.page_holders(OURS, [PAGE_ID]) == {PAGE_ID: "task_9"}
    assert store.tracker.page_holders(THEIRS, [PAGE_ID]) == {PAGE_ID: "task_2"}


def test_a_saved_row_circuit_or_webhook_leaves_the_neighbours(store: Store) -> None:
    fill(store, THEIRS)
    before = answers(store, THEIRS)
    ours = [
        Save(a_page_sync(workspace=OURS, message="ours")),
        Save(a_circuit(workspace=OURS, message="ours")),
        Save(a_webhook(workspace=OURS, digest="e" * 64)),
    ]
    store.commit(OURS, *ours)
    assert answers(store, THEIRS) == before
    assert sorted(store.tracker.tracker_circuits_due(NOON)) == [OURS, THEIRS]


def test_a_run_in_one_workspace_is_not_one_in_the_other(store: Store) -> None:
    """Nor is it refused for what the neighbour has said, spent or defined under the same ids."""
    fill(store, THEIRS)
    before = answers(store, THEIRS)
    ours = replace(an_agent("run-1"), workspace=OURS)
    store.agents.save_agent(ours, store.agents.roster(OURS), a_profile("run-1", workspace=OURS, max_turns=1))
    store.tools.save_tool(a_tool(workspace=OURS, description="ours"), store.tools.toolbox(OURS))
    store.commit(OURS, Insert(TaskEntry("task_1", an_entry(says="ours"))), spent())
    ours_too = a_step(most_calls=2, most_tokens=200)
    store.runs.count(OURS, ours_too, store.runs.accounts(OURS, "wf_1", "task_1"))
    store.runs.take_transcript(OURS, "task_1", 9)
    assert answers(store, THEIRS) == before


def test_no_principal_renews_over_the_border(store: Store) -> None:
    task = claimed(store, workspace=THEIRS)
    refused = answer(
        lambda s, w: s.claims.renew(WorkerCall(agent("auditor", w), "task_1", "clm_1"), NOON, None), store, OURS
    )
    unknown = answer(
        lambda s, w: s.claims.renew(WorkerCall(agent("auditor", w), "task_9", "clm_1"), NOON, None), store, OURS
    )
    assert (refused[0], refused[1]) == (unknown[0], unknown[1])
    assert store.tasks.load(THEIRS, "task_1")[0] == task


def test_what_is_done_in_one_workspace_is_not_done_in_the_other(store: Store) -> None:
    """The same ids everywhere: an errand done, an inbox emptied, a permit given back, a claim that others rely on."""
    fill(store, THEIRS)
    before = answers(store, THEIRS)
    stored(store, workspace=OURS)
    fill_task_items(store, OURS)
    ours = store.tasks.load(OURS, "task_6")[0]
    store.commit(OURS, then(ours, state=State.DONE, claim=None), FinishJob(a_job()))
    store.inboxes.acknowledge(OURS, "scout", ["inb_001"])
    with pytest.raises(Conflict):
        store.commit(OURS, new("task_9", workspace=OURS), Require(UnderClaim("task_6", "clm_1")))
    assert answers(store, THEIRS) == before
    assert list(store.queues.due(NOON)) == [(THEIRS, "task_1", JobKind.JOIN)]

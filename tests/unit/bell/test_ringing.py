"""Who is rung, when, and for what: every way in which work becomes ready, ends, or changes a list."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from itertools import pairwise

import pytest

from baton.domain.access.principal import PrincipalKind
from baton.domain.agents.agent import Approval
from baton.domain.alerts.alert import Severity
from baton.domain.bell.listener import topic_of
from baton.domain.bell.ring import AHEAD, MAX_ROUNDS, MAX_RUNG, is_pulled
from baton.domain.errors import (
    Busy,
    HumanNeeded,
    InactiveAgent,
    InvalidInput,
    NotYourAgent,
    ScopeNeeded,
    TokenRefused,
    TooManyListeners,
    Unknown,
)
from baton.domain.memory.entry import EntryType
from baton.domain.memory.entry_draft import EntryDraft
from baton.domain.tasks.calls import HumanCall, WorkerCall
from baton.domain.times import rfc3339, seconds
from baton.ports.deps import Deps
from baton.services.access.change_settings import change_settings
from baton.services.access.revoke_token import revoke_token
from baton.services.agents.define_tool import define_tool
from baton.services.agents.register_agent import register_agent
from baton.services.alerts.raise_alert import AlertRequest, raise_alert
from baton.services.bell.listen import what_is_due
from baton.services.claims.complete_task import CompletedWork, complete_task
from baton.services.claims.fail_task import FailedWork, fail_task
from baton.services.claims.join_branches import join_branches
from baton.services.claims.release_task import ReleasedWork, release_task
from baton.services.claims.renew_claim import renew_claim
from baton.services.claims.save_checkpoint import save_checkpoint
from baton.services.claims.wait_for_callback import answer_callback
from baton.services.memory.post_entry import post_entry
from baton.services.tasks.approve_task import approve_task, undo_approval
from baton.services.tasks.end_task import cancel_task
from baton.services.tasks.put_off_task import defer_task
from baton.services.tasks.sweep import sweep
from baton.steps.claims.take_task import Claimed
from support.fakes.fake_dynamo import NoFaults
from support.fakes.store import InMemoryStore
from support.faults.soak import scaled
from support.published import bell_records
from support.worlds.bell_room import HUMAN, BellRoom
from support.worlds.team import Team
from support.worlds.world import WORKSPACE, agent, human

WORK = "work:auditor"


@pytest.fixture
def room() -> BellRoom:
    return BellRoom()


def call_of(claimed: Claimed) -> WorkerCall:
    assert claimed.details.task.claim is not None
    return WorkerCall(agent("auditor"), claimed.details.task.id, claimed.details.task.claim.claim_id)


def quiet(room: BellRoom) -> None:
    """What happened so far is rung, and forgotten."""
    room.ring()
    room.connections.heard.clear()
    room.world.looks.asked.clear()


def only_ends_of_leases(room: BellRoom) -> None:
    """Of what is looked at later, the looks that a claim has asked for are left."""
    room.world.looks.asked[:] = [each for each in room.world.looks.asked if each[3] == 0]
    room.connections.heard.clear()


def test_an_approval_is_rung_ahead_with_the_end_of_its_undo_window(room: BellRoom) -> None:
    listening, task_id = room.listen(WORK), room.world.needing()
    room.ring()
    assert room.rings(WORK) == []
    approve_task(room.world.deps, human(), task_id, None)
    room.ring()
    assert room.rings(WORK) == [(listening, 3.0)]


def test_a_ring_says_whom_and_when_and_nothing_else(room: BellRoom) -> None:
    room.listen(WORK)
    approve_task(room.world.deps, human(), room.world.needing(), None)
    room.ring()
    ((_, message),) = room.connections.heard
    assert message.keys() == {"ring", "id", "due_at"}
    assert (message["ring"], message["due_at"]) == (WORK, "2026-11-18T12:00:03.000Z")
    assert len(message["id"]) == 16


@pytest.mark.parametrize("listeners", [1, 2, 3, scaled(1_000)])
def test_one_task_rings_one_listener_and_one_more(room: BellRoom, listeners: int) -> None:
    change_settings(room.world.deps, HUMAN, {"listeners_per_principal": 2_000})
    token = room.token("auditor")
    for _ in range(listeners):
        room.listen(WORK, token)
    room.world.ready()
    room.ring()
    rung = [connection for connection, _ in room.rings(WORK)]
    assert len(rung) == len(set(rung)) == min(listeners, 2)


def test_each_task_of_a_batch_rings_one_and_all_together_one_more(room: BellRoom) -> None:
    token = room.token("auditor")
    for _ in range(10):
        room.listen(WORK, token)
    for number in range(3):
        Team(world=room.world).ask("auditor", f"look at number {number}")
    room.ring()
    assert len({connection for connection, _ in room.rings(WORK)}) == 4


def test_another_two_are_rung_if_nobody_claims_and_twice_as_many_each_time(room: BellRoom) -> None:
    token = room.token("auditor")
    for _ in range(50):
        room.listen(WORK, token)
    room.world.ready()
    room.ring()
    counts = [len(room.rings(WORK))]
    while room.look():
        counts.append(len(room.rings(WORK)))
    assert counts[:5] == [2, 4, 8, 16, MAX_RUNG]
    assert len(counts) == MAX_ROUNDS + 1


def test_others_are_rung_the_second_time_and_for_another_task(room: BellRoom) -> None:
    token = room.token("auditor")
    everybody = {room.listen(WORK, token) for _ in range(40)}
    rung = list[list[frozenset[str]]]()
    for number in range(10):
        Team(world=room.world).ask("auditor", f"task {number}")
        room.ring()
        rung.append([frozenset(connection for connection, _ in room.rings(WORK))])
        room.look()
        rung[-1].append(frozenset(connection for connection, _ in room.rings(WORK)))
        room.world.looks.asked.clear()
    assert all(len(first) == 2 and len(second) == 4 and first | second <= everybody for first, second in rung)
    assert len({first for first, _ in rung}) > 1
    assert any(not first <= second for first, second in rung)


def test_a_claimed_task_is_looked_at_no_more_until_its_lease_ends(room: BellRoom) -> None:
    room.listen(WORK)
    room.world.ready()
    room.ring()
    room.world.claim()
    room.ring()
    room.connections.heard.clear()
    room.look()
    assert room.rings(WORK) == []
    assert [number for *_, number in room.world.looks.asked] == [0]


def test_the_end_of_a_lease_is_rung_three_seconds_ahead(room: BellRoom) -> None:
    listening = room.listen(WORK)
    room.world.claimed(lease_seconds=60)
    room.ring()
    only_ends_of_leases(room)
    assert [seconds for _, _, seconds, _ in room.world.looks.asked] == [57]
    room.look()
    assert room.rings(WORK) == [(listening, 3.0)]


def test_a_lease_that_was_renewed_is_rung_at_its_new_end_alone(room: BellRoom) -> None:
    listening = room.listen(WORK)
    claimed = room.world.claimed(lease_seconds=60)
    room.ring()
    only_ends_of_leases(room)
    room.world.clock.advance(20)
    call = call_of(claimed)
    renew_claim(room.world.deps, call.by, call.task_id, call.claim_id)
    room.world.clock.advance(-20)
    room.look()
    assert room.rings(WORK) == []
    room.look()
    assert room.rings(WORK) == [(listening, 3.0)]


def test_the_end_of_a_lease_is_rung_though_the_stream_brings_a_checkpoint_with_the_claim(room: BellRoom) -> None:
    listening, claimed = room.listen(WORK), room.world.claimed(lease_seconds=60)
    room.world.clock.advance(1)
    save_checkpoint(room.world.deps, call_of(claimed), "step", {"n": 1})
    room.ring()
    only_ends_of_leases(room)
    assert [(seconds, number) for _, _, seconds, number in room.world.looks.asked] == [(56, 0)]
    room.look()
    assert [connection for connection, _ in room.rings(WORK)] == [listening]


def test_work_whose_claim_lapsed_rings_until_somebody_takes_it(room: BellRoom) -> None:
    room.listen(WORK)
    room.world.claimed(lease_seconds=15)
    room.ring()
    only_ends_of_leases(room)
    rung = []
    for _ in range(2):
        room.look()
        rung += [due for _, due in room.rings(WORK)]
    assert rung == [3.0, -2.0]
    complete_task(room.world.deps, call_of(room.world.claim()), CompletedWork(output={"answer": 1}))
    while room.look():
        pass
    assert room.rings(WORK) == []


def test_twice_as_many_are_rung_each_time_that_nobody_takes_over_a_lapsed_claim(room: BellRoom) -> None:
    token = room.token("auditor")
    for _ in range(20):
        room.listen(WORK, token)
    room.world.claimed(lease_seconds=15)
    room.ring()
    only_ends_of_leases(room)
    counts = []
    for _ in range(5):
        room.look()
        counts.append(len(room.rings(WORK)))
    assert counts == [2, 4, 8, 16, MAX_RUNG]


Way = Callable[[BellRoom], object]


def _released(room: BellRoom) -> object:
    claimed = room.world.claimed()
    quiet(room)
    return release_task(room.world.deps, call_of(claimed), ReleasedWork(reason="not now"))


def _failed(room: BellRoom) -> object:
    claimed = room.world.claimed()
    quiet(room)
    failed = FailedWork(failure={"type": "error", "description": "broke"}, retryable=True)
    return fail_task(room.world.deps, call_of(claimed), failed)


def _swept(room: BellRoom) -> object:
    room.world.claimed(lease_seconds=15)
    quiet(room)
    room.world.clock.advance(60)
    return sweep(room.world.deps)


def _approved(room: BellRoom) -> object:
    task_id = room.world.needing()
    quiet(room)
    return approve_task(room.world.deps, human(), task_id, None)


def _approved_at_once(room: BellRoom) -> object:
    register_agent(room.world.deps, human(), "auditor", {"approval": Approval.AUTO})
    quiet(room)
    return room.world.mark(agent("scout"))


def _joined(room: BellRoom) -> object:
    team = Team(world=room.world)
    held = team.begin("auditor")
    team.delegate(held, "runner")
    part = team.take("runner")
    quiet(room)
    team.complete(part, output={"part": 1})
    return join_branches(room.world.deps, WORKSPACE, held.task.id)


def _called_back(room: BellRoom) -> None:
    team = Team(world=room.world)
    _, token = team.wait(team.begin("auditor"))
    quiet(room)
    answer_callback(room.world.deps, token, {"answer": 42})


def _never_called_back(room: BellRoom) -> object:
    team, until = Team(world=room.world), room.world.clock.now() + seconds(60)
    team.wait(team.begin("auditor"), until)
    quiet(room)
    room.world.clock.advance(120)
    return sweep(room.world.deps)


WAYS = [_approved, _approved_at_once, _released, _failed, _swept, _joined, _called_back, _never_called_back]


@pytest.mark.parametrize("way", WAYS)
def test_whatever_makes_work_ready_rings_with_its_time(room: BellRoom, way: Way) -> None:
    listening = room.listen(WORK)
    way(room)
    room.ring()
    ((rung, due),) = room.rings(WORK)
    (task,) = room.world.store.lists.tasks_of_agent(WORKSPACE, "auditor", 10, None).items
    assert rung == listening
    assert task.ready_at is not None
    assert due == (task.ready_at - room.world.clock.now()).total_seconds()


def test_what_is_due_much_later_is_rung_when_it_is_near(room: BellRoom) -> None:
    listening = room.listen(WORK)
    claimed = room.world.claimed()
    quiet(room)
    later = room.world.clock.now() + AHEAD + seconds(1_800)
    release_task(room.world.deps, call_of(claimed), ReleasedWork(reason="tomorrow", again_at=later))
    room.ring()
    assert room.rings(WORK) == []
    while not (found := room.rings(WORK)):
        if not room.look():
            room.world.clock.advance(60)
        assert room.world.clock.now() < later + seconds(120)
    assert [connection for connection, _ in found] == [listening]


def test_work_for_later_is_rung_when_the_sweeper_shows_it_though_no_event_tells(room: BellRoom) -> None:
    listening, due = room.listen(WORK), room.world.clock.now() + seconds(3_600)
    task = Team(world=room.world).ask("auditor", metadata={"not_before": rfc3339(due)}).task
    quiet(room)
    assert room.world.task(task.id).meta.parked
    room.world.clock.advance(3_600)
    sweep(room.world.deps)
    assert room.ring().rung == 0
    room.look()
    assert [connection for connection, _ in room.rings(WORK)] == [listening]


def test_open_work_rings_the_agents_that_may_take_it_and_not_who_handed_it_off(room: BellRoom) -> None:
    register_agent(room.world.deps, human(), "auditor", {"accepts": ("report",)})
    auditor = room.listen(WORK)
    room.listen("work:scout")
    quiet(room)
    team = Team(world=room.world)
    task = team.ask(None, by=agent("scout"), expectations={"input_type": "report"}).task
    approve_task(room.world.deps, human(), task.id, None)
    room.ring()
    assert [connection for connection, _ in room.rings()] == [auditor]
    assert len(room.world.looks.asked) == 1


def test_open_work_rings_an_agent_that_listens_however_many_before_it_dont(room: BellRoom) -> None:
    for slug in ("able1", "able2", "able3", "able4", "zealous"):
        register_agent(room.world.deps, human(), slug, {"name": slug, "accepts": ("report",)})
    listening = room.listen("work:zealous")
    quiet(room)
    task = Team(world=room.world).ask(None, by=agent("scout"), expectations={"input_type": "report"}).task
    approve_task(room.world.deps, human(), task.id, None)
    room.ring()
    assert [connection for connection, _ in room.rings()] == [listening]


def test_an_undone_approval_is_looked_at_and_not_rung_again(room: BellRoom) -> None:
    room.listen(WORK)
    task_id = room.world.needing()
    approve_task(room.world.deps, human(), task_id, None)
    room.ring()
    undo_approval(room.world.deps, human(), task_id)
    room.ring()
    room.connections.heard.clear()
    while room.look():
        pass
    assert room.rings(WORK) == []


def test_agents_that_baton_runs_are_not_rung(room: BellRoom) -> None:
    room.listen("work:runner")
    room.world.mark(agent("scout"), target_agent="runner")
    room.ring()
    assert room.rings("work:runner") == []


def test_an_end_rings_who_waits_for_the_task_who_handed_it_off_and_who_looks_at_lists(room: BellRoom) -> None:
    claimed = room.world.claimed()
    task_id = claimed.details.task.id
    waiting, inbox, lists = room.listen(f"task:{task_id}"), room.listen("inbox:scout"), room.listen("lists")
    quiet(room)
    complete_task(room.world.deps, call_of(claimed), CompletedWork(output={"answer": 1}))
    room.ring()
    assert room.rings(f"task:{task_id}") == [(waiting, None)]
    assert room.rings("inbox:scout") == [(inbox, None)]
    assert room.rings("lists") == [(lists, None)]
    assert room.rings() == []


def test_the_end_of_a_deferral_rings_the_lists_that_show_it_again(room: BellRoom) -> None:
    lists, task_id = room.listen("lists"), room.world.needing()
    defer_task(room.world.deps, HumanCall(human(), task_id), room.world.clock.now() + seconds(3_600))
    quiet(room)
    room.world.clock.advance(3_600)
    sweep(room.world.deps)
    room.look()
    assert room.rings("lists") == [(lists, None)]


def test_a_batch_rings_a_list_once(room: BellRoom) -> None:
    lists = room.listen("lists")
    quiet(room)
    for number in range(5):
        Team(world=room.world).ask("auditor", f"look at number {number}")
    room.ring()
    assert room.rings("lists") == [(lists, None)]


@pytest.mark.parametrize(
    "change",
    [
        lambda deps: raise_alert(
            deps, agent("scout"), AlertRequest(kind="noise", severity=Severity.WARNING, message="Silence")
        ),
        lambda deps: define_tool(deps, human(), "handoff_to_scout", {"target_agent": "scout"}),
        lambda deps: register_agent(deps, human(), "newcomer", {"name": "Newcomer"}),
        lambda deps: post_entry(deps, human(), EntryDraft(entry_type=EntryType.FINDING, summary="The log is long")),
    ],
    ids=["alerts", "tools", "agents", "memory"],
)
def test_a_change_of_another_list_than_of_tasks_is_rung(room: BellRoom, change: Callable[[Deps], object]) -> None:
    lists = room.listen("lists")
    quiet(room)
    change(room.world.deps)
    room.ring()
    assert room.rings("lists") == [(lists, None)]


def test_a_manual_review_is_rung(room: BellRoom) -> None:
    lists = room.listen("lists")
    change_settings(room.world.deps, HUMAN, {"escalation_cap": 1})
    cancel_task(room.world.deps, human(), room.world.needing(), "no longer needed")
    quiet(room)
    assert room.world.mark(agent("scout")).review_id
    room.ring()
    assert room.rings("lists") == [(lists, None)]


def test_lists_that_change_all_the_time_ring_once_a_second_and_no_change_is_after_the_last_look(room: BellRoom) -> None:
    room.listen("lists")
    quiet(room)
    bell, clock, changed, looks = room.bell(), room.world.clock, list[float](), list[float]()
    for number in range(41):
        Team(world=room.world).ask("auditor", f"change {number}")
        clock.advance(-3 + 0.1)
        changed.append(clock.now().timestamp())
        bell.changed(bell_records(room.stream.waiting))
        room.stream.waiting.clear()
        looks += [clock.now().timestamp() + (due or 0) for _, due in room.rings("lists")]
    assert len(looks) <= 6
    assert all(later - earlier > 0.999 for earlier, later in pairwise(looks))
    assert max(looks) >= max(changed)


class _Unread(NoFaults):
    def reach(self, operation: str, key: object, *, writes: bool) -> str | None:
        return "throttle" if operation == "query" and "#BELL#lists" in str(key) else None


def test_lists_are_rung_by_the_batch_that_comes_again_after_their_listeners_couldnt_be_read(room: BellRoom) -> None:
    lists, bell, team = room.listen("lists"), room.bell(), Team(world=room.world)
    quiet(room)
    team.ask("auditor", "look at one")
    bell.changed(bell_records(room.stream.waiting))
    room.stream.waiting.clear()
    room.connections.heard.clear()
    told_at = room.world.clock.now()
    team.ask("auditor", "look at another")
    room.world.clock.advance((told_at - room.world.clock.now()).total_seconds() + 0.3)
    assert isinstance(room.world.store, InMemoryStore)
    table, usual = room.world.store.dynamo, room.world.store.dynamo.fault_source
    table.fault_source = _Unread()
    with pytest.raises(Busy):
        bell.changed(bell_records(room.stream.waiting))
    table.fault_source = usual
    bell.changed(bell_records(room.stream.waiting))
    assert [connection for connection, _ in room.rings("lists")] == [lists]


def test_a_page_that_comes_just_after_a_change_that_nobody_heard_is_rung_at_once_for_the_next(room: BellRoom) -> None:
    bell = room.bell()
    for has_come in (False, True):
        if has_come:
            room.listen("lists")
            room.stream.waiting.clear()
        Team(world=room.world).ask("auditor", f"look {has_come}")
        room.world.clock.advance(-3 + 0.1)
        bell.changed(bell_records(room.stream.waiting))
        room.stream.waiting.clear()
    assert [due for _, due in room.rings("lists")] == [None]


def test_where_nobody_listens_nothing_is_sent_and_nothing_is_looked_at_later(room: BellRoom) -> None:
    room.world.claimed()
    report = room.ring()
    assert (report.rung, room.world.looks.asked, room.connections.heard) == (0, [], [])


# Dead and doubtful connections


def test_a_connection_that_is_gone_is_forgotten_and_the_next_one_rung(room: BellRoom) -> None:
    token = room.token("auditor")
    connections = [room.listen(WORK, token) for _ in range(4)]
    room.world.clock.advance(60)
    room.connections.open = {connections[-1]}
    room.world.ready()
    report = room.ring()
    assert [connection for connection, _ in room.rings(WORK)] == [connections[-1]]
    assert report.gone == 3
    assert room.world.store.bell.count(WORKSPACE, 10) == 1


def test_a_connection_whose_handshake_may_not_be_answered_yet_is_kept(room: BellRoom) -> None:
    connection = room.listen(WORK)
    room.connections.open.clear()
    room.world.ready()
    assert room.ring().gone == 0
    assert room.world.store.bell.listener(connection) is not None


def test_a_ring_of_which_nothing_is_known_forgets_nobody(room: BellRoom) -> None:
    connection = room.listen(WORK)
    room.world.clock.advance(60)
    room.connections.silent.add(connection)
    room.world.ready()
    assert room.ring().gone == 0
    assert room.world.store.bell.listener(connection) is not None


def test_leaving_is_found_nowhere_and_may_come_late_or_twice(room: BellRoom) -> None:
    connection, bell = room.listen(WORK), room.world.store.bell
    for _ in range(2):
        bell.remove_listener(connection)
    bell.remove_listener("neverthere=")
    assert bell.listener(connection) is None
    assert bell.listening(topic_of(WORKSPACE, WORK), 10) == []
    assert bell.count(WORKSPACE, 10) == 0


# Rights: at the beginning, and at each ring


@pytest.mark.parametrize(
    ("topic", "subject", "kind", "refusal"),
    [
        ("work:auditor", "scout", PrincipalKind.AGENT, NotYourAgent),
        ("inbox:auditor", "scout", PrincipalKind.AGENT, NotYourAgent),
        ("lists", "scout", PrincipalKind.AGENT, HumanNeeded),
        ("work:auditor", "robot", PrincipalKind.SERVICE, ScopeNeeded),
        ("inbox:auditor", "robot", PrincipalKind.SERVICE, ScopeNeeded),
        ("lists", "robot", PrincipalKind.SERVICE, ScopeNeeded),
        ("work:auditor", "bob", PrincipalKind.HUMAN, ScopeNeeded),
        ("work:nobody", "alice", PrincipalKind.HUMAN, ScopeNeeded),
        ("inbox:nobody", "alice", PrincipalKind.HUMAN, Unknown),
        ("task:task_nowhere", "alice", PrincipalKind.HUMAN, Unknown),
    ],
)
def test_who_may_not_read_may_not_listen(
    room: BellRoom, topic: str, subject: str, kind: PrincipalKind, refusal: type[Exception]
) -> None:
    with pytest.raises(refusal):
        room.listen(topic, room.token(subject, kind))
    assert room.world.store.bell.count(WORKSPACE, 10) == 0


def test_an_agent_listens_to_a_task_that_it_has_a_part_in_and_to_no_other(room: BellRoom) -> None:
    task_id = room.world.needing()
    register_agent(room.world.deps, human(), "stranger", {"name": "Stranger"})
    room.listen(f"task:{task_id}", room.token("scout"))
    with pytest.raises(Unknown):
        room.listen(f"task:{task_id}", room.token("stranger"))


@pytest.mark.parametrize(
    "text", ["", "work", "work:", "work:No Agent", "lists:", "lists:x", "task:", "task:#", "everything", "work:a:b"]
)
def test_a_topic_that_is_none_is_named(room: BellRoom, text: str) -> None:
    with pytest.raises(InvalidInput, match="listen"):
        room.listen(text, room.token("alice", PrincipalKind.HUMAN))


def test_a_principal_has_as_many_connections_as_the_setting_says(room: BellRoom) -> None:
    change_settings(room.world.deps, HUMAN, {"listeners_per_principal": 3})
    token = room.token("auditor")
    for _ in range(3):
        room.listen(WORK, token)
    with pytest.raises(TooManyListeners) as raised:
        room.listen("inbox:auditor", token)
    assert raised.value.fields == {"limit": 3, "retry_after": 60}
    room.listen("work:scout")


def test_a_revoked_token_hears_nothing_more_and_is_closed(room: BellRoom) -> None:
    token, other = room.token("auditor"), room.token("auditor")
    revoked, kept = room.listen(WORK, token), room.listen(WORK, other)
    room.world.clock.advance(60)
    revoke_token(room.world.deps, human(), token.id)
    report = room.ring()
    assert report.closed == 1
    assert room.connections.open == {kept}
    room.world.ready()
    room.ring()
    assert [connection for connection, _ in room.rings(WORK)] == [kept]
    assert room.world.store.bell.listener(revoked) is None


def test_who_is_refused_while_its_handshake_may_not_be_answered_yet_is_closed_again(room: BellRoom) -> None:
    token = room.token("auditor")
    connection = room.listen(WORK, token)
    revoke_token(room.world.deps, human(), token.id)
    assert (room.ring().closed, room.world.store.bell.listener(connection) is None) == (1, False)
    room.world.clock.advance(60)
    room.world.ready()
    assert (room.ring().closed, room.world.store.bell.listener(connection) is None) == (1, True)


def test_a_revoked_token_hears_nothing_even_if_the_stream_hasnt_told_of_it(room: BellRoom) -> None:
    token = room.token("auditor")
    room.listen(WORK, token)
    revoke_token(room.world.deps, human(), token.id)
    room.stream.waiting.clear()
    room.world.ready()
    report = room.ring()
    assert (room.rings(WORK), report.closed, room.connections.open) == ([], 1, set())


def test_an_agent_that_is_switched_off_is_silenced_and_closed(room: BellRoom) -> None:
    room.listen(WORK)
    room.listen("inbox:auditor")
    register_agent(room.world.deps, human(), "auditor", {"active": False})
    assert room.ring().closed == 2
    assert room.connections.open == set()
    with pytest.raises(InactiveAgent):
        room.listen(WORK)


def test_a_token_that_is_over_hears_nothing(room: BellRoom) -> None:
    expires_at = room.world.clock.now() + seconds(60)
    room.listen(WORK, room.token("auditor", expires_at=expires_at))
    room.world.clock.advance(61)
    room.world.ready()
    assert room.ring().closed == 1
    assert room.rings(WORK) == []


def test_reading_rights_that_are_taken_back_silence_a_listener(room: BellRoom) -> None:
    change_settings(room.world.deps, HUMAN, {"agents_read": "workspace"})
    room.listen("lists", room.token("scout"))
    room.world.clock.advance(60)
    change_settings(room.world.deps, HUMAN, {"agents_read": "own"})
    assert room.ring().closed == 1


def test_a_listener_of_another_workspace_hears_nothing(room: BellRoom) -> None:
    room.world.settle("elsewhere")
    room.listen(WORK)
    quiet(room)
    asked = Team(world=room.world).ask
    other = human("elsewhere")
    task = asked("auditor", by=other).task
    assert is_pulled(task)
    room.ring()
    assert (task.workspace, room.rings()) == ("elsewhere", [])


# A listener's own look


def test_a_look_finds_what_a_lost_ring_would_have_told(room: BellRoom) -> None:
    connection = room.listen(WORK)
    assert what_is_due(room.world.deps, connection).due_at is None
    task_id = room.world.needing()
    approve_task(room.world.deps, human(), task_id, None)
    assert what_is_due(room.world.deps, connection).due_at == room.world.task(task_id).ready_at
    room.world.clock.advance(10)
    assert what_is_due(room.world.deps, connection).due_at == room.world.clock.now()


def test_a_look_finds_the_end_of_a_lease(room: BellRoom) -> None:
    connection = room.listen(WORK)
    claimed = room.world.claimed(lease_seconds=60)
    claim = claimed.details.task.claim
    assert claim is not None
    assert what_is_due(room.world.deps, connection).due_at == claim.expires_at


def test_of_many_who_listen_two_are_told_of_what_is_due_later_and_all_of_what_is_due_now(room: BellRoom) -> None:
    connections = [room.listen(WORK) for _ in range(9)]
    task_id = room.world.needing()
    approve_task(room.world.deps, human(), task_id, None)

    def told() -> list[datetime]:
        return [each for one in connections if (each := what_is_due(room.world.deps, one).due_at) is not None]

    assert told() == [room.world.task(task_id).ready_at] * 2
    room.world.clock.advance(10)
    assert told() == [room.world.clock.now()] * 9


def test_of_what_is_due_at_other_times_others_are_told(room: BellRoom) -> None:
    connections = [room.listen(WORK) for _ in range(9)]
    told = set[str]()
    room.world.ready()
    for number in range(8):
        call = call_of(room.world.claim(lease_seconds=60 + number))
        told |= {one for one in connections if what_is_due(room.world.deps, one).due_at is not None}
        release_task(room.world.deps, call, ReleasedWork(reason="later"))
        room.world.clock.advance(600)
    assert len(told) > 4


def test_a_look_of_who_may_no_longer_listen_is_the_last_one(room: BellRoom) -> None:
    token = room.token("auditor")
    connection = room.listen(WORK, token)
    revoke_token(room.world.deps, human(), token.id)
    with pytest.raises(TokenRefused):
        what_is_due(room.world.deps, connection)
    with pytest.raises(Unknown):
        what_is_due(room.world.deps, connection)


def test_a_cancelled_task_rings_no_more(room: BellRoom) -> None:
    room.listen(WORK)
    task_id = room.world.ready()
    room.ring()
    cancel_task(room.world.deps, human(), task_id, "no longer needed")
    room.ring()
    room.connections.heard.clear()
    while room.look():
        pass
    assert room.rings(WORK) == []

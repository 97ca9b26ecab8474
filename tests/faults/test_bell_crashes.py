"""The bell's functions die at any call, lose any reply, or find the table busy: no task notices, whoever should be rung
is rung by the batch's next try or by a listener's own look, and nobody hears what they may not."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest

from baton.domain.bell.listener import topic_of
from baton.domain.errors import Busy, TicketRefused
from baton.services.access.revoke_token import revoke_token
from baton.services.bell.listen import begin_listening, make_ticket, use_ticket, what_is_due
from baton.services.tasks.approve_task import approve_task
from support.faults.choke_point import Crash, at_call, from_call, no_fault
from support.faults.soak import crossed, spread
from support.published import bell_records
from support.worlds.bell_room import HUMAN, BellRoom
from support.worlds.rig import Rig
from support.worlds.world import WORKSPACE, human

WORK = "work:auditor"
DEATHS = ("crash_before", "crash_after")
LOST = ("timeout_after", "error_after", "timeout_before", "throttle", "no_connection")


class Night:
    """A room whose calls to the table can be broken, and a batch of the stream: an approval, and a revoked token."""

    def __init__(self) -> None:
        self.rig = Rig().settle()
        self.room = BellRoom(self.rig.world, dynamo=self.rig.raw)
        self.revoked = self.room.token("auditor")
        self.deaf = self.room.listen(WORK, self.revoked)
        self.hearing = self.room.listen(WORK)
        self.rig.world.clock.advance(60)  # the handshakes are over
        task_id = self.rig.world.needing()
        self.room.ring()
        self.room.connections.heard.clear()
        approve_task(self.rig.world.deps, human(), task_id, None)
        revoke_token(self.rig.world.deps, HUMAN, self.revoked.id)
        self.records = bell_records(self.room.stream.waiting)
        self.ready_at = self.rig.world.task(task_id).ready_at

    def ring(self) -> None:
        self.room.bell().changed(self.records)

    def calls(self) -> int:
        before = len(self.rig.choked.calls)
        self.ring()
        return len(self.rig.choked.calls) - before

    def broken(self, number: int, fault: str, *, for_good: bool = False) -> Any:
        """Rings, with a fault at the call of that number."""
        plan = from_call if for_good else at_call
        self.rig.choked.plan = plan(len(self.rig.choked.calls) + number, fault)
        try:
            self.ring()
        except (Busy, Crash) as exc:
            return exc
        finally:
            self.rig.choked.plan = no_fault
        return None

    def check(self) -> None:
        rung = {connection for connection, _ in self.room.connections.heard}
        assert rung == {self.hearing}
        assert self.room.connections.open == {self.hearing}
        assert what_is_due(self.rig.world.deps, self.hearing).due_at == self.ready_at


CALLS = spread(range(1, Night().calls() + 1), 3)


@pytest.mark.parametrize(("number", "fault"), crossed(CALLS, DEATHS))
def test_a_batch_that_died_is_rung_by_its_next_try(number: int, fault: str) -> None:
    night = Night()
    assert isinstance(night.broken(number, fault), Crash)
    night.ring()
    night.check()


@pytest.mark.parametrize(("number", "fault"), crossed(CALLS, LOST))
def test_a_lost_reply_or_a_busy_moment_is_gone_over(number: int, fault: str) -> None:
    night = Night()
    if night.broken(number, fault) is not None:
        night.ring()
    night.check()


@pytest.mark.parametrize("number", CALLS)
def test_a_busy_table_has_the_batch_come_again_and_tells_nobody_what_they_may_not_hear(number: int) -> None:
    night = Night()
    assert isinstance(night.broken(number, "throttle", for_good=True), Busy)
    assert night.deaf not in {connection for connection, _ in night.room.connections.heard}
    night.ring()
    night.check()


def test_a_batch_that_comes_twice_rings_twice_and_changes_nothing_else() -> None:
    night = Night()
    night.ring()
    stored = night.rig.world.store.bell.listening(topic_of(WORKSPACE, WORK), 10)
    night.ring()
    assert night.rig.world.store.bell.listening(topic_of(WORKSPACE, WORK), 10) == stored == [night.hearing]
    night.check()


@pytest.mark.parametrize("fault", [*LOST, *DEATHS])
def test_a_connection_that_begins_is_there_once_or_not_at_all(fault: str) -> None:
    night = Night()
    token, deps = night.room.token("auditor"), night.rig.world.deps
    topic = topic_of(WORKSPACE, WORK)
    calls = len(night.rig.count(lambda: begin_listening(deps, token.principal, topic, "first=")))
    for number in range(1, calls + 1):
        night.rig.choked.plan = at_call(len(night.rig.choked.calls) + number, fault)
        with suppress(Busy, Crash):
            begin_listening(deps, token.principal, topic, "again=")
        night.rig.choked.plan = no_fault
        begin_listening(deps, token.principal, topic, "again=")
        night.rig.store.bell.remove_listener("again=")
        assert night.rig.store.bell.listener("again=") is None


@pytest.mark.parametrize("fault", LOST)
def test_a_lost_reply_gives_a_ticket_to_nobody_else(fault: str) -> None:
    night = Night()
    deps = night.rig.world.deps
    _, text = make_ticket(deps, night.room.token("auditor").principal)
    night.rig.choked.plan = at_call(len(night.rig.choked.calls) + 1, fault)
    assert use_ticket(deps, text, "first=").id == "auditor"
    night.rig.choked.plan = no_fault
    with pytest.raises(TicketRefused):
        use_ticket(deps, text, "second=")

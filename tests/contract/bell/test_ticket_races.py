"""A ticket that many show at once."""

from __future__ import annotations

from functools import partial

from baton.domain.bell.listener import Ticket
from baton.domain.times import seconds
from baton.ports.store import Store
from support.clock import NOON
from support.faults.threads import all_at_once
from support.worlds.world import WORKSPACE

TICKET = Ticket(digest="d" * 64, workspace=WORKSPACE, token_id="t1", expires_at=NOON + seconds(30))


def test_of_eight_who_show_a_ticket_at_once_one_gets_it(store: Store) -> None:
    store.bell.add_ticket(TICKET)
    got = all_at_once([partial(store.bell.use_ticket, TICKET.digest, f"conn{at}=", NOON) for at in range(8)])
    assert sum(each is not None for each in got) == 1

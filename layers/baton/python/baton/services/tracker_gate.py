"""A workspace's tracker circuit: tripped when the tracker is in trouble, reset when it answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from baton.domain.wake import bell_delay
from baton.ports import GateSaved
from baton.services.retrying import decided_again

if TYPE_CHECKING:
    from collections.abc import Callable

    from baton.domain.errors import TrackerTrouble
    from baton.domain.gate import Gate
    from baton.ports import Baton


def change_gate(baton: Baton, workspace: str, change: Callable[[Gate], Gate | None]) -> Gate:
    """Returns the circuit in its next version, or as it is if ``change`` returns None."""

    def attempt() -> Gate:
        before = baton.store.gate(workspace)
        after = change(before)
        if after is None:
            return before
        baton.store.commit(workspace, None, [GateSaved(after)])
        return after

    return decided_again(baton.clock, attempt)


def close_gate(baton: Baton, workspace: str, trouble: TrackerTrouble) -> Gate:
    """Trips the circuit, and sends a notice for the time when the tracker may be tried again. If that notice is lost,
    the sweeper sends one."""
    now = baton.clock.now()

    def closed(circuit: Gate) -> Gate | None:
        # A concurrent sender may have tripped it already: one trouble counts once.
        return circuit.closed(trouble, now) if circuit.is_open(now) else circuit.extended(trouble, now)

    circuit = change_gate(baton, workspace, closed)
    delay = bell_delay(circuit.closed_until or now, now)
    baton.tracker_bell.ring(workspace, None, delay)
    baton.log("the tracker is in trouble", action="tracker_trouble", reason=trouble.code, delay_seconds=delay)
    return circuit

"""A workspace's tracker circuit: open while the tracker is in trouble, closed when it answers."""

from __future__ import annotations

from collections.abc import Callable

from baton.domain import errors
from baton.domain.tasks.wake import notice_delay
from baton.domain.tracker.tracker_circuit import TrackerCircuit
from baton.ports.deps import Deps
from baton.ports.writes import Save
from baton.steps.retrying import retry_on_conflict


def change_tracker_circuit(
    deps: Deps, workspace: str, change: Callable[[TrackerCircuit], TrackerCircuit | None]
) -> TrackerCircuit:
    """Returns the circuit in its next version, or as it is if ``change`` returns None."""

    def attempt() -> TrackerCircuit:
        before = deps.store.tracker.circuit(workspace)
        after = change(before)
        if after is None:
            return before
        deps.store.commit(workspace, Save(after))
        return after

    return retry_on_conflict(deps, attempt)


def open_tracker_circuit(deps: Deps, workspace: str, trouble: errors.TrackerTrouble) -> TrackerCircuit:
    """Opens the circuit, and sends a notice for the time when the tracker may be tried again. If that notice is lost,
    the sweeper sends one."""
    now = deps.clock.now()

    def opened(circuit: TrackerCircuit) -> TrackerCircuit | None:
        # A concurrent sender may have opened it already: one trouble counts once.
        return circuit.extended(trouble, now) if circuit.is_open(now) else circuit.opened(trouble, now)

    circuit = change_tracker_circuit(deps, workspace, opened)
    delay = notice_delay(circuit.open_until or now, now)
    deps.tracker_queue.notify(workspace, None, delay)
    deps.log("the tracker is in trouble", action="tracker_trouble", reason=trouble.code, delay_seconds=delay)
    return circuit

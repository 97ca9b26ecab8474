"""The oracle has a rule for all that the product may record, and takes none of them from the product."""

from __future__ import annotations

from baton.domain.tasks.event_type import EventType
from simulation.oracle.trail import EDGES


def test_every_type_of_event_has_its_states_and_its_sender() -> None:
    assert EDGES.keys() ^ set(EventType) == set()

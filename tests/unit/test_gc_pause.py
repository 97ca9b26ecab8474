"""Work that Python's collector of cycles is kept off."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from baton.adapters.gc_pause import gc_paused


@pytest.fixture(autouse=True)
def _left_as_it_was() -> Iterator[None]:
    was_on = gc.isenabled()
    yield
    (gc.enable if was_on else gc.disable)()


def test_nothing_is_collected_within_it_and_afterwards_all_is_as_before() -> None:
    gc.enable()
    with gc_paused():
        assert not gc.isenabled()
        with gc_paused():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()


def test_a_failure_ends_it_too() -> None:
    gc.enable()
    with pytest.raises(ValueError), gc_paused():
        raise ValueError
    assert gc.isenabled()


def test_a_collector_that_was_off_stays_off() -> None:
    gc.disable()
    with gc_paused():
        pass
    assert not gc.isenabled()

"""What holds for every test by Hypothesis (tests/conftest.py)."""

from __future__ import annotations

import time

from hypothesis import given, settings
from hypothesis import strategies as st


@settings(max_examples=1, database=None)
@given(st.just(0.3))
def test_no_example_is_failed_for_the_time_it_takes_on_a_busy_machine(seconds: float) -> None:
    """Hypothesis' own limit is 0.25 s, and 0.2 s once more."""
    time.sleep(seconds)

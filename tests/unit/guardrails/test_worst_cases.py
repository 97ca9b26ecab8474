"""Nothing that a request may hold takes the CPU for long; `make bench` shows the figures."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import pytest

from baton.domain.errors import BatonError
from support.faults.cpu import MOST_SECONDS, least_seconds
from tools.bench.worst import worst_contents

# The doors without a token are tried in tests/functions/access/test_strangers.py.
CASES = worst_contents()


@pytest.mark.parametrize("name", CASES)
def test_the_worst_that_a_request_can_do_is_bounded(name: str) -> None:
    act: Callable[[], object] = CASES[name]

    def tried() -> None:
        with suppress(BatonError):
            act()

    took, _ = least_seconds(tried)
    assert took < MOST_SECONDS

"""How many handoffs a second the partition keys allow, on paper."""

from __future__ import annotations

from functools import cache

import pytest

from baton.adapters.dynamodb.shards import Shards, Spread
from support.faults.soak import IS_WHOLE
from tools.bench import keys

HANDOFFS = 30
# `WakeShards` and `ListShards` of a large deployment.
LARGE = Shards(wake=Spread(16), lists=Spread(4))
measured = cache(keys.measured)


@pytest.mark.parametrize("workspaces", [1, 5 if IS_WHOLE else 2])
def test_a_large_deployment_takes_5000_handoffs_a_second_and_1000_for_each_workspace(workspaces: int) -> None:
    heat = measured(workspaces, LARGE, HANDOFFS)
    assert heat.of_deployment >= 5_000
    assert heat.of_workspace >= 1_000


def test_shards_are_what_carries_them() -> None:
    """Else the test above would hold of anything."""
    one = Shards(Spread(1), Spread(1))
    assert measured(1, one, HANDOFFS).of_deployment < 5_000
    assert measured(1, one, HANDOFFS).of_workspace < 1_000


def test_the_keys_that_are_found_are_those_that_a_deployment_and_a_workspace_share() -> None:
    heat = measured(2, LARGE, HANDOFFS)
    shared = {key.kind for key in heat.keys if key.count == 1 and key.write_units}
    assert shared == {"wake WAKE#EVENTS", "wake WAKE#CLAIMED"}
    of_each = {key.kind for key in heat.keys if key.count == 2 and key.write_units}
    assert of_each == {"queue NEEDS", "queue TASKS-OF-DAY", "table DECISIONS", "table SEEN", "table STATS"}


def test_what_the_default_carries_is_told_in_the_limits() -> None:
    heat = measured(1, Shards(), HANDOFFS)
    assert (round(heat.of_deployment), round(heat.of_workspace)) == (8_000, 500)

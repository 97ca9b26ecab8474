"""How many entries a second the partition keys allow, on paper: a workspace posts a hundred, of any size."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from typing import Any

import pytest

from baton.adapters.dynamodb.patience import Patience
from baton.adapters.dynamodb.store import DynamoStore
from baton.adapters.dynamodb.table import Table
from baton.domain.idempotency import IdempotencyKey
from baton.domain.memory import entry
from baton.domain.memory.entry import EntryType
from baton.domain.memory.entry_draft import EntryDraft
from baton.services.memory.post_entry import post_entry
from support.clock import FakeClock
from support.fakes.fake_dynamo import FakeDynamo
from support.fakes.store import TABLE
from support.ids import CountingIds
from support.worlds.world import World, agent
from tools.bench.keys import WRITES_A_SECOND, KeyTracer

POSTS = 200
LARGEST = {
    "scope": "src/auth/jwt",
    "summary": "x" * entry.MAX_SUMMARY,
    "detail": "x" * entry.MAX_DETAIL,
    "rationale": "x" * entry.MAX_RATIONALE,
}
SMALL = {"summary": "The cache is cold"}


def posts_a_second(kind: EntryType, texts: dict[str, Any]) -> float:
    """As the busiest key allows: all posts are of one type, in one scope, by one agent, each under a key."""
    dynamo, clock, numbers = FakeDynamo(), FakeClock(), count()
    tracer = KeyTracer(dynamo)
    world = World(store=DynamoStore(Table(tracer, TABLE, Patience(clock))), clock=clock).settle()
    world.deps = replace(world.deps, ids=CountingIds())  # spread alike in every run
    tracer.forget()
    for _ in range(POSTS):
        once = IdempotencyKey(agent("scout"), "POST /blackboard", f"key-{next(numbers)}", "hash")
        post_entry(world.deps, agent("scout"), EntryDraft(entry_type=kind, **texts), once)
        clock.advance(milliseconds=10)
    return WRITES_A_SECOND / (max(tracer.written.values()) / POSTS)


@pytest.mark.parametrize(
    ("kind", "texts", "least"),
    [
        (EntryType.DECISION, LARGEST, 100),
        (EntryType.FINDING, {**LARGEST, "rationale": None}, 150),
        (EntryType.FINDING, SMALL, 900),
        (EntryType.STATUS, SMALL, 1_500),
    ],
)
def test_no_key_is_hot_when_a_workspace_posts_a_hundred_a_second(
    kind: EntryType, texts: dict[str, Any], least: int
) -> None:
    assert posts_a_second(kind, texts) >= least

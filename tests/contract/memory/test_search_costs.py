"""What a search costs: once in a process, by the size of the workspace; from then on the same in any."""

from __future__ import annotations

import pytest

from baton.adapters.dynamodb.memory import entry_items
from baton.adapters.dynamodb.patience import Patience
from baton.adapters.dynamodb.store import DynamoStore
from baton.adapters.dynamodb.table import DEFAULT_SHARDS, Table, to_wire
from baton.adapters.lexical_search import PAGE
from baton.domain.memory.entry import EntryType
from baton.domain.memory.entry_draft import EntryDraft
from baton.domain.memory.entry_index import Question
from baton.domain.memory.packing import PACK_SIZE, PACKS_AT_ONCE
from baton.services.memory.end_entry import delete_entry
from baton.services.memory.post_entry import post_entry
from baton.services.memory.recall import recall, why
from support.clock import NOON, FakeClock
from support.fakes.fake_dynamo import FakeDynamo
from support.fakes.store import TABLE
from support.faults.soak import scaled
from support.values.full_board import QUESTION, many_entries
from support.worlds.world import World, agent, human
from tools.bench.meter import Meter, Usage

SCOUT, AUDITOR = agent("scout"), agent("auditor")
# Read units for each entry of about 70 words: read once in a workspace, and in packs once in a process.
FIRST_UNITS, PACKED_UNITS = 0.2, 0.035
# Write units for each entry that is packed, as often as its workspace.
PACKING_UNITS = 0.26
SIZES = {"100 entries": 100, "10,000 entries": 10_000}


class Searched:
    """A workspace of so many entries, and a process that asks. ``first``: what the first question of all has cost."""

    def __init__(self, size: int) -> None:
        self.dynamo = FakeDynamo()
        for entry in many_entries(size):
            self.dynamo.put(DEFAULT_SHARDS.placed(to_wire(entry_items.entry_item(entry))))
        self.size, self.clock = size, FakeClock(NOON)
        self.begin()
        self.world.settle()
        self.meter.taken()
        self.first = self.recall()

    def begin(self) -> None:
        """With a process that knows the workspace's agents and settings, and none of its entries."""
        self.meter = Meter(self.dynamo)
        self.world = World(store=DynamoStore(Table(self.meter, TABLE, Patience(self.clock))), clock=self.clock)

    def recall(self) -> Usage:
        assert recall(self.world.deps, AUDITOR, Question(text=QUESTION, scope="src", limit=10)).items
        return self.meter.taken()


@pytest.fixture(scope="module", params=list(SIZES.values()), ids=list(SIZES))
def searched(request: pytest.FixtureRequest) -> Searched:
    return Searched(request.param if request.param == 100 else scaled(request.param))


def cost(usage: Usage) -> tuple[int, int, float]:
    return usage.reads, usage.writes, usage.read_units


def test_the_first_question_of_all_reads_the_workspace_once_and_packs_it(searched: Searched) -> None:
    first, packs = searched.first, searched.size // PACK_SIZE
    pages = -(-searched.size // PAGE) + 1
    assert first.reads <= 4 * pages + 2
    assert first.read_units <= FIRST_UNITS * searched.size + 31
    assert first.writes <= -(-packs // PACKS_AT_ONCE) * 2
    assert first.write_units <= PACKING_UNITS * searched.size


def test_the_first_question_of_a_process_reads_the_packs(searched: Searched) -> None:
    searched.begin()
    first = searched.recall()

    assert first.writes == 0
    assert first.reads <= 8 + searched.size // 5_000
    assert first.read_units <= PACKED_UNITS * searched.size + FIRST_UNITS * PACK_SIZE + 35


def test_every_other_costs_the_same_in_a_workspace_of_any_size(searched: Searched) -> None:
    searched.recall()

    assert cost(searched.recall()) == (6, 0, 15)
    assert why(searched.world.deps, AUDITOR, "src/auth/token.py", 10).items
    assert cost(searched.meter.taken()) == (6, 0, 15)


def test_what_is_new_is_read_once(searched: Searched) -> None:
    searched.recall()
    draft = EntryDraft(entry_type=EntryType.STATUS, summary="x" * 200)
    for _ in range(20):
        post_entry(searched.world.deps, SCOUT, draft)
    searched.meter.taken()

    after = searched.recall()
    searched.world.clock.advance(20)
    searched.recall()

    assert after.reads == 6
    searched.world.clock.advance(5)
    assert cost(searched.recall()) == (6, 0, 15)


def test_a_question_that_finds_nothing_costs_five_reads(searched: Searched) -> None:
    searched.recall()

    recall(searched.world.deps, human(), Question(text="zanzibar"))

    assert cost(searched.meter.taken()) == (5, 0, 5)


def test_a_deletion_reads_and_empties_the_pack_of_its_entry(searched: Searched) -> None:
    oldest = searched.world.store.memory.entries_after("acme", None, 1).items[0]
    searched.meter.taken()

    delete_entry(searched.world.deps, human(), oldest.id)

    usage = searched.meter.taken()
    is_packed = searched.size >= PACK_SIZE
    assert (usage.reads, usage.writes) == (3 if is_packed else 2, 1)
    assert usage.read_units <= 12
    assert usage.all_write_units <= (62 if is_packed else 11)

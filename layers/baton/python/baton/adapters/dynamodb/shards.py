"""Over how many shards the busiest partition keys are spread, as DynamoDB takes 1,000 write units a second for each.

A partition is named without its shard everywhere else. The table adds the shard to what it writes (``placed``), by the
task's id, and readers look at every shard that may hold entries (``all_of``). Shards are numbered from 0, so those of a
smaller count are among those of a larger one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from zlib import crc32

from baton.adapters.dynamodb import keys

Item = dict[str, Any]
MAX_SHARDS = 256
# Each attribute that names a partition, with the one whose last part is the id of the task that the item belongs to.
_PARTITIONS = (("pk", "sk"), ("queue_pk", "pk"), ("wake_pk", "pk"))


@dataclass(frozen=True)
class Spread:
    """``written``: how many shards new entries go to. ``read``: how many readers look at, if entries of an earlier,
    larger count are still there; never fewer than are written."""

    written: int = 1
    read: int = 0

    @property
    def looked_at(self) -> int:
        return max(self.written, self.read)


NOT_SPREAD = Spread()


@dataclass(frozen=True)
class Shards:
    """``wake``: of the wake index, for the whole deployment. ``lists``: of each workspace's lists that every task of it
    is in."""

    wake: Spread = Spread(16)
    lists: Spread = Spread(1)

    def all_of(self, partition: str) -> list[str]:
        """Returns the shards of a partition, itself if it isn't spread."""
        return [_shard(partition, number) for number in range(self._spread_of(partition).looked_at)]

    def shard_of(self, partition: str, task_id: str) -> str:
        """Returns the shard that a task's entry is written to."""
        return _shard(partition, crc32(task_id.encode()) % self._spread_of(partition).written)

    def placed(self, wire: Item) -> Item:
        """Returns an item, or its key, in DynamoDB's format, with a shard for each partition that is spread."""
        return wire | {
            name: {"S": self.shard_of(wire[name]["S"], wire[of]["S"].rpartition("#")[2])}
            for name, of in _PARTITIONS
            if name in wire
        }

    def _spread_of(self, partition: str) -> Spread:
        if partition in keys.WAKE_PARTITIONS:
            return self.wake
        return self.lists if keys.kind_of(partition) in keys.LISTS_OF_ALL_TASKS else NOT_SPREAD


def _shard(partition: str, number: int) -> str:
    """Only the wake index has a number in its first shards too."""
    return f"{partition}#{number}" if number or partition in keys.WAKE_PARTITIONS else partition

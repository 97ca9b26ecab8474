"""The number of the shapes in which items are stored: every item that is put carries it, and an item of an earlier
number is brought to today's where it is read (docs/decisions/044-a-number-for-the-stored-shapes.md). Only ``Table`` and
the outbox, which must go on beside an item that can't be read, know of it.

One kind of item may go ahead of the others: ``TODAY.reads`` is the highest number that this release reads, and an item
is written under a number of its own if it has ``NUMBER`` (``LOWERED_RIGHTS``).

To change a stored shape: raise ``TODAY.number`` by one, and add a step from the number before for each kind of item
that changes. A step gets an item as that number has it, and returns it as the next one does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from baton.adapters.dynamodb import keys
from baton.adapters.dynamodb.item_writes import Item
from baton.domain import errors

# The attribute with the number. Items without it are of number 0, whose shapes are those of 1.
NUMBER = "s"
# The item isn't of a newer number than the writer's: what that holds, the writer can't know.
IS_NOT_NEWER = "(attribute_not_exists(#schema) OR #schema <= :schema)"
# What updates write in place, what conditions compare and what indexes hold: all that is used without reading the item,
# and so without knowing its number. No step may change one of these.
FIXED = frozenset(
    {
        *("pk", "sk", "queue_pk", "queue_sk", "wake_pk", "wake_sk", "ttl", "void", "written_by"),
        *("requires", "source_agent", "accepts", "produces", "max_concurrent", "active", "workflow_id"),
        *("version", "state", "seq", "claim", "hard_deadline_ms", "events", "fresh", "told", "counted", "free"),
        *(
            "task",
            "retry_id",
            "next_id",
            "wanted",
            "looks",
            "reports",
            "due_ms",
            "stamp",
            "data",
            "revoked_at",
            "revoked_by",
        ),
    }
)
# Made by updates, mostly of counts, and so without a number: no step may be for one of these.
WITHOUT_NUMBER = frozenset(
    {
        *("ALERTS-BY/HOUR", "BELL/LISTENER", "BELL/TICKET", "CONFIG/VERSION", "DIRECTION/DIRECTION", "HANDOFFS/COUNT"),
        *("POLLS/POLLS", "ROOM/WINDOW", "RUN/ENTRY", "RUN/USAGE", "TASK/MIRROR", "USAGE/USAGE", "USE/MINUTE"),
        *("DECISIONS", "STATS", "WATCH/WATCH"),
    }
)

# The number of items that grant less than the release before would read from them: that release refuses them.
LOWERED_RIGHTS = 2

Step = Callable[[Item], Item]


@dataclass(frozen=True, slots=True)
class ItemSchema:
    """``number``: of what is written. ``steps``: number → kind of item → step to the next number; a kind without one is
    the same in both. ``noticed``: called for each item of a newer number that is met. ``ahead``: how many numbers above
    its own this version reads, too."""

    number: int
    steps: Mapping[int, Mapping[str, Step]] = field(default_factory=dict)
    noticed: Callable[[], None] = lambda: None
    ahead: int = 0

    @property
    def reads(self) -> int:
        """The highest number that this version reads."""
        return self.number + self.ahead

    def guarded(self, update: Item) -> Item:
        """Returns the request of an update that leaves a newer item alone."""
        condition, names = update.get("ConditionExpression"), {**update["ExpressionAttributeNames"], "#schema": NUMBER}
        condition = f"({condition}) AND {IS_NOT_NEWER}" if condition else IS_NOT_NEWER
        values = {**update["ExpressionAttributeValues"], ":schema": {"N": str(self.reads)}}
        changed = {"ExpressionAttributeNames": names, "ExpressionAttributeValues": values}
        return {**update, "ConditionExpression": condition, **changed}

    def is_newer(self, item: Item) -> bool:
        """True also for a number that somebody damaged: nothing may be made of that item."""
        number = item.get(NUMBER, 0)
        if isinstance(number, int | Decimal) and int(number) <= self.reads:
            return False
        self.noticed()
        return True

    def read(self, item: Item) -> Item:
        """Returns the item in today's shape, without the number. Raises ``WrittenByNewer``."""
        if self.is_newer(item):
            raise errors.WrittenByNewer
        if self.steps:
            kind = keys.kind_of_item(item["pk"], item["sk"])
            for each in range(int(item.get(NUMBER, 0)), self.number):
                step = self.steps.get(each, {}).get(kind)
                item = item if step is None else _stepped(step, kind, item)
        return {name: value for name, value in item.items() if name != NUMBER} if NUMBER in item else item


def _stepped(step: Step, kind: str, item: Item) -> Item:
    """Raises ``ValueError`` for a step that changes what others use without it."""
    changed = step(dict(item))
    wrong = {name for name in FIXED if changed.get(name) != item.get(name)}
    if wrong or kind in WITHOUT_NUMBER:
        raise ValueError(f"a step of {kind} may not change {sorted(wrong)}")
    return changed


TODAY = ItemSchema(number=1, ahead=LOWERED_RIGHTS - 1)

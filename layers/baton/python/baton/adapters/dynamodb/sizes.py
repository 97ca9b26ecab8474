"""An item's size in DynamoDB, and the field of a request that makes it too large."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from baton.adapters.dynamodb import keys
from baton.domain import errors

Item = Mapping[str, Any]
MAX_ITEM_BYTES = 400 * 1_024
# Of what a transaction puts: the less of what DynamoDB's 4 MB may mean, as it also counts what is updated.
MAX_TOGETHER_BYTES = 4_000_000
_PER_COLLECTION, _PER_MEMBER = 3, 1
_FIELDS = {
    keys.BODY: "context",
    keys.BROUGHT: "body",
    keys.CHECKPOINT: "state",
    keys.FAILURE: "failure",
    keys.OUTPUT: "output",
    "CHECKPOINTS": "state",
    "NOTES": "text",
    "REVIEW-REQUEST": "context",
}


def must_fit(item: Item) -> int:
    """Returns the bytes of an item in DynamoDB's format. Raises ``TooLarge`` above DynamoDB's limit, before anything is
    sent: no retry could succeed."""
    size = size_of(item)
    if size > MAX_ITEM_BYTES:
        raise errors.TooLarge(
            _field_of(item), f"is too large to be kept: with what belongs to it at most {MAX_ITEM_BYTES} bytes"
        )
    return size


def must_fit_together(items: Sequence[tuple[int, Item]]) -> None:
    """The same for all items that a transaction puts, each with its bytes. Names the field of the largest."""
    if sum(size for size, _ in items) > MAX_TOGETHER_BYTES:
        _, largest = max(items, key=lambda sized: sized[0])
        raise errors.TooLarge(
            _field_of(largest),
            f"is too large beside the others: what is kept at once is at most {MAX_TOGETHER_BYTES} bytes",
        )


def _field_of(item: Item) -> str:
    pk, sk = item["pk"]["S"], item["sk"]["S"]
    return _FIELDS.get(sk.partition("#")[0]) or _FIELDS.get(keys.kind_of(pk), "body")


def size_of(item: Item) -> int:
    """Returns bytes by DynamoDB's rules, numbers rounded up."""
    return sum(len(name.encode()) + _size(value) for name, value in item.items())


def _size(value: Mapping[str, Any]) -> int:
    ((kind, inner),) = value.items()
    return _SIZES.get(kind, lambda _: 1)(inner)


_SIZES: dict[str, Callable[[Any], int]] = {
    "S": lambda text: len(text.encode()),
    "N": lambda digits: len(digits) // 2 + 3,
    "M": lambda values: (
        _PER_COLLECTION + sum(len(name.encode()) + _size(each) + _PER_MEMBER for name, each in values.items())
    ),
    "L": lambda values: _PER_COLLECTION + sum(_size(each) + _PER_MEMBER for each in values),
    "SS": lambda texts: sum(len(each.encode()) for each in texts),
    "NS": lambda texts: sum(map(len, texts)),
    "B": len,
}

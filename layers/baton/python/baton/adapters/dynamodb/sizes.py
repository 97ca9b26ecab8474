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
TOO_LARGE = f"is too large to be kept: with what belongs to it at most {MAX_ITEM_BYTES} bytes"
TOO_LARGE_TOGETHER = f"is too large beside the others: what is kept at once is at most {MAX_TOGETHER_BYTES} bytes"
_PER_COLLECTION, _PER_MEMBER = 3, 1
_FIELDS = {
    keys.BODY: "context",
    keys.BROUGHT: "body",
    keys.CHECKPOINT: "state",
    keys.FAILURE: "failure",
    keys.OUTPUT: "output",
    keys.RUN_STATE: "state",
    "CHECKPOINTS": "state",
    "NOTES": "text",
    "REVIEW-REQUEST": "context",
}


def must_fit(together: Sequence[Item], alone: Sequence[Item] = ()) -> None:
    """Raises ``TooLarge`` for an item in DynamoDB's format that is above DynamoDB's limit, or if all that one
    transaction puts is: before anything is sent, as no retry could succeed. Names the field of the largest."""
    sizes = [size_of(item) for item in (*together, *alone)]
    too_large = max(sizes, default=0) > MAX_ITEM_BYTES
    if too_large or sum(sizes[: len(together)]) > MAX_TOGETHER_BYTES:
        largest = (*together, *alone)[sizes.index(max(sizes if too_large else sizes[: len(together)]))]
        raise errors.TooLarge(_field_of(largest), TOO_LARGE if too_large else TOO_LARGE_TOGETHER)


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

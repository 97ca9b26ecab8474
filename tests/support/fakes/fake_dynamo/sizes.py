"""Sizes as DynamoDB documents them, and its limits on them, in bytes."""

from __future__ import annotations

from typing import Any

Item = dict[str, Any]

MAX_ITEM_BYTES = 400 * 1_024
MAX_TRANSACTION_BYTES = 4 * 1_024 * 1_024
# Of one answer: to a query, and to a batch read.
MAX_PAGE_BYTES = 1_024 * 1_024
MAX_BATCH_BYTES = 16 * 1_024 * 1_024


def item_bytes(item: Item) -> int:
    """What an item in wire form takes: names and values. Most are texts, and are counted here, as every write is."""
    size = 0
    for name, value in item.items():
        size += len(name) if name.isascii() else len(name.encode())
        text = value.get("S")
        if text is None:
            size += _value_bytes(value)
        else:
            size += len(text) if text.isascii() else len(text.encode())
    return size


def text_bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())


def _value_bytes(value: Item) -> int:
    if "S" in value:  # as in most cases
        return text_bytes(value["S"])
    ((kind, inner),) = value.items()
    match kind:
        case "N":
            return (len(str(inner).strip("-").replace(".", "").strip("0")) + 1) // 2 + 1
        case "M":
            return 3 + item_bytes(inner) + len(inner)
        case "L":
            return 3 + sum(_value_bytes(each) + 1 for each in inner)
        case "B":
            return len(inner)
        case "SS" | "NS":
            return sum(len(str(each).encode()) for each in inner)
        case _:
            return 1

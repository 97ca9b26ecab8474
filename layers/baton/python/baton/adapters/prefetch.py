"""Prefetch: the next item is made in another thread while the one before it is used."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from itertools import islice
from typing import TypeVar

ItemT = TypeVar("ItemT")


def prefetched(items: Iterator[ItemT]) -> Iterator[ItemT]:
    """Yields the same items. The first one is made here; each further one is made in another thread while the item
    before it is used. Raises what the making of an item raised, in its place."""
    with ThreadPoolExecutor(1, thread_name_prefix="prefetch") as thread:
        made = _next(items)
        while made:
            following = thread.submit(copy_context().run, _next, items)
            yield made[0]
            made = following.result()


def _next(items: Iterator[ItemT]) -> list[ItemT]:
    """Returns the next item; nothing at the end."""
    return list(islice(items, 1))

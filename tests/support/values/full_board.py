"""A blackboard with many entries of about 70 words, made of the judged set's texts."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from baton.domain.ids import RANDOM_BYTES, sortable_id
from baton.domain.memory.entry import Entry
from support.clock import NOON
from support.values.judged_set import judged_entries
from support.values.records import a_board_entry

# What an agent asks, with words that many entries have.
QUESTION = "what happens when the payment of a customer fails in the worker"
_OTHERS = (7, 3, 11)


def many_entries(size: int, workspace: str = "acme") -> Iterator[Entry]:
    """Yields entries in the order of their ids, one each ten minutes until noon."""
    judged = judged_entries()
    for number in range(size):
        one = judged[number % len(judged)]
        others = (judged[number * step % len(judged)] for step in _OTHERS)
        at = NOON - timedelta(minutes=10 * (size - number))
        yield a_board_entry(
            number,
            workspace,
            id=sortable_id("ent", at, number.to_bytes(RANDOM_BYTES)),
            posted_at=at,
            scope=one.scope,
            entry_type=one.entry_type,
            status=one.status,
            rationale=None,
            summary=one.summary,
            tags=one.tags,
            detail=" ".join(text for each in (one, *others) for text in (each.detail, each.summary)),
        )

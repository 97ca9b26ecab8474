"""Saves the response to a request with an idempotency key."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any

from baton.adapters.dynamodb import items, keys
from baton.adapters.dynamodb.item_writes import Exclusive, Fitness, ItemWrite
from baton.adapters.dynamodb.puts import NOT_THERE_YET, put
from baton.domain import errors, times
from baton.domain.idempotency import IdempotencyKey

# No item, or an expired one: the table may take days to delete it.
NOT_THERE_OR_OVER = f"{NOT_THERE_YET} OR #ttl <= :now"


def response_put(
    idempotency_key: IdempotencyKey, answer: dict[str, Any], forget_at: datetime | None = None
) -> ItemWrite:
    saved_response = idempotency_key.remember(answer)
    if forget_at is not None:
        saved_response = replace(saved_response, forget_at=forget_at)
    item = items.saved_response_item(
        keys.idempotency_key(idempotency_key.principal.workspace, idempotency_key.digest), saved_response
    )
    if idempotency_key.at is None:
        return put(item, NOT_THERE_YET, errors.KeyTaken, Fitness.LASTING, Exclusive())
    return put(
        item,
        NOT_THERE_OR_OVER,
        errors.KeyTaken,
        Fitness.LASTING,
        Exclusive(),
        now=times.to_ms(idempotency_key.at) // 1_000,
    )

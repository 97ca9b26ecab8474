"""Saves the response to a request with an idempotency key."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from baton.adapters.dynamodb import items, keys
from baton.adapters.dynamodb.puts import NOT_THERE_YET, put
from baton.domain.errors import KeyTaken
from baton.domain.times import to_ms

if TYPE_CHECKING:
    from datetime import datetime

    from baton.adapters.dynamodb.table import Write
    from baton.domain.idempotency import IdempotencyKey

# No item, or an expired one: the table may take days to delete it.
NOT_THERE_OR_OVER = f"{NOT_THERE_YET} OR #ttl <= :now"


def response_put(
    idempotency_key: IdempotencyKey, answer: dict[str, Any], token: str, forget_at: datetime | None = None
) -> Write:
    saved_response = idempotency_key.remember(answer)
    if forget_at is not None:
        saved_response = replace(saved_response, forget_at=forget_at)
    item = items.saved_response_item(
        keys.idempotency_key(idempotency_key.principal.workspace, idempotency_key.digest), saved_response
    )
    if idempotency_key.at is None:
        return put({**item, "written_by": token}, NOT_THERE_YET, KeyTaken)
    return put({**item, "written_by": token}, NOT_THERE_OR_OVER, KeyTaken, now=to_ms(idempotency_key.at) // 1_000)

"""The item of a workspace's people."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from baton.adapters.dynamodb import keys
from baton.adapters.dynamodb.item_writes import Item, ItemWrite
from baton.adapters.dynamodb.puts import put_version
from baton.domain import times
from baton.domain.access.person import People
from baton.domain.access.rights import Right
from baton.domain.canonical_json import canonical_json
from baton.domain.numbers import loads


def people_item(people: People) -> Item:
    """The names with the ids of their tokens, when each regained which right, and until when the approvals of
    each have ended. A token's right is in the token alone."""
    tokens = canonical_json({name: [each.token_id for each in of.held] for name, of in people.persons.items()})
    regained = {name: _ms(of.regained) for name, of in people.persons.items() if of.regained}
    return {
        **keys.people(people.workspace)._asdict(),
        "tokens": tokens,
        "regained": canonical_json(regained),
        "ended": canonical_json({name: times.to_ms(at) for name, at in people.ended.items()}),
        "version": people.version,
    }


def regained_from(item: Item) -> dict[str, dict[Right, datetime]]:
    """Returns for each name when it regained which right. Items of an earlier release say nothing of it."""
    return {
        name: {right: times.from_ms(ms) for right, ms in zip(Right, told, strict=True) if ms}
        for name, told in loads(item.get("regained") or "{}").items()
    }


def ended_from(item: Item) -> dict[str, datetime]:
    """Returns for each name until when the person's approvals have ended."""
    return {name: times.from_ms(ms) for name, ms in loads(item.get("ended") or "{}").items()}


def people_put(people: People) -> ItemWrite:
    return put_version(people_item(people), people.version, "people")


def _ms(regained: Mapping[Right, datetime]) -> list[int]:
    """A list in the order of the rights, 0 for a right that was never regained: one item names up to 5,000 people."""
    return [times.to_ms(regained[right]) if right in regained else 0 for right in Right]

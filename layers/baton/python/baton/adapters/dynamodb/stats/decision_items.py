"""The items of decisions."""

from __future__ import annotations

from baton.adapters.dynamodb import keys
from baton.adapters.dynamodb.item_writes import Item
from baton.domain.stats.decision import Decision

_TEXTS = ("by", "verb", "detail", "reason", "title", "source_agent", "target_agent", "priority")


def told_of(decision: Decision) -> Item:
    return {name: value for name in _TEXTS if (value := getattr(decision, name)) is not None}


def decision_item(decision: Decision) -> Item:
    return {**keys.decision(decision)._asdict(), **told_of(decision)}


def decision_from(item: Item) -> Decision:
    workspace, at, about, seq = keys.parse_decision(keys.Key(item["pk"], item["sk"]))
    texts: Item = {name: item.get(name) for name in _TEXTS}
    return Decision(workspace=workspace, at=at, about=about, seq=seq, **texts)

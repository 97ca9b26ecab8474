"""How a golden file shows what is stored and sent: sorted, an attribute a line, each with its type."""

from __future__ import annotations

import json
from collections.abc import Collection
from datetime import datetime
from typing import Any

TOKEN = "(the write's token)"


def readable_item(item: dict[str, Any], tokens: Collection[str] = ()) -> dict[str, Any]:
    """An item in DynamoDB's own form, with types in the names: ``"version (N)": "3"``."""
    return dict(_typed(name, value, tokens) for name, value in sorted(item.items()) if name not in ("pk", "sk"))


def _typed(name: str, value: dict[str, Any], tokens: Collection[str]) -> tuple[str, Any]:
    ((kind, inner),) = value.items()
    return f"{name} ({kind})".strip(), _plain(kind, inner, tokens)


def _plain(kind: str, inner: Any, tokens: Collection[str]) -> Any:
    """Of a list, each element is shown as an attribute without a name."""
    if kind == "M":
        return dict(_typed(name, each, tokens) for name, each in sorted(inner.items()))
    if kind == "L":
        return [dict([_typed("", each, tokens)]) for each in inner]
    if kind in ("SS", "NS"):
        return sorted(inner)
    return TOKEN if kind == "S" and inner in tokens else inner


def readable_message(message: dict[str, Any]) -> dict[str, Any]:
    return {name: value.isoformat() if isinstance(value, datetime) else value for name, value in message.items()}


def written(told: dict[str, Any]) -> str:
    return json.dumps(told, indent=1, sort_keys=True, ensure_ascii=False) + "\n"

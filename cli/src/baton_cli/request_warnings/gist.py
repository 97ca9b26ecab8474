"""The parts of an action's arguments that matter first: the amount and the target."""

from __future__ import annotations

import re
from typing import Any

from baton_cli.request_warnings.amounts import amount_of
from baton_cli.request_warnings.comparison import short
from baton_cli.request_warnings.places import leaves, texts
from baton_cli.request_warnings.references import references

MOST = 3
_AMOUNT = re.compile("amount|total|sum|price|cost|value|quantity|count", re.IGNORECASE)
_TARGET = re.compile(
    "(?:to|target|recipient|payee|account|iban|path|file|url|host|address|environment|branch|table|name|id)",
    re.IGNORECASE,
)


def gist_of(given: Any) -> list[tuple[str, str]]:
    """Returns up to three places with their values: an amount, then targets, then the rest."""
    found = list(leaves(given))
    amounts = [each for each in found if amount_of(each.value) is not None]
    first = next((each for each in amounts if _AMOUNT.search(_name(each.at))), next(iter(amounts), None))
    named = {each.at for each in references(list(texts(given))) if each.kind != "command"}
    others = [each for each in found if each is not first]
    targets = [each for each in others if each.at in named or _TARGET.fullmatch(_name(each.at))]
    rest = [each for each in others if each not in targets]
    chosen = [*([first] if first else []), *targets, *rest][:MOST]
    return [(each.at, short(each.value)) for each in chosen]


def _name(at: str) -> str:
    return at.rpartition(".")[2]

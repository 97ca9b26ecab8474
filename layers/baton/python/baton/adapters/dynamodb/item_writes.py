"""One item of a commit: how fit it is as the commit proof, and how it fences the transaction off."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from baton.adapters.dynamodb import keys
from baton.domain import errors

Item = dict[str, Any]
# Makes the error that a failed condition stands for.
Refused = Callable[[], errors.BatonError]


class Fitness(IntEnum):
    """How fit an item is as the commit proof. Every fit item carries the transaction's token."""

    NONE = 0
    CHANGING = 1  # a later commit rewrites it: the proof only where the commit has no better one
    LASTING = 2  # nobody changes it afterwards


@dataclass(frozen=True, slots=True)
class KeyBar:
    """Fences off a transaction that puts an item under this key on condition that none exists: another item is put
    there. Only for keys that nothing else will ever use, as the key of a new id."""

    key: keys.Key


@dataclass(frozen=True, slots=True)
class VersionBar:
    """Fences off a transaction that requires this version of the item: the item is put into its next version."""

    key: keys.Key
    version: int


@dataclass(frozen=True, slots=True)
class TokenBar:
    """Fences off a transaction that requires the item, its commit proof, not to have the attribute ``barred(token)``:
    the attribute is set."""

    key: keys.Key


@dataclass(frozen=True, slots=True)
class Exclusive:
    """Nothing has to be fenced off: every other decision of the caller writes this item too, and is refused by it."""


Bar = KeyBar | VersionBar | TokenBar


@dataclass(frozen=True, slots=True)
class StampedEvent:
    """The event of a HEAD that carries the transaction's token in place of HEAD itself: later commits rewrite HEAD, and
    hand the event on as it is."""

    trail: str  # partition of the task's trail, where the event may be by now
    seq: int
    index: int  # its place in ``events``


@dataclass(frozen=True, slots=True)
class ItemWrite:
    """One item of a transaction."""

    kind: str
    request: Item
    refused: Refused
    fitness: Fitness = Fitness.NONE
    bar: Bar | Exclusive | None = None  # how this item fences off the whole transaction
    event: StampedEvent | None = None  # what carries the token; None: the item itself
    # Once it was applied, its condition refuses it for ever: the item is there, or in a later version.
    refuses_a_repeat: bool = False
    # Put by itself before the others: nobody finds it before they are written. With a condition it also takes its key
    # for this commit alone.
    comes_first: bool = False
    # Nobody else may put this item, as another one that came first has taken its id: its being there, in any version,
    # is the commit proof.
    proves_by_presence: bool = False

    @property
    def key(self) -> keys.Key:
        wire = self.request.get("Key") or self.request["Item"]
        return keys.Key(wire["pk"]["S"], wire["sk"]["S"])

    def stamped(self, request: Item, token: str) -> Item:
        """Returns the item's request with the transaction's token. An update has a place for ``:written_by``."""
        if self.fitness is Fitness.NONE or self.proves_by_presence:
            return request
        if self.event is not None:
            entries = list(request["Item"]["events"]["L"])
            entries[self.event.index] = {"M": {**entries[self.event.index]["M"], "write": {"S": short(token)}}}
            return {**request, "Item": {**request["Item"], "events": {"L": entries}}}
        if self.kind == "Put":
            return {**request, "Item": {**request["Item"], "written_by": {"S": token}}}
        names, values = request["ExpressionAttributeNames"], request["ExpressionAttributeValues"]
        if isinstance(self.bar, TokenBar):
            names = {**names, "#barred": barred(token)}
        values = {**values, ":written_by": {"S": token}}
        return {**request, "ExpressionAttributeNames": names, "ExpressionAttributeValues": values}


def key_of(item: Item) -> keys.Key:
    return keys.Key(item["pk"], item["sk"])


def barred(token: str) -> str:
    """Returns the name of the attribute that fences off the transaction with this token."""
    return f"barred_{token}"


def short(token: str) -> str:
    """Returns the token as an event carries it: 62 random bits, as it has to be told from its rivals for one number."""
    return token[-16:]


def proof_and_bar(writes: Sequence[ItemWrite]) -> tuple[ItemWrite, Bar | Exclusive | None]:
    """Returns the write of the commit proof: the first item that nobody changes, else the first that has the token. And
    how the transaction is fenced off: as its first item with a bar says."""
    best = max(writes, key=lambda write: write.fitness)
    if best.fitness is Fitness.NONE:
        raise ValueError("a transaction needs an item that can be recognised")
    return best, next((write.bar for write in writes if write.bar is not None), None)

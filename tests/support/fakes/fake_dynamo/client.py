"""The calls that Baton's store makes, on one table. Every write is done at one moment, also under threads; reads of
many items, and indexes, may be of several."""

from __future__ import annotations

from contextlib import suppress
from itertools import accumulate
from threading import RLock
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from support.fakes.fake_dynamo.expressions import Invalid, holds, in_range, updated
from support.fakes.fake_dynamo.indexes import FakeIndex, index_attributes
from support.fakes.fake_dynamo.rules import Unlawful, check, check_item
from support.fakes.fake_dynamo.sizes import MAX_BATCH_BYTES, MAX_ITEM_BYTES, MAX_PAGE_BYTES, item_bytes
from support.fakes.fake_dynamo.weather import Calm, Weather, refusal, trouble

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Item = dict[str, Any]
Key = tuple[str, str]
# An item's key, what it was and what it is now, None where there is none.
Change = tuple[Key, Item | None, Item | None]
Row = tuple[str, Key, Item]
# How long a ClientRequestToken is known.
TOKEN_MS = 600_000
# What was asked that DynamoDB would have refused, since a test last looked: whoever caught the error, it is seen.
UNLAWFUL: list[str] = []


class FakeDynamo:
    """``watch`` hears of every write, with all changes of a transaction together. Items are never changed, only
    replaced, so that a copy of the dictionaries around them is a copy of the table."""

    def __init__(self, weather: Weather | None = None) -> None:
        self.weather: Weather = weather or Calm()
        self.items: dict[str, dict[str, Item]] = {}
        self.indexes = {name: FakeIndex(name) for name in index_attributes()}
        self.watch: Callable[[Sequence[Change]], object] = lambda _changes: None
        self.largest_transaction = 0
        # Of those that somebody had to know: forgotten when the item changes.
        self._sizes: dict[Key, int] = {}
        self._tokens: dict[str, tuple[int, list[Item]]] = {}
        self._under_way: set[str] = set()
        self._lock = RLock()

    # For tests, without any weather

    def item(self, key: Key) -> Item | None:
        with self._lock:  # never between two items of one transaction
            return self.items.get(key[0], {}).get(key[1])

    @property
    def is_new(self) -> bool:
        """Nothing happened to it yet, and nothing out of the ordinary will."""
        return type(self) is FakeDynamo and type(self.weather) is Calm and self.weather.knows_tokens and not self.items

    def contents(self) -> dict[Key, Item]:
        with self._lock:
            return {(pk, sk): item for pk, rows in self.items.items() for sk, item in rows.items()}

    def put(self, item: Item) -> None:
        """Whatever was there."""
        key = _key(item)
        with self._lock:
            self._write([(key, self.item(key), item)])

    def delete(self, wire: Item) -> None:
        key = _key(wire)
        with self._lock:
            self._write([(key, self.item(key), None)])

    def snapshot(self) -> Callable[[], None]:
        """What brings the table back to this moment."""
        indexes = [(index, index.snapshot()) for index in self.indexes.values()]
        items = {pk: dict(rows) for pk, rows in self.items.items()}
        sizes, tokens, under_way = dict(self._sizes), dict(self._tokens), set(self._under_way)

        def restore() -> None:
            self.items = {pk: dict(rows) for pk, rows in items.items()}
            self._sizes, self._tokens, self._under_way = dict(sizes), dict(tokens), set(under_way)
            for index, kept in indexes:
                index.restore(kept)

        return restore

    def take_over(self, other: FakeDynamo) -> None:
        """Holds from now on what the other one holds at this moment."""
        self.items = {pk: dict(rows) for pk, rows in other.items.items()}
        self._sizes, self._tokens = dict(other._sizes), dict(other._tokens)
        for name, index in self.indexes.items():
            index.restore(other.indexes[name].snapshot())

    # The client's calls, with DynamoDB's own parameters

    def get_item(self, **request: Any) -> Item:
        _must_be_lawful("get_item", request)
        key = _key(request["Key"])
        self._reached("get_item", key)
        item = self.item(key)
        return {"Item": item} if item else {}

    def batch_get_item(self, **request: Any) -> Item:
        """Items are read at moments of their own, in any order."""
        _must_be_lawful("batch_get_item", request)
        ((table, asked),) = request["RequestItems"].items()
        wanted = [_key(each) for each in asked["Keys"]]
        self._reached("batch_get_item", wanted[0])
        found: dict[Key, Item | None] = {}
        left: list[Key] = []
        if len(wanted) > 1 and (torn := self.weather.torn()):
            found = {key: self.item(key) for key in wanted if self.weather.draw(2)}
            if torn == 1:
                self.weather.rest("batch_get_item.rest", wanted[0])
            elif found:
                left = [key for key in wanted if key not in found]
        for key in wanted:
            if key not in found and key not in left:
                found[key] = self.item(key)
        there = [key for key in wanted if found.get(key)]
        fit = len(there)
        if fit > MAX_BATCH_BYTES // MAX_ITEM_BYTES:
            fit = _fitting([self._bytes(key) for key in there], MAX_BATCH_BYTES)
            left += there[fit:]
        answer: Item = {"Responses": {table: [found[key] for key in there[:fit]]}, "UnprocessedKeys": {}}
        if left:
            keys = [{"pk": {"S": pk}, "sk": {"S": sk}} for pk, sk in left]
            answer["UnprocessedKeys"] = {table: {**asked, "Keys": keys}}
        return answer

    def query(self, **request: Any) -> Item:
        _must_be_lawful("query", request)
        index, is_forward = request.get("IndexName"), request.get("ScanIndexForward", True)
        values = {name: value["S"] for name, value in request["ExpressionAttributeValues"].items()}
        partition, fits = in_range(request["KeyConditionExpression"], values)
        self._reached("query", (partition, index or ""))
        rows = [row for row in self._rows(partition, index) if fits(row[0])]
        if len(rows) > 1:
            rows.sort(key=lambda row: row[:2], reverse=not is_forward)
        if (start := request.get("ExclusiveStartKey")) is not None:
            at = (start[f"{index}_sk" if index else "sk"]["S"], _key(start))
            rows = [row for row in rows if row[:2] != at and (row[:2] > at) == is_forward]
        most = self._page_size(rows, request.get("Limit"), index)
        if len(rows) < most:
            return {"Items": [row[2] for row in rows], "Count": len(rows)}
        sk, (pk, base_sk), _ = rows[most - 1]
        last = {"pk": {"S": pk}, "sk": {"S": base_sk}}
        if index:
            last |= {f"{index}_pk": {"S": partition}, f"{index}_sk": {"S": sk}}
        return {"Items": [row[2] for row in rows[:most]], "Count": most, "LastEvaluatedKey": last}

    def update_item(self, **request: Any) -> Item:
        _must_be_lawful("update_item", request)
        key = _key(request["Key"])

        def apply(*, arrives: bool = False) -> Item:
            old = self.item(key)
            if not holds(request, old):
                raise refusal("ConditionalCheckFailedException", "update_item", **_old_item(request, old))
            try:
                new = _updated(request, old)
            except Invalid as exc:
                raise refusal("ValidationException", "update_item", message=str(exc)) from exc
            self._write([(key, old, new)])
            return {"Attributes": new} if request.get("ReturnValues") == "ALL_NEW" else {}

        return self._fallible("update_item", key, apply)

    def transact_write_items(self, **request: Any) -> Item:
        _must_be_lawful("transact_write_items", request)
        asked, token = request["TransactItems"], request["ClientRequestToken"]
        writes = [(kind, inner) for each in asked for kind, inner in each.items()]
        keys = [_key(inner.get("Key") or inner["Item"]) for _, inner in writes]
        self.largest_transaction = max(self.largest_transaction, len(keys))

        def apply(*, arrives: bool = False) -> Item:
            if token in self._under_way and not arrives:
                raise refusal("TransactionInProgressException", "transact_write_items")
            self._under_way.discard(token)
            if not self._is_known(token, asked):
                changes = self._decided(writes, keys)
                self._tokens[token] = self.weather.now_ms, asked
                self._write(changes)
            return {}

        is_shared = any(self.item(key) for key in keys)
        return self._fallible("transact_write_items", keys[0], apply, token, is_shared=is_shared)

    # What they do

    def _decided(self, writes: list[tuple[str, Item]], keys: list[Key]) -> list[Change]:
        """Raises with a reason for each item, in order."""
        reasons: list[Item] = []
        changes: list[Change] = []
        for key, (kind, inner) in zip(keys, writes, strict=True):
            old = self.item(key)
            reason: Item = {"Code": "None"}
            if not holds(inner, old):
                reason = {"Code": "ConditionalCheckFailed", **_old_item(inner, old)}
            elif kind != "ConditionCheck":
                try:
                    changes.append((key, old, _NEW[kind](inner, old)))
                except Invalid as exc:
                    reason = {"Code": "ValidationError", "Message": str(exc)}
            reasons.append(reason)
        if any(reason["Code"] != "None" for reason in reasons):
            raise refusal("TransactionCanceledException", "transact_write_items", CancellationReasons=reasons)
        return changes

    def _is_known(self, token: str, asked: list[Item]) -> bool:
        """Raises for a token that came with another request."""
        at_ms, before = self._tokens.get(token, (-TOKEN_MS, asked))
        if not self.weather.knows_tokens or self.weather.now_ms - at_ms >= TOKEN_MS:
            return False
        if before is not asked and before != asked:
            raise refusal("IdempotentParameterMismatchException", "transact_write_items")
        return True

    def _rows(self, partition: str, index: str | None) -> list[Row]:
        with self._lock:
            if index:
                return self.indexes[index].rows(partition, self.weather.now_ms)
            return [(sk, (partition, sk), item) for sk, item in self.items.get(partition, {}).items()]

    def _page_size(self, rows: list[Row], limit: int | None, index: str | None) -> int:
        """One more than there are if the page is the last, and nothing says otherwise."""
        most = len(rows) + 1 if limit is None else limit
        if len(rows) > MAX_PAGE_BYTES // MAX_ITEM_BYTES:
            sizes = [item_bytes(row[2]) if index else self._bytes(row[1]) for row in rows[:most]]
            fit = _fitting(sizes, MAX_PAGE_BYTES)
            most = fit if fit < len(sizes) else most
        if len(rows) > 1 and not index and self.weather.torn():  # as if it took more than 1 MB
            return min(most, 1 + self.weather.draw(len(rows)))
        return most

    def _bytes(self, key: Key) -> int:
        """Of an item that is there."""
        if key not in self._sizes:
            self._sizes[key] = item_bytes(self.item(key) or {})
        return self._sizes[key]

    def _reached(self, operation: str, key: object) -> None:
        if fault := self.weather.reach(operation, key, writes=False):
            raise trouble(fault, operation)

    def _fallible(
        self, operation: str, key: Key, apply: Callable[..., Item], token: str | None = None, *, is_shared: bool = True
    ) -> Item:
        fault = self.weather.reach(operation, key, writes=True)
        if fault == "conflict" and not is_shared:  # nobody else knows of any of its items
            fault = "throttle"
        if fault == "late":  # it is under way there, or still on the wire
            if token and self.weather.knows_tokens and self.weather.draw(4):
                self._under_way.add(token)
            self.weather.postpone(lambda: self._at_once(apply, arrives=True), operation)
        elif fault in ("lost", "lost_500"):
            with suppress(ClientError):
                self._at_once(apply)
        if fault:
            raise trouble(fault, operation)
        return self._at_once(apply)

    def _at_once(self, apply: Callable[..., Item], **how: bool) -> Item:
        with self._lock:
            return apply(**how)

    def _write(self, changes: list[Change]) -> None:
        for key, old, new in changes:
            pk, sk = key
            if new is None:
                self.items.get(pk, {}).pop(sk, None)
            else:
                self.items.setdefault(pk, {})[sk] = new
            self._sizes.pop(key, None)
            for index in self.indexes.values():
                index.changed(key, old, new, lambda: self.weather.now_ms + self.weather.lag_ms())
        self.watch(changes)


def _fitting(sizes: list[int], most_bytes: int) -> int:
    """How many of the first are within that together; one at least."""
    return max(1, sum(together <= most_bytes for together in accumulate(sizes)))


def _updated(request: Item, old: Item | None) -> Item:
    new = updated(request, old, request["Key"])
    try:
        check_item(new)
    except Unlawful as exc:
        raise Invalid(str(exc)) from exc
    return new


_NEW: dict[str, Callable[[Item, Item | None], Item | None]] = {
    "Put": lambda inner, _old: inner["Item"],
    "Delete": lambda _inner, _old: None,
    "Update": _updated,
}


def _old_item(request: Item, old: Item | None) -> Item:
    is_asked = request.get("ReturnValuesOnConditionCheckFailure") == "ALL_OLD"
    return {"Item": old} if old and is_asked else {}


def _must_be_lawful(operation: str, request: Item) -> None:
    try:
        check(operation, request)
    except Unlawful as exc:
        UNLAWFUL.append(f"{operation}: {exc}")
        raise


def _key(wire: Item) -> Key:
    return wire["pk"]["S"], wire["sk"]["S"]

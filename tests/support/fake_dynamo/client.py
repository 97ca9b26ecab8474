"""The calls that Baton's store makes, on one table. Every write is done at one moment; reads of many items, and
indexes, may be of several."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from support.fake_dynamo.expressions import holds, in_range, updated
from support.fake_dynamo.indexes import FakeIndex, index_attributes
from support.fake_dynamo.weather import Calm, Weather, refusal, trouble

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Item = dict[str, Any]
Key = tuple[str, str]
# An item's key, what it was and what it is now, None where there is none.
Change = tuple[Key, Item | None, Item | None]
# How long a ClientRequestToken is known.
TOKEN_MS = 600_000
MAX_ITEMS = 100


class FakeDynamo:
    """``watch`` hears of every write, with all changes of a transaction together."""

    def __init__(self, weather: Weather | None = None) -> None:
        self.weather: Weather = weather or Calm()
        self.items: dict[str, dict[str, Item]] = {}
        self.indexes = {name: FakeIndex(name) for name in index_attributes()}
        self.watch: Callable[[Sequence[Change]], object] = lambda _changes: None
        self._tokens: dict[str, int] = {}
        self._under_way: set[str] = set()

    def item(self, key: Key) -> Item | None:
        """As it is, without any weather."""
        return self.items.get(key[0], {}).get(key[1])

    # The client's calls, with DynamoDB's own parameters

    def get_item(self, *, TableName: str, Key: Item, ConsistentRead: bool, **_: Any) -> Item:  # noqa: N803
        key = _key(Key)
        self._reached("get_item", key)
        item = self.item(key)
        return {"Item": item} if item else {}

    def batch_get_item(self, *, RequestItems: Item, **_: Any) -> Item:  # noqa: N803
        """Items are read at moments of their own, in any order."""
        ((table, asked),) = RequestItems.items()
        wanted = [_key(each) for each in asked["Keys"]]
        if not 0 < len(wanted) <= MAX_ITEMS or len(set(wanted)) < len(wanted):
            raise refusal("ValidationException", "batch_get_item")
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
        answer: Item = {"Responses": {table: [item for key in wanted if (item := found.get(key))]}}
        if left:
            keys = [{"pk": {"S": pk}, "sk": {"S": sk}} for pk, sk in left]
            answer["UnprocessedKeys"] = {table: {**asked, "Keys": keys}}
        return answer

    def query(self, *, IndexName: str | None = None, **request: Any) -> Item:  # noqa: N803
        values = {name: value["S"] for name, value in request["ExpressionAttributeValues"].items()}
        partition, is_forward = values[":pk"], request.get("ScanIndexForward", True)
        self._reached("query", (partition, IndexName or ""))
        fits = in_range(request["KeyConditionExpression"], values)
        rows = sorted(
            (row for row in self._rows(partition, IndexName) if fits(row[0])),
            key=lambda row: row[:2],
            reverse=not is_forward,
        )
        if (start := request.get("ExclusiveStartKey")) is not None:
            at = (start[f"{IndexName}_sk" if IndexName else "sk"]["S"], _key(start))
            rows = [row for row in rows if row[:2] != at and (row[:2] > at) == is_forward]
        most = self._page_size(rows, request.get("Limit"), IndexName)
        if len(rows) < most:
            return {"Items": [row[2] for row in rows]}
        sk, (pk, base_sk), _ = rows[most - 1]
        last = {"pk": {"S": pk}, "sk": {"S": base_sk}}
        if IndexName:
            last |= {f"{IndexName}_pk": {"S": partition}, f"{IndexName}_sk": {"S": sk}}
        return {"Items": [row[2] for row in rows[:most]], "LastEvaluatedKey": last}

    def update_item(self, *, Key: Item, **request: Any) -> Item:  # noqa: N803
        key = _key(Key)

        def apply(*, arrives: bool = False) -> Item:
            old = self.item(key)
            if not holds(request, old):
                found: Item = {"Item": old} if old else {}
                raise refusal("ConditionalCheckFailedException", "update_item", **found)
            new = updated(request, old, Key)
            self._write([(key, old, new)])
            return {"Attributes": new}

        return self._fallible("update_item", key, apply)

    def transact_write_items(self, *, TransactItems: list[Item], ClientRequestToken: str, **_: Any) -> Item:  # noqa: N803
        writes = [(kind, inner) for each in TransactItems for kind, inner in each.items()]
        keys = [_key(inner.get("Key") or inner["Item"]) for _, inner in writes]
        if not 0 < len(keys) <= MAX_ITEMS or len(set(keys)) < len(keys):
            raise refusal("ValidationException", "transact_write_items")

        def apply(*, arrives: bool = False) -> Item:
            if ClientRequestToken in self._under_way and not arrives:
                raise refusal("TransactionInProgressException", "transact_write_items")
            self._under_way.discard(ClientRequestToken)
            if not self._is_known(ClientRequestToken):
                changes = self._decided(writes, keys)
                self._tokens[ClientRequestToken] = self.weather.now_ms
                self._write(changes)
            return {}

        is_shared = any(self.item(key) for key in keys)
        return self._fallible("transact_write_items", keys[0], apply, ClientRequestToken, is_shared=is_shared)

    # What they do

    def _decided(self, writes: list[tuple[str, Item]], keys: list[Key]) -> list[Change]:
        """Raises with a reason for each item, in order."""
        olds = [self.item(key) for key in keys]
        held = [holds(inner, old) for (_, inner), old in zip(writes, olds, strict=True)]
        if not all(held):
            reasons = [
                {"Code": "None" if ok else "ConditionalCheckFailed", **({"Item": old} if old and not ok else {})}
                for ok, old in zip(held, olds, strict=True)
            ]
            raise refusal("TransactionCanceledException", "transact_write_items", CancellationReasons=reasons)
        changes: list[Change] = []
        for key, old, (kind, inner) in zip(keys, olds, writes, strict=True):
            if kind == "Put":
                changes.append((key, old, inner["Item"]))
            elif kind == "Delete":
                changes.append((key, old, None))
            elif kind == "Update":
                changes.append((key, old, updated(inner, old, inner["Key"])))
        return changes

    def _is_known(self, token: str) -> bool:
        return self.weather.knows_tokens and self.weather.now_ms - self._tokens.get(token, -TOKEN_MS) < TOKEN_MS

    def _rows(self, partition: str, index: str | None) -> list[tuple[str, Key, Item]]:
        if index:
            return self.indexes[index].rows(partition, self.weather.now_ms)
        return [(sk, (partition, sk), item) for sk, item in self.items.get(partition, {}).items()]

    def _page_size(self, rows: list[Any], limit: int | None, index: str | None) -> int:
        most = len(rows) + 1 if limit is None else limit
        if len(rows) > 1 and not index and self.weather.torn():  # as if it took more than 1 MB
            return min(most, 1 + self.weather.draw(len(rows)))
        return most

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
            self.weather.postpone(lambda: apply(arrives=True), operation)
        elif fault in ("lost", "lost_500"):
            with suppress(ClientError):
                apply()
        if fault:
            raise trouble(fault, operation)
        return apply()

    def _write(self, changes: list[Change]) -> None:
        for (pk, sk), old, new in changes:
            if new is None:
                self.items.get(pk, {}).pop(sk, None)
            else:
                self.items.setdefault(pk, {})[sk] = new
            for index in self.indexes.values():
                index.changed((pk, sk), old, new, lambda: self.weather.now_ms + self.weather.lag_ms())
        self.watch(changes)


def _key(wire: Item) -> Key:
    return wire["pk"]["S"], wire["sk"]["S"]

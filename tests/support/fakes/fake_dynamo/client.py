"""The DynamoDB calls that Baton's store makes, on one table. A write happens at one moment, also under threads. Reads
and batch writes of several items, and indexes, may show several moments."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING, Any, TypeVar

from botocore.exceptions import ClientError

from support.fakes.fake_dynamo.capacity import IN_A_TRANSACTION, Charge, consumed, write_charges
from support.fakes.fake_dynamo.expressions import Invalid, holds, in_range, updated
from support.fakes.fake_dynamo.fault_source import FaultSource, NoFaults, refusal, trouble
from support.fakes.fake_dynamo.rules import Unlawful, check, check_item
from support.fakes.fake_dynamo.sizes import MAX_BATCH_BYTES, MAX_ITEM_BYTES, MAX_PAGE_BYTES, item_bytes
from support.fakes.fake_dynamo.storage import Change, Item, Key, Row, Storage, key_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["UNLAWFUL", "Change", "FakeDynamo", "Item", "Key"]
T = TypeVar("T")
# How long a ClientRequestToken is known.
TOKEN_MS = 600_000
# The requests since the last test that DynamoDB would have refused. A test fails by them even if the error was caught.
UNLAWFUL: list[str] = []


class FakeDynamo(Storage):
    """``bill``, if there is one, is told what each write costs on which partition key; refused writes cost too."""

    def __init__(self, fault_source: FaultSource | None = None) -> None:
        super().__init__(fault_source)
        self.bill: Callable[[Sequence[Charge]], object] | None = None
        self.largest_transaction = 0

    @property
    def is_new(self) -> bool:
        """Nothing happened to it yet, and nothing out of the ordinary will."""
        return (
            type(self) is FakeDynamo
            and type(self.fault_source) is NoFaults
            and self.fault_source.knows_tokens
            and not self.items
        )

    # The client's calls, with DynamoDB's own parameters

    def get_item(self, **request: Any) -> Item:
        _must_be_lawful("get_item", request)
        key = key_of(request["Key"])
        self._reached("get_item", key)
        item = self.item(key)
        return {"Item": item} if item else {}

    def batch_get_item(self, **request: Any) -> Item:
        """Items are read at moments of their own, in any order."""
        _must_be_lawful("batch_get_item", request)
        ((table, asked),) = request["RequestItems"].items()
        wanted = [key_of(each) for each in asked["Keys"]]
        self._reached("batch_get_item", wanted[0])
        found: dict[Key, Item | None] = {}
        left: list[Key] = []
        if len(wanted) > 1 and (torn := self.fault_source.torn()):
            found = {key: self.item(key) for key in wanted if self.fault_source.draw(2)}
            if torn == 1:
                self.fault_source.rest("batch_get_item.rest", wanted[0])
            elif found:
                left = [key for key in wanted if key not in found]
        for key in wanted:
            if key not in found and key not in left:
                found[key] = self.item(key)
        there = [key for key in wanted if found.get(key)]
        fit = len(there)
        if fit > MAX_BATCH_BYTES // MAX_ITEM_BYTES:
            fit = _fitting([self.size_of(key) for key in there], MAX_BATCH_BYTES)
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
        rows = [row for row in self.rows(partition, index) if fits(row[0])]
        if not rows:  # as most shards are, whenever a sweeper looks
            return {"Items": [], "Count": 0}
        if len(rows) > 1:
            rows.sort(key=lambda row: row[:2], reverse=not is_forward)
        if (start := request.get("ExclusiveStartKey")) is not None:
            at = (start[f"{index}_sk" if index else "sk"]["S"], key_of(start))
            rows = [row for row in rows if row[:2] != at and (row[:2] > at) == is_forward]
        most = self._page_size(rows, request.get("Limit"), index)
        if len(rows) < most:
            return {"Items": [row[2] for row in rows], "Count": len(rows)}
        sk, (pk, base_sk), _ = rows[most - 1]
        last = {"pk": {"S": pk}, "sk": {"S": base_sk}}
        if index:
            last |= {f"{index}_pk": {"S": partition}, f"{index}_sk": {"S": sk}}
        return {"Items": [row[2] for row in rows[:most]], "Count": most, "LastEvaluatedKey": last}

    def put_item(self, **request: Any) -> Item:
        _must_be_lawful("put_item", request)
        return self._write_one("put_item", request, key_of(request["Item"]), _NEW["Put"])

    def update_item(self, **request: Any) -> Item:
        _must_be_lawful("update_item", request)
        return self._write_one("update_item", request, key_of(request["Key"]), _updated)

    def batch_write_item(self, **request: Any) -> Item:
        """Writes each item by itself, at its own moment, whatever was there. Answers with the items that DynamoDB had
        no time for."""
        _must_be_lawful("batch_write_item", request)
        ((table, asked),) = request["RequestItems"].items()
        charges: list[Charge] = []

        def apply(chosen: list[Item]) -> None:
            for each in chosen:
                charges.extend(self._at_once(partial(self._write_over, request, each)))

        first = _batch_change(asked[0])[0]
        fault = self._fault("batch_write_item", first, is_shared=False)
        if fault == "late":
            self.fault_source.postpone(lambda: apply(asked), "batch_write_item")
        elif fault in ("lost", "lost_500"):
            apply([each for each in asked if not self.fault_source.draw(2)])
        if fault:
            raise trouble(fault, "batch_write_item")
        torn = self.fault_source.torn() if len(asked) > 1 else 0
        now = [each for each in asked if not torn or self.fault_source.draw(2)]
        left = [each for each in asked if each not in now]
        apply(now)
        if torn == 1:
            self.fault_source.rest("batch_write_item.rest", first)
        if torn == 1 or not now:  # a call of which nothing can be done is refused
            apply(left)
            left = []
        return {"UnprocessedItems": {table: left} if left else {}, **_told(request, table, charges)}

    def transact_write_items(self, **request: Any) -> Item:
        _must_be_lawful("transact_write_items", request)
        asked, token = request["TransactItems"], request["ClientRequestToken"]
        writes = [(kind, inner) for each in asked for kind, inner in each.items()]
        keys = [key_of(inner.get("Key") or inner["Item"]) for _, inner in writes]
        self.largest_transaction = max(self.largest_transaction, len(keys))

        def apply(*, arrives: bool = False) -> Item:
            if token in self._under_way and not arrives:
                raise refusal("TransactionInProgressException", "transact_write_items")
            self._under_way.discard(token)
            if self._is_known(token, asked):
                return {}
            changes = self._decided(request, writes, keys)
            self._tokens[token] = self.fault_source.now_ms, asked
            written = [each for each, (kind, _) in zip(changes, writes, strict=True) if kind != "ConditionCheck"]
            return _told(request, writes[0][1].get("TableName"), self._applied(request, written, changes))

        is_shared = any(self.item(key) for key in keys)
        return self._fallible("transact_write_items", keys[0], apply, token, is_shared=is_shared)

    # What they do

    def _write_one(
        self, operation: str, request: Item, key: Key, change: Callable[[Item, Item | None], Item | None]
    ) -> Item:
        def apply(*, arrives: bool = False) -> Item:
            old = self.item(key)
            if not holds(request, old):
                self._charge(request, [(key, old, old)])
                raise refusal("ConditionalCheckFailedException", operation, **_old_item(request, old))
            try:
                new = change(request, old)
            except Invalid as exc:
                raise refusal("ValidationException", operation, message=str(exc)) from exc
            told = _told(request, request.get("TableName"), self._applied(request, [(key, old, new)]))
            shown = {"ALL_NEW": new, "ALL_OLD": old}.get(request.get("ReturnValues", "NONE"))
            return {"Attributes": shown, **told} if shown else told

        is_shared = operation == "update_item" or self.item(key) is not None
        return self._fallible(operation, key, apply, is_shared=is_shared)

    def _write_over(self, request: Item, member: Item) -> list[Charge]:
        key, new = _batch_change(member)
        return self._applied(request, [(key, self.item(key), new)])

    def _decided(self, request: Item, writes: list[tuple[str, Item]], keys: list[Key]) -> list[Change]:
        """Raises with a reason for each item, in order. An item that is only checked stays as it is."""
        reasons: list[Item] = []
        changes: list[Change] = []
        for key, (kind, inner) in zip(keys, writes, strict=True):
            old = new = self.item(key)
            reason: Item = {"Code": "None"}
            if not holds(inner, old):
                reason = {"Code": "ConditionalCheckFailed", **_old_item(inner, old)}
            elif kind != "ConditionCheck":
                try:
                    new = _NEW[kind](inner, old)
                except Invalid as exc:
                    reason = {"Code": "ValidationError", "Message": str(exc)}
            changes.append((key, old, new))
            reasons.append(reason)
        if any(reason["Code"] != "None" for reason in reasons):
            self._charge(request, [(key, old, old) for key, old, _ in changes])
            raise refusal("TransactionCanceledException", "transact_write_items", CancellationReasons=reasons)
        return changes

    def _is_known(self, token: str, asked: list[Item]) -> bool:
        """Raises for a token that came with another request."""
        at_ms, before = self._tokens.get(token, (-TOKEN_MS, asked))
        if not self.fault_source.knows_tokens or self.fault_source.now_ms - at_ms >= TOKEN_MS:
            return False
        if before is not asked and before != asked:
            raise refusal("IdempotentParameterMismatchException", "transact_write_items")
        return True

    def _page_size(self, rows: list[Row], limit: int | None, index: str | None) -> int:
        """Returns how many rows a page has: one more than there are if it is the last page, unless a limit or a fault
        says otherwise."""
        most = len(rows) + 1 if limit is None else limit
        if len(rows) > MAX_PAGE_BYTES // MAX_ITEM_BYTES:
            sizes = [item_bytes(row[2]) if index else self.size_of(row[1]) for row in rows[:most]]
            fit = _fitting(sizes, MAX_PAGE_BYTES)
            most = fit if fit < len(sizes) else most
        if len(rows) > 1 and not index and self.fault_source.torn():  # as if it took more than 1 MB
            return min(most, 1 + self.fault_source.draw(len(rows)))
        return most

    def _reached(self, operation: str, key: object) -> None:
        if fault := self.fault_source.reach(operation, key, writes=False):
            raise trouble(fault, operation)

    def _applied(self, request: Item, written: list[Change], looked_at: list[Change] | None = None) -> list[Charge]:
        """Applies the changes. ``looked_at``: the changes that are paid for, if these are more than the written
        ones."""
        self.write(written)
        return self._charge(request, looked_at or written)

    def _charge(self, request: Item, changes: list[Change]) -> list[Charge]:
        """Returns the charges of a write; none if neither the test nor the request asks for them."""
        if self.bill is None and not _asks_what_it_costs(request):
            return []
        times = IN_A_TRANSACTION if "TransactItems" in request else 1
        charges = [charge for key, old, new in changes for charge in write_charges(key[0], old, new, times)]
        if self.bill is not None:
            self.bill(charges)
        return charges

    def _fallible(
        self, operation: str, key: Key, apply: Callable[..., Item], token: str | None = None, *, is_shared: bool = True
    ) -> Item:
        fault = self._fault(operation, key, is_shared=is_shared)
        if fault == "late":  # it is under way there, or still on the wire
            if token and self.fault_source.knows_tokens and self.fault_source.draw(4):
                self._under_way.add(token)
            self.fault_source.postpone(lambda: self._at_once(apply, arrives=True), operation)
        elif fault in ("lost", "lost_500"):
            with suppress(ClientError):
                self._at_once(apply)
        if fault:
            raise trouble(fault, operation)
        return self._at_once(apply)

    def _fault(self, operation: str, key: Key, *, is_shared: bool) -> str | None:
        """Of a write."""
        fault = self.fault_source.reach(operation, key, writes=True)
        # Nobody else knows of any of its items, or each of them is by itself.
        return "throttle" if fault == "conflict" and not is_shared else fault

    def _at_once(self, apply: Callable[..., T], **how: bool) -> T:
        with self._lock:
            return apply(**how)


def _fitting(sizes: list[int], most_bytes: int) -> int:
    """Returns how many of the first items are together within ``most_bytes``; at least one."""
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


def _batch_change(member: Item) -> tuple[Key, Item | None]:
    """Returns the key that a member of a batch writes, and the item that is there afterwards."""
    ((kind, inner),) = member.items()
    return (key_of(inner["Item"]), inner["Item"]) if kind == "PutRequest" else (key_of(inner["Key"]), None)


def _asks_what_it_costs(request: Item) -> bool:
    return bool(request.get("ReturnConsumedCapacity") == "INDEXES")


def _told(request: Item, table: str | None, charges: Sequence[Charge]) -> Item:
    """Returns what the answer says of a write's cost. A call that may write several items has a list, by tables."""
    if not _asks_what_it_costs(request):
        return {}
    of_table = consumed(str(table), charges)
    return {"ConsumedCapacity": of_table if "Key" in request or "Item" in request else [of_table]}


def _old_item(request: Item, old: Item | None) -> Item:
    is_asked = request.get("ReturnValuesOnConditionCheckFailure") == "ALL_OLD"
    return {"Item": old} if old and is_asked else {}


def _must_be_lawful(operation: str, request: Item) -> None:
    try:
        check(operation, request)
    except Unlawful as exc:
        UNLAWFUL.append(f"{operation}: {exc}")
        raise

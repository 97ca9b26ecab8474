"""The one door to DynamoDB: how its calls are made, when they are repeated, and what its errors mean.

A reply can be lost after the write was done: the SDK's own retry then fails its condition although *we* won. So every
transaction writes its token into a witness, an item that nobody changes afterwards; after an unclear or refused attempt
the witness is read, and if it carries our token, the write is ours (docs/spec/requests.md §3).

A request can also arrive late: after its repeat was refused, and something else was decided and answered. So before
a refusal is told, an attempt whose end is unclear is barred: a condition that it has is made to fail for ever
(docs/decisions/023-unclear-attempts-are-barred.md).
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol
from uuid import uuid4

from boto3.dynamodb.types import TypeDeserializer, TypeSerializer
from botocore.exceptions import (
    ClientError,
    ConnectionError,  # noqa: A004 - botocore's own
    ConnectTimeoutError,
    EndpointConnectionError,
    HTTPClientError,
)

from baton.adapters.dynamodb.keys import Key
from baton.adapters.dynamodb.sizes import must_fit
from baton.domain.errors import BatonError, Busy, Conflict
from baton.ports import MAX_ITEMS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

Item = dict[str, Any]
ATTEMPTS = 3
_FAILURES = (ClientError, ConnectionError, HTTPClientError)
_UNCLEAR_CODES = frozenset(
    {
        "InternalServerError",
        "InternalFailure",
        "ServiceUnavailable",
        "ThrottlingException",
        "ProvisionedThroughputExceededException",
        "RequestLimitExceeded",
        "RequestTimeout",
        "RequestTimeoutException",
        "TransactionInProgressException",
    }
)
_THROTTLES = frozenset({"ThrottlingException", "ProvisionedThroughputExceededException", "RequestLimitExceeded"})
# The same as the reason of a cancelled transaction.
_THROTTLED = frozenset({"ThrottlingError", "ProvisionedThroughputExceeded"})
_SERVER_ERROR = 500
_MAX_BATCH = 100


class DynamoClient(Protocol):
    """The five calls that Baton makes. Tests put their faults here, around the real one."""

    def get_item(self, **request: Any) -> Any: ...
    def batch_get_item(self, **request: Any) -> Any: ...
    def query(self, **request: Any) -> Any: ...
    def update_item(self, **request: Any) -> Any: ...
    def transact_write_items(self, **request: Any) -> Any: ...


@dataclass(frozen=True, slots=True)
class Write:
    """One item of a transaction. ``refused`` makes the error that its failed condition means."""

    kind: str
    request: Item
    refused: Callable[[], BatonError]


@dataclass(frozen=True, slots=True)
class Place:
    """A transaction that puts an item here, where none may be yet, is barred by another item in its place. For keys
    that nobody else will ever need: a new id's."""

    key: Key


@dataclass(frozen=True, slots=True)
class Seen:
    """A transaction that holds only while the item is in this version is barred by the next version."""

    key: Key
    version: int


@dataclass(frozen=True, slots=True)
class Mark:
    """A transaction that holds only while the item, its witness, doesn't have ``barred(token)`` is barred by that
    mark."""

    key: Key


Bar = Place | Seen | Mark


class ConditionFailed(Exception):
    """``item``: as it was found."""

    def __init__(self, item: Item) -> None:
        super().__init__("condition failed")
        self.item = item


class Table:
    def __init__(self, client: DynamoClient, name: str, sleep: Callable[[float], None]) -> None:
        self._client, self._name, self._sleep = client, name, sleep

    def get(self, key: Key) -> Item | None:
        answer = self._read(self._client.get_item, Key=to_wire(key._asdict()), ConsistentRead=True)
        return next(_there([answer["Item"]]), None) if "Item" in answer else None

    def get_many(self, wanted: Sequence[Key]) -> dict[Key, Item]:
        """At most 100 different ones, or ``ValueError``. Missing ones are left out."""
        once_each = list(dict.fromkeys(wanted))  # a batch read refuses double keys
        if len(once_each) > _MAX_BATCH:
            raise ValueError(wanted)
        found: dict[Key, Item] = {}
        asked = {self._name: {"Keys": [to_wire(key._asdict()) for key in once_each], "ConsistentRead": True}}
        for _ in range(ATTEMPTS):
            answer = self._call(self._client.batch_get_item, RequestItems=asked)
            for item in _there(answer["Responses"].get(self._name, [])):
                found[Key(item["pk"], item["sk"])] = item
            asked = answer.get("UnprocessedKeys") or {}
            if not asked:
                return found
            self._pause(1)
        raise Busy

    def query(self, condition: str, values: Item, *, limit: int, newest_first: bool = False, **more: Any) -> list[Item]:
        """The first ``limit``, each item once: in one reading unless they take more than 1 MB. ``condition`` speaks of
        ``#pk`` and ``#sk``: the table's own keys, or those of ``IndexName``, which may show an item twice while it
        moves."""
        found: dict[Key, Item] = {}
        while True:
            more["Limit"] = limit - len(found)
            answer = self._queried(condition, values, ScanIndexForward=not newest_first, **more)
            for item in _there(answer["Items"]):
                found.setdefault(Key(item["pk"], item["sk"]), item)
            if len(found) >= limit or "LastEvaluatedKey" not in answer:
                return list(found.values())
            more["ExclusiveStartKey"] = answer["LastEvaluatedKey"]

    def query_page(self, condition: str, values: Item, *, limit: int) -> tuple[list[Item], bool]:
        """At most ``limit``, and what fits into one answer of 1 MB; and whether there are more, as far as that is known
        without looking."""
        answer = self._queried(condition, values, Limit=limit + 1)
        found = list(_there(answer["Items"]))
        return found[:limit], len(found) > limit or "LastEvaluatedKey" in answer

    def query_all(self, condition: str, values: Item) -> Iterator[Item]:
        """Every page of one partition's range."""
        start: Item = {}
        while True:
            answer = self._queried(condition, values, **start)
            yield from _there(answer["Items"])
            if "LastEvaluatedKey" not in answer:
                return
            start = {"ExclusiveStartKey": answer["LastEvaluatedKey"]}

    def update(self, key: Key, *, attempts: int = ATTEMPTS, **request: Any) -> Item:
        """One item, in a way that may be done twice. Answers with the item as it is afterwards. Raises
        ``ConditionFailed``."""
        values = to_wire(request.pop("ExpressionAttributeValues"))
        for attempt in range(attempts):
            try:
                answer = self._client.update_item(
                    TableName=self._name,
                    Key=to_wire(key._asdict()),
                    ReturnValues="ALL_NEW",
                    ReturnValuesOnConditionCheckFailure="ALL_OLD",
                    ExpressionAttributeValues=values,
                    **request,
                )
            except _FAILURES as exc:
                if _code(exc) == "ConditionalCheckFailedException":
                    raise ConditionFailed(_old_item(exc)) from exc
                if not _is_unclear(exc) and _code(exc) != "TransactionConflictException":
                    raise
                self._pause(attempt)
            else:
                return from_wire(answer["Attributes"])
        raise Busy

    def transact(self, writes_for: Callable[[str], Sequence[Write]], witness: Key, bar: Bar | None = None) -> None:
        """All or nothing, exactly once. ``writes_for`` gets the token that the witness must carry as ``written_by``.
        Raises what the writes say they mean when refused, ``Conflict``, or ``Busy``; before anything is sent,
        ``TooLarge`` for an item that the table wouldn't take, and ``ValueError`` for more writes than one transaction
        takes or for two of one item. ``bar``: what keeps it from being done after a refusal was told; None where every
        other decision of the caller's has a condition of it against it."""
        token = uuid4().hex
        writes = writes_for(token)
        _must_fit(writes)
        request = [{write.kind: {"TableName": self._name, **write.request}} for write in writes]
        may_arrive = False
        for attempt in range(ATTEMPTS):
            try:
                self._client.transact_write_items(TransactItems=request, ClientRequestToken=token)
            except _FAILURES as exc:
                refusal = _refusal(exc, writes)
                if refusal is None and not _is_unclear(exc):
                    raise
                if self._is_ours(witness, token):
                    return
                if refusal is not None:
                    if may_arrive and bar is not None and self._was_done(bar, witness, token):
                        return
                    raise refusal from exc
                may_arrive = may_arrive or not _is_turned_away(exc)
                self._pause(attempt)
            else:
                return
        raise Busy

    def _was_done(self, bar: Bar, witness: Key, token: str) -> bool:
        """Whether the transaction was done after all; if it wasn't, it never will be. Raises ``Busy`` if that can't be
        brought about: then nobody may decide again."""
        match bar:
            case Place(key):
                request = _void(key)
            case Seen(key, version):
                request = _next_version(key, version)
            case Mark(key):
                request = _marked(key, token)
        try:
            self.update(**request)
        except ConditionFailed:
            return self._is_ours(witness, token)
        return False

    def delete_all(self, gone: Sequence[Key]) -> None:
        """At most 100, whether they are there or not. It may be done twice, so it needs no witness. Raises ``Busy``."""
        token = uuid4().hex
        writes = [Write("Delete", {"Key": to_wire(key._asdict())}, lambda: Conflict("item")) for key in gone]
        _must_fit(writes)
        request = [{write.kind: {"TableName": self._name, **write.request}} for write in writes]
        for attempt in range(ATTEMPTS):
            try:
                self._client.transact_write_items(TransactItems=request, ClientRequestToken=token)
            except _FAILURES as exc:
                if _refusal(exc, writes) is None and not _is_unclear(exc):
                    raise
                self._pause(attempt)
            else:
                return
        raise Busy

    def _is_ours(self, witness: Key, token: str) -> bool:
        """Raises ``Busy`` if that can't be told: then nobody may decide again as if it had not been written."""
        item = self.get(witness)
        return item is not None and item.get("written_by") == token

    def _queried(self, condition: str, values: Item, **more: Any) -> Any:
        """One page: of the table itself, or of ``IndexName``, which lags."""
        index = more.get("IndexName")
        return self._read(
            self._client.query,
            KeyConditionExpression=condition,
            ExpressionAttributeNames=_key_names(condition, f"{index}_" if index else ""),
            ExpressionAttributeValues=to_wire(values),
            ConsistentRead=index is None,
            **more,
        )

    def _read(self, call: Callable[..., Any], **request: Any) -> Any:
        return self._call(call, TableName=self._name, **request)

    def _call(self, call: Callable[..., Any], **request: Any) -> Any:
        for attempt in range(ATTEMPTS):
            try:
                return call(**request)
            except _FAILURES as exc:
                if not _is_unclear(exc):
                    raise
                self._pause(attempt)
        raise Busy

    def _pause(self, attempt: int) -> None:
        self._sleep(random.uniform(0, 0.05 * 2**attempt))  # noqa: S311 - spreads retries, keeps no secret


_serializer, _deserializer = TypeSerializer(), TypeDeserializer()


# What takes the place of an item that must never come: no reader sees it.
VOID = "void"
# The transaction that would have put an item here hasn't been done.
NOBODY_IS_HERE = "attribute_not_exists(#pk)"
# Nobody has changed it since it was read.
IS_AS_SEEN = "#version = :seen"
# It wasn't this transaction that wrote it last.
ISNT_ITS_WORK = "#written_by <> :token"


def barred(token: str) -> str:
    """The attribute that keeps a transaction from changing an item."""
    return f"barred_{token}"


def _void(key: Key) -> Item:
    return {
        "key": key,
        "UpdateExpression": "SET #void = :void",
        "ConditionExpression": NOBODY_IS_HERE,
        "ExpressionAttributeNames": {"#void": VOID, "#pk": "pk"},
        "ExpressionAttributeValues": {":void": True},
    }


def _next_version(key: Key, version: int) -> Item:
    return {
        "key": key,
        "UpdateExpression": "SET #version = :next",
        "ConditionExpression": IS_AS_SEEN,
        "ExpressionAttributeNames": {"#version": "version"},
        "ExpressionAttributeValues": {":seen": version, ":next": version + 1},
    }


def _marked(key: Key, token: str) -> Item:
    return {
        "key": key,
        "UpdateExpression": "SET #barred = :barred, #written_by = :nobody",
        "ConditionExpression": ISNT_ITS_WORK,
        "ExpressionAttributeNames": {"#barred": barred(token), "#written_by": "written_by"},
        "ExpressionAttributeValues": {":barred": True, ":token": token, ":nobody": barred(token)},
    }


def _there(wire: Iterable[Item]) -> Iterator[Item]:
    return (item for item in map(from_wire, wire) if VOID not in item)


def to_wire(item: Item) -> Item:
    """What is None is left out."""
    return {name: _serializer.serialize(value) for name, value in item.items() if value is not None}


def from_wire(item: Item) -> Item:
    return {name: _deserializer.deserialize(value) for name, value in item.items()}


def _must_fit(writes: Sequence[Write]) -> None:
    """Raises ``ValueError``, and ``TooLarge`` for an item that the table wouldn't take."""
    if len(writes) > MAX_ITEMS:
        raise ValueError(f"{len(writes)} items in one transaction")
    places = [write.request.get("Key") or write.request["Item"] for write in writes]
    if len({(place["pk"]["S"], place["sk"]["S"]) for place in places}) < len(writes):
        raise ValueError("one item twice in one transaction")
    must_fit(write.request["Item"] for write in writes if write.kind == "Put")


def _key_names(condition: str, prefix: str = "") -> dict[str, str]:
    """Only those that are used: DynamoDB refuses the others."""
    return {f"#{name}": prefix + name for name in ("pk", "sk") if f"#{name}" in condition}


def _code(exc: Exception) -> str:
    return str(_response(exc).get("Error", {}).get("Code", ""))


def _response(exc: Exception) -> Item:
    """What came back, if anything did."""
    return dict(exc.response) if isinstance(exc, ClientError) else {}


def _old_item(exc: Exception) -> Item:
    return from_wire(_response(exc).get("Item", {}))


def _is_unclear(exc: Exception) -> bool:
    """It may have been done or not: no answer, a server's error, or a throttle."""
    if not isinstance(exc, ClientError):
        return True
    status = exc.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    throttled = any(reason.get("Code") in _THROTTLED for reason in _reasons(exc))
    return _code(exc) in _UNCLEAR_CODES or status >= _SERVER_ERROR or throttled


def _is_turned_away(exc: Exception) -> bool:
    """It wasn't done and won't be: nobody has heard of it, or it was throttled."""
    if not isinstance(exc, ClientError):
        return isinstance(exc, ConnectTimeoutError | EndpointConnectionError)
    return _code(exc) in _THROTTLES or any(reason.get("Code") in _THROTTLED for reason in _reasons(exc))


def _refusal(exc: Exception, writes: Sequence[Write]) -> BatonError | None:
    """What a cancelled transaction means: the refused writes' own word, a used key's first; else that somebody else was
    writing the same items at that moment."""
    codes = [reason.get("Code") for reason in _reasons(exc)]
    refused = [write.refused() for write, code in zip(writes, codes, strict=False) if code == "ConditionalCheckFailed"]
    if refused:
        return min(refused, key=lambda error: error.code != "key_taken")
    return Conflict("task") if "TransactionConflict" in codes else None


def _reasons(exc: Exception) -> list[dict[str, Any]]:
    return list(_response(exc).get("CancellationReasons", []))

"""All calls to DynamoDB: how they are made, when they are retried, and which error each failure becomes.

A reply can be lost after the write was applied: the SDK's own retry then fails its condition although our write won. So
every transaction writes its token into a commit proof, an item that nobody changes afterwards. After an unclear or
refused attempt the proof is read; if it carries our token, the write is ours (docs/spec/requests.md §3).

A request can also arrive late: after its retry was refused and another decision was answered. So before a refusal is
reported, an attempt with an unclear outcome is fenced off: one of its conditions is made to fail for ever
(docs/decisions/023-unclear-attempts-are-barred.md).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import islice
from typing import Any, Protocol, TypedDict, Unpack
from uuid import uuid4

from boto3.dynamodb.types import TypeDeserializer, TypeSerializer
from botocore import exceptions

from baton.adapters.dynamodb import keys
from baton.adapters.dynamodb.concurrent_calls import Calls, RunCalls, run_in_turn
from baton.adapters.dynamodb.item_schema import NUMBER, TODAY, ItemSchema
from baton.adapters.dynamodb.item_writes import (
    Bar,
    Item,
    ItemWrite,
    KeyBar,
    StampedEvent,
    TokenBar,
    VersionBar,
    barred,
    proof_and_bar,
    short,
)
from baton.adapters.dynamodb.patience import Patience
from baton.adapters.dynamodb.shards import Shards
from baton.adapters.dynamodb.sizes import must_fit
from baton.adapters.dynamodb.trail_items import entries_of, written_by
from baton.domain import errors
from baton.ports.writes import MAX_ITEMS

DEFAULT_SHARDS = Shards()
_FAILURES = (exceptions.ClientError, exceptions.ConnectionError, exceptions.HTTPClientError)
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
# The same, as the reason of a cancelled transaction.
_THROTTLED = frozenset({"ThrottlingError", "ProvisionedThroughputExceeded"})
# What refuses a single put, as the reason of a cancelled transaction.
_OF_A_PUT = {
    "ConditionalCheckFailedException": "ConditionalCheckFailed",
    "TransactionConflictException": "TransactionConflict",
}
_SERVER_ERROR = 500
# Keys in a batch read.
MAX_BATCH = 100


class DynamoClient(Protocol):
    """The six calls that Baton makes. Tests inject their faults here, around the real client."""

    def get_item(self, **request: Any) -> Any: ...
    def batch_get_item(self, **request: Any) -> Any: ...
    def query(self, **request: Any) -> Any: ...
    def put_item(self, **request: Any) -> Any: ...
    def update_item(self, **request: Any) -> Any: ...
    def transact_write_items(self, **request: Any) -> Any: ...


class UpTo(TypedDict, total=False):
    """``last``: the sort key up to which a query goes."""

    last: str


class Bounds(UpTo, total=False):
    """The sort keys that a query is about; all of the partition, without any bound. ``first`` and ``last`` are
    included, ``after`` and ``before`` aren't."""

    first: str
    after: str | None
    before: str | None


class ConditionFailed(Exception):
    """The condition of an update, or of a put by itself, was false."""

    def __init__(self, item: Item) -> None:
        super().__init__("condition failed")
        self.item = item  # as it was found; empty if it didn't exist


@dataclass(frozen=True)
class Layout:
    """``shards``: where writes put what is spread, and where readers look for it. ``schema``: the number of what is
    written, and how what has an earlier one is read; reading raises ``WrittenByNewer`` for a newer one."""

    shards: Shards = DEFAULT_SHARDS
    schema: ItemSchema = TODAY


TODAYS_LAYOUT = Layout()


class Table:
    """``together``: how calls are made that don't wait for each other."""

    def __init__(
        self,
        client: DynamoClient,
        name: str,
        patience: Patience,
        layout: Layout = TODAYS_LAYOUT,
        together: RunCalls = run_in_turn,
    ) -> None:
        self._client, self._name, self._patience, self._together = client, name, patience, together
        self.shards, self.schema = layout.shards, layout.schema

    def get(self, key: keys.Key) -> Item | None:
        wire = to_wire(key._asdict())
        answer = self._call(self._client.get_item, TableName=self._name, Key=wire, ConsistentRead=True)
        return next(self._items([answer["Item"]]), None) if "Item" in answer else None

    def get_many(self, wanted: Sequence[keys.Key], *, newer_too: bool = False) -> dict[keys.Key, Item]:
        """Returns the items that exist; no keys take no call. Raises ``ValueError`` for more than 100 different keys.
        ``newer_too``: those that this version can't read come as they are (``schema.is_newer``), so that one doesn't
        hold up the others."""
        found: dict[keys.Key, Item] = {}
        once_each = [to_wire(key._asdict()) for key in dict.fromkeys(wanted)]  # a batch refuses a key that occurs twice
        if len(once_each) > MAX_BATCH:
            raise ValueError(wanted)
        request = {self._name: {"Keys": once_each, "ConsistentRead": True}} if once_each else {}
        tries = self._patience.tries()  # what is left unprocessed is throttled, too
        while request:
            answer = self._call(self._client.batch_get_item, tries, RequestItems=request)
            for item in self._items(answer["Responses"].get(self._name, []), newer_too=newer_too):
                found[keys.Key(item["pk"], item["sk"])] = item
            request = answer.get("UnprocessedKeys") or {}
        return found

    def get_all(
        self, wanted: Sequence[keys.Key], at_once: int = MAX_BATCH, *, newer_too: bool = False
    ) -> dict[keys.Key, Item]:
        """The same for any number of keys, so many with one call."""
        found: dict[keys.Key, Item] = {}
        for start in range(0, len(wanted), at_once):
            found |= self.get_many(wanted[start : start + at_once], newer_too=newer_too)
        return found

    def query(
        self,
        partition: str,
        limit: int,
        *,
        index: str | None = None,
        newest_first: bool = False,
        **bounds: Unpack[Bounds],
    ) -> list[Item]:
        """Returns the first ``limit`` items of a partition of the table, or of an index, which lags behind it; each
        once, with one call unless they take more than 1 MB. An index may show an item twice while it moves."""
        found: dict[keys.Key, Item] = {}
        request = {**_query_of(partition, bounds, index), "Limit": limit, "ScanIndexForward": not newest_first}
        for answer in self._answers(request):
            for item in self._items(answer["Items"], of_index=index is not None):
                found.setdefault(keys.Key(item["pk"], item["sk"]), item)
            if len(found) >= limit:
                break
            request["Limit"] = limit - len(found)
        return list(found.values())

    def query_page(
        self, partition: str, limit: int, *, newest_first: bool = False, **bounds: Unpack[Bounds]
    ) -> tuple[list[Item], bool]:
        """Returns at most ``limit`` items, as many as fit into one answer of 1 MB, and whether more may follow; then it
        is one at least. An answer may have none but those that nobody sees."""
        request = {**_query_of(partition, bounds), "Limit": limit + 1, "ScanIndexForward": not newest_first}
        found, has_more = list[Item](), False
        for answer in self._answers(request):
            found, has_more = list(self._items(answer["Items"])), "LastEvaluatedKey" in answer
            if found:
                break
        return found[:limit], len(found) > limit or has_more

    def query_all(self, partition: str, **bounds: Unpack[Bounds]) -> Iterator[Item]:
        """Yields every item, from all pages of the partition."""
        for answer in self._answers(_query_of(partition, bounds)):
            yield from self._items(answer["Items"])

    def index_pages(
        self, index: str, partition: str, size: int, after: str = keys.EARLIEST, **bounds: Unpack[UpTo]
    ) -> Iterator[list[Item]]:
        """Yields the entries of an index, ``size`` with one call, each page after the last entry of the one before."""
        page = self.query(partition, size, index=index, after=after, **bounds)
        while page:
            yield page
            if len(page) < size:
                return
            after = page[-1][keys.attributes_of(index).sk]
            page = self.query(partition, size, index=index, after=after, **bounds)

    def newest(
        self, partition: str, limit: int, cursor: str | None, index: str | None = None
    ) -> tuple[list[Item], str | None]:
        """Returns a page of a partition whose sort keys are sortable ids, newest first, and the next page's cursor. Of
        a partition that is spread, each shard is read."""
        sort_key, found = keys.attributes_of(index).sk, dict[str, Item]()
        for shard in self.shards.all_of(partition):
            here = self.query(shard, limit + 1, index=index, newest_first=True, before=cursor)
            found |= {item[sort_key]: item for item in here}
        page = [found[sk] for sk in sorted(found, reverse=True)[:limit]]
        return page, page[-1][sort_key] if len(found) > limit else None

    def together(self, calls: Calls) -> None:
        """Makes reads of this table that don't wait for each other."""
        self._together(calls)

    def update(
        self, key: keys.Key, update: str, condition: str | None, values: Item, *, once: bool = False, **names: str
    ) -> Item:
        """Updates one item and returns it as it is afterwards. The update must be safe to apply twice, or is tried
        ``once``. Raises ``ConditionFailed``, ``WrittenByNewer``, or ``Busy`` after the last try. ``names``: as for
        ``update_request``."""
        request = self.schema.guarded(update_request(key, update, condition, values, **names))
        returned = {"ReturnValues": "ALL_NEW", "ReturnValuesOnConditionCheckFailure": "ALL_OLD"}
        send = partial(self._client.update_item, TableName=self._name, **returned, **request)
        return self.schema.read(from_wire(self._applied(send, once=once)["Attributes"]))

    def put(self, write: ItemWrite, *, once: bool = False) -> None:
        """Puts one item under its condition, without a commit proof: the put must be safe to apply twice, or is tried
        ``once``. Raises ``ConditionFailed``, ``TooLarge``, or ``Busy`` after the last try."""
        request = self._as_sent(write).request
        must_fit([request["Item"]])
        self._applied(lambda: self._client.put_item(TableName=self._name, **request), once=once)

    def _applied(self, send: Callable[[], Any], *, once: bool = False) -> Any:
        """Sends a write of one item until it is answered."""
        for _ in islice(self._patience.tries(), 1 if once else None):
            try:
                return send()
            except _FAILURES as exc:
                if _code(exc) == "ConditionalCheckFailedException":
                    found = _old_item(exc)
                    raise ConditionFailed(self.schema.read(found) if found else found) from exc
                if not _is_unclear(exc) and _code(exc) != "TransactionConflictException":
                    raise
        raise errors.Busy

    def write(self, writes: Sequence[ItemWrite]) -> None:
        """Puts the items that come first; then applies all other writes or none, exactly once. A single item is put
        without a transaction, at half the price. The commit proof is the fittest of the items. An attempt that could
        arrive after a refusal was reported is fenced off by the bar of the first item that has one.

        Raises the error of the first refused write, ``Conflict``, or ``Busy``. Before anything is sent it raises
        ``TooLarge`` for an item above DynamoDB's limit, and ``ValueError`` for more writes than a transaction takes,
        for two writes of one item, or if no item can be the commit proof.
        """
        token = uuid4().hex
        sent = [self._as_sent(write, token) for write in writes]
        first, rest = [each for each in sent if each.comes_first], [each for each in sent if not each.comes_first]
        _must_fit(first, rest)
        commit_proof, bar = proof_and_bar(rest)
        if first:
            self._together([partial(self._put_first, each, token) for each in first])
        if len(rest) == 1 and rest[0].refuses_a_repeat:
            send = partial(self._client.put_item, TableName=self._name, **rest[0].request)
        else:  # DynamoDB knows a repeated transaction by its token. It doesn't know a put.
            items = [{write.kind: {"TableName": self._name, **write.request}} for write in rest]
            send = partial(self._client.transact_write_items, TransactItems=items, ClientRequestToken=token)
        may_arrive = False
        for _ in self._patience.tries():
            try:
                send()
            except _FAILURES as exc:
                refusal = _refusal(exc, rest)
                if refusal is None and not _is_unclear(exc):
                    raise
                if self._is_ours(commit_proof, token):
                    return
                if refusal is not None:
                    if may_arrive and isinstance(bar, Bar) and self._was_applied(bar, commit_proof, token):
                        return
                    raise refusal from exc
                may_arrive = may_arrive or not _is_turned_away(exc)
            else:
                return
        raise errors.Busy

    def _as_sent(self, write: ItemWrite, token: str | None = None) -> ItemWrite:
        """Returns the write of the same item in its shards, with the schema's number and the transaction's token. A put
        needs no guard against a newer item: it has a condition on what was read, or comes with one on its task's HEAD,
        and a newer item can't be read."""
        request, bar = dict(write.request), write.bar
        match write.kind:
            case "Put":
                request["Item"] = {NUMBER: {"N": str(self.schema.number)}, **self.shards.placed(request["Item"])}
            case "Update":
                request = self.schema.guarded({**request, "Key": self.shards.placed(request["Key"])})
            case _:
                request["Key"] = self.shards.placed(request["Key"])
        if isinstance(bar, Bar):
            bar = replace(bar, key=bar.key._replace(pk=self.shards.shard_of(*bar.key)))
        return replace(write, request=request if token is None else write.stamped(request, token), bar=bar)

    def _items(self, wire: Iterable[Item], *, newer_too: bool = False, of_index: bool = False) -> Iterator[Item]:
        """Yields items as they are read. Raises ``WrittenByNewer``. An index has parts of items, without the number.
        Steps leave all of these as they are."""
        for item in map(from_wire, wire):
            if VOID not in item:
                yield item if of_index or (newer_too and self.schema.is_newer(item)) else self.schema.read(item)

    def _put_first(self, write: ItemWrite, token: str) -> None:
        """Raises ``Busy``, and the write's own error if another commit has put the item. Safe to apply twice."""
        try:
            self._applied(lambda: self._client.put_item(TableName=self._name, **write.request))
        except ConditionFailed as failed:
            if failed.item.get("written_by") != token:
                raise write.refused() from failed

    def _was_applied(self, bar: Bar, commit_proof: ItemWrite, token: str) -> bool:
        """True if the transaction was applied after all. If it wasn't, it never will be. Raises ``Busy`` if it can't be
        fenced off: then nothing else may be decided."""
        try:
            match bar:
                case KeyBar(key):
                    self.update(key, "SET #void = :void", NOBODY_IS_HERE, {":void": True})
                case VersionBar(key, version):
                    values: Item = {":seen": version, ":next": version + 1}
                    self.update(key, "SET #version = :next REMOVE #fresh", IS_AS_SEEN, values)
                case TokenBar(key):
                    values = {":barred": True, ":token": token, ":nobody": barred(token)}
                    sets = "SET #barred = :barred, #written_by = :nobody"
                    self.update(key, sets, ISNT_ITS_WORK, values, barred=barred(token))
        except ConditionFailed:
            return self._is_ours(commit_proof, token)
        return False

    def _is_ours(self, commit_proof: ItemWrite, token: str) -> bool:
        """True if the commit proof carries the token. Raises ``Busy`` if it can't be read: then nothing else may be
        decided as if the transaction had not been applied."""
        item, event = self.get(commit_proof.key), commit_proof.event
        if commit_proof.proves_by_presence:
            return item is not None
        if event is None or item is None:
            return item is not None and item.get("written_by") == token
        return bool(self._writer_of(event, item) == short(token))

    def _writer_of(self, event: StampedEvent, head: Item) -> Any:
        """Returns the token of the commit that wrote the event. It is in HEAD or, since later commits, in a chunk."""
        if int(head["seq"]) - len(entries_of(head)) < event.seq:
            return written_by(head, event.seq)
        chunks = self.query(event.trail, 1, first=keys.chunk_name(event.seq))
        return next((written_by(chunk, event.seq) for chunk in chunks), None)

    def _answers(self, request: Item) -> Iterator[Any]:
        """Yields a query's answers, one from each page. Between them the caller may change its ``Limit``."""
        while True:
            answer = self._call(self._client.query, TableName=self._name, **request)
            yield answer
            if "LastEvaluatedKey" not in answer:
                return
            request["ExclusiveStartKey"] = answer["LastEvaluatedKey"]

    def _call(self, call: Callable[..., Any], tries: Iterator[None] | None = None, **request: Any) -> Any:
        """``tries``: those that are left, of what takes several calls."""
        for _ in tries or self._patience.tries():
            try:
                return call(**request)
            except _FAILURES as exc:
                if not _is_unclear(exc):
                    raise
        raise errors.Busy


_serializer, _deserializer = TypeSerializer(), TypeDeserializer()


# The attribute of an item that holds a key so that no other can be put there. No reader sees this item.
VOID = "void"
# No item exists under the key: the transaction that would have put one wasn't applied.
NOBODY_IS_HERE = "attribute_not_exists(#pk)"
# The item wasn't changed since it was read.
IS_AS_SEEN = "#version = :seen"
# Another transaction wrote the item last.
ISNT_ITS_WORK = "#written_by <> :token"


def to_wire(item: Item) -> Item:
    """Converts an item to DynamoDB's format, without the attributes that are None."""
    return {
        name: {"S": value} if type(value) is str else _serializer.serialize(value)
        for name, value in item.items()
        if value is not None
    }


def from_wire(item: Item) -> Item:
    return {name: value["S"] if "S" in value else _deserializer.deserialize(value) for name, value in item.items()}


def _must_fit(first: Sequence[ItemWrite], rest: Sequence[ItemWrite]) -> None:
    """Raises ``ValueError`` for too many writes or two of one item, and ``TooLarge`` for an item above the limit.
    ``first``: those that come first."""
    if len(rest) > MAX_ITEMS:
        raise ValueError(f"{len(rest)} items in one transaction")
    if len({write.key for write in (*first, *rest)}) < len(first) + len(rest):
        raise ValueError("one item twice in one transaction")
    together = [write.request["Item"] for write in rest if write.kind == "Put"]
    must_fit(together, alone=[write.request["Item"] for write in first])


def update_request(key: keys.Key, update: str, condition: str | None, values: Item, **names: str) -> Item:
    """Returns the request of an update, or with no ``update`` of a check. ``#version`` in its expressions is the
    attribute ``version``; ``names`` are those that aren't called as they are written there."""
    expressions = {"UpdateExpression": update, "ConditionExpression": condition}
    return {
        "Key": to_wire(key._asdict()),
        **{name: expression for name, expression in expressions.items() if expression},
        "ExpressionAttributeNames": {
            name: names.get(attribute, attribute) for name, attribute in names_in(f"{update} {condition}").items()
        },
        "ExpressionAttributeValues": to_wire(values),
    }


@cache
def names_in(expression: str) -> Mapping[str, str]:
    """Returns the names that the expression uses, with their attributes: DynamoDB refuses unused ones. The expressions
    are few."""
    return {name: name[1:] for name in re.findall(r"#\w+", expression)}


# The bounds that a query may have, with its condition. A key condition takes a single range.
_CONDITIONS = {
    frozenset[str](): "#pk = :pk",
    frozenset({"after"}): "#pk = :pk AND #sk > :after",
    frozenset({"before"}): "#pk = :pk AND #sk < :before",
    frozenset({"first"}): "#pk = :pk AND #sk >= :first",
    frozenset({"first", "last"}): "#pk = :pk AND #sk BETWEEN :first AND :last",
}


def _query_of(partition: str, bounds: Bounds, index: str | None = None) -> Item:
    given = {name: bound for name, bound in bounds.items() if bound is not None}
    if given.keys() == {"after", "last"}:
        given["first"] = f"{given.pop('after')} "  # the next possible sort key
    condition, attributes = _CONDITIONS[frozenset(given)], keys.attributes_of(index)
    of_index: Item = {"ConsistentRead": True} if index is None else {"IndexName": index, "ConsistentRead": False}
    return {
        **of_index,
        "KeyConditionExpression": condition,
        "ExpressionAttributeNames": {"#pk": attributes.pk, **({"#sk": attributes.sk} if given else {})},
        "ExpressionAttributeValues": to_wire({":pk": partition, **{f":{name}": given[name] for name in given}}),
    }


def _code(exc: Exception) -> str:
    return str(_response(exc).get("Error", {}).get("Code", ""))


def _response(exc: Exception) -> Item:
    """Returns the response of a ``ClientError``; empty if there was none."""
    return dict(exc.response) if isinstance(exc, exceptions.ClientError) else {}


def _old_item(exc: Exception) -> Item:
    return from_wire(_response(exc).get("Item", {}))


def _is_unclear(exc: Exception) -> bool:
    """True if the call may have been applied or not: no answer, an error of the server, or a throttle."""
    if not isinstance(exc, exceptions.ClientError):
        return True
    status = exc.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    throttled = any(reason.get("Code") in _THROTTLED for reason in _reasons(exc))
    return _code(exc) in _UNCLEAR_CODES or status >= _SERVER_ERROR or throttled


def _is_turned_away(exc: Exception) -> bool:
    """True if the call wasn't applied and won't be: it was never sent, or it was throttled."""
    if not isinstance(exc, exceptions.ClientError):
        return isinstance(exc, exceptions.ConnectTimeoutError | exceptions.EndpointConnectionError)
    return _code(exc) in _THROTTLES or any(reason.get("Code") in _THROTTLED for reason in _reasons(exc))


def _refusal(exc: Exception, writes: Sequence[ItemWrite]) -> errors.BatonError | None:
    """Returns the error that a cancelled transaction stands for: of the refused writes, a used idempotency key's first;
    else ``Conflict`` if another transaction was writing the same items. None if it wasn't refused."""
    codes = [reason.get("Code") for reason in _reasons(exc)] or [_OF_A_PUT.get(_code(exc))]
    refused = [write.refused() for write, code in zip(writes, codes, strict=False) if code == "ConditionalCheckFailed"]
    if refused:
        return min(refused, key=lambda error: error.code != "key_taken")
    return errors.Conflict("task") if "TransactionConflict" in codes else None


def _reasons(exc: Exception) -> list[dict[str, Any]]:
    return list(_response(exc).get("CancellationReasons", []))

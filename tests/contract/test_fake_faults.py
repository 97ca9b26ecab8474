"""What goes wrong with a put and with a batch write, as the simulation and the tests of faults bring it about."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import repeat
from typing import Any

import pytest
from botocore.exceptions import ClientError, ReadTimeoutError

from baton.adapters.dynamodb.table import to_wire
from support.fakes.fake_dynamo import FakeDynamo, NoFaults
from support.faults.choke_point import Choked, Crash, at_call

ABSENT = {"ConditionExpression": "attribute_not_exists(#pk)", "ExpressionAttributeNames": {"#pk": "pk"}}
BATCH = {"RequestItems": {"t": [{"PutRequest": {"Item": to_wire({"pk": "a", "sk": str(n)})}} for n in range(4)]}}


class Told(NoFaults):
    """``fault``: of the next write. ``draws``: what is drawn, over and over the last of them."""

    def __init__(self, fault: str | None = None, torn: int = 0, draws: tuple[int, ...] = (0,)) -> None:
        super().__init__()
        self.fault, self.is_torn = fault, torn
        self.draws: Iterator[int] = iter([*draws, *repeat(draws[-1], 20)])
        self.later: list[Callable[[], object]] = []
        self.rests: list[Callable[[], object]] = []

    def reach(self, operation: str, key: object, *, writes: bool) -> str | None:
        fault, self.fault = self.fault, None
        return fault

    def draw(self, n: int) -> int:
        return next(self.draws)

    def torn(self) -> int:
        return self.is_torn

    def rest(self, operation: str, key: object) -> None:
        for look in self.rests:
            look()

    def postpone(self, apply: Callable[[], object], operation: str) -> None:
        self.later.append(apply)


def put(dynamo: Any, number: int) -> None:
    dynamo.put_item(TableName="t", Item=to_wire({"pk": "a", "sk": "b", "number": number}), **ABSENT)


def stored(dynamo: FakeDynamo) -> list[str]:
    return sorted(sk for _, sk in dynamo.contents())


def test_a_put_whose_reply_is_lost_was_done() -> None:
    dynamo = FakeDynamo(Told("lost"))
    with pytest.raises(ReadTimeoutError):
        put(dynamo, 1)
    with pytest.raises(ClientError):
        put(dynamo, 2)


def test_a_put_that_comes_late_is_refused_by_what_was_written_meanwhile() -> None:
    fault_source = Told("late")
    dynamo = FakeDynamo(fault_source)
    with pytest.raises(ReadTimeoutError):
        put(dynamo, 1)
    put(dynamo, 2)
    (arrive,) = fault_source.later
    with pytest.raises(ClientError):
        arrive()
    assert dynamo.contents()["a", "b"]["number"] == {"N": "2"}


@pytest.mark.parametrize(("is_there", "code"), [(False, "ThrottlingException"), (True, "TransactionConflictException")])
def test_a_put_meets_a_transaction_only_at_an_item_that_is_there(is_there: bool, code: str) -> None:
    dynamo = FakeDynamo(Told("conflict"))
    if is_there:
        dynamo.put(to_wire({"pk": "a", "sk": "b"}))
    with pytest.raises(ClientError) as caught:
        put(dynamo, 1)
    assert caught.value.response["Error"]["Code"] == code


def test_a_batch_whose_reply_is_lost_may_have_been_done_in_part() -> None:
    dynamo = FakeDynamo(Told("lost_500", draws=(0, 1, 1, 0)))
    with pytest.raises(ClientError):
        dynamo.batch_write_item(**BATCH)
    assert stored(dynamo) == ["0", "3"]


def test_a_batch_that_comes_late_is_done_then() -> None:
    fault_source = Told("late")
    dynamo = FakeDynamo(fault_source)
    with pytest.raises(ReadTimeoutError):
        dynamo.batch_write_item(**BATCH)
    assert stored(dynamo) == []
    fault_source.later[0]()
    assert stored(dynamo) == ["0", "1", "2", "3"]


def test_others_see_a_batch_half_written() -> None:
    fault_source = Told(torn=1, draws=(1, 0, 1, 0))
    dynamo, seen = FakeDynamo(fault_source), list[list[str]]()
    fault_source.rests.append(lambda: seen.append(stored(dynamo)))
    assert dynamo.batch_write_item(**BATCH) == {"UnprocessedItems": {}}
    assert seen == [["0", "2"]]
    assert stored(dynamo) == ["0", "1", "2", "3"]


def test_what_a_batch_left_is_told_and_never_all_of_it() -> None:
    dynamo = FakeDynamo(Told(torn=2, draws=(0, 1, 1, 0)))
    left = dynamo.batch_write_item(**BATCH)["UnprocessedItems"]
    assert [each["PutRequest"]["Item"]["sk"]["S"] for each in left["t"]] == ["0", "3"]
    assert stored(dynamo) == ["1", "2"]
    dynamo = FakeDynamo(Told(torn=2))
    assert dynamo.batch_write_item(**BATCH) == {"UnprocessedItems": {}}


def test_a_throttled_batch_is_refused_whole() -> None:
    dynamo = FakeDynamo(Told("conflict"))
    with pytest.raises(ClientError) as caught:
        dynamo.batch_write_item(**BATCH)
    assert caught.value.response["Error"]["Code"] == "ThrottlingException"
    assert stored(dynamo) == []


def test_the_choke_point_leaves_out_or_dies_after_the_first_of_a_batch() -> None:
    dynamo = FakeDynamo()
    left = Choked(dynamo, at_call(1, "unprocessed")).batch_write_item(**BATCH)["UnprocessedItems"]["t"]
    assert len(left) == 3
    with pytest.raises(Crash):
        Choked(dynamo, at_call(1, "crash_between")).batch_write_item(RequestItems={"t": left})
    assert stored(dynamo) == ["0", "1"]
    with pytest.raises(ClientError) as caught:
        Choked(dynamo, at_call(1, "conflict")).put_item(TableName="t", Item=to_wire({"pk": "a", "sk": "b"}))
    assert caught.value.response["Error"]["Code"] == "TransactionConflictException"

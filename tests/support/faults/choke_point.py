"""A choke point around a client, at which each call can be counted, refused, lost, or be the last one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from botocore.exceptions import ConnectTimeoutError, ReadTimeoutError

from support.fakes.fake_dynamo import refusal, trouble
from support.faults.wrapped_store import WrappedStore

Plan = Callable[[int, str], str | None]


class Crash(BaseException):  # not an error: the process is gone, and no handler of ours may catch it
    """The process died here."""


def no_fault(_number: int, _operation: str) -> None:
    """A plan by which every call is answered."""


def at_call(number: int, fault: str) -> Plan:
    """Returns a plan with the fault at the call of that number alone."""
    return lambda n, _operation: fault if n == number else None


def from_call(number: int, fault: str) -> Plan:
    """Returns a plan with the fault at the call of that number and at every later one."""
    return lambda n, _operation: fault if n >= number else None


def comes_first(operation: str, request: Mapping[str, Any]) -> bool:
    """True for a write that comes before its commit: nothing, or the id of a new task, depends on it."""
    is_put = operation == "put_item"
    return is_put and ("ConditionExpression" not in request or request["Item"]["sk"] == {"S": "BEGINNING"})


class Choked(WrappedStore):
    """Wraps a client, or a store. ``plan(number, operation)`` names what happens at the call of that number (1, 2, …):
    None, ``timeout_after``, ``error_after`` (done, but the answer is lost), ``timeout_before``, ``error_before``,
    ``no_connection``, ``throttle``, ``conflict`` (of a write, with a transaction on the same item), ``crash_before``,
    ``crash_after``; of a batch write also ``unprocessed`` (all but its first item are told as not done) and
    ``crash_between`` (its first item is written, and nothing else happens any more)."""

    def __init__(self, client: Any, plan: Plan = no_fault) -> None:
        super().__init__(client)
        self.plan = plan
        self.calls: list[str] = []

    @property
    def client(self) -> Any:
        return self.inner

    @client.setter
    def client(self, client: Any) -> None:
        self.inner = client

    @property
    def counts(self) -> Counter[str]:
        return Counter(self.calls)

    def around(self, name: str, call: Any) -> Any:
        def choked(*args: Any, **request: Any) -> Any:
            self.calls.append(name)
            fault = self.plan(len(self.calls), name)
            if fault in {"timeout_before", "error_before", "no_connection", "throttle", "conflict", "crash_before"}:
                raise _failure(fault, name)
            if fault in {"unprocessed", "crash_between"}:
                answer = _first_alone(call, request)
                if fault == "unprocessed":
                    return answer
                raise Crash(name)
            answer = call(*args, **request)
            if fault is not None:
                raise _failure(fault, name)
            return answer

        return choked


def _first_alone(batch_write_item: Any, request: dict[str, Any]) -> Any:
    """Writes the first item of a batch, and answers that the others are left."""
    ((table, (first, *others)),) = request["RequestItems"].items()
    answer = batch_write_item(**request | {"RequestItems": {table: [first]}})
    return answer | ({"UnprocessedItems": {table: others}} if others else {})


def _failure(fault: str, operation: str) -> BaseException:
    if fault.startswith("crash"):
        return Crash(operation)
    if fault == "no_connection":
        return ConnectTimeoutError(endpoint_url="http://127.0.0.1/")
    if fault.startswith("timeout"):
        return ReadTimeoutError(endpoint_url="http://127.0.0.1/")
    if fault == "conflict":
        return trouble(fault, operation)
    code, status = ("ThrottlingException", 400) if fault == "throttle" else ("InternalServerError", 500)
    return refusal(code, operation, status=status, message="injected")

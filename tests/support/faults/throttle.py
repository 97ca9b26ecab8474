"""A table that is throttled for a time, as AWS does it: while a partition splits, or a table grows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from support.clock import FakeClock
from support.fakes.fake_dynamo import refusal
from support.faults.wrapped_store import WrappedStore

CODES = ("ThrottlingException", "ProvisionedThroughputExceededException", "RequestLimitExceeded")
REASONS = ("ThrottlingError", "ProvisionedThroughputExceeded")
Begins = Callable[[int, str, dict[str, Any]], bool]


class Throttled(WrappedStore):
    """Wraps a client. From the first call for which ``begins(number, operation, request)`` is true, each call is turned
    away for so many seconds of the clock, in each of DynamoDB's ways in turn."""

    def __init__(self, client: Any, clock: FakeClock, seconds: float, begins: Begins) -> None:
        super().__init__(client)
        self._clock, self.seconds, self._begins = clock, seconds, begins
        self.begin()

    def begin(self) -> None:
        """Everything anew."""
        self._until: float | None = None
        self.calls: list[str] = []

    @property
    def is_on(self) -> bool:
        return self._until is not None and self._clock.monotonic() < self._until

    def around(self, name: str, call: Any) -> Any:
        def throttled(**request: Any) -> Any:
            self.calls.append(name)
            if self._until is None and self._begins(len(self.calls), name, request):
                self._until = self._clock.monotonic() + self.seconds
            if self.is_on:
                return self._turned_away(name, request)
            return call(**request)

        return throttled

    def _turned_away(self, operation: str, request: dict[str, Any]) -> Any:
        turn = len(self.calls)
        if operation == "batch_get_item" and turn % 2:
            return {"Responses": {}, "UnprocessedKeys": request["RequestItems"]}
        if operation == "transact_write_items" and turn % 2:
            reasons = [{"Code": "None"} for _ in request["TransactItems"]]
            reasons[-1] = {"Code": REASONS[turn // 2 % len(REASONS)]}
            raise refusal("TransactionCanceledException", operation, CancellationReasons=reasons)
        raise refusal(CODES[turn % len(CODES)], operation)

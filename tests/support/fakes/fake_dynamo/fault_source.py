"""The source of faults: what happens to a call on its way, and how long it takes.

Faults of a call: ``unreachable``, ``timeout``, ``error``, ``throttle`` and ``conflict`` refuse it; ``lost`` and
``lost_500`` do it and lose the reply; ``late`` does it some time after the client has given up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from botocore.exceptions import ClientError, ConnectTimeoutError, ReadTimeoutError

from baton.domain.times import to_ms

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

ENDPOINT = "http://fake-dynamo/"


class FaultSource(Protocol):
    """Chooses what happens to a call. Every number that it draws goes from 0, the dullest choice, to n - 1."""

    @property
    def now_ms(self) -> int: ...

    @property
    def knows_tokens(self) -> bool:
        """Whether a transaction is recognised by its ClientRequestToken."""

    def reach(self, operation: str, key: object, *, writes: bool) -> str | None:
        """A call arrives; other processes may have run meanwhile. Returns its fault, or None."""

    def rest(self, operation: str, key: object) -> None:
        """The rest of a read is read later."""

    def draw(self, n: int) -> int: ...

    def torn(self) -> int:
        """Returns how a read of several items is torn. 0: all of one moment; 1: of two moments; 2: some items are left
        out."""

    def lag_ms(self) -> int:
        """Returns after how many ms an index shows a write."""

    def postpone(self, apply: Callable[[], object], operation: str) -> None:
        """Does ``apply`` later, for a client that has given up."""


class NoFaults:
    """Nothing goes wrong, and nothing takes time."""

    def __init__(self, *, knows_tokens: bool = True) -> None:
        self.knows_tokens = knows_tokens

    @property
    def now_ms(self) -> int:
        return 0

    def reach(self, operation: str, key: object, *, writes: bool) -> str | None:
        return None

    def rest(self, operation: str, key: object) -> None: ...

    def draw(self, n: int) -> int:
        return 0

    def torn(self) -> int:
        return 0

    def lag_ms(self) -> int:
        return 0

    def postpone(self, apply: Callable[[], object], operation: str) -> None:
        apply()


class LateIndexes(NoFaults):
    """Nothing goes wrong, but the indexes show each write only ``lag_ms`` after it."""

    def __init__(self, now: Callable[[], datetime], lag_ms: int) -> None:
        super().__init__()
        self._now, self._lag_ms = now, lag_ms

    @property
    def now_ms(self) -> int:
        return to_ms(self._now())

    def lag_ms(self) -> int:
        return self._lag_ms


def refusal(code: str, operation: str, *, status: int = 400, message: str = "", **more: Any) -> ClientError:
    """Returns an error as DynamoDB answers it."""
    response: Any = {
        "Error": {"Code": code, "Message": message or code},
        "ResponseMetadata": {"HTTPStatusCode": status},
        **more,
    }
    return ClientError(response, operation)


def trouble(fault: str, operation: str) -> Exception:
    """Returns the error that the client sees of a fault."""
    if fault in ("timeout", "lost", "late"):
        return ReadTimeoutError(endpoint_url=ENDPOINT)
    if fault == "unreachable":
        return ConnectTimeoutError(endpoint_url=ENDPOINT)
    if fault in ("error", "lost_500"):
        return refusal("InternalServerError", operation, status=500)
    if fault == "conflict" and operation == "transact_write_items":
        reasons = [{"Code": "TransactionConflict"}]
        return refusal("TransactionCanceledException", operation, CancellationReasons=reasons)
    return refusal("TransactionConflictException" if fault == "conflict" else "ThrottlingException", operation)

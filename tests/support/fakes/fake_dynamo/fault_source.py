"""What happens to a call on its way: the time it takes, and what goes wrong with it.

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
        """A call arrives, and others may have had their turn meanwhile. Answers with its fault, if it has one."""

    def rest(self, operation: str, key: object) -> None:
        """The rest of a read is read later."""

    def draw(self, n: int) -> int: ...

    def torn(self) -> int:
        """0: a read of many items is one moment; 1: it is two; 2: it leaves some items out."""

    def lag_ms(self) -> int:
        """How long a write takes to show in an index."""

    def postpone(self, apply: Callable[[], object], operation: str) -> None:
        """``apply`` is done later, on behalf of a client that has given up."""


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
    """An error as DynamoDB answers it."""
    response: Any = {
        "Error": {"Code": code, "Message": message or code},
        "ResponseMetadata": {"HTTPStatusCode": status},
        **more,
    }
    return ClientError(response, operation)


def trouble(fault: str, operation: str) -> Exception:
    """What the client sees of a fault."""
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

"""The stack's EventBridge bus."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import Any, Protocol

from botocore import exceptions

from baton.domain import times
from baton.domain.events.bus_events import DETAIL_TYPE, SOURCE, BusEvent
from baton.ports.events import PublishResult

MAX_ENTRIES = 10
MAX_CALL_BYTES = 256 * 1_024
_AROUND_BYTES = len(SOURCE) + len(DETAIL_TYPE) + 14  # as the bus counts an entry: 14 for its time
# None of these codes is about a single entry: sending the entries one by one won't help.
_NO_ENTRY_ACCEPTED = frozenset(
    {
        "AccessDeniedException",
        "AccessDenied",
        "ExpiredTokenException",
        "InvalidClientTokenId",
        "ServiceUnavailable",
        "ThrottlingException",
        "UnrecognizedClientException",
    }
)


# For so long a process goes by what it has seen: that somebody listens to the bus, or that nobody does.
LOOK_EVERY = times.seconds(3_600)


class EventsClient(Protocol):
    def put_events(self, **request: Any) -> Any: ...


class RulesClient(Protocol):
    def list_rules(self, **request: Any) -> Any: ...


class _BusUnavailable(Exception):
    pass


class Rules:
    """The rules of the bus. An archive of it has one, and so has another account that is sent events."""

    def __init__(self, client: RulesClient, bus: str, now: Callable[[], datetime], log: Callable[..., None]) -> None:
        self._client, self._bus, self._now, self._log = client, bus, now, log
        self._good_until, self._are_there = times.EPOCH, True

    def are_there(self) -> bool:
        """True if one of them is enabled, or if they can't be listed. Asks the bus once an hour by the clock, as a
        process is frozen most of the time."""
        now = self._now()
        if now >= self._good_until:
            self._good_until = now + LOOK_EVERY
            self._are_there = self._look()
        return self._are_there

    def _look(self) -> bool:
        try:
            found = any(rule["State"] != "DISABLED" for rule in self._listed())
        except (exceptions.ClientError, exceptions.BotoCoreError) as exc:
            self._log("the bus' rules can't be listed", action="rules_unlisted", error=type(exc).__name__)
            return True
        if not found:
            self._log("nobody listens to the bus", action="bus_unheard")
        return found

    def _listed(self) -> Iterator[dict[str, Any]]:
        request = {"EventBusName": self._bus}
        while True:
            answer = self._client.list_rules(**request)
            yield from answer["Rules"]
            if "NextToken" not in answer:
                return
            request["NextToken"] = answer["NextToken"]


class EventBridgeBus:
    """``is_heard``: whether events are sent. An event that isn't is accepted all the same."""

    def __init__(
        self, client: EventsClient, name: str, log: Callable[..., None], is_heard: Callable[[], bool] = lambda: True
    ) -> None:
        self._client, self._name, self._log, self._is_heard = client, name, log, is_heard

    def publish(self, notices: Sequence[BusEvent]) -> PublishResult:
        if not self._is_heard():
            return PublishResult(frozenset(notice.id for notice in notices), is_sent=False)
        accepted: set[str] = set()
        refused: dict[str, str] = {}
        try:
            for chunk in _chunks(notices):
                self._send(chunk, accepted, refused)
        except _BusUnavailable as exc:
            self._log("event bus out of reach", action="bus_away", error=str(exc))
        return PublishResult(frozenset(accepted), refused)

    def _send(self, chunk: Sequence[BusEvent], accepted: set[str], refused: dict[str, str]) -> None:
        """Raises ``_BusUnavailable``."""
        try:
            answer = self._client.put_events(Entries=[self._entry(notice) for notice in chunk])
        except exceptions.ClientError as exc:
            code = exc.response.get("Error", {}).get("Code", "")
            if code in _NO_ENTRY_ACCEPTED:
                raise _BusUnavailable(code) from exc
            if len(chunk) == 1:
                refused[chunk[0].id] = code
                return
            for notice in chunk:  # one invalid entry can make EventBridge refuse the whole call
                self._send([notice], accepted, refused)
        except exceptions.BotoCoreError as exc:
            raise _BusUnavailable(type(exc).__name__) from exc
        else:
            for notice, result in zip(chunk, answer["Entries"], strict=True):
                if "EventId" in result:
                    accepted.add(notice.id)
                else:
                    refused[notice.id] = result.get("ErrorCode", "")

    def _entry(self, notice: BusEvent) -> dict[str, Any]:
        return {
            "EventBusName": self._name,
            "Source": SOURCE,
            "DetailType": DETAIL_TYPE,
            "Time": notice.at,
            "Detail": notice.detail,
        }


def _chunks(notices: Sequence[BusEvent]) -> Iterator[list[BusEvent]]:
    """Yields chunks as large as one call takes, by number and by size."""
    chunk: list[BusEvent] = []
    used = 0
    for notice in notices:
        size = len(notice.detail.encode()) + _AROUND_BYTES
        if chunk and (len(chunk) == MAX_ENTRIES or used + size > MAX_CALL_BYTES):
            yield chunk
            chunk, used = [], 0
        chunk.append(notice)
        used += size
    if chunk:
        yield chunk

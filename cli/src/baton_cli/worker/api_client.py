"""The worker's calls to the API. The kind of an answer says what the worker does next."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any, Protocol

from baton_client.core import Answer
from baton_client.errors import Misused, NoAnswer

TIMEOUT_SECONDS = 20.0
_OVER = {"stale_claim", "task_ended", "claim_over"}
_DENIED = {"not_authenticated", "token_refused"}


class Api(Protocol):
    """The API's client, as the worker uses it."""

    def request(
        self, method: str, path: str, body: Any = None, *, key: str | None = None, timeout: float = TIMEOUT_SECONDS
    ) -> Answer:
        """Sends the request once, and returns the answer, whatever its status. Raises ``NoAnswer``."""

    def close(self) -> None: ...


class AnswerKind(Enum):
    DONE = "done"
    RETRY = "retry"  # no answer, or one that asks for the same request later
    CLAIM_OVER = "claim_over"  # the claim isn't held any more
    DENIED = "denied"  # the token isn't valid
    REFUSED = "refused"  # a repeat would be refused as well


@dataclass(frozen=True, slots=True)
class ApiAnswer:
    """An answer of the API, or none. ``retry_after``: the seconds that Baton asks for. ``due_at``: when there may be a
    claim, or empty. ``why``: the cause if there is none; ``foreign``: the status that another program sent then."""

    kind: AnswerKind
    json: Any = None
    retry_after: float = 0.0
    status: int = 0
    due_at: str = ""
    why: str = ""
    foreign: int = 0

    @property
    def code(self) -> str:
        return str(self.json.get("code", "")) if isinstance(self.json, dict) else ""

    @property
    def said(self) -> str:
        """The refusal in a few words, for people."""
        detail = self.json.get("detail", "") if isinstance(self.json, dict) else ""
        return f"no answer of Baton's: {self.why}" if self.why else f"{self.status} {self.code} {detail}".strip()


def post(api: Api, path: str, body: Any, *, key: str | None = None, timeout: float = TIMEOUT_SECONDS) -> ApiAnswer:
    """Returns the answer to a ``POST``. Raises nothing."""
    return _sent(api, "POST", path, body, key=key, timeout=timeout)


def get(api: Api, path: str) -> ApiAnswer:
    """Returns the answer to a ``GET``. Raises nothing."""
    return _sent(api, "GET", path)


def _sent(api: Api, method: str, path: str, body: Any = None, **options: Any) -> ApiAnswer:
    try:
        reply = api.request(method, path, body, **options)
    except Misused as exc:  # an id that no path may have
        return ApiAnswer(AnswerKind.REFUSED, {"code": "misused", "detail": str(exc)})
    except NoAnswer as exc:
        return ApiAnswer(AnswerKind.RETRY, retry_after=exc.retry_after, why=exc.why, foreign=exc.foreign)
    return ApiAnswer(_kind(reply), reply.json, reply.retry_after, reply.status, reply.headers.get("baton-due-at", ""))


def _kind(reply: Answer) -> AnswerKind:
    if reply.status < 400:
        return AnswerKind.DONE
    if not reply.is_settled:
        return AnswerKind.RETRY
    if reply.status == 401 or reply.code in _DENIED:
        return AnswerKind.DENIED
    if reply.status == 404 or reply.code in _OVER:
        return AnswerKind.CLAIM_OVER
    return AnswerKind.REFUSED

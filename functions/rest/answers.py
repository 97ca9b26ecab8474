"""Answers over HTTP, and problem details (RFC 9457)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from http import HTTPStatus
from typing import Any

from typing_extensions import TypedDict

from baton.domain import errors, times
from baton.domain.numbers import dumps
from rest.errors import MethodNotAllowed, status_of

RETRY_AFTER_SECONDS = 5
DUE_AT = "Baton-Due-At"
JSON = "application/json"
PROBLEM_JSON = "application/problem+json"
PLAIN = "text/plain; charset=utf-8"


class FieldError(TypedDict):
    field: str
    message: str


class Problem(TypedDict):
    """A refusal (RFC 9457). ``code`` is stable and made for programs; some carry fields of their own, such as
    ``state``, ``agent`` or ``expires_at``."""

    type: str
    title: str
    status: int
    detail: str
    code: str
    errors: list[FieldError]
    request_id: str


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer before it is encoded."""

    status: int
    body: Mapping[str, Any] | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    content_type: str = JSON
    text: str | None = None  # in place of ``body``: plain text, or JSON that is encoded already
    cookies: tuple[str, ...] = ()


def ok(body: Mapping[str, Any], *, tag: str | None = None) -> Answer:
    """``tag``: the ETag, if it follows from less than the body."""
    return Answer(HTTPStatus.OK, body, {"ETag": tag} if tag else {})


def plain(text: str) -> Answer:
    return Answer(HTTPStatus.OK, content_type=PLAIN, text=text)


def created(body: Mapping[str, Any], location: str | None = None) -> Answer:
    return Answer(HTTPStatus.CREATED, body, {"Location": location} if location else {})


def accepted(body: Mapping[str, Any]) -> Answer:
    """The request was stored, and waits for a person."""
    return Answer(HTTPStatus.ACCEPTED, body)


def nothing(due_at: datetime | None = None) -> Answer:
    """``due_at``: when there may be something."""
    return Answer(HTTPStatus.NO_CONTENT, headers={DUE_AT: times.rfc3339(due_at)} if due_at else {})


def problem(error: errors.BatonError, request_id: str) -> Answer:
    """Returns the refusal with its stable ``code`` and its own fields: ``state``, ``agent``, ``expires_at`` … A
    temporary one says when to try again."""
    body = _problem(status_of(error), error.code, error.message, request_id, error.fields)
    headers = {}
    if isinstance(error, MethodNotAllowed):
        headers["Allow"] = error.allowed
    usual = RETRY_AFTER_SECONDS if body["status"] == HTTPStatus.SERVICE_UNAVAILABLE else None
    if (retry_after := error.fields.get("retry_after", usual)) is not None:
        headers["Retry-After"] = str(retry_after)
    return Answer(body["status"], body, headers, PROBLEM_JSON)


def internal_error(request_id: str) -> Answer:
    """Has no details: they are in the log, under the request's id."""
    detail = "Something went wrong inside of Baton; the same request may be sent again."
    body = _problem(HTTPStatus.INTERNAL_SERVER_ERROR, "internal", detail, request_id, {})
    return Answer(body["status"], body, content_type=PROBLEM_JSON)


def to_gateway(answer: Answer, request_id: str, *, has_body: bool = True) -> dict[str, Any]:
    """Returns API Gateway's payload format 2.0; without the body for the answer to ``HEAD``."""
    headers = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "X-Request-Id": request_id}
    result: dict[str, Any] = {"statusCode": int(answer.status), "headers": {**headers, **answer.headers}}
    if answer.cookies:
        result["cookies"] = list(answer.cookies)
    text = text_of(answer)
    if text is not None:
        result["headers"]["Content-Type"] = answer.content_type
        result |= {"body": text} if has_body else {}
    return result


def text_of(answer: Answer) -> str | None:
    """Returns the body as it is sent; None for an empty one."""
    return answer.text if answer.body is None else _json(answer.body)


def _json(body: Mapping[str, Any]) -> str:
    return dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _problem(status: int, code: str, detail: str, request_id: str, fields: Mapping[str, Any]) -> dict[str, Any]:
    own = {
        "type": f"urn:baton:problem:{code}",
        "title": code.replace("_", " ").capitalize(),
        "status": int(status),
        "detail": detail,
        "code": code,
        "errors": fields.get("errors", []),
        "request_id": request_id,
    }
    return own | {name: value for name, value in fields.items() if name not in own}

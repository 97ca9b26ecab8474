"""What Notion answers, and how it says no."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

CODES = {
    400: "validation_error",
    401: "unauthorized",
    403: "restricted_resource",
    404: "object_not_found",
    409: "conflict_error",
    429: "rate_limited",
    500: "internal_server_error",
    502: "bad_gateway",
    503: "service_unavailable",
    504: "gateway_timeout",
    529: "service_overload",
}
SHARE_HINT = "Make sure the relevant pages and databases are shared with your connection."


@dataclass(frozen=True)
class Reply:
    """An HTTP answer. Only the server heeds `delay` and `drip` (seconds before it, and spread over its body)."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    delay: float = 0.0
    drip: float = 0.0


@dataclass
class NotionError(Exception):
    """A request that is answered with Notion's error object."""

    status: int
    message: str
    code: str | None = None
    headers: dict[str, str] = field(default_factory=dict)

    def reply(self) -> Reply:
        answer = {
            "object": "error",
            "status": self.status,
            "code": self.code or CODES.get(self.status, "internal_server_error"),
            "message": self.message,
        }
        return json_reply(self.status, answer, self.headers)


def json_reply(status: int, answer: dict[str, Any], headers: Mapping[str, str] | None = None) -> Reply:
    request_id = str(uuid4())
    body = json.dumps({**answer, "request_id": request_id}).encode()
    return Reply(
        status,
        {"Content-Type": "application/json; charset=utf-8", "X-Notion-Request-Id": request_id, **(headers or {})},
        body,
    )


def invalid(message: str) -> NotionError:
    return NotionError(400, message)


def failed(where: str, rule: str, value: object) -> NotionError:
    """The form in which Notion reports a field, e.g. "body failed validation: body.page_size should be ..."."""
    shown = "undefined" if value is None else f"`{json.dumps(value, ensure_ascii=False)[:60]}`"
    return invalid(f"body failed validation: {where} should be {rule}, instead was {shown}.")


def not_found(kind: str, found_id: str) -> NotionError:
    return NotionError(404, f"Could not find {kind} with ID: {found_id}. {SHARE_HINT}")


def only(given: object, where: str, allowed: set[str]) -> dict[str, Any]:
    """`given` as an object that has no other fields than these.

    Raises NotionError (400).
    """
    if not isinstance(given, dict):
        raise failed(where, "an object", given)
    for name in given:
        if name not in allowed:
            raise failed(f"{where}.{name}", "not present", given[name])
    return given

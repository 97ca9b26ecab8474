"""An event of the gateway or of a Function URL (payload format 2.0), none of it trusted yet."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import parse_qsl

from baton.domain import errors
from baton.domain.access.principal import Principal
from baton.domain.idempotency import IdempotencyKey
from rest.errors import MalformedJson, NotAuthenticated, UnknownCharset
from rest.strict_json import MAX_BYTES, too_large

MAX_QUERY_FIELDS = 100
SESSION = "baton-session"
# The length of base 64, with room for padding.
MAX_ENCODED = MAX_BYTES * 4 // 3 + 4
# The marks that are scanned in an oversized body without a token.
STRANGERS_MARKS = 2_000
_REQUEST_ID = re.compile(r"[A-Za-z0-9_-]{1,64}\Z")
_CHARSET = re.compile(r";\s*charset\s*=\s*[\"']?([^\s;\"']{1,40})", re.IGNORECASE)
UTF8 = frozenset({"utf-8", "utf8", "us-ascii", "ascii"})
_KEY = re.compile(r"[\x20-\x7e]{1,200}\Z")


@dataclass(frozen=True, slots=True)
class Request:
    """``unasked``: fields of the body that a repeat under the same key may say otherwise."""

    event: Mapping[str, Any]
    unasked: frozenset[str] = frozenset()

    def asked(self, body: Any) -> Any:
        """Returns what a repeat has to say again."""
        return {name: body[name] for name in body.keys() - self.unasked} if self.unasked else body

    @property
    def method(self) -> str:
        """Returns the method; ``GET`` for ``HEAD``, whose answer only lacks the body."""
        return "GET" if is_head(self.event) else str(self.event["requestContext"]["http"]["method"]).upper()

    @property
    def path(self) -> str:
        return str(self.event["rawPath"])

    @property
    def url_id(self) -> str:
        """Returns the id of the Function URL that was asked. AWS writes it: no header of the caller's has a say."""
        return str(self.event["requestContext"]["apiId"])

    def header(self, name: str) -> str | None:
        """Returns a header. ``name`` is in lower case, as the gateway spells them."""
        value = (self.event.get("headers") or {}).get(name)
        return None if value is None else str(value)

    @property
    def authorization(self) -> str:
        """Returns the header that names the caller, from no other source (invariant 9). Raises ``NotAuthenticated``."""
        header = (self.header("authorization") or "").strip()
        if not header:
            raise NotAuthenticated
        return header

    @property
    def is_by_cookie(self) -> bool:
        """True if a page of the console names its session (``session_cookie``). ``Authorization`` goes before that."""
        return self.header(SESSION) is not None and not self.header("authorization")

    @property
    def size(self) -> int:
        """Returns the body's approximate size in bytes, from its length, without decoding it. At most the largest body
        that Baton takes: a larger one isn't stored."""
        body = self.event.get("body") or "" if self.method != "GET" else ""
        return min(MAX_BYTES, len(body) * 3 // 4 if self.event.get("isBase64Encoded") else len(body))

    @property
    def body(self) -> bytes:
        """Raises ``MalformedJson`` for wrong base 64 and for bytes that aren't UTF-8, and ``TooLarge`` for a body that
        is too large even encoded: that one isn't decoded first."""
        body = self.event.get("body") or ""
        if not self.event.get("isBase64Encoded"):
            content = str(body).encode("utf-8", "surrogatepass")
            if "\ufffd" in body and self.header("content-length") not in {None, str(len(content))}:
                # The gateway has put U+FFFD, three bytes of UTF-8, in the place of each byte that it can't read.
                raise MalformedJson("body", "must be UTF-8")
            return content
        if len(body) > MAX_ENCODED:
            raise errors.TooLarge("body", f"is larger than {MAX_BYTES} bytes")
        try:
            return base64.b64decode(body, validate=True)
        except ValueError as exc:
            raise MalformedJson("body", "is not base 64") from exc

    def must_be_utf8(self) -> None:
        """Raises ``UnknownCharset`` if the header names another character set."""
        found = _CHARSET.search(self.header("content-type") or "")
        if found is not None and found[1].lower() not in UTF8:
            raise UnknownCharset(found[1])

    @property
    def strangers_body(self) -> bytes:
        """Returns the body of a caller without a token. Its size is checked before anything else is done with it.
        Raises ``MalformedJson`` and ``TooLarge``."""
        body = self.body
        if len(body) > MAX_BYTES:
            raise too_large(body, STRANGERS_MARKS)
        return body

    @property
    def query_text(self) -> str:
        return str(self.event.get("rawQueryString") or "")

    @property
    def query(self) -> list[tuple[str, str]]:
        """Raises ``InvalidInput`` for a query with too many fields."""
        try:
            return parse_qsl(self.query_text, keep_blank_values=True, max_num_fields=MAX_QUERY_FIELDS)
        except ValueError as exc:
            raise errors.InvalidInput("query", f"must have at most {MAX_QUERY_FIELDS} fields") from exc

    def idempotency_key(self, by: Principal, body_hash: str, now: datetime) -> IdempotencyKey | None:
        """Returns the idempotency key of the header ``Idempotency-Key``, for this path. Raises ``InvalidInput``."""
        key = self.header("idempotency-key")
        if key is None:
            return None
        if not _KEY.match(key):
            raise errors.InvalidInput("Idempotency-Key", "must be 1 to 200 printable ASCII characters")
        return IdempotencyKey(by, f"{self.method} {self.path}", key, body_hash, now)


def is_head(event: Any) -> bool:
    """Never raises: a malformed event isn't one."""
    try:
        return str(event["requestContext"]["http"]["method"]).upper() == "HEAD"
    except (AttributeError, KeyError, TypeError):
        return False


def request_id(event: Any) -> str:
    """Returns the caller's own id if it may be shown and logged, else the gateway's. Never raises."""
    try:
        given = (event.get("headers") or {}).get("x-request-id")
        if isinstance(given, str) and _REQUEST_ID.match(given):
            return given
        return str(event["requestContext"]["requestId"])
    except (AttributeError, KeyError, TypeError):
        return "unknown"

"""The faults of the matrix: answers that a program between sends in Baton's place, and broken answers."""

from __future__ import annotations

import json
from collections.abc import Callable

from support.fakes.faulty_network import Fault, Piece, Pieces

PAGE = b"<html>Sign in to this network</html>"
STATUSES = (404, 401, 403, 405, 413, 502, 520)
DRIP_SECONDS = 2.0
DAY = 86_400
EMPTY = "204"  # to a request for a claim, this is also Baton's own answer


def page(status: int, **headers: str) -> bytes:
    return response(status, "text/html", PAGE, **headers)


def response(status: int, kind: str, content: bytes, **headers: str) -> bytes:
    named = {"Content-Type": kind, "Content-Length": str(len(content)), **headers}
    lines = [f"HTTP/1.1 {status} Status", *(f"{name.replace('_', '-')}: {value}" for name, value in named.items())]
    return "\r\n".join([*lines, "", ""]).encode() + content


def aws(status: int, message: str) -> bytes:
    return response(status, "application/json", json.dumps({"message": message}).encode())


def always(content: bytes) -> Callable[[bytes | None], Pieces]:
    return lambda _genuine: [Piece(content)]


def reset(_genuine: bytes | None) -> Pieces:
    return [Piece(None)]


def truncated(genuine: bytes | None) -> Pieces:
    """Ends in the middle of the body, or of the head of an answer without one."""
    whole = genuine or page(200)
    head, end, content = whole.partition(b"\r\n\r\n")
    cut = head + end + content[: len(content) // 2] if content else head[: len(head) // 2]
    return [Piece(cut), Piece(b"")]


def miscounted(genuine: bytes | None) -> Pieces:
    """States half of the body's length: the rest stays on the connection."""
    head, end, content = (genuine or page(200)).partition(b"\r\n\r\n")
    lines = [each for each in head.split(b"\r\n") if not each.lower().startswith(b"content-length")]
    return [Piece(b"\r\n".join([*lines, b"Content-Length: %d" % (len(content) // 2)]) + end + content)]


def interim(_genuine: bytes | None) -> Pieces:
    """Nothing but answers before the answer."""
    return [Piece(b"HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload\r\n\r\n"), Piece(b"")]


def dripping(genuine: bytes | None) -> Pieces:
    return [Piece(bytes([each]), DRIP_SECONDS) for each in genuine or page(200)]


ANSWERS: dict[str, Callable[[bytes | None], Pieces]] = {
    **{f"{status} page": always(page(status)) for status in STATUSES},
    "200 page": always(page(200)),
    "200 JSON of another shape": always(response(200, "application/json", b'{"status": "ok"}')),
    EMPTY: always(b"HTTP/1.1 204 No Content\r\n\r\n"),
    "302 redirect": always(response(302, "text/html", b"", Location="http://portal.invalid/")),
    "429 page": always(page(429, Retry_After="7")),
    "503 page, Retry-After of a day": always(page(503, Retry_After=str(DAY))),
    "429 of AWS": always(aws(429, "Too Many Requests")),
    "503 of AWS": always(aws(503, "Service Unavailable")),
    "reset": reset,
    "truncated body": truncated,
    "wrong content length": miscounted,
    "1xx alone": interim,
    "slow drip": dripping,
}
# One answer of each kind: a refusal, a size, a gateway, no content, a limit, a broken answer, a silence.
KINDS = ("403 page", "413 page", "502 page", EMPTY, "429 page", "reset", "truncated body", "slow drip")
BEFORE = {name: Fault(name, pieces) for name, pieces in ANSWERS.items()}
AFTER = {name: Fault(name, pieces, is_forwarded=True) for name, pieces in ANSWERS.items()}

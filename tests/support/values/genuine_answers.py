"""Answers that the client takes for Baton's (``baton_client.genuine``)."""

from __future__ import annotations

import json
from typing import Any

from baton_client.answer_shapes import NAMES
from baton_client.core import Answer
from baton_client.genuine import answers_of
from support.http_server import Sent

JSON_TYPE = ("Content-Type", "application/json")


def usual_status(method: str, path: str) -> int:
    """Returns the first status below 300 that the operation's answer may have; 200 for an unknown operation."""
    return min([each for each in answers_of(method, path.partition("?")[0]) or {} if each < 300], default=200)


def completed(method: str, path: str, status: int, body: Any) -> Any:
    """Returns the body with the fields that the operation's answer always has, None where the test has no value, and an
    empty list of items."""
    shape = (answers_of(method, path.partition("?")[0]) or {}).get(status)
    names = NAMES.get((shape or "").partition(" ")[0], "").split()
    return {name: [] if name == "items" else None for name in names} | body


def problem(status: int, code: str, **headers: str) -> Answer:
    """Returns a refusal of Baton's, for a flow. ``headers``: names with underscores in place of hyphens."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Answer(status, named, {"status": status, "code": code})


def sent_json(method: str, path: str, status: int, body: dict[str, Any]) -> Sent:
    """Returns Baton's answer to a request, for a server: completed below 400, else a problem document."""
    whole = {"status": status, **body} if status >= 400 else completed(method, path, status, body)
    return Sent(status, [JSON_TYPE], json.dumps(whole).encode())

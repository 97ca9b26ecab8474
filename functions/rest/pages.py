"""Lists over HTTP: ``{items, next_cursor}``. A cursor belongs to the listing that gave it."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from typing_extensions import TypedDict

from baton.domain import errors, numbers
from baton.domain.canonical_json import canonical_json
from baton.ports.paging import Page
from rest import routing

# A cursor is a sort key. Anybody can make its checksum, and DynamoDB refuses an empty or too long key.
_CURSOR = re.compile(r"[A-Za-z0-9_#-]{1,200}\Z")
# The read cursor of a conversation says how far each of its tasks was read.
_PLACES = re.compile(r"[A-Za-z0-9_.*~-]{1,1100}\Z")

# A function's answer has at most 6 MB, and escaped quotes and non-ASCII characters may triple its size.
MAX_LISTED_BYTES = 1_900_000
ItemT = TypeVar("ItemT")
_typed_dict: Any = TypedDict


class Listing(TypedDict):
    items: list[Any]
    next_cursor: str | None


def of(name: str, item: type) -> type[Listing]:
    """Returns the type of a page of these items. ``name``: the type's name in docs/openapi.json."""
    fields: Any = {"items": list[item], "next_cursor": str | None}  # type: ignore[valid-type]
    page: type[Listing] = _typed_dict(name, fields)
    return page


def cursor_of(call: routing.Call[None, Any]) -> str | None:
    """Returns the store's cursor from the caller's. Raises ``InvalidInput``."""
    return _unsealed(call, "cursor", call.query.cursor, _CURSOR)


def read_cursor_of(call: routing.Call[None, Any]) -> str | None:
    """Returns the read cursor of a list that grows at its end. Raises ``InvalidInput``."""
    return read_cursor_in(call, call.query.after)


def read_cursor_in(call: routing.Call[Any, Any], after: str | None) -> str | None:
    """Returns the read cursor that a caller sends as ``after``, to the path of its list. Raises ``InvalidInput``."""
    return _unsealed(call, "after", after, _PLACES)


def _unsealed(call: routing.Call[Any, Any], field: str, sealed: str | None, pattern: re.Pattern[str]) -> str | None:
    if sealed is None:
        return None
    try:
        seal, cursor = json.loads(base64.urlsafe_b64decode(sealed + "=" * (-len(sealed) % 4)))
    except (ValueError, TypeError, RecursionError) as exc:
        raise errors.InvalidInput(field, "is not one that was given out") from exc
    if not isinstance(cursor, str) or not pattern.match(cursor):
        raise errors.InvalidInput(field, "is not one that was given out")
    if seal != _seal(call, cursor):
        raise errors.InvalidInput(field, "belongs to another listing")
    return cursor


def listed(call: routing.Call[None, Any], ordered: Iterable[ItemT], sort_key: Callable[[ItemT], str]) -> Page:
    """Returns a page of ``ordered``, which is sorted by ``sort_key``. However the list changes, the next
    page begins after the last item's key, whether that item still exists or not."""
    after = cursor_of(call)
    left = [each for each in ordered if after is None or sort_key(each) > after]
    shown = left[: call.query.limit]
    return Page(tuple(shown), sort_key(shown[-1]) if len(left) > len(shown) else None)


def fitting(
    call: routing.Call[None, Any], page: Page, sort_key: Callable[[Any], str], view: Callable[[Any], Any]
) -> Listing:
    """Returns a page as ``listing`` does, cut short at the size that a function may answer. One item always fits."""
    views: list[Any] = []
    size = 0
    for each in page.items:
        shown = view(each)
        size += len(numbers.dumps(shown, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass"))
        if views and size > MAX_LISTED_BYTES:
            return {"items": views, "next_cursor": sealed(call, sort_key(page.items[len(views) - 1]))}
        views.append(shown)
    return {"items": views, "next_cursor": None if page.cursor is None else sealed(call, page.cursor)}


def listing(call: routing.Call[None, Any], page: Page, view: Callable[[Any], Any]) -> Listing:
    return {
        "items": [view(item) for item in page.items],
        "next_cursor": None if page.cursor is None else sealed(call, page.cursor),
    }


def sealed(call: routing.Call[None, Any], cursor: str) -> str:
    text = json.dumps([_seal(call, cursor), cursor], separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def _seal(call: routing.Call[Any, Any], cursor: str) -> str:
    """Returns a checksum of workspace, path, filters and position. It is no secret, but keeps a cursor from being used
    with another listing by mistake."""
    query = call.query.model_dump(mode="json", exclude={"limit", "cursor", "after"}) if call.query else {}
    filters = canonical_json(_in_order(query))
    parts = f"{call.by.workspace}\n{call.path}\n{filters}\n{cursor}"
    return hashlib.sha256(parts.encode()).hexdigest()[:16]


def _in_order(filters: dict[str, Any]) -> dict[str, Any]:
    """Sorts the filters' sets: their order differs between processes, and a cursor may come back to another process."""
    return {name: sorted(value) if isinstance(value, list) else value for name, value in filters.items()}

"""Rich text: what Notion takes, keeps and gives back; also ids, times and addresses as it writes them."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

from tools.stand_ins.fake_notion.errors import failed, invalid, only

MAX_TEXT = 2000
MAX_ITEMS = 100
ANNOTATIONS: dict[str, Any] = {
    "bold": False,
    "italic": False,
    "strikethrough": False,
    "underline": False,
    "code": False,
    "color": "default",
}
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")
_HEX = re.compile(r"[0-9a-f]{32}")

RichText = list[dict[str, Any]]


def dashed(given: object) -> str | None:
    """An id in the form that Notion answers with, or None if it isn't one."""
    hexes = given.replace("-", "").lower() if isinstance(given, str) else ""
    if not _HEX.fullmatch(hexes):
        return None
    return f"{hexes[:8]}-{hexes[8:12]}-{hexes[12:16]}-{hexes[16:20]}-{hexes[20:]}"


def address(title: str, page_id: str) -> str:
    slug = re.sub(r"[^A-Za-z0-9]+", "-", title).strip("-")
    return f"https://www.notion.so/{slug}{'-' if slug else ''}{page_id.replace('-', '')}"


def to_minute(moment: datetime) -> datetime:
    """Notion keeps the times of a page to the minute, rounded down."""
    return moment.replace(second=0, microsecond=0)


def iso(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def utf16_length(text: str) -> int:
    """Notion's limits count UTF-16 code units: most emoji are two."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def plain(text: RichText) -> str:
    return "".join(item["plain_text"] for item in text)


def rich(text: str) -> RichText:
    return [_kept(text[start : start + 1000], None, ANNOTATIONS) for start in range(0, len(text), 1000)]


def parse_rich_text(given: object, where: str) -> RichText:
    """Raises NotionError (400) as Notion does."""
    if not isinstance(given, list):
        raise failed(where, "an array", given)
    if len(given) > MAX_ITEMS:
        raise invalid(f"body failed validation: {where}.length should be ≤ `{MAX_ITEMS}`, instead was `{len(given)}`.")
    return [kept for i, item in enumerate(given) if (kept := _parse_item(item, f"{where}[{i}]"))["plain_text"]]


def _parse_item(given: object, where: str) -> dict[str, Any]:
    item = only(given, where, {"type", "text", "annotations", "plain_text", "href"})
    if item.get("type", "text") != "text":
        raise invalid(f"{where}: this stand-in for Notion knows rich text of type text only.")
    text = only(item.get("text"), f"{where}.text", {"content", "link"})
    content, link = text.get("content"), text.get("link")
    if not isinstance(content, str):
        raise failed(f"{where}.text.content", "a string", content)
    if (length := utf16_length(content)) > MAX_TEXT:
        raise invalid(
            f"body failed validation: {where}.text.content.length should be ≤ `{MAX_TEXT}`, instead was `{length}`."
        )
    if _CONTROL.search(content):
        raise invalid(f"body failed validation: {where}.text.content should not contain control characters.")
    url = None if link is None else only(link, f"{where}.text.link", {"url"}).get("url")
    if link is not None and not (isinstance(url, str) and 0 < utf16_length(url) <= MAX_TEXT):
        raise failed(f"{where}.text.link.url", "a URL of at most 2000 characters", url)
    annotations = only(item.get("annotations", {}), f"{where}.annotations", set(ANNOTATIONS))
    return _kept(content, url, {**ANNOTATIONS, **annotations})


def _kept(content: str, url: str | None, annotations: dict[str, Any]) -> dict[str, Any]:
    link = {"url": url} if url else None
    return {
        "type": "text",
        "text": {"content": content, "link": link},
        "annotations": annotations,
        "plain_text": content,
        "href": url,
    }

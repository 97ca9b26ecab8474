"""What Notion's webhook sends, read as the use case asks for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import unquote

from baton.domain import errors, times
from baton.domain.settings.tracker_settings import id_in
from baton.domain.tracker import page_changes
from baton.services.tracker.receive_webhook import ReportedChange, WebhookDelivery

MAX_EVENT_ID = 100


@dataclass(frozen=True, slots=True)
class NotionEvent:
    """A handshake, or an event of Notion's."""

    raw: bytes
    content: Mapping[str, Any]  # the JSON object in ``raw``; it may be parsed when it is first read
    signature: str | None

    @property
    def handshake_token(self) -> object:
        return self.content.get("verification_token")

    def change(self) -> ReportedChange:
        return ReportedChange(
            event_id=self._text("id"),
            sent_at=self._time("timestamp"),
            is_by_person=self._is_by_person(),
            page_id=self._page_id(),
            reports=page_changes.reports_of(self._text("id"), self._author_ids(), self._columns()),
            names_columns=self._names_columns,
        )

    @property
    def _names_columns(self) -> bool:
        return self.content.get("type") == "page.properties_updated"

    def _author_ids(self) -> list[str]:
        ids = [author.get("id") for author in self._authors()]
        return [each for each in ids if isinstance(each, str) and 0 < len(each) <= MAX_EVENT_ID and " " not in each]

    def _columns(self) -> list[str]:
        """Returns the ids of the changed properties. Events of other types name none."""
        if not self._names_columns:
            return []
        data = self.content.get("data")
        listed = data.get("updated_properties") if isinstance(data, dict) else None
        known = [each for each in listed or [] if isinstance(each, str)] if isinstance(listed, list) else []
        return [unquote(each)[:MAX_EVENT_ID].replace(" ", "") for each in known] or [page_changes.ANY_COLUMN]

    def _is_by_person(self) -> bool:
        """Our own writes come back with a bot as author, like those of every other connection and automation."""
        return "person" in [author.get("type") for author in self._authors()]

    def _authors(self) -> list[dict[str, Any]]:
        authors = self.content.get("authors")
        return [each for each in authors if isinstance(each, dict)] if isinstance(authors, list) else []

    def _page_id(self) -> str | None:
        entity = self.content.get("entity")
        if not isinstance(entity, dict) or entity.get("type") != "page":
            return None
        return id_in(str(entity.get("id")))

    def _text(self, name: str) -> str:
        value = self.content.get(name)
        if not isinstance(value, str) or not 0 < len(value) <= MAX_EVENT_ID:
            raise errors.InvalidInput(name, f"must be a text of 1 to {MAX_EVENT_ID} characters")
        return value

    def _time(self, name: str) -> datetime:
        try:
            return times.parse_rfc3339(self._text(name))
        except ValueError as exc:
            raise errors.InvalidInput(name, "must be an ISO 8601 time with an offset") from exc


_delivery: type[WebhookDelivery] = NotionEvent

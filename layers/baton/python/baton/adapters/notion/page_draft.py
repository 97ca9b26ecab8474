"""A page that is to be created. If Notion refuses it, nothing was created, and the page is tried again without the
refused part. Each retry leaves out more, so the retries come to an end."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from baton.adapters.notion import page_properties, queries, texts, troubles
from baton.adapters.notion.database_schema import DatabaseSchema, Lack
from baton.domain import errors
from baton.domain.settings.tracker_settings import TrackerSettings
from baton.domain.tracker.page_fields import PageFields

RELATIONS = ("client", "project")
# After this many refusals that name related pages, all of them are left out instead of one by one.
RELATION_ROUNDS = 3
_LINK = re.compile(r"\b(link|url)\b", re.IGNORECASE)
_DISPLAY_NAMES = {
    "status": "status",
    "priority": "priority",
    "due": "due date",
    "client": "Client pages",
    "project": "Project pages",
}


@dataclass(frozen=True, slots=True)
class PageDraft:
    """One attempt at creating a page."""

    page_fields: PageFields
    schema: DatabaseSchema
    settings: TrackerSettings
    linked: bool = True
    unshared: frozenset[str] = frozenset()  # related pages that Notion doesn't show the connection
    relation_refusals: int = 0
    refused: tuple[tuple[str, str], ...] = ()  # properties that Notion didn't take, and why
    is_reread: bool = False
    is_bare: bool = False

    def request(self) -> dict[str, Any]:
        title = self.schema.title
        properties = {title.name: {"title": texts.rich_text(self.page_fields.title)}} if title else {}
        for _, (found, written) in self._written():
            properties[found.name] = written
        parent = {"type": "data_source_id", "data_source_id": self.schema.data_source_id}
        return {"parent": parent, "properties": properties, "children": list(self._children())}

    @property
    def without(self) -> tuple[str, ...]:
        """Returns a sentence for each part that was left out, except the task's id, which nobody misses."""
        sentences = [
            f"The {_DISPLAY_NAMES[role]} couldn't be written: {lack}"
            for role, lack in self._lacks()
            if role != "task_id"
        ]
        sentences += [
            f"The {_DISPLAY_NAMES[role]} couldn't be written: {why}" for role, why in self.refused if role != "task_id"
        ]
        for role in RELATIONS:
            if lost := len(self.unshared.intersection(page_properties.related_ids(self.page_fields, role))):
                pages = f"{lost} {role.capitalize()} {'page' if lost == 1 else 'pages'}"
                sentences.append(f"{pages} couldn't be linked: share them with the connection under ••• → Connections.")
        return tuple(sentences)

    def healed(self, refusal: errors.TrackerTrouble, reread: Callable[[], DatabaseSchema]) -> PageDraft | None:
        """Returns the draft without the part that ``refusal`` is about, or None if there is nothing left to leave
        out."""
        message = refusal.message
        if unshared := self._unshared(refusal):
            return replace(self, unshared=self.unshared | unshared, relation_refusals=self.relation_refusals + 1)
        if self.linked and _LINK.search(message):
            return replace(self, linked=False)
        if not self.is_reread:
            after = replace(self, schema=reread(), is_reread=True)
            return after if after.schema != self.schema else after.healed(refusal, reread)
        for role, (found, _) in self._written():
            if re.search(rf"(?<!\w){re.escape(found.name)}(?!\w)", message, re.IGNORECASE):
                return replace(self, refused=(*self.refused, (role, message)))
        return None if self.is_bare else self._bare(message)

    def _bare(self, why: str) -> PageDraft:
        """Returns the draft with title and text only. Notion's wording isn't stable, so the refused property may be
        any."""
        all_refused = (*self.refused, *((role, why) for role, _ in self._written()))
        return replace(self, linked=False, refused=all_refused, is_bare=True)

    def _unshared(self, refusal: errors.TrackerTrouble) -> frozenset[str]:
        related = frozenset(one for role in RELATIONS for one in self._related(role))
        message = refusal.message.replace("-", "").casefold()
        if self.schema.data_source_id.replace("-", "") in message:
            return frozenset()
        named = frozenset(one for one in related if one.replace("-", "") in message)
        if named and self.relation_refusals < RELATION_ROUNDS - 1:
            return named
        return related if named or isinstance(refusal, troubles.NotThere) or "relation" in message else frozenset()

    def _related(self, role: str) -> tuple[str, ...]:
        return tuple(one for one in page_properties.related_ids(self.page_fields, role) if one not in self.unshared)

    def _values(self) -> Iterator[tuple[str, Any]]:
        """Yields each property's role, with the property and its value, or the reason why it has none."""
        setting = {
            "status": f"tracker.statuses.{self.page_fields.state}",
            "priority": f"tracker.priorities.{self.page_fields.priority}",
        }
        refused = dict(self.refused)
        for role, word in page_properties.wanted(self.page_fields, self.settings).items():
            if word and role not in refused:
                yield role, page_properties.value(self.schema, self.settings, role, word, setting.get(role, ""))
        for role in RELATIONS:
            if role not in refused and (ids := self._related(role)):
                found = self.schema.find(role, self.settings)
                yield role, found if isinstance(found, Lack) else (found, page_properties.relation(ids))

    def _written(self) -> list[tuple[str, Any]]:
        return [(role, found) for role, found in self._values() if not isinstance(found, Lack)]

    def _lacks(self) -> list[tuple[str, Lack]]:
        return [(role, found) for role, found in self._values() if isinstance(found, Lack)]

    def _children(self) -> Iterator[dict[str, Any]]:
        if self.page_fields.text:
            yield texts.paragraph(texts.rich_text(self.page_fields.text))
        if self.page_fields.digest_url:
            yield texts.paragraph([*texts.rich_text("Source digest: "), *self._link(self.page_fields.digest_url, "")])
        yield texts.paragraph(
            [*self._link(self.page_fields.url, queries.OPEN), *texts.rich_text(f" · {self.page_fields.task_id}")]
        )

    def _link(self, url: str, name: str) -> list[dict[str, Any]]:
        if self.linked and texts.is_link(url):
            return texts.rich_text(name or url, url)
        return texts.rich_text(f"{name}: {url}" if name else url)

"""A page to be made, and what to leave out of it when Notion refuses it.

A refusal is definite: nothing was made, so the page may be tried again without whatever was refused. Each healing takes
something away for good, so they come to an end.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from baton.adapters.notion import texts, words
from baton.adapters.notion.queries import OPEN
from baton.adapters.notion.schema import Lack, Schema
from baton.adapters.notion.troubles import NotThere

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from baton.domain.errors import TrackerTrouble
    from baton.domain.sheet import Sheet
    from baton.domain.tracker import TrackerSettings

RELATIONS = ("client", "project")
# How often pages are dropped one by one from the relations; then they are all left out.
RELATION_ROUNDS = 3
_LINK = re.compile(r"\b(link|url)\b", re.IGNORECASE)
_SPOKEN = {
    "status": "status",
    "priority": "priority",
    "due": "due date",
    "client": "Client pages",
    "project": "Project pages",
}


@dataclass(frozen=True, slots=True)
class Draft:
    """``unshared``: related pages that Notion doesn't show us. ``refused``: properties that it didn't take, and why."""

    sheet: Sheet
    schema: Schema
    settings: TrackerSettings
    linked: bool = True
    unshared: frozenset[str] = frozenset()
    relation_refusals: int = 0
    refused: tuple[tuple[str, str], ...] = ()
    is_reread: bool = False
    is_bare: bool = False

    def request(self) -> dict[str, Any]:
        title = self.schema.title
        properties = {title.name: {"title": texts.rich_text(self.sheet.title)}} if title else {}
        for _, (found, written) in self._written():
            properties[found.name] = written
        parent = {"type": "data_source_id", "data_source_id": self.schema.data_source_id}
        return {"parent": parent, "properties": properties, "children": list(self._children())}

    @property
    def without(self) -> tuple[str, ...]:
        """What had to be left out, a sentence each. Nobody misses the task's id."""
        said = [f"The {_SPOKEN[role]} couldn't be written: {lack}" for role, lack in self._lacks() if role != "task_id"]
        said += [f"The {_SPOKEN[role]} couldn't be written: {why}" for role, why in self.refused if role != "task_id"]
        for role in RELATIONS:
            if lost := len(self.unshared.intersection(words.related_ids(self.sheet, role))):
                pages = f"{lost} {role.capitalize()} {'page' if lost == 1 else 'pages'}"
                said.append(f"{pages} couldn't be linked: share them with the connection under ••• → Connections.")
        return tuple(said)

    def healed(self, refusal: TrackerTrouble, reread: Callable[[], Schema]) -> Draft | None:
        """Without what ``refusal`` is about, or None if there is nothing left to take away."""
        said = refusal.message
        if unshared := self._unshared(refusal):
            return replace(self, unshared=self.unshared | unshared, relation_refusals=self.relation_refusals + 1)
        if self.linked and _LINK.search(said):
            return replace(self, linked=False)
        if not self.is_reread:
            after = replace(self, schema=reread(), is_reread=True)
            return after if after.schema != self.schema else after.healed(refusal, reread)
        for role, (found, _) in self._written():
            if re.search(rf"(?<!\w){re.escape(found.name)}(?!\w)", said, re.IGNORECASE):
                return replace(self, refused=(*self.refused, (role, said)))
        return None if self.is_bare else self._bare(said)

    def _bare(self, why: str) -> Draft:
        """A title and text: Notion's words aren't stable, and whatever they were about may be gone with the rest."""
        all_refused = (*self.refused, *((role, why) for role, _ in self._written()))
        return replace(self, linked=False, refused=all_refused, is_bare=True)

    def _unshared(self, refusal: TrackerTrouble) -> frozenset[str]:
        asked = frozenset(one for role in RELATIONS for one in self._related(role))
        said = refusal.message.replace("-", "").casefold()
        if self.schema.data_source_id.replace("-", "") in said:
            return frozenset()
        named = frozenset(one for one in asked if one.replace("-", "") in said)
        if named and self.relation_refusals < RELATION_ROUNDS - 1:
            return named
        return asked if named or isinstance(refusal, NotThere) or "relation" in said else frozenset()

    def _related(self, role: str) -> tuple[str, ...]:
        return tuple(one for one in words.related_ids(self.sheet, role) if one not in self.unshared)

    def _values(self) -> Iterator[tuple[str, Any]]:
        """Each with its property and value, or why it has none."""
        setting = {
            "status": f"tracker.statuses.{self.sheet.state}",
            "priority": f"tracker.priorities.{self.sheet.priority}",
        }
        refused = dict(self.refused)
        for role, word in words.wanted(self.sheet, self.settings).items():
            if word and role not in refused:
                yield role, words.value(self.schema, self.settings, role, word, setting.get(role, ""))
        for role in RELATIONS:
            if role not in refused and (ids := self._related(role)):
                found = self.schema.find(role, self.settings)
                yield role, found if isinstance(found, Lack) else (found, words.relation(ids))

    def _written(self) -> list[tuple[str, Any]]:
        return [(role, told) for role, told in self._values() if not isinstance(told, Lack)]

    def _lacks(self) -> list[tuple[str, Lack]]:
        return [(role, told) for role, told in self._values() if isinstance(told, Lack)]

    def _children(self) -> Iterator[dict[str, Any]]:
        if self.sheet.text:
            yield texts.paragraph(texts.rich_text(self.sheet.text))
        if self.sheet.digest_url:
            yield texts.paragraph([*texts.rich_text("Source digest: "), *self._link(self.sheet.digest_url, "")])
        yield texts.paragraph([*self._link(self.sheet.url, OPEN), *texts.rich_text(f" · {self.sheet.task_id}")])

    def _link(self, url: str, name: str) -> list[dict[str, Any]]:
        if self.linked and texts.is_link(url):
            return texts.rich_text(name or url, url)
        return texts.rich_text(f"{name}: {url}" if name else url)

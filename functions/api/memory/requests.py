"""What callers send about the blackboard."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import StringConstraints

from baton.domain.memory import entry
from baton.domain.memory.entry import DecisionStatus, EntryType
from baton.domain.memory.entry_draft import EntryDraft
from baton.domain.memory.scope import MAX_SCOPE, ROOT
from baton.services.memory.withdraw_posted import Posted
from rest import models

ScopePath = Annotated[str, StringConstraints(min_length=1, max_length=MAX_SCOPE)]
Tag = Annotated[str, StringConstraints(min_length=1, max_length=entry.MAX_TAG)]
Reference = Annotated[str, StringConstraints(min_length=1, max_length=entry.MAX_REFERENCE)]


class NewEntry(models.Body):
    """``scope``: what part of the work it is about, a path such as ``src/auth``; ``project`` is all of it.
    ``relates_to``: ids of entries and tasks, or paths of files. ``rationale``, ``status`` and ``supersedes`` are a
    decision's: why, whether it is provisional, and the id of the decision that it replaces."""

    entry_type: EntryType
    summary: Annotated[str, StringConstraints(min_length=1, max_length=entry.MAX_SUMMARY)]
    scope: ScopePath = ROOT
    detail: Annotated[str, StringConstraints(max_length=entry.MAX_DETAIL)] = ""
    tags: Annotated[tuple[Tag, ...], models.few(entry.MAX_TAGS)] = ()
    relates_to: Annotated[tuple[Reference, ...], models.few(entry.MAX_RELATES_TO)] = ()
    rationale: Annotated[str, StringConstraints(max_length=entry.MAX_RATIONALE)] | None = None
    status: Literal["provisional", "active"] | None = None
    supersedes: models.Id | None = None

    def draft(self) -> EntryDraft:
        status = None if self.status is None else DecisionStatus(self.status)
        return EntryDraft(**{**dict(self), "status": status})


class Withdrawal(models.Body):
    reason: Annotated[str, StringConstraints(max_length=entry.MAX_REASON)] | None = None


class Withdrawals(models.Body):
    """``posted_by``: whose entries, as `agent:coder`. ``since`` is in the span of time, ``until`` isn't; both may be
    left out. ``cursor``: an earlier answer's ``next_cursor``. ``reason``: stands in each entry's trail."""

    posted_by: Annotated[str, StringConstraints(pattern=r"^(agent|human|service):.{1,200}$")]
    since: models.Instant | None = None
    until: models.Instant | None = None
    cursor: Annotated[str, StringConstraints(pattern=r"^ent_[0-9a-z]{26}$")] | None = None
    reason: Annotated[str, StringConstraints(max_length=entry.MAX_REASON)] | None = None

    def posted(self) -> Posted:
        return Posted(**dict(self))


class EntryQuery(models.PageQuery):
    """``scope``: what it sees is listed: the entries of the scopes above it, its own, and those below it."""

    scope: ScopePath = ROOT
    entry_type: Annotated[frozenset[EntryType], models.few(len(EntryType))] = frozenset()
    tag: Tag | None = None
    since: models.QueryInstant | None = None
    until: models.QueryInstant | None = None

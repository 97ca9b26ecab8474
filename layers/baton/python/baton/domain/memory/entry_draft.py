"""The draft of an entry: what its poster sends, before it is checked."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from baton.domain import errors
from baton.domain.access.principal import Principal
from baton.domain.memory.entry import STANDING, DecisionStatus, Entry, EntryType
from baton.domain.memory.scope import ROOT, parse_scope

_OF_DECISIONS = ("rationale", "status", "supersedes")


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryDraft:
    """``rationale``, ``status`` and ``supersedes``: of a decision alone."""

    entry_type: EntryType
    summary: str
    scope: str = ROOT
    detail: str = ""
    tags: tuple[str, ...] = ()
    relates_to: tuple[str, ...] = ()
    rationale: str | None = None
    status: DecisionStatus | None = None  # None: active
    supersedes: str | None = None  # a decision's id

    def texts(self) -> dict[str, Any]:
        """Returns all texts of the caller by the request's field names, for the guardrails."""
        return {
            "scope": self.scope,
            "summary": self.summary,
            "detail": self.detail,
            "tags": list(self.tags),
            "relates_to": list(self.relates_to),
            "rationale": self.rationale or "",
        }

    @property
    def size(self) -> int:
        """The bytes of all its texts."""
        texts = (self.scope, self.summary, self.detail, self.rationale or "", *self.tags, *self.relates_to)
        return sum(len(each.encode()) for each in texts)

    def entry(self, entry_id: str, by: Principal, at: datetime, texts: dict[str, Any]) -> Entry:
        """Returns the entry, with these texts in place of its own. Raises ``InvalidInput``."""
        self._check()
        is_decision = self.entry_type is EntryType.DECISION
        return Entry(
            workspace=by.workspace,
            id=entry_id,
            scope=parse_scope(texts["scope"]),
            entry_type=self.entry_type,
            summary=texts["summary"],
            detail=texts["detail"],
            tags=tuple(dict.fromkeys(texts["tags"])),
            relates_to=tuple(dict.fromkeys(texts["relates_to"])),
            rationale=texts["rationale"] if is_decision else None,
            status=(self.status or DecisionStatus.ACTIVE) if is_decision else None,
            supersedes=self.supersedes,
            posted_by=by.key,
            posted_at=at,
        )

    def _check(self) -> None:
        if not self.summary.strip():
            raise errors.InvalidInput("summary", "must say something")
        if self.entry_type is not EntryType.DECISION:
            for field in _OF_DECISIONS:
                if getattr(self, field) is not None:
                    raise errors.InvalidInput(field, "is a field of decisions alone")
        if self.status is not None and self.status not in STANDING:
            raise errors.InvalidInput("status", "must be 'provisional' or 'active': others follow from what is posted")

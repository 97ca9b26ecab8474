"""Who decided what: a day's decisions, by person and verb."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from baton.domain.access.principal import Principal
from baton.domain.stats.decision import Decision
from baton.ports.deps import Deps
from baton.ports.paging import Page

# Pages that one request looks at, whatever the filters leave of them.
MAX_PAGES = 10


@dataclass(frozen=True, slots=True)
class DecisionFilter:
    """``day``: of UTC, None for today. ``person``: a human's name."""

    day: date | None = None
    person: str | None = None
    verb: str | None = None

    def takes(self, decision: Decision) -> bool:
        is_by = self.person is None or decision.by == self.person
        return is_by and (self.verb is None or decision.verb == self.verb)


def list_decisions(deps: Deps, by: Principal, asked: DecisionFilter, limit: int, cursor: str | None) -> Page:
    """Returns a page, the newest first. It may be shorter than ``limit``, or empty, and have a cursor: so much was
    looked at."""
    day, found = asked.day or deps.clock.now().date(), list[Decision]()
    for _ in range(MAX_PAGES):
        page = deps.store.stats.decisions(by.workspace, day, limit - len(found), cursor)
        found += filter(asked.takes, page.items)
        cursor = page.cursor
        if cursor is None or len(found) == limit:
            break
    return Page(tuple(found), cursor)

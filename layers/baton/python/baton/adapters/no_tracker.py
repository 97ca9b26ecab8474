"""No outside mirror is configured: Baton's own pages are the tasks' addresses."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from baton.ports import Dossier, TrackerPage


class NoTracker:
    def mirror(self, dossier: Dossier, budget_seconds: float) -> TrackerPage | None:  # noqa: ARG002
        return None

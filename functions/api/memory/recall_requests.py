"""What callers ask the blackboard."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints

from api.memory.requests import ScopePath
from baton.domain.memory.entry import EntryType
from baton.domain.memory.entry_index import Question
from baton.domain.memory.scope import ROOT
from baton.services.memory.recall import MAX_FOUND
from rest import models

MAX_QUESTION = 1_000
Few = Annotated[int, Field(ge=1, le=MAX_FOUND)]


class RecallQuery(models.Query):
    """``q``: what is looked for, in words. ``scope``: only what it sees is found, the closer the better."""

    q: Annotated[str, StringConstraints(min_length=1, max_length=MAX_QUESTION)]
    scope: ScopePath = ROOT
    entry_type: Annotated[frozenset[EntryType], models.few(len(EntryType))] = frozenset()
    limit: Few = 10

    def question(self) -> Question:
        return Question(text=self.q, scope=self.scope, entry_types=self.entry_type, limit=self.limit)


class WhyQuery(models.Query):
    """``path``: of a file or folder, as scopes are written."""

    path: ScopePath
    limit: Few = MAX_FOUND

"""Callbacks as JSON."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict

from rest.tasks import views as task_views


class CallbackView(TypedDict):
    """``url``: a secret address that takes one answer. It needs no token."""

    url: str
    interaction_id: str
    until: str | None


class WaitingTask(task_views.ChangedTask):
    callback: CallbackView


class AcceptedView(TypedDict):
    accepted: Literal[True]

"""Changes of the workspace as JSON. docs/openapi.json is made of these types."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any, Literal, TypeVar

from typing_extensions import TypedDict

from api.access.views import SettingsView, settings_view
from baton.domain import errors, times
from baton.domain.access.workspace_change import WorkspaceChange
from baton.ports.access import SettingsVersion
from baton.ports.deps import Deps
from rest import answers, pages
from rest.shape import ViewShape

Done = TypeVar("Done")
ChangeSubjectName = Literal["settings", "tokens", "agents", "tools", "routes", "approvals", "tracker"]
ChangeStateName = Literal["applied", "pending", "approved", "refused", "withdrawn", "expired"]


class ChangeView(TypedDict):
    """``names``: the changed settings, or the principal of a token, the agent, tool or work type, or `token` or
    `webhook` of the tracker. ``before``, ``after``: the fields that differ; null for a thing that is new, or gone.
    ``credential``: the id of the token, and of the session. ``state``: `pending` waits for another administrator until
    ``expires_at``; `approved` waits for its asker to repeat the request with ``id`` as `change_id`. ``is_alone``: the
    only administrator loosened a rule. ``digest``: of the content, for `POST
    /workspace/changes/{change_id}/approve`."""

    id: str
    at: str
    by: str
    credential: dict[str, Any]
    subject: ChangeSubjectName
    names: list[str]
    before: dict[str, Any] | None
    after: dict[str, Any] | None
    state: ChangeStateName
    is_alone: bool
    digest: str
    expires_at: str | None
    applied_at: str | None
    decided_at: str | None
    decided_by: str | None
    decided_credential: dict[str, Any]
    reason: str | None


class SettingsVersionView(SettingsView):
    """``updated_by``, ``updated_at``: the author of this version, and when it was made."""

    updated_by: str | None
    updated_at: str | None


ChangePage = pages.of("ChangePage", ChangeView)
_CHANGE = ViewShape(ChangeView, WorkspaceChange, "state")


def change_view(change: WorkspaceChange, now: datetime) -> ChangeView:
    return _CHANGE(change, state=str(change.state_at(now)))


def settings_version_view(found: SettingsVersion) -> SettingsVersionView:
    at = None if found.updated_at is None else times.rfc3339(found.updated_at)
    return {**settings_view(found.settings), "updated_by": found.updated_by, "updated_at": at}


def done_or_pending(deps: Deps, act: Callable[[], Done], answer: Callable[[Done], answers.Answer]) -> answers.Answer:
    """Returns the answer of an act, or 202 with the change that waits for another administrator."""
    try:
        done = act()
    except errors.ChangePending as pending:
        return answers.accepted(change_view(pending.change, deps.clock.now()))
    return answer(done)

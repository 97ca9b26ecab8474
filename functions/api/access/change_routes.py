"""Changes of the workspace with their authors, and the changes that wait for a second administrator."""

from __future__ import annotations

from typing import Annotated

from pydantic import StringConstraints

from api.access import change_views as views
from baton.domain.access.rights import Deed
from baton.domain.access.workspace_change import ChangeState, ChangeSubject
from baton.ports.deps import Deps
from baton.services.access.decide_change import approve_change, refuse_change, withdraw_change
from baton.services.access.list_changes import READ_CHANGES, ChangeFilter, find_change, list_changes, settings_version
from rest import answers, models, pages, routing

routes = routing.Routes()


class ChangesQuery(models.PageQuery):
    """``name``: a setting, a person's name, a principal such as `service:ci`, an agent, a tool, a work type, or
    `token` or `webhook` of the tracker."""

    subject: ChangeSubject | None = None
    name: Annotated[str, StringConstraints(min_length=1, max_length=200)] | None = None
    state: ChangeState | None = None


class ChangeApproval(models.Body):
    """``digest``: of the change as it was read."""

    digest: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


class ChangeRefusal(models.Body):
    reason: models.Reason | None = None


@routes.get(
    "/workspace/changes",
    query=models.query(ChangesQuery),
    answers={200: views.ChangePage},
    only=routing.with_act_as(READ_CHANGES),
)
def list_workspace_changes(deps: Deps, call: routing.Call[None, ChangesQuery]) -> answers.Answer:
    """Changes of settings, tokens, agents, tools, routes, approvals and the tracker's token and webhook, newest first:
    the old and the new value."""
    asked, now = call.query, deps.clock.now()
    filters = ChangeFilter(subject=asked.subject, name=asked.name, state=asked.state)
    page = list_changes(deps, call.by, filters, asked.limit, pages.cursor_of(call))
    return answers.ok(pages.fitting(call, page, lambda each: each.id, lambda each: views.change_view(each, now)))


@routes.get(
    "/workspace/changes/{change_id}",
    answers={200: views.ChangeView},
    only=routing.with_act_as(READ_CHANGES),
)
def get_workspace_change(deps: Deps, call: routing.Call[None, None]) -> answers.Answer:
    """One change of the workspace."""
    change = find_change(deps, call.by, call.params["change_id"])
    return answers.ok(views.change_view(change, deps.clock.now()))


@routes.post(
    "/workspace/changes/{change_id}/approve",
    body=models.strict(ChangeApproval),
    answers={200: views.ChangeView},
    only=routing.human(Deed.DECIDE_CHANGE),
    is_idempotent=False,
)
def approve_workspace_change(deps: Deps, call: routing.Call[ChangeApproval, None]) -> answers.Answer:
    """Approve another administrator's change: it is applied, or nothing happens (409 `change_overtaken`). A request for
    a token is only approved: its asker repeats it with `change_id`, and is shown the secret."""
    change = approve_change(deps, call.by, call.params["change_id"], call.body.digest)
    return answers.ok(views.change_view(change, deps.clock.now()))


@routes.post(
    "/workspace/changes/{change_id}/refuse",
    body=models.strict(ChangeRefusal),
    answers={200: views.ChangeView},
    only=routing.human(Deed.DECIDE_CHANGE),
    is_idempotent=False,
)
def refuse_workspace_change(deps: Deps, call: routing.Call[ChangeRefusal, None]) -> answers.Answer:
    """Refuse another administrator's change. Any administrator ends an approval that isn't used yet."""
    change = refuse_change(deps, call.by, call.params["change_id"], call.body.reason)
    return answers.ok(views.change_view(change, deps.clock.now()))


@routes.post(
    "/workspace/changes/{change_id}/withdraw",
    body=models.strict(models.NoFields),
    answers={200: views.ChangeView},
    only=routing.human(Deed.WITHDRAW_CHANGE),
    is_idempotent=False,
)
def withdraw_workspace_change(deps: Deps, call: routing.Call[models.NoFields, None]) -> answers.Answer:
    """Take your own pending change back."""
    change = withdraw_change(deps, call.by, call.params["change_id"])
    return answers.ok(views.change_view(change, deps.clock.now()))


@routes.get(
    "/workspace/settings/versions/{version}",
    answers={200: views.SettingsVersionView},
    only=routing.with_act_as(READ_CHANGES),
)
def get_settings_version(deps: Deps, call: routing.Call[None, None]) -> answers.Answer:
    """An earlier version of the settings, with its author."""
    return answers.ok(views.settings_version_view(settings_version(deps, call.by, int(call.params["version"]))))

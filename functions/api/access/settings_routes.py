"""The workspace's settings."""

from __future__ import annotations

from api.access import views
from api.access.change_views import ChangeView, done_or_pending
from api.access.settings_requests import SettingsRequest
from baton.domain.access.rights import Deed
from baton.ports.deps import Deps
from baton.services.access.change_settings import change_settings
from baton.services.access.read_settings import read_settings
from baton.services.access.warn_of_rules import warn_of_rules
from rest import answers, models, routing

routes = routing.Routes()


@routes.get("/workspace/settings", answers={200: views.SettingsView})
def get_settings(deps: Deps, call: routing.Call[None, None]) -> answers.Answer:
    """Every setting, defaults included. Version 0: nothing was set yet.

    `groups`, `approval_rules`, `guardrails` and the tracker's `rights` are shown to humans, and to services with the
    scope `act_as`.
    """
    settings, with_rules = read_settings(deps, call.by)
    warnings = warn_of_rules(deps, call.by, settings)
    return answers.ok(views.settings_view(settings, with_rules=with_rules, warnings=warnings))


@routes.put(
    "/workspace/settings",
    body=models.strict(SettingsRequest),
    answers={200: views.SettingsView, 202: ChangeView},
    only=routing.human(Deed.CHANGE_SETTINGS),
)
def put_settings(deps: Deps, call: routing.Call[SettingsRequest, None]) -> answers.Answer:
    """Change settings. The tracker's token is none of them: it is set with PUT /tracker/token.

    A change that loosens approval rules, groups or the tracker's rights waits for a second administrator if the
    workspace has two or more: 202 with the pending change. So does another status column of the tracker, and a new
    word that closes or cancels. `warnings` names the rules that too few people can meet.
    """
    return done_or_pending(
        deps,
        lambda: change_settings(deps, call.by, call.body.given(), call.body.expected_version),
        lambda changed: answers.ok(views.settings_view(changed, warnings=warn_of_rules(deps, call.by, changed))),
    )

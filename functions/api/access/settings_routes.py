"""The workspace's settings."""

from __future__ import annotations

from api.access import views
from api.access.settings_requests import SettingsRequest
from baton.ports.deps import Deps
from baton.services.access.change_settings import change_settings
from baton.services.access.read_settings import read_settings
from rest import answers, models, routing

routes = routing.Routes()


@routes.get("/workspace/settings", answers={200: views.SettingsView})
def get_settings(deps: Deps, call: routing.Call[None, None]) -> answers.Answer:
    """Every setting, defaults included. Version 0: nothing was set yet.

    `guardrails` are shown to humans, and to services with the scope `act_as`.
    """
    settings, with_guardrails = read_settings(deps, call.by)
    return answers.ok(views.settings_view(settings, with_guardrails=with_guardrails))


@routes.put(
    "/workspace/settings",
    body=models.strict(SettingsRequest),
    answers={200: views.SettingsView},
    only=routing.human("change the workspace's settings"),
)
def put_settings(deps: Deps, call: routing.Call[SettingsRequest, None]) -> answers.Answer:
    """Change settings. The tracker's token is none of them: it is set with PUT /tracker/token."""
    changed = change_settings(deps, call.by, call.body.given(), call.body.expected_version)
    return answers.ok(views.settings_view(changed))

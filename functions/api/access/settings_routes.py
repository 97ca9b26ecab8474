"""The workspace's settings."""

from __future__ import annotations

from api.access.settings_requests import SettingsRequest
from api.access.views import SettingsView, settings_view
from baton.ports.deps import Deps
from baton.services.access.change_settings import change_settings
from baton.services.access.read_settings import read_settings
from rest.answers import Answer, ok
from rest.models import strict
from rest.routing import Call, Routes, human

routes = Routes()


@routes.get("/workspace/settings", answers={200: SettingsView})
def get_settings(deps: Deps, call: Call[None, None]) -> Answer:
    """Every setting, defaults included. Version 0: nothing was set yet.

    `guardrails` are shown to humans, and to services with the scope `act_as`.
    """
    settings, with_guardrails = read_settings(deps, call.by)
    return ok(settings_view(settings, with_guardrails=with_guardrails))


@routes.put(
    "/workspace/settings",
    body=strict(SettingsRequest),
    answers={200: SettingsView},
    only=human("change the workspace's settings"),
)
def put_settings(deps: Deps, call: Call[SettingsRequest, None]) -> Answer:
    """Change settings. The tracker's token is none of them: it is set with PUT /tracker/token."""
    return ok(settings_view(change_settings(deps, call.by, call.body.given(), call.body.expected_version)))

"""Settings in JSON's types, for the record of their changes and for answers."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any

from baton.domain.guardrails.guardrails import from_public as guardrails_from
from baton.domain.settings.approval_rule import rules_from
from baton.domain.settings.settings import SETTING_NAMES, AgentsRead, Settings
from baton.domain.settings.tracker_settings import from_public as tracker_from


def plain(settings: Settings) -> dict[str, Any]:
    """Returns every setting, without the version."""
    values: dict[str, Any] = {name: getattr(settings, name) for name in SETTING_NAMES}
    values["holidays"] = sorted(day.isoformat() for day in settings.holidays)
    values["agents_read"] = str(settings.agents_read)
    values["groups"] = {name: list(members) for name, members in sorted(settings.groups.items())}
    values["approval_rules"] = [rule.public() for rule in settings.approval_rules]
    values["guardrails"] = settings.guardrails.public()
    values["tracker"] = settings.tracker.public() if settings.tracker else None
    return values


def given(values: Mapping[str, Any]) -> dict[str, Any]:
    """The inverse of ``plain``, for the settings that ``values`` has: fields for ``Settings``."""
    read: dict[str, Any] = {name: value for name, value in values.items() if name in SETTING_NAMES}
    for name, form in _FORMS.items():
        if read.get(name) is not None:
            read[name] = form(read[name])
    return read


_FORMS: dict[str, Any] = {
    "holidays": lambda days: frozenset(map(date.fromisoformat, days)),
    "agents_read": AgentsRead,
    "groups": lambda groups: {name: tuple(members) for name, members in groups.items()},
    "approval_rules": rules_from,
    "guardrails": guardrails_from,
    "tracker": tracker_from,
}

"""Warnings about a workspace's approval rules, for people who may read the rules."""

from __future__ import annotations

from baton.domain.access.principal import Principal
from baton.domain.questions.rule_warnings import rule_warnings
from baton.domain.rights.read_rights import may_see_rules
from baton.domain.settings.settings import Settings
from baton.ports.deps import Deps


def warn_of_rules(deps: Deps, by: Principal, settings: Settings) -> list[str]:
    """Returns a sentence for each rule that too few people can meet now. Without rules it reads nothing, else the
    people of the workspace."""
    if not settings.approval_rules or not may_see_rules(by):
        return []
    return rule_warnings(settings, deps.store.tokens.people(by.workspace), deps.clock.now())

"""Edits of agents. An edit that takes its agent out of an approval rule waits for a second administrator
(docs/decisions/109-changes-of-a-workspace.md)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from itertools import islice
from typing import Any

from baton.domain import errors, times
from baton.domain.access.person import People
from baton.domain.access.principal import Principal
from baton.domain.access.rights import Deed
from baton.domain.access.workspace_change import ChangeSubject, WorkspaceChange, difference
from baton.domain.agents.agent import Agent, Approval, Requeue, Roster, Runtime
from baton.domain.agents.rule_fit import puts_in, takes_out
from baton.domain.alerts.workspace_alerts import RULES_CHANGED, workspace_alert
from baton.domain.runs.run_profile import NAMES, RunProfile
from baton.domain.tasks.task import Policy
from baton.ports.access import Recorded
from baton.ports.deps import Deps
from baton.steps.access.record_change import new_change, plain, recorded_edit
from baton.steps.access.second_administrator import Loosening, loosened, resolved_request

MAX_NOTICES = 10
_FORMS: Mapping[str, Any] = {
    "runtime": Runtime,
    "approval": Approval,
    "requeue": Requeue,
    "join": Policy,
    "approval_given_at": times.parse_rfc3339,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentEdit:
    """The agent before and after an edit, among the others. ``profiles``: its run profile before and after; empty if
    the edit has no field of it."""

    before: Agent
    after: Agent
    roster: Roster
    profiles: tuple[RunProfile, RunProfile] | tuple[()] = ()

    @property
    def values(self) -> tuple[dict[str, Any] | None, dict[str, Any]]:
        """The old and the new fields in JSON's types. None: the agent is new."""
        before, after = map(plain, (self.before, self.after))
        if self.profiles:
            before, after = {**before, **plain(self.profiles[0])}, {**after, **plain(self.profiles[1])}
        return (before if self.before.version else None), after


def save_edit(deps: Deps, by: Principal, edit: AgentEdit) -> None:
    """Saves the edit with its record, on the condition that the settings haven't changed since it was judged.

    Raises:
        HumanNeeded, RightNeeded: it takes the agent out of an approval rule, or puts it under one.
        ChangePending: it does so, and waits for another administrator.
        Conflict.
    """
    settings = deps.store.settings.of(by.workspace)
    if puts_in(settings.approval_rules, edit.before, edit.after):
        by.must_have(Deed.ENTER_RULE)
    if takes_out(settings.approval_rules, edit.before, edit.after):
        recorded = _loosened(deps, by, edit)
    else:
        change = recorded_edit(deps, by, ChangeSubject.AGENTS, edit.after.slug, edit.values)
        recorded = Recorded(() if change is None else (change,))
    _save(deps, edit, recorded, settings.version)


def _loosened(deps: Deps, by: Principal, edit: AgentEdit) -> Recorded:
    """The request has every value whole: a second administrator reads it, and the approval applies it. The version
    stands for everything that the edit doesn't change: the approval is for the agent as it is now."""
    by.must_have(Deed.LEAVE_RULE)
    values = (_with_version(value or {}, of) for value, of in zip(edit.values, (edit.before, edit.after), strict=True))
    change = new_change(deps, by, difference(ChangeSubject.AGENTS, (edit.after.slug,), *values))
    people = deps.store.tokens.people(by.workspace)
    return loosened(deps, by, Loosening(change, people, people.checked_again()))


def _with_version(values: Mapping[str, Any], agent: Agent) -> dict[str, Any]:
    return {**values, "version": agent.version}


def apply_edit(deps: Deps, decided: WorkspaceChange, people: People) -> None:
    """Applies an approved edit. Raises ``ChangeOvertaken`` if the agent or its profile has changed since the request,
    or if another agent has one of its names by now."""
    roster, slug, at = deps.store.agents.roster(decided.workspace), decided.names[0], decided.applied_at or decided.at
    before, profile = roster.get(slug), deps.store.runs.profile(decided.workspace, slug)
    present, asked = _with_version({**plain(before), **plain(profile)}, before), decided.before or {}
    for name in (*asked, "version"):
        if present.get(name) != asked.get(name):
            raise errors.ChangeOvertaken(decided.id, f"The agent ({name})")
    values = {name: _typed(name, value) for name, value in (decided.after or {}).items() if name != "version"}
    own = {each.name: values[each.name] for each in fields(Agent) if each.name in values}
    after = replace(before, **own, version=before.version + 1, updated_at=at, updated_by=decided.by)
    try:
        roster.must_not_clash(after)
    except errors.NameTaken as exc:
        raise errors.ChangeOvertaken(decided.id, "the use of its names") from exc
    of_profile = {name: value for name, value in values.items() if name in NAMES}
    profiles = (profile, replace(profile, **of_profile)) if of_profile else ()
    alert = workspace_alert(RULES_CHANGED, decided, deps.ids.new("alert", at))
    recorded = Recorded((decided,), (alert, *resolved_request(deps, decided)), people.checked_again())
    _save(deps, AgentEdit(before=before, after=after, roster=roster, profiles=profiles), recorded)


def _typed(name: str, value: Any) -> Any:
    if value is not None and name in _FORMS:
        return _FORMS[name](value)
    return tuple(value) if isinstance(value, list) else value


def _save(deps: Deps, edit: AgentEdit, recorded: Recorded, settings_version: int | None = None) -> None:
    before, after, profile = edit.before, edit.after, edit.profiles[1] if edit.profiles else None
    deps.store.agents.save_agent(after, edit.roster, profile, recorded, settings_version)
    if after.is_run and after.active and not (before.is_run and before.active):
        _notify_backlog(deps, after)


def _notify_backlog(deps: Deps, agent: Agent) -> None:
    """Sends notices for the tasks that waited for the agent to be switched on; process-task continues from there. The
    agent is saved: an error here only costs time."""
    try:
        _, ready = deps.store.queues.ready(agent.workspace, agent.slug, deps.clock.now())
        waiting = list(islice(ready, MAX_NOTICES))
    except errors.Busy:
        waiting = []
    for each in waiting:
        deps.dispatch_queue.notify(agent.workspace, agent.slug, each.task_id)

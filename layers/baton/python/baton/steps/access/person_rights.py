"""The present right of a person: their earlier approvals rest on it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from baton.domain import times
from baton.domain.access.principal import Principal, is_tracker_human, tracker_human, tracker_user
from baton.domain.access.rights import USUAL_RIGHT, Deed, Right, may
from baton.domain.agents.agent import Agent, Approval
from baton.ports.deps import Deps


def right_of_human(deps: Deps, workspace: str, name: str) -> Right | None:
    """Returns the right of the human with this name in tokens and trails; None for a person without a valid token. A
    person of the tracker has the right that the settings give to their id there. At most two small reads."""
    if is_tracker_human(name):
        return editor_of(deps, workspace, tracker_user(name)).right
    return deps.store.tokens.person(workspace, name).right_at(deps.clock.now())


def editor_of(deps: Deps, workspace: str, user_id: str) -> Principal:
    """Returns the principal of a person who acts in the tracker, with the right that the settings give to their id. At
    most one small read."""
    tracker = deps.store.settings.of(workspace).tracker
    right = USUAL_RIGHT if tracker is None else Right(tracker.right_of(user_id))
    return tracker_human(workspace, user_id, right)


def still_may(deps: Deps, workspace: str, name: str, deed: Deed, since: datetime | None) -> bool:
    """True if the human has the right for the deed now, and has had it since their decision. ``since``: None for an
    unknown time. False for an approval that an administrator has ended. At most three small reads."""
    person = deps.store.tokens.person(workspace, name)
    if is_tracker_human(name):
        return person.stands(since) and may(right_of_human(deps, workspace, name), deed)
    return person.still_may(deed, since, deps.clock.now())


def former(deps: Deps, workspace: str, decided: Iterable[tuple[str, datetime | None]], deed: Deed) -> frozenset[str]:
    """Returns the names of people who decided and may no longer do the deed: they left since, or have a lower right.
    ``decided``: names, each with the time of the decision."""
    return frozenset(name for name, since in decided if not still_may(deps, workspace, name, deed, since))


def is_given_still(deps: Deps, workspace: str, standing: Mapping[str, Any]) -> bool:
    """True if the giver of a standing approval, in the event's shape, still has the right to give it."""
    kind, _, name = str(standing["given_by"]).partition(":")
    since = times.parse_rfc3339(standing["given_at"]) if "given_at" in standing else None
    return kind == "human" and still_may(deps, workspace, name, Deed.GIVE_STANDING_APPROVAL, since)


def with_present_approval(deps: Deps, agent: Agent | None) -> Agent | None:
    """Returns the agent without its standing approval, if the giver may no longer give it. No read for an agent without
    one."""
    if agent is None or agent.standing is None or is_given_still(deps, agent.workspace, agent.standing):
        return agent
    return replace(agent, approval=Approval.MANUAL)

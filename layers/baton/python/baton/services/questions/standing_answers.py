"""Standing answers: listed while they are in force, and revoked at once."""

from __future__ import annotations

from baton.domain import errors
from baton.domain.access.principal import Principal
from baton.domain.access.rights import Deed
from baton.domain.questions.standing_answer import StandingAnswer
from baton.ports.deps import Deps
from baton.ports.paging import Page
from baton.ports.writes import Save
from baton.steps.filtering import filtered
from baton.steps.retrying import retry_on_conflict

PAGE = 100


def list_standing_answers(deps: Deps, by: Principal, limit: int, cursor: str | None) -> Page:
    """Returns those that allow something, by agent and tool, to humans. A page may be shorter than ``limit``."""
    by.must_have(Deed.LIST_STANDING_ANSWERS)
    now = deps.clock.now()
    read = deps.store.questions.all_standing_answers
    return filtered(
        lambda size, at: read(by.workspace, size, at), lambda each: each.allows_something(now), limit, cursor
    )


def revoke_standing_answer(deps: Deps, by: Principal, answer_id: str) -> StandingAnswer:
    """From then on it approves nothing, and what it has approved and wasn't begun allows nothing. Any human may. Raises
    ``HumanNeeded`` and ``Unknown``."""
    by.must_have(Deed.REVOKE_STANDING_ANSWER)

    def attempt() -> StandingAnswer:
        found = _find(deps, by.workspace, answer_id)
        after = found.revoked(by.id, deps.clock.now())
        if after is not found:
            deps.store.commit(by.workspace, Save(after))
        return after

    return retry_on_conflict(deps, attempt)


def _find(deps: Deps, workspace: str, answer_id: str) -> StandingAnswer:
    cursor = None
    while True:
        page = deps.store.questions.all_standing_answers(workspace, PAGE, cursor)
        for each in page.items:
            if each.id == answer_id:
                found: StandingAnswer = each
                return found
        if (cursor := page.cursor) is None:
            raise errors.Unknown("standing answer")

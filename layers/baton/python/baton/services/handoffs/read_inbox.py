"""An agent's inbox: the outcomes of its handoffs, until it acknowledges them (docs/spec/protocol.md §4)."""

from __future__ import annotations

from collections.abc import Sequence

from baton.domain import times
from baton.domain.access.principal import Principal
from baton.domain.access.rights import Deed
from baton.ports.deps import Deps
from baton.ports.paging import Page
from baton.steps.agents.kill_switch import must_be_let_act
from baton.steps.agents.resolve_agents import no_such_agent
from baton.steps.claims.held_claims import FIRST_PAUSE_SECONDS, unsettled


def read_inbox(deps: Deps, by: Principal, slug: str, limit: int, cursor: str | None) -> Page:
    """Returns the inbox, oldest first, to the agent, a principal that may act for it, or a human. Raises
    ``NotYourAgent``, ``ScopeNeeded`` and ``Unknown``."""
    must_be_let_read(deps, by, slug)
    return deps.store.inboxes.inbox(by.workspace, slug, limit, cursor)


def must_be_let_read(deps: Deps, by: Principal, slug: str) -> None:
    """Raises ``NotYourAgent``, ``ScopeNeeded`` and ``Unknown``."""
    if not by.is_human:
        by.acting_for(slug)
    must_exist(deps, by.workspace, slug)


def acknowledge(deps: Deps, by: Principal, slug: str, ids: Sequence[str]) -> int:
    """Removes items from the inbox, and returns how many ids were named, each once. For the agent, and a principal that
    may act for it. Raises as ``read_inbox``."""
    by.must_have(Deed.READ_INBOX)
    by.acting_for(slug)
    must_exist(deps, by.workspace, slug)
    must_be_let_act(deps, by, slug)
    distinct_ids = list(dict.fromkeys(ids))
    _remove(deps, by.workspace, slug, distinct_ids)
    return len(distinct_ids)


def _remove(deps: Deps, workspace: str, slug: str, ids: Sequence[str]) -> None:
    """The inbox lags, and one look may show less than the look before. What it doesn't show and what is younger than
    ``SETTLED_SECONDS`` is looked for until it is that old."""
    left, pause = deps.store.inboxes.acknowledge(workspace, slug, ids), FIRST_PAUSE_SECONDS
    while young := [each for each in left if unsettled(deps, each) > times.seconds(0)]:
        longest = max(unsettled(deps, each) for each in young).total_seconds()
        deps.clock.sleep(min(pause, longest))
        left, pause = deps.store.inboxes.acknowledge(workspace, slug, young), pause * 2


def must_exist(deps: Deps, workspace: str, slug: str) -> None:
    """Raises ``Unknown``."""
    if deps.store.agents.agent(workspace, slug) is None:
        raise no_such_agent(deps, workspace, slug)

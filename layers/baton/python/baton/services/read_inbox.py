"""What became of the things that an agent handed off: they stay in its inbox until it acknowledges them
(docs/spec/protocol.md §4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from baton.domain.errors import Unknown
from baton.services.kill_switch import must_be_let_act

if TYPE_CHECKING:
    from collections.abc import Sequence

    from baton.domain.principal import Principal
    from baton.ports import Baton, Page


def read_inbox(baton: Baton, by: Principal, slug: str, limit: int, cursor: str | None) -> Page:
    """Oldest first. By the agent, by whoever may act for it, and by humans. Raises ``NotYourAgent``, ``ScopeNeeded``,
    ``Unknown``."""
    if not by.is_human:
        by.acting_for(slug)
    must_exist(baton, by.workspace, slug)
    return baton.store.inbox(by.workspace, slug, limit, cursor)


def acknowledge(baton: Baton, by: Principal, slug: str, ids: Sequence[str]) -> int:
    """How many were named, each once; they are in the inbox no more. By the agent, and by whoever may act for it.
    Raises as ``read_inbox``."""
    by.acting_for(slug)
    must_exist(baton, by.workspace, slug)
    must_be_let_act(baton, by, slug)
    named = list(dict.fromkeys(ids))
    baton.store.acknowledge(by.workspace, slug, named)
    return len(named)


def must_exist(baton: Baton, workspace: str, slug: str) -> None:
    """Raises ``Unknown``."""
    if baton.store.agent(workspace, slug) is None:
        raise Unknown("agent")

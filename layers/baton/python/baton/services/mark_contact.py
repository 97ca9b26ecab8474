"""That an agent was heard of is kept, as well as that can be had for next to nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from baton.domain.principal import Principal
    from baton.ports import Baton


def mark_contact(baton: Baton, by: Principal, agent: str) -> None:
    """At the end of a call that ``by`` made as or for the agent; one by Baton's own parts tells nothing of it. Best
    effort: what goes wrong here is logged and forgotten, for the call that it ends has done its work."""
    if by.is_own_part:
        return
    try:
        baton.store.mark_contact(by.workspace, agent, baton.clock.now())
    except Exception as exc:  # noqa: BLE001 - whatever a store raises; the claim before it stands
        baton.log("contact not marked", action="contact_not_marked", agent=agent, error=type(exc).__name__)

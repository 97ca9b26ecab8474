"""Saves an agent's last contact, at almost no cost."""

from __future__ import annotations

from baton.domain.access.principal import Principal
from baton.ports.deps import Deps


def mark_contact(deps: Deps, by: Principal, agent: str) -> None:
    """Called at the end of a call that ``by`` made as or for the agent; calls of Baton's own parts don't count. Best
    effort: an error is logged and ignored, as the call has done its work."""
    if by.is_own_part:
        return
    try:
        deps.store.mark_contact(by.workspace, agent, deps.clock.now())
    except Exception as exc:  # noqa: BLE001 - any error of a store; the claim before it stands
        deps.log("contact not marked", action="contact_not_marked", agent=agent, error=type(exc).__name__)

"""Saves an agent's last contact, at almost no cost."""

from __future__ import annotations

from baton.domain.access.principal import Principal
from baton.domain.agents.liveness import CLAIM_MARKED_EVERY, MARKED_EVERY
from baton.ports.deps import Deps


def mark_contact(deps: Deps, by: Principal, agent: str, *, has_work: bool = False) -> None:
    """Called at the end of a call that ``by`` made as or for the agent; calls of Baton's own parts don't count.
    ``has_work``: it brought a claim. Best effort: an error is logged and ignored, as the call has done its work."""
    if by.is_own_part:
        return
    try:
        every = CLAIM_MARKED_EVERY if has_work else MARKED_EVERY
        deps.store.contacts.mark_contact(by.workspace, agent, deps.clock.now(), every)
    except Exception as exc:  # noqa: BLE001 - any error of a store; the claim before it stands
        deps.log("contact not marked", action="contact_not_marked", agent=agent, error=type(exc).__name__)

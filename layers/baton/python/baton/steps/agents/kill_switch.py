"""The kill switch (docs/decisions/020-what-an-approval-holds-to.md). An agent that is switched off (``active: false``)
may release its tasks, fail them, and read its inbox. Nothing else is done with its token, or in its name.

The dispatcher of every function (``rest.app``) checks an agent's own token before the use case begins. A principal that
acts for another agent is checked where that agent is known. Runs check before each model call and before each effect.
"""

from __future__ import annotations

from collections.abc import Mapping

from baton.domain import errors
from baton.domain.access.principal import Principal, PrincipalKind
from baton.domain.agents.agent import Agent
from baton.ports.deps import Deps


def caller_must_be_on(deps: Deps, by: Principal) -> None:
    """Raises ``InactiveAgent``. A token of an agent that was never registered is accepted: there is nothing to switch
    off."""
    if by.kind is PrincipalKind.AGENT and is_off(deps, by.workspace, by.id):
        raise errors.InactiveAgent(by.id)


def must_be_let_act(deps: Deps, by: Principal, agent: str, known: Mapping[str, Agent] | None = None) -> None:
    """Checks an action of a human or service in the name of ``agent``. One read, unless it is among ``known``. Raises
    ``InactiveAgent``. No read for the agent itself, which the dispatcher has checked, nor for Baton's own parts."""
    if by.kind is PrincipalKind.AGENT or by.is_own_part or agent == by.key:
        return
    found = (known or {}).get(agent)
    if (not found.active) if found is not None else is_off(deps, by.workspace, agent):
        raise errors.InactiveAgent(agent)


def is_off(deps: Deps, workspace: str, agent: str) -> bool:
    found = deps.store.agents.agent(workspace, agent)
    return found is not None and not found.active

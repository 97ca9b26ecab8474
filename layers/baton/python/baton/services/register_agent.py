"""An agent is registered, changed, or switched off."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from baton.domain.agent import check_agent, unregistered
from baton.domain.errors import Busy, Unknown, VersionConflict
from baton.services.retrying import decided_again

MAX_BELLS = 10

if TYPE_CHECKING:
    from baton.domain.agent import Agent
    from baton.domain.principal import Principal
    from baton.ports import Baton


def register_agent(
    baton: Baton, by: Principal, slug: str, values: dict[str, Any], expected_version: int | None = None
) -> tuple[Agent, bool]:
    """The agent in its new version, and whether it is new. Fields left out keep their value, so ``active: false`` is a
    kill switch. By humans and services; only a human's change can carry a standing approval. Raises ``VersionConflict``
    if ``expected_version`` (0: must not exist) isn't the present one, ``NameTaken``, ``LimitReached``."""
    by.must_not_be_agent("register an agent")
    check_agent(values)

    def attempt() -> tuple[Agent, bool]:
        roster = baton.store.roster(by.workspace)
        now = baton.clock.now()
        try:
            before = roster.get(slug)
        except Unknown:
            before = unregistered(slug, by, now)
        if expected_version is not None and expected_version != before.version:
            raise VersionConflict("agent", before.version)
        if before.version == 0:
            roster.must_have_room(1)
        after = before.changed(by, now, **values)
        roster.must_not_clash(after)
        baton.store.save_agent(after, roster)
        if after.is_run and after.active and not (before.is_run and before.active):
            _ring_for_backlog(baton, after)
        return after, before.version == 0

    return decided_again(baton.clock, attempt)


def _ring_for_backlog(baton: Baton, agent: Agent) -> None:
    """What has waited for the agent to be switched on is begun now; process-task passes the bell on from there. The
    agent is saved: what goes wrong here costs time, nothing else."""
    try:
        _, ready = baton.store.ready(agent.workspace, agent.slug, baton.clock.now())
        waiting = list(islice(ready, MAX_BELLS))
    except Busy:
        waiting = []
    for each in waiting:
        baton.doorbell.ring(agent.workspace, agent.slug, each.task_id)

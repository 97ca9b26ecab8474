"""The values that all parts of one run share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from baton.domain import errors
from baton.domain.agents.agent import service_version_of
from baton.domain.handoffs.handoff_message import HandoffMessage
from baton.domain.runs import history
from baton.domain.runs.run_profile import RunProfile
from baton.domain.tasks.task import Task
from baton.ports import runs
from baton.ports.deps import Deps
from baton.steps.agents.kill_switch import is_off

PAUSES = (1.0, 4.0, 10.0)
SWITCHED_OFF = "The agent was switched off; its task goes on where it was once it is switched on again."
CHANGED = "The agent was changed while its task was claimed; the next claim compares the approvals again."


@dataclass(frozen=True, slots=True)
class RunContext:
    """One run of an agent."""

    deps: Deps
    work: runs.RunInput
    task: Task  # as it was claimed; no other run of it has its fence
    record: HandoffMessage  # the message that the agent works on
    conversation: history.Conversation
    profile: RunProfile

    def is_off(self) -> bool:
        """True if the agent is switched off. A reply that came meanwhile is kept, and acted on once it is on again."""
        return is_off(self.deps, self.task.workspace, self.work.agent.slug)

    def why_not_to_begin(self) -> str:
        """Returns why the run must not begin, or nothing. For a run that has read its profile: a change of the agent by
        a service or a member since the claim compared the approvals may be in it."""
        found = self.deps.store.agents.agent(self.task.workspace, self.work.agent.slug)
        if service_version_of(found) != self.work.agent.service_version:
            return CHANGED
        return "" if found is None or found.active else SWITCHED_OFF

    def persist(self, write: Callable[[], object]) -> None:
        """Writes what isn't given up as long as there is time, as a reply was paid for: tries again after a pause while
        the store is busy. Raises ``Busy`` once there is no time left for it."""
        for pause in (*PAUSES, None):
            try:
                write()
            except errors.Busy:
                if pause is None or self.work.time_left() < pause:
                    raise
                self.deps.clock.sleep(pause)
            else:
                return

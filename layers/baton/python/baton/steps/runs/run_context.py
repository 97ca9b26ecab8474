"""The values that all parts of one run share."""

from __future__ import annotations

from dataclasses import dataclass

from baton.domain.runs import history
from baton.domain.runs.run_profile import RunProfile
from baton.domain.tasks.task import Task
from baton.ports import runs
from baton.ports.deps import Deps
from baton.steps.agents.kill_switch import is_off


@dataclass(frozen=True, slots=True)
class RunContext:
    """One run of an agent."""

    deps: Deps
    work: runs.RunInput
    profile: RunProfile
    conversation: history.Conversation

    @property
    def task(self) -> Task:
        return self.work.details.task

    @property
    def fence(self) -> int:
        """The fence of the run's claim. No other run of the task has it."""
        return self.task.fence

    @property
    def is_first(self) -> bool:
        """True if no run of the task came before."""
        return self.fence == 1

    def is_off(self) -> bool:
        """True if the agent is switched off. A reply that came meanwhile is kept, and acted on once it is on again."""
        return is_off(self.deps, self.task.workspace, self.work.agent.slug)

    def must_hold_claim(self) -> None:
        """Reads the task's HEAD. Raises ``StaleClaim``."""
        task, _ = self.deps.store.load(self.task.workspace, self.task.id)
        task.current_claim(self.work.claim_id, self.work.by)

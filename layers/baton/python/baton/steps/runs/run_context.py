"""The values that all parts of one run share."""

from __future__ import annotations

from dataclasses import dataclass

from baton.domain.runs import history
from baton.domain.runs.run_profile import RunProfile
from baton.domain.tasks.task import Task
from baton.ports import runs
from baton.ports.deps import Deps


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

"""The values that all parts of one run share."""

from __future__ import annotations

from dataclasses import dataclass

from baton.domain.runs.history import Conversation
from baton.domain.runs.run_profile import RunProfile
from baton.domain.tasks.task import Task
from baton.ports.deps import Deps
from baton.ports.runs import RunInput


@dataclass(frozen=True, slots=True)
class RunContext:
    """One run of an agent."""

    deps: Deps
    work: RunInput
    profile: RunProfile
    conversation: Conversation

    @property
    def task(self) -> Task:
        return self.work.details.task

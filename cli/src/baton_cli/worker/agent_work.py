"""The work of one agent: the program that does it, and its limits."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from baton_cli.worker.report import ProgramOutput
from baton_client.profiles import Profile


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentWork:
    """One agent, and the program that does its work. ``lends_token``: the program gets the token and the claim's id,
    and may call Baton itself. ``grace_seconds``: between TERM and KILL. ``is_verbose``: each line of the program's
    standard error is logged as it comes. ``memories``: the number of the blackboard's entries that come with a task."""

    agent: str
    command: tuple[str, ...]
    profile: Profile
    worker: str
    concurrency: int = 1
    directory: Path | None = None
    lease_seconds: int = 300
    time_limit_seconds: float | None = None
    grace_seconds: float = 10.0
    is_text: bool = False
    lends_token: bool = False
    is_verbose: bool = False
    memories: int = 0

    @property
    def reading(self) -> ProgramOutput:
        name = Path(self.command[0]).name
        return ProgramOutput(name=name, is_text=self.is_text, time_limit_seconds=self.time_limit_seconds)

    def limit_at(self, begun_at: float) -> float:
        return math.inf if self.time_limit_seconds is None else begun_at + self.time_limit_seconds

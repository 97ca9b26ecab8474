"""The context of a command: the profile, the API's client and the output, each made at its first use."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING

from baton_cli import times
from baton_cli.output import Output
from baton_client.profiles import Profile, profile_from

if TYPE_CHECKING:
    from baton_client.bell import Bell, BellTimes
    from baton_client.caller import Caller
    from baton_client.core import Patience


def _note(answer: object, is_whole: bool) -> None:
    from baton_cli import last_ids

    last_ids.note(answer, is_whole=is_whole)


@dataclass
class CommandContext:
    """``flags``: the flags of the command line, by name. ``has_changed``: a request that may change something has
    succeeded. What fails after it doesn't change the exit code, or a script would send the request again."""

    flags: dict[str, str] = field(default_factory=dict)
    clock: Callable[[], datetime] = times.now
    has_changed: bool = False

    @cached_property
    def out(self) -> Output:
        out = Output(
            self.flags.get("output", ""),
            query=self.flags.get("query", ""),
            utc="utc" in self.flags,
            clock=self.clock,
            noted=_note,
        )
        out.has_changed = lambda: self.has_changed
        return out

    @cached_property
    def profile(self) -> Profile:
        return profile_from(self.flags)

    @cached_property
    def client(self) -> Caller:
        return self.client_for(self.profile)

    def client_for(self, profile: Profile, patience: Patience | None = None) -> Caller:
        from baton_cli.waiting_line import WaitingLine
        from baton_client.caller import Caller

        during = WaitingLine(self.out).for_answer
        return Caller(profile, patience, say=self.out.say, during=during, changed=self._note_change)

    def _note_change(self) -> None:
        self.has_changed = True

    def bell(self, topic: str, times: BellTimes | None = None) -> Bell:
        from baton_client.bell import Bell

        return Bell(self.profile, topic, self.out.say, times)

    def close(self) -> None:
        """Closes the client, if there is one."""
        if "client" in vars(self):
            self.client.close()

    @cached_property
    def key(self) -> str:
        """The Idempotency-Key of this command: one for all its attempts."""
        return self.flags.get("key") or f"cli-{uuid.uuid4()}"

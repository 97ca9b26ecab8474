"""What a command works with: the profile, the API, the output. Made when first used."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING

from baton_cli import times
from baton_cli.output import Output
from baton_cli.profiles import Profile, profile_from

if TYPE_CHECKING:
    from baton_cli.client import Client


def _note(answer: object, is_whole: bool) -> None:
    from baton_cli import recent

    recent.note(answer, is_whole=is_whole)


@dataclass
class App:
    """``given``: what the flags say, before or after the command's name."""

    given: dict[str, str] = field(default_factory=dict)
    clock: Callable[[], datetime] = times.now

    @cached_property
    def out(self) -> Output:
        return Output(
            self.given.get("output", ""),
            query=self.given.get("query", ""),
            utc="utc" in self.given,
            clock=self.clock,
            noted=_note,
        )

    @cached_property
    def profile(self) -> Profile:
        return profile_from(self.given)

    @cached_property
    def client(self) -> Client:
        return self.client_for(self.profile)

    def client_for(self, profile: Profile) -> Client:
        from baton_cli.client import Client
        from baton_cli.waiting import Waiting

        return Client(profile, say=self.out.say, during=Waiting(self.out).for_answer)

    def close(self) -> None:
        """Ends what was begun."""
        if "client" in vars(self):
            self.client.close()

    @cached_property
    def key(self) -> str:
        """The Idempotency-Key of this command: one for all its attempts."""
        return self.given.get("key") or f"cli-{uuid.uuid4()}"

"""An agent's run profile: the prompt, model, tools and limits that process-task runs it with. It is stored apart from
``Agent``: every handoff and claim reads the agent, only runs read the profile."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from baton.domain import errors
from baton.domain.access.principal import Principal
from baton.domain.access.rights import Deed
from baton.domain.agents.built_in_tools import BUILT_IN
from baton.domain.agents.tool import MAX_TOOLS_OF_AGENT
from baton.domain.canonical_json import digest_of
from baton.domain.tasks.task import MAX_BRANCHES, Policy

MAX_SYSTEM_PROMPT = 32_000
MAX_MODEL = 200
BOUNDS = {"max_turns": (1, 100), "max_tokens": (1_000, 10_000_000), "max_reply_tokens": (16, 65_536)}


@dataclass(frozen=True, slots=True, kw_only=True)
class RunProfile:
    """What process-task runs an agent with."""

    workspace: str
    slug: str
    system_prompt: str = ""
    model: str = ""  # ``<provider>[:<id>]``; empty for the deployment's default
    tools: tuple[str, ...] = ()  # names
    max_turns: int = 20  # replies of the model per task
    max_tokens: int = 200_000  # per task, input and output together
    max_reply_tokens: int = 4_096  # of one reply
    join: Policy = Policy.ALL  # how many of several delegations the agent waits for
    quorum: int | None = None  # their number, with ``join: quorum`` only

    def changed(self, by: Principal, **values: Any) -> RunProfile:
        """Returns the changed profile. A handoff tool is a person's standing approval of the agent as that person saw
        it (invariant 8). Removing a tool and lowering a limit are free.

        Raises:
            HumanNeeded, RightNeeded: a service, or a person who may give no standing approval, adds a tool. Or they
                change the prompt, the model or the join, or raise a limit, of an agent with handoff tools.
        """
        after = replace(self, **values)
        if not set(after.tools) <= set(self.tools):
            by.must_have(Deed.GIVE_TOOL)
        if after.hands_on and self._is_widened_by(after):
            by.must_have(Deed.WIDEN_AGENT)
        if (after.join is Policy.QUORUM) != (after.quorum is not None):
            raise errors.InvalidInput("quorum", "is given with join: quorum, and only with it")
        return after

    @property
    def hands_on(self) -> bool:
        """True if it has a handoff tool."""
        return any(name not in BUILT_IN for name in self.tools)

    def identity(self, specs: Sequence[Mapping[str, Any]]) -> str:
        """Returns the digest of the author of a reply: the agent with its profile, except for the limits, and the specs
        of the handoff tools that the reply calls."""
        values = {name: getattr(self, name) for name in NAMES - BOUNDS.keys() - {"tools"}}
        return digest_of({**values, "slug": self.slug, "tools": list(self.tools), "specs": list(specs)})

    def _is_widened_by(self, after: RunProfile) -> bool:
        """True if ``after`` is another agent or may do more: a raised limit, or a change besides tools and limits."""
        return any(
            getattr(after, name) > getattr(self, name) if name in BOUNDS else name != "tools"
            for name in self.differs(after)
        )

    def differs(self, other: RunProfile) -> tuple[str, ...]:
        return tuple(f.name for f in fields(self) if getattr(self, f.name) != getattr(other, f.name))


NAMES = frozenset(f.name for f in fields(RunProfile)) - {"workspace", "slug"}


def check_profile(values: Mapping[str, Any]) -> None:
    """Raises ``InvalidInput`` for the first of the given fields that is out of bounds."""
    if len(values.get("system_prompt", "")) > MAX_SYSTEM_PROMPT:
        raise errors.InvalidInput("system_prompt", f"must be at most {MAX_SYSTEM_PROMPT} characters")
    model = values.get("model", "")
    if len(model) > MAX_MODEL or (model and not (model.isprintable() and model.strip() == model)):
        raise errors.InvalidInput(
            "model", f"must be at most {MAX_MODEL} printable characters, like openai_compatible:gpt-5"
        )
    tools = values.get("tools", ())
    if len(tools) > MAX_TOOLS_OF_AGENT or len(set(tools)) < len(tools):
        raise errors.InvalidInput("tools", f"must be at most {MAX_TOOLS_OF_AGENT} names, each once")
    quorum = values.get("quorum")
    if quorum is not None and not 1 <= quorum <= MAX_BRANCHES:
        raise errors.InvalidInput("quorum", f"must be from 1 to {MAX_BRANCHES}")
    for name, (low, high) in BOUNDS.items():
        if name in values and not low <= values[name] <= high:
            raise errors.InvalidInput(name, f"must be from {low} to {high}")

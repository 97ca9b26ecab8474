"""What process-task runs an agent with: its prompt, its model, its tools and its limits. Apart from ``Agent``, which is
read with every handoff and claim, while this is read by runs only."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from baton.domain.built_in_tools import BUILT_IN
from baton.domain.errors import HumanNeeded, InvalidInput
from baton.domain.task import MAX_BRANCHES, Policy
from baton.domain.tool import MAX_TOOLS_OF_AGENT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from baton.domain.principal import Principal

MAX_SYSTEM_PROMPT = 32_000
MAX_MODEL = 200
BOUNDS = {"max_turns": (1, 100), "max_tokens": (1_000, 10_000_000), "max_reply_tokens": (16, 65_536)}


@dataclass(frozen=True, slots=True, kw_only=True)
class RunProfile:
    """``model``: ``<provider>[:<id>]``, empty for the deployment's own; ``tools``: names; ``max_turns``: replies of the
    model per task; ``max_tokens``: per task, both ways together; ``max_reply_tokens``: of one reply. ``join``: how many
    of several delegations have to end before it goes on; ``quorum``: that many, where it is a quorum."""

    workspace: str
    slug: str
    system_prompt: str = ""
    model: str = ""
    tools: tuple[str, ...] = ()
    max_turns: int = 20
    max_tokens: int = 200_000
    max_reply_tokens: int = 4_096
    join: Policy = Policy.ALL
    quorum: int | None = None

    def changed(self, by: Principal, **values: Any) -> RunProfile:
        """Raises ``HumanNeeded`` where anybody else gives it a tool, or makes another agent of one that has handoff
        tools, or raises its limits: they let it hand work on unasked, as a human saw it (invariant 8). A tool may be
        taken away, and a limit lowered."""
        after = replace(self, **values)
        if not by.is_human:
            if not set(after.tools) <= set(self.tools):
                raise HumanNeeded("give an agent a tool")
            if after.hands_on and self._gives_way_to(after):
                raise HumanNeeded(
                    "change the prompt, the model, the join or raise a limit of an agent that may hand on"
                )
        if (after.join is Policy.QUORUM) != (after.quorum is not None):
            raise InvalidInput("quorum", "is given with join: quorum, and only with it")
        return after

    @property
    def hands_on(self) -> bool:
        """Whether it has a handoff tool."""
        return any(name not in BUILT_IN for name in self.tools)

    def _gives_way_to(self, after: RunProfile) -> bool:
        """To another agent, or to one that may do more. It may always be let do less."""
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
        raise InvalidInput("system_prompt", f"must be at most {MAX_SYSTEM_PROMPT} characters")
    model = values.get("model", "")
    if len(model) > MAX_MODEL or (model and not (model.isprintable() and model.strip() == model)):
        raise InvalidInput("model", f"must be at most {MAX_MODEL} printable characters, like openai_compatible:gpt-5")
    tools = values.get("tools", ())
    if len(tools) > MAX_TOOLS_OF_AGENT or len(set(tools)) < len(tools):
        raise InvalidInput("tools", f"must be at most {MAX_TOOLS_OF_AGENT} names, each once")
    quorum = values.get("quorum")
    if quorum is not None and not 1 <= quorum <= MAX_BRANCHES:
        raise InvalidInput("quorum", f"must be from 1 to {MAX_BRANCHES}")
    for name, (low, high) in BOUNDS.items():
        if name in values and not low <= values[name] <= high:
            raise InvalidInput(name, f"must be from {low} to {high}")

"""The loop guard: keeps agents from handing the same work around in circles (docs/spec/protocol.md §3). Pure: it gets
the chain of ancestors and refuses the hop that breaks a rule."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, fields
from datetime import datetime

from baton.domain import errors
from baton.domain.settings.settings import Settings
from baton.domain.tasks.task import Kind

# A window of hops among fewer agents than this is a ping-pong.
FEWEST_AGENTS = 3
MAX_REASON_KEPT = 200


@dataclass(frozen=True, slots=True)
class Hop:
    """One handoff of a chain."""

    source: str
    target: str | None  # None for unclaimed open work
    reason: str  # normalised

    @property
    def direction(self) -> tuple[str, str | None]:
        return self.source, self.target

    def plain(self) -> list[str | None]:
        return [self.source, self.target, self.reason]


def hop(source: str, target: str | None, reason: str) -> Hop:
    return Hop(source, target, normalised(reason))


def normalised(reason: str) -> str:
    """Returns the reason in the form that is compared: without case, character width, spaces and punctuation. A long
    text is cut, and a hash of the whole keeps it distinct."""
    folded = unicodedata.normalize("NFKC", reason).casefold()
    text = " ".join("".join(c if c.isalnum() else " " for c in folded).split())
    if len(text) <= MAX_REASON_KEPT:
        return text
    return f"{text[:MAX_REASON_KEPT]} {hashlib.sha256(text.encode()).hexdigest()[:16]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """The limits of a whole workflow: set on the root, inherited, and only ever narrowed by a descendant."""

    max_handoffs: int | None = None
    max_model_calls: int | None = None
    max_tokens: int | None = None
    deadline: datetime | None = None

    def narrowed(self, by: Budget) -> Budget:
        both = {limit.name: (getattr(self, limit.name), getattr(by, limit.name)) for limit in fields(Budget)}
        return Budget(**{name: min((at for at in pair if at is not None), default=None) for name, pair in both.items()})


@dataclass(frozen=True, slots=True)
class HandoffAttempt:
    """What the guard looks at besides the chain."""

    kind: Kind
    handoffs: int  # how many the workflow has so far
    budget: Budget
    now: datetime


def check(ancestors: tuple[Hop, ...], new: Hop, settings: Settings, attempt: HandoffAttempt) -> None:
    """Raises ``LoopTripped`` for the first rule that ``new`` breaks. A budget holds even if the guard is off: a caller
    asked for it."""
    hops, most = (*ancestors, new), attempt.budget.max_handoffs
    if most is not None and attempt.handoffs >= most:
        raise _tripped("budget_max_handoffs", f"The workflow's budget is {most} handoffs, and it has had them.", hops)
    if attempt.budget.deadline is not None and attempt.now >= attempt.budget.deadline:
        raise _tripped("budget_deadline", "The deadline of the workflow's budget is over.", hops)
    if settings.loop_guard and attempt.kind is not Kind.ESCALATION:
        _check_rules(hops, settings, attempt)


def _check_rules(hops: tuple[Hop, ...], settings: Settings, attempt: HandoffAttempt) -> None:
    new, source, target = hops[-1], hops[-1].source, hops[-1].target
    if source == target:
        raise _tripped("self_handoff", f"{source} would hand off to itself.", hops)
    if len(hops) > (most := settings.max_depth):
        text = f"The chain would be {len(hops)} handoffs deep, and at most {most} are allowed (max_depth)."
        raise _tripped("max_depth", text, hops)
    if attempt.handoffs >= (most := settings.max_handoffs_per_workflow):
        text = f"The workflow has had its {most} handoffs (max_handoffs_per_workflow)."
        raise _tripped("max_handoffs_per_workflow", text, hops)
    same = sum(each.direction == new.direction for each in hops)
    if target is not None and same > (most := settings.max_same_direction):
        text = f"{source} → {target} would be {same} times in one chain, and at most {most} times are allowed"
        raise _tripped("same_direction", f"{text} (max_same_direction).", hops)
    window = hops[-settings.ping_pong_window :]
    agents = {agent for each in window for agent in each.direction if agent is not None}
    if len(window) == (most := settings.ping_pong_window) and len(agents) < FEWEST_AGENTS:
        text = f"The last {most} handoffs (ping_pong_window) would be between {' and '.join(sorted(agents))} alone."
        raise _tripped("ping_pong", text, hops)
    if attempt.kind is not Kind.RETRY and new in hops[:-1]:
        text = f"{source} has handed this to {target or 'any agent'} for the same reason before."
        raise _tripped("same_reason", text, hops)


def _tripped(rule: str, message: str, hops: tuple[Hop, ...]) -> errors.LoopTripped:
    return errors.LoopTripped(rule, message, agents_of(hops))


def agents_of(hops: Iterable[Hop]) -> tuple[str, ...]:
    """Returns the sources of the hops, in order, then the last target."""
    hops = tuple(hops)
    return (*(each.source for each in hops), hops[-1].target or "any agent") if hops else ()

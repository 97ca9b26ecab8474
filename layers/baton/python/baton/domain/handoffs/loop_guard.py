"""The loop guard: keeps agents from handing the same work around in circles (docs/spec/protocol.md §3). Pure: it gets
the chain of ancestors and refuses the hop that breaks a rule."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from baton.domain import errors
from baton.domain.access.settings import Settings
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
        return Budget(
            max_handoffs=_least(self.max_handoffs, by.max_handoffs),
            max_model_calls=_least(self.max_model_calls, by.max_model_calls),
            max_tokens=_least(self.max_tokens, by.max_tokens),
            deadline=_least(self.deadline, by.deadline),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class HandoffAttempt:
    """What the guard looks at besides the chain."""

    kind: Kind
    handoffs: int  # how many the workflow has so far
    budget: Budget
    now: datetime


def check(ancestors: tuple[Hop, ...], new: Hop, settings: Settings, attempt: HandoffAttempt) -> None:
    """Raises ``LoopTripped`` for the first rule that ``new`` breaks. A budget holds even if the guard is off: a caller
    asked for it."""
    hops = (*ancestors, new)
    for rule, is_broken, message in (
        *_budget_rules(attempt.handoffs, attempt.budget, attempt.now),
        *_rules(hops, settings, attempt.kind, attempt.handoffs),
    ):
        if is_broken:
            raise errors.LoopTripped(rule, message, agents_of(hops))


def agents_of(hops: Iterable[Hop]) -> tuple[str, ...]:
    """Returns the sources of the hops, in order, then the last target."""
    hops = tuple(hops)
    return (*(each.source for each in hops), hops[-1].target or "any agent") if hops else ()


Rule = tuple[str, bool, str]


def _budget_rules(handoffs: int, budget: Budget, now: datetime) -> tuple[Rule, ...]:
    most = budget.max_handoffs
    return (
        (
            "budget_max_handoffs",
            most is not None and handoffs >= most,
            f"The workflow's budget is {most} handoffs, and it has had them.",
        ),
        (
            "budget_deadline",
            budget.deadline is not None and now >= budget.deadline,
            "The deadline of the workflow's budget is over.",
        ),
    )


def _rules(hops: tuple[Hop, ...], settings: Settings, kind: Kind, handoffs: int) -> tuple[Rule, ...]:
    if not settings.loop_guard or kind is Kind.ESCALATION:
        return ()
    new, earlier = hops[-1], hops[:-1]
    window = hops[-settings.ping_pong_window :]
    agents = {agent for each in window for agent in each.direction if agent is not None}
    same = sum(each.direction == new.direction for each in hops) if new.target is not None else 0
    most = settings.max_same_direction
    return (
        ("self_handoff", new.source == new.target, f"{new.source} would hand off to itself."),
        (
            "max_depth",
            len(hops) > settings.max_depth,
            f"The chain would be {len(hops)} handoffs deep, and at most {settings.max_depth} are allowed (max_depth).",
        ),
        (
            "max_handoffs_per_workflow",
            handoffs >= settings.max_handoffs_per_workflow,
            f"The workflow has had its {settings.max_handoffs_per_workflow} handoffs (max_handoffs_per_workflow).",
        ),
        (
            "same_direction",
            same > most,
            (
                f"{new.source} → {new.target} would be {same} times in one chain, and at most {most} times are allowed "
                "(max_same_direction)."
            ),
        ),
        (
            "ping_pong",
            len(window) == settings.ping_pong_window and len(agents) < FEWEST_AGENTS,
            (
                f"The last {settings.ping_pong_window} handoffs (ping_pong_window) would be between "
                f"{' and '.join(sorted(agents))} alone."
            ),
        ),
        (
            "same_reason",
            kind is not Kind.RETRY and new in earlier,
            f"{new.source} has handed this to {new.target or 'any agent'} for the same reason before.",
        ),
    )


def _least(one: Any, other: Any) -> Any:
    return min((value for value in (one, other) if value is not None), default=None)

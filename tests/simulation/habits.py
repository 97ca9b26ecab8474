"""What is peculiar to a seed: its faults, its actors' habits, its clocks; so that rare ones meet."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

PULL = ("a", "b", "c")
# What hardly ever meets itself or another one, unless a seed plays much of it.
RARE = (
    "next",
    "undo",
    "defer",
    "dismiss",
    "split",
    "take back",
    "retry",
    "review",
    "agent",
    "off",
    "alert",
    "transfer",
    "wait",
    "roll back",
)
TRACKER_SHARE, READERS_SHARE, STEWARDS_SHARE = 0.2, 0.3, 0.2
# One of so many seeds has a bell. It isn't drawn: the others play as if there were none.
BELLS = 4
# And in one of so many workers ask people, in every other of them more than anything else.
QUESTIONS = 5
# One in this number of seeds has people with different rights, and some who attack or leave; half of these focus on it.
TRUST = 3


class Focus(StrEnum):
    """What the actors do more than anything else."""

    NONE = ""
    BRANCHES = "branches"
    ENDS = "ends"
    MARKERS = "markers"
    RETRIES = "retries"
    WAITS = "waits"
    RUNS = "runs"
    ALERTS = "alerts"
    TALKS = "talks"
    BOARD = "board"
    QUESTIONS = "questions"
    TRUST = "trust"


class NoticeFate(StrEnum):
    """What becomes of a message to the queue."""

    KEPT = "kept"
    SHAKY = "shaky"
    LOST = "lost"


@dataclass(frozen=True, slots=True, kw_only=True)
class Habits:
    """Shares are from 0 to 1. ``is_hot``: everybody acts within moments of each other. ``tempo``: by how much the
    pauses are longer; ``slowness``: by how much the calls are. ``has_tracker``: every task has a page; then calls end
    within their time and clocks differ little, as the outbox counts on. ``is_query_torn``: a page of a query is of two
    moments; ``do_entries_move``: an entry of an index is nowhere for a while when its place changes; ``cold_share``: of
    calls that a new container answers. ``crowd``: how many stewards, editors, listeners and readers there are of each;
    ``raised``: rare verbs that are often played. ``late_ms``: the longest that a write arrives after its client has
    given it up. ``has_strangers``: another workspace is busy, too. ``has_bell``: some listen, and ``rings`` says what
    becomes of rings and looks. ``has_questions``: workers ask people, and handoffs are approved by several.
    ``has_trust``: people have different rights and come and go, some edit rules, and an agent attacks."""

    focus: Focus = Focus.NONE
    is_hot: bool = False
    workers: tuple[str, ...] = ()
    fault_share: float = 0
    crash_share: float = 0
    is_bus_shaky: bool = False
    knows_tokens: bool = True
    notices: NoticeFate = NoticeFate.KEPT
    torn_share: float = 0
    lag_ms: int = 0
    skew_ms: int = 0
    stall_ms: int = 5_000
    time_limit: int = 1
    doubled_share: float = 0
    does_schedule_skip: bool = False
    tempo: int = 1
    pair: str = "ab"
    steps: int = 300
    slowness: int = 1
    is_told: bool = False
    has_tracker: bool = False
    has_readers: bool = False
    has_stewards: bool = False
    is_query_torn: bool = False
    do_entries_move: bool = False
    cold_share: float = 0
    crowd: int = 1
    raised: tuple[str, ...] = ()
    late_ms: int = 400_000
    has_strangers: bool = False
    has_bell: bool = False
    rings: NoticeFate = NoticeFate.KEPT
    has_questions: bool = False
    has_trust: bool = False

    @property
    def do_failures_roll_back(self) -> bool:
        """More than usual, and are tried again by humans."""
        return "roll back" in self.raised

    @property
    def is_in_time(self) -> bool:
        """Within what the memory of a process counts on (``LATE_SECONDS``): 25 s of a call, then a write that is late,
        and clocks of two processes that differ."""
        return self.time_limit == 1 and 2 * self.skew_ms + self.late_ms <= 30_000

    def changed(self, values: dict[str, Any]) -> Habits:
        """``values``: words as they are told on a command line, too."""
        words = {
            name: kind(values[name])
            for name, kind in (("focus", Focus), ("notices", NoticeFate), ("rings", NoticeFate))
            if name in values
        }
        return replace(self, **{**values, **words})


def habits_of(seed: int, focus: str | None = None, *, asks: bool = True, trusts: bool = True) -> Habits:
    """``focus``: replaces the seed's focus, with all its consequences. ``asks``: False if workers don't ask people.
    ``trusts``: False if everybody has every right, and no actor attacks."""
    dice = random.Random(seed * 7919 + 1)
    pick = dice.choice
    waits, runs = Focus.WAITS, Focus.RUNS
    usual = (each for each in Focus if each not in (Focus.QUESTIONS, Focus.TRUST))
    drawn = pick([*usual, Focus.BRANCHES, waits, runs])
    drawn = Focus.QUESTIONS if asks and seed % (2 * QUESTIONS) == 0 else drawn
    drawn = Focus.TRUST if trusts and seed % (2 * TRUST) == TRUST - 1 else drawn
    focus = drawn if focus is None else Focus(focus)
    is_hot = dice.random() < 0.7
    some = tuple(pick(PULL) for _ in range(dice.randint(1, 6)))
    notices = {
        Focus.BRANCHES: [NoticeFate.SHAKY, NoticeFate.LOST, NoticeFate.LOST],
        Focus.RUNS: [NoticeFate.KEPT, NoticeFate.SHAKY],
    }
    workers = {Focus.BRANCHES: ("a", "a", "b", "b", "c", "c"), Focus.ALERTS: some[:1], Focus.QUESTIONS: ("a", "a", "b")}
    workers[Focus.TRUST] = ("a", "a", "b", "c")
    has_trust = (trusts and seed % TRUST == TRUST - 1) or focus is Focus.TRUST
    habits = Habits(
        focus=focus,
        is_hot=is_hot,
        workers=workers.get(focus, some),
        fault_share=pick([0, 0, 0.01, 0.03, 0.08]),
        crash_share=pick([0, 0, 0.003, 0.01, 0.03]),
        is_bus_shaky=dice.random() < 0.5,
        knows_tokens=dice.random() < 0.75,
        notices=pick(notices.get(focus, [NoticeFate.KEPT, NoticeFate.SHAKY, NoticeFate.SHAKY, NoticeFate.LOST])),
        torn_share=0.5 if focus in (Focus.WAITS, Focus.BRANCHES) else pick([0, 0.1, 0.5]),
        lag_ms=pick([0, 2_000, 60_000, 600_000]),
        skew_ms=pick([0, 1_000, 5_000, 5_000, 300_000]),
        stall_ms=pick([5_000, 30_000, 200_000]),
        has_bell=seed % BELLS == BELLS - 1,
        rings=tuple(NoticeFate)[seed // BELLS % len(NoticeFate)],
        has_questions=(asks and seed % QUESTIONS == 0) or focus is Focus.QUESTIONS or has_trust,
        has_trust=has_trust,
        time_limit=pick([1, 1, 1, 1_000]),
        doubled_share=pick([0, 0.05, 0.3]),
        does_schedule_skip=dice.random() < 0.5,
        tempo=1 if is_hot else pick([1, 1, 10, 100, 1_000]),
        pair=pick(["ab", "ab", "abc", "abr", "ar"]),
        steps=pick([300, 800, 800, 2_000]) + (1_000 if focus in (Focus.QUESTIONS, Focus.TRUST) else 0),
        slowness=pick([1, 5, 40, 40]) if is_hot else pick([1, 1, 5]),
        is_told=dice.random() < 0.4,
    )
    has = {"has_readers": dice.random() < READERS_SHARE, "has_stewards": dice.random() < STEWARDS_SHARE}
    habits = habits.changed(has)
    habits = habits.changed(
        {
            "is_query_torn": dice.random() < 0.5,
            "do_entries_move": dice.random() < 0.5,
            "cold_share": pick([0, 0, 0.02, 0.1]),
            "crowd": pick([1, 1, 2, 3]),
            "has_strangers": dice.random() < 0.1,
            "raised": tuple(dice.sample(RARE, pick([0, 0, 1, 2]))),
        }
    )
    if focus is Focus.BOARD or dice.random() < 0.2:
        habits = habits.changed({"skew_ms": min(habits.skew_ms, 5_000), "late_ms": 20_000, "time_limit": 1})
    if dice.random() >= TRACKER_SHARE:
        return habits
    return habits.changed(
        {"has_tracker": True, "skew_ms": min(habits.skew_ms, 5_000), "stall_ms": min(habits.stall_ms, 5_000)}
    )

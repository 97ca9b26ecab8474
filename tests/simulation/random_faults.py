"""The fault source of a simulation: at every call to the outside others get their turn, and things go wrong."""

from __future__ import annotations

import zlib
from collections import Counter
from typing import TYPE_CHECKING

from simulation.scheduler import Crash, Process

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulation.chance import Chance
    from simulation.habits import Habits
    from simulation.scheduler import Scheduler

READ_FAULTS = ("unreachable", "error", "throttle")
WRITE_FAULTS = ("lost", "lost_500", "late", "timeout", *READ_FAULTS, "conflict")


class RandomFaults:
    """``digest``: of all that happened; ``trace``: the same in lines, if wanted. ``is_calm``: nothing goes wrong and
    nobody else gets a turn, as at the beginning and at the end."""

    def __init__(self, habits: Habits, chance: Chance, scheduler: Scheduler, *, is_traced: bool) -> None:
        self._habits, self._chance, self._scheduler = habits, chance, scheduler
        self.is_calm = True
        self.faults: Counter[str] = Counter()
        self.digest = 0
        self.trace: list[str] | None = [] if is_traced else None

    @property
    def now_ms(self) -> int:
        return self._scheduler.now_ms

    @property
    def knows_tokens(self) -> bool:
        return self._habits.knows_tokens

    def reach(self, operation: str, key: object, *, writes: bool) -> str | None:
        return self.call(operation, key, writes=writes)

    def rest(self, operation: str, key: object) -> None:
        self.call(operation, key, may_fail=False)

    def draw(self, n: int) -> int:
        return self._chance.draw(n)

    def torn(self) -> int:
        is_torn = not self.is_calm and self._chance.happens(self._habits.torn_share)
        return 1 + self._chance.draw(2) if is_torn else 0

    def lag_ms(self) -> int:
        if self.is_calm or not self._habits.lag_ms:
            return 0
        dice = self._chance.draw(20)
        return self._chance.draw(
            200 if dice < 12 else min(5_000, self._habits.lag_ms) if dice < 18 else self._habits.lag_ms
        )

    def skew_ms(self) -> int:
        """Of a new process' clock."""
        most = 0 if self.is_calm else self._habits.skew_ms
        return self._chance.draw(2 * most + 1) - most if most else 0

    def postpone(self, apply: Callable[[], object], operation: str) -> None:
        before = self._scheduler.current.process
        process = Process(request=before.request)
        process.claim_id = before.claim_id
        process.attempt = before.request.attempts if before.request else 0
        process.began_at, process.skew_ms, process.ringing = before.began_at, before.skew_ms, before.ringing
        process.began_ms = before.began_ms

        def arrive() -> None:
            try:
                apply()
            except Exception as exc:
                if type(exc).__name__ != "ClientError":
                    raise

        pause_ms = self._chance.draw(
            min(30_000, self._habits.late_ms) if self._chance.draw(4) else self._habits.late_ms
        )
        self._scheduler.spawn(f"ghost {operation}", arrive, process, self.now_ms + 1 + pause_ms)

    def call(
        self, operation: str, key: object, *, writes: bool = False, may_fail: bool = True, slow_ms: int = 0
    ) -> str | None:
        """One step. Answers with the call's fault, if it has one; raises ``Crash``."""
        if self.is_calm:
            return None
        self._scheduler.steps += 1
        pause_ms = self._pause_ms(is_last=writes or operation.endswith("rest"))
        self._scheduler.park(self.now_ms + 1 + pause_ms + (self._chance.draw(slow_ms) if slow_ms else 0))
        process = self._scheduler.current.process
        fault = self._fault(process, writes=writes) if may_fail else None
        dies = self._chance.happens(self._habits.crash_share)
        process.has_lost = process.has_lost or fault == "conflict"
        self._note(operation, key, self.happened("crash" if dies else fault))
        if dies:
            process.is_dead = True
            raise Crash
        return fault

    def happened(self, fault: str | None) -> str:
        if fault:
            self.faults[fault] += 1
        return fault or ""

    def _pause_ms(self, *, is_last: bool) -> int:
        """Mostly short; rarely so long that a lease may end meanwhile."""
        habits, draw, dice = self._habits, self._chance.draw, self._chance.draw(1000)
        if dice < 700:
            pause = dice % 12
        elif dice < 900:
            pause = dice - 690
        else:
            pause = draw(2_500 if dice < 990 else habits.stall_ms) // habits.slowness
        if habits.is_hot and is_last and self._chance.happens(0.2):
            pause += draw(100)  # what was read is older by then: others had their turns
        return pause * habits.slowness

    def _fault(self, process: Process, *, writes: bool) -> str | None:
        """A process that meets one may meet more of the kind that refuses."""
        draw = self._chance.draw
        if process.failing:
            process.failing -= 1
            return READ_FAULTS[draw(3)]
        if process.meets_itself and writes:
            process.meets_itself = False
            return "conflict"
        if not self._chance.happens(self._habits.fault_share * (3 if writes else 1)):
            return None
        fault = self._chance.pick(WRITE_FAULTS if writes else READ_FAULTS)
        process.meets_itself = fault == "late" and draw(3) == 2
        process.failing = draw(12) if draw(5) == 4 else 0
        return fault

    def _note(self, operation: str, key: object, fault: str) -> None:
        scheduler = self._scheduler
        at, name = f"{self.now_ms / 1000:10.3f}s", scheduler.current.name
        line = f"{scheduler.steps:5d} {at} {name:12s} {operation:22s} {key} {fault}"
        self.digest = zlib.crc32(line.encode(), self.digest)
        if self.trace is not None:
            self.trace.append(line)

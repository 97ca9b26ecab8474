"""Many tasks, several workers, and somebody who kills workers, watchdogs and programs at random."""

from __future__ import annotations

import os
import random
import signal
import subprocess
from contextlib import suppress
from threading import Lock

import pytest

from support.faults.soak import IS_WHOLE, scaled
from support.worlds.http_agents import ALICE
from support.worlds.worker_processes import WorkerProcesses, until

pytestmark = pytest.mark.slow
TASKS, WORKERS, KILLS = scaled(200), 8 if IS_WHOLE else 3, scaled(100)
ENDS = ("handoff_completed", "handoff_failed", "handoff_rejected", "cancelled")
# Says under which key it acts. It notices another program at work on the same task: a lock goes with its holder. Where
# flock itself is killed, nothing is known of the lock, and the program dies as well.
WORK = """exec 9> "$FOLDER/$BATON_TASK_ID.lock"
flock -n -E 75 9
case $? in 0) ;; 75) echo "$BATON_TASK_ID" >> "$FOLDER/overlaps" ;; *) kill -KILL $$ ;; esac
sleep 0.1
echo "$BATON_TASK_ID $BATON_EFFECT_KEY" >> "$FOLDER/effects"
echo "{\\"by\\": $BATON_FENCE}"
"""


def test_every_task_ends_exactly_once_whatever_is_killed(hasty: WorkerProcesses) -> None:
    program = hasty.script(WORK)
    hasty.agents.gateway.put(ALICE, "/workspace/settings", {"max_attempts": 20, "root_handoffs_per_hour": 300})
    tasks = [hasty.hand_off() for _ in range(TASKS)]
    crew = Crew(hasty, program)
    hasty.fault = crew.fault
    # Nobody waits for work that is lost: all is done within the time of a few leases.
    until(lambda: all(hasty.task(each)["state"] == "done" for each in tasks), patience_seconds=TASKS + 60)
    assert crew.kills == KILLS
    for worker in crew.workers:
        worker.send_signal(signal.SIGTERM)
    # A worker that was started in the last moment may not listen to signals yet.
    assert {worker.wait() for worker in crew.workers} <= {0, -signal.SIGTERM}
    trails = [hasty.trail(each) for each in tasks]
    assert [sum(trail.count(end) for end in ENDS) for trail in trails] == [1] * TASKS
    assert set(hasty.file("effects").read_text().splitlines()) == {f"{each} baton-{each}" for each in tasks}
    assert not hasty.file("overlaps").exists()


class Crew:
    """Its members die as their requests arrive, before or after these have taken effect."""

    def __init__(self, home: WorkerProcesses, program: str) -> None:
        self.home, self.program, self.chance, self.lock = home, program, random.Random(7), Lock()
        self.workers = [self.started() for _ in range(WORKERS)]
        self.kills = 0

    def started(self) -> subprocess.Popen[str]:
        return self.home.start("--lease", "15", "--concurrency", "2", program=(self.program,))

    def fault(self, _method: str, _path: str) -> str | None:
        with self.lock:
            if self.kills == KILLS or self.chance.random() < 0.6:
                return None
            self.kills += 1
            self.strike()
            return self.chance.choice([None, "away", "lost"])

    def strike(self) -> None:
        """Kills a worker, for which another one comes, or anything that runs for one."""
        running = self.home.left()
        if not running or self.chance.random() < 0.4:
            number = self.chance.randrange(WORKERS)
            self.workers[number].kill()
            self.workers[number] = self.started()
            return
        with suppress(ProcessLookupError):
            os.kill(self.chance.choice(running), signal.SIGKILL)

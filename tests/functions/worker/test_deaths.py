"""Whatever dies, stops or is cut off: no program outlives its claim, no task is lost, none ends twice."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Callable
from contextlib import suppress

import pytest

from support.worlds.http_agents import ALICE
from support.worlds.worker_processes import SLUG, WorkerProcesses, until

pytestmark = pytest.mark.slow
# Says that it works, with a child in its group and one outside of it, and goes on until it is killed.
ENDLESS = "echo $PPID $$ > $FOLDER/pids.new\nsleep 1000 & setsid sleep 1000 &\nmv $FOLDER/pids.new $FOLDER/pids; wait"
# The first run goes on until it is killed, the next one is quick.
ONCE_ENDLESS = f"if [ -e $FOLDER/pids ]; then cat > $FOLDER/task; exit 0; fi\n{ENDLESS}"


def working(home: WorkerProcesses) -> tuple[int, int]:
    """The watchdog's and the program's number, once the program works."""
    watchdog, program = map(int, until(lambda: home.file("pids").exists() and home.file("pids").read_text()).split())
    return watchdog, program


def ends(home: WorkerProcesses, task_id: str) -> int:
    return sum(home.trail(task_id).count(each) for each in ("handoff_completed", "handoff_failed", "handoff_rejected"))


@pytest.mark.parametrize("victims", ["worker", "worker and program", "worker and watchdog"])
def test_nothing_outlives_a_killed_worker_and_its_task_is_done_by_the_next(home: WorkerProcesses, victims: str) -> None:
    task_id = home.hand_off()
    # What a program has forked lives on if worker and watchdog are killed at the same moment: only the program is tied.
    text = ONCE_ENDLESS if "watchdog" not in victims else ONCE_ENDLESS.replace(ENDLESS, _ALONE)
    program = home.script(text)
    worker = home.start(program=(program,))
    watchdog, child = working(home)
    worker.kill()
    for name, pid in (("program", child), ("watchdog", watchdog)):
        if name in victims:
            with suppress(ProcessLookupError):  # they die of the worker's death anyway
                os.kill(pid, signal.SIGKILL)
    until(lambda: not home.left())
    assert home.task(task_id)["state"] == "claimed"
    home.clock.advance(301)
    assert home.run("--once", program=(program,))[0] == 0
    assert (home.task(task_id)["state"], home.task(task_id)["attempt"], ends(home, task_id)) == ("done", 2, 1)
    assert len(json.loads(home.file("task").read_text())["recoveries"]) == 1


_ALONE = "echo $PPID $$ > $FOLDER/pids.new; mv $FOLDER/pids.new $FOLDER/pids; exec sleep 1000"


@pytest.mark.parametrize("victim", ["watchdog", "program"])
def test_killed_program_leaves_nothing_and_its_task_comes_back(home: WorkerProcesses, victim: str) -> None:
    task_id = home.hand_off()
    worker = home.start("--once", program=(home.script(ENDLESS),))
    watchdog, program = working(home)
    os.kill(watchdog if victim == "watchdog" else program, signal.SIGKILL)
    assert home.ended(worker)[0] == 1
    task = home.task(task_id)
    assert (task["state"], task["attempt"], task["failure"]["type"]) == ("delegated", 1, "error")
    assert "SIGKILL" in task["failure"]["description"]


def test_watchdog_that_stands_still_is_killed_with_its_program_when_its_time_is_over(home: WorkerProcesses) -> None:
    task_id = home.hand_off()
    worker = home.start("--once", "--time-limit", "1", "--grace", "0", program=(home.script(ENDLESS),))
    os.kill(working(home)[0], signal.SIGSTOP)
    assert home.ended(worker)[0] == 1
    assert (home.task(task_id)["failure"]["type"], home.left()) == ("timeout", [])


def test_token_that_is_revoked_ends_program_and_worker(hasty: WorkerProcesses) -> None:
    hasty.hand_off()
    made = hasty.agents.gateway.post(ALICE, "/tokens", {"kind": "agent", "subject": SLUG}).json
    worker = hasty.start("--lease", "20", program=(hasty.script(ENDLESS),), BATON_TOKEN=made["token"])
    working(hasty)
    assert hasty.agents.gateway.delete(ALICE, f"/tokens/{made['id']}").status == 200
    assert hasty.ended(worker)[0] == 4
    assert hasty.left() == []


def stopped(home: WorkerProcesses, worker: subprocess.Popen[str], number: signal.Signals = signal.SIGTERM) -> None:
    """Sends the signal, and waits until the worker has said that it got it."""
    worker.send_signal(number)
    assert worker.stderr is not None
    while json.loads(worker.stderr.readline())["action"] != "signal":
        pass


def test_first_term_finishes_what_runs_and_begins_nothing(home: WorkerProcesses) -> None:
    task_id, other = home.hand_off(), home.hand_off()
    worker = home.start(program=(home.script(f"{_SAID}while [ ! -e $FOLDER/go ]; do sleep 0.05; done; echo 1"),))
    working(home)
    stopped(home, worker)
    home.file("go").touch()
    assert home.ended(worker) == (0, {"done": 1, "failed": 0, "released": 0, "lost": 0})
    states = sorted(home.task(each)["state"] for each in (task_id, other))
    assert states == ["delegated", "done"]


_SAID = "echo $PPID $$ > $FOLDER/pids.new; mv $FOLDER/pids.new $FOLDER/pids; "


@pytest.mark.parametrize("times", [1, 2])
def test_second_term_stops_the_program_and_gives_its_task_back(home: WorkerProcesses, times: int) -> None:
    task_id = home.hand_off()
    how = ("--on-term", "release") if times == 1 else ()
    worker = home.start(*how, program=(home.script(f"trap 'echo stopped > $FOLDER/told; exit 1' TERM\n{ENDLESS}"),))
    working(home)
    for _ in range(times):
        stopped(home, worker)
    assert home.ended(worker) == (0, {"done": 0, "failed": 0, "released": 1, "lost": 0})
    assert home.file("told").read_text() == "stopped\n"
    assert (home.task(task_id)["state"], home.task(task_id)["attempt"]) == ("delegated", 0)


def test_third_signal_kills_a_program_that_will_not_end(home: WorkerProcesses) -> None:
    task_id = home.hand_off()
    worker = home.start("--grace", "1h", program=(home.script(f"trap '' TERM\n{ENDLESS}"),))
    working(home)
    for _ in range(3):
        stopped(home, worker, signal.SIGINT)
    assert home.ended(worker)[0] == 130
    assert (home.task(task_id)["state"], home.left()) == ("delegated", [])


def test_idle_worker_ends_at_once_when_it_is_told_to(home: WorkerProcesses) -> None:
    worker = home.start(program=("true",))
    until(lambda: home.asked)
    stopped(home, worker)
    assert home.ended(worker)[0] == 0


def fault(home: WorkerProcesses, what: str, *, of: str = "", while_: Callable[[], bool] = lambda: True) -> None:
    home.fault = lambda _method, path: what if path.endswith(of) and while_() else None


def test_answers_that_are_lost_cost_no_attempt_and_no_second_end(home: WorkerProcesses) -> None:
    lost: dict[str, int] = {}

    def once_each(_method: str, path: str) -> str | None:
        verb = path.rsplit("/", 1)[-1]
        lost[verb] = lost.get(verb, 0) + 1
        return "lost" if lost[verb] == 1 else None

    home.fault = once_each
    task_id = home.hand_off()
    line = '{\\"step_name\\": \\"a\\", \\"state\\": {}}'
    assert home.run("--once", program=(home.script(f'echo "{line}" >&3; echo 1'),))[0] == 0
    assert lost == {"claims": 2, "checkpoints": 2, "complete": 2}
    task = home.task(task_id)
    assert (task["state"], task["attempt"], ends(home, task_id)) == ("done", 1, 1)
    assert home.trail(task_id).count("checkpoint_saved") == 1


@pytest.mark.parametrize("reply", ["away", "lost"])
def test_work_whose_worker_is_killed_before_it_could_tell_is_told_by_the_next_and_not_done_again(
    home: WorkerProcesses, reply: str
) -> None:
    def killed(_method: str, path: str) -> str | None:
        if path.endswith("/complete") and home.workers[0].poll() is None:
            home.workers[0].kill()
            return reply
        return None

    home.fault = killed
    task_id = home.hand_off()
    program = home.script("echo done >> $FOLDER/effects; echo 1")
    assert home.run(program=(program,))[0] == -signal.SIGKILL
    (kept,) = home.file(".local/state/baton/worker").iterdir()
    assert kept.stat().st_mode & 0o077 == 0
    assert home.run("--idle-timeout", "1s", program=(program,))[0] == 0
    assert home.file("effects").read_text() == "done\n"
    task = home.task(task_id)
    assert (task["state"], task["output"], task["attempt"], ends(home, task_id)) == ("done", 1, 1, 1)
    assert not kept.exists()


def test_work_that_ends_while_baton_is_away_is_told_when_it_is_back(home: WorkerProcesses) -> None:
    task_id = home.hand_off()
    fault(home, "away", of="/complete", while_=lambda: home.asked.count(f"/tasks/{task_id}/complete") < 3)
    assert home.run("--once", program=("echo", "1"))[0] == 0
    assert (home.task(task_id)["state"], ends(home, task_id)) == ("done", 1)


def test_network_that_is_lost_for_longer_than_the_lease_ends_the_program_before_another_begins(
    hasty: WorkerProcesses,
) -> None:
    task_id = hasty.hand_off()
    worker = hasty.start("--lease", "20", program=(hasty.script(ONCE_ENDLESS),))
    working(hasty)
    claim = hasty.task(task_id)["claim"]["expires_at"]
    fault(hasty, "away")
    until(lambda: not hasty.left())
    assert hasty.task(task_id)["state"] == "claimed"
    until(lambda: hasty.clock.now().isoformat() > claim.rstrip("Z"))
    fault(hasty, "away", while_=lambda: False)
    until(lambda: hasty.task(task_id)["state"] == "done")
    assert (hasty.task(task_id)["attempt"], ends(hasty, task_id)) == (2, 1)
    worker.send_signal(signal.SIGTERM)
    assert hasty.ended(worker) == (0, {"done": 1, "failed": 0, "released": 0, "lost": 1})


def test_network_that_comes_back_before_the_lease_is_over_costs_no_attempt(hasty: WorkerProcesses) -> None:
    task_id = hasty.hand_off()
    worker = hasty.start("--once", "--lease", "50", program=(hasty.script(ENDLESS),))
    working(hasty)
    fault(hasty, "away", while_=lambda: bool(hasty.left()))
    assert hasty.ended(worker) == (1, {"done": 0, "failed": 0, "released": 1, "lost": 0})
    assert (hasty.task(task_id)["attempt"], hasty.task(task_id)["state"]) == (0, "delegated")


def test_worker_that_stands_still_loses_its_program_before_its_lease_is_over(hasty: WorkerProcesses) -> None:
    task_id = hasty.hand_off()
    worker = hasty.start("--lease", "20", program=(hasty.script(ONCE_ENDLESS),))
    working(hasty)
    worker.send_signal(signal.SIGSTOP)
    until(lambda: not hasty.left())
    assert hasty.run("--once", program=(hasty.script(ONCE_ENDLESS),))[0] == 0
    worker.send_signal(signal.SIGCONT)
    worker.send_signal(signal.SIGTERM)
    hasty.ended(worker)
    assert (hasty.task(task_id)["state"], ends(hasty, task_id)) == ("done", 1)


def test_task_that_is_cancelled_stops_its_program_and_nothing_is_sent(hasty: WorkerProcesses) -> None:
    task_id = hasty.hand_off()
    worker = hasty.start("--once", "--lease", "20", program=(hasty.script(f"trap '' TERM\n{ENDLESS}"),))
    working(hasty)
    hasty.agents.gateway.post(ALICE, f"/tasks/{task_id}/cancel", {})
    assert hasty.ended(worker) == (1, {"done": 0, "failed": 0, "released": 0, "lost": 1})
    assert (hasty.left(), hasty.task(task_id)["state"], ends(hasty, task_id)) == ([], "cancelled", 0)
    assert {path.rsplit("/", 1)[-1] for path in hasty.asked} == {"claims", "heartbeat"}


def test_agent_that_is_switched_off_gives_its_work_back(hasty: WorkerProcesses) -> None:
    task_id = hasty.hand_off()
    worker = hasty.start("--once", "--lease", "20", program=(hasty.script(ENDLESS),))
    working(hasty)
    hasty.agents.gateway.put(ALICE, f"/agents/{SLUG}", {"active": False})
    assert hasty.ended(worker) == (1, {"done": 0, "failed": 0, "released": 1, "lost": 0})
    assert (hasty.left(), hasty.task(task_id)["attempt"]) == ([], 0)


def test_long_work_is_held_by_heartbeats_also_while_the_worker_stops(hasty: WorkerProcesses) -> None:
    task_id = hasty.hand_off()
    worker = hasty.start(
        "--lease", "20", program=(hasty.script(f"{_SAID}while [ ! -e $FOLDER/go ]; do sleep 0.05; done"),)
    )
    working(hasty)
    stopped(hasty, worker)
    begun = hasty.clock.now()
    until(lambda: (hasty.clock.now() - begun).total_seconds() > 25)
    hasty.file("go").touch()
    assert hasty.ended(worker)[1]["done"] == 1
    assert (hasty.task(task_id)["attempt"], hasty.task(task_id)["recoveries"]) == (1, [])

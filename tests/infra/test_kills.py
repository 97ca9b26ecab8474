"""`make frameworks KILLS=…` kills what it says, and its judge notices each wrong."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from frameworks.verdict import Found, wrongs

ACTION, QUESTION = ("q_1", "ship", "May it be shipped?", True), ("q_2", None, "Which branch?", False)
GOOD = Found(
    task_id="task_1",
    state="done",
    failure=None,
    handed=["Test it"],
    questions=[ACTION, QUESTION],
    events=["handoff_received", "approval_used", "question_asked", "waiting", "handoff_completed"],
    trail_matches=True,
    approved={"q_1": {"key": "task_1"}},
)


def judged(effects: tuple[str, ...] = ("q_1",), in_all: int = 1, **changes: Any) -> list[str]:
    return list(wrongs([replace(GOOD, **changes)], effects, in_all))


@pytest.mark.parametrize("key", ["q_1", "task_1"])
def test_nothing_is_wrong_with_a_task_that_did_each_thing_once(key: str) -> None:
    assert judged((key,)) == []


def test_forged_run_may_fail_and_does_nothing_without_its_approval() -> None:
    failed: dict[str, Any] = {"state": "failed", "handed": [], "in_all": 0, "is_forged": True}
    assert judged(effects=(), **failed) == []
    (only,) = judged(questions=[("q_1", "ship", "", False)], **failed)
    assert "has its effect without an approval" in only


def test_an_effect_may_be_missing_where_the_worker_died_between_its_approval_and_the_effect() -> None:
    died = ["handoff_received", "approval_used", "heartbeat_lost", "requeued", "handoff_received", "handoff_completed"]
    assert judged(effects=(), events=died) == []


@pytest.mark.parametrize(
    ("said", "wrong"),
    [
        ("task_1 is delegated: None", {"state": "delegated"}),
        ("task_1 is failed: ", {"state": "failed", "failure": {"type": "error"}}),
        ("task_1 hands off 2 times", {"handed": ["Test it", "Test it"], "in_all": 2}),
        ("task_1 hands off 2 times", {"handed": ["Test it", "Test it again"], "in_all": 2}),
        ("task_1 hands off 0 times", {"handed": [], "in_all": 0}),
        ("the colleague had 2 tasks", {"in_all": 2}),
        ("task_1 asks 2 actions", {"questions": [ACTION, ("q_3", "ship", "Once more?", False), QUESTION]}),
        ("task_1 asks 2 questions", {"questions": [ACTION, QUESTION, ("q_3", None, "Which branch?", False)]}),
        ("task_1 asks 0 actions", {"questions": [QUESTION], "effects": ()}),
        ("task_1 asks 0 questions", {"questions": [ACTION]}),
        ("the effect q_1 is done 2 times", {"effects": ("q_1", "q_1")}),
        ("the effect q_9 is nobody's", {"effects": ("q_1", "q_9")}),
        ("task_1 has its effect without an approval", {"questions": [("q_1", "ship", "", False), QUESTION]}),
        ("task_1 lost its effect", {"effects": ()}),
        ("other arguments", {"effects": ("task_1",), "approved": {"q_1": {"key": "task_2"}}}),
        ("the trail of task_1 doesn't match", {"trail_matches": False}),
    ],
)
def test_each_wrong_is_noticed(said: str, wrong: dict[str, Any]) -> None:
    (only,) = judged(**wrong)
    assert said in only


# ---- the process that forks


@pytest.fixture
def forks(tmp_path: Path) -> Iterator[Any]:
    (tmp_path / "played.py").write_text(
        "import os, random, time, uuid\n"
        "def work():\n"
        "    with open(os.environ['NOTES'], 'a') as notes:\n"
        "        notes.write(f'{os.getpid()} {os.getppid()} {random.random()} {uuid.uuid4()}\\n')\n"
        "    time.sleep(60)\n"
        "SCENES = {'work': work, 'ends': lambda: None}\n"
    )
    processes: list[Any] = []

    def begin(name: str) -> Any:
        path = os.pathsep.join([str(tmp_path), "tests", "packages/baton-client/src"])
        env = {"PYTHONPATH": path, "NOTES": str(tmp_path / "notes"), "LOADED": str(tmp_path / "loaded")}
        program = [sys.executable, "-P", "-m", "frameworks.forks", "played", name]
        processes.append(
            subprocess.Popen(program, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        )
        assert processes[-1].stdout.readline() == "ready\n"
        return processes[-1]

    yield begin
    for each in processes:
        each.kill()
        each.communicate()


def say(process: Any, what: str) -> int:
    process.stdin.write(f"{what}\n")
    return int(process.stdout.readline())


def noted(path: Path, count: int) -> list[list[str]]:
    while not path.exists() or len(lines := path.read_text().splitlines()) < count:
        time.sleep(0.01)
    return [each.split() for each in lines]


def test_each_worker_is_a_killed_process_of_its_own(forks: Any, tmp_path: Path) -> None:
    process = forks("work")
    pids = []
    for number in (1, 2):
        pids.append(say(process, "go"))
        noted(tmp_path / "notes", number)
        assert say(process, "kill") == -signal.SIGKILL
    (first, parent, *drawn), (second, _, *drawn_again) = noted(tmp_path / "notes", 2)
    assert [int(first), int(second)] == pids
    assert int(parent) == process.pid
    assert not {*drawn} & {*drawn_again}, "the second has the seeds of the first"
    assert (tmp_path / "loaded").read_text().split() == [first, second]


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="no files of processes")
def test_a_worker_that_has_ended_by_itself_is_told(forks: Any) -> None:
    process = forks("ends")
    pid = say(process, "go")
    while Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z":
        time.sleep(0.01)
    assert say(process, "kill") == 0


def test_no_worker_outlives_the_process_that_forks(forks: Any, tmp_path: Path) -> None:
    process = forks("work")
    pid = say(process, "go")
    noted(tmp_path / "notes", 1)
    process.communicate()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)

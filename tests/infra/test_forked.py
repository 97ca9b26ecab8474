"""Workers of the local engine that are forked are as those that it starts itself."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tools.stack import forked
from tools.stack.forked import END_OF_LOG, IS_POSSIBLE, LAYERS, Forks, log_of

pytestmark = pytest.mark.skipif(not IS_POSSIBLE, reason="no file descriptors of processes")

PROGRAM = """
import json, os, sys

told = {"environment": dict(os.environ), "folder": os.getcwd(), "arguments": sys.argv, "path": sys.path[0]}
sys.path.insert(0, os.path.join(os.environ["_LAMBDA_LAYERS_DIRS"], "python"))
import baton
told |= {"imported_by": baton.BY, "is_main": __name__ == "__main__", "pid": os.getpid()}
print(json.dumps(told), flush=True)
for line in sys.stdin:
    print("heard", line, end="", flush=True)
print("the end", file=sys.stderr)
"""


@pytest.fixture(scope="module")
def layer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("layer")
    (folder / "python/baton").mkdir(parents=True)
    (folder / "python/baton/__init__.py").write_text("import os\nBY = os.getpid()\n")
    (folder / "python/baton/lacks.py").write_text("import nothing_of_this_name\n")
    (folder / "worker.py").write_text(PROGRAM)
    return folder


@pytest.fixture(scope="module")
def forks() -> Iterator[Forks]:
    forks = Forks()
    yield forks
    forks.end()


def started(forks: Any, layer: Path, **environment: str) -> tuple[Any, dict[str, Any]]:
    process = forks(
        [sys.executable, str(layer / "worker.py")],
        cwd=str(layer),
        env={LAYERS: str(layer), "PATH": os.environ["PATH"], **environment},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        bufsize=1,
    )
    return process, json.loads(process.stdout.readline())


def close(process: Any) -> None:
    for pipe in (process.stdin, process.stdout, process.stderr):
        pipe.close()


def test_a_worker_is_a_process_of_its_own_but_for_what_was_imported(forks: Forks, layer: Path) -> None:
    ours, theirs = (started(how, layer, MINE="1") for how in (forks, subprocess.Popen))
    told, usual = ours[1], theirs[1]
    assert (told["pid"], usual["pid"]) == (ours[0].pid, theirs[0].pid)
    assert usual.pop("imported_by") == usual.pop("pid")
    assert told.pop("imported_by") not in {told.pop("pid"), os.getpid()}
    assert told["environment"].items() <= usual["environment"].items()
    assert told | {"environment": {}} == usual | {"environment": {}}
    for (process, _), mark in ((ours, f"{END_OF_LOG}1\n"), (theirs, "")):
        process.stdin.write("Hello\n")
        assert process.stdout.readline() == "heard Hello\n"
        assert process.poll() is None
        process.stdin.close()
        assert process.stderr.read() == f"{mark}the end\n"
        assert process.wait(timeout=60) == process.poll() == 0
        process.terminate()  # one that isn't there any more
        close(process)


def test_each_worker_has_an_environment_of_its_own(forks: Forks, layer: Path) -> None:
    (first, one), (second, two) = started(forks, layer, ONE="1"), started(forks, layer, TWO="2")
    assert (one["environment"].get("ONE"), one["environment"].get("TWO")) == ("1", None)
    assert (two["environment"].get("ONE"), two["environment"].get("TWO")) == (None, "2")
    assert one["imported_by"] == two["imported_by"]
    first.terminate()
    first.wait(timeout=60)
    assert second.poll() is None, "one that ends takes no other with it"
    with pytest.raises(subprocess.TimeoutExpired):
        second.wait(timeout=0.05)
    second.kill()
    second.wait(timeout=60)
    close(first)
    close(second)


def test_what_has_no_layers_is_started_as_ever(forks: Forks) -> None:
    process = forks([sys.executable, "-c", "print('here')"], stdout=subprocess.PIPE, text=True)
    assert isinstance(process, subprocess.Popen)
    assert process.communicate()[0] == "here\n"


def test_the_log_of_an_invocation_ends_with_its_mark_whatever_came_late_before() -> None:
    lines: queue.Queue[str] = queue.Queue()
    for line in ("begins", "first", f"{END_OF_LOG}1", f"{END_OF_LOG}2", "third", f"{END_OF_LOG}3", "fourth"):
        lines.put(line)
    assert log_of(lines, 1) == ["begins", "first"]
    assert log_of(lines, 3) == ["third"]
    assert lines.get_nowait() == "fourth"


def test_a_log_whose_end_does_not_come_is_what_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forked, "LOG_SECONDS", 0.01)
    lines: queue.Queue[str] = queue.Queue()
    lines.put("its last words")
    assert log_of(lines, 1) == ["its last words"]

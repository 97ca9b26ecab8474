"""Programs of the local stack in the background: how they are started where somebody else may be quicker."""

from __future__ import annotations

import socket
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from tools.stack import deployment
from tools.stack.background import PORTS_TRIED, Background, NotListening, essentials, free_port, is_free, on_any_port

# Listens, unless the first argument names a file that isn't there: then it makes that, and finds its port taken.
PROGRAM = """
import socket, sys, time
from pathlib import Path
port, mark = int(sys.argv[1]), Path(sys.argv[2])
if not mark.exists():
    mark.touch()
    sys.exit(f"port {port} is taken")
with socket.create_server(("127.0.0.1", port)):
    time.sleep(600)
"""


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Background]:
    program = Background("the program", tmp_path, "program")
    yield program
    program.stop()


def start(program: Background, mark: Path, port: int) -> int:
    command = [sys.executable, "-c", PROGRAM, str(port), str(mark)]
    return program.start(command, essentials(), port, lambda: not is_free(port))


def test_a_program_whose_port_was_taken_meanwhile_is_started_on_another(program: Background, tmp_path: Path) -> None:
    pid, port = on_any_port(partial(start, program, tmp_path / "mark"))
    assert program.running() == (pid, port)


def test_a_program_that_ends_at_once_is_told_with_the_end_of_its_log(program: Background, tmp_path: Path) -> None:
    port = free_port()
    with pytest.raises(NotListening, match=rf"(?s)ended with 1 before it answered.*\| port {port} is taken"):
        start(program, tmp_path / "mark", port)
    assert program.running() is None


def test_after_some_ports_it_is_given_up() -> None:
    tried: list[int] = []

    def refused(port: int) -> int:
        tried.append(port)
        raise NotListening(f"port {port}")

    with pytest.raises(NotListening, match=r"port \d+"):
        on_any_port(refused)
    assert len(tried) == PORTS_TRIED


def test_a_port_that_somebody_listens_on_is_not_free() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        assert not is_free(taken.getsockname()[1])


def test_what_a_tool_leaves_of_its_temporary_files_is_removed(tmp_path: Path) -> None:
    log = tmp_path / "tool.log"
    command: list[str | Path] = [sys.executable, "-c", "import tempfile; print(tempfile.mkdtemp())"]
    deployment.run("a tool", command, {}, log, 60, lambda _said: None)
    left = Path(log.read_text().strip())
    assert left.is_absolute()
    assert not left.exists()

"""The local stack's ports are checked before the setup, and a refusal names a port that is free."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import pytest

from infra.citations import ROOT
from tools.stack import ports
from tools.stack.background import Background, NotListening, StackError, essentials, free_port, is_free

LISTENS = "import socket, sys, time; server = socket.create_server(('127.0.0.1', int(sys.argv[1]))); time.sleep(60)"


def _listens(port: int) -> bool:
    return not is_free(port)


@pytest.fixture
def taken() -> Iterator[int]:
    """The first of three ports, of which two are taken and the third is free."""
    with ExitStack() as held:
        while True:
            first = free_port()
            if first < 60000 and all(is_free(each) for each in range(first, first + 5)):
                break
        for port in (first, first + 1):
            held.enter_context(socket.create_server(("127.0.0.1", port)))
        yield first


def refused(home: Path, **environ: int | str) -> str:
    with pytest.raises(StackError) as caught:
        ports.check(home, {name: str(value) for name, value in environ.items()})
    return str(caught.value)


def suggested(text: str) -> tuple[str, int]:
    found = re.search(r"this one is free: (\w+)=(\d+) make", text)
    assert found is not None, text
    return found[1], int(found[2])


def test_a_taken_port_is_refused_with_one_that_is_free_for_both_programs(taken: int, tmp_path: Path) -> None:
    variable, port = suggested(refused(tmp_path, BATON_PORT=taken))
    assert (variable, port) == ("BATON_PORT", taken + 2)
    ports.check(tmp_path, {"BATON_PORT": str(port)})


def test_so_is_the_taken_port_of_the_stand_in_for_notion(taken: int, tmp_path: Path) -> None:
    free = free_port()
    variable, port = suggested(refused(tmp_path, BATON_PORT=free, BATON_NOTION_PORT=taken))
    assert variable == "BATON_NOTION_PORT"
    ports.check(tmp_path, {"BATON_PORT": str(free), variable: str(port)})


def test_the_engines_port_is_not_suggested_for_notion(taken: int, tmp_path: Path) -> None:
    _, port = suggested(refused(tmp_path, BATON_PORT=taken + 2, BATON_NOTION_PORT=taken + 1))
    assert port == taken + 3
    _, port = suggested(refused(tmp_path, BATON_PORT=taken + 2, BATON_NOTION_PORT=taken + 2))
    assert port == taken + 3


def test_notion_elsewhere_needs_no_port(taken: int, tmp_path: Path) -> None:
    ports.check(tmp_path, {"BATON_PORT": str(taken + 2), "BATON_NOTION_URL": "https://api.notion.com"})
    with pytest.raises(NotListening):
        ports.check(tmp_path, {"BATON_PORT": str(taken + 2), "BATON_NOTION_PORT": str(taken)})


def test_a_number_that_is_no_port_is_refused(tmp_path: Path) -> None:
    assert refused(tmp_path, BATON_PORT="70000") == "BATON_PORT must be a port number, and is '70000'"


def test_a_stack_that_runs_keeps_its_ports(tmp_path: Path) -> None:
    programs = [Background(name, tmp_path, name) for name in ("engine", "notion")]
    listened = [free_port() for _ in programs]
    for program, port in zip(programs, listened, strict=True):
        command = [sys.executable, "-c", LISTENS, str(port)]
        program.start(command, essentials(), port, partial(_listens, port))
    try:
        ports.check(tmp_path, {"BATON_PORT": str(listened[0])})
    finally:
        for program in programs:
            program.stop()


@pytest.mark.parametrize("target", ["run", "stack"])
def test_the_ports_come_before_the_setup(target: str) -> None:
    command = ["make", "--no-print-directory", "--dry-run", "--always-make", target, f"PYTHON={sys.executable}"]
    planned = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\n")
    assert planned[0] == f"{sys.executable} -m tools.stack.ports"


def test_the_check_needs_nothing_but_python() -> None:
    loaded = "import sys; sys.path.insert(0, '.'); import tools.stack.ports"
    subprocess.run([sys.executable, "-I", "-S", "-c", loaded], cwd=ROOT, check=True)

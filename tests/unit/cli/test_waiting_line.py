"""What a person is told while a command waits for the API."""

from __future__ import annotations

import io
import json
from contextlib import closing, redirect_stderr
from threading import Event

import pytest

from baton_cli.main import run
from baton_cli.output import Output
from baton_cli.waiting_line import WaitingLine
from baton_client.caller import Caller
from baton_client.profiles import Profile
from support.scripted_api import Answer, ScriptedApi

AT_ONCE, NEVER = 0.0, 3600.0
CLEARED = "\r\x1b[2K"


class Terminal(io.StringIO):
    """``lines``: the next one is set when a line says what is waited for."""

    def __init__(self) -> None:
        super().__init__()
        self.lines = [Event() for _ in range(3)]
        self._left = iter(self.lines)

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        written = super().write(text)
        if "…" in text:
            next(self._left).set()
        return written


def client_to(api: ScriptedApi, out: Output, quiet_seconds: float) -> closing[Caller]:
    return closing(Caller(Profile("p", api.url, ""), during=WaitingLine(out, quiet_seconds).for_answer))


def test_a_command_says_that_it_waits_until_it_has_its_answer(
    scripted: ScriptedApi, capsys: pytest.CaptureFixture[str]
) -> None:
    with redirect_stderr(Terminal()) as terminal:
        scripted.will(Answer(body={"id": "t"}, after=terminal.lines[0]))
        assert run(["api", "get", "/tasks/t"]) == 0
    assert terminal.getvalue() == f"waiting for the API …{CLEARED}"
    assert json.loads(capsys.readouterr().out)["id"] == "t"


def test_a_long_listing_says_how_far_it_has_come(scripted: ScriptedApi) -> None:
    with redirect_stderr(Terminal()) as terminal:
        scripted.will(*(Answer(body={"next_cursor": "more"}, after=each) for each in terminal.lines[:2]))
        scripted.will(Answer(body={"next_cursor": None}, after=terminal.lines[2]))
        with client_to(scripted, Output("json"), AT_ONCE) as client:
            assert len(list(client.pages("/tasks", {}))) == 3
    told = ("waiting for the API …", "waiting for the API …", "waiting for the API, 2 answers so far …")
    assert terminal.getvalue() == "".join(f"{each}{CLEARED}" for each in told)


def test_the_line_is_gone_before_an_error_is_said(scripted: ScriptedApi) -> None:
    with redirect_stderr(Terminal()) as terminal:
        scripted.will(Answer(404, {"code": "unknown_task", "title": "Unknown task"}, after=terminal.lines[0]))
        assert run(["api", "get", "/tasks/t"]) == 3
    assert terminal.getvalue().startswith(f"waiting for the API …{CLEARED}error: Unknown task")


def test_nothing_is_said_where_the_answer_is_quick(scripted: ScriptedApi) -> None:
    with redirect_stderr(Terminal()) as terminal, client_to(scripted, Output("json"), NEVER) as client:
        client.get("/tasks/t")
    assert terminal.getvalue() == ""


def test_a_command_that_has_said_what_it_waits_for_says_it_once(scripted: ScriptedApi) -> None:
    with redirect_stderr(Terminal()) as terminal:
        out = Output("json")
        out.say("waiting for task_1 …")
        with client_to(scripted, out, AT_ONCE) as client:
            client.get("/tasks/task_1/await")
    assert terminal.getvalue() == "waiting for task_1 …\n"


def test_no_line_is_written_where_nobody_sits(scripted: ScriptedApi, capsys: pytest.CaptureFixture[str]) -> None:
    with client_to(scripted, Output("json"), AT_ONCE) as client:
        client.get("/tasks/t")
    assert capsys.readouterr().err == ""

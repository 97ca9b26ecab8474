"""Commands whose request another program than Baton answers: a proxy, a portal, a firewall, AWS."""

from __future__ import annotations

import json
from functools import cached_property
from pathlib import Path

import pytest

from baton_cli.command_context import CommandContext
from baton_cli.main import COMPLETION_VARIABLE, run
from baton_client.caller import Caller
from baton_client.core import Patience
from support.scripted_api import Answer, ScriptedApi

PAGE = Answer(200, "<html>Sign in to this network</html>", {"Content-Type": "text/html"})
REFUSALS = [
    (PAGE, "200 in another shape (type text/html)"),
    (Answer(403, {"message": "Forbidden"}), "403 without a code of Baton's (type application/json)"),
    (Answer(404, {"message": "Not Found"}), "404 without a code of Baton's (type application/json)"),
    (Answer(200, {"status": "ok"}, is_foreign=True), "200 in another shape (type application/json)"),
    (Answer(302, headers={"Location": "http://127.0.0.1:9/"}), "status 302, which Baton doesn't send here"),
]


class Impatient(CommandContext):
    @cached_property
    def client(self) -> Caller:
        return Caller(self.profile, Patience(attempts=1, seconds=0))


@pytest.mark.parametrize(("answer", "cause"), REFUSALS)
@pytest.mark.parametrize("line", [["api", "GET", "/tasks/task_1"], ["tasks", "show", "task_1"]])
def test_a_foreign_answer_is_an_error_with_its_cause_and_a_next_step(
    scripted: ScriptedApi, capsys: pytest.CaptureFixture[str], line: list[str], answer: Answer, cause: str
) -> None:
    scripted.will(answer)
    assert run(line, Impatient()) == 5
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == (
        f"error: {scripted.url} doesn't answer\n  why: {cause}\n"
        "  next: check the address and the proxies on the way: baton doctor\n"
    )


def test_api_prints_a_text_of_batons_and_no_text_of_another_program(
    scripted: ScriptedApi, capsys: pytest.CaptureFixture[str]
) -> None:
    text = {"Content-Type": "text/plain; charset=utf-8"}
    scripted.will(Answer(200, "## Chain", text), Answer(200, "## Chain", text))
    assert run(["api", "GET", "/workflows/w/chain?format=text"], Impatient()) == 0
    assert capsys.readouterr().out == "## Chain"
    assert run(["api", "GET", "/tasks/task_1"], Impatient()) == 5
    assert capsys.readouterr().out == ""


def test_init_tries_a_wrong_address_once_and_saves_nothing(
    scripted: ScriptedApi, nobodys_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scripted.will(PAGE)
    assert run(["init"]) == 5
    assert "200 in another shape (type text/html)" in capsys.readouterr().err
    assert (len(scripted.asked), [*nobodys_home.iterdir()]) == (1, [])


@pytest.mark.parametrize(
    ("answers", "about"),
    [
        ([PAGE], "API"),
        ([Answer(body={}), PAGE], "token"),
        ([Answer(body={}), Answer(body={"version": 1}), Answer(403, "<html>")], "token"),
    ],
)
def test_doctor_tries_each_thing_once_and_says_what_is_wrong(
    scripted: ScriptedApi, capsys: pytest.CaptureFixture[str], answers: list[Answer], about: str
) -> None:
    scripted.will(*answers)
    assert run(["doctor", "--json"]) == 1
    checks = {each["about"]: each for each in json.loads(capsys.readouterr().out)["checks"]}
    assert len(scripted.asked) == len(answers)
    assert (checks[about]["state"], "(type text/html)" in checks[about]["said"] or about == "token") == ("wrong", True)
    assert checks[about]["next_step"]


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (PAGE, "plain,@last"),
        (Answer(200, {"next_cursor": None}, is_foreign=True), "plain,@last"),
        (Answer(200, {"items": [{"name": "x"}, 1], "next_cursor": None}), ""),
    ],
)
def test_completion_asks_once_and_completes_nothing(
    scripted: ScriptedApi,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    answer: Answer,
    words: str,
) -> None:
    for name, value in (
        (COMPLETION_VARIABLE, "bash_complete"),
        ("COMP_WORDS", "baton tasks show "),
        ("COMP_CWORD", "3"),
    ):
        monkeypatch.setenv(name, value)
    scripted.will(answer)
    with pytest.raises(SystemExit):
        run([])
    assert len(scripted.asked) == 1
    assert capsys.readouterr() == (f"{words}\n", "")


@pytest.mark.parametrize(
    "line",
    [
        ["api", "POST", "/tasks/t/claim", "--data", "{}", "--key", "ключ"],
        ["tasks", "cancel", "task_1", "--reason", "x", "--key", "é"],
        ["handoff", "create", "--reason", "x", "--key", "a\nb"],
        ["events", "tail", "задача"],
        ["await", "task 1"],
    ],
)
def test_what_no_request_may_have_is_wrong_usage_and_nothing_is_sent(
    scripted: ScriptedApi, capsys: pytest.CaptureFixture[str], line: list[str]
) -> None:
    assert run(line) == 2
    assert "ASCII" in capsys.readouterr().err
    assert scripted.asked == []

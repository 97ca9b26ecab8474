"""How a command ends, whatever happens to it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from functools import cached_property
from pathlib import Path
from threading import Event

import pytest

import baton_cli
from baton_cli.command_context import CommandContext
from baton_cli.main import run
from baton_cli.nouns.settings import NAMES
from baton_cli.output import may_ask
from baton_client.caller import Caller
from baton_client.core import Patience
from support.scripted_api import Answer, ScriptedApi
from support.values.schema import DOCUMENT

ESCAPES = "red \x1b[31m bell \x07 c1 \x9b title \x1b]0;x\x07 turned \u202e end"
ONE_ATTEMPT = Patience(attempts=1, seconds=0)
PROGRAM = [sys.executable, "-P", "-m", "baton_cli"]


def environment(**more: str) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "PYTHONPATH": str(Path(baton_cli.__file__).parents[1]), **more}


def test_off_a_terminal_the_answer_is_one_json_document(
    scripted: ScriptedApi, capsys: pytest.CaptureFixture[str]
) -> None:
    scripted.will(Answer(body={"id": "é"}))
    assert run(["api", "get", "tasks/é"]) == 0
    assert json.loads(capsys.readouterr().out)["id"] == "é"
    assert (scripted.asked[0].method, scripted.asked[0].headers["authorization"]) == ("GET", "Bearer baton_tok_secret")


def test_a_text_of_an_agents_reaches_no_terminal_as_an_escape(
    scripted: ScriptedApi, capsys: pytest.CaptureFixture[str]
) -> None:
    scripted.will(Answer(body={"title": ESCAPES}), Answer(404, {"code": "x", "detail": ESCAPES}))
    run(["api", "get", "/x"])
    run(["api", "get", "/x"])
    said = capsys.readouterr()
    assert json.loads(said.out) == {"title": ESCAPES}
    assert not set(said.out + said.err) & {"\x1b", "\x07", "\x9b", "\u202e"}
    assert "\\x1b[31m" in said.err


def test_nor_does_one_that_is_answered_as_a_text(scripted: ScriptedApi, capsys: pytest.CaptureFixture[str]) -> None:
    scripted.will(Answer(body=f"## Chain\n{ESCAPES}\n", headers={"Content-Type": "text/plain; charset=utf-8"}))
    run(["api", "get", "/workflows/w/chain?format=text"])
    drawn = capsys.readouterr().out
    assert drawn.startswith("## Chain\nred \\x1b[31m")
    assert not set(drawn) & {"\x1b", "\x07", "\x9b", "\u202e"}


@pytest.mark.parametrize(
    ("answer", "code", "said"),
    [
        (Answer(401, {"code": "not_authenticated", "title": "Not authenticated"}), 4, "next: baton init"),
        (Answer(403, {"code": "token_refused", "title": "Token refused"}), 4, "next: baton doctor"),
        (Answer(404, {"code": "unknown_task", "title": "Unknown task"}), 3, "error: Unknown task (404 unknown_task)"),
        (
            Answer(404, {"code": "not_found", "title": "No task"}),
            3,
            "why: asked without a profile at http://127.0.0.1:",
        ),
        (Answer(422, {"code": "criteria_unreported", "criteria": ["Has tests"]}), 1, "- Has tests\n  next: report"),
        (Answer(409, {"code": "stale_claim", "title": "Stale"}), 1, "next: the task isn't yours any more"),
    ],
)
def test_a_refusal_says_what_why_and_what_next(
    scripted: ScriptedApi, capsys: pytest.CaptureFixture[str], answer: Answer, code: int, said: str
) -> None:
    scripted.will(answer)
    assert run(["api", "GET", "/x"]) == code
    captured = capsys.readouterr()
    assert said in captured.err
    assert captured.out == ""


def test_beside_another_baton_the_command_and_its_hints_have_the_other_name(
    scripted: ScriptedApi, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["/home/ann/.local/bin/baton-cli"])
    scripted.will(Answer(409, {"code": "at_capacity", "title": "At capacity", "agent": "scout"}))
    assert run(["api", "GET", "/x"]) == 1
    assert "claim of scout's first: baton-cli tasks list --agent scout" in capsys.readouterr().err
    assert run(["tasks", "show"]) == 2
    assert "next: baton-cli tasks show --help" in capsys.readouterr().err
    assert run(["completion", "bash"]) == 0
    assert "complete -o nosort -F _baton_cli_completion baton-cli" in capsys.readouterr().out


def test_the_settings_are_listed_in_the_help_and_where_none_is_named(
    scripted: ScriptedApi, capsys: pytest.CaptureFixture[str]
) -> None:
    reference = DOCUMENT["components"]["schemas"]["SettingsRequest"]["properties"]
    assert {*NAMES, "version"} == reference.keys()
    assert run(["settings", "set", "--help"]) == 0
    assert ", ".join(NAMES) in " ".join(capsys.readouterr().out.split())
    assert run(["settings", "set"]) == 2
    assert ", ".join(NAMES) in capsys.readouterr().err
    assert scripted.asked == []


def test_an_unknown_setting_gets_the_closest_name_and_the_list(
    scripted: ScriptedApi, capsys: pytest.CaptureFixture[str]
) -> None:
    errors = [{"field": "max_attempt", "message": "is not a known field"}]
    scripted.will(Answer(422, {"code": "invalid_input", "title": "Invalid input", "errors": errors}))
    assert run(["settings", "set", "max_attempt=5"]) == 1
    assert "next: did you mean max_attempts? The settings: agents_read, " in capsys.readouterr().err
    errors = [{"field": "max_attempts", "message": "must be at least 1"}]
    scripted.will(Answer(422, {"code": "invalid_input", "title": "Invalid input", "errors": errors}))
    assert run(["settings", "set", "max_attempts=0"]) == 1
    assert "The settings:" not in capsys.readouterr().err


def test_an_unknown_agent_is_refused_with_those_that_there_are(
    scripted: ScriptedApi, capsys: pytest.CaptureFixture[str]
) -> None:
    named = {"agents": ["auditor", "scout"], "detail": "No agent 'nobody' is registered in this workspace."}
    for status, code in ((404, "not_found"), (422, "unknown_agent")):
        scripted.will(Answer(status, {"code": code, "title": "Not found", **named}))
        run(["agents", "show", "nobody"])
        told = capsys.readouterr().err
        assert "why: No agent 'nobody' is registered in this workspace.\n  why: agents: auditor, scout" in told
        assert "; all of them: baton agents list" in told


def test_a_refusal_says_each_thing_once(scripted: ScriptedApi, capsys: pytest.CaptureFixture[str]) -> None:
    errors = [{"field": "max_dpth", "message": "is not a known field"}, {"field": "x", "message": "is required"}]
    problem = {"code": "invalid_input", "title": "Invalid input", "errors": errors}
    scripted.will(Answer(422, {**problem, "detail": "max_dpth: is not a known field"}))
    run(["api", "GET", "/x"])
    assert capsys.readouterr().err.count("is not a known field") == 1


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (["ap"], "Did you mean api?"),
        (["nothing"], "There are: "),
        (["api", "GET"], "Missing argument 'PATH'"),
        (["api", "GET", "/x", "--nothing"], "No such option"),
        (["api", "POST", "/x", "--data", "{"], "the body isn't JSON"),
        (["api", "POST", "/x", "--data", "@/nowhere"], "can't be read"),
    ],
)
def test_wrong_usage_sends_nothing_and_ends_with_2(
    scripted: ScriptedApi, capsys: pytest.CaptureFixture[str], line: list[str], said: str
) -> None:
    assert run(line) == 2
    assert said in capsys.readouterr().err
    assert scripted.asked == []


@pytest.mark.parametrize(
    "line",
    [
        ["api", "POST", "/x", "--data", "@/nowhere"],
        ["tasks", "defer", "task_1", "--until", "tomorrow-ish"],
        ["settings", "set", "x"],
        ["worker", "--lease", "soon", "--", "true"],
        ["memory", "recall"],
        ["nothing"],
    ],
)
def test_wrong_usage_names_a_next_step(
    scripted: ScriptedApi, capsys: pytest.CaptureFixture[str], line: list[str]
) -> None:
    assert run(line) == 2
    assert "\n  next: baton" in capsys.readouterr().err


@pytest.mark.parametrize("line", [[], ["tasks"]])
def test_without_a_command_the_help_is_shown(capsys: pytest.CaptureFixture[str], line: list[str]) -> None:
    assert run(line) == 2
    said = capsys.readouterr().err
    assert said.startswith("Usage: baton")
    assert "Commands:" in said


def test_a_reader_of_the_errors_that_goes_away_is_no_error_either() -> None:
    process = subprocess.Popen([*PROGRAM, "tasks"], env=environment(), stderr=subprocess.PIPE)
    assert process.stderr is not None
    process.stderr.close()
    assert process.wait(30) == 2


def test_a_command_sends_one_key_of_its_own_or_the_one_given(scripted: ScriptedApi) -> None:
    scripted.will(Answer(body={}), Answer(body={}))
    run(["api", "post", "/x", "--data", "{}"])
    run(["api", "post", "/x", "--data", "{}"])
    run(["api", "post", "/x", "--data", "{}", "--key", "mine"])
    run(["api", "put", "/x", "--data", "{}"])
    first, second, third, fourth = scripted.keys
    assert None not in {first, second}
    assert first != second
    assert (third, fourth) == ("mine", None)


def test_a_flag_counts_before_and_after_the_command(scripted: ScriptedApi) -> None:
    assert run(["--url", f"{scripted.url}/a", "api", "GET", "/x"]) == 0
    assert run(["--url", "http://127.0.0.1:9", "api", "GET", "/x", "--url", f"{scripted.url}/b"]) == 0
    assert [each.path for each in scripted.asked] == ["/a/x", "/b/x"]


@pytest.mark.parametrize(
    ("typed", "sent"), [([], "scout"), (["--from", "linter"], "linter"), (["--data", "{}"], "reviewer")]
)
def test_what_is_typed_goes_before_the_data_and_that_before_the_profiles_agent(
    scripted: ScriptedApi, monkeypatch: pytest.MonkeyPatch, typed: list[str], sent: str
) -> None:
    monkeypatch.setenv("BATON_AGENT", "reviewer")
    data = [] if "--data" in typed else ["--data", '{"source": {"agent": "scout"}}']
    assert run(["handoff", "create", "--reason", "x", "--json", *data, *typed]) == 0
    assert scripted.asked[0].body == {"source": {"agent": sent}, "target": {"reason": "x"}}


def test_a_listing_goes_on_until_it_has_as_many_as_were_asked_for(
    scripted: ScriptedApi, capsys: pytest.CaptureFixture[str]
) -> None:
    pages = [([], "a"), ([1, 2], "b"), ([3], "c")]
    scripted.will(*[Answer(body={"items": items, "next_cursor": cursor}) for items, cursor in pages])
    assert run(["agents", "list", "--limit", "3", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"items": [1, 2, 3], "next_cursor": "c"}
    assert [each.path.partition("?")[2] for each in scripted.asked] == [
        "limit=3",
        "limit=3&cursor=a",
        "limit=1&cursor=b",
    ]


def test_an_interrupt_ends_with_130(scripted: ScriptedApi, capsys: pytest.CaptureFixture[str]) -> None:
    class Interrupted(CommandContext):
        @property
        def client(self) -> None:  # type: ignore[override]
            raise KeyboardInterrupt

    assert run(["api", "GET", "/x"], Interrupted()) == 130
    assert "interrupted" in capsys.readouterr().err


def test_a_real_interrupt_ends_a_request_that_is_waited_for(scripted: ScriptedApi) -> None:
    over = Event()
    scripted.will(Answer(after=over))
    process = subprocess.Popen(
        [*PROGRAM, "api", "GET", "/x"], env=environment(BATON_URL=scripted.url), stderr=subprocess.PIPE
    )
    assert scripted.heard.wait(30)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=30)
    over.set()
    assert (process.returncode, said.strip()) == (130, b"interrupted")


def test_a_malformed_profile_ends_with_2(
    nobodys_home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = nobodys_home / ".config/baton/config.toml"
    path.parent.mkdir(parents=True)
    path.write_text("[profiles.local]\nurl = http://x")
    path.chmod(0o600)
    assert run(["agents", "list"]) == 2
    assert f"{path} isn't TOML" in capsys.readouterr().err


def test_a_server_that_is_closed_ends_with_5(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Impatient(CommandContext):
        @cached_property
        def client(self) -> Caller:
            return Caller(self.profile, ONE_ATTEMPT)

    monkeypatch.setenv("BATON_URL", "http://127.0.0.1:9")
    assert run(["agents", "list"], Impatient()) == 5
    assert "doesn't answer" in capsys.readouterr().err


def test_a_bug_is_told_without_a_traceback(scripted: ScriptedApi, capsys: pytest.CaptureFixture[str]) -> None:
    class Broken(CommandContext):
        @property
        def client(self) -> None:  # type: ignore[override]
            raise RuntimeError("no luck")

    assert run(["api", "GET", "/x"], Broken()) == 1
    said = capsys.readouterr().err
    assert "RuntimeError: no luck" in said
    assert "Traceback" not in said


def test_a_reader_that_goes_away_is_no_error(scripted: ScriptedApi) -> None:
    scripted.will(Answer(body={"items": ["x" * 100] * 10_000}))
    process = subprocess.Popen(
        [*PROGRAM, "api", "GET", "/x"],
        env=environment(BATON_URL=scripted.url),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    process.stdout.read(10)
    process.stdout.close()
    assert process.stderr is not None
    with process.stderr:
        assert process.stderr.read() == b""
    assert process.wait(30) == 0


def test_a_closed_standard_output_is_no_error(scripted: ScriptedApi) -> None:
    line = f"exec {' '.join(PROGRAM)} api GET /x >&-"
    ended = subprocess.run(
        ["/bin/sh", "-c", line], env=environment(BATON_URL=scripted.url), capture_output=True, check=False
    )
    assert (ended.returncode, ended.stderr) == (0, b"")


def test_nobody_is_asked_where_an_agent_runs_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal:
        closed = False

        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stdin", Terminal())
    monkeypatch.setattr(sys, "stderr", Terminal())
    assert may_ask()
    monkeypatch.setenv("CLAUDECODE", "1")
    assert not may_ask()


def test_help_loads_neither_rich_nor_http() -> None:
    line = (
        "import sys\nfrom baton_cli.main import run\nrun(['--help'])\n"
        "print({'rich', 'http.client', 'ssl', 'baton_cli.nouns.api'} & set(sys.modules))"
    )
    ended = subprocess.run(
        [sys.executable, "-P", "-c", line], env=environment(), capture_output=True, text=True, check=True
    )
    assert ended.stdout.endswith("set()\n")

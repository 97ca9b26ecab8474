"""What fails after the answer changes no exit code, and the id of what was made is printed."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import baton_cli
from baton_cli.screens import handoff as screens
from baton_client.profiles import config_path
from functions.cli.conftest import Terminal
from support.homeless import without_home
from support.worlds.world import agent

ARCHITECT = agent("architect")
GIVE = "handoff create --from architect --to auto-code --reason"


def handoffs(terminal: Terminal) -> list[Any]:
    items: list[Any] = terminal.api.gateway.get(ARCHITECT, "/handoffs").json["items"]
    return items


def outside(
    terminal: Terminal, line: str, redirection: str = "", **environment: str
) -> subprocess.CompletedProcess[str]:
    """Runs the command in a shell, with its standard streams as the redirection says."""
    given = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(Path(baton_cli.__file__).parents[1]),
        "HOME": os.environ["HOME"],
        "BATON_URL": terminal.api.url,
        "BATON_TOKEN": os.environ["BATON_TOKEN"],
        **environment,
    }
    command = f"{shlex.quote(sys.executable)} -m baton_cli {line} {redirection}"
    return subprocess.run(["/bin/sh", "-c", command], env=given, capture_output=True, text=True, check=False)


@pytest.fixture(autouse=True)
def architect(terminal: Terminal) -> None:
    terminal.sit(ARCHITECT)


@pytest.fixture
def nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    without_home(monkeypatch)


@pytest.mark.parametrize("options", ["", "--json", "--text", "-o name", "--query handoff.handoff_id"])
def test_a_full_disk_loses_the_answer_but_not_its_id(terminal: Terminal, options: str) -> None:
    done = outside(terminal, f"{GIVE} Build {options}", "> /dev/full")
    (made,) = handoffs(terminal)
    assert done.returncode == 0
    assert "standard output can't be written" in done.stderr
    assert made["handoff_id"] in done.stderr
    assert "don't repeat the command" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("redirection", [">&-", "2>&-", "2> /dev/full", "> /dev/full 2>&1", "| true", "<&-"])
def test_no_closed_or_full_stream_changes_the_exit_code(terminal: Terminal, redirection: str) -> None:
    done = outside(terminal, f"{GIVE} Build", redirection)
    assert (done.returncode, len(handoffs(terminal))) == (0, 1)
    assert "Traceback" not in done.stderr


def test_a_reading_command_whose_output_is_lost_fails(terminal: Terminal) -> None:
    done = outside(terminal, "handoff list", "> /dev/full")
    assert (done.returncode, "standard output can't be written" in done.stderr) == (1, True)


def test_a_worker_whose_output_is_lost_has_done_its_work(terminal: Terminal) -> None:
    claimed = terminal.agents.hand_off("architect", "auto-code")
    terminal.sit(agent("auto-code"))
    line = "worker --agent auto-code --once --idle-timeout 1 -- echo '{}'"
    done = outside(terminal, line, "> /dev/full 2> /dev/full")
    task = terminal.api.gateway.get(ARCHITECT, f"/tasks/{claimed['task']['id']}").json
    assert (done.returncode, task["state"]) == (0, "done")


@pytest.mark.usefixtures("nobody")
@pytest.mark.parametrize("named", [{}, {"XDG_CONFIG_HOME": "config"}])
def test_a_user_without_a_home_folder_needs_no_file(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, named: dict[str, str]
) -> None:
    for name, folder in named.items():
        monkeypatch.setenv(name, str(tmp_path / folder))
    made = terminal.json(*shlex.split(f"{GIVE} Build"))
    assert terminal.json("handoff", "show", made["handoff"]["handoff_id"])["target"]["reason"] == "Build"
    assert terminal.runs("tasks", "show", "@last")[0] == 2  # nothing is remembered
    monkeypatch.delenv("BATON_TOKEN")
    code, _, err = terminal.runs("handoff", "list")
    assert code == (2 if not named else 4), err
    assert named or "there is no home folder" in err


@pytest.mark.usefixtures("nobody")
def test_a_user_without_a_home_folder_is_told_so_where_a_file_is_needed(terminal: Terminal) -> None:
    for line in (["init"], ["handoff", "list", "--profile", "prod"]):
        code, _, err = terminal.runs(*line)
        assert code == 2
        assert "there is no home folder" in err
    code, out, _ = terminal.runs("doctor", "--json")
    assert "there is no home folder" in next(e["said"] for e in json.loads(out)["checks"] if e["about"] == "file")


@pytest.mark.parametrize("query", ["nope(task)", "length(task, task)", "join(`1`)", "not_null()", "items[?nope(id)]"])
def test_a_query_that_can_never_work_is_refused_before_anything_is_made(terminal: Terminal, query: str) -> None:
    code, out, err = terminal.runs(*shlex.split(f"{GIVE} Build"), "--query", query)
    assert (code, out, handoffs(terminal)) == (2, "", [])
    assert "isn't JMESPath" in err


@pytest.mark.parametrize("query", ["sum(task.title)", "min_by([task, handoff], &flags)", "&task", "max(keys(@))[0]"])
def test_a_query_that_doesnt_fit_the_answer_prints_all_of_it(terminal: Terminal, query: str) -> None:
    code, out, err = terminal.runs(*shlex.split(f"{GIVE} Build"), "--query", query)
    (made,) = handoffs(terminal)
    assert code == 0
    if query != "max(keys(@))[0]":
        assert json.loads(out)["handoff"]["handoff_id"] == made["handoff_id"]
        assert "doesn't fit the answer" in err


def test_a_query_that_doesnt_fit_what_is_only_read_fails(terminal: Terminal) -> None:
    code, out, err = terminal.runs("handoff", "list", "--query", "sum(next_cursor)")
    assert (code, out, "doesn't fit the answer" in err) == (2, "", True)


def test_a_screen_that_breaks_prints_the_answer_as_json(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(screens, "created", lambda _screen, _answer: 1 / 0)
    code, out, err = terminal.runs(*shlex.split(f"{GIVE} Build"), "--text")
    (made,) = handoffs(terminal)
    assert (code, json.loads(out)["handoff"]["handoff_id"]) == (0, made["handoff_id"])
    assert "a bug of the command's" in err


def test_a_closed_standard_input_is_wrong_usage(terminal: Terminal) -> None:
    for option in ("--reason -", "--reason Build --state -", "--data -"):
        done = outside(terminal, f"handoff create --from architect --to auto-code {option}", "<&-")
        assert (done.returncode, handoffs(terminal)) == (2, [])
        assert "standard input can't be read" in done.stderr


@pytest.mark.parametrize("deadline", ["999999w", "0001-01-01T00:00", "9999-12-31T23:59-14:00"])
def test_a_time_that_no_calendar_has_is_wrong_usage(terminal: Terminal, deadline: str) -> None:
    code, _, err = terminal.runs(*shlex.split(f"{GIVE} Build"), "--deadline", deadline)
    assert (code, handoffs(terminal)) == (2, [])
    assert f"{deadline} is no time" in err


def test_a_system_without_sessions_remembers_by_its_shell(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "getsid")
    made = terminal.json(*shlex.split(f"{GIVE} Build"))
    assert terminal.json("tasks", "show", "@last")["id"] == made["task"]["id"]


def test_no_token_is_made_for_a_profile_that_cant_be_saved(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    terminal.json("api", "GET", "/healthz")
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "file"))
    code, _, err = terminal.runs("init", "--name", "prod", "--agent", "linter")
    assert (code, f"{config_path()} can't be" in err) == (2, True), err


@pytest.mark.parametrize("encoding", ["latin-1", "ascii", "cp1252", "utf-8", "utf-16"])
@pytest.mark.parametrize("options", ["--json", "--query '[task, handoff]'"])
def test_json_is_whole_in_each_encoding_of_the_output(terminal: Terminal, encoding: str, options: str) -> None:
    line = f"{GIVE} 'Größe 😀 мир' {options}"
    given = {"PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"}
    done = outside(terminal, line, "> $HOME/out", **given)
    assert done.returncode == 0, done.stderr
    content = (Path(os.environ["HOME"]) / "out").read_bytes()
    assert "Größe 😀 мир" in json.dumps(json.loads(content.decode(encoding)), ensure_ascii=False)


def test_a_screen_in_another_encoding_shows_what_it_can(terminal: Terminal) -> None:
    done = outside(terminal, f"{GIVE} 'Größe 😀' --text", PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert (done.returncode, done.stdout.startswith(r"\u2713 ho_")) == (0, True)

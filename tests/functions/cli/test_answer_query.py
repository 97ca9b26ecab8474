"""What a script or a person at a prompt needs: ids alone, picks of an answer, the last id, and completion."""

from __future__ import annotations

import json
import os
import shlex
from pathlib import Path
from typing import Any

import pytest
from click.shell_completion import BashComplete

from baton_cli.command_context import CommandContext
from baton_cli.main import cli
from baton_cli.profile_store import save
from baton_client.profiles import Profile, config_path
from functions.cli.conftest import Terminal
from support.worlds.world import agent, human

ALICE, ARCHITECT = human(), agent("architect")
AGENTS = ["architect", "auditor", "auto-code", "ciso", "qa", "reviewer", "runner", "scout"]
GIVE = "handoff create --from architect --to reviewer --reason"


@pytest.fixture(autouse=True)
def reviewer(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    terminal.json("agents", "save", "reviewer", "--name", "Release Reviewer", "--approval", "manual")


def typed(terminal: Terminal, line: str, *more: str) -> str:
    code, out, err = terminal.runs(*shlex.split(line), *more)
    assert code == 0, err
    return out


def given(terminal: Terminal, title: str = "Sign", *more: str) -> str:
    """What the architect's command prints, which asks for an approval. Then alice sits there."""
    terminal.sit(ARCHITECT)
    said = typed(terminal, GIVE, title, *more)
    terminal.sit(ALICE)
    return said


def made(terminal: Terminal, title: str = "Sign") -> Any:
    return json.loads(given(terminal, title, "--json"))


def test_an_id_alone_is_printed_for_the_next_command(terminal: Terminal) -> None:
    handoff = given(terminal, "Sign", "-o", "name").strip()
    assert terminal.json("handoff", "show", handoff)["target"]["reason"] == "Sign"
    task = typed(terminal, "tasks list --state needs -o name")
    assert task.startswith("task_")
    assert typed(terminal, "agents list -o name").split() == AGENTS
    assert typed(terminal, f"tasks approve {task.strip()} -o name") == task


def test_what_has_no_id_prints_none_and_says_so(terminal: Terminal) -> None:
    code, out, err = terminal.runs("settings", "show", "-o", "name")
    assert (code, out) == (0, "")
    assert "the answer has no id" in err


@pytest.mark.parametrize(
    ("query", "picked"),
    [
        ("items[].slug", "\n".join([*AGENTS, ""])),
        ("items[?slug=='qa'].produces", '[["test_results"]]\n'),
        ("length(items)", "8\n"),
        ("nothing", "null\n"),
        ("items[5].name", "Release Reviewer\n"),
    ],
)
def test_an_expression_picks_of_an_answer(terminal: Terminal, query: str, picked: str) -> None:
    assert typed(terminal, "agents list --query", query) == picked


def test_a_text_that_is_picked_reaches_no_terminal_as_an_escape(terminal: Terminal) -> None:
    assert given(terminal, "Sign \x1b[31mit", "--query", "handoff.target.reason") == "Sign \\x1b[31mit\n"


def test_an_expression_that_is_none_sends_nothing(terminal: Terminal) -> None:
    before = len(terminal.api.served)
    code, _, err = terminal.runs(*shlex.split(GIVE), "Sign", "--query", "items[")
    assert (code, len(terminal.api.served)) == (2, before)
    assert "isn't JMESPath" in err
    assert "next: " in err


def test_last_is_what_was_made_or_shown_last_in_this_terminal(terminal: Terminal) -> None:
    task = made(terminal)["task"]
    assert terminal.json("tasks", "show", "@last")["id"] == task["id"]
    assert terminal.json("handoff", "show", "@last")["handoff_id"] == task["handoff_id"]
    assert terminal.json("handoff", "history", "@last")["workflow_id"] == task["workflow_id"]
    terminal.json("approvals", "approve", "@last")
    terminal.world.clock.advance(60)
    terminal.sit(agent("reviewer"))
    terminal.json("tasks", "claim", "@last", "--agent", "reviewer")
    ended = terminal.json("tasks", "complete", "@last", "--claim", "@last", "--output", '"signed"')
    assert (ended["id"], ended["state"]) == (task["id"], "done")


def test_the_last_ids_are_their_owners_alone(terminal: Terminal, tmp_path: Path) -> None:
    given(terminal)
    (file,) = (tmp_path / ".local/state/baton").iterdir()
    assert (file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    assert file.name == f"last-{os.getsid(0)}.json"


def test_another_terminal_has_another_last_one(terminal: Terminal) -> None:
    given(terminal)
    terminal.monkeypatch.setattr(os, "getsid", lambda _pid: 1)
    code, _, err = terminal.runs("tasks", "show", "@last")
    assert code == 2
    assert "there is no last task here" in err


def test_what_is_half_a_day_old_is_no_last_one(terminal: Terminal, tmp_path: Path) -> None:
    given(terminal)
    (file,) = (tmp_path / ".local/state/baton").iterdir()
    at = file.stat().st_mtime - 12 * 3_600 - 60
    os.utime(file, (at, at))
    assert terminal.runs("tasks", "show", "@last")[0] == 2


@pytest.mark.parametrize(
    "line",
    [
        "tasks show @last --query title",
        "tasks show @last -o name",
        "tasks show @last --json",  # without criteria, budget and rollback
        "tasks defer @last --until 2h",
    ],
)
def test_what_was_not_shown_is_not_said_to_be_seen(terminal: Terminal, line: str) -> None:
    task = made(terminal)["task"]
    typed(terminal, line)
    typed(terminal, "tasks approve @last")
    events = terminal.json("events", "list", task["id"])["events"]
    assert [each for each in events if "seen" in each["data"]] == []


@pytest.mark.parametrize("line", ["tasks approve @last", "approvals approve @last"])
def test_of_the_last_one_that_is_approved_which_was_shown(terminal: Terminal, line: str) -> None:
    task = made(terminal)["task"]
    typed(terminal, "tasks show @last -o text")
    typed(terminal, line)
    events = terminal.json("events", "list", task["id"])["events"]
    assert [each["data"]["seen"] for each in events if "seen" in each["data"]] == [task["digest"]]


def test_a_file_that_can_not_be_written_stops_no_command(terminal: Terminal) -> None:
    terminal.monkeypatch.setenv("XDG_RUNTIME_DIR", "/proc/nowhere")
    assert made(terminal)["task"]["state"] == "needs"


def completed(line: str) -> list[str]:
    """What a TAB at the end of the line offers."""
    *before, incomplete = line.split(" ")
    found = BashComplete(cli, {"obj": CommandContext()}, "baton", "_BATON_COMPLETE").get_completions(before, incomplete)
    return [each.value for each in found]


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("agents show re", ["reviewer"]),
        ("agents off ", AGENTS),
        ("tasks claim --agent au", ["auditor", "auto-code"]),
        ("handoff create --to ci", ["ciso"]),
        ("tasks list --state ne", ["needs", "next"]),
        ("tasks list --state needs,d", ["needs,delegated", "needs,done"]),
        ("--profile lo", ["local", "local.qa"]),
        ("tasks list --profile local.", ["local.qa"]),
        ("tasks approve @", ["@last"]),
    ],
)
def test_names_are_completed(terminal: Terminal, line: str, offered: list[str]) -> None:
    for name in ("local", "local.qa", "prod"):
        save(name, Profile("", terminal.api.url, "t"), config_path(), is_default=False)
    assert completed(line) == offered


def test_tasks_are_completed_by_what_can_be_done_with_them(terminal: Terminal) -> None:
    first, second = (made(terminal, each)["task"]["id"] for each in ("One", "Two"))
    terminal.json("tasks", "approve", first)
    assert completed("tasks approve task") == [second]
    assert completed("tasks undo task") == [first]
    assert set(completed("tasks show task")) == {first, second}
    assert len(completed("handoff show ho")) == 2


@pytest.mark.parametrize(("name", "value"), [("BATON_URL", "http://127.0.0.1:9"), ("BATON_TOKEN", "baton_no_no")])
def test_where_nothing_can_be_asked_nothing_is_completed(
    terminal: Terminal, capsys: pytest.CaptureFixture[str], name: str, value: str
) -> None:
    terminal.monkeypatch.setenv(name, value)
    assert completed("agents show re") == []
    said: Any = capsys.readouterr()
    assert (said.out, said.err) == ("", "")


def test_an_agents_last_request_for_work_is_said_and_one_that_baton_runs_is_not_gone(terminal: Terminal) -> None:
    terminal.json("agents", "save", "runner", "--name", "Runner", "--runtime", "run", "--system-prompt", "Do it.")
    given(terminal)
    terminal.sit(agent("reviewer"))
    terminal.json("tasks", "claim", "--agent", "reviewer")
    terminal.sit(ALICE)
    drawn = {line.split()[0]: line for line in terminal.screen("agents", "list").splitlines()}
    assert "Baton runs it" in drawn["runner"]
    assert " now " in drawn["reviewer"]
    assert " never " in drawn["architect"]
    terminal.world.clock.advance(3_600)
    drawn = {line.split()[0]: line for line in terminal.screen("agents", "list").splitlines()}
    assert " 1h ago " in drawn["reviewer"]


@pytest.mark.parametrize("typed_as", ["@{file}", "-"])
def test_a_summary_is_read_of_a_file(terminal: Terminal, tmp_path: Path, typed_as: str) -> None:
    file = tmp_path / "summary"
    file.write_text("Sessions are JWT\n")
    with file.open() as read:
        terminal.monkeypatch.setattr("sys.stdin", read)
        posted = terminal.json("memory", "post", "--type", "finding", "--summary", typed_as.format(file=file))
    assert posted["summary"] == "Sessions are JWT"

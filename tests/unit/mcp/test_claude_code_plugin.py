"""The plugin's hooks as Claude Code runs them: a moment on standard input, a status, and a word for the model."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from baton_mcp.claims_file import ClaimsFile, of_this_session
from infra.citations import ROOT
from support.homeless import without_home

PLUGIN = ROOT / "packages/claude-code-plugin"
COMMAND = """#!{python}
import json, pathlib, sys
home = pathlib.Path(__file__).parent
sent = "" if "checkpoint" not in sys.argv else sys.stdin.read()
with (home / "asked").open("a") as log:
    log.write(json.dumps([sys.argv[1:], sent]) + "\\n")
print(json.loads((home / "answers.json").read_text()).get(" ".join(sys.argv[4:6]), "no JSON"))
"""
HELD = {"id": "task_held", "title": "Old", "source_agent": "scout", "state": "claimed", "claim": {"fence": 7}}
WAITING = {"id": "task_next", "title": 'Say "yes"\nnow', "source_agent": "scout", "state": "delegated", "claim": None}
UNAPPROVED = {**WAITING, "id": "task_unapproved", "state": "needs"}


@dataclass
class Session:
    """``kept``: what the server of the session keeps. This process stands for Claude Code."""

    home: Path
    kept: ClaimsFile

    def answers(self, **answers: Any) -> None:
        said = {name.replace("_", " "): json.dumps(answer) for name, answer in answers.items()}
        (self.home / "answers.json").write_text(json.dumps(said))

    def asked(self) -> list[Any]:
        log = self.home / "asked"
        return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []

    def hook(self, moment: str, environ: dict[str, str] | None = None, **event: Any) -> tuple[int, str]:
        done = subprocess.run(
            [sys.executable, PLUGIN / "hooks/hook.py", moment],
            input=json.dumps(event),
            capture_output=True,
            text=True,
            cwd=self.home,
            env={"PATH": f"{self.home}:{os.environ['PATH']}", "HOME": str(self.home), **(environ or {})},
            check=False,
        )
        return done.returncode, done.stdout + done.stderr


@pytest.fixture
def session(tmp_path: Path) -> Session:
    command = tmp_path / "baton"
    command.write_text(COMMAND.format(python=sys.executable))
    command.chmod(0o755)
    (tmp_path / "answers.json").write_text("{}")
    folder = of_this_session({"XDG_STATE_HOME": str(tmp_path / ".local/state")}).path.parent
    return Session(tmp_path, ClaimsFile(folder / f"{os.getpid()}.json"))


def test_every_moment_that_claude_code_is_asked_for_is_one_of_the_program() -> None:
    named = re.findall(r"hook\.py\\\" (\w+)", (PLUGIN / "hooks/hooks.json").read_text())
    known = re.search(r"MOMENTS = .* in \((.*)\)\}", (PLUGIN / "hooks/hook.py").read_text())
    assert known is not None
    assert sorted(named) == sorted(known[1].split(", "))


def test_a_hook_asks_the_command_that_batons_command_is_called(session: Session) -> None:
    (session.home / "baton").rename(session.home / "baton-cli")
    session.answers(agents_held={"items": [HELD]}, agents_pending={"items": []})
    assert "task_held" in session.hook("begin", {"BATON_COMMAND": "baton-cli"})[1]


def test_a_session_begins_with_what_it_holds_and_what_waits(session: Session) -> None:
    session.kept.write({"clm_1": "task_mine"}, {})
    session.answers(
        agents_held={"items": [HELD, {**HELD, "id": "task_mine"}]}, agents_pending={"items": [WAITING, UNAPPROVED]}
    )
    status, said = session.hook("begin")
    told = json.loads(said)["hookSpecificOutput"]["additionalContext"]
    assert status == 0
    assert "You hold task_mine under claim_id clm_1" in told
    assert "task_id task_held and resume_fence 7" in told
    assert told.count("task_mine") == 1
    assert f"task_next {json.dumps(WAITING['title'])} of scout" in told
    assert "task_unapproved" not in told


def test_a_session_with_nothing_is_told_nothing(session: Session) -> None:
    session.answers(agents_held={"items": []}, agents_pending={"items": []})
    assert session.hook("begin") == (0, "")
    (session.home / "baton").unlink()
    assert session.hook("begin") == (0, "")


def test_work_on_a_lost_claim_is_stopped_until_the_model_has_asked(session: Session) -> None:
    session.kept.write({"clm_2": "task_2"}, {"clm_1": "task_1"})
    status, said = session.hook("act")
    assert status == 2
    assert "heartbeat with task_id task_1 and claim_id clm_1" in said
    session.kept.write({"clm_2": "task_2"}, {})
    assert session.hook("act") == (0, "")


def test_claims_of_another_session_or_of_a_server_that_died_count_for_nothing(session: Session) -> None:
    elsewhere = ClaimsFile(session.kept.path.with_name("1.json"))
    elsewhere.write({}, {"clm_1": "task_1"})
    assert session.hook("act") == (0, "")
    session.kept.write({}, {"clm_1": "task_1"})
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    session.kept.path.write_text(session.kept.path.read_text().replace(str(os.getpid()), str(ended.pid)))
    assert session.hook("act") == (0, "")


def test_no_criterion_is_met_without_evidence(session: Session) -> None:
    reports = [
        {"criterion": "tests pass", "met": True, "evidence": "make test: 3 passed"},
        {"criterion": "it is documented", "met": True, "evidence": " "},
        {"criterion": "it is fast", "met": False},
    ]
    status, said = session.hook("complete", tool_input={"criteria": reports})
    assert status == 2
    assert 'evidence for: "it is documented". next:' in said
    assert session.hook("complete", tool_input={"criteria": [reports[0], reports[2]]}) == (0, "")
    assert session.hook("complete", tool_input={"task_id": "task_1"}) == (0, "")


def test_a_compaction_saves_what_the_last_checkpoint_has_and_the_models_last_words(session: Session) -> None:
    transcript = session.home / "transcript.jsonl"
    said = [{"type": "text", "text": "x" * 5_000 + "half is done"}, {"type": "tool_use"}]
    lines = [{"type": "assistant", "message": {"content": said}}, {"type": "user", "message": {"content": "go on"}}]
    transcript.write_text("\n".join(map(json.dumps, lines)) + "\nno JSON")
    session.kept.write({"clm_1": "task_1", "clm_2": "task_2"}, {"clm_3": "task_3"})
    session.answers(tasks_checkpoints={"items": [{"step_name": "s", "state": {"done": 3}}, {"state": {"done": 2}}]})
    assert session.hook("compact", transcript_path=str(transcript)) == (0, "")
    saved = [(asked[5:7], json.loads(sent)) for asked, sent in session.asked() if sent]
    assert [what[0] for what, _ in saved] == ["task_1", "task_2"]
    assert all(state["done"] == 3 for _, state in saved)
    assert saved[0][1]["claude_code"]["said_last"].endswith("half is done")
    assert len(saved[0][1]["claude_code"]["said_last"]) == 4_000


@pytest.mark.parametrize(
    ("said", "saved"), [("step 7\u2028is done", "step 7\u2028is done"), ("cut \ud83d\0", "cut ??")]
)
def test_a_compaction_saves_the_last_words_whatever_characters_they_have(
    session: Session, said: str, saved: str
) -> None:
    transcript = session.home / "transcript.jsonl"
    lines = [{"type": "assistant", "message": {"content": [{"type": "text", "text": text}]}} for text in ("old", said)]
    written = [json.dumps(line, ensure_ascii=not said.isprintable() and "\u2028" not in said) for line in lines]
    transcript.write_text("\n".join(written), encoding="utf-8")
    session.kept.write({"clm_1": "task_1"}, {})
    session.answers(tasks_checkpoints={"items": []})
    assert session.hook("compact", transcript_path=str(transcript)) == (0, "")
    ((_, state),) = [(asked, json.loads(sent)) for asked, sent in session.asked() if sent]
    assert state["claude_code"]["said_last"] == saved


def test_a_compaction_changes_no_number_of_the_last_checkpoint(session: Session) -> None:
    session.kept.write({"clm_1": "task_1"}, {})
    session.answers(tasks_checkpoints={"items": [{"state": {"paid": "ODD"}}]})
    answers = session.home / "answers.json"
    answers.write_text(answers.read_text().replace(r"\"ODD\"", "[12345678901234567.10, 1E2, 3]"))
    assert session.hook("compact") == (0, "")
    assert ['"paid": [12345678901234567.10, 1E2, 3]' in sent for _, sent in session.asked() if sent] == [True]


def test_a_compaction_hides_no_checkpoint_that_it_could_not_read(session: Session) -> None:
    session.kept.write({"clm_1": "task_1"}, {})
    assert session.hook("compact") == (0, "")
    assert [sent for _, sent in session.asked() if sent] == []


def test_a_turn_that_ends_with_work_in_hand_is_stopped_once(session: Session) -> None:
    session.kept.write({"clm_1": "task_1"}, {"clm_2": "task_2"})
    status, said = session.hook("stop", stop_hook_active=False)
    assert status == 2
    assert "You still hold task_1. next:" in said
    assert session.hook("stop", stop_hook_active=True) == (0, "")


def test_a_server_goes_on_where_its_file_cannot_be_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "baton").write_text("a file where a folder should be")
    kept = of_this_session({"XDG_STATE_HOME": str(tmp_path)})
    kept.write({"clm_1": "task_1"}, {})
    kept.remove()
    assert "hooks aren't told of claims" in capsys.readouterr().err


def test_a_user_without_a_home_folder_has_no_file_of_claims(
    session: Session, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    without_home(monkeypatch)
    kept = of_this_session({})
    kept.write({"clm_1": "task_1"}, {})
    kept.remove()
    assert "hooks aren't told of claims" in capsys.readouterr().err

"""What is wrong with a command line of `baton worker` is said before anything is claimed."""

from __future__ import annotations

from pathlib import Path

import pytest

from baton_cli.main import run
from support.scripted_api import Answer, ScriptedApi

PROGRAM = ["--", "true"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (PROGRAM, "no agent"),
        (["--agent", "qa"], "no program"),
        (["--agent", "qa", "--", "no-such-program-here"], "can't be run"),
        (["--agent", "qa", "--lease", "14s", *PROGRAM], "a lease of 14 s"),
        (["--agent", "qa", "--lease", "13h", *PROGRAM], "a lease of 46800 s"),
        (["--agent", "qa", "--concurrency", "0", *PROGRAM], "a concurrency of 0"),
        (["--agent", "qa", "--memories", "6", *PROGRAM], "6 memories"),
        (["--agent", "qa", "--time-limit", "soon", *PROGRAM], "soon is no length of time"),
        (["--routes", "none.toml"], "can't be read"),
        (["--routes", "none.toml", *PROGRAM], "--routes goes without"),
        (["--routes", "none.toml", "--task", "task_1"], "--routes goes without"),
    ],
)
def test_wrong_command_line(
    scripted: ScriptedApi, arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["worker", *arguments]) == 2
    assert said in capsys.readouterr().err
    assert scripted.asked == []


def test_profile_names_the_agent_and_routes_name_profiles(
    scripted: ScriptedApi, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / ".config/baton/config.toml"
    file.parent.mkdir(parents=True)
    file.write_text(f'[profiles.qa]\nurl = "{scripted.url}"\ntoken = "baton_qa_secret"\n')
    file.chmod(0o600)
    routes = tmp_path / "agents.toml"
    routes.write_text('[agents.qa]\ncommand = ["true"]\nprofile = "qa"\n')
    scripted.will(Answer(404, {"code": "not_found", "title": "Not found"}))
    assert run(["worker", "--routes", str(routes)]) == 3
    monkeypatch.setenv("BATON_AGENT", "scout")
    scripted.will(Answer(403, {"code": "token_refused", "title": "Refused"}))
    assert run(["worker", *PROGRAM]) == 4
    assert [each.path.split("?")[0] for each in scripted.asked] == [
        "/agents/qa/claims",
        "/agents/scout/claims",
    ]
    assert [each.headers["authorization"] for each in scripted.asked] == [
        "Bearer baton_qa_secret",
        "Bearer baton_tok_secret",
    ]


def test_claim_asks_for_what_was_said(scripted: ScriptedApi) -> None:
    refused = Answer(409, {"code": "not_claimable", "title": "Refused"})
    scripted.will(refused, refused)
    said = ["--agent", "qa", "--name", "w", "--lease", "2m"]
    assert run(["worker", *said, "--memories", "3", *PROGRAM]) == 1
    assert run(["worker", *said, "--task", "task_1", *PROGRAM]) == 1
    assert [each.body for each in scripted.asked] == [
        {"worker": "w", "lease_seconds": 120, "auto_memories": 3},
        {"worker": "w", "lease_seconds": 120, "agent": "qa"},
    ]


@pytest.mark.parametrize("said", [["--agent", "агент"], ["--agent", "qa", "--task", "задача 1"]])
def test_names_that_no_path_may_have_are_quoted(scripted: ScriptedApi, said: list[str]) -> None:
    scripted.will(Answer(404, {"code": "not_found", "title": "Not found"}))
    assert run(["worker", *said, *PROGRAM]) == 3
    assert len(scripted.asked) == 1
    assert "%D0%B0" in scripted.asked[0].path


@pytest.mark.parametrize(
    "refusal", [Answer(503, {"message": "Service Unavailable"}), Answer(429), Answer(429, {"code": "too_many_polls"})]
)
def test_a_refused_poll_looks_once_without_waiting(scripted: ScriptedApi, refusal: Answer) -> None:
    scripted.will(Answer(204), refusal, Answer(403, {"code": "token_refused"}))
    assert run(["worker", "--agent", "qa", *PROGRAM]) != 0
    paths = [each.path.partition("?")[0] for each in scripted.asked]
    assert paths == ["/agents/qa/claims", "/agents/qa/claims/wait", "/agents/qa/claims"]
    assert scripted.asked[2].body == scripted.asked[1].body


def test_a_poll_whose_outcome_is_not_clear_is_made_again(scripted: ScriptedApi) -> None:
    busy = Answer(503, {"code": "busy"})
    scripted.will(Answer(204), busy, Answer(403, {"code": "token_refused"}))
    assert run(["worker", "--agent", "qa", *PROGRAM]) != 0
    assert [each.path.partition("?")[0] for each in scripted.asked[1:]] == ["/agents/qa/claims/wait"] * 2
    assert len(set(scripted.keys[1:])) == 1

"""The file of `baton worker --routes`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from baton_cli.worker.agent_work import AgentWork
from baton_cli.worker.routes_file import checked, seconds, works_of
from baton_client.errors import Misused
from baton_client.profiles import Profile

USUAL = AgentWork(agent="", command=(), profile=Profile("", "http://a", "t"), worker="w")


def works(folder: Path, text: str) -> list[AgentWork]:
    (folder / "agents.toml").write_text(text)
    return works_of(folder / "agents.toml", USUAL, lambda name: Profile(name, "http://b", "u"))


def test_each_agent_has_its_program_and_what_is_said_of_it(tmp_path: Path) -> None:
    qa, scout = works(
        tmp_path,
        '[agents.qa]\ncommand = ["true"]\n[agents.scout]\ncommand = ["true", "-x"]\nconcurrency = 3\nlease = "2m"\n'
        'time_limit = "30m"\ngrace = 5\ntext = true\nlend_token = true\nprofile = "other"\ndirectory = "."\n',
    )
    assert (qa.agent, qa.command, qa.concurrency, qa.directory) == ("qa", ("true",), 1, tmp_path)
    assert (scout.concurrency, scout.lease_seconds, scout.time_limit_seconds, scout.grace_seconds) == (3, 120, 1800, 5)
    assert (scout.is_text, scout.lends_token, scout.profile.token) == (True, True, "u")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        "[agents]",
        "other = 1\n[agents.qa]\ncommand = ['true']",
        "[agents.QA]\ncommand = ['true']",
        "[agents.qa]\ncommand = []",
        "[agents.qa]\ncommand = [1]",
        "[agents.qa]\ncommand = 'true'",
        "[agents.qa]\ncommand = ['no-such-program-here']",
        "[agents.qa]\ncommand = ['./nowhere']",
        "[agents.qa]\ncommand = ['true']\nlease = 5",
        "[agents.qa]\ncommand = ['true']\nconcurrency = 0",
        "[agents.qa]\ncommand = ['true']\nconcurrency = true",
        "[agents.qa]\ncommand = ['true']\ntimelimit = 5",
        "[agents.qa]\ncommand = ['true']\ntime_limit = '5 minutes'",
    ],
)
def test_file_that_is_wrong_is_refused_before_anything_is_claimed(tmp_path: Path, text: str) -> None:
    with pytest.raises(Misused):
        works(tmp_path, text)


def test_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Misused):
        works_of(tmp_path / "none.toml", USUAL, lambda _: USUAL.profile)


@pytest.mark.parametrize("program", ["./run.sh", "./sub/run.sh", "sub/run.sh"])
def test_a_program_by_a_relative_path_is_found_where_the_worker_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str
) -> None:
    (tmp_path / "sub").mkdir()
    for place in (tmp_path / "run.sh", tmp_path / "sub" / "run.sh"):
        place.write_text("#!/bin/sh\n")
        place.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    work = replace(USUAL, command=(program,))
    assert checked(work) is work
    with pytest.raises(Misused, match="can't be run"):
        checked(replace(work, command=("./other.sh",)))


def test_lengths() -> None:
    assert [seconds(each) for each in (90, "90", "90s", "30m", "2h", "1d")] == [90, 90, 90, 1_800, 7_200, 86_400]

"""The runner that follows a script, the scripts it refuses, and the environment that names them."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from typing import Any

import pytest

from baton.adapters.scripted_runner import ScriptedRunner, ScriptError, parse_script
from baton.config import ConfigError, read
from baton.domain.principal import PROCESS_TASK, system
from baton.ports import Dossier
from baton.run_ports import Done, NotDone, Work
from support.clock import FakeClock
from support.tasks import an_agent, claimed

SCRIPT = """
agents:
  auditor:
    - fail: {type: timeout, description: "no answer in time"}
      retryable: true
    - output: {verdict: "no finding"}
      takes_seconds: 2
  "*":
    - output: anything
"""


def work(slug: str = "auditor", attempt: int = 1) -> Work:
    return Work(
        dossier=Dossier(task=claimed().task.changed(attempt=attempt)),
        agent=an_agent(slug),
        by=system("demo", PROCESS_TASK),
        claim_id="clm_1",
        time_left=lambda: 600.0,
    )


def test_attempts_get_the_answers_in_turn_and_the_last_one_ever_after() -> None:
    runner = ScriptedRunner(parse_script(SCRIPT))
    first = runner.run(work(attempt=1))
    assert first == NotDone({"type": "timeout", "description": "no answer in time", "scripted": True}, retryable=True)
    for attempt in (2, 3, 99):
        assert runner.run(work(attempt=attempt)) == Done(
            {"scripted": True, "agent": "auditor", "answer": {"verdict": "no finding"}}
        )


def test_other_agents_get_the_answers_for_everyone() -> None:
    answer = ScriptedRunner(parse_script(SCRIPT)).run(work("scout"))
    assert answer == Done({"scripted": True, "agent": "scout", "answer": "anything"})


@pytest.mark.parametrize("text", ["", "agents: {}", "agents: {auditor: []}", "agents: {auditor: }"])
def test_without_an_answer_it_says_that_none_is_scripted(text: str) -> None:
    answer = ScriptedRunner(parse_script(text)).run(work())
    assert isinstance(answer, Done)
    assert answer.output["scripted"] is True
    assert "No answer is scripted" in answer.output["answer"]


def test_it_takes_the_time_that_the_script_says() -> None:
    clock = FakeClock()
    runner = ScriptedRunner(parse_script(SCRIPT), clock)
    runner.run(work(attempt=1))
    assert clock.slept == []
    runner.run(work(attempt=2))
    assert clock.slept == [2]


@pytest.mark.parametrize("takes", [0, 600, 0.5])
def test_it_may_take_up_to_ten_minutes(takes: float) -> None:
    assert parse_script(f"agents: {{a: [{{output: x, takes_seconds: {takes}}}]}}")["a"][0]["takes_seconds"] == takes


@pytest.mark.parametrize(
    "text",
    [
        "agents: [",
        "- a list",
        "[]",
        "just words",
        "agents: [a, b]",
        "agents: 5",
        "agents: {a: 5}",
        "agents: {a: words}",
        "agents: {a: {output: x}}",
        "agents: {a: [words]}",
        "agents: {a: [{}]}",
        "agents: {a: [{output: x, fail: {type: t, description: d}}]}",
        "agents: {a: [{output: x, colour: red}]}",
        "agents: {a: [{fail: words}]}",
        "agents: {a: [{fail: }]}",
        "agents: {a: [{fail: {type: t}}]}",
        "agents: {a: [{fail: {type: t, description: d, more: m}}]}",
        "agents: {a: [{output: x, takes_seconds: -1}]}",
        "agents: {a: [{output: x, takes_seconds: 600.1}]}",
        "agents: {a: [{output: x, takes_seconds: .nan}]}",
        "agents: {a: [{output: x, takes_seconds: soon}]}",
        "agents: {a: [{output: x, takes_seconds: }]}",
        "agents: {a: [{output: !!python/object:os.system x}]}",
    ],
)
def test_a_script_that_makes_no_sense_is_refused_at_the_start(text: str) -> None:
    with pytest.raises(ScriptError):
        parse_script(text)


def test_the_refusal_says_where() -> None:
    with pytest.raises(ScriptError, match=r"agents\.flaky"):
        parse_script("agents: {fine: [{output: x}], flaky: [{output: x, fail: {}}]}")


# The environment


def test_the_environment_is_read_with_defaults_and_frozen() -> None:
    config = read({"BATON_TABLE": "t", "BATON_PUBLIC_URL": "https://baton.example//"})
    assert (config.table, config.public_url, config.lease_seconds, config.log_level) == (
        "t",
        "https://baton.example",
        150,
        "INFO",
    )
    assert (config.queue_url, config.dead_letters_url, config.script) == ("", "", "")
    assert (config.tracker_queue_url, config.tracker_dead_letters_url) == ("", "")
    assert (config.secrets_prefix, config.notion_url) == ("baton", "https://api.notion.com")
    with pytest.raises(FrozenInstanceError):
        config.table = "another"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("environ", "name"),
    [
        ({}, "BATON_TABLE"),
        ({"BATON_TABLE": ""}, "BATON_TABLE"),
        *[
            ({"BATON_TABLE": "t", "BATON_LEASE_SECONDS": value}, "BATON_LEASE_SECONDS")
            for value in ("", "x", "-1", "1.5", "150s", " 150", "²")
        ],
    ],
)
def test_a_wrong_environment_is_refused_by_the_name_of_the_variable(environ: dict[str, str], name: str) -> None:
    with pytest.raises(ConfigError, match=name):
        read(environ)


@pytest.mark.parametrize(
    ("value", "fits"), [("14", False), ("15", True), ("43200", True), ("43201", False), ("0", False)]
)
def test_a_lease_is_within_the_bounds_of_leases(value: str, fits: bool) -> None:
    environ: dict[str, Any] = {"BATON_TABLE": "t", "BATON_LEASE_SECONDS": value}
    if fits:
        assert read(environ).lease_seconds == int(value)
    else:
        with pytest.raises(ConfigError, match="BATON_LEASE_SECONDS"):
            read(environ)


@pytest.mark.parametrize(
    ("value", "read_as"),
    [
        ("https://api.notion.com/", "https://api.notion.com"),
        ("https://proxy.example:8443/notion/", "https://proxy.example:8443/notion"),
        ("http://127.0.0.1:4567/", "http://127.0.0.1:4567"),
        ("http://localhost:4567", "http://localhost:4567"),
        ("http://[::1]:4567", "http://[::1]:4567"),
        ("", "https://api.notion.com"),
    ],
)
def test_notion_is_asked_at_an_address_without_a_slash_at_its_end(value: str, read_as: str) -> None:
    assert read({"BATON_TABLE": "t", "BATON_NOTION_URL": value}).notion_url == read_as


@pytest.mark.parametrize(
    "value",
    [
        "http://api.notion.com",
        "http://127.0.0.1.example",
        "http://localhost.example:4567",
        "http://localhost@example.com",
        "http://127.0.0.2:4567",
        "ftp://127.0.0.1",
        "file:///etc/passwd",
        "https://",
        "https:///v1",
        "api.notion.com",
        "127.0.0.1:4567",
        "https://user:password@api.notion.com",
        "https://api.notion.com?token=x",
        "https://api.notion.com#x",
        "https://[::1",
        "http://127.0.0.1:port",
        "http://127.0.0.1:70000",
    ],
)
def test_a_token_is_never_sent_in_the_clear_or_to_an_odd_address(value: str) -> None:
    with pytest.raises(ConfigError, match="BATON_NOTION_URL"):
        read({"BATON_TABLE": "t", "BATON_NOTION_URL": value})

"""The model that follows a script, the scripts it refuses, and the environment that names them."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from importlib.resources import files
from typing import Any

import pytest

from baton.adapters.models.script import Script, ScriptError, parse_script
from baton.adapters.models.scripted import ScriptedModel
from baton.config import ConfigError, read
from baton.domain.errors import ModelAway, ModelRefuses
from baton.domain.runs.transcript import Usage
from baton.ports.runs import ModelReply, ModelRequest, StopReason
from support.clock import FakeClock
from support.values.requests import a_request, assistant, call, result, thought, user

SCRIPT = """
agents:
  auditor:
    - fail: {type: timeout, description: "no answer in time"}
      retryable: true
    - output: {verdict: "no finding"}
      takes_seconds: 2
  sales:
    - turns:
        - thinking: "Not mine: {message}"
          text: "I hand it over."
          tools:
            - {name: handoff_to_translator, arguments: {text: "{message}!", more: [{a: "{message}"}], n: 1}}
            - {name: note}
          takes_seconds: 3
        - text: "You said: {message}"
          stop_reason: max_tokens
  "*":
    - output: anything
"""


def request(agent: str = "auditor", attempt: int = 1, **more: Any) -> ModelRequest:
    return a_request(user("Look at it."), agent=agent, attempt=attempt, **more)


def scripted(text: str, clock: FakeClock | None = None) -> ScriptedModel:
    return ScriptedModel(parse_script(text), clock)


def test_attempts_get_the_answers_in_turn_and_the_last_one_ever_after() -> None:
    model = scripted(SCRIPT)
    with pytest.raises(ModelRefuses, match="no answer in time") as refused:
        model.converse(request(attempt=1))
    assert (refused.value.type, refused.value.retryable) == ("timeout", True)
    assert refused.value.fields == {"scripted": True}
    for attempt in (2, 3, 99):
        assert model.converse(request(attempt=attempt)) == ModelReply(
            blocks=({"text": '{"verdict":"no finding"}'},),
            stop_reason=StopReason.END_TURN,
            usage=Usage(0, 5, 2),
            output={"scripted": True, "agent": "auditor", "answer": {"verdict": "no finding"}},
            scripted=True,
        )


def test_other_agents_get_the_answers_for_everyone() -> None:
    reply = scripted(SCRIPT).converse(request("scout"))
    assert (reply.blocks, reply.scripted) == (({"text": "anything"},), True)
    assert reply.output == {"scripted": True, "agent": "scout", "answer": "anything"}


@pytest.mark.parametrize("text", ["", "agents: {}", "agents: {auditor: []}", "agents: {auditor: }"])
def test_without_an_answer_it_says_that_none_is_scripted(text: str) -> None:
    reply = scripted(text).converse(request())
    assert reply.scripted
    assert "No answer is scripted" in reply.output["answer"]


def test_turns_are_the_replies_of_a_task_and_the_last_is_given_again() -> None:
    model = scripted(SCRIPT)
    first = model.converse(request("sales"))
    handed = {"text": "Look at it.!", "more": [{"a": "Look at it."}], "n": 1}
    assert first.blocks == (
        thought("Not mine: Look at it."),
        {"text": "I hand it over."},
        {"toolUse": {"toolUseId": "call_1", "name": "handoff_to_translator", "input": handed}},
        {"toolUse": {"toolUseId": "call_2", "name": "note", "input": {}}},
    )
    assert (first.stop_reason, first.output, first.scripted) == (StopReason.TOOL_USE, None, True)
    for turn in (2, 3, 99):
        reply = model.converse(request("sales", turn=turn, attempt=5))
        assert (reply.blocks, reply.stop_reason) == (({"text": "You said: Look at it."},), StopReason.MAX_TOKENS)


def test_the_message_is_what_the_user_said_last() -> None:
    asked = a_request(
        user("First."),
        assistant("Hm.", call("call_1")),
        user(result("call_1", "done"), "Second."),
        assistant(call("call_2")),
        user(result("call_2", "{message}")),
        agent="a",
    )
    model = scripted('agents: {a: [{turns: [{text: "{message}"}]}]}')
    assert model.converse(asked).blocks == ({"text": "Second."},)
    odd = a_request(user("{message} {message}"), agent="a")
    assert model.converse(odd).blocks == ({"text": "{message} {message}"},)
    assert model.converse(a_request(user(result("x", "y")), agent="a")).blocks == ()
    handed_over = a_request(user("First."), assistant("[Called go with {}]"), user("[Result: Routed to A]"), agent="a")
    assert model.converse(handed_over).blocks == ({"text": "First."},)


def test_words_are_counted_as_tokens() -> None:
    model = scripted('agents: {a: [{turns: [{text: "one two", tools: [{name: t, arguments: {x: "three"}}]}]}]}')
    usage = model.converse(a_request(user("four words for it"), agent="a", system="be brief")).usage
    assert usage == Usage(model_calls=0, input_tokens=6, output_tokens=5)  # with the call's id and name


def test_it_takes_the_time_that_the_script_says() -> None:
    clock = FakeClock()
    model = scripted(SCRIPT, clock)
    with pytest.raises(ModelRefuses):
        model.converse(request(attempt=1))
    assert clock.slept == []
    model.converse(request(attempt=2))
    model.converse(request("sales"))
    model.converse(request("sales", turn=2))
    assert clock.slept == [2, 3]


@pytest.mark.parametrize(("seconds", "slept"), [(1.5, 1.5), (0, 0), (-1, 0)])
def test_it_takes_no_longer_than_it_may(seconds: float, slept: float) -> None:
    clock = FakeClock()
    with pytest.raises(ModelAway):
        scripted(SCRIPT, clock).converse(request(attempt=2, seconds=seconds))
    assert clock.slept == [slept]


@pytest.mark.parametrize("takes", [0, 600, 0.5])
def test_it_may_take_up_to_ten_minutes(takes: float) -> None:
    script = parse_script(f"agents: {{a: [{{output: x, takes_seconds: {takes}}}]}}")
    assert script.answer("a", 1).takes_seconds == takes


def test_the_shipped_script_plays_a_handoff_and_a_plan() -> None:
    script = parse_script((files("baton.adapters.models") / "answers.yaml").read_text(encoding="utf-8"))
    model = ScriptedModel(script)

    def said(agent: str, turn: int = 1) -> tuple[Any, ...]:
        reply = model.converse(a_request(user("Good morning"), agent=agent, turn=turn))
        assert reply.scripted
        return tuple(
            (block["toolUse"]["name"], block["toolUse"]["input"]) for block in reply.blocks if "toolUse" in block
        )

    assert said("sales") == (("handoff_to_translator", {"target_language": "French", "text": "Good morning"}),)
    assert said("planner") == (("ask_researcher", {"topic": "Good morning"}), ("ask_critic", {"topic": "Good morning"}))
    assert said("planner", 2) == said("translator") == said("researcher") == said("critic") == said("auditor") == ()
    assert isinstance(script, Script)
    assert {"*", "auditor"} < set(script.agents)


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
        "agents: {a: [{output: 2026-11-18}]}",
        "agents: {a: [{output: x, retryable: 5}]}",
        "agents: {a: [{fail: {type: t, description: 5}}]}",
        "agents: {a: [{output: x, turns: [{text: x}]}]}",
        "agents: {a: [{turns: }]}",
        "agents: {a: [{turns: []}]}",
        "agents: {a: [{turns: words}]}",
        "agents: {a: [{turns: [words]}]}",
        "agents: {a: [{turns: [{when: x}]}]}",
        "agents: {a: [{turns: [{text: 5}]}]}",
        "agents: {a: [{turns: [{thinking: [a]}]}]}",
        "agents: {a: [{turns: [{tools: words}]}]}",
        "agents: {a: [{turns: [{tools: [words]}]}]}",
        "agents: {a: [{turns: [{tools: [{arguments: {}}]}]}]}",
        "agents: {a: [{turns: [{tools: [{name: 5}]}]}]}",
        "agents: {a: [{turns: [{tools: [{name: t, arguments: []}]}]}]}",
        "agents: {a: [{turns: [{tools: [{name: t, more: 1}]}]}]}",
        "agents: {a: [{turns: [{tools: [{name: t, arguments: {x: .inf}}]}]}]}",
        "agents: {a: [{turns: [{text: x, stop_reason: bored}]}]}",
        "agents: {a: [{turns: [{text: x, stop_reason: [a]}]}]}",
        "agents: {a: [{turns: [{text: x, takes_seconds: 601}]}]}",
    ],
)
def test_a_script_that_makes_no_sense_is_refused_at_the_start(text: str) -> None:
    with pytest.raises(ScriptError):
        parse_script(text)


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("agents: {fine: [{output: x}], flaky: [{output: x, fail: {}}]}", r"agents\.flaky\.1"),
        (
            "agents: {a: [{output: x}, {turns: [{text: x}, {tools: [{name: t}, {}]}]}]}",
            r"agents\.a\.2\.turns\.2\.tools\.2",
        ),
        ("agents: {a: [{turns: [{text: x, stop_reason: y}]}]}", r"agents\.a\.1\.turns\.1\.stop_reason: .*end_turn"),
    ],
)
def test_the_refusal_says_where(text: str, where: str) -> None:
    with pytest.raises(ScriptError, match=where):
        parse_script(text)


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
        config.table = "another"  # type: ignore[misc] # what it refuses


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

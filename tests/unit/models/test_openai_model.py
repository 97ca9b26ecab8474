"""The adapter for servers of OpenAI's chat completions, against one that refuses what theirs refuse."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from baton.adapters.models import http_request
from baton.adapters.models.http_request import MAX_ANSWER_BYTES
from baton.adapters.models.openai_compatible import OpenAICompatibleModel, base_of
from baton.domain.errors import ModelAway, ModelRefuses, ModelThrottled
from baton.domain.runs.transcript import Usage
from baton.ports.runs import ModelReply, StopReason
from support.clock import FakeClock
from support.fakes.fake_openai import KEY, FakeOpenAI, completion, refusal, tool_call
from support.fakes.loopback import Canned, timed
from support.values.requests import ASK, TRANSLATE, a_request, assistant, call, result, thought, user


@pytest.fixture
def server() -> Iterator[FakeOpenAI]:
    with FakeOpenAI().serving() as fake:
        assert isinstance(fake, FakeOpenAI)
        yield fake


@pytest.fixture
def model(server: FakeOpenAI) -> OpenAICompatibleModel:
    return OpenAICompatibleModel(server.url, lambda: KEY, FakeClock())


def sent(server: FakeOpenAI) -> Any:
    return server.received[-1].body


# What is asked


def test_a_first_message_is_asked_as_it_is(server: FakeOpenAI, model: OpenAICompatibleModel) -> None:
    server.then(completion(content="Bonjour."))
    assert model.converse(a_request(user("Say hello.", "In French."))) == ModelReply(
        blocks=({"text": "Bonjour."},), stop_reason=StopReason.END_TURN, usage=Usage(0, 11, 7)
    )
    assert sent(server) == {
        "model": "some-model",
        "messages": [
            {"role": "system", "content": "You translate."},
            {"role": "user", "content": "Say hello.\n\nIn French."},
        ],
        "max_tokens": 500,
    }


def test_a_conversation_keeps_its_order_with_results_right_after_their_calls(
    server: FakeOpenAI, model: OpenAICompatibleModel
) -> None:
    server.then(completion(content="So be it."))
    conversation = [
        user("Plan it."),
        assistant(thought("two calls"), "I ask.", call("call_1", n=1), call("call_2", "ask_researcher", text="é")),
        user(result("call_2", {"b": 1, "a": [2]}), result("call_1", "no such agent", "error"), "Go on."),
        assistant("Nearly."),
        user("And now?"),
    ]
    model.converse(a_request(*conversation, system=" ", tools=[TRANSLATE, ASK]))
    body = sent(server)
    assert body["messages"] == [
        {"role": "user", "content": "Plan it."},
        {
            "role": "assistant",
            "content": "I ask.",
            "tool_calls": [
                tool_call("handoff_to_translator", '{"n": 1}', "call_1"),
                tool_call("ask_researcher", '{"text": "é"}', "call_2"),
            ],
        },
        {"role": "tool", "tool_call_id": "call_1", "content": "Error: no such agent"},
        {"role": "tool", "tool_call_id": "call_2", "content": '{"a":[2],"b":1}'},
        {"role": "user", "content": "Go on."},
        {"role": "assistant", "content": "Nearly."},
        {"role": "user", "content": "And now?"},
    ]
    assert body["tools"][0] == {
        "type": "function",
        "function": {
            "name": "handoff_to_translator",
            "description": TRANSLATE["description"],
            "parameters": TRANSLATE["input_schema"],
        },
    }
    assert "two calls" not in json.dumps(body)


def test_a_malformed_call_goes_back_as_one_without_arguments(server: FakeOpenAI, model: OpenAICompatibleModel) -> None:
    server.then(completion(content="Sorry."))
    broken = {"toolUse": {"toolUseId": "call_1", "name": "ask_researcher", "input": {}, "malformed": "{oops"}}
    model.converse(a_request(user("x"), assistant(broken), user(result("call_1", "not JSON", "error")), tools=[ASK]))
    assert sent(server)["messages"][2] == {
        "role": "assistant",
        "content": None,
        "tool_calls": [tool_call("ask_researcher", "{}", "call_1")],
    }


def test_no_key_is_sent_where_there_is_none() -> None:
    with FakeOpenAI(key="").serving() as server:
        server.then(completion(content="Hi."))
        OpenAICompatibleModel(server.url, lambda: "", FakeClock()).converse(a_request())


@pytest.mark.parametrize(
    ("url", "base"),
    [
        ("http://127.0.0.1:11434", "http://127.0.0.1:11434/v1"),
        ("http://127.0.0.1:11434/", "http://127.0.0.1:11434/v1"),
        ("https://api.openai.com/v1/", "https://api.openai.com/v1"),
        ("https://proxy.example/llm/openai", "https://proxy.example/llm/openai"),
        ("https://api.openai.com/v1/chat/completions", "https://api.openai.com/v1"),
    ],
)
def test_an_address_without_a_path_gets_the_version(url: str, base: str) -> None:
    assert base_of(url) == base


def test_where_no_model_is_named_the_servers_first_is_used_from_then_on(
    server: FakeOpenAI, model: OpenAICompatibleModel
) -> None:
    listed = {"object": "list", "data": [{"id": "llama3:8b", "object": "model"}, {"id": "other", "object": "model"}]}
    server.then(Canned(body=listed), completion(content="1"), completion(content="2"))
    for _ in range(2):
        model.converse(a_request(model=""))
    assert [(each.method, each.body and each.body["model"]) for each in server.received] == [
        ("GET", None),
        ("POST", "llama3:8b"),
        ("POST", "llama3:8b"),
    ]


@pytest.mark.parametrize("listed", [{}, {"data": []}, {"data": [5, {"id": 5}, {"id": ""}, {"id": "a\nb"}]}, []])
def test_a_server_that_lists_no_model_is_told_of(server: FakeOpenAI, model: OpenAICompatibleModel, listed: Any) -> None:
    server.then(Canned(body=listed))
    with pytest.raises(ModelRefuses, match="BATON_MODEL=openai_compatible:<id>"):
        model.converse(a_request(model=""))


def test_a_server_whose_list_fails_is_away(server: FakeOpenAI, model: OpenAICompatibleModel) -> None:
    server.then(refusal(503))
    with pytest.raises(ModelAway):
        model.converse(a_request(model=""))


# The two names of the limit

UNSUPPORTED = "'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
BOTH_NAMED = (
    "'max_tokens' or 'max_completion_tokens' is too large: 4096. This model's maximum context length is 2048 tokens; "
    "use a smaller one instead."
)


def test_the_newer_name_of_the_limit_is_tried_once_and_remembered_per_model(
    server: FakeOpenAI, model: OpenAICompatibleModel
) -> None:
    server.then(
        refusal(400, UNSUPPORTED, param="max_tokens", code="unsupported_parameter"),
        *[completion(content=str(number)) for number in range(3)],
    )
    model.converse(a_request(model="newer"))
    model.converse(a_request(model="newer"))
    model.converse(a_request(model="older"))
    limits = [next(name for name in each.body if name.startswith("max_")) for each in server.received]
    assert limits == ["max_tokens", "max_completion_tokens", "max_completion_tokens", "max_tokens"]


def test_it_is_tried_only_once(server: FakeOpenAI, model: OpenAICompatibleModel) -> None:
    server.then(*[refusal(400, UNSUPPORTED, code="unsupported_parameter")] * 2)
    with pytest.raises(ModelRefuses, match="unsupported_parameter"):
        model.converse(a_request())
    assert len(server.received) == 2


# What is answered


@pytest.mark.parametrize(
    ("said", "means"),
    [
        ("stop", StopReason.END_TURN),
        ("tool_calls", StopReason.END_TURN),  # without any
        ("length", StopReason.MAX_TOKENS),
        ("content_filter", StopReason.CONTENT_FILTERED),
        ("because", StopReason.MALFORMED_MODEL_OUTPUT),
        (None, StopReason.MALFORMED_MODEL_OUTPUT),
        (["stop"], StopReason.MALFORMED_MODEL_OUTPUT),
    ],
)
def test_why_it_stopped(server: FakeOpenAI, model: OpenAICompatibleModel, said: Any, means: StopReason) -> None:
    server.then(completion(said, content="Words."))
    reply = model.converse(a_request())
    assert (reply.stop_reason, reply.blocks) == (means, ({"text": "Words."},))


@pytest.mark.parametrize("said", ["tool_calls", "stop", "function_call"])
def test_several_calls_at_once_keep_their_order(server: FakeOpenAI, model: OpenAICompatibleModel, said: str) -> None:
    calls = [tool_call("ask_researcher", '{"topic": "a"}'), tool_call("ask_critic", '{"topic": "b"}')]
    server.then(completion(said, content="Both.", reasoning_content="Hm.", tool_calls=calls))
    reply = model.converse(a_request(tools=[ASK]))
    assert reply.stop_reason == StopReason.TOOL_USE
    assert reply.blocks == (
        thought("Hm."),
        {"text": "Both."},
        call("call_1", "ask_researcher", topic="a"),
        call("call_2", "ask_critic", topic="b"),
    )


def test_a_call_that_was_cut_off_is_no_call_to_be_acted_on(server: FakeOpenAI, model: OpenAICompatibleModel) -> None:
    server.then(completion("length", tool_calls=[tool_call("ask_researcher", '{"topic": "a')]))
    reply = model.converse(a_request(tools=[ASK]))
    assert reply.stop_reason == StopReason.MAX_TOKENS
    assert reply.blocks[0]["toolUse"]["malformed"] == '{"topic": "a'


def test_the_one_call_of_older_servers_is_one(server: FakeOpenAI, model: OpenAICompatibleModel) -> None:
    server.then(completion("function_call", function_call={"name": "ask_critic", "arguments": "{}"}))
    reply = model.converse(a_request(tools=[ASK]))
    assert (reply.stop_reason, reply.blocks) == (StopReason.TOOL_USE, (call("call_1", "ask_critic"),))


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_what_it_thinks_is_kept_apart(server: FakeOpenAI, model: OpenAICompatibleModel, field: str) -> None:
    server.then(completion(content="So.", **{field: "First …"}))
    assert model.converse(a_request()).blocks == (thought("First …"), {"text": "So."})


def test_texts_may_come_in_parts(server: FakeOpenAI, model: OpenAICompatibleModel) -> None:
    server.then(completion(content=[{"type": "text", "text": "So "}, {"type": "text", "text": "be it."}, 5]))
    assert model.converse(a_request()).blocks == ({"text": "So be it."},)


def test_a_refusal_is_content_that_was_filtered(server: FakeOpenAI, model: OpenAICompatibleModel) -> None:
    server.then(completion(refusal="I won't."))
    reply = model.converse(a_request())
    assert (reply.stop_reason, reply.blocks) == (StopReason.CONTENT_FILTERED, ({"text": "I won't."},))


def deep(levels: int) -> str:
    return '{"a":' * (levels - 1) + "{}" + "}" * (levels - 1)


@pytest.mark.parametrize(
    "arguments",
    [
        "not JSON",
        '{"a": 1',
        "[1]",
        '"text"',
        "null",
        "5",
        '{"a": NaN}',
        '{"a": -Infinity}',
        '{"a": 1e999}',
        '{"a": "\\ud800"}',
        '{"\\udfff": 1}',
        deep(17),
        deep(100_000),
        '{"a": ' + "9" * 5_000 + "}",
        ["a"],
        5,
        False,
    ],
    ids=lambda value: repr(value)[:30],
)
def test_arguments_that_are_no_sound_object_are_quoted_and_not_used(
    server: FakeOpenAI, model: OpenAICompatibleModel, arguments: Any
) -> None:
    server.then(completion("tool_calls", tool_calls=[tool_call("ask_critic", arguments)]))
    (block,) = model.converse(a_request(tools=[ASK])).blocks
    use = block["toolUse"]
    said = arguments if isinstance(arguments, str) else json.dumps(arguments)
    assert (use["name"], use["input"], use["malformed"]) == ("ask_critic", {}, said[:200])


@pytest.mark.parametrize(
    ("arguments", "read"),
    [
        ("", {}),
        (None, {}),
        ("{}", {}),
        ({"a": 1}, {"a": 1}),
        ('{"a": "\\ud83d\\ude00"}', {"a": "😀"}),
        (deep(16), json.loads(deep(16))),
    ],
    ids=repr,
)
def test_arguments_may_be_left_out_or_be_an_object_already(
    server: FakeOpenAI, model: OpenAICompatibleModel, arguments: Any, read: Any
) -> None:
    server.then(completion("tool_calls", tool_calls=[tool_call("ask_critic", arguments)]))
    assert model.converse(a_request(tools=[ASK])).blocks[0]["toolUse"] == {
        "toolUseId": "call_1",
        "name": "ask_critic",
        "input": read,
    }


@pytest.mark.parametrize(
    ("name", "kept"), [("a b/ü", "a_b__"), ("", "unnamed"), (None, "unnamed"), (5, "unnamed"), ("x" * 99, "x" * 64)]
)
def test_a_name_that_no_provider_would_take_back_is_brought_into_their_alphabet(
    server: FakeOpenAI, model: OpenAICompatibleModel, name: Any, kept: str
) -> None:
    server.then(completion("tool_calls", tool_calls=[tool_call(name, "{}")]))
    assert model.converse(a_request(tools=[ASK])).blocks[0]["toolUse"]["name"] == kept


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>",
        b"\xff\xfe",
        b"null",
        b"[]",
        b"5",
        b"[" * 100_000,
        {"error": {"message": "out of credit"}},
        {"choices": []},
        {"choices": {}},
        {"choices": [5]},
        {"choices": [{"finish_reason": "stop"}]},
        {"choices": [{"message": "text", "finish_reason": "stop"}]},
        {"choices": [], "usage": {"prompt_tokens": True, "completion_tokens": -5}},
    ],
    ids=lambda body: repr(body)[:30],
)
def test_what_is_no_completion_is_malformed(server: FakeOpenAI, model: OpenAICompatibleModel, body: Any) -> None:
    server.then(Canned(body=body))
    reply = model.converse(a_request())
    assert (reply.blocks, reply.stop_reason) == ((), StopReason.MALFORMED_MODEL_OUTPUT)
    assert reply.usage.output_tokens >= 0


def test_odd_parts_of_a_message_are_left_out(server: FakeOpenAI, model: OpenAICompatibleModel) -> None:
    server.then(completion("stop", content=5, reasoning=[{}], refusal=False, tool_calls=[5, {"function": "x"}]))
    names = [block["toolUse"]["name"] for block in model.converse(a_request()).blocks]
    assert names == ["unnamed", "unnamed"]


def test_half_a_character_is_kept_out_of_texts(server: FakeOpenAI, model: OpenAICompatibleModel) -> None:
    server.then(completion(content="a\ud800b"))
    assert model.converse(a_request()).blocks == ({"text": "a\ufffdb"},)


def test_tokens_are_estimated_where_the_server_does_not_count_them(
    server: FakeOpenAI, model: OpenAICompatibleModel
) -> None:
    canned = completion(content="word " * 100)
    del canned.body["usage"]
    server.then(canned)
    usage = model.converse(a_request(user("word " * 200))).usage
    assert usage.model_calls == 0
    assert 250 <= usage.input_tokens <= 400
    assert 125 <= usage.output_tokens <= 300


# What is refused


@pytest.mark.parametrize(
    ("status", "message", "error"),
    [
        (400, "…", {"code": "context_length_exceeded"}),
        (400, "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000.", {}),
        (400, BOTH_NAMED, {"type": "BadRequestError", "code": 400}),
        (400, "request (4390 tokens) exceeds the available context size (4096 tokens)", {"code": 400}),
        (500, "Context size has been exceeded.", {"type": "server_error", "code": 500}),
        (400, "prompt is too long: 210000 tokens > 200000 maximum", {}),
        (400, "…", {"type": "exceed_context_size_error"}),
    ],
)
def test_a_history_that_is_too_long_is_said_to_be(
    server: FakeOpenAI, model: OpenAICompatibleModel, status: int, message: str, error: dict[str, Any]
) -> None:
    server.then(refusal(status, message, **error))
    assert model.converse(a_request()) == ModelReply(blocks=(), stop_reason=StopReason.CONTEXT_WINDOW_EXCEEDED)
    assert len(server.received) == 1


@pytest.mark.parametrize(
    ("told", "seconds"),
    [
        ("7", 7.0),
        ("0.5", 0.5),
        ("Wed, 18 Nov 2026 12:01:30 GMT", 90.0),
        ("Wed, 18 Nov 2026 11:00:00 GMT", 0.0),
        ("-3", 0.0),
        ("inf", 86_400.0),
        ("nan", None),
        ("soon", None),
        (None, None),
    ],
)
def test_a_provider_that_asks_to_be_left_alone_says_for_how_long(
    server: FakeOpenAI, model: OpenAICompatibleModel, told: str | None, seconds: float | None
) -> None:
    server.then(refusal(429, headers={"Retry-After": told} if told else {}, code="rate_limit_exceeded"))
    with pytest.raises(ModelThrottled) as away:
        model.converse(a_request())
    assert away.value.retry_after == seconds


def test_a_quota_that_is_used_up_is_no_throttle(server: FakeOpenAI, model: OpenAICompatibleModel) -> None:
    server.then(refusal(429, code="insufficient_quota"))
    with pytest.raises(ModelAway) as away:
        model.converse(a_request())
    assert not isinstance(away.value, ModelThrottled)


@pytest.mark.parametrize("status", [408, 500, 502, 503, 504, 529])
def test_a_server_that_fails_is_away(server: FakeOpenAI, model: OpenAICompatibleModel, status: int) -> None:
    server.then(Canned(status=status, body=b"<html>oh no", headers={"Retry-After": "3"}))
    with pytest.raises(ModelAway, match=str(status)) as away:
        model.converse(a_request())
    assert away.value.retry_after == 3


@pytest.mark.parametrize("status", [301, 307, 400, 401, 402, 403, 404, 413, 422])
def test_a_server_that_refuses_is_not_quoted(server: FakeOpenAI, model: OpenAICompatibleModel, status: int) -> None:
    said = f"Incorrect API key provided: {KEY}. You said: Bonjour?"
    server.then(refusal(status, said, headers={"Location": f"{server.url}/v1/models"}, code="some_code"))
    with pytest.raises(ModelRefuses) as refused:
        model.converse(a_request())
    assert f"({status}, some_code)" in refused.value.message
    assert not any(word in refused.value.message for word in (KEY, "Bonjour", "Incorrect"))
    assert not refused.value.retryable
    assert len(server.received) == 1


@pytest.mark.parametrize(
    "error",
    [
        {"code": KEY, "type": f"bad {KEY}"},
        {"code": 5, "type": None},
        {"code": "x" * 65, "type": "a\nb"},
        {"code": "", "type": "Bearer!"},
    ],
)
def test_a_code_that_is_no_short_word_is_left_out(
    server: FakeOpenAI, model: OpenAICompatibleModel, error: dict[str, Any]
) -> None:
    server.then(refusal(400, **error))
    with pytest.raises(ModelRefuses) as refused:
        model.converse(a_request())
    assert refused.value.message == "The model's provider refuses (400)."


@pytest.mark.parametrize("body", [{"error": "no"}, {"message": "no", "type": "no"}, {"detail": "Not Found"}, b"no", []])
def test_refusals_of_any_form_are_refusals(server: FakeOpenAI, model: OpenAICompatibleModel, body: Any) -> None:
    server.then(Canned(status=404, body=body))
    with pytest.raises(ModelRefuses, match="BATON_MODEL_URL"):
        model.converse(a_request())


def test_the_key_is_in_no_log_and_no_error(
    server: FakeOpenAI, model: OpenAICompatibleModel, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    server.then(refusal(401, code="invalid_api_key"))
    with pytest.raises(ModelRefuses, match="BATON_MODEL_KEY_SECRET") as refused:
        model.converse(a_request())
    assert KEY not in repr(model) + str(refused.getrepr(showlocals=False)) + caplog.text


@pytest.mark.parametrize("key", ["with space", "two\nlines", "ümlaut", "nul\0"])
def test_a_key_that_no_header_takes_is_refused_unseen(server: FakeOpenAI, key: str) -> None:
    with pytest.raises(ModelRefuses) as refused:
        OpenAICompatibleModel(server.url, lambda: key, FakeClock()).converse(a_request())
    assert key not in str(refused.value)
    assert server.received == []


# Time and size

QUICK = 0.25


@pytest.mark.parametrize(
    "canned",
    [
        Canned(pause=5),
        Canned(body=b"x" * 200, drip=0.05),
        Canned(body=b"{}", drip=0.05, drips_headers=True),
        Canned(body=b" " * 200, drip=0.2),
    ],
    ids=["silent", "dripping body", "dripping headers", "slow drips"],
)
def test_the_whole_takes_no_longer_than_it_may(
    server: FakeOpenAI, model: OpenAICompatibleModel, canned: Canned
) -> None:
    server.then(canned)
    answer, took = timed(model.converse, a_request(seconds=QUICK))
    assert isinstance(answer, ModelAway)
    assert "in time" in answer.message
    assert QUICK - 0.05 < took < QUICK + 0.75


def test_a_second_request_gets_only_the_time_that_is_left(server: FakeOpenAI, model: OpenAICompatibleModel) -> None:
    listed = {"data": [{"id": "a"}]}
    server.then(Canned(body=listed, pause=QUICK * 0.6), Canned(pause=5))
    answer, took = timed(model.converse, a_request(model="", seconds=QUICK))
    assert isinstance(answer, ModelAway)
    assert took < QUICK + 0.75


@pytest.mark.parametrize("seconds", [0, -1])
def test_without_time_nothing_is_asked(server: FakeOpenAI, model: OpenAICompatibleModel, seconds: float) -> None:
    with pytest.raises(ModelAway):
        model.converse(a_request(seconds=seconds))
    assert server.received == []


def test_an_answer_that_breaks_off_is_none(server: FakeOpenAI, model: OpenAICompatibleModel) -> None:
    server.then(Canned(body=b"x" * 100, breaks_after=50))
    with pytest.raises(ModelAway, match="broke off"):
        model.converse(a_request())


def test_a_server_that_is_not_there_is_away() -> None:
    with FakeOpenAI().serving() as gone:
        url = gone.url
    with pytest.raises(ModelAway, match="can't be reached"):
        OpenAICompatibleModel(url, lambda: KEY, FakeClock()).converse(a_request())


def test_nonsense_instead_of_http_is_an_outage(server: FakeOpenAI, model: OpenAICompatibleModel) -> None:
    server.then(Canned(headers={"Content-Length": "many"}))
    with pytest.raises(ModelAway):
        model.converse(a_request())


@pytest.mark.parametrize(("size", "fits"), [(MAX_ANSWER_BYTES, True), (MAX_ANSWER_BYTES + 1, False)])
def test_no_more_is_read_than_four_mebibytes(
    server: FakeOpenAI, model: OpenAICompatibleModel, size: int, fits: bool
) -> None:
    server.then(Canned(body=b" " * size))
    if fits:
        assert model.converse(a_request()).stop_reason == StopReason.MALFORMED_MODEL_OUTPUT
    else:
        with pytest.raises(ModelRefuses) as refused:
            model.converse(a_request())
        assert refused.value.type == "validation"


def test_a_proxy_of_the_environments_sees_nothing(
    server: FakeOpenAI, model: OpenAICompatibleModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    server.then(completion(content="Direct."))
    assert model.converse(a_request()).blocks == ({"text": "Direct."},)


# TLS


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """Of 127.0.0.1, signed by itself, with its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(IPv4Address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    path = tmp_path / "certificate.pem"
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    path.write_bytes(made.public_bytes(Encoding.PEM) + private)
    return path


@pytest.fixture
def fresh_certificates() -> Iterator[None]:
    http_request._certificates.cache_clear()
    yield
    http_request._certificates.cache_clear()


@pytest.mark.usefixtures("fresh_certificates")
def test_a_server_is_asked_over_tls(certificate: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with FakeOpenAI(certificate=certificate).serving() as server:
        server.then(completion(content="Safely."), Canned(body=b" " * 100, drip=0.05))
        model = OpenAICompatibleModel(server.url, lambda: KEY, FakeClock())
        assert model.converse(a_request()).blocks == ({"text": "Safely."},)
        answer, took = timed(model.converse, a_request(seconds=QUICK))
    assert isinstance(answer, ModelAway)
    assert took < QUICK + 0.75


@pytest.mark.usefixtures("fresh_certificates")
def test_a_server_that_nobody_vouches_for_gets_no_key(certificate: Path) -> None:
    with FakeOpenAI(certificate=certificate).serving() as server:
        with pytest.raises(ModelAway, match="can't be reached"):
            OpenAICompatibleModel(server.url, lambda: KEY, FakeClock()).converse(a_request())
        assert server.received == []

"""The adapter for Bedrock: boto3's own client, against Converse on loopback."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from functools import cache
from typing import Any

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ParamValidationError

from baton.adapters.models.bedrock import BedrockModel
from baton.domain.errors import ModelAway, ModelRefuses, ModelThrottled
from baton.domain.runs.transcript import Usage
from baton.ports.runs import ModelReply, StopReason
from support.clock import FakeClock
from support.fakes.fake_bedrock import FakeBedrock, answer, trouble
from support.fakes.loopback import Canned, timed
from support.values.requests import ASK, TRANSLATE, a_request, assistant, call, result, thought, user


@cache
def _session() -> boto3.session.Session:
    return boto3.session.Session(region_name="us-east-1", aws_access_key_id="testing", aws_secret_access_key="testing")


def client_of(url: str, seconds: float) -> Any:
    config = Config(
        connect_timeout=1,
        read_timeout=seconds,
        retries={"mode": "standard", "total_max_attempts": 1},
        parameter_validation=False,
        proxies={},
    )
    return _session().client("bedrock-runtime", endpoint_url=url, config=config)


@pytest.fixture
def bedrock() -> Iterator[FakeBedrock]:
    with FakeBedrock().serving() as fake:
        assert isinstance(fake, FakeBedrock)
        yield fake


@pytest.fixture
def model(bedrock: FakeBedrock) -> BedrockModel:
    return BedrockModel(lambda seconds: client_of(bedrock.url, seconds), FakeClock())


# What is asked


def test_a_first_message_is_asked_as_it_is(bedrock: FakeBedrock, model: BedrockModel) -> None:
    bedrock.then(answer({"text": "Bonjour."}))
    assert model.converse(a_request(user("Say hello."))) == ModelReply(
        blocks=({"text": "Bonjour."},), stop_reason=StopReason.END_TURN, usage=Usage(0, 11, 7)
    )
    assert bedrock.received[0].body == {
        "messages": [{"role": "user", "content": [{"text": "Say hello."}]}],
        "system": [{"text": "You translate."}],
        "inferenceConfig": {"maxTokens": 500},
        "requestMetadata": {"task_id": "task_01", "agent": "translator", "workspace": "acme"},
    }


def test_a_whole_conversation_is_taken(bedrock: FakeBedrock, model: BedrockModel) -> None:
    bedrock.then(answer({"text": "So be it."}))
    broken = {"toolUse": {"toolUseId": "call_3", "name": "ask_researcher", "input": {}, "malformed": "{oops"}}
    signed = {"reasoningContent": {"reasoningText": {"text": "two calls", "signature": "c2ln"}}}
    sealed = {"reasoningContent": {"redactedContent": base64.b64encode(b"\x00\xff").decode()}}
    conversation = [
        user("Plan it."),
        assistant(signed, sealed, "I ask.", call("call_1", n=1.5), call("call_2", "ask_researcher"), broken),
        user(result("call_1", {"a": [1]}), result("call_2", ["a"], "error"), result("call_3", ""), "Go on."),
    ]
    model.converse(a_request(*conversation, system="", tools=[TRANSLATE, ASK]))
    body = bedrock.received[0].body
    assert "system" not in body
    assert body["messages"][1]["content"] == [
        signed,
        sealed,
        *conversation[1]["content"][2:5],
        call("call_3", "ask_researcher"),
    ]
    assert [block["toolResult"]["content"] for block in body["messages"][2]["content"][:3]] == [
        [{"json": {"a": [1]}}],
        [{"text": '["a"]'}],
        [{"text": "(empty)"}],
    ]
    assert body["messages"][2]["content"][1]["toolResult"]["status"] == "error"
    assert body["toolConfig"]["tools"] == [
        {
            "toolSpec": {
                "name": "handoff_to_translator",
                "description": TRANSLATE["description"],
                "inputSchema": {"json": TRANSLATE["input_schema"]},
            }
        },
        {"toolSpec": {"name": "ask_researcher", "inputSchema": {"json": ASK["input_schema"]}}},
    ]


def test_metadata_is_brought_into_bedrocks_alphabet(bedrock: FakeBedrock, model: BedrockModel) -> None:
    bedrock.then(answer({"text": "Yes."}))
    model.converse(a_request(workspace="ümlaut*&", agent="a" * 300))
    assert bedrock.received[0].body["requestMetadata"] == {
        "task_id": "task_01",
        "agent": "a" * 256,
        "workspace": "_mlaut__",
    }


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("anthropic.claude-sonnet-4-5-20250929-v1:0", "anthropic.claude-sonnet-4-5-20250929-v1%3A0"),
        ("../../secrets", "..%2F..%2Fsecrets"),
    ],
)
def test_a_models_id_stays_one_part_of_the_path(
    bedrock: FakeBedrock, model: BedrockModel, name: str, path: str
) -> None:
    bedrock.model = path
    bedrock.then(answer({"text": "Yes."}))
    model.converse(a_request(model=name))


def test_without_an_id_it_says_what_to_set(bedrock: FakeBedrock, model: BedrockModel) -> None:
    with pytest.raises(ModelRefuses, match="BATON_MODEL=bedrock:<id>"):
        model.converse(a_request(model=""))
    assert bedrock.received == []


# What is answered


@pytest.mark.parametrize("reason", list(StopReason))
def test_every_reason_to_stop_is_known(bedrock: FakeBedrock, model: BedrockModel, reason: StopReason) -> None:
    bedrock.then(answer({"text": "Words."}, stop_reason=reason.value))
    assert model.converse(a_request()).stop_reason is reason


def test_a_reason_from_the_future_is_malformed(bedrock: FakeBedrock, model: BedrockModel) -> None:
    bedrock.then(answer({"text": "Words."}, stop_reason="bored"))
    assert model.converse(a_request()).stop_reason is StopReason.MALFORMED_MODEL_OUTPUT


def test_several_calls_at_once_keep_their_order_and_thoughts_their_signature(
    bedrock: FakeBedrock, model: BedrockModel
) -> None:
    signed = {"reasoningContent": {"reasoningText": {"text": "Hm.", "signature": "c2ln"}}}
    calls = [call("tooluse_1", "ask_researcher", topic="a"), call("tooluse_2", "ask_critic", topic="b")]
    bedrock.then(answer(signed, {"text": "Both."}, *calls, stop_reason="tool_use"))
    reply = model.converse(a_request(tools=[ASK]))
    assert reply.blocks == (signed, {"text": "Both."}, *calls)


def test_sealed_thoughts_are_kept_as_text(bedrock: FakeBedrock, model: BedrockModel) -> None:
    sealed = {"reasoningContent": {"redactedContent": base64.b64encode(b"\x00\xff").decode()}}
    bedrock.then(answer(sealed, {"text": "So."}))
    assert model.converse(a_request()).blocks == (sealed, {"text": "So."})


def test_blocks_that_baton_has_no_use_for_are_left_out(bedrock: FakeBedrock, model: BedrockModel) -> None:
    odd: list[dict[str, Any]] = [{"citationsContent": {"content": []}}, {"text": " "}, {"fromTheFuture": {}}]
    bedrock.then(answer(*odd, {"text": "So\ud800."}))
    assert model.converse(a_request()).blocks == ({"text": "So\ufffd."},)


@pytest.mark.parametrize("said", ["not JSON", ["a"], 5, {"a": "\ud800"}])
def test_arguments_that_are_no_sound_object_are_quoted_and_not_used(
    bedrock: FakeBedrock, model: BedrockModel, said: Any
) -> None:
    use = {"toolUse": {"toolUseId": "t", "name": "ask_critic", "input": said}}
    bedrock.then(answer(use, stop_reason="malformed_tool_use"))
    (block,) = model.converse(a_request(tools=[ASK])).blocks
    assert (block["toolUse"]["input"], bool(block["toolUse"]["malformed"])) == ({}, True)


@pytest.mark.parametrize(
    "canned",
    [Canned(body=b"[" * 100_000), answer(output={"message": {}}), answer(usage={})],
    ids=["deep", "no content", "no usage"],
)
def test_an_answer_without_its_parts_has_no_blocks(bedrock: FakeBedrock, model: BedrockModel, canned: Canned) -> None:
    bedrock.then(canned)
    assert model.converse(a_request()).blocks == ()


# What is refused


@pytest.mark.parametrize(
    ("code", "status"),
    [
        ("ServiceUnavailableException", 503),
        ("ModelTimeoutException", 408),
        ("InternalServerException", 500),
        ("ModelNotReadyException", 429),
        ("SomethingNewException", 502),
    ],
)
def test_one_that_may_answer_later_is_away(bedrock: FakeBedrock, model: BedrockModel, code: str, status: int) -> None:
    bedrock.then(trouble(code, status, Retry_After="7"), trouble(code, status))
    for told in (7.0, None):
        with pytest.raises(ModelAway, match=code) as away:
            model.converse(a_request())
        assert away.value.retry_after == told
        assert not isinstance(away.value, ModelThrottled)
    assert len(bedrock.received) == 2  # the SDK repeats nothing


@pytest.mark.parametrize(
    ("code", "status"),
    [("ThrottlingException", 429), ("TooManyRequestsException", 400), ("SomethingNewException", 429)],
)
def test_one_that_is_throttled_says_for_how_long(
    bedrock: FakeBedrock, model: BedrockModel, code: str, status: int
) -> None:
    bedrock.then(trouble(code, status, Retry_After="7"), trouble(code, status))
    for told in (7.0, None):
        with pytest.raises(ModelThrottled, match=code) as throttled:
            model.converse(a_request())
        assert throttled.value.retry_after == told
    assert len(bedrock.received) == 2


@pytest.mark.parametrize(
    ("code", "status", "hint"),
    [
        ("ValidationException", 400, ""),
        ("AccessDeniedException", 403, "BedrockModels"),
        ("ResourceNotFoundException", 404, "region"),
        ("ExpiredTokenException", 403, ""),
    ],
)
def test_one_that_refuses_is_not_quoted(
    bedrock: FakeBedrock, model: BedrockModel, code: str, status: int, hint: str
) -> None:
    bedrock.then(trouble(code, status, "You said: Bonjour?"))
    with pytest.raises(ModelRefuses, match=code) as refused:
        model.converse(a_request())
    assert hint in refused.value.message
    assert "Bonjour" not in refused.value.message
    assert not refused.value.retryable


def test_a_model_that_stumbled_may_do_better(bedrock: FakeBedrock, model: BedrockModel) -> None:
    bedrock.then(trouble("ModelErrorException", 424))
    with pytest.raises(ModelRefuses) as refused:
        model.converse(a_request())
    assert refused.value.retryable


@pytest.mark.parametrize(
    "message",
    [
        "Input is too long for requested model.",
        "The model returned the following errors: prompt is too long: 210000 tokens > 200000 maximum",
        "The model returned the following errors: Too many input tokens. Max input tokens: 8192",
        "This model's maximum context length is 8192 tokens.",
    ],
)
def test_a_history_that_is_too_long_is_said_to_be(bedrock: FakeBedrock, model: BedrockModel, message: str) -> None:
    bedrock.then(trouble("ValidationException", 400, message))
    assert model.converse(a_request()) == ModelReply(blocks=(), stop_reason=StopReason.CONTEXT_WINDOW_EXCEEDED)


@pytest.mark.parametrize(
    "canned",
    [
        Canned(pause=5),
        Canned(body=b"x" * 100, drip=5),
        Canned(body={"output": {"message": {}}}, breaks_after=20),
        Canned(body=b"<html>"),
        Canned(body=b"{}"),
        Canned(),
    ],
    ids=["silent", "silent in its body", "broken off", "another's", "empty", "nothing"],
)
def test_half_an_answer_or_none_is_an_outage(bedrock: FakeBedrock, model: BedrockModel, canned: Canned) -> None:
    bedrock.then(canned)
    found, took = timed(model.converse, a_request(seconds=0.25))
    assert isinstance(found, ModelAway)
    assert took < 1.5


def test_a_service_that_is_not_there_is_away() -> None:
    with FakeBedrock().serving() as gone:
        url = gone.url
    with pytest.raises(ModelAway):
        BedrockModel(lambda seconds: client_of(url, seconds), FakeClock()).converse(a_request())


def test_without_credentials_or_region_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_DEFAULT_REGION")
    with pytest.raises(ModelRefuses, match="region"):
        BedrockModel(lambda _: boto3.session.Session().client("bedrock-runtime"), FakeClock()).converse(a_request())


def test_a_call_that_cannot_even_be_made_is_refused(bedrock: FakeBedrock) -> None:
    """boto3's own validation is off; this is what it says where something can't be written down."""

    class Odd:
        def converse(self, **_: Any) -> Any:
            raise ParamValidationError(report="You said: Bonjour?")

    with pytest.raises(ModelRefuses, match="Bedrock can't be asked that") as refused:
        BedrockModel(lambda _: Odd(), FakeClock()).converse(a_request())
    assert "Bonjour" not in refused.value.message


def test_thoughts_go_back_as_they_came(bedrock: FakeBedrock, model: BedrockModel) -> None:
    bedrock.then(answer(thought("Hm."), {"text": "So."}), answer({"text": "Again."}))
    first = model.converse(a_request(user("x")))
    model.converse(a_request(user("x"), assistant(*first.blocks), user("y")))
    assert bedrock.received[1].body["messages"][1]["content"] == [thought("Hm."), {"text": "So."}]

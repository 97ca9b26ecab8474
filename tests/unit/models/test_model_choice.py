"""Which model an agent gets, what the environment says of it, and the circuit breaker around providers."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError, EndpointConnectionError
from moto import mock_aws

from baton import bootstrap, config
from baton.adapters.models.choice import ModelChoice
from baton.adapters.models.circuit import (
    CIRCUITS,
    MAX_THROTTLE_SECONDS,
    CircuitStore,
    GuardedModel,
    Thresholds,
    circuit_of,
)
from baton.adapters.models.provider_keys import SecretKey
from baton.config import ConfigError, read
from baton.domain.errors import ModelAway, ModelRefuses, ModelThrottled
from baton.ports.runs import ModelReply, ModelRequest, StopReason
from support.fakes.dynamo import create_table
from support.fakes.fake_openai import KEY, FakeOpenAI, completion, refusal
from support.values.requests import a_request
from tools.stack import deployment, local_model
from tools.stack.background import StackError
from tools.stack.engine import Access

TABLE = "baton-test"
REPLY = ModelReply(blocks=({"text": "Yes."},), stop_reason=StopReason.END_TURN)


class Fickle:
    """Answers what it is told to, and the last of that ever after."""

    def __init__(self, *answers: ModelReply | Exception) -> None:
        self.answers, self.asked = list(answers), 0

    def converse(self, request: ModelRequest) -> ModelReply:
        self.asked += 1
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer


# The choice


def test_an_agent_that_names_none_gets_the_deployments_own() -> None:
    own, other = Fickle(REPLY), Fickle(REPLY)
    choice = ModelChoice("bedrock:some.model-v1:0", {"bedrock": lambda: own, "scripted": lambda: other})
    assert choice.of("") == ("bedrock", "some.model-v1:0", own)
    assert choice.of("bedrock") == ("bedrock", "some.model-v1:0", own)
    assert choice.of("bedrock:other:1") == ("bedrock", "other:1", own)
    assert choice.of("scripted") == ("scripted", "", other)


def test_each_provider_is_made_once_and_not_before_it_is_asked_for() -> None:
    made: list[str] = []

    def maker() -> Fickle:
        made.append("x")
        return Fickle(REPLY)

    choice = ModelChoice("a", {"a": maker})
    assert made == []
    assert choice.of("")[2] is choice.of("a:b")[2]
    assert made == ["x"]


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("openai_compatible:gpt", "BATON_MODEL_URL"),
        ("gpt-5", "scripted"),
        (":x", "scripted"),
        ("Scripted", "scripted"),
    ],
)
def test_one_that_the_deployment_lacks_is_refused_with_what_to_set(name: str, hint: str) -> None:
    with pytest.raises(ModelRefuses, match=hint):
        ModelChoice("scripted", {"scripted": lambda: Fickle(REPLY)}).of(name)


# The environment


def environ(**more: str) -> dict[str, str]:
    return {"BATON_TABLE": "t", **more}


@pytest.mark.parametrize(
    ("more", "model"),
    [
        ({}, "scripted"),
        ({"BATON_MODEL_URL": "http://127.0.0.1:11434/v1/"}, "openai_compatible"),
        ({"BATON_MODEL": "bedrock:x", "BATON_MODEL_URL": "https://llm.example"}, "bedrock:x"),
    ],
)
def test_without_a_model_it_is_the_server_or_the_script(more: dict[str, str], model: str) -> None:
    assert read(environ(**more)).model == model


@pytest.mark.parametrize(
    "url",
    [
        "http://llm.example/v1",
        "http://127.0.0.1.example",
        "ftp://127.0.0.1",
        "127.0.0.1:11434",
        "https://user:pw@llm.example",
        "https://llm.example?key=x",
        "http://127.0.0.1:port",
    ],
)
def test_keys_are_never_sent_in_the_clear_or_to_an_odd_address(url: str) -> None:
    with pytest.raises(ConfigError, match="BATON_MODEL_URL"):
        read(environ(BATON_MODEL_URL=url))


@pytest.mark.parametrize("url", ["https://api.openai.com/v1", "http://127.0.0.1:11434/v1", "http://[::1]:8080", ""])
def test_this_machines_own_server_may_be_asked_in_the_clear(url: str) -> None:
    assert read(environ(BATON_MODEL_URL=url)).model_url == url


def test_the_key_is_not_shown() -> None:
    found = read(environ(BATON_MODEL_KEY=f" {KEY}\n"))
    assert found.model_key == KEY
    assert KEY not in repr(found)
    with pytest.raises(ConfigError, match="BATON_MODEL_KEY") as refused:
        read(environ(BATON_MODEL_KEY="sk with space"))
    assert "sk" not in str(refused.value)


# The key in Secrets Manager


class Vault:
    def __init__(self, *answers: str | Exception) -> None:
        self.answers, self.asked = list(answers), 0

    def get_secret_value(self, **request: Any) -> Any:
        self.asked += 1
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return {"SecretString": answer}

    put_secret_value = create_secret = get_secret_value


def refused_with(code: str) -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": KEY}}, "GetSecretValue")


def test_the_key_is_read_once_in_a_while() -> None:
    vault = Vault(KEY)
    key = SecretKey(vault, "arn", lambda *_, **__: None)
    assert [key.get(), key.get()] == [KEY, KEY]
    assert vault.asked == 1


@pytest.mark.parametrize(
    ("trouble", "error"),
    [
        (refused_with("ResourceNotFoundException"), ModelRefuses),
        (refused_with("AccessDeniedException"), ModelRefuses),
        (refused_with("ThrottlingException"), ModelAway),
        (EndpointConnectionError(endpoint_url="x"), ModelAway),
    ],
)
def test_a_key_that_cannot_be_read_is_told_of_and_asked_for_again(trouble: Exception, error: type[Exception]) -> None:
    told: list[dict[str, Any]] = []
    key = SecretKey(Vault(trouble, KEY), "arn", lambda _, **fields: told.append(fields))
    with pytest.raises(error) as raised:
        key.get()
    assert KEY not in str(raised.value) + json.dumps(told)
    assert told[0]["action"] == "secret_trouble"
    assert key.get() == KEY


# The wiring


@cache
def _moto_client() -> Any:
    """Making one takes longer than most tests that use it do; what it is told is moto's, and forgotten with it."""
    return boto3.client("dynamodb")


@pytest.fixture
def dynamo_client() -> Iterator[Any]:
    """moto's, with an empty table: Powertools makes other calls than the store does."""
    with mock_aws():
        create_table(_moto_client(), TABLE)
        yield _moto_client()


@pytest.fixture
def wired(monkeypatch: pytest.MonkeyPatch, dynamo_client: Any) -> Iterator[pytest.MonkeyPatch]:
    monkeypatch.setenv("BATON_TABLE", TABLE)
    monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", "test-model-choice")
    bootstrap.forget_all()
    yield monkeypatch
    bootstrap.forget_all()


def test_nothing_that_was_wired_is_kept_once_it_is_to_be_forgotten(wired: pytest.MonkeyPatch) -> None:
    bootstrap._callback_key()
    bootstrap.wire()
    bootstrap.forget_all()
    kept = {
        name for name, part in vars(bootstrap).items() if hasattr(part, "cache_info") and part.cache_info().currsize
    }
    assert kept == set()


def test_the_shipped_script_answers_where_nothing_is_set(wired: pytest.MonkeyPatch) -> None:
    provider, model_id, model = bootstrap.wire_models().of("")
    assert (provider, model_id) == ("scripted", "")
    assert model.converse(a_request(agent="anybody")).scripted


SCRIPT = 'agents: {"*": [{turns: [{text: "From a script of our own."}]}]}'


def scripted() -> ModelReply:
    return bootstrap.wire_models().of("scripted")[2].converse(a_request(agent="anybody"))


def test_another_script_is_followed_where_the_environment_names_one(wired: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "a script of ours.yaml"
    path.write_text(SCRIPT)
    wired.setenv("BATON_SCRIPT", str(path))
    assert scripted().blocks == ({"text": "From a script of our own."},)


def test_a_bare_name_is_that_of_a_script_that_was_built_in(wired: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Not of a file that happens to lie where the function runs."""
    wired.chdir(tmp_path)
    (tmp_path / "answers.yaml").write_text(SCRIPT)
    wired.setenv("BATON_SCRIPT", "answers.yaml")
    assert "From a script" not in str(scripted().output)
    wired.setenv("BATON_SCRIPT", str(tmp_path / "answers.yaml"))
    bootstrap.forget_all()
    assert "From a script" in str(scripted().blocks)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (None, "there is no such file"),
        (b"agents: [", "isn't YAML (line 1)"),
        (b"\xff", "isn't UTF-8"),
        (b"- a", "must be a mapping with 'agents'"),
        (b"agents: {x: [{output: 2026-11-18}]}", "agents.x.1.output: must be JSON"),
        (b"agents: {x: [{output: " + b"[" * 600 + b"]" * 600 + b"}]}", "isn't YAML that can be read"),
        (b"#" * 1_000_001, "longer than 1,000,000 characters"),
    ],
)
def test_a_script_that_is_none_is_told_in_plain_words(
    wired: pytest.MonkeyPatch, tmp_path: Path, content: bytes | None, told: str
) -> None:
    path = tmp_path / "script.yaml"
    if content is not None:
        path.write_bytes(content)
    wired.setenv("BATON_SCRIPT", str(path))
    with pytest.raises(ModelRefuses) as refused:
        scripted()
    assert told in refused.value.message
    assert "BATON_SCRIPT" in refused.value.message
    assert "\n" not in refused.value.message
    wired.setenv("BATON_SCRIPT", str(path))
    with pytest.raises(StackError, match="BATON_SCRIPT"):
        local_model.of_environment()


def test_make_takes_a_script_from_anywhere_and_builds_it_in(wired: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "ours.yaml").write_text(SCRIPT)
    wired.chdir(tmp_path)
    assert local_model.of_environment().parameters(Access(1, ""))["Script"] == ""
    wired.setenv("BATON_SCRIPT", "ours.yaml")
    model = local_model.of_environment()
    assert (model.script, model.parameters(Access(1, ""))["Script"]) == (tmp_path / "ours.yaml", "script.yaml")


def test_another_script_is_another_build(tmp_path: Path) -> None:
    path = tmp_path / "ours.yaml"
    seen = {deployment.fingerprint()}
    for content in (SCRIPT, SCRIPT + "\n"):
        path.write_text(content)
        seen.add(deployment.fingerprint(path))
    assert len(seen) == 3


def test_the_server_that_the_environment_names_is_asked_with_its_key(wired: pytest.MonkeyPatch) -> None:
    with FakeOpenAI().serving() as server, mock_aws():
        secret = boto3.client("secretsmanager").create_secret(Name="baton/model-key", SecretString=KEY)
        wired.setenv("BATON_MODEL_URL", server.url)
        wired.setenv("BATON_MODEL_KEY_SECRET", secret["ARN"])
        wired.setenv("BATON_MODEL_KEY", "sk-another")
        server.then(completion(content="Yes."))
        _, model_id, model = bootstrap.wire_models().of("openai_compatible:some-model")
        assert model.converse(a_request(model=model_id)).blocks == REPLY.blocks


def test_a_plain_key_will_do(wired: pytest.MonkeyPatch) -> None:
    with FakeOpenAI().serving() as server:
        wired.setenv("BATON_MODEL_URL", server.url)
        wired.setenv("BATON_MODEL_KEY", KEY)
        server.then(completion(content="Yes."))
        assert bootstrap.wire_models().of("")[2].converse(a_request()).blocks == REPLY.blocks


def test_bedrock_is_asked_with_the_time_that_a_request_has(wired: pytest.MonkeyPatch) -> None:
    for seconds, read_timeout in ((0.2, 1), (5, 5), (29.9, 15), (89.9, 75), (700, 120)):
        client: Any = bootstrap._bedrock_for(seconds)
        settings = client.meta.config
        assert (settings.read_timeout, settings.retries["total_max_attempts"]) == (read_timeout, 1)
    assert bootstrap._bedrock_for(61.3) is bootstrap._bedrock_for(74.9)
    with pytest.raises(ModelRefuses, match="BATON_MODEL=bedrock"):
        bootstrap.wire_models().of("bedrock")[2].converse(a_request(model=""))


def test_only_the_adapter_that_is_used_is_imported() -> None:
    program = (
        "import os, sys; os.environ['BATON_TABLE'] = 't'; from baton import bootstrap; "
        "bootstrap.wire_models().of(''); "
        "print(sorted(name for name in sys.modules if name.startswith(('baton.adapters.models.', 'httpx'))))"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert json.loads(found.stdout.replace("'", '"')) == [
        "baton.adapters.models.choice",
        "baton.adapters.models.script",
        "baton.adapters.models.scripted",
    ]


def test_the_environment_is_read_when_it_is_needed(wired: pytest.MonkeyPatch) -> None:
    wired.setenv("BATON_MODEL", "openai_compatible:gpt")
    assert config.load().model == "openai_compatible:gpt"
    with pytest.raises(ModelRefuses, match="BATON_MODEL_URL"):
        bootstrap.wire_models().of("")


# The circuit breaker, over moto's DynamoDB


class Told:
    def __init__(self) -> None:
        self.states: list[str] = []

    def __call__(self, _: str, **fields: Any) -> None:
        self.states.append(fields["state"])


@dataclass
class Seconds:
    passed: float = 0

    def __call__(self) -> float:
        return self.passed


@pytest.fixture
def circuit(request: pytest.FixtureRequest) -> str:
    """Of this very test: Powertools counts failures by name, per process."""
    return circuit_of("openai_compatible", f"{request.node.name} {time.monotonic()}", "acme", "")


USUAL = (a_request().workspace, a_request().model)


def guarded(
    client: Any, model: Fickle, name: str, told: Told | None = None, clock: Seconds | None = None
) -> GuardedModel:
    """The circuit of the one model that most tests ask has the name itself."""
    return GuardedModel(
        model,
        lambda workspace, asked: name if (workspace, asked) == USUAL else f"{name} {workspace} {asked}",
        CircuitStore(client, TABLE),
        told or Told(),
        Thresholds(failures=3, cached_seconds=0, now=clock or Seconds()),
    )


def ask(model: GuardedModel, times: int = 1) -> None:
    for _ in range(times):
        with pytest.raises(ModelAway):
            model.converse(a_request())


def item(client: Any, name: str) -> dict[str, Any]:
    found: dict[str, Any] = client.get_item(TableName=TABLE, Key={"pk": {"S": CIRCUITS}, "sk": {"S": name}})
    kept: dict[str, Any] = found.get("Item", {})
    return kept


def recovered(client: Any, name: str) -> None:
    """Half a minute has passed."""
    client.update_item(
        TableName=TABLE,
        Key={"pk": {"S": CIRCUITS}, "sk": {"S": name}},
        UpdateExpression="SET opened_at = :then",
        ExpressionAttributeValues={":then": {"N": str(int(time.time()) - 31)}},
    )


def test_a_provider_that_is_out_is_left_alone_by_every_process(dynamo_client: Any, circuit: str) -> None:
    told, out, other = Told(), Fickle(ModelAway("out")), Fickle(REPLY)
    ask(guarded(dynamo_client, out, circuit, told), 3)
    with pytest.raises(ModelAway, match="a moment ago") as away:
        guarded(dynamo_client, other, circuit).converse(a_request())
    assert (out.asked, other.asked, told.states) == (3, 0, ["OPEN"])
    assert away.value.retry_after is not None
    assert 25 <= away.value.retry_after <= 30
    assert int(item(dynamo_client, circuit)["ttl"]["N"]) > time.time() + 3_000


def test_one_workspaces_trouble_with_a_model_is_no_other_ones(dynamo_client: Any, circuit: str) -> None:
    """What it asks may be what the model fails at."""
    fickle = Fickle(*[ModelAway("out")] * 3, REPLY)
    model = guarded(dynamo_client, fickle, circuit)
    ask(model, 4)
    assert model.converse(a_request(workspace="other")) == REPLY
    ask(model)
    assert fickle.asked == 4
    assert circuit_of("bedrock", "eu", "acme", "m") != circuit_of("bedrock", "eu", "other", "m")


def test_once_it_has_recovered_one_tries_and_all_go_on(dynamo_client: Any, circuit: str) -> None:
    told, fickle = Told(), Fickle(*[ModelAway("out")] * 3, REPLY)
    model = guarded(dynamo_client, fickle, circuit, told)
    ask(model, 4)
    recovered(dynamo_client, circuit)
    assert model.converse(a_request()) == REPLY
    assert item(dynamo_client, circuit)["state"] == {"S": "CLOSED"}
    assert guarded(dynamo_client, fickle, circuit).converse(a_request()) == REPLY
    assert (fickle.asked, told.states) == (5, ["OPEN", "HALF_OPEN", "CLOSED"])


def test_one_that_is_still_out_is_left_alone_again(dynamo_client: Any, circuit: str) -> None:
    fickle = Fickle(ModelAway("out"))
    model = guarded(dynamo_client, fickle, circuit)
    ask(model, 4)
    recovered(dynamo_client, circuit)
    ask(model, 2)
    assert fickle.asked == 4


def test_while_one_tries_the_others_wait(dynamo_client: Any, circuit: str) -> None:
    ask(guarded(dynamo_client, Fickle(ModelAway("out")), circuit), 3)
    recovered(dynamo_client, circuit)
    other = Fickle(REPLY)
    opened_at = int(item(dynamo_client, circuit)["opened_at"]["N"])
    store = CircuitStore(dynamo_client, TABLE)
    assert store.try_acquire_half_open(circuit, "somebody else", opened_at)
    with pytest.raises(ModelAway) as away:
        guarded(dynamo_client, other, circuit).converse(a_request())
    assert (other.asked, away.value.retry_after) == (0, 5.0)


def test_one_that_refuses_has_answered(dynamo_client: Any, circuit: str) -> None:
    """It ends a row of failures, and a circuit that tries."""
    away, refuses = ModelAway("out"), ModelRefuses("no", retryable=True)
    model = guarded(dynamo_client, Fickle(away, away, refuses, away, away, refuses, away, away, away, refuses), circuit)
    for answer in (ModelAway, ModelAway, ModelRefuses) * 2:
        with pytest.raises(answer):
            model.converse(a_request())
    assert item(dynamo_client, circuit) == {}
    ask(model, 3)
    recovered(dynamo_client, circuit)
    with pytest.raises(ModelRefuses):
        model.converse(a_request())
    assert item(dynamo_client, circuit)["state"] == {"S": "CLOSED"}


def test_what_is_no_outage_does_not_count(dynamo_client: Any, circuit: str) -> None:
    model = guarded(dynamo_client, Fickle(ValueError("a bug")), circuit)
    for _ in range(5):
        with pytest.raises(ValueError, match="a bug"):
            model.converse(a_request())
    assert item(dynamo_client, circuit) == {}


class Broken:
    """DynamoDB's client, of which some calls fail."""

    def __init__(self, client: Any, *calls: str) -> None:
        self._client, self._calls, self.meta = client, calls, client.meta

    def __getattr__(self, name: str) -> Any:
        if name not in self._calls:
            return getattr(self._client, name)

        def fails(**_: Any) -> Any:
            raise EndpointConnectionError(endpoint_url="https://dynamodb.example")

        return fails


@pytest.mark.parametrize("calls", [("get_item",), ("put_item",), ("get_item", "put_item", "update_item")])
def test_calls_go_on_where_the_store_fails(dynamo_client: Any, circuit: str, calls: tuple[str, ...]) -> None:
    fickle = Fickle(*[ModelAway("out")] * 4, REPLY)
    model = guarded(Broken(dynamo_client, *calls), fickle, circuit)
    ask(model, 4)
    assert model.converse(a_request()) == REPLY
    assert fickle.asked == 5


@pytest.mark.parametrize("calls", [("put_item",), ("update_item",), ("put_item", "update_item")])
def test_a_circuit_whose_change_cannot_be_kept_lets_calls_through(
    dynamo_client: Any, circuit: str, calls: tuple[str, ...]
) -> None:
    ask(guarded(dynamo_client, Fickle(ModelAway("out")), circuit), 3)
    recovered(dynamo_client, circuit)
    assert guarded(Broken(dynamo_client, *calls), Fickle(REPLY), circuit).converse(a_request()) == REPLY


def test_nothing_of_a_request_or_a_key_is_logged_by_the_breaker(
    dynamo_client: Any, circuit: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "aws_lambda_powertools")
    with FakeOpenAI().serving() as server:
        from baton.adapters.models.openai_compatible import OpenAICompatibleModel
        from support.clock import FakeClock

        model: Any = OpenAICompatibleModel(server.url, lambda: KEY, FakeClock())
        server.then(*[refusal(503, KEY)] * 3)
        ask(guarded(Broken(dynamo_client, "put_item"), model, circuit), 3)
    assert "persistence write" in caplog.text
    assert KEY not in caplog.text
    assert "Bonjour" not in caplog.text


def test_one_model_that_is_out_keeps_nobody_from_another(dynamo_client: Any, circuit: str) -> None:
    ask(guarded(dynamo_client, Fickle(ModelAway("out")), circuit), 3)
    other = Fickle(REPLY)
    model = guarded(dynamo_client, other, circuit)
    with pytest.raises(ModelAway, match="a moment ago"):
        model.converse(a_request())
    assert model.converse(a_request(model="another")) == REPLY
    assert other.asked == 1


def test_a_throttle_is_no_outage(dynamo_client: Any, circuit: str) -> None:
    """However many there are. One ends a row of failures, and a circuit that tries."""
    throttled, away = ModelThrottled("slowly"), ModelAway("out")
    model = guarded(
        dynamo_client, Fickle(*[throttled] * 5, away, away, throttled, away, away, away, throttled), circuit
    )
    ask(model, 10)
    assert item(dynamo_client, circuit) == {}
    ask(model)
    assert item(dynamo_client, circuit)["state"] == {"S": "OPEN"}
    recovered(dynamo_client, circuit)
    ask(model)
    assert item(dynamo_client, circuit)["state"] == {"S": "CLOSED"}


def test_a_model_is_left_alone_for_as_long_as_it_asks(dynamo_client: Any, circuit: str) -> None:
    clock, fickle = Seconds(), Fickle(ModelThrottled("slowly", retry_after=20), REPLY)
    model = guarded(dynamo_client, fickle, circuit, clock=clock)
    ask(model)
    clock.passed = 19.5
    with pytest.raises(ModelThrottled) as throttled:
        model.converse(a_request())
    assert (throttled.value.retry_after, fickle.asked) == (0.5, 1)
    assert model.converse(a_request(model="another")) == REPLY
    clock.passed = 20
    assert model.converse(a_request()) == REPLY
    assert fickle.asked == 3


def test_nobody_is_believed_who_wants_to_be_left_alone_for_hours(dynamo_client: Any, circuit: str) -> None:
    clock, fickle = Seconds(), Fickle(ModelThrottled("slowly", retry_after=86_400), REPLY)
    model = guarded(dynamo_client, fickle, circuit, clock=clock)
    ask(model)
    clock.passed = MAX_THROTTLE_SECONDS
    assert model.converse(a_request()) == REPLY


def test_circuits_are_apart_by_provider_place_workspace_and_model() -> None:
    names = {
        circuit_of(provider, place, workspace, model)
        for provider in ("bedrock", "other")
        for place in ("us-east-1", "eu-west-1")
        for workspace in ("acme", "other")
        for model in ("small", "large")
    }
    assert len(names) == 16
    assert all("us-east-1" not in name for name in names)

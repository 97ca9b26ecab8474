"""The local stack itself: it is alone on loopback, keeps what it knows, and tells what is wrong."""

from __future__ import annotations

import json
import os
import resource
import signal
import socket
import stat
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest

from support.fakes.fake_thinker import FakeThinker
from support.worlds.deployed import Deployed, until
from tools.stack import deployment, stack
from tools.stack.background import StackError, free_port, on_any_port
from tools.stack.engine import Access, Engine
from tools.stand_ins.notion import StandIn, port_of

pytestmark = pytest.mark.stack


SCRIPT = 'agents: {{"*": [{{turns: [{{text: "{words}"}}]}}]}}'


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    """Where a test may start a stack of its own."""
    yield tmp_path
    stack.down(tmp_path)


@pytest.fixture
def script(another_home: Path, same_models: None, thinker: FakeThinker, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What all agents in ``another_home`` answer."""
    script = another_home.with_name(f"{another_home.name} script.yaml")
    if not script.exists():
        script.write_text(SCRIPT.format(words="A parrot's words"))
    for name in thinker.environment:
        monkeypatch.delenv(name)
    monkeypatch.setenv("BATON_SCRIPT", str(script))
    return script


def brought_up(home: Path) -> stack.Stack:
    return stack.up(home, 0, notion_port=0)


def post(running: stack.Stack, token: str, path: str, body: dict[str, Any]) -> dict[str, Any]:
    with running.http(token) as client:
        response = client.post(path, json=body, headers={"Idempotency-Key": uuid4().hex})
    response.raise_for_status()
    answer: dict[str, Any] = response.json()
    return answer


def databases_of_notion(running: stack.Stack) -> Any:
    response = httpx.get(f"{running.notion_url}/control/databases", trust_env=False)
    response.raise_for_status()
    return response.json()["databases"]


def unpublished(running: stack.Stack) -> bool:
    """Is there anything that the outside hasn't been told of?"""
    with running.http() as http:
        pages = Deployed(running, http).deps.store.outbox.pending_tasks(datetime.now(UTC) + timedelta(days=1))
        return any(each.events for page in pages for each in page)


def awaited(running: stack.Stack, task_id: str) -> dict[str, Any]:
    with running.http(running.tokens["human"]) as client:
        response = client.get(f"/tasks/{task_id}/await", params={"timeout": 25})
    response.raise_for_status()
    answer: dict[str, Any] = response.json()
    return answer


def escalated(running: stack.Stack, target: str) -> str:
    """A task of the scout's."""
    body = {
        "source_agent": "scout",
        "target_agent": target,
        "escalation_reason": "The nightly build fails",
        "source_digest_url": "https://example.com/digests/1",
        "task_priority": "high",
    }
    task_id: str = post(running, running.tokens["agents"]["scout"], "/handoff-markers", body)["task_id"]
    return task_id


def answered(running: stack.Stack) -> object:
    """By an agent that thinks with the script."""
    with running.http(running.tokens["human"]) as client:
        client.put("/agents/parrot", json={"runtime": "run", "model": "scripted"}).raise_for_status()
    begun = post(running, running.tokens["human"], "/conversations", {"agent": "parrot", "message": "Hello"})
    return awaited(running, begun["task"]["id"])["output"]["message"]


def notion_url_of_the_api(running: stack.Stack) -> Any:
    found = running.aws("lambda").get_function_configuration(FunctionName=running.functions["Api"])
    return found["Environment"]["Variables"]["BATON_NOTION_URL"]


def model_of_process_task(running: stack.Stack) -> dict[str, str]:
    found = running.aws("lambda").get_function_configuration(FunctionName=running.functions["ProcessTask"])
    variables = found["Environment"]["Variables"]
    return {name: variables.get(name, "") for name in ("BATON_MODEL", "BATON_MODEL_URL", "BATON_MODEL_KEY_SECRET")}


def test_a_stack_uses_the_notion_and_the_model_that_the_environment_names_and_else_its_own(
    another_home: Path, script: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in = StandIn(another_home)
    stand_in.start(free_port(), keep_state=True)
    with monkeypatch.context() as named:
        named.delenv("BATON_SCRIPT")
        named.setenv("BATON_NOTION_URL", "https://api.notion.com/")
        named.setenv("BATON_MODEL_URL", "http://127.0.0.1:9/v1/")
        named.setenv("BATON_MODEL_KEY", "sk-of-the-test")
        first = brought_up(another_home)
    assert first.notion_url == notion_url_of_the_api(first) == "https://api.notion.com"
    assert stand_in.port() is None
    model = model_of_process_task(first)
    assert (model["BATON_MODEL"], model["BATON_MODEL_URL"]) == ("", "http://127.0.0.1:9/v1")
    secret = first.aws("secretsmanager").get_secret_value(SecretId=model["BATON_MODEL_KEY_SECRET"])
    assert secret["SecretString"] == "sk-of-the-test"
    shown = str(first.aws("cloudformation").describe_stacks()["Stacks"])
    assert "sk-of-the-test" not in (another_home / "deploy.log").read_text() + json.dumps(model) + shown

    second = brought_up(another_home)
    assert second == replace(first, notion_url=second.notion_url)
    assert port_of(notion_url_of_the_api(second)) == port_of(second.notion_url) == stand_in.port()
    assert set(model_of_process_task(second).values()) == {""}
    assert answered(second) == "A parrot's words"


def test_a_stack_goes_on_where_it_was_stopped_on_another_port_with_the_script_as_it_is_now(
    another_home: Path, script: Path
) -> None:
    home = another_home
    first = brought_up(home)
    databases = databases_of_notion(first)
    task_id = escalated(first, "auditor")
    held = escalated(first, "reviewer")
    post(first, first.tokens["human"], f"/tasks/{held}/approve-next", {})
    claim = post(first, first.tokens["agents"]["reviewer"], f"/tasks/{held}/claim", {})
    first.aws("secretsmanager").create_secret(Name="baton/demo/notion", SecretString="ntn_kept")
    until(lambda: not unpublished(first))  # what the stream still holds is lost when the engine stops
    assert stack.down(home)
    assert not list((home / "tmp").glob("*"))
    for path in (home, *home.rglob("*")):  # as an earlier version left it
        path.chmod(0o755 if path.is_dir() else 0o644)
    script.write_text(SCRIPT.format(words="Other words"))

    second = stack.up(home, 0, notion_port=0)
    assert second.tokens == first.tokens
    assert is_open_to_others(home) == []
    assert databases_of_notion(second) == databases
    assert second.aws("secretsmanager").get_secret_value(SecretId="baton/demo/notion")["SecretString"] == "ntn_kept"
    schedules = second.aws("scheduler").list_schedules()["Schedules"]
    assert {(each["State"], each["Target"]["Arn"].partition(":function:")[2]) for each in schedules} == {
        ("ENABLED", f"{second.functions[name]}:live") for name in ("PublishEvents", "SweepStaleClaims")
    }
    post(second, second.tokens["agents"]["reviewer"], f"/tasks/{held}/complete", {"claim_id": claim["claim_id"]})
    post(second, second.tokens["human"], f"/tasks/{task_id}/approve", {})
    assert awaited(second, task_id)["state"] == "done"  # so that queue, mapping and roles are still there
    until(lambda: not unpublished(second), 45)  # the table's stream is: the schedule comes after a minute
    assert answered(second) == "Other words"
    second.aws("sqs").send_message(QueueUrl=second.tracker_queue_url, MessageBody="no bell")
    assert until(lambda: "Messages" in second.aws("sqs").receive_message(QueueUrl=second.tracker_dlq_url))


def test_bringing_up_a_running_stack_again_changes_nothing(stack_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_PROFILE", "one-that-no-file-has")
    said: list[str] = []
    before = stack.current(stack_home)
    assert stack.up(stack_home, say=said.append) == before
    assert said == ["nothing changed since the last deployment"]
    with pytest.raises(StackError, match="already runs on port"):
        stack.up(stack_home, free_port())


def test_a_stand_in_for_notion_that_died_comes_back_where_it_was(stack_home: Path) -> None:
    before = stack.current(stack_home)
    os.kill(json.loads((stack_home / "notion.lock").read_text())["pid"], signal.SIGKILL)
    until(lambda: StandIn(stack_home).port() is None)
    assert stack.up(stack_home) == before
    assert databases_of_notion(before)


def test_tokens_are_never_sent_to_another_machine_in_the_clear(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BATON_NOTION_URL", "http://notion.example")
    with pytest.raises(StackError, match="BATON_NOTION_URL must begin with https://"):
        stack.up(home, free_port())


def test_the_tokens_are_readable_by_their_owner_only(stack_home: Path) -> None:
    assert stat.S_IMODE((stack_home / "stack.json").stat().st_mode) == 0o600


def test_what_the_stack_keeps_is_for_its_owner_only(stack_home: Path) -> None:
    """Its state holds the token of Notion and the key of the callbacks."""
    assert is_open_to_others(stack_home) == []


def is_open_to_others(home: Path) -> list[str]:
    paths = [home, *(path for path in home.rglob("*") if not path.is_symlink())]
    return [str(path) for path in paths if path.exists() and path.stat().st_mode & 0o077]


def test_what_listens_listens_on_loopback_only(stack_home: Path) -> None:
    running = stack.current(stack_home)
    others = {info[4][0] for info in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)} - {"127.0.0.1"}
    for address, port in product({"127.0.0.2", *others}, [running.port, port_of(running.notion_url)]):
        with socket.socket() as probe:
            probe.settimeout(2)
            assert probe.connect_ex((str(address), port)) != 0


def test_a_taken_port_is_named(home: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(StackError, match=f"port {port} is taken"):
            stack.up(home, port)


def test_a_taken_port_of_the_stand_in_is_named(home: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(
            StackError, match=f"port {port}, for the stand-in for Notion, is taken; .* BATON_NOTION_PORT="
        ):
            stack.up(home, free_port(), notion_port=port)


@pytest.mark.parametrize("name", ["BATON_PORT", "BATON_NOTION_PORT"])
def test_a_port_that_is_none_is_named(home: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, "eighty")
    with pytest.raises(StackError, match=f"{name} must be a port number, and is 'eighty'"):
        stack.up(home)


def test_nothing_runs_where_nothing_was_started(home: Path) -> None:
    assert not stack.down(home)
    with pytest.raises(StackError, match="make stack"):
        stack.current(home)


def test_a_file_of_an_earlier_version_keeps_its_tokens(home: Path) -> None:
    known = stack.Stack.__dataclass_fields__.keys() - stack.UNKNOWN_YET.keys()
    earlier: dict[str, Any] = dict.fromkeys(known, "x") | {"tokens": {"human": "baton_x"}}
    (home / "stack.json").write_text(json.dumps(earlier))
    saved = stack._saved(home)
    assert saved is not None
    assert (saved.tokens, saved.notion_url) == ({"human": "baton_x"}, "")


@pytest.mark.parametrize("name", ["engine", "notion"])
def test_only_the_holder_of_the_lock_is_ever_signalled(home: Path, name: str) -> None:
    """A process id that was written down may belong to somebody else by now: here it is this test's."""
    (home / f"{name}.lock").write_text(f'{{"pid": {os.getpid()}, "port": 1}}')
    assert not stack.down(home)


def test_a_models_key_is_never_sent_to_another_machine_in_the_clear(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BATON_MODEL_URL", "http://llm.example/v1")
    with pytest.raises(StackError, match="BATON_MODEL_URL must begin with https://"):
        stack.up(home)


@pytest.fixture
def engine(home: Path) -> Iterator[Engine]:
    """An engine that keeps its state, with nothing deployed in it."""
    engine = stack.engine_of(home)
    on_any_port(partial(engine.start, keep_state=True))
    yield engine
    engine.stop(forget=True)


def secrets_of(engine: Engine) -> Any:
    found = engine.running()
    assert found is not None
    return deployment.client("secretsmanager", Access(found[1], engine.key))


def started_again(engine: Engine) -> list[str]:
    on_any_port(partial(engine.start, keep_state=True))
    return sorted(each["Name"] for each in secrets_of(engine).list_secrets()["SecretList"])


def killed(engine: Engine) -> None:
    found = engine.running()
    assert found is not None
    os.kill(found[0], signal.SIGKILL)
    until(lambda: engine.running() is None)


def test_a_killed_engine_loses_what_came_after_its_last_save_and_this_is_known(engine: Engine) -> None:
    secrets_of(engine).create_secret(Name="saved", SecretString="x")
    before = datetime.now(UTC)
    engine.save()
    secrets_of(engine).create_secret(Name="lost", SecretString="x")
    killed(engine)
    lost_since = engine.saves.unsaved_since()
    assert lost_since is not None
    assert before <= lost_since <= datetime.now(UTC)
    assert started_again(engine) == ["saved"]


def test_a_stack_whose_engine_was_killed_is_not_reported_as_saved(engine: Engine) -> None:
    StandIn(engine.home).start(free_port(), keep_state=True)
    killed(engine)
    with pytest.raises(StackError, match=r"ended without saving: changes since .* are lost"):
        stack.down(engine.home)
    assert not stack.down(engine.home)


def test_an_engine_that_can_not_save_runs_on_until_it_can(engine: Engine) -> None:
    """A full disk, as the engine sees it: each write of a file fails."""
    StandIn(engine.home).start(free_port(), keep_state=True)
    secrets_of(engine).create_secret(Name="first", SecretString="x")
    engine.save()
    secrets_of(engine).create_secret(Name="second", SecretString="x")
    found = engine.running()
    assert found is not None
    _, most = resource.prlimit(found[0], resource.RLIMIT_FSIZE)
    resource.prlimit(found[0], resource.RLIMIT_FSIZE, (0, most))
    with pytest.raises(StackError, match=r"isn't saved in .*state: File too large\nThe engine still runs"):
        stack.down(engine.home)
    assert engine.running() == found
    assert StandIn(engine.home).port() is not None
    resource.prlimit(found[0], resource.RLIMIT_FSIZE, (most, most))
    assert stack.down(engine.home)
    assert started_again(engine) == ["first", "second"]


def test_a_signal_has_the_engine_save_its_state(engine: Engine) -> None:
    """A machine that shuts down sends one."""
    secrets_of(engine).create_secret(Name="saved", SecretString="x")
    found = engine.running()
    assert found is not None
    os.kill(found[0], signal.SIGTERM)
    until(lambda: engine.running() is None)
    assert engine.saves.unsaved_since() is None
    assert started_again(engine) == ["saved"]


def test_nobody_without_the_key_has_the_engine_save(engine: Engine) -> None:
    found = engine.running()
    assert found is not None
    response = httpx.post(f"http://127.0.0.1:{found[1]}/_baton/save", trust_env=False)
    assert response.status_code == 403

"""Stacks for the whole session, with every role enforced; each test gets a workspace of its own. A worker that has one
mostly waits for it: three workers have one each."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from uuid import uuid4

import pytest

from support.fakes.fake_thinker import FakeThinker
from support.worlds.deployed import Deployed
from support.worlds.second_stack import SecondStack
from support.worlds.tenant import Tenant, Workspaces, new_workspace
from tools.stack import stack
from tools.stack.background import on_any_port
from tools.stack.engine import Access

HERE = "tests/stack/"
# The fixtures by which a test belongs to a group.
GROUPS = {
    "engine_alone": {"engine_home"},
    "stacks_of_their_own": {"home", "another_home"},
    "stack_beside": {"beside"},
}


@pytest.hookimpl(tryfirst=True)  # before xdist reads the groups, also where this folder is named on the command line
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        if item.nodeid.startswith(HERE):
            item.add_marker("stack")
            item.add_marker(pytest.mark.xdist_group(group(item)))
    items.sort(key=turn)
    if hasattr(config, "workerinput"):  # among several workers the longest comes first
        items.sort(key=lambda item: not item.nodeid.startswith(HERE))


def pytest_collection_finish(session: pytest.Session) -> None:
    if session.config.getoption("loadgroup", False):  # two workers with a stack each would take twice as long, unseen
        stack_tests = [item for item in session.items if item.nodeid.startswith(HERE)]
        assert all(item.nodeid.endswith(f"@{group(item)}") for item in stack_tests)


def group(item: pytest.Item) -> str:
    """One worker runs all that share the session's stack; another one those that share the stack beside it; another
    one those that start stacks of their own; another one those that need nothing but the engine."""
    assert isinstance(item, pytest.Function)
    chosen = item.callspec.params.get("deployed") if hasattr(item, "callspec") else None
    needed = {*item.fixturenames, chosen}
    for name, fixtures in GROUPS.items():
        if needed & fixtures:
            return name
    return "stack"


def turn(item: pytest.Item) -> int:
    """The quick tests of other folders come first. Deploying is tested before anything else happened to the stack, and
    what the others left behind when they are through. What uses ``at_the_gateway`` comes before anybody changes that
    stack's front door. The second stack comes when nothing else is asked of the first, and is removed after all that
    use it."""
    if not item.nodeid.startswith(HERE):
        return 0
    assert isinstance(item, pytest.Function)
    usual = 2 if "at_the_gateway" in item.fixturenames else 3
    last = {"test_deploy.py": 4, "test_another_region.py": 5, "test_restore.py": 6, "test_afterwards.py": 7}
    return {"test_local_stack.py": 1, **last}.get(item.path.name, usual)


@pytest.fixture(scope="session")
def thinker() -> Iterator[FakeThinker]:
    """What agents think with that ask for ``openai_compatible``; the others' model is the script."""
    with FakeThinker().serving() as serving:
        assert isinstance(serving, FakeThinker)
        yield serving


@pytest.fixture(autouse=True)
def same_models(scrubbed_environment: None, monkeypatch: pytest.MonkeyPatch, thinker: FakeThinker) -> None:
    """For tests that bring the stack up once more: with other models it would be another one."""
    for name, value in thinker.environment.items():
        monkeypatch.setenv(name, value)


@pytest.fixture(scope="session")
def stack_home(tmp_path_factory: pytest.TempPathFactory, thinker: FakeThinker) -> Iterator[Path]:
    """Where the session's stack runs."""
    home = tmp_path_factory.mktemp("stack")
    with alone_with(thinker), stack.running(home):
        yield home


@contextmanager
def alone_with(thinker: FakeThinker) -> Iterator[None]:
    """A stack that is brought up within it is nobody's but ours."""
    with pytest.MonkeyPatch.context() as patch:
        for name in list(os.environ):
            if name.startswith(("AWS_", "BATON_", "POWERTOOLS_")):
                patch.delenv(name)
        for name, value in thinker.environment.items():
            patch.setenv(name, value)
        yield


@pytest.fixture(scope="session")
def another_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Where tests start one stack of theirs: building and deploying takes longest."""
    home = tmp_path_factory.mktemp("another")
    yield home
    stack.down(home)


@pytest.fixture(scope="session")
def engine_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where an engine runs in which nothing is deployed."""
    return tmp_path_factory.mktemp("engine")


@pytest.fixture(scope="session")
def engine_alone(engine_home: Path) -> Iterator[Access]:
    """An engine in which nothing is deployed: what needs no more needn't wait for those that share the stack."""
    engine = stack.engine_of(engine_home)
    try:
        _, port = on_any_port(partial(engine.start, keep_state=False))
        yield Access(port, engine.key)
    finally:
        engine.stop()


@pytest.fixture(scope="session")
def shared(stack_home: Path) -> Iterator[Deployed]:
    """The session's stack."""
    with settled(stack_home) as deployed:
        yield deployed


@pytest.fixture(scope="session")
def deployed(shared: Deployed) -> Deployed:
    return shared


@pytest.fixture(scope="session")
def beside(tmp_path_factory: pytest.TempPathFactory, thinker: FakeThinker) -> Iterator[Deployed]:
    """Another one, which is like the session's. A module that looks at no other workspace than its own has it as its
    ``deployed``: so two workers share the tests that wait."""
    home = tmp_path_factory.mktemp("beside")
    with alone_with(thinker), stack.running(home), settled(home) as deployed:
        yield deployed


@contextmanager
def settled(home: Path) -> Iterator[Deployed]:
    running = stack.current(home)
    with running.http(timeout_seconds=45) as http:
        deployed = Deployed(running, http)
        deployed.ledger.tokens |= {running.tokens["human"], running.tokens["service"]}
        deployed.ledger.tokens |= set(running.tokens["agents"].values())
        deployed.schedule("DISABLED")
        yield deployed


@pytest.fixture(scope="session")
def at_the_gateway(another_home: Path, thinker: FakeThinker) -> Iterator[Deployed]:
    """The stack in ``another_home`` until its front door is changed. A module that asks little of a stack has it as its
    ``deployed``: so two workers share the tests that need any."""
    with as_it_was_left(another_home, thinker) as left:
        yield left


@pytest.fixture(scope="session")
def first(another_home: Path, thinker: FakeThinker) -> Iterator[Deployed]:
    """The stack in ``another_home``, as the tests before have left it: another worker uses the session's meanwhile."""
    with as_it_was_left(another_home, thinker) as left:
        yield left


@contextmanager
def as_it_was_left(home: Path, thinker: FakeThinker) -> Iterator[Deployed]:
    with alone_with(thinker):
        known = (home / "stack.json").exists()
        running = stack.current(home) if known else stack.up(home, 0, notion_port=0)
    with running.http(timeout_seconds=45) as http:
        yield Deployed(running, http)


@pytest.fixture(scope="session")
def second(first: Deployed) -> Iterator[SecondStack]:
    """Beside the first one. Made when a test asks for it first; the last one removes it."""
    made = SecondStack(first)
    try:
        given = "LogLevel=DEBUG DeletionProtection=false BedrockModels=arn:aws:bedrock:us-east-1::foundation-model/a"
        given += " MonthlyBudget=50 AlarmTopicArn=arn:aws:sns:us-east-1:000000000000:alarms"
        given += " ReplicaRegion=eu-west-1 ExportBucket=baton-exports DomainName=second.example.com"
        given += f" CertificateArn=arn:aws:acm:us-east-1:000000000000:certificate/{uuid4()}"
        made.said = made.deploy(PARAMS=given, TAGS="team=agents")
        first.schedule("DISABLED")
        yield made
    finally:
        made.clear()


@pytest.fixture
def workspace(deployed: Deployed) -> Workspaces:
    """Makes workspaces: ``workspace(sources=…, **settings)``."""

    def make(*, sources: int = 0, **settings: int) -> Tenant:
        return new_workspace(deployed, sources=sources, **settings)

    return make


@pytest.fixture
def tenant(workspace: Workspaces) -> Tenant:
    """A workspace with the usual settings, but no undo window."""
    return workspace()

"""`make smoke` against the local stack, which it asks nothing that it wouldn't ask a deployment in AWS."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from support.smoke import left_open, smoked, smoking
from support.worlds.deployed import CANARY, Deployed
from support.worlds.tenant import Tenant, Workspaces, new_workspace
from tools.admin.smoke import FAILED, HOLDS, INTERRUPTED, UNFIT
from tools.admin.smoke_checks import ALL
from tools.admin.smoke_checks import CANARY as SHORT


@pytest.fixture(scope="module")
def deployed(beside: Deployed) -> Deployed:
    return beside


@pytest.fixture
def elsewhere(first: Deployed) -> Tenant:
    """A workspace of the stack that another worker has: a smoke test mostly waits."""
    return new_workspace(first)


@pytest.fixture(scope="module")
def refusing(deployed: Deployed) -> Tenant:
    """A workspace whose workers may not say what one of the checks says."""
    tenant = new_workspace(deployed, dispatch_delay_seconds=1)
    tenant.human.put("/workspace/settings", {"guardrails": {"forbidden_patterns": ["read"]}})
    return tenant


@pytest.fixture(scope="module")
def usual(deployed: Deployed) -> Tenant:
    return new_workspace(deployed, dispatch_delay_seconds=1)


@pytest.fixture(scope="module")
def others(usual: Tenant) -> str:
    """A task that isn't the smoke test's."""
    return usual.approved()


@pytest.fixture(scope="module")
def runs(usual: Tenant, refusing: Tenant, others: str) -> dict[str, tuple[int, str]]:
    """A run in either workspace, at the same time: both mostly wait."""
    assert others
    with ThreadPoolExecutor(2) as pool:
        return dict(zip((usual.name, refusing.name), pool.map(smoked, (usual, refusing)), strict=True))


def test_all_holds_and_nothing_is_left_open(usual: Tenant, others: str, runs: dict[str, tuple[int, str]]) -> None:
    status, said = runs[usual.name]
    assert status == HOLDS, said
    assert [line[15:] for line in said.splitlines() if line.startswith("ok ")] == [each.what for each in ALL]
    assert "left behind: 8 ended tasks, 3 agents switched off" in said
    assert said.splitlines()[-1].startswith(f"All {len(ALL)} checks hold, in ")
    assert left_open(usual) == []
    assert usual.task(others)["state"] == "delegated"
    assert "baton_" not in said.replace("baton_admin", "")
    assert CANARY not in said


def test_what_does_not_hold_is_named_and_the_rest_goes_on(refusing: Tenant, runs: dict[str, tuple[int, str]]) -> None:
    status, said = runs[refusing.name]
    assert status == FAILED, said
    (failed,) = [line for line in said.splitlines() if line.startswith("FAIL ")]
    assert failed.endswith("a claim is kept by heartbeats, and ends once")
    assert "look at docs/alarms.md, RequestFailedAlarm and WrittenByNewerAlarm" in said
    assert len([line for line in said.splitlines() if line.startswith("ok ")]) == len(ALL) - 1
    assert said.splitlines()[-1].startswith(f"FAILED: 1 of {len(ALL)} checks, in ")
    assert left_open(refusing) == []


def test_a_short_run_tells_of_a_queue_that_nobody_reads(elsewhere: Tenant) -> None:
    """Nobody takes the notices for agents that Baton runs."""
    lambdas = elsewhere.deployed.aws("lambda")
    function = elsewhere.deployed.stack.functions["ProcessTask"]
    (mapping,) = [
        each for each in lambdas.list_event_source_mappings()["EventSourceMappings"] if function in each["FunctionArn"]
    ]
    lambdas.update_event_source_mapping(UUID=mapping["UUID"], Enabled=False)
    try:
        status, said = smoked(elsewhere, SHORT="1")
    finally:
        lambdas.update_event_source_mapping(UUID=mapping["UUID"], Enabled=True)
    assert status == FAILED, said
    (failed,) = [line for line in said.splitlines() if line.startswith("FAIL ")]
    assert failed.endswith("an agent that Baton runs has its task done")
    assert "look at docs/operations.md, A stuck queue" in said
    assert said.splitlines()[-1].startswith(f"FAILED: 1 of {len(SHORT)} checks, in ")
    states = [each["state"] for each in elsewhere.human.get("/tasks?limit=100")["items"]]
    assert sorted(states) == ["cancelled", "done"]


def test_a_short_run_is_quick_and_leaves_two_tasks_whoever_ran_before(elsewhere: Tenant) -> None:
    """What a scheduler plays every few minutes: it takes the agents of the run before, and makes no tokens."""
    tokens = elsewhere.human.get("/tokens?limit=100")["items"]
    for _ in range(2):
        status, said = smoked(elsewhere, SHORT="1")
        assert status == HOLDS, said
        assert said.splitlines()[-1].startswith(f"All {len(SHORT)} checks hold, in ")
        assert "left behind: 2 ended tasks, and agents for the next run" in said
    assert elsewhere.human.get("/tokens?limit=100")["items"] == tokens
    agents = [each["slug"] for each in elsewhere.human.get("/agents?limit=100")["items"]]
    assert sorted(each for each in agents if each.startswith("smoke-")) == [
        *("smoke-short-runner", "smoke-short-sender", "smoke-short-worker")
    ]
    states = [each["state"] for each in elsewhere.human.get("/tasks?limit=100")["items"]]
    assert states == ["done"] * 4


def test_it_cleans_up_when_it_is_stopped(elsewhere: Tenant) -> None:
    with smoking(elsewhere.deployed.stack.api_url, elsewhere.human.token) as process:
        assert process.stdout
        while "claim" not in process.stdout.readline():  # tasks are open from here on
            assert process.poll() is None
        process.terminate()  # as Ctrl-C, which a shell's background jobs don't hear
        said, _ = process.communicate(timeout=120)
    assert process.returncode == INTERRUPTED, said
    assert "left behind:" in said
    assert left_open(elsewhere) == []


def test_a_token_or_workspace_that_is_not_fit_is_named_before_anything_is_made(workspace: Workspaces) -> None:
    tenant, slow = workspace(), workspace(dispatch_delay_seconds=60)
    for token in (tenant.scout.token, tenant.service.token, "baton_of_nobody"):
        status, said = smoked(tenant, token)
        assert status == UNFIT
        assert "TOKEN must be a human's" in said
    status, said = smoked(slow)
    assert (status, "dispatch_delay_seconds is 60" in said) == (UNFIT, True)
    assert not any(each["slug"].startswith("smoke-") for each in tenant.human.get("/agents")["items"])

"""The console on the deployed local stack: the same pages, every role enforced, real functions behind them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

import stack
from support.worlds.deployed import Deployed
from support.worlds.tenant import Tenant, new_workspace


@pytest.fixture(scope="module")
def deployed(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployed]:
    with stack.running(tmp_path_factory.mktemp("console-stack")) as running, running.http() as http:
        yield Deployed(running, http)


@pytest.fixture
def tenant(deployed: Deployed) -> Tenant:
    return new_workspace(deployed, dispatch_delay_seconds=3)


def test_one_signs_in_approves_watches_and_cancels(page: Any, tenant: Tenant) -> None:
    task_id = tenant.needing()
    code = tenant.human.post("/session-codes")["code"]
    page.goto(f"{tenant.deployed.stack.api_url}/console/#code={code}")
    page.get_by_text("1 waiting").wait_for()
    assert code not in page.url
    _approve_by_keyboard(page, tenant, task_id)
    _watch(page, tenant, task_id)
    _cancel_a_tree(page, tenant)


def _approve_by_keyboard(page: Any, tenant: Tenant, task_id: str) -> None:
    page.keyboard.press("j")
    page.get_by_role("region", name="What would be approved").get_by_text("CI fails more often").first.wait_for()
    page.keyboard.press("a")
    page.get_by_role("button", name=re.compile("^Undo")).wait_for()
    page.get_by_text("Nothing waits for you").wait_for()
    assert tenant.task(task_id)["state"] == "delegated"


def _watch(page: Any, tenant: Tenant, task_id: str) -> None:
    page.goto(re.sub("#.*", f"#/tasks/{task_id}", page.url))
    page.get_by_text("nobody has claimed it yet").wait_for()
    claim = tenant.claim(task_id, "desk-7", 60)
    page.get_by_text("holds it as desk-7").wait_for()
    page.get_by_text(re.compile("handoff received")).wait_for()
    lease = page.locator(".holder strong time").get_attribute("datetime")
    tenant.reviewer.post(f"/tasks/{task_id}/heartbeat", {"claim_id": claim["claim_id"], "lease_seconds": 900})
    page.locator(f".holder strong time:not([datetime='{lease}'])").wait_for()
    tenant.reviewer.post(f"/tasks/{task_id}/complete", {"claim_id": claim["claim_id"], "output": {"signed": True}})
    page.get_by_text('"signed": true').wait_for()
    page.get_by_role("button", name="Verify").click()
    page.get_by_text("each chained to the one before").wait_for()


def _cancel_a_tree(page: Any, tenant: Tenant) -> None:
    task_id = tenant.approved()
    claim = tenant.reviewer.post("/agents/reviewer/claims/wait?timeout=20", {})
    branches = [{"target": {"agent": "scout", "reason": reason}} for reason in ("Read the log", "Ask the client")]
    tenant.reviewer.post(f"/tasks/{task_id}/delegate", {"claim_id": claim["claim_id"], "branches": branches})
    page.goto(re.sub("#.*", f"#/tasks/{task_id}", page.url))
    page.get_by_text("3 handoffs").wait_for()
    page.keyboard.press("c")
    page.get_by_role("dialog").get_by_text("2 tasks fall with it").wait_for()
    page.get_by_role("dialog").get_by_role("button", name="Cancel all 3").click()
    page.locator(".box.cancelled").nth(2).wait_for()
    chain = tenant.human.get(f"/workflows/{tenant.task(task_id)['workflow_id']}/chain")["nodes"][0]
    assert [chain["state"], *(each["state"] for each in chain["children"])] == ["cancelled"] * 3

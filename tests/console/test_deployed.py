"""The console on the deployed local stack: the same pages, every role enforced, real functions behind them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from support.fakes.fake_thinker import FakeThinker
from support.worlds.deployed import Deployed
from support.worlds.tenant import Tenant, marker_body, new_workspace
from tools.stack import stack


@pytest.fixture(scope="module")
def thinker() -> Iterator[FakeThinker]:
    """What the agents of a conversation think with."""
    with FakeThinker().serving() as serving:
        assert isinstance(serving, FakeThinker)
        yield serving


@pytest.fixture(scope="module")
def deployed(browser: Any, thinker: FakeThinker, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployed]:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in thinker.environment.items():
            patch.setenv(name, value)
        with stack.running(tmp_path_factory.mktemp("console-stack")) as running, running.http() as http:
            yield Deployed(running, http)


@pytest.fixture(autouse=True)
def patience(page: Any) -> None:
    """Functions that start, on a busy machine."""
    page.context.set_default_timeout(60_000)


@pytest.fixture
def tenant(deployed: Deployed) -> Tenant:
    return new_workspace(deployed, dispatch_delay_seconds=3)


def test_one_signs_in_approves_watches_and_cancels(page: Any, tenant: Tenant) -> None:
    task_id = tenant.needing()
    code = tenant.human.post("/session-codes")["code"]
    page.goto(f"{tenant.deployed.stack.api_url}/console/#code={code}")
    page.get_by_role("button", name="Sign in by the link").click()
    page.get_by_role("link", name="1 to approve").click()
    page.get_by_text("1 waiting").wait_for()
    assert code not in page.url
    _approve_by_keyboard(page, tenant, task_id)
    _watch(page, tenant, task_id)
    _cancel_a_tree(page, tenant)
    _release_a_review(page, tenant)


def _approve_by_keyboard(page: Any, tenant: Tenant, task_id: str) -> None:
    page.keyboard.press("j")
    whole = page.get_by_role("region", name="What would be approved")
    whole.get_by_text("CI fails more often").first.wait_for()
    whole.get_by_role("button", name="Approve").and_(page.locator(":enabled")).wait_for()
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


def _release_a_review(page: Any, tenant: Tenant) -> None:
    for _ in range(3):  # the cap of a direction is 2
        marker = tenant.scout.post("/handoff-markers", marker_body())
        if marker["escalation_capped"]:
            break
        tenant.human.post(f"/tasks/{marker['task_id']}/cancel")
    page.goto(re.sub("#.*", "#/reviews", page.url))
    page.get_by_role("link", name="scout").click()
    page.get_by_role("button", name=re.compile("^Release")).click()
    page.get_by_role("dialog").get_by_role("button", name="Release").click()
    page.wait_for_url(re.compile("#/tasks/task_"))
    (review,) = tenant.human.get("/manual-reviews?state=released")["items"]
    assert review["released_by"] == "human:alice"


def test_a_tab_hears_what_happens_in_another_and_asks_for_nothing_meanwhile(page: Any, tenant: Tenant) -> None:
    tenant.needing()
    tabs, asked, heard = (page, page.context.new_page()), list[str](), list[str]()
    tabs[1].on("request", lambda request: asked.append(request.url))
    tabs[1].on("websocket", lambda socket: socket.on("framereceived", lambda text: heard.append(text)))
    code = tenant.human.post("/session-codes")["code"]
    page.goto(f"{tenant.deployed.stack.api_url}/console/#code={code}")
    page.get_by_role("button", name="Sign in by the link").click()
    page.get_by_role("link", name="1 to approve").wait_for()
    tabs[1].goto(f"{tenant.deployed.stack.api_url}/console/")  # it goes on with the session
    for tab in tabs:
        tab.get_by_role("link", name="1 to approve").click()
        tab.get_by_text("1 waiting").wait_for()
    page.wait_for_timeout(8_000)
    assert heard == ['{"looked": "lists"}']
    asked.clear()
    page.wait_for_timeout(20_000)
    assert asked == []
    page.keyboard.press("j")
    page.get_by_role("button", name=re.compile("^Approve")).and_(page.locator(":enabled")).wait_for()
    page.keyboard.press("a")
    tabs[1].get_by_text("Nothing waits for you").wait_for()


def test_a_worker_asks_and_gets_what_a_person_has_approved_instead(page: Any, tenant: Tenant) -> None:
    path = f"/tasks/{tenant.approved()}"
    claim = tenant.reviewer.post("/agents/reviewer/claims/wait?timeout=20", {})
    asks = {"kind": "action", "text": "The parcel was lost", "tool": "refund", "arguments": {"amount": 100}}
    question = tenant.reviewer.post(f"{path}/ask", {"claim_id": claim["claim_id"], **asks})
    code = tenant.human.post("/session-codes")["code"]
    page.goto(f"{tenant.deployed.stack.api_url}/console/#code={code}")
    page.get_by_role("button", name="Sign in by the link").click()
    page.get_by_role("link", name="1 question").click()
    page.get_by_text("1 waiting").wait_for()
    page.keyboard.press("j")
    page.get_by_role("button", name=re.compile("^Edit arguments")).and_(page.locator(":enabled")).wait_for()
    page.keyboard.press("e")
    page.get_by_label("Arguments, as JSON").fill('{"amount": 50}')
    page.get_by_role("button", name="Approve these").click()
    page.get_by_text("Nothing waits for you").wait_for()
    tenant.reviewer.post(f"{path}/ask", {"claim_id": claim["claim_id"], "kind": "text", "text": "Which colour?"})
    page.get_by_text("Which colour?").wait_for()
    seen = tenant.reviewer.get(f"{path}/questions/{question['id']}")
    assert (seen["outcome"], seen["decisions"][0]["arguments"]) == ("approved", {"amount": 50})
    assert seen["approved_digest"] not in {None, question["digest"]}
    use = {"claim_id": claim["claim_id"], "digest": seen["approved_digest"]}
    assert tenant.reviewer.post(f"{path}/questions/{question['id']}/use", use)["used_at"]
    page.goto(re.sub("#.*", f"#{path}", page.url))
    page.get_by_text(re.compile("It was begun")).wait_for()


def test_a_tool_is_made_and_a_conversation_is_routed_twice(page: Any, tenant: Tenant, thinker: FakeThinker) -> None:
    words = {slug: _hired(tenant, slug) for slug in ("sales", "sdr-agent", "closer")}
    code = tenant.human.post("/session-codes")["code"]
    page.goto(f"{tenant.deployed.stack.api_url}/console/#code={code}")
    page.get_by_role("button", name="Sign in by the link").click()
    page.get_by_role("button", name="Sign out").wait_for()
    _make_a_tool(page, "handoff_to_sdr", "sdr-agent")
    _make_a_tool(page, "handoff_to_closer", "closer")
    tenant.human.put("/agents/sales", {"tools": ["handoff_to_sdr"]})
    tenant.human.put("/agents/sdr-agent", {"tools": ["handoff_to_closer"]})
    thinker.plays(words["sales"], [("handoff_to_sdr", {"lead_id": "123"})])
    thinker.plays(words["sdr-agent"], [("handoff_to_closer", {"lead_id": "123"})])
    thinker.plays(words["closer"], "I'll call lead 123.")
    page.goto(re.sub("#.*", "#/chat", page.url))
    page.get_by_label("With").select_option("sales")
    page.get_by_role("textbox", name="Message").fill("Lead 123 wants a call")
    page.get_by_role("button", name="Begin").click()
    log = page.get_by_role("log")
    log.locator(".routed").nth(1).wait_for()
    log.get_by_text("I'll call lead 123.").wait_for()
    assert [text.split(" now")[0] for text in log.locator(".routed strong").all_inner_texts()] == [
        "Routed to sdr-agent",
        "Routed to closer",
    ]
    page.get_by_role("heading", name="With closer").wait_for()


def _hired(tenant: Tenant, slug: str) -> str:
    """The first word of its prompt: each workspace has agents of its own."""
    word = f"{slug}@{tenant.name}"
    values = {
        "name": slug,
        "runtime": "run",
        "model": "openai_compatible:some-model",
        "system_prompt": f"{word} is you.",
    }
    tenant.human.put(f"/agents/{slug}", values)
    return word


def _make_a_tool(page: Any, name: str, target: str) -> None:
    page.goto(re.sub("#.*", "#/new-tool", page.url))
    page.get_by_label("Name").fill(name)
    page.get_by_label("Hands over to").select_option(target)
    page.get_by_role("button", name="Add a variable").click()
    page.get_by_label("Variable's name").fill("lead_id")
    page.get_by_role("button", name="Save").click()
    page.get_by_text("Nothing is handed over").wait_for()

"""Tasks in Notion, on the deployed functions: under their roles, over HTTP both ways, with the stand-in for Notion."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from support.worlds.deployed import until
from support.worlds.tenant import Tenant, Workspaces, task_of


@dataclass
class Notion:
    """The stand-in, as a person and as bad luck drive it; ``database`` is this workspace's own."""

    http: httpx.Client
    database: str

    def control(self, method: str, path: str, /, **body: Any) -> dict[str, Any]:
        answer: dict[str, Any] = self.http.request(method, f"/control{path}", json=body).raise_for_status().json()
        return answer

    def pages(self) -> list[dict[str, Any]]:
        pages: list[dict[str, Any]] = self.http.get(f"/control/pages?database_id={self.database}").json()["pages"]
        return pages

    def page(self) -> dict[str, Any]:
        (page,) = self.pages()
        return page


@pytest.fixture
def notion(tenant: Tenant) -> Iterator[Notion]:
    with httpx.Client(base_url=tenant.deployed.stack.notion_url, timeout=30, trust_env=False) as http:
        database = http.post("/control/databases", json={"title": tenant.name}).raise_for_status().json()["id"]
        tenant.human.put("/tracker/token", {"token": f"ntn_of_{tenant.name}"})
        tenant.human.put("/workspace/settings", {"tracker": {"database": database}})
        yield Notion(http, database)
        http.delete("/control/fault")


def test_a_task_arrives_in_notion_follows_its_state_and_is_told_of_its_end(tenant: Tenant, notion: Notion) -> None:
    checked = tenant.human.post("/tracker/check", {})
    assert checked["ok"]
    assert [problem["problem"] for problem in checked["problems"]] == ['"Status" has no option "Rejected" (rejected)']
    answer = tenant.mark()
    task_id, page = task_of(answer), notion.page()
    assert answer["degraded_capabilities"] == []
    assert (answer["tracker_page_id"], answer["task_url"]) == (page["id"], page["url"])
    assert (page["status"], page["priority"], page["task_id"]) == ("Not started", "🟡 Medium", task_id)
    assert tenant.mark()["existing_task_url"] == page["url"]
    tenant.human.post(f"/tasks/{task_id}/approve", {})
    claim = tenant.claim(task_id)
    until(lambda: notion.page()["status"] == "In progress")
    body = {"claim_id": claim["claim_id"], "output": {"summary": "All green"}}
    tenant.reviewer.post(f"/tasks/{task_id}/complete", body)
    until(lambda: notion.page()["status"] == "Done" and notion.page()["comments"])
    until(lambda: tenant.task(task_id)["tracker"]["status"] == "ok")
    assert len(notion.pages()) == 1


def test_a_person_closes_a_task_in_notion(tenant: Tenant, notion: Notion) -> None:
    url = urlsplit(tenant.human.post("/tracker/webhook", {})["url"])
    target = {"url": tenant.deployed.stack.endpoint_url + url.path, "host": url.netloc}
    notion.control("POST", "/subscriptions", **target, database_id=notion.database)
    until(lambda: tenant.human.get("/tracker/webhook")["verification_token"])
    task_id = tenant.needing()
    notion.control("POST", f"/pages/{notion.page()['id']}", status="Done")
    assert tenant.awaited(task_id)["state"] == "done"
    last = tenant.events(task_id)[-1]
    assert (last["type"], last["principal"]["kind"]) == ("resolved", "human")
    assert last["principal"]["id"].startswith("notion:")
    assert tenant.human.get("/tracker/webhook")["verification_token"] is None
    assert url.path.rsplit("/", 1)[1] not in str(tenant.human.get("/tracker/health"))


def test_a_slow_notion_costs_the_marker_its_page_and_no_more_than_its_time(tenant: Tenant, notion: Notion) -> None:
    tenant.mark(tenant.human, target_agent="runner")  # the schema is known from here on
    notion.control("POST", "/fault", kind="slow", seconds=20, count=100, method="POST", path="/v1/pages")
    answer = tenant.mark()
    (trouble,) = answer["degraded_capabilities"]
    assert (trouble["capability"], trouble["status"], answer["tracker_page_id"]) == ("tracker", "pending", None)
    assert answer["task_url"].endswith(f"/tasks/{answer['task_id']}")
    assert tenant.human.get("/tracker/health")["waiting"] >= 1


def test_what_waited_for_notion_is_sent_when_it_answers_again(tenant: Tenant, notion: Notion) -> None:
    notion.control("POST", "/fault", status=429, retry_after=600, path="/v1/", count=1_000)
    answer = tenant.mark()
    assert [trouble["status"] for trouble in answer["degraded_capabilities"]] == ["pending"]
    assert tenant.human.get("/tracker/health")["status"] == "pending"
    notion.control("DELETE", "/fault")
    assert tenant.human.post("/tracker/retry", {})["complete"]
    until(lambda: notion.pages())
    until(lambda: tenant.task(answer["task_id"])["tracker"]["status"] == "ok")
    assert tenant.human.get("/tracker/health")["status"] == "ok"


def test_a_workspace_never_uses_anothers_token(workspace: Workspaces, tenant: Tenant, notion: Notion) -> None:
    other = workspace()
    other.human.put("/workspace/settings", {"tracker": {"database": notion.database}})
    (trouble,) = other.mark()["degraded_capabilities"]
    assert trouble["status"] == "denied"
    assert "PUT /tracker/token" in trouble["message"]
    assert notion.pages() == []


def test_what_existed_only_in_notion_is_imported(tenant: Tenant, notion: Notion) -> None:
    title = "Handoff: Client Health Scout → Release Reviewer — 2026-11-16"
    page = notion.control("POST", "/pages", database_id=notion.database, title=title)
    assert tenant.human.post("/tracker/import", {})["opened"] == 1
    assert tenant.mark()["existing_task_url"] == page["url"]
    assert tenant.human.post("/tracker/import", {})["known"] == 1

"""What holds for every request, whatever it asks for."""

from __future__ import annotations

import re
from typing import Any

import pytest

from support.worlds.deployed import Deployed, problem, until
from support.worlds.tenant import Tenant, Workspaces, new_workspace


@pytest.fixture(scope="module")
def reader(deployed: Deployed) -> Tenant:
    """One for all tests that write nothing."""
    return new_workspace(deployed)


def test_healthz_needs_no_token(deployed: Deployed) -> None:
    response = deployed.client().send("GET", "/healthz?deep=true")
    assert (response.status_code, response.json()) == (200, {"status": "ok"})
    response = deployed.client().send("GET", "/healthz")
    assert (response.status_code, response.json()) == (200, {"status": "ok"})
    assert deployed.client("baton_nonsense").send("GET", "/healthz").status_code == 200


@pytest.mark.parametrize(
    "path", ["/", "/nowhere", "/tasks/a/b/c", "/agents/scout/claims/wait/x", "/tasks/a%2Fb", "//tasks"]
)
def test_an_unknown_route_is_a_problem(reader: Tenant, path: str) -> None:
    for method in ("GET", "POST"):
        refusal = problem(reader.human.send(method, path))
        assert (refusal["status"], refusal["code"], refusal["detail"]) == (404, "not_found", "No such route.")


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("POST", "/tasks", "GET, HEAD"),
        ("GET", "/handoff-markers", "POST"),
        ("DELETE", "/agents/scout", "GET, HEAD, PUT"),
        ("PUT", "/tokens", "GET, HEAD, POST"),
        ("POST", "/tasks/t/await", "GET, HEAD"),
        ("GET", "/agents/scout/claims/wait", "POST"),
        ("PATCH", "/workspace/settings", "GET, HEAD, PUT"),
        ("POST", "/healthz", "GET, HEAD"),
    ],
)
def test_a_wrong_method_is_told_the_right_ones(reader: Tenant, method: str, path: str, allowed: str) -> None:
    response = reader.human.send(method, path)
    assert (response.status_code, response.headers["allow"]) == (405, allowed)
    assert problem(response)["code"] == "method_not_allowed"


def test_a_request_id_comes_back(tenant: Tenant) -> None:
    for path in ("/agents", "/nowhere", "/tasks/none", "/tasks/none/await"):
        response = tenant.human.send("GET", path, headers={"X-Request-Id": "req-42_A"})
        assert response.headers["x-request-id"] == "req-42_A"
        assert response.is_success or response.json()["request_id"] == "req-42_A"


@pytest.mark.parametrize("given", ["", "two words", "x" * 65, "a\tb", "<script>"])
def test_a_request_id_that_could_not_be_logged_is_replaced(reader: Tenant, given: str) -> None:
    shown = reader.human.send("GET", "/agents", headers={"X-Request-Id": given}).headers["x-request-id"]
    assert shown
    assert shown != given


def test_answers_are_never_kept_by_anybody_in_between(tenant: Tenant) -> None:
    for path, kept in (("/agents", "private, no-cache"), ("/tasks/none", "no-store"), ("/healthz", "no-store")):
        headers = tenant.human.send("GET", path).headers
        assert (headers["cache-control"], headers["x-content-type-options"]) == (kept, "nosniff")


def test_what_is_read_again_is_answered_without_its_body_until_it_changes(tenant: Tenant) -> None:
    task_id = tenant.needing("reviewer")
    for path in (f"/tasks/{task_id}", "/tasks?state=needs", "/workspace/settings"):
        first = tenant.human.send("GET", path)
        known = {"If-None-Match": first.headers["etag"]}
        again = tenant.human.send("GET", path, headers=known)
        assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", first.headers["etag"])
    known = {"If-None-Match": tenant.human.send("GET", f"/tasks/{task_id}").headers["etag"]}
    tenant.human.post(f"/tasks/{task_id}/approve")
    assert tenant.human.send("GET", f"/tasks/{task_id}", headers=known).json()["state"] == "delegated"


def test_a_list_is_answered_from_its_watch_until_the_stream_brings_a_change(tenant: Tenant) -> None:
    """Its tag has an edition once the stream has brought the watch, and another one once it has brought a change."""
    task_id, tags = tenant.needing("reviewer"), [""]

    def look() -> Any:
        headers = {"Cache-Control": "max-age=30", "If-None-Match": tags[-1]}
        answer = tenant.human.send("GET", "/tasks?state=needs", headers=headers)
        tags.append(answer.headers["etag"])
        return answer

    until(lambda: look().status_code == 304 and "." in tags[-1] and tags[-1] == tags[-2])
    tenant.human.post(f"/tasks/{task_id}/approve")
    until(lambda: look().status_code == 200)
    assert tags[-1] != tags[-2]
    assert task_id not in {task["id"] for task in tenant.human.get("/tasks?state=needs")["items"]}


@pytest.mark.parametrize("listing", ["/tasks?", "/tasks?agent=reviewer&", "/tasks?state=delegated&", "/tokens?"])
def test_a_list_goes_on_where_a_page_ended(tenant: Tenant, listing: str) -> None:
    tenant.unrung(5, "reviewer")
    whole = tenant.human.get(f"{listing}limit=100")
    found: list[Any] = []
    cursor: str | None = ""
    while cursor is not None:
        page = tenant.human.get(f"{listing}limit=2{cursor}")
        assert len(page["items"]) <= 2
        found += page["items"]
        cursor = page["next_cursor"] and f"&cursor={page['next_cursor']}"
    assert len(found) == 5
    assert (found, whole["next_cursor"]) == (whole["items"], None)


def test_a_cursor_belongs_to_the_listing_that_gave_it(workspace: Workspaces) -> None:
    tenant, stranger = workspace(), workspace()
    cursor = tenant.human.get("/tokens?limit=1")["next_cursor"]
    assert tenant.human.get(f"/tokens?cursor={cursor}")["items"]
    for by, path in ((tenant.human, "/tasks"), (tenant.human, "/manual-reviews"), (stranger.human, "/tokens")):
        refusal = problem(by.send("GET", f"{path}?cursor={cursor}"))
        assert (refusal["status"], [error["field"] for error in refusal["errors"]]) == (422, ["cursor"])


@pytest.mark.parametrize("path", ["/console", "/console/"])
def test_the_console_is_served_to_anybody_and_its_files_may_be_kept(deployed: Deployed, path: str) -> None:
    nobody = deployed.client(None)
    page = nobody.send("GET", path, headers={"Accept-Encoding": "gzip"})
    assert (page.status_code, page.headers["cache-control"]) == (200, "no-cache")
    assert page.headers["content-encoding"] == "gzip"
    links = re.findall(r'(?:href|src)="(/console/[^"]+)"', page.text)
    assert links
    for link in links:
        file = nobody.send("GET", link, headers={"Accept-Encoding": "identity"})
        assert (file.status_code, "immutable" in file.headers["cache-control"]) == (200, True)
        assert file.content
    again = nobody.send("GET", path, headers={"Accept-Encoding": "gzip", "If-None-Match": page.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize(
    ("method", "path", "status"), [("POST", "/console", 405), ("PUT", "/console/x", 405), ("GET", "/console/x", 404)]
)
def test_whatever_the_console_answers_has_its_policy(deployed: Deployed, method: str, path: str, status: int) -> None:
    answer = deployed.client(None).send(method, path)
    assert (answer.status_code, answer.headers["x-frame-options"]) == (status, "DENY")
    assert "trusted-types 'none'" in answer.headers["content-security-policy"]

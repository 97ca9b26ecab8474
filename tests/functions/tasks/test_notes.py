"""Notes of workers, over HTTP."""

from __future__ import annotations

from support.worlds.http_agents import ALICE, HttpAgents


def test_a_worker_notes_something_beside_its_task_and_changes_nothing_of_it_but_the_lease(
    http_agents: HttpAgents,
) -> None:
    claim = http_agents.begun()
    path = f"/tasks/{claim['task']['id']}"
    noted = http_agents.say(claim, "notes", text="The token of the CI is out of date")
    assert (noted.status, noted.json["content"]) == (201, {"text": "The token of the CI is out of date"})
    (shown,) = http_agents.gateway.get(ALICE, f"{path}/notes").json["items"]
    assert shown == noted.json
    task = http_agents.gateway.get(ALICE, path).json
    kept = {name: value for name, value in claim["task"].items() if name not in {"version", "claim", "updated_at"}}
    assert {name: task[name] for name in kept} == kept


def test_only_the_claim_notes_and_only_what_may_be_kept(http_agents: HttpAgents) -> None:
    claim = http_agents.begun()
    stale = {**claim, "claim_id": "clm_of_nobody"}
    assert http_agents.say(stale, "notes", text="x").json["code"] == "stale_claim"
    assert http_agents.say(claim, "notes", text="").status == 422
    secret = "AKIA" + "IOSFODNN7EXAMPLE"
    refused = http_agents.say(claim, "notes", text=f"the key is {secret}")
    assert (refused.status, refused.json["code"]) == (422, "guardrail")
    assert secret not in refused.text
    assert http_agents.gateway.get(ALICE, f"/tasks/{claim['task']['id']}/notes").json["items"] == []

"""A workspace that an operator reads out and removes, over the engine's own scan and deletions."""

from __future__ import annotations

import json

from baton.domain.numbers import dumps
from support.worlds.deployed import Deployed
from support.worlds.tenant import new_workspace
from tools.admin import verify_trail
from tools.admin.workspace_data import WorkspaceData


def test_a_workspace_is_read_out_and_removed_and_its_neighbour_goes_on(deployed: Deployed) -> None:
    tenant, neighbour = new_workspace(deployed), new_workspace(deployed)
    claim = tenant.claimed()
    task_id = claim["task"]["id"]
    tenant.reviewer.post(f"/tasks/{task_id}/complete", {"claim_id": claim["claim_id"], "output": {"kept": True}})
    theirs = neighbour.approved()
    data = WorkspaceData(deployed.deps, deployed.dynamo, deployed.stack.table, tenant.name)

    text = "".join(dumps(line, ensure_ascii=False) + "\n" for line in data.export())
    (task,) = [line for line in map(json.loads, text.splitlines()) if line["kind"] == "task"]
    assert (task["id"], task["task"]["state"], task["output"]) == (task_id, "done", {"kept": True})
    assert verify_trail.verify_export(text).startswith("1 trails")

    assert data.remove() > 0
    assert [line["kind"] for line in data.export()] == ["workspace", "end"]
    assert tenant.human.send("GET", "/tasks").status_code == 403
    assert neighbour.task(theirs)["state"] == "delegated"

"""Recall on the deployed stack: whichever process answers, it knows what was posted before the question; and each
function may read what handoffs take along."""

from __future__ import annotations

from typing import Any

from baton.adapters.dynamodb.memory import entry_items
from baton.adapters.dynamodb.table import DEFAULT_SHARDS, to_wire
from baton.domain.memory.packing import PACK_SIZE
from support.values.full_board import many_entries
from support.worlds.deployed import Client, Deployed
from support.worlds.tenant import Tenant, new_workspace

BATCH = 25  # of BatchWriteItem


def posted(client: Client, summary: str, **values: Any) -> str:
    return str(client.post("/blackboard", {"entry_type": "decision", "summary": summary, **values})["id"])


def found(client: Client, path: str) -> list[str]:
    return [each["id"] for each in client.get(path)["items"]]


def test_a_decision_is_found_replaced_explained_and_forgotten(tenant: Tenant, deployed: Deployed) -> None:
    assert found(tenant.reviewer, "/recall?q=sessions") == []
    first = posted(tenant.scout, "Sessions are kept in Redis", scope="src/auth")
    assert found(tenant.reviewer, "/recall?q=where+is+a+session+kept") == [first]

    second = posted(tenant.reviewer, "Logins live in signed cookies", scope="src/auth", supersedes=first)
    (best, older) = tenant.scout.get("/recall?q=where+are+sessions+kept&scope=src/auth/jwt")["items"]
    assert (best["id"], older["id"]) == (second, first)
    assert [each["summary"] for each in best["replaced"]] == ["Sessions are kept in Redis"]
    assert found(tenant.scout, "/why?path=src/auth/session_store.py") == [second]
    assert found(new_workspace(deployed).human, "/recall?q=sessions") == []

    tenant.human.ok("DELETE", f"/blackboard/{second}")
    assert found(tenant.scout, "/recall?q=cookies") == []
    assert found(tenant.scout, "/why?path=src/auth/session_store.py") == []


def test_each_of_many_entries_is_found_by_the_next_question(tenant: Tenant) -> None:
    for number in range(10):
        entry = posted(tenant.scout, f"Queue number{number} is drained by hand")
        assert entry in found(tenant.reviewer, f"/recall?q=number{number}&limit=1")


def test_the_first_question_of_all_packs_the_entries_and_a_deletion_empties_the_pack(tenant: Tenant) -> None:
    """Under the roles of the deployed functions."""
    deployed, entries = tenant.deployed, list(many_entries(PACK_SIZE, tenant.name))
    items = [DEFAULT_SHARDS.placed(to_wire(entry_items.entry_item(each))) for each in entries]
    for start in range(0, PACK_SIZE, BATCH):
        puts = [{"PutRequest": {"Item": item}} for item in items[start : start + BATCH]]
        deployed.dynamo.batch_write_item(RequestItems={deployed.stack.table: puts})

    def packs() -> list[bool]:
        return [each.is_void for each in deployed.deps.store.memory.packs_before(tenant.name, None, 10)]

    assert tenant.reviewer.get("/recall?q=payment")["searched"] == PACK_SIZE
    assert packs() == [False]
    tenant.human.ok("DELETE", f"/blackboard/{entries[0].id}")
    assert packs() == [True]


def test_an_escalation_takes_along_what_is_known_and_an_agent_that_is_run_is_told(tenant: Tenant) -> None:
    decision = posted(tenant.scout, "Tokens are opaque", scope="src/auth")
    asked = {"scope": "src", "auto_snapshot": True, "auto_memories": 1}
    task_id = tenant.approved(target="runner", **asked)
    handoff = tenant.human.get(f"/handoffs/ho_{task_id.removeprefix('task_')}")
    assert (handoff["snapshot"]["decision_ids"], handoff["snapshot"]["posted_by"]) == ([decision], ["agent:scout"])
    assert tenant.awaited(task_id)["state"] == "done"

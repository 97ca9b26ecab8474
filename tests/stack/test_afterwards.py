"""What the whole session left behind: runs last (conftest.py), and says most after all the others."""

from __future__ import annotations

import json
import re

import pytest

from support.worlds.deployed import CANARY, Deployed, until
from support.worlds.tenant import marker_body, new_workspace

FUNCTIONS = ["CreateHandoffMarker", "Api", "Wait", "ProcessTask", "SweepStaleClaims"]
FUNCTIONS += ["SyncTracker", "NotionWebhook", "PublishEvents", "McpDoor", "Console"]
_TOKEN = re.compile(r"baton_[0-9a-z]+_([0-9a-f]{64})")


@pytest.fixture(scope="module", params=["shared", "beside"])
def deployed(request: pytest.FixtureRequest) -> Deployed:
    of: Deployed = request.getfixturevalue(request.param)
    return of


@pytest.fixture(scope="module", autouse=True)
def something_happened(deployed: Deployed) -> None:
    """If these tests run alone: every function has written something, and it had something to hide."""
    tenant = new_workspace(deployed)
    task_id = tenant.needing("runner")
    tenant.human.post(f"/tasks/{task_id}/approve")
    tenant.awaited(task_id)
    claim = tenant.claimed()
    body = {"claim_id": claim["claim_id"], "output": CANARY}
    tenant.reviewer.post(f"/tasks/{claim['task']['id']}/complete", body)
    tenant.reviewer.refused("POST", f"/tasks/{claim['task']['id']}/complete", {**body, "output": [CANARY]})
    tenant.human.refused("POST", "/tokens", {"kind": CANARY, "subject": CANARY, CANARY: CANARY})
    deployed.client(f"baton_{'0' * 26}_{'f' * 64}").send("GET", f"/tasks?agent={CANARY}")
    tenant.human.put("/tracker/token", {"token": f"ntn_{CANARY}"})
    tenant.human.put("/workspace/settings", {"tracker": {"database": "0" * 32}})
    tenant.scout.post("/handoff-markers", marker_body(target_agent="runner"))
    for address in (CANARY, f"{tenant.name}.{'f' * 64}"):
        deployed.client(None).refused("POST", f"/notion/webhook/{address}", {"verification_token": CANARY})
    deployed.client(None).refused("GET", f"/.well-known/{CANARY}")
    deployed.client(None).send("GET", f"/console/{CANARY}")
    deployed.sweep()
    # Functions behind queues and streams run, and their lines arrive, a little later.
    until(lambda: all(len(deployed.logs(each)) > 2 for each in FUNCTIONS))


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_functions_log_shows_no_token_no_claim_and_no_payload(deployed: Deployed, function: str) -> None:
    lines = deployed.logs(function)
    assert len(lines) > 2
    secrets = {found[1] for found in map(_TOKEN.fullmatch, deployed.ledger.tokens) if found}
    assert len(secrets) > 5
    assert deployed.ledger.claim_ids
    hidden = secrets | deployed.ledger.claim_ids | {CANARY}
    shown = [line for line in lines if any(secret in line for secret in hidden)]
    assert shown == []


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_functions_lines_are_records_with_an_action(deployed: Deployed, function: str) -> None:
    """A sentence, an ``action``, and ids; besides them only what the platform itself writes, and metrics."""
    platform = ("START ", "END ", "REPORT ", "INIT_START ")
    records = [line for line in deployed.logs(function) if not line.startswith(platform)]
    strange = [line for line in records if not line.startswith("{")]
    assert strange == []
    lines = [json.loads(line) for line in records]
    assert [record for record in lines if "action" not in record and "_aws" not in record] == []
    assert [
        record for record in lines if record.get("level") == "ERROR" and record["action"] != "message_given_up"
    ] == []


def test_no_notice_is_left_and_none_was_given_up(deployed: Deployed) -> None:
    deployed.await_silence()
    for queue in (deployed.stack.dlq_url, deployed.stack.tracker_dlq_url):
        asked = deployed.aws("sqs").get_queue_attributes(QueueUrl=queue, AttributeNames=["ApproximateNumberOfMessages"])
        assert asked["Attributes"]["ApproximateNumberOfMessages"] == "0"

"""`baton worker` against the deployed stack: real polls, real leases, real programs."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from baton.domain.bell.listener import Listener, Topic, TopicKind
from baton.domain.priority import Priority
from support.worlds.deployed import Client
from support.worlds.tenant import Tenant, Workspaces
from support.worlds.worker_processes import started, until

# The first run goes on until it is killed, the next one is quick.
WORK = """#!/bin/sh
if [ -e $FOLDER/begun ]; then cat > $FOLDER/task; echo '{"by": "the next"}'; exit 0; fi
touch $FOLDER/begun
exec sleep 1000
"""


def environment(tenant: Tenant, by: Client) -> dict[str, str]:
    assert by.token is not None
    return {"BATON_URL": tenant.deployed.stack.api_url, "BATON_TOKEN": by.token}


def program(folder: Path, text: str) -> str:
    path = folder / "work.sh"
    path.write_text(text)
    path.chmod(0o755)
    return str(path)


def test_next_worker_does_the_task_of_a_killed_one_with_its_recovery(tenant: Tenant, tmp_path: Path) -> None:
    work, given = program(tmp_path, WORK), environment(tenant, tenant.reviewer)
    task_id = tenant.approved()
    first = started(tmp_path, ["--agent", "reviewer", "--name", "first", "--", work], given)
    until((tmp_path / "begun").exists)
    first.kill()
    first.communicate()
    tenant.age(task_id, 400)
    second = started(tmp_path, ["--agent", "reviewer", "--once", "--", work], given)
    assert json.loads(second.communicate()[0])["done"] == 1
    assert tenant.task(task_id)["output"] == {"by": "the next"}
    told: dict[str, Any] = json.loads((tmp_path / "task").read_text())
    assert [each["prior_worker"] for each in told["recoveries"]] == ["first"]
    trail = tenant.trail(task_id)
    assert (trail.count("heartbeat_lost"), trail.count("handoff_completed")) == (1, 1)


def test_daemon_takes_what_is_delegated_by_priority_and_leaves_what_waits_for_approval(
    tenant: Tenant, tmp_path: Path
) -> None:
    program(tmp_path, '#!/bin/sh\necho "$BATON_TASK_ID" >> $FOLDER/order\n')
    (tmp_path / "agents.toml").write_text(
        '[agents.reviewer]\ncommand = ["./work.sh"]\n[agents.scout]\ncommand = ["./work.sh"]\n'
    )
    waiting = tenant.needing()
    (later,), (sooner,) = (tenant.unrung(1, "reviewer", each) for each in (Priority.P2, Priority.P0))
    arguments = ["--routes", "agents.toml", "--idle-timeout", "2s"]
    daemon = started(tmp_path, arguments, environment(tenant, tenant.service))
    out, err = daemon.communicate()
    assert json.loads(out)["done"] == 2, err
    assert [tenant.task(each)["state"] for each in (sooner, later)] == ["done", "done"]
    assert (tmp_path / "order").read_text().split() == [sooner, later]
    assert tenant.task(waiting)["state"] == "needs"


def listener(tenant: Tenant, kind: TopicKind, name: str) -> Callable[[], Listener | None]:
    """Who listens to the topic, in what is stored."""

    def found() -> Listener | None:
        bell = tenant.deployed.deps.store.bell
        listening = bell.listening(Topic(tenant.name, kind, name), 1)
        return next(iter(bell.listeners(listening)), None) if listening else None

    return found


def cut(tenant: Tenant, connection_id: str) -> None:
    """The gateway ends the connection."""
    stack, bell = tenant.deployed.stack, urlsplit(tenant.human.get("/bell")["url"])
    signed = (
        "AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/execute-api/aws4_request, SignedHeaders=host, Signature=0"
    )
    headers = {"Host": bell.netloc, "User-Agent": f"app/{stack.engine_key}", "Authorization": signed}
    path = f"{bell.path}/@connections/{quote(connection_id, safe='')}"
    assert tenant.deployed.http.request("DELETE", path, headers=headers).status_code == 204


def test_idle_worker_is_rung_ahead_and_claims_once_the_undo_window_is_over(
    workspace: Workspaces, tmp_path: Path
) -> None:
    tenant = workspace(dispatch_delay_seconds=3)
    given = environment(tenant, tenant.reviewer)
    worker = started(tmp_path, ["--agent", "reviewer", "--once", "--", "true"], given)
    until(listener(tenant, TopicKind.WORK, "reviewer"))
    task_id = tenant.needing()
    ready_at = datetime.fromisoformat(tenant.human.post(f"/tasks/{task_id}/approve")["ready_at"])
    assert json.loads(worker.communicate()[0])["done"] == 1
    (claimed,) = [each for each in tenant.events(task_id) if each["type"] == "handoff_received"]
    late = (datetime.fromisoformat(claimed["at"]) - ready_at).total_seconds()
    assert 0 <= late < 2  # 0.03 s where nothing else runs


def test_worker_whose_connection_is_cut_listens_again(tenant: Tenant, tmp_path: Path) -> None:
    worker = started(tmp_path, ["--agent", "reviewer", "--once", "--", "true"], environment(tenant, tenant.reviewer))
    first = until(listener(tenant, TopicKind.WORK, "reviewer"))
    cut(tenant, first.connection_id)
    until(lambda: (now := listener(tenant, TopicKind.WORK, "reviewer")()) and now.connection_id != first.connection_id)
    task_id = tenant.approved()
    assert json.loads(worker.communicate()[0])["done"] == 1
    assert tenant.task(task_id)["state"] == "done"


def test_await_is_told_by_the_bell(tenant: Tenant, tmp_path: Path) -> None:
    claim = tenant.claimed()
    task_id = claim["task"]["id"]
    waiting = started(tmp_path, [task_id], environment(tenant, tenant.human), command="await")
    until(listener(tenant, TopicKind.TASK, task_id))
    tenant.reviewer.post(f"/tasks/{task_id}/complete", {"claim_id": claim["claim_id"], "output": "done"})
    assert json.loads(waiting.communicate()[0])["output"] == "done"

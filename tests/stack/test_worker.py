"""`baton worker` against the deployed stack: real polls, real leases, real programs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from baton.domain.priority import Priority
from support.worlds.deployed import Client
from support.worlds.tenant import Tenant
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
    assert json.loads(daemon.communicate()[0])["done"] == 2
    assert [tenant.task(each)["state"] for each in (sooner, later)] == ["done", "done"]
    assert (tmp_path / "order").read_text().split() == [sooner, later]
    assert tenant.task(waiting)["state"] == "needs"

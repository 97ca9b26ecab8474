"""The examples of docs/client.md, against the deployed stack."""

from __future__ import annotations

import asyncio
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from baton_client import AsyncBaton, Baton, operations
from support.worlds.deployed import Deployed
from support.worlds.tenant import Tenant

PAGE = Path(__file__).parents[2] / "docs/client.md"
IN_TIME_SECONDS = 60.0


@pytest.fixture(scope="module")
def deployed(beside: Deployed) -> Deployed:
    return beside


@pytest.fixture
def page() -> dict[str, Any]:
    """What the examples define, by name. They wait less for more work."""
    found = dict[str, Any]()
    for block in re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL):
        exec(compile(block.replace("idle_seconds=30", "idle_seconds=1"), str(PAGE), "exec"), found)
    return found


def named(tenant: Tenant, agent: str) -> tuple[str, str]:
    token = {"scout": tenant.scout, "reviewer": tenant.reviewer, "human": tenant.human}[agent].token
    return tenant.deployed.stack.api_url, token or ""


def test_a_review_is_asked_for_approved_done_and_waited_for(tenant: Tenant, page: dict[str, Any]) -> None:
    with (
        Baton(*named(tenant, "scout"), agent="scout") as scout,
        Baton(*named(tenant, "reviewer"), agent="reviewer") as reviewer,
        Baton(*named(tenant, "human")) as human,
        ThreadPoolExecutor(1) as pool,
    ):
        asked = pool.submit(page["ask_for_a_review"], scout)
        while not (waiting := human.send(operations.list_tasks(state=["needs"]))["items"]):
            pass
        assert page["approve"](human, waiting[0]["id"]) == "delegated"
        page["review"](reviewer)
        assert asked.result(IN_TIME_SECONDS) == "done: {'branch': 'main', 'verdict': 'good'}"


def test_tasks_hand_off_and_wait_while_a_thread_works(tenant: Tenant, page: dict[str, Any]) -> None:
    async def played() -> list[str]:
        async with AsyncBaton(*named(tenant, "human"), agent="scout") as baton:  # a human's handoffs need no approval
            found: list[str] = await page["all_three"](baton)
            return found

    with Baton(*named(tenant, "reviewer"), agent="reviewer") as reviewer, ThreadPoolExecutor(1) as pool:

        def worked() -> int:
            count = 0
            for work in reviewer.work(idle_seconds=IN_TIME_SECONDS):
                with work:
                    work.complete(work.reason)
                count += 1
                if count == 3:
                    break
            return count

        worker = pool.submit(worked)
        assert asyncio.run(played()) == ["done"] * 3
        assert worker.result(IN_TIME_SECONDS) == 3


def test_a_run_is_put_down_for_a_colleague_and_a_person_and_goes_on(tenant: Tenant, page: dict[str, Any]) -> None:
    with (
        Baton(*named(tenant, "human")) as human,
        Baton(*named(tenant, "scout"), agent="scout") as scout,
        Baton(*named(tenant, "reviewer"), agent="reviewer") as reviewer,
    ):
        task = human.hand_off("reviewer", "Release 1.2", agent="scout")
        with reviewer.claim(wait=IN_TIME_SECONDS) as work:
            page["release"](work)
        (part,) = human.send(operations.list_tasks(state=["needs"]))["items"]
        human.send(operations.approve(part["id"], {"revision": part["revision"]}))
        (asked,) = human.send(operations.list_task_questions(task.id))["items"]
        human.send(
            operations.give_answer(task.id, asked["id"], {"outcome": "approved", "digest": asked["digest"] or ""})
        )
        with scout.claim(wait=IN_TIME_SECONDS) as work:
            assert work is not None
            work.complete("they are complete")
        with reviewer.claim(wait=IN_TIME_SECONDS) as work:
            page["release"](work)
        assert human.wait(task).output == {"shipped": {"version": "1.2"}, "notes": "they are complete"}

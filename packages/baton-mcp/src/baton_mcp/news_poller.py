"""The poller of news: it looks at Baton when the bell rings, else every few seconds, and sends what is new."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import quote

import anyio

from baton_client.core import Answer, Request, body_of, with_query
from baton_client.errors import BatonError
from baton_mcp.bell import Bell
from baton_mcp.mcp_connection import SECONDS, Api
from baton_mcp.news import AgentSnapshot, News, news

Send = Callable[[News], Awaitable[None]]
PAGE = 100
MOST_PAGES = 10
# After a failed look, the next one sends what is new since the last one that succeeded.
FAILED = (BatonError, KeyError, TypeError, ValueError)
APPROVED_ALONE = {"delegated", "next"}
NOT_YET = ("ready_at", "not_before", "deferred_until")


@dataclass(frozen=True, slots=True)
class NewsPoller:
    """``agent``: the agent whose news is sent."""

    api: Api
    agent: str

    async def run(self, before: AgentSnapshot, send: Send, bell: Bell, every_seconds: float) -> None:
        """Sends what is new since ``before``. Never ends."""
        due_seconds = before.due_seconds
        while True:
            await bell.wait(every_seconds, due_seconds)
            try:
                now = await self.look()
                found = list(news(before, now, await self._states(before, now)))
            except FAILED:
                due_seconds = every_seconds
                continue
            for each in found:
                await send(each)
            before, due_seconds = now, now.due_seconds

    async def first_look(self, every_seconds: float) -> AgentSnapshot:
        """Returns the first snapshot. Nothing in it is news."""
        while True:
            try:
                return await self.look()
            except FAILED:
                await anyio.sleep(every_seconds)

    async def look(self) -> AgentSnapshot:
        agent = quote(self.agent, safe="")
        pending, now = await self._listed(f"/agents/{agent}/pending")
        inbox, _ = await self._listed(f"/agents/{agent}/inbox")
        waiting, _ = await self._listed("/handoffs", source=self.agent, state="needs")
        due = [max(_moments(each)) for each in pending if is_coming(each, now)]
        return AgentSnapshot(
            due_seconds=(min(due) - now).total_seconds() if due else None,
            ready={(each["id"], each["attempt"]): each for each in pending if is_ready(each, now)},
            waiting={each["task_id"]: each for each in waiting},
            ended={each["id"]: each for each in inbox},
        )

    async def _states(self, before: AgentSnapshot, now: AgentSnapshot) -> dict[str, str]:
        """Returns the states of the tasks that have stopped waiting for approval."""
        gone = sorted(before.waiting.keys() - now.waiting.keys())
        return {task_id: await self._state(task_id) for task_id in gone}

    async def _state(self, task_id: str) -> str:
        """Returns the state; empty for a task that may not be read any more."""
        answer = await self.api.send(Request("GET", f"/tasks/{quote(task_id, safe='')}"), SECONDS)
        return "" if answer.status in {403, 404} else str(body_of(answer)["state"])

    async def _listed(self, path: str, **query: str) -> tuple[list[dict[str, Any]], datetime]:
        """Returns the items of a list, at most 1,000, and the time of the reading by Baton's clock."""
        items: list[dict[str, Any]] = []
        for _ in range(MOST_PAGES):
            answer = await self.api.send(Request("GET", with_query(path, {**query, "limit": PAGE})), SECONDS)
            page = body_of(answer)
            items += page["items"]
            if page["next_cursor"] is None:
                break
            query["cursor"] = page["next_cursor"]
        return items, _time_of(answer)


def _time_of(answer: Answer) -> datetime:
    told = answer.headers.get("date")
    return parsedate_to_datetime(told) if told else datetime.now(UTC)


def is_ready(task: dict[str, Any], now: datetime) -> bool:
    """True if ``claim_next`` finds the task: it was approved, and is neither in its undo window nor deferred."""
    return task["state"] in APPROVED_ALONE and all(at <= now for at in _moments(task))


def is_coming(task: dict[str, Any], now: datetime) -> bool:
    """True if ``claim_next`` will find the task later."""
    return task["state"] in APPROVED_ALONE and any(at > now for at in _moments(task))


def _moments(task: dict[str, Any]) -> Iterator[datetime]:
    return (datetime.fromisoformat(task[name]) for name in NOT_YET if task[name])

"""Looks at Baton every few seconds, and sends what is new."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import anyio
import httpx2

from baton_mcp.news import Look, News, news
from baton_mcp.profile import Profile

Send = Callable[[News], Awaitable[None]]
MOST = 100


@dataclass(frozen=True, slots=True)
class Watch:
    http: httpx2.AsyncClient
    profile: Profile

    async def run(self, before: Look, send: Send, every_seconds: float) -> None:
        """Sends what is new since ``before``. Never ends: a look that fails is tried again."""
        while True:
            await anyio.sleep(every_seconds)
            try:
                now = await self.look()
                found = list(news(before, now, await self._states(before, now)))
            except (httpx2.HTTPError, ValueError, KeyError):
                continue
            for each in found:
                await send(each)
            before = now

    async def look(self) -> Look:
        agent = self.profile.agent
        pending = await self._items(f"/agents/{agent}/pending")
        waiting = await self._items("/handoffs", source=agent, state="needs")
        inbox = await self._items(f"/agents/{agent}/inbox")
        return Look(
            ready={each["id"]: each for each in pending if each["state"] in {"delegated", "next"}},
            waiting={each["task_id"]: each for each in waiting},
            ended={each["id"]: each for each in inbox},
        )

    async def first_look(self, every_seconds: float) -> Look:
        """Returns what is there, which is no news."""
        while True:
            try:
                return await self.look()
            except (httpx2.HTTPError, ValueError, KeyError):
                await anyio.sleep(every_seconds)

    async def _states(self, before: Look, now: Look) -> dict[str, str]:
        """The states of tasks that waited for approval before, and don't any more."""
        gone = sorted(before.waiting.keys() - now.waiting.keys())
        return {task_id: str((await self._answer(f"/tasks/{task_id}"))["state"]) for task_id in gone}

    async def _items(self, path: str, **query: str) -> list[dict[str, Any]]:
        items: list[dict[str, Any]] = (await self._answer(path, **query, limit=str(MOST)))["items"]
        return items

    async def _answer(self, path: str, **query: str) -> Any:
        response = await self.http.get(f"{self.profile.url}{path}", params=query)
        response.raise_for_status()
        return response.json()

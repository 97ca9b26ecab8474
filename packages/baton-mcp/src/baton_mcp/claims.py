"""The claims of a session: heartbeats while its model works, and giving back what a cancelled call has claimed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

import anyio
import httpx2
from anyio.abc import TaskGroup
from mcp import MCPError

from baton_mcp.mcp_connection import McpConnection, Unanswered

CLAIM = "claim_next"
ENDS = frozenset({"complete", "fail", "release", "delegate", "wait_for_callback"})
# A claim is kept for so long after the model's last call that named it; then its lease runs out.
KEPT_SECONDS = 3_600.0
SHORTEST_PAUSE_SECONDS = 5.0
# The claim is over, or was never this agent's: no later heartbeat is taken either.
OVER = frozenset({403, 404, 409, 422})


@dataclass
class _Answer:
    is_wanted: bool = True
    result: dict[str, Any] | None = None
    error: Exception | None = None
    done: anyio.Event = field(default_factory=anyio.Event)


@dataclass
class Claims:
    """Calls tools at the door. ``tasks``: where its heartbeats run."""

    door: McpConnection
    tasks: TaskGroup
    _live: dict[str, float] = field(default_factory=dict)  # claim_id → when it was claimed, or named last

    async def call(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Returns the tool's answer, and raises as ``McpConnection.ask`` does. A call that claims and is cancelled goes
        on by itself: what it claims after all is given back."""
        named = str(arguments.get("claim_id"))
        if named in self._live:
            self._live[named] = anyio.current_time()
        asked = {"name": name, "arguments": arguments}
        claims = name == CLAIM or arguments.get(CLAIM)
        found = await (self._claimed(asked) if claims else self.door.ask("tools/call", asked))
        if not found.get("isError"):
            if name in ENDS:
                self._live.pop(named, None)
            for task_id, claim_id, lease_seconds in _claims_in(found):
                is_kept = claim_id in self._live
                self._live[claim_id] = anyio.current_time()
                if not is_kept:
                    self.tasks.start_soon(self._keep, task_id, claim_id, lease_seconds)
        return found

    async def _claimed(self, asked: dict[str, Any]) -> dict[str, Any]:
        answer = _Answer()
        self.tasks.start_soon(self._ask, asked, answer)
        try:
            await answer.done.wait()
        except anyio.get_cancelled_exc_class():
            answer.is_wanted = False
            raise
        if answer.error is not None:
            raise answer.error
        return answer.result or {}

    async def _ask(self, asked: dict[str, Any], answer: _Answer) -> None:
        try:
            answer.result = await self.door.ask("tools/call", asked)
        except (Unanswered, MCPError) as exc:
            answer.error = exc
        answer.done.set()
        # Under a request_id a repeat gets the same claim; if none comes, its lease runs out.
        if not answer.is_wanted and "request_id" not in asked["arguments"]:
            for task_id, claim_id, _ in _claims_in(answer.result or {}):
                why = "the call that claimed it was cancelled"
                if claim_id not in self._live:
                    await self._say(task_id, "release", {"claim_id": claim_id, "reason": why})

    async def _keep(self, task_id: str, claim_id: str, lease_seconds: float) -> None:
        """The first heartbeat is sent at once: it gives a claim that was waited for its whole lease."""
        while anyio.current_time() - self._live.get(claim_id, -KEPT_SECONDS) < KEPT_SECONDS:
            if await self._say(task_id, "heartbeat", {"claim_id": claim_id}) in OVER:
                break
            await anyio.sleep(max(SHORTEST_PAUSE_SECONDS, lease_seconds / 3))
        self._live.pop(claim_id, None)

    async def _say(self, task_id: str, verb: str, body: dict[str, Any]) -> int:
        """Returns the status; 0 if Baton doesn't answer: the next heartbeat may be answered."""
        try:
            return (await self.door.http.post(f"/tasks/{quote(task_id, safe='')}/{verb}", json=body)).status_code
        except httpx2.HTTPError:
            return 0


def _claims_in(found: dict[str, Any]) -> Iterator[tuple[str, str, float]]:
    data = found.get("structuredContent") or {}
    for each in (data, data.get("next_claim") or {}):
        match each:
            case {"task_id": str(task_id), "claim_id": str(claim_id), "lease_seconds": int(seconds)}:
                yield task_id, claim_id, float(seconds)

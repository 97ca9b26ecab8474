"""The claims of a session. They get heartbeats while its model works, and a claim that a cancelled call has made is
released."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

import anyio
from anyio.abc import TaskGroup
from mcp import MCPError

from baton_client.core import Answer, Request
from baton_client.lease import Lease, ends_claim, now
from baton_mcp.mcp_connection import McpConnection, Unanswered
from baton_mcp.waits import call_tool

CLAIM = "claim_next"
ENDS = frozenset({"complete", "fail", "release", "delegate", "wait_for_callback"})
GIVEN_UP = "claim_is_over"  # what an answer says of the claim that its call named
# A claim gets heartbeats for so long after the last call that named it. Then its lease runs out.
KEPT_SECONDS = 3_600.0
RELEASE_SECONDS = 10.0  # for the answer to the release of a claim that nobody wants


@dataclass
class _Answer:
    is_wanted: bool = True
    result: dict[str, Any] | None = None
    error: Exception | None = None
    done: anyio.Event = field(default_factory=anyio.Event)


@dataclass
class SessionClaims:
    """Calls tools at the door, and keeps the claims that they make. ``tasks``: where the heartbeats run. ``tell`` is
    called with the live claims and those that were lost, each with its task, whenever they change."""

    door: McpConnection
    tasks: TaskGroup
    tell: Callable[[Mapping[str, str], Mapping[str, str]], None] = lambda _live, _lost: None
    _live: dict[str, float] = field(default_factory=dict)  # claim_id → when a call has made or named it last
    _tasks: dict[str, str] = field(default_factory=dict)  # claim_id → its task
    _lost: set[str] = field(default_factory=set)  # until a call names them: then the model has learned of it

    async def call(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Returns the tool's answer. Raises as ``McpConnection.ask`` does. If a call that claims is cancelled, its
        request goes on, and the claim that it makes is released."""
        named = str(arguments.get("claim_id"))
        if named in self._live:
            self._live[named] = anyio.current_time()
        claims = name == CLAIM or arguments.get(CLAIM)
        found = await (self._claimed(name, arguments) if claims else call_tool(self.door, name, arguments))
        self._lost.discard(named)
        if not found.get("isError"):
            if name in ENDS or (found.get("structuredContent") or {}).get(GIVEN_UP):
                self._live.pop(named, None)
            for task_id, claim_id, lease_seconds in _claims_in(found):
                is_kept = claim_id in self._live
                self._live[claim_id], self._tasks[claim_id] = anyio.current_time(), task_id
                if not is_kept:
                    self.tasks.start_soon(self._keep, task_id, claim_id, lease_seconds)
        self._told()
        return found

    def _told(self) -> None:
        live, lost = ({each: self._tasks[each] for each in some} for some in (self._live, self._lost))
        self.tell(live, lost)

    async def _claimed(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        answer = _Answer()
        self.tasks.start_soon(self._ask, name, arguments, answer)
        try:
            await answer.done.wait()
        except anyio.get_cancelled_exc_class():
            answer.is_wanted = False
            raise
        if answer.error is not None:
            raise answer.error
        return answer.result or {}

    async def _ask(self, name: str, arguments: dict[str, Any], answer: _Answer) -> None:
        try:
            answer.result = await call_tool(self.door, name, arguments, lambda: answer.is_wanted)
        except (Unanswered, MCPError) as exc:
            answer.error = exc
        answer.done.set()
        # A claim under a request_id stays for a repeat of the call. If none comes, its lease runs out.
        if not answer.is_wanted and "request_id" not in arguments:
            for task_id, claim_id, _ in _claims_in(answer.result or {}):
                why = "the call that claimed it was cancelled"
                if claim_id not in self._live:
                    await self._say(task_id, "release", {"claim_id": claim_id, "reason": why}, RELEASE_SECONDS)

    async def _keep(self, task_id: str, claim_id: str, lease_seconds: float) -> None:
        """Sends heartbeats, the first one at once: a claim that was waited for has a short first lease until then. They
        go on until Baton refuses one, also after a lease without an answer."""
        lease = Lease.taken(lease_seconds, now())
        while anyio.current_time() - self._live.get(claim_id, -KEPT_SECONDS) < KEPT_SECONDS:
            sent_at = now()
            answer = await self._say(task_id, "heartbeat", {"claim_id": claim_id}, lease.answer_seconds)
            if ends_claim(answer):
                self._lost |= {claim_id} & self._live.keys()  # unless the session has ended it meanwhile
                break
            missed = lease.missed(now(), answer.retry_after, answer.foreign)
            lease = lease.renewed(sent_at) if answer.is_settled else missed
            await anyio.sleep(max(0.0, lease.heartbeat_at - now()))
        self._live.pop(claim_id, None)
        self._told()

    async def _say(self, task_id: str, verb: str, body: dict[str, Any], seconds: float) -> Answer:
        request = Request[Any]("POST", f"/tasks/{quote(task_id, safe='')}/{verb}", body)
        return await self.door.api.send(request, seconds)


def _claims_in(found: dict[str, Any]) -> Iterator[tuple[str, str, float]]:
    data = found.get("structuredContent") or {}
    for each in (data, data.get("next_claim") or {}):
        match each:
            case {"task_id": str(task_id), "claim_id": str(claim_id), "lease_seconds": int(seconds)}:
                yield task_id, claim_id, float(seconds)

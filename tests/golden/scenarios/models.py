"""What models do at POST /mcp."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any

from golden.bodies import CRITERIA

if TYPE_CHECKING:
    from golden.play import Play

MODERN = "2026-07-28"
META = {"io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {}}
REPORTS = [{"criterion": each, "met": True, "evidence": "See the report"} for each in CRITERIA]


class _Model:
    """A client without a handshake."""

    def __init__(self, play: Play) -> None:
        self._play, self._ids = play, count(1)

    def ask(self, by: str, method: str, params: dict[str, Any], *, name: str | None = None) -> Any:
        headers = {"mcp-protocol-version": MODERN, "mcp-method": method} | ({"mcp-name": name} if name else {})
        body = {"jsonrpc": "2.0", "id": next(self._ids), "method": method, "params": {**params, "_meta": META}}
        return self._play(by, "POST /mcp?tools=all", body, headers=headers)

    def call(self, by: str, tool: str, /, **arguments: Any) -> Any:
        answer = self.ask(by, "tools/call", {"name": tool, "arguments": arguments}, name=tool)
        return answer["result"].get("structuredContent")


def models_hand_over_and_work(play: Play) -> None:
    """Both eras; a handoff, its work and its repeat; refusals, and what comes back from outside of the protocol."""
    play.crew("scout", "auditor")
    model = _Model(play)
    model.ask("agent:scout", "server/discover", {})
    model.ask("agent:scout", "tools/list", {})
    given = {"target": "auditor", "reason": "The repository needs an audit", "summary": "Audit ```it```\u202e"}
    expected = {"deliverable": "report", "criteria": CRITERIA, "context": {"suspects": 3}, "priority": "P0"}
    made = model.call("agent:scout", "handoff", **given, **expected, request_id="job-1")
    model.call("agent:scout", "handoff", **given, **expected, request_id="job-1")
    model.call("agent:scout", "handoff", **given, request_id="job-1")
    model.call("agent:scout", "await_task", task_id=made["task_id"], timeout_seconds=1)
    play("human:alice", f"POST /tasks/{made['task_id']}/approve", {})
    play.wait(5)
    claim = model.call("agent:auditor", "claim_next", lease_seconds=600)
    ids = {"task_id": claim["task_id"], "claim_id": claim["claim_id"]}
    model.call("agent:auditor", "heartbeat", **ids)
    for _ in range(2):
        model.call("agent:auditor", "checkpoint", **ids, step_name="half", state={"done": 1})
    model.call("agent:auditor", "complete", **ids, output="found")
    for _ in range(2):
        model.call("agent:auditor", "complete", **ids, output={"found": 2}, criteria=REPORTS, claim_next=True)
    model.call("agent:auditor", "fail", **ids, type="error", description="Too late")
    model.call("agent:scout", "await_task", task_id=made["task_id"])
    model.call("agent:scout", "get_task", task_id=made["task_id"], chain=True)
    model.call("agent:scout", "list_tasks", agent="auditor", limit=1)
    marker = {"target_agent": "auditor", "escalation_reason": "Stale", "source_digest_url": "https://notes.example/1"}
    model.call("agent:scout", "create_handoff_marker", **marker, task_priority="P1")
    model.call("agent:auditor", "remember", entry_type="warning", summary="The parser is slow", scope="src/parser")
    model.call("agent:scout", "recall", query="slow parser")
    results = [{"description": "The suspects", "status": "completed", "artifacts": ["suspects.txt"]}]
    handed = {"source_agent": "scout", "target_agent": "auditor", "scope": "src/parser", "summary": "Look at these"}
    model.call("agent:scout", "twining_handoff", **handed, results=results)
    model.call("agent:scout", "twining_handoff", **{**handed, "target_agent": "nobody"}, results=results)
    model.call("agent:scout", "list_tasks", colour="red")
    model.call("agent:scout", "list_tasks", sent=True, limit=2)
    parted = model.call("agent:scout", "handoff", target="auditor", reason="It needs others", summary="Ask around")
    play("human:alice", f"POST /tasks/{parted['task_id']}/approve", {})
    play.wait(5)
    claim = model.call("agent:auditor", "claim_next", task_id=parted["task_id"])
    ids = {"task_id": claim["task_id"], "claim_id": claim["claim_id"]}
    parts = [{"target": "scout", "reason": "It knows the code", "summary": "Which files?"}]
    model.call("agent:auditor", "delegate", **ids, parts=parts)
    model.call("agent:scout", "cancel_task", task_id=parted["task_id"], reason="No longer needed")
    model.call("agent:auditor", "withdraw_entry", entry_id="ent_00000000000000000000000000")


def models_at_the_door(play: Play) -> None:
    """The handshake, and what is refused before a tool is called."""
    play.crew("scout")
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "golden", "version": "1"}}
    play("agent:scout", "POST /mcp", {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello})
    play("agent:scout", "POST /mcp", {"jsonrpc": "2.0", "method": "notifications/initialized"})
    play("agent:scout", "POST /mcp", {"jsonrpc": "2.0", "id": "p", "method": "ping"})
    play("agent:scout", "POST /mcp?tools=worker", {"jsonrpc": "2.0", "id": 2, "method": "tools/list"})
    play("agent:scout", "POST /mcp", {"jsonrpc": "2.0", "id": 3, "method": "resources/list"})
    play("agent:scout", "POST /mcp", [{"jsonrpc": "2.0", "id": 3, "method": "ping"}])
    play("agent:scout", "POST /mcp", "{")
    play(
        "agent:scout",
        "POST /mcp",
        {"jsonrpc": "2.0", "id": 4, "method": "ping"},
        headers={"origin": "https://e.example"},
    )
    later = {"mcp-protocol-version": "2031-01-01"}
    play("agent:scout", "POST /mcp", {"jsonrpc": "2.0", "id": 5, "method": "ping"}, headers=later)
    play(None, "POST /mcp", {"jsonrpc": "2.0", "id": 6, "method": "ping"})
    play(None, "POST /mcp", {"jsonrpc": "2.0", "id": 7, "method": "ping"}, headers={"authorization": "Bearer no"})
    play("agent:scout", "GET /mcp")
    play(None, "GET /.well-known/oauth-protected-resource/mcp")

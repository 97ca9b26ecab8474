"""What a workspace is made of: agents, tools, settings, tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from golden.bodies import begun, handed, say

if TYPE_CHECKING:
    from golden.play import Play

VARIABLES = [
    {"name": "lead_id", "type": "string", "required": True, "description": "Which lead"},
    {"name": "campaign", "type": "string", "enum": ["spring", "autumn"]},
    {"name": "priority", "type": "number"},
]
TOOL: dict[str, Any] = {
    "type": "handoff",
    "description": "Hands a lead to the auditor.",
    "config": {
        "target_agent": "auditor",
        "mode": "transfer",
        "context_variables": VARIABLES,
        "handoff_instructions": "Look at the lead first.",
        "history": "last_message",
    },
}


def saved_views(play: Play) -> None:
    """Saved for oneself and for the workspace, changed by another, deleted."""
    view = {"title": "Urgent", "page": "/approvals", "query": {"priority": "P0"}}
    play("human:alice", "PUT /views/urgent", {**view, "version": 0})
    play("human:alice", "PUT /views/urgent", {**view, "scope": "workspace"})
    play("human:bob", "PUT /views/urgent", {**view, "scope": "workspace", "title": "P0", "version": 1})
    play("human:alice", "PUT /views/urgent", {**view, "scope": "workspace", "version": 1})
    play("human:alice", "GET /views")
    play("human:alice", "DELETE /views/urgent?scope=mine&version=1")
    play("agent:scout", "GET /views")


def agents(play: Play) -> None:
    """Registered, changed, switched off, imported, listed."""
    whole = {
        "name": "Client Repo Auditor",
        "aliases": ["Auditor", "Prüfer"],
        "description": "Audits",
        "accepts": ["repo"],
        "produces": ["report"],
        "runtime": "run",
        "approval": "auto",
        "requeue": "needs",
        "max_concurrent": 3,
        "dispatch_rank": 10,
        "system_prompt": "You audit.",
        "model": "scripted",
        "tools": [],
        "max_turns": 5,
        "max_tokens": 5_000,
        "max_reply_tokens": 500,
        "join": "quorum",
        "quorum": 2,
    }
    play("human:alice", "PUT /agents/auditor", {**whole, "version": 0})
    play("human:alice", "PUT /agents/auditor", {**whole, "version": 0})
    play("service:ci", "PUT /agents/auditor", {"description": "Audits well", "approval": "manual"})
    play("human:alice", "PUT /agents/auditor", {"active": False, "version": 2})
    play("agent:auditor", "PUT /agents/auditor", {"name": "Me"})
    play("human:alice", "PUT /agents/Bad_Slug", {"name": "Bad"})
    imported = {"scout": {"accepts": ["hint"], "produces": ["suspect"]}, "auditor": {"accepts": ["suspect"]}}
    play("human:alice", "POST /agents/import", {"agents": imported}, key="i-1")
    play("human:alice", "POST /agents/import", {"agents": imported}, key="i-1")
    play(
        "human:alice",
        "POST /agents/import",
        "agents:\n  fixer:\n    accepts: [report]\n    produces: [fix]\n",
        headers={"content-type": "application/yaml"},
    )
    play("agent:scout", "GET /agents")
    play("agent:scout", "GET /agents?accepts=suspect")
    play("human:alice", "GET /agents?limit=1")
    play("human:alice", "GET /agents/auditor")
    play("agent:scout", "GET /agents/auditor")
    play("human:bob@other", "GET /agents")


def inbox(play: Play) -> None:
    play.crew("scout", "auditor")
    for number in range(2):
        say(play, begun(play, summary=f"Part {number}"), "complete", {"output": number})
    handed(play, by="agent:scout")
    items = play("agent:scout", "GET /agents/scout/inbox")["items"]
    first = play("agent:scout", "GET /agents/scout/inbox?limit=1")
    play("agent:scout", f"GET /agents/scout/inbox?limit=1&cursor={first['next_cursor']}")
    play("agent:scout", "POST /agents/scout/inbox/ack", {"ids": [items[0]["id"], "inbox_unknown"]})
    play("agent:auditor", "GET /agents/scout/inbox")
    play("agent:scout", "GET /agents/scout/inbox")


def tools(play: Play) -> None:
    play.crew("scout", "auditor")
    play("human:alice", "PUT /tools/handoff_to_auditor", {**TOOL, "version": 0})
    play("human:alice", "PUT /tools/handoff_to_auditor", {"version": 1, "description": "Hands on a lead."})
    play("human:alice", "PUT /tools/handoff_to_auditor", {"version": 1, "active": False})
    play("agent:scout", "PUT /tools/handoff_to_auditor", TOOL)
    play("human:alice", "PUT /agents/scout", {"tools": ["handoff_to_auditor"]})
    play("agent:scout", "GET /tools")
    play("human:alice", "GET /tools/handoff_to_auditor")
    play("human:alice", "GET /tools/handoff_to_auditor/schema")
    wanted = {"description": "Hands on a hot lead.", "config": {"context_variables": [{"name": "lead_id"}]}}
    play("human:alice", "POST /tools/handoff_to_auditor/preview", wanted)
    play("human:alice", "POST /tools/handoff_to_auditor/preview", {"config": {"target_agent": "nobody"}})
    play("agent:scout", "POST /tools/handoff_to_auditor/preview", wanted)
    arguments = {"lead_id": "l-1", "campaign": "spring", "priority": 1.5, "reason": "It is hot"}
    play("human:alice", "POST /tools/handoff_to_auditor/dry-run", {"arguments": arguments})
    play("human:alice", "POST /tools/handoff_to_auditor/dry-run", {"arguments": {"campaign": "winter"}})
    play("human:alice", "PUT /agents/auditor", {"accepts": ["lead"], "active": False})
    play("human:alice", "GET /tools/handoff_to_auditor")


def settings(play: Play) -> None:
    play("human:alice", "GET /workspace/settings")
    body = {
        "time_zone": "Europe/Berlin",
        "holidays": ["2026-12-25"],
        "handoff_window_days": 3,
        "escalation_cap": 5,
        "breaker_scope": "any",
        "dispatch_delay_seconds": 30,
        "agents_read": "workspace",
        "requests_per_minute": 120,
    }
    play("human:alice", "PUT /workspace/settings", {**body, "version": 0})
    play("human:alice", "PUT /workspace/settings", {**body, "version": 0})
    play("human:alice", "PUT /workspace/settings", {"time_zone": "Mars/Olympus", "escalation_cap": 21})
    play("agent:scout", "PUT /workspace/settings", body)
    play("service:ci", "GET /workspace/settings")


def tokens(play: Play) -> None:
    """Issued, used, listed, revoked."""

    def shown(header: str) -> None:
        play(None, "GET /agents/scout", headers={"authorization": header})

    play.crew("scout")
    agent = {"kind": "agent", "subject": "scout", "expires_at": "2026-12-01T00:00:00Z"}
    made = play("human:alice", "POST /tokens", agent, key="t-1")
    play("human:alice", "POST /tokens", agent, key="t-1")
    service = play("human:alice", "POST /tokens", {"kind": "service", "subject": "ci", "scopes": ["act_as"]})
    play("human:alice", "POST /tokens", {"kind": "human", "subject": "bob"})
    reader = play("human:alice", "POST /tokens", {"kind": "human", "subject": "carol", "right": "reader"})
    play("agent:scout", "POST /tokens", agent)
    play("human:alice", "GET /tokens")
    shown(f"Bearer {made['token']}")
    shown(f"Bearer {service['token']}")
    shown(f"Bearer {reader['token']}")
    play(None, "PUT /agents/scout", {"active": False}, headers={"authorization": f"Bearer {reader['token']}"})
    shown(f"Bearer {made['token'][:-1]}")
    shown("")
    play("human:alice", f"DELETE /tokens/{service['id']}")
    shown(f"Bearer {service['token']}")
    play.wait(20 * 86_400)
    shown(f"Bearer {made['token']}")


def sessions(play: Play) -> None:
    """Opened with a token or a code, renewed, listed, ended by itself and with the token."""

    def by(text: str, request: str, body: Any = None) -> Any:
        return play(None, request, body, headers={"authorization": f"Bearer {text}"})

    play.crew("scout")
    token = play("human:alice", "POST /tokens", {"kind": "human", "subject": "bob", "scopes": ["act_as"]})
    opened = by(token["token"], "POST /sessions")
    session = opened["session_token"]
    by(session, "GET /agents/scout")
    by(session, "POST /sessions")
    by(session, "POST /session-codes")
    by(token["token"], "POST /sessions/renew", {})
    play("agent:scout", "POST /sessions", {})
    play("service:ci", "POST /session-codes")
    play.wait(600)
    by(session, "POST /sessions/renew", {})
    play.wait(600)
    by(session, "PUT /workspace/settings", {"escalation_cap": 3})
    code = by(token["token"], "POST /session-codes")
    play(None, "POST /sessions/redeem", {"code": "0" * 64})
    play(None, "POST /sessions/redeem", {"code": code["code"], "look": True})
    by_code = play(None, "POST /sessions/redeem", {"code": code["code"]})
    play(None, "POST /sessions/redeem", {"code": code["code"]})
    play("human:alice", "GET /tokens")
    play("human:alice", f"DELETE /tokens/{by_code['session_id']}")
    by(by_code["session_token"], "GET /agents/scout")
    play("human:alice", f"DELETE /tokens/{token['id']}")
    by(session, "GET /agents/scout")
    play("human:alice", "GET /tokens")
    kept = play("human:alice", "POST /sessions", {}, headers={"baton-session": "new", "sec-fetch-site": "same-origin"})
    play(None, "GET /tokens", headers={"baton-session": kept["session_id"], "sec-fetch-site": "same-origin"})
    play(None, "GET /tokens", headers={"baton-session": kept["session_id"]})


def strangers(play: Play) -> None:
    """What no route takes, and what needs no token."""
    play(None, "GET /healthz")
    play(None, "GET /tasks")
    play("human:alice", "GET /nowhere")
    play("human:alice", "DELETE /tasks")
    play("human:alice", "GET /handoff-markers")
    play("human:alice", "GET /tasks?limit=0&surprise=1")
    play("human:alice", "GET /tasks/task_unknown")
    play("human:alice", "POST /handoffs", "[1, 2")
    play("human:alice", "POST /handoffs", '{"source": 1, "source": 2}')
    play.ring("not json", '{"workspace": "acme", "agent": "runner", "task_id": "task_unknown"}')
    play.sync("not json", '{"workspace": "acme", "task_id": null}')
    play.sweep()
    play.publish()


def rate_limit(play: Play) -> None:
    """A caller that sends too much is refused until the minute is over."""
    play.crew("scout", kept_bytes_per_minute=600_000)
    for _ in range(7):
        play("agent:scout", "POST /handoffs", "x" * 100_000)
    play.wait(60)
    play("agent:scout", "POST /handoffs", "x")


def changes(play: Play) -> None:
    """Rules are loosened by two administrators, by one alone, and by nobody; an administrator is made and revoked."""

    def approved(change: Any, by: str = "human:alice") -> None:
        play(by, f"POST /workspace/changes/{change['id']}/approve", {"digest": change["digest"]})

    rules = [{"target": "scout", "group": "leads", "needed": 2}]
    administrator = {"kind": "human", "right": "administrator"}
    play.crew("scout")
    play("human:alice", "POST /tokens", {**administrator, "subject": "alice"})
    play("human:alice", "PUT /workspace/settings", {"groups": {"leads": ["ann", "bob"]}, "approval_rules": rules})
    play("human:alice", "PUT /workspace/settings", {"approval_rules": [{**rules[0], "needed": 1}]})
    play("human:alice", "POST /tokens", {**administrator, "subject": "ann"})
    asked = play("human:ann", "PUT /workspace/settings", {"approval_rules": []})
    play("human:ann", f"POST /workspace/changes/{asked['id']}/approve", {"digest": asked["digest"]})
    play("human:alice", f"POST /workspace/changes/{asked['id']}/approve", {"digest": "0" * 64})
    play("human:alice", "GET /workspace/changes?state=pending")
    approved(asked)
    play("human:alice", "GET /workspace/settings/versions/1")
    refused = play("human:ann", "PUT /workspace/settings", {"groups": {"leads": ["ann", "bob", "cy"]}})
    play("human:alice", f"POST /workspace/changes/{refused['id']}/refuse", {"reason": "Cy is no lead."})
    withdrawn = play("human:ann", "PUT /workspace/settings", {"groups": {}})
    play("human:ann", f"POST /workspace/changes/{withdrawn['id']}/withdraw")
    play("human:alice", f"GET /workspace/changes/{withdrawn['id']}")
    wanted = {**administrator, "subject": "cy"}
    made = play("human:ann", "POST /tokens", wanted, key="t-1")
    approved(made)
    play("human:ann", "POST /tokens", wanted, key="t-1")
    cy = play("human:ann", "POST /tokens", {**wanted, "change_id": made["id"]}, key="t-2")
    revoked = play("human:alice", f"DELETE /tokens/{cy['id']}")
    approved(revoked, "human:ann")
    play("human:alice", "GET /workspace/changes?subject=tokens")
    play("human:alice", "PUT /agents/scout", {"approval": "auto"})
    play("human:ann", "POST /people/alice/end-approvals", {}, key="e-1")
    play("human:ann", "GET /people/alice/approvals")
    play("agent:scout", "GET /workspace/changes")
    play("agent:scout", "GET /workspace/settings")

"""What is expected of every operation of docs/openapi.json, decided by hand: one row each. Nothing here is taken from
the product: who may call what (docs/decisions/019-who-reads-what.md) is judged by it.

A decision is a status, with the code of a refusal, and says of a success whether the answer may hold what others wrote:
``200+`` shows it, ``200-`` doesn't. Nobody without a token of the workspace gets past the gateway, so the three callers
without one have a row of their own.

``sent`` says what a request has to have that the smallest body of its shape hasn't (``support/values/bodies.py``)."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

from support.worlds.world import marker_body

LOW = "403 right_needed"
HUMAN, SCOPE, MINE = "403 human_required", "403 scope_required", "403 not_your_agent"
NOT_ASKED = "403 not_asked"
OFF, GONE, STALE = "403 inactive_agent", "404 not_found", "409 stale_claim"


@dataclass(frozen=True, kw_only=True)
class Row:
    """``elsewhere``: a human of another workspace; ``own``: the agent that it is about; ``other``: an unrelated
    agent; ``off``: the own agent, switched off; ``act_as``, ``service``: a service with the scope and one
    without; ``human``: an administrator. The outcomes for other people follow from ``LEAST``."""

    elsewhere: str
    own: str
    other: str
    act_as: str
    service: str
    human: str
    off: str = OFF
    body: Any = None
    query: str = ""

    def sent(self, body: Any = None, query: str = "") -> Row:
        return replace(self, body=body, query=query)


CALLERS = tuple(each.name for each in fields(Row) if each.name not in {"body", "query"})
CLAIM = {"claim_id": "c"}
TARGET = {"agent": "runner", "reason": "somebody has to"}
TOOL = {"description": "Hands over", "config": {"target_agent": "auditor"}}


# Needs no token: an address that is a secret, or nothing to hide. Its body is the smallest.
PUBLIC = {
    "health": "200",
    "answer_a_callback": GONE,
    "receive_delivery": GONE,
    "redeem_a_session_code": "403 code_refused",
    "find_nothing_well_known": GONE,
    "find_nothing_well_known_of_mcp": GONE,
}


def read(shown: str = "200+") -> Row:
    """Returns the rights of a route that reads one thing by its id."""
    return Row(elsewhere=GONE, own=shown, other=GONE, act_as=shown, service=GONE, human=shown)


def listed(shown: str = "200+") -> Row:
    """Returns the rights of a route that lists things: those that the caller may not read are left out."""
    return Row(elsewhere="200-", own=shown, other="200-", act_as=shown, service="200-", human=shown)


def by_human(done: str, *, of_an_id: bool = True) -> Row:
    there = GONE if of_an_id else done
    return Row(elsewhere=there, own=HUMAN, other=HUMAN, act_as=HUMAN, service=HUMAN, human=done)


def by_reader(shown: str) -> Row:
    """Returns the rights of a route for those who read everything."""
    return Row(elsewhere="200-", own=HUMAN, other=HUMAN, act_as=shown, service=SCOPE, human=shown)


def by_claimer(done: str, *, off: str = OFF) -> Row:
    """Returns the rights of a verb under a claim. Only the claim's holder may send it, and a caller who knows the claim
    isn't told that there is no task."""
    return Row(elsewhere=GONE, own=done, other=STALE, act_as=STALE, service=STALE, human=STALE, off=off)


NO_TRACKER = "409 no_tracker"
WITHOUT_TRACKER = Row(
    elsewhere=NO_TRACKER, own=HUMAN, other=HUMAN, act_as=NO_TRACKER, service=NO_TRACKER, human=NO_TRACKER
)

# The least right of a person for every operation that isn't for readers (docs/decisions/108-people-have-rights.md).
LEAST = {
    "member": {
        *("put_agent", "import_capabilities", "acknowledge_inbox"),
        *(
            "put_route",
            "delete_route",
            "cancel",
            "claim",
            "claim_the_next",
            "wait_for_a_claim",
            "heartbeat",
            "run_state",
        ),
        *("checkpoint", "note", "complete", "fail", "reject", "release", "transfer", "delegate", "wait_for_a_callback"),
        *("ask_people", "wait_answers", "use_an_approval", "give_answer"),
        *("create_marker", "create_a_handoff", "create_twining_handoff", "retry_a_handoff"),
        *("create_conversation", "create_message"),
        *("create_alert", "acknowledge_an_alert", "resolve_an_alert", "snooze_an_alert"),
        *("create_entry", "withdraw_an_entry", "withdraw_entries", "delete_an_entry", "put_view", "delete_view"),
        *("check_the_tracker", "retry_the_tracker"),
    },
    "approver": {
        *("put_tool", "preview_a_tool"),  # of an approved tool, as the one here is
        *("approve", "approve_next", "approve_several", "undo", "defer", "dismiss", "split", "resolve"),
        *("release_held_claim", "release_manual_review", "close_manual_review"),
        *("revoke_an_approval", "revoke_standing"),
    },
    "administrator": {
        *("approve_workspace_change", "refuse_workspace_change", "withdraw_workspace_change"),
        *("put_settings", "create_token", "delete_token", "put_tracker_token"),
        *("list_approvals_of_person", "end_approvals_of_person"),
        *("import_from_the_tracker", "open_a_webhook", "delete_webhook"),
    },
}
RIGHTS = ("reader", "member", "approver", "administrator")
# Another decision for people with this right: the question that is answered there is an action's.
BY_RIGHT = {("give_answer", "member"): LOW}
# The outcomes for a session, in place of its token's outcomes.
BY_SESSION = {
    "open_a_session": "403 token_required",
    "create_session_code": "403 token_required",
    "renew_a_session": "200",
    "create_token": "403 token_required",
}
# Needs the scope ``act_as``, which administrators alone have: as a service without it.
ACTING = {
    *("acknowledge_inbox", "claim", "claim_the_next", "wait_for_a_claim"),
    *("create_marker", "create_a_handoff", "create_twining_handoff"),
}


def by_person(operation: str, right: str, *, in_session: bool = False) -> str:
    """Returns the decision for a person with this right, or for their session."""
    row = EXPECTED[operation]
    least = next((each for each, operations in LEAST.items() if operation in operations), "reader")
    if RIGHTS.index(right) < RIGHTS.index(least):
        return LOW
    if (operation, right) in BY_RIGHT:
        return BY_RIGHT[operation, right]
    if in_session and operation in BY_SESSION:
        return BY_SESSION[operation]
    if operation in ACTING and right != "administrator":
        return SCOPE
    return row.human


EXPECTED: dict[str, Row] = {
    # Agents: a directory for everybody, without what they are run with
    "list_agents": Row(elsewhere="200-", own="200-", other="200-", act_as="200-", service="200-", human="200-"),
    "get_agent": Row(elsewhere=GONE, own="200+", other="200-", act_as="200+", service="200-", human="200+"),
    "put_agent": Row(elsewhere="201-", own=HUMAN, other=HUMAN, act_as="200+", service=SCOPE, human="200+"),
    "import_capabilities": Row(elsewhere="200", own=HUMAN, other=HUMAN, act_as="200", service=SCOPE, human="200"),
    "list_inbox": Row(elsewhere=GONE, own="200+", other=MINE, act_as="200+", service=SCOPE, human="200+", off="200+"),
    "acknowledge_inbox": Row(elsewhere=GONE, own="200", other=MINE, act_as="200", service=SCOPE, human="200"),
    "list_pending": Row(elsewhere=GONE, own="200+", other="200-", act_as="200+", service="200-", human="200+"),
    "list_held": Row(elsewhere=GONE, own="200+", other="200-", act_as="200+", service="200-", human="200+"),
    # The door for models: the list of its tools, which is the same for all; what they may is the routes' to decide
    "answer_a_message": Row(
        elsewhere="200-", own="200-", other="200-", act_as="200-", service="200-", human="200-", off="200-"
    ).sent({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}),
    # Tasks
    "list_tasks": listed(),
    "get_task": read(),
    "await_a_task": read(),
    "list_events": read(),
    "verify_events": read("200"),
    "wait_for_more_events": read(),
    "list_notes_of_task": read(),
    "list_task_model_calls": read("200-"),
    "list_task_checkpoints": read(),
    "list_late_results": read(),
    "approve": by_human("200+"),
    "approve_next": by_human("200+"),
    "undo": by_human("200+"),
    "defer": by_human("200+").sent({"until": "2026-11-19T12:00:00Z"}),
    "dismiss": by_human("200+"),
    "split": by_human("200+"),
    "resolve": by_human("200+"),
    "release_held_claim": by_human("200+"),
    "approve_several": Row(elsewhere="200-", own=HUMAN, other=HUMAN, act_as=HUMAN, service=HUMAN, human="200+"),
    "cancel": Row(elsewhere=GONE, own="200+", other=GONE, act_as=HUMAN, service=GONE, human="200+"),
    # Work
    "claim": Row(elsewhere=GONE, own="200+", other=GONE, act_as="200+", service=GONE, human="200+"),
    "claim_the_next": Row(elsewhere=GONE, own="200+", other=MINE, act_as="200+", service=SCOPE, human="200+"),
    "wait_for_a_claim": Row(elsewhere=GONE, own="200+", other=MINE, act_as="200+", service=SCOPE, human="200+"),
    "heartbeat": by_claimer("200"),
    "checkpoint": by_claimer("201+"),
    "note": by_claimer("201"),
    "run_state": by_claimer("200").sent({**CLAIM, "state": "e30=", "signature": "ab" * 32}),
    "complete": by_claimer("200+"),
    "fail": by_claimer("200+", off="200+"),
    "reject": by_claimer("200+"),
    "release": by_claimer("200+", off="200+"),
    "transfer": by_claimer("200+").sent({**CLAIM, "target": TARGET}),
    "delegate": by_claimer("200+").sent({**CLAIM, "branches": [{"target": TARGET}]}),
    "wait_for_a_callback": by_claimer("200+"),
    # Questions to people, and what they approve
    "ask_people": by_claimer("201").sent({**CLAIM, "kind": "text", "text": "Which?"}),
    "wait_answers": by_claimer("200+").sent({**CLAIM, "questions": ["qst_unknown"]}),
    "use_an_approval": by_claimer("200+").sent({**CLAIM, "digest": "0" * 64}),
    "list_questions": listed(),
    "list_task_questions": read(),
    "get_question": read(),
    "give_answer": by_human("200+").sent({"outcome": "refused", "reason": "no"}),
    "revoke_an_approval": by_human("200+").sent({"reason": "too much"}),
    "list_standing": Row(elsewhere="200-", own=HUMAN, other=HUMAN, act_as=HUMAN, service=HUMAN, human="200+"),
    "revoke_standing": by_human("200+"),
    # Handoffs and what they belong to
    "create_marker": Row(
        elsewhere="422 invalid_marker", own="201", other=MINE, act_as="201", service=SCOPE, human="201"
    ).sent(marker_body()),
    "create_a_handoff": Row(
        elsewhere="422 unknown_agent", own="201", other=MINE, act_as="201", service=SCOPE, human="201"
    ).sent({"source": {"agent": "alice"}, "target": {"agent": "auditor", "reason": "look into it"}}),
    "create_twining_handoff": Row(
        elsewhere="422 unknown_agent", own="201", other=MINE, act_as="201", service=SCOPE, human="201"
    ).sent({"source_agent": "alice", "target_agent": "auditor", "summary": "Look", "results": []}),
    "search_all_tasks": listed(),
    "list_all_handoffs": listed(),
    "get_handoff": read(),
    "retry_a_handoff": Row(elsewhere=GONE, own="201+", other=GONE, act_as="201+", service=GONE, human="201+"),
    "get_chain": read(),
    "list_workflow_checkpoints": read(),
    "list_manual_reviews": listed(),
    "get_manual_review": read(),
    "release_manual_review": by_human("200+"),
    "close_manual_review": by_human("200+"),
    # Conversations
    "create_conversation": Row(
        elsewhere="422 unknown_agent", own="201", other="201", act_as="201", service="201", human="201"
    ),
    "list_all_conversations": listed(),
    "get_conversation": read(),
    "list_messages": read(),
    "create_message": Row(elsewhere=GONE, own="201", other=GONE, act_as="201", service=GONE, human="201"),
    # Alerts
    "create_alert": Row(elsewhere=GONE, own="201", other=GONE, act_as="201", service=GONE, human="201"),
    "list_all_alerts": listed(),
    "get_alert": read(),
    "acknowledge_an_alert": by_human("200+"),
    "resolve_an_alert": by_human("200+"),
    "snooze_an_alert": by_human("200+"),
    # How it goes, and who decided what: for those who read everything
    "get_stats": by_reader("200-"),
    "list_agents_health": by_reader("200-"),
    "get_agent_health": replace(by_reader("200+"), elsewhere=GONE),
    "list_all_decisions": by_reader("200+"),
    # The blackboard: for everybody here, but services that don't act for agents
    "create_entry": Row(elsewhere="201", own="201", other="201", act_as="201", service="201", human="201"),
    "list_blackboard": Row(elsewhere="200-", own="200+", other="200+", act_as="200+", service="200-", human="200+"),
    "get_entry": Row(elsewhere=GONE, own="200+", other="200+", act_as="200+", service=GONE, human="200+"),
    "withdraw_an_entry": Row(elsewhere=GONE, own="200+", other=HUMAN, act_as=HUMAN, service=GONE, human="200+"),
    "withdraw_entries": by_human("200", of_an_id=False).sent({"posted_by": "agent:scout"}),
    "delete_an_entry": by_human("200"),
    "recall_entries": Row(elsewhere="200-", own="200+", other="200+", act_as="200+", service="200-", human="200+").sent(
        query="q=cache"
    ),
    "explain_path": Row(elsewhere="200-", own="200+", other="200+", act_as="200+", service="200-", human="200+").sent(
        query="path=src/cache.py"
    ),
    # Of work and decisions that the caller reads
    "get_graph": Row(elsewhere=GONE, own="200+", other=GONE, act_as="200+", service=GONE, human="200+").sent(
        query="node=agent:auditor"
    ),
    "get_directions": Row(elsewhere="200-", own="200-", other="200-", act_as="200-", service="200-", human="200-"),
    # Tools: of an agent, those that it was given
    "put_tool": Row(
        elsewhere="422 unknown_agent", own=HUMAN, other=HUMAN, act_as=HUMAN, service=HUMAN, human="200+"
    ).sent(TOOL),
    "list_tools": listed(),
    "get_tool": read(),
    "get_tool_schema": read(),
    "preview_a_tool": Row(
        elsewhere="422 unknown_agent", own=HUMAN, other=HUMAN, act_as=HUMAN, service=HUMAN, human="200+"
    ).sent(TOOL),
    "dry_run_tool": read("200"),
    # Whose work of a type is, is part of the directory
    "list_routes": Row(elsewhere="200-", own="200", other="200", act_as="200", service="200", human="200"),
    "get_route": Row(elsewhere=GONE, own="200", other="200", act_as="200", service="200", human="200"),
    "put_route": Row(elsewhere="422 unknown_agent", own=HUMAN, other=HUMAN, act_as=HUMAN, service=HUMAN, human="200"),
    "delete_route": by_human("204"),
    # What people have saved of the console
    "list_views": Row(elsewhere="200-", own=HUMAN, other=HUMAN, act_as=HUMAN, service=HUMAN, human="200+"),
    "put_view": Row(elsewhere="201", own=HUMAN, other=HUMAN, act_as=HUMAN, service=HUMAN, human="200").sent(
        {"title": "P0", "page": "/tasks", "query": {"priority": "P0"}}
    ),
    "delete_view": by_human("204"),
    # The workspace
    "get_settings": Row(elsewhere="200-", own="200-", other="200-", act_as="200+", service="200-", human="200+"),
    "put_settings": Row(elsewhere="200-", own=HUMAN, other=HUMAN, act_as=HUMAN, service=HUMAN, human="200+"),
    "list_workspace_changes": by_reader("200+"),
    "get_workspace_change": replace(by_reader("200+"), elsewhere=GONE),
    "get_settings_version": replace(by_reader("200+"), elsewhere=GONE),
    "approve_workspace_change": by_human("200+"),
    "refuse_workspace_change": by_human("200+"),
    "withdraw_workspace_change": by_human(NOT_ASKED),
    "list_approvals_of_person": by_human("200", of_an_id=False),
    "end_approvals_of_person": by_human("200"),
    "create_token": by_human("201", of_an_id=False).sent({"kind": "human", "subject": "x"}),
    "list_tokens": by_human("200", of_an_id=False),
    "delete_token": by_human("200"),
    "open_a_session": by_human("201", of_an_id=False),
    "create_session_code": by_human("201", of_an_id=False),
    "renew_a_session": by_human("409 not_a_session", of_an_id=False),
    # The bell: who may listen to what, is decided where one connects
    "find_the_bell": Row(elsewhere="200", own="200", other="200", act_as="200", service="200", human="200"),
    "make_a_ticket": Row(elsewhere="201", own="201", other="201", act_as="201", service="201", human="201"),
    # The tracker: there is none
    "get_tracker_health": Row(elsewhere="200-", own="200-", other="200-", act_as="200", service="200-", human="200"),
    "check_the_tracker": WITHOUT_TRACKER,
    "retry_the_tracker": WITHOUT_TRACKER,
    "import_from_the_tracker": by_human(NO_TRACKER, of_an_id=False),
    "put_tracker_token": by_human("204", of_an_id=False).sent({"token": "ntn_fake"}),
    "open_a_webhook": by_human(NO_TRACKER, of_an_id=False),
    "get_webhook": by_human(GONE, of_an_id=False),
    "delete_webhook": by_human(GONE, of_an_id=False),
}

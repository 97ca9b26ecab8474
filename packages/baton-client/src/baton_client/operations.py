# Made from docs/openapi.json by `make openapi`.
"""Every operation of the API, as a request whose answer has a type, for ``Baton.send`` and ``AsyncBaton.send``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote

from baton_client.core import Request, new_key, with_query

if TYPE_CHECKING:
    from baton_client import types as t


def list_agents(
    *,
    limit: int | None = None,
    cursor: str | None = None,
    accepts: list[str] | None = None,
    produces: list[str] | None = None,
) -> Request[t.AgentList]:
    """All agents of the workspace, by slug; or the active ones for types of work, best first."""
    return Request(
        "GET", with_query("/agents", {"limit": limit, "cursor": cursor, "accepts": accepts, "produces": produces})
    )


def import_capabilities(
    body: t.AgentImport,
    *,
    key: str | None = None,
) -> Request[t.ImportedAgents]:
    """Take over the types that agents accept and produce from a `capabilities.yaml`, as JSON or as YAML."""
    return Request("POST", "/agents/import", body, key=key or new_key())


def get_agent(
    slug: str,
) -> Request[t.WholeAgentView]:
    """One agent, and its liveness."""
    return Request("GET", f"/agents/{quote(slug, safe='')}")


def put_agent(
    slug: str,
    body: t.AgentRequest,
) -> Request[t.SavedAgentView | t.ChangeView]:
    """Register an agent, change it, or switch it off."""
    return Request("PUT", f"/agents/{quote(slug, safe='')}", body)


def list_held(
    slug: str,
    *,
    limit: int | None = None,
    cursor: str | None = None,
) -> Request[t.TaskPage]:
    """The tasks that the agent holds, each with its `claim`: which worker, since when, until when; no
    `claim_id`."""
    return Request("GET", with_query(f"/agents/{quote(slug, safe='')}/claims", {"limit": limit, "cursor": cursor}))


def claim_the_next(
    slug: str,
    body: t.ClaimRequest,
    *,
    key: str | None = None,
) -> Request[t.ClaimAnswer | None]:
    """Claim the agent's best ready task, else open work that it is able to do; 204 when there is none."""
    return Request("POST", f"/agents/{quote(slug, safe='')}/claims", body, key=key or new_key())


def wait_for_a_claim(
    slug: str,
    body: t.WaitingClaimRequest,
    *,
    timeout: float | None = None,
    key: str | None = None,
) -> Request[t.ClaimAnswer | None]:
    """Claim the agent's best ready task as soon as there is one; 204 if there was none in the given time."""
    return Request(
        "POST",
        with_query(f"/agents/{quote(slug, safe='')}/claims/wait", {"timeout": timeout}),
        body,
        key=key or new_key(),
    )


def get_agent_health(
    slug: str,
) -> Request[t.AgentHealthView]:
    """How an agent is: what waits for it (up to 100), what it holds, and the last of its tasks that failed."""
    return Request("GET", f"/agents/{quote(slug, safe='')}/health")


def list_inbox(
    slug: str,
    *,
    limit: int | None = None,
    cursor: str | None = None,
) -> Request[t.InboxPage]:
    """The outcomes of the agent's own handoffs, oldest first, until they are acknowledged."""
    return Request("GET", with_query(f"/agents/{quote(slug, safe='')}/inbox", {"limit": limit, "cursor": cursor}))


def acknowledge_inbox(
    slug: str,
    body: t.Acknowledgement,
) -> Request[t.AcknowledgedView]:
    """Remove items from the inbox. May be repeated freely: items that were removed before, or never existed,
    count too."""
    return Request("POST", f"/agents/{quote(slug, safe='')}/inbox/ack", body, repeatable=True)


def list_pending(
    slug: str,
    *,
    limit: int | None = None,
    cursor: str | None = None,
) -> Request[t.TaskPage]:
    """Tasks for the agent that wait for approval or for a claim, newest first."""
    return Request("GET", with_query(f"/agents/{quote(slug, safe='')}/pending", {"limit": limit, "cursor": cursor}))


def list_all_alerts(
    *,
    limit: int | None = None,
    cursor: str | None = None,
    state: Literal["open", "acknowledged", "resolved"] | None = None,
    task_id: str | None = None,
    snoozed: Literal["true", "false"] | None = None,
) -> Request[t.AlertPage]:
    """Alerts, newest first. A page may be shorter than `limit` and still have a next one."""
    return Request(
        "GET",
        with_query(
            "/alerts", {"limit": limit, "cursor": cursor, "state": state, "task_id": task_id, "snoozed": snoozed}
        ),
    )


def create_alert(
    body: t.NewAlert,
    *,
    key: str | None = None,
) -> Request[t.AlertView]:
    """Alert humans to a problem, about a task or not."""
    return Request("POST", "/alerts", body, key=key or new_key())


def get_alert(
    alert_id: str,
) -> Request[t.AlertView]:
    """One alert."""
    return Request("GET", f"/alerts/{quote(alert_id, safe='')}")


def acknowledge_an_alert(
    alert_id: str,
    body: t.AlertNote,
    *,
    key: str | None = None,
) -> Request[t.AlertView]:
    """Acknowledge an alert: a human is working on it."""
    return Request("POST", f"/alerts/{quote(alert_id, safe='')}/acknowledge", body, key=key or new_key())


def resolve_an_alert(
    alert_id: str,
    body: t.AlertNote,
    *,
    key: str | None = None,
) -> Request[t.AlertView]:
    """Resolve an alert, acknowledged or not. An alert that was resolved before is returned unchanged. An alert
    about a"""
    return Request("POST", f"/alerts/{quote(alert_id, safe='')}/resolve", body, key=key or new_key())


def snooze_an_alert(
    alert_id: str,
    body: t.Snooze,
    *,
    key: str | None = None,
) -> Request[t.AlertView]:
    """Put an alert off until a time, at most 30 days ahead."""
    return Request("POST", f"/alerts/{quote(alert_id, safe='')}/snooze", body, key=key or new_key())


def approve_several(
    body: t.ApprovalsRequest,
    *,
    key: str | None = None,
) -> Request[t.ApprovalsView]:
    """Approve up to 25 tasks, each with an answer of its own, in the order given."""
    return Request("POST", "/approvals", body, key=key or new_key())


def find_the_bell() -> Request[t.BellView]:
    """Where to listen, in place of asking again and again; `url` is null where there is no bell."""
    return Request("GET", "/bell")


def make_a_ticket(
    body: t.NoFields,
) -> Request[t.NewTicket]:
    """Make a ticket that opens one connection to the bell within 30 seconds."""
    return Request("POST", "/bell/tickets", body)


def list_blackboard(
    *,
    limit: int | None = None,
    cursor: str | None = None,
    scope: str | None = None,
    entry_type: list[str] | None = None,
    tag: str | None = None,
    since: str | None = None,
    until: str | None = None,
) -> Request[t.EntryPage]:
    """Entries, newest first, without those that were withdrawn or deleted."""
    return Request(
        "GET",
        with_query(
            "/blackboard",
            {
                "limit": limit,
                "cursor": cursor,
                "scope": scope,
                "entry_type": entry_type,
                "tag": tag,
                "since": since,
                "until": until,
            },
        ),
    )


def create_entry(
    body: t.NewEntry,
    *,
    key: str | None = None,
) -> Request[t.WholeEntryView]:
    """Post an entry to the blackboard, for all agents and people of the workspace."""
    return Request("POST", "/blackboard", body, key=key or new_key())


def withdraw_entries(
    body: t.Withdrawals,
    *,
    key: str | None = None,
) -> Request[t.WithdrawnEntries]:
    """Take back what one poster has posted, the newest first: at most 25 entries at once, of 500 that are
    looked at."""
    return Request("POST", "/blackboard/withdrawals", body, key=key or new_key())


def delete_an_entry(
    entry_id: str,
) -> Request[t.WholeEntryView]:
    """Delete an entry: its texts, tags and references are removed for good. Its id, scope, type and trail stay."""
    return Request("DELETE", f"/blackboard/{quote(entry_id, safe='')}")


def get_entry(
    entry_id: str,
) -> Request[t.WholeEntryView]:
    """One entry with its trail, also after it was withdrawn or deleted."""
    return Request("GET", f"/blackboard/{quote(entry_id, safe='')}")


def withdraw_an_entry(
    entry_id: str,
    body: t.Withdrawal,
    *,
    key: str | None = None,
) -> Request[t.WholeEntryView]:
    """Take an entry back: no list, snapshot or search has it any more. For who posted it, and for humans."""
    return Request("POST", f"/blackboard/{quote(entry_id, safe='')}/withdraw", body, key=key or new_key())


def answer_a_callback(
    token: str,
    body: Any,
) -> Request[t.AcceptedView]:
    """Answer a task that waits for this callback, once, with any JSON value; an empty body is null."""
    return Request("POST", f"/callbacks/{quote(token, safe='')}", body)


def list_all_conversations(
    *,
    limit: int | None = None,
    cursor: str | None = None,
    begun_by: str | None = None,
    state: Literal["open", "idle"] | None = None,
) -> Request[t.ConversationPage]:
    """Conversations, the latest begun first; the filters may be combined."""
    return Request(
        "GET", with_query("/conversations", {"limit": limit, "cursor": cursor, "begun_by": begun_by, "state": state})
    )


def create_conversation(
    body: t.ConversationRequest,
    *,
    key: str | None = None,
) -> Request[t.AskedView]:
    """Send a message to an agent and begin a conversation."""
    return Request("POST", "/conversations", body, key=key or new_key())


def get_conversation(
    conversation_id: str,
) -> Request[t.ConversationView]:
    """One conversation: the agent that holds it, its tasks, and its usage so far."""
    return Request("GET", f"/conversations/{quote(conversation_id, safe='')}")


def list_messages(
    conversation_id: str,
    *,
    after: str | None = None,
    limit: int | None = None,
) -> Request[t.MessagePage]:
    """The conversation's messages, task by task in the order of their creation."""
    return Request(
        "GET",
        with_query(f"/conversations/{quote(conversation_id, safe='')}/messages", {"after": after, "limit": limit}),
    )


def create_message(
    conversation_id: str,
    body: t.MessageRequest,
    *,
    key: str | None = None,
) -> Request[t.AskedView]:
    """Send another message, to the agent that holds the conversation."""
    return Request("POST", f"/conversations/{quote(conversation_id, safe='')}/messages", body, key=key or new_key())


def list_all_decisions(
    *,
    limit: int | None = None,
    cursor: str | None = None,
    day: str | None = None,
    by: str | None = None,
    verb: str | None = None,
) -> Request[t.DecisionPage]:
    """What people decided on a day, today unless it says another, newest first."""
    return Request(
        "GET", with_query("/decisions", {"limit": limit, "cursor": cursor, "day": day, "by": by, "verb": verb})
    )


def get_graph(
    *,
    node: str,
    depth: int | None = None,
    since: str | None = None,
) -> Request[t.GraphPage]:
    """What is around an agent, a file, a module, a task or a decision, up to three edges away."""
    return Request("GET", with_query("/graph", {"node": node, "depth": depth, "since": since}))


def get_directions(
    *,
    since: str | None = None,
) -> Request[t.DirectionPage]:
    """Who hands to whom: how often, with what outcome, and how long it took. The busiest directions first."""
    return Request("GET", with_query("/graph/directions", {"since": since}))


def create_marker(
    body: t.MarkerRequest,
    *,
    key: str | None = None,
) -> Request[t.MarkerView]:
    """Hand off: get the block to paste, and create the task unless a breaker or cap prevents it."""
    return Request("POST", "/handoff-markers", body, key=key or new_key())


def list_all_handoffs(
    *,
    limit: int | None = None,
    cursor: str | None = None,
    target: str | None = None,
    source: str | None = None,
    state: list[str] | None = None,
    workflow: str | None = None,
    since: str | None = None,
) -> Request[t.HandoffPage]:
    """Handoffs of a workflow, to an agent, or of the last days, newest first; the filters may be combined."""
    return Request(
        "GET",
        with_query(
            "/handoffs",
            {
                "limit": limit,
                "cursor": cursor,
                "target": target,
                "source": source,
                "state": state,
                "workflow": workflow,
                "since": since,
            },
        ),
    )


def create_a_handoff(
    body: t.HandoffRequest,
    *,
    key: str | None = None,
) -> Request[t.HandedOff]:
    """Hand work to an agent, to the agent that the routes name, or to any agent that is able."""
    return Request("POST", "/handoffs", body, key=key or new_key())


def get_handoff(
    handoff_id: str,
) -> Request[t.HandoffView]:
    """One handoff: its message and its outcome."""
    return Request("GET", f"/handoffs/{quote(handoff_id, safe='')}")


def retry_a_handoff(
    handoff_id: str,
    body: t.HandoffRetry,
    *,
    key: str | None = None,
) -> Request[t.HandedOff]:
    """Retry a handoff that failed, was rejected or cancelled: a new handoff, with the context and the last
    checkpoint."""
    return Request("POST", f"/handoffs/{quote(handoff_id, safe='')}/retry", body, key=key or new_key())


def health(
    *,
    deep: Literal["1", "true"] | None = None,
) -> Request[t.Health]:
    """Whether the API answers; with `deep`, also whether it can read its table: 503 if it can't. Needs no
    token."""
    return Request("GET", with_query("/healthz", {"deep": deep}))


def list_manual_reviews(
    *,
    limit: int | None = None,
    cursor: str | None = None,
    state: Literal["open", "released", "closed"] | None = None,
) -> Request[t.ReviewPage]:
    """Manual reviews, newest first."""
    return Request("GET", with_query("/manual-reviews", {"limit": limit, "cursor": cursor, "state": state}))


def get_manual_review(
    review_id: str,
    *,
    limit: int | None = None,
    cursor: str | None = None,
) -> Request[t.WholeReview]:
    """One manual review, with the note of each request, and the whole message that a release hands off."""
    return Request(
        "GET", with_query(f"/manual-reviews/{quote(review_id, safe='')}", {"limit": limit, "cursor": cursor})
    )


def close_manual_review(
    review_id: str,
    body: t.ReviewClosing,
    *,
    key: str | None = None,
) -> Request[t.ReviewView]:
    """Close it without a release: nothing comes of its requests. The next one that the rule stops is a review
    again."""
    return Request("POST", f"/manual-reviews/{quote(review_id, safe='')}/close", body, key=key or new_key())


def release_manual_review(
    review_id: str,
    body: t.ReviewSeen,
    *,
    key: str | None = None,
) -> Request[t.ReleasedReview]:
    """Release its latest request: the task is created, and approved by this."""
    return Request("POST", f"/manual-reviews/{quote(review_id, safe='')}/release", body, key=key or new_key())


def answer_a_message(
    body: t.McpMessage,
    *,
    tools: Literal["worker", "sender", "usual", "all"] | None = None,
    worker: str | None = None,
) -> Request[t.McpAnswer | None]:
    """Answer one message of the Model Context Protocol: the API as tools for models."""
    return Request("POST", with_query("/mcp", {"tools": tools, "worker": worker}), body)


def receive_delivery(
    secret: str,
    body: t.NotionDelivery,
) -> Request[t.ReceivedView]:
    """For Notion: make the handshake while the address is open, and report changes afterwards."""
    return Request("POST", f"/notion/webhook/{quote(secret, safe='')}", body)


def list_approvals_of_person(
    person: str,
    *,
    limit: int | None = None,
    cursor: str | None = None,
) -> Request[t.RestingApprovalPage]:
    """A person's approvals and votes that may still be used, for administrators. A page may"""
    return Request("GET", with_query(f"/people/{quote(person, safe='')}/approvals", {"limit": limit, "cursor": cursor}))


def end_approvals_of_person(
    person: str,
    body: t.NoFields,
    *,
    key: str | None = None,
) -> Request[t.PersonView]:
    """End all approvals of a person until now, for administrators. The person keeps their right, and their
    later"""
    return Request("POST", f"/people/{quote(person, safe='')}/end-approvals", body, key=key or new_key())


def list_questions(
    *,
    limit: int | None = None,
    cursor: str | None = None,
) -> Request[t.QuestionPage]:
    """Questions that wait for people, the oldest first."""
    return Request("GET", with_query("/questions", {"limit": limit, "cursor": cursor}))


def recall_entries(
    *,
    q: str,
    scope: str | None = None,
    entry_type: list[str] | None = None,
    limit: int | None = None,
) -> Request[t.Recall]:
    """What the workspace knows about `q`, the best first: words in a question, names of files or symbols."""
    return Request("GET", with_query("/recall", {"q": q, "scope": scope, "entry_type": entry_type, "limit": limit}))


def list_routes(
    *,
    limit: int | None = None,
    cursor: str | None = None,
) -> Request[t.RouteList]:
    """The workspace's routes, by `dispatch_rank` and then by work type."""
    return Request("GET", with_query("/routes", {"limit": limit, "cursor": cursor}))


def delete_route(
    work_type: str,
) -> Request[None]:
    """Remove the route of a type of work."""
    return Request("DELETE", f"/routes/{quote(work_type, safe='')}")


def get_route(
    work_type: str,
) -> Request[t.RouteView]:
    """One route."""
    return Request("GET", f"/routes/{quote(work_type, safe='')}")


def put_route(
    work_type: str,
    body: t.RouteRequest,
) -> Request[t.RouteView]:
    """Route a type of work to an agent. A workspace holds at most 500 routes."""
    return Request("PUT", f"/routes/{quote(work_type, safe='')}", body)


def create_session_code(
    body: t.NoFields,
) -> Request[t.NewSessionCode]:
    """Make a code that opens one session within 60 seconds: for a program that opens a browser, whose address
    may be"""
    return Request("POST", "/session-codes", body)


def open_a_session(
    body: t.NoFields,
) -> Request[t.NewSession]:
    """Exchange a token for a session: a token of the same human that lasts for 15 minutes and is renewed while
    it is in"""
    return Request("POST", "/sessions", body)


def redeem_a_session_code(
    body: t.RedeemRequest,
) -> Request[t.SessionOffer | t.NewSession]:
    """Exchange a code for a session of the human who made it. Takes no token. Of all who show the code exactly
    one gets"""
    return Request("POST", "/sessions/redeem", body)


def renew_a_session(
    body: t.NoFields,
) -> Request[t.RenewedSession]:
    """Let the calling session last for another 15 minutes (4 hours in a cookie), within its 12 hours. 409"""
    return Request("POST", "/sessions/renew", body)


def list_standing(
    *,
    limit: int | None = None,
    cursor: str | None = None,
) -> Request[t.StandingAnswerPage]:
    """Standing answers that allow something, by agent and tool: also what is used up and wasn't begun."""
    return Request("GET", with_query("/standing-answers", {"limit": limit, "cursor": cursor}))


def revoke_standing(
    standing_id: str,
) -> Request[t.StandingAnswerView]:
    """Revoke a standing answer at once: also what it has approved and wasn't begun. Again, it changes nothing."""
    return Request("DELETE", f"/standing-answers/{quote(standing_id, safe='')}")


def get_stats(
    *,
    from_: str | None = None,
    to: str | None = None,
    by: str | None = None,
    also: str | None = None,
    agent: str | None = None,
) -> Request[t.StatsView]:
    """What ended, and how long it waited and was worked on, in at most 31 days."""
    return Request("GET", with_query("/stats", {"from": from_, "to": to, "by": by, "also": also, "agent": agent}))


def list_agents_health(
    *,
    limit: int | None = None,
    cursor: str | None = None,
) -> Request[t.AgentHealthPage]:
    """How agents are, by slug: what waits for them (up to 25), what they hold, and what ended in the last week."""
    return Request("GET", with_query("/stats/agents", {"limit": limit, "cursor": cursor}))


def list_tasks(
    *,
    limit: int | None = None,
    cursor: str | None = None,
    agent: str | None = None,
    day: str | None = None,
    state: list[str] | None = None,
    held: bool | None = None,
) -> Request[t.TaskPage]:
    """Tasks of an agent or of a day, newest first; with only `state=needs`, those for a human, most urgent
    first."""
    return Request(
        "GET",
        with_query(
            "/tasks", {"limit": limit, "cursor": cursor, "agent": agent, "day": day, "state": state, "held": held}
        ),
    )


def search_all_tasks(
    *,
    limit: int | None = None,
    cursor: str | None = None,
    q: str | None = None,
    label: str | None = None,
    page: str | None = None,
    agent: str | None = None,
    by: str | None = None,
    kind: list[str] | None = None,
    priority: list[str] | None = None,
    state: list[str] | None = None,
    since: str | None = None,
) -> Request[t.FoundTaskPage]:
    """Tasks of all days, newest first. Words are looked for in a task's title, agents, labels and ids, and in
    its"""
    return Request(
        "GET",
        with_query(
            "/tasks/search",
            {
                "limit": limit,
                "cursor": cursor,
                "q": q,
                "label": label,
                "page": page,
                "agent": agent,
                "by": by,
                "kind": kind,
                "priority": priority,
                "state": state,
                "since": since,
            },
        ),
    )


def get_task(
    task_id: str,
) -> Request[t.WholeTask]:
    """One task with its output, failure and recoveries, its input and its usage."""
    return Request("GET", f"/tasks/{quote(task_id, safe='')}")


def approve(
    task_id: str,
    body: t.ApprovalSeen,
    *,
    key: str | None = None,
) -> Request[t.ChangedTask]:
    """Approve a task for its agent; it can be claimed once the undo window is over."""
    return Request("POST", f"/tasks/{quote(task_id, safe='')}/approve", body, key=key or new_key())


def approve_next(
    task_id: str,
    body: t.ApprovalSeen,
    *,
    key: str | None = None,
) -> Request[t.ChangedTask]:
    """Approve a task for a worker that is at work already: it is claimed by its id, never dispatched."""
    return Request("POST", f"/tasks/{quote(task_id, safe='')}/approve-next", body, key=key or new_key())


def ask_people(
    task_id: str,
    body: t.Asking,
    *,
    key: str | None = None,
) -> Request[t.QuestionView]:
    """Ask people, under a claim, which goes on: a question, or whether an action may be done."""
    return Request("POST", f"/tasks/{quote(task_id, safe='')}/ask", body, key=key or new_key())


def await_a_task(
    task_id: str,
    *,
    state: Literal[
        "ended", "needs", "delegated", "next", "claimed", "waiting", "done", "failed", "rejected", "cancelled"
    ]
    | None = None,
    timeout: float | None = None,
) -> Request[t.AwaitedTask]:
    """The task once it is in a state, or has ended; `timed_out` if that didn't happen in the given time."""
    return Request("GET", with_query(f"/tasks/{quote(task_id, safe='')}/await", {"state": state, "timeout": timeout}))


def cancel(
    task_id: str,
    body: t.Cancellation,
    *,
    key: str | None = None,
) -> Request[t.ChangedTask]:
    """Cancel a task and all tasks that descend from it: by a human, or by the principal that created it."""
    return Request("POST", f"/tasks/{quote(task_id, safe='')}/cancel", body, key=key or new_key())


def list_task_checkpoints(
    task_id: str,
    *,
    limit: int | None = None,
    cursor: str | None = None,
) -> Request[t.CheckpointPage]:
    """The task's checkpoints, newest first: those that its workers saved, and the state of its handoff."""
    return Request(
        "GET", with_query(f"/tasks/{quote(task_id, safe='')}/checkpoints", {"limit": limit, "cursor": cursor})
    )


def checkpoint(
    task_id: str,
    body: t.CheckpointRequest,
    *,
    key: str | None = None,
) -> Request[t.SavedCheckpoint]:
    """Save a state to continue from: shown to the next claimer, and carried over by a retry. It extends the
    claim."""
    return Request("POST", f"/tasks/{quote(task_id, safe='')}/checkpoints", body, key=key or new_key())


def claim(
    task_id: str,
    body: t.NamedClaimRequest,
    *,
    key: str | None = None,
) -> Request[t.ClaimAnswer]:
    """Claim one task by its id."""
    return Request("POST", f"/tasks/{quote(task_id, safe='')}/claim", body, key=key or new_key())


def complete(
    task_id: str,
    body: t.CompletionRequest,
    *,
    key: str | None = None,
) -> Request[t.CompletedAndNext]:
    """Complete the task, and claim the next one if `claim_next` is true. An exact repeat gets the first answer
    again."""
    return Request("POST", f"/tasks/{quote(task_id, safe='')}/complete", body, key=key or new_key())


def defer(
    task_id: str,
    body: t.Deferral,
    *,
    key: str | None = None,
) -> Request[t.ChangedTask]:
    """Put off a task that needs approval: no queue shows it before then."""
    return Request("POST", f"/tasks/{quote(task_id, safe='')}/defer", body, key=key or new_key())


def delegate(
    task_id: str,
    body: t.DelegationRequest,
    *,
    key: str | None = None,
) -> Request[t.ChangedTask]:
    """Delegate parts of the task to other agents and wait for their results."""
    return Request("POST", f"/tasks/{quote(task_id, safe='')}/delegate", body, key=key or new_key())


def dismiss(
    task_id: str,
    body: t.Dismissal,
    *,
    key: str | None = None,
) -> Request[t.ChangedTask]:
    """Cancel a task that wasn't approved yet."""
    return Request("POST", f"/tasks/{quote(task_id, safe='')}/dismiss", body, key=key or new_key())


def list_events(
    task_id: str,
    *,
    after: int | None = None,
    limit: int | None = None,
) -> Request[t.Trail]:
    """The task's audit trail, oldest first, from the entry after `after` on."""
    return Request("GET", with_query(f"/tasks/{quote(task_id, safe='')}/events", {"after": after, "limit": limit}))


def verify_events(
    task_id: str,
    *,
    cursor: str | None = None,
) -> Request[t.TrailVerdict]:
    """Whether the task's audit trail is complete and unaltered, and agrees with the task as it is."""
    return Request("GET", with_query(f"/tasks/{quote(task_id, safe='')}/events/verify", {"cursor": cursor}))


def wait_for_more_events(
    task_id: str,
    *,
    after: int | None = None,
    timeout: float | None = None,
    limit: int | None = None,
) -> Request[t.Trail]:
    """The trail's entries after one, as soon as there are any; none if there weren't any in the given time."""
    return Request(
        "GET",
        with_query(
            f"/tasks/{quote(task_id, safe='')}/events/wait", {"after": after, "timeout": timeout, "limit": limit}
        ),
    )


def fail(
    task_id: str,
    body: t.FailureReport,
    *,
    key: str | None = None,
) -> Request[t.FailedAndNext]:
    """Report that the task could not be done: it is retried if `retryable` and attempts remain, else it has
    failed."""
    return Request("POST", f"/tasks/{quote(task_id, safe='')}/fail", body, key=key or new_key())


def heartbeat(
    task_id: str,
    body: t.Heartbeat,
) -> Request[t.Beat]:
    """Extend the claim to now + lease; it is never shortened. May be repeated freely."""
    return Request("POST", f"/tasks/{quote(task_id, safe='')}/heartbeat", body, repeatable=True)


def list_late_results(
    task_id: str,
    *,
    limit: int | None = None,
    cursor: str | None = None,
) -> Request[t.LateResults]:
    """Results that workers sent after their claim was over: refused, and kept once per claim; by the claim's
    fence."""
    return Request(
        "GET", with_query(f"/tasks/{quote(task_id, safe='')}/late-results", {"limit": limit, "cursor": cursor})
    )


def list_task_model_calls(
    task_id: str,
    *,
    limit: int | None = None,
    cursor: str | None = None,
) -> Request[t.ModelCalls]:
    """The replies of a model to a task that Baton runs, with the time and the tokens of each, oldest first."""
    return Request(
        "GET", with_query(f"/tasks/{quote(task_id, safe='')}/model-calls", {"limit": limit, "cursor": cursor})
    )


def list_notes_of_task(
    task_id: str,
    *,
    limit: int | None = None,
    cursor: str | None = None,
) -> Request[t.NotePage]:
    """Notes of its workers, and the requests that were prevented as its duplicates, newest first."""
    return Request("GET", with_query(f"/tasks/{quote(task_id, safe='')}/notes", {"limit": limit, "cursor": cursor}))


def note(
    task_id: str,
    body: t.NoteRequest,
    *,
    key: str | None = None,
) -> Request[t.NoteView]:
    """Add a note to the claimed task. It extends the claim, and leaves the content revision as it is."""
    return Request("POST", f"/tasks/{quote(task_id, safe='')}/notes", body, key=key or new_key())


def list_task_questions(
    task_id: str,
    *,
    limit: int | None = None,
    cursor: str | None = None,
) -> Request[t.QuestionPage]:
    """The task's questions with what people said, the oldest first."""
    return Request("GET", with_query(f"/tasks/{quote(task_id, safe='')}/questions", {"limit": limit, "cursor": cursor}))


def get_question(
    task_id: str,
    question_id: str,
) -> Request[t.WholeQuestion]:
    """One question with people's answers and, for comparison, the last approvals of its tool."""
    return Request("GET", f"/tasks/{quote(task_id, safe='')}/questions/{quote(question_id, safe='')}")


def give_answer(
    task_id: str,
    question_id: str,
    body: t.Answering,
) -> Request[t.QuestionView]:
    """Approve the action, answer the question, or refuse it; never by who asked. The same answer again changes
    nothing."""
    return Request("POST", f"/tasks/{quote(task_id, safe='')}/questions/{quote(question_id, safe='')}/answer", body)


def revoke_an_approval(
    task_id: str,
    question_id: str,
    body: t.Revoking,
) -> Request[t.QuestionView]:
    """Take the approval of an action back, before it is used. Again, it changes nothing."""
    return Request("POST", f"/tasks/{quote(task_id, safe='')}/questions/{quote(question_id, safe='')}/revoke", body)


def use_an_approval(
    task_id: str,
    question_id: str,
    body: t.Using,
    *,
    key: str | None = None,
) -> Request[t.QuestionView]:
    """Begin the action that was approved: exactly once, for exactly those arguments, under the task's claim."""
    return Request(
        "POST",
        f"/tasks/{quote(task_id, safe='')}/questions/{quote(question_id, safe='')}/use",
        body,
        key=key or new_key(),
    )


def reject(
    task_id: str,
    body: t.Rejection,
    *,
    key: str | None = None,
) -> Request[t.FailedTask]:
    """Refuse the task: it ends as rejected, and is rolled back as a failed one is."""
    return Request("POST", f"/tasks/{quote(task_id, safe='')}/reject", body, key=key or new_key())


def release(
    task_id: str,
    body: t.Release,
    *,
    key: str | None = None,
) -> Request[t.ChangedTask]:
    """Give the task back undone; the attempt doesn't count."""
    return Request("POST", f"/tasks/{quote(task_id, safe='')}/release", body, key=key or new_key())


def release_held_claim(
    task_id: str,
    body: t.ClaimSeen,
    *,
    key: str | None = None,
) -> Request[t.ChangedTask]:
    """Take a task back from the worker that holds it: the next claimer goes on, and the attempt doesn't count."""
    return Request("POST", f"/tasks/{quote(task_id, safe='')}/release-claim", body, key=key or new_key())


def resolve(
    task_id: str,
    body: t.Resolution,
    *,
    key: str | None = None,
) -> Request[t.ChangedTask]:
    """End a task whose work was done elsewhere."""
    return Request("POST", f"/tasks/{quote(task_id, safe='')}/resolve", body, key=key or new_key())


def run_state(
    task_id: str,
    body: t.RunStateRequest,
    *,
    key: str | None = None,
) -> Request[t.SavedRunState]:
    """Replace the saved state of a framework's run. The client's adapters use it."""
    return Request("POST", f"/tasks/{quote(task_id, safe='')}/run-state", body, key=key or new_key())


def split(
    task_id: str,
    body: t.SplitRequest,
    *,
    key: str | None = None,
) -> Request[t.SplitView]:
    """Split a task that needs approval into 2 to 10 parts, each to be approved by itself; the whole is
    cancelled."""
    return Request("POST", f"/tasks/{quote(task_id, safe='')}/split", body, key=key or new_key())


def transfer(
    task_id: str,
    body: t.TransferRequest,
    *,
    key: str | None = None,
) -> Request[t.ChangedTask]:
    """Transfer the task: it is done, and a new task with the same expectations continues it (`successors`)."""
    return Request("POST", f"/tasks/{quote(task_id, safe='')}/transfer", body, key=key or new_key())


def undo(
    task_id: str,
    body: t.NoFields,
    *,
    key: str | None = None,
) -> Request[t.ChangedTask]:
    """Take an approval back while its undo window is open."""
    return Request("POST", f"/tasks/{quote(task_id, safe='')}/undo", body, key=key or new_key())


def wait_for_a_callback(
    task_id: str,
    body: t.CallbackWait,
    *,
    key: str | None = None,
) -> Request[t.WaitingTask]:
    """Give up the claim until something outside of Baton answers, once, at the secret `callback.url`."""
    return Request("POST", f"/tasks/{quote(task_id, safe='')}/wait-callback", body, key=key or new_key())


def wait_answers(
    task_id: str,
    body: t.Waiting,
    *,
    key: str | None = None,
) -> Request[t.ChangedTask]:
    """Give the claim up until people have answered these questions, or their time is over. It costs no attempt;
    the"""
    return Request("POST", f"/tasks/{quote(task_id, safe='')}/wait-for-answers", body, key=key or new_key())


def list_tokens(
    *,
    limit: int | None = None,
    cursor: str | None = None,
) -> Request[t.TokenPage]:
    """The workspace's tokens, newest first, without their secrets."""
    return Request("GET", with_query("/tokens", {"limit": limit, "cursor": cursor}))


def create_token(
    body: t.NewTokenRequest,
    *,
    key: str | None = None,
) -> Request[t.NewToken | t.ChangeView]:
    """Make a token. Its text is shown once: a repeat with the same Idempotency-Key gets 409
    `secret_already_shown`."""
    return Request("POST", "/tokens", body, key=key or new_key())


def delete_token(
    token_id: str,
) -> Request[t.TokenView | t.ChangeView]:
    """Revoke a token: it is refused from the next request on. Revoking twice changes nothing. Everybody revokes
    their"""
    return Request("DELETE", f"/tokens/{quote(token_id, safe='')}")


def list_tools(
    *,
    limit: int | None = None,
    cursor: str | None = None,
) -> Request[t.ToolList]:
    """The workspace's tools, by name; for an agent, its own."""
    return Request("GET", with_query("/tools", {"limit": limit, "cursor": cursor}))


def get_tool(
    name: str,
) -> Request[t.ToolView]:
    """One tool."""
    return Request("GET", f"/tools/{quote(name, safe='')}")


def put_tool(
    name: str,
    body: t.ToolRequest,
) -> Request[t.ToolView]:
    """Define a tool, change it, or switch it off. A workspace holds at most 200."""
    return Request("PUT", f"/tools/{quote(name, safe='')}", body)


def dry_run_tool(
    name: str,
    body: t.DryRunRequest,
) -> Request[t.DryRunView]:
    """The result that a call of the tool with these arguments would have now. Changes nothing."""
    return Request("POST", f"/tools/{quote(name, safe='')}/dry-run", body)


def preview_a_tool(
    name: str,
    body: t.ToolRequest,
) -> Request[t.ToolSchemaView]:
    """The tool as a model would see it, were this definition saved. Changes nothing."""
    return Request("POST", f"/tools/{quote(name, safe='')}/preview", body)


def get_tool_schema(
    name: str,
) -> Request[t.ToolSchemaView]:
    """The tool as a model sees it."""
    return Request("GET", f"/tools/{quote(name, safe='')}/schema")


def check_the_tracker(
    body: t.CheckRequest,
) -> Request[t.TrackerCheck]:
    """All problems of the tracker's database, with a remedy each. Changes nothing."""
    return Request("POST", "/tracker/check", body)


def get_tracker_health() -> Request[t.TrackerHealth]:
    """The tracker's health, as far as Baton knows it: the tracker isn't contacted."""
    return Request("GET", "/tracker/health")


def import_from_the_tracker(
    body: t.NoFields,
    *,
    key: str | None = None,
) -> Request[t.ImportedView]:
    """Create tasks for the window's handoffs that exist only in the tracker."""
    return Request("POST", "/tracker/import", body, key=key or new_key())


def retry_the_tracker(
    body: t.RetryRequest,
    *,
    key: str | None = None,
) -> Request[t.RetriedView]:
    """Retry now: all pages that were given up, or one task's page."""
    return Request("POST", "/tracker/retry", body, key=key or new_key())


def put_tracker_token(
    body: t.TrackerToken,
) -> Request[None]:
    """Give Baton its Notion token. It is never shown again."""
    return Request("PUT", "/tracker/token", body)


def delete_webhook() -> Request[t.ChangeView | None]:
    """Take the webhook down: its address is unknown from the next delivery on."""
    return Request("DELETE", "/tracker/webhook")


def get_webhook() -> Request[t.WebhookView]:
    """The progress of the webhook's installation, and for administrators the `verification_token` that Notion
    needs."""
    return Request("GET", "/tracker/webhook")


def open_a_webhook(
    body: t.NoFields,
) -> Request[t.OpenedWebhook]:
    """Open an address for Notion's webhook, for ten minutes."""
    return Request("POST", "/tracker/webhook", body)


def create_twining_handoff(
    body: t.TwiningRequest,
    *,
    key: str | None = None,
) -> Request[t.TwiningRecord]:
    """Hand results over to an agent, or to any: with what the scope knows, and a status entry on the
    blackboard."""
    return Request("POST", "/twining-handoff", body, key=key or new_key())


def list_views() -> Request[t.ViewsView]:
    """The workspace's views, then one's own, by name: at most 50 of each."""
    return Request("GET", "/views")


def delete_view(
    view: str,
    *,
    scope: str | None = None,
    version: int | None = None,
) -> Request[None]:
    """Delete a saved view."""
    return Request("DELETE", with_query(f"/views/{quote(view, safe='')}", {"scope": scope, "version": version}))


def put_view(
    view: str,
    body: t.ViewRequest,
) -> Request[t.ViewOfPage]:
    """Save a page of the console with its filters, for oneself or for the workspace."""
    return Request("PUT", f"/views/{quote(view, safe='')}", body)


def explain_path(
    *,
    path: str,
    limit: int | None = None,
) -> Request[t.Why]:
    """Why a file or folder is as it is: the decisions and constraints that hold for it, newest first, with what
    they"""
    return Request("GET", with_query("/why", {"path": path, "limit": limit}))


def get_chain(
    workflow_id: str,
) -> Request[t.ChainView]:
    """The tree of a workflow's handoffs: source and target of each, its duration and its outcome."""
    return Request("GET", f"/workflows/{quote(workflow_id, safe='')}/chain")


def list_workflow_checkpoints(
    workflow_id: str,
    *,
    limit: int | None = None,
    cursor: str | None = None,
) -> Request[t.CheckpointPage]:
    """The workflow's checkpoints, newest first: saved by workers, and the state of each handoff at its
    creation."""
    return Request(
        "GET", with_query(f"/workflows/{quote(workflow_id, safe='')}/checkpoints", {"limit": limit, "cursor": cursor})
    )


def list_workspace_changes(
    *,
    limit: int | None = None,
    cursor: str | None = None,
    subject: str | None = None,
    name: str | None = None,
    state: str | None = None,
) -> Request[t.ChangePage]:
    """Changes of settings, tokens, agents, tools, routes, approvals and the tracker's token and webhook, newest
    first:"""
    return Request(
        "GET",
        with_query(
            "/workspace/changes", {"limit": limit, "cursor": cursor, "subject": subject, "name": name, "state": state}
        ),
    )


def get_workspace_change(
    change_id: str,
) -> Request[t.ChangeView]:
    """One change of the workspace."""
    return Request("GET", f"/workspace/changes/{quote(change_id, safe='')}")


def approve_workspace_change(
    change_id: str,
    body: t.ChangeApproval,
) -> Request[t.ChangeView]:
    """Approve another administrator's change: it is applied, or nothing happens (409 `change_overtaken`). A
    request for"""
    return Request("POST", f"/workspace/changes/{quote(change_id, safe='')}/approve", body)


def refuse_workspace_change(
    change_id: str,
    body: t.ChangeRefusal,
) -> Request[t.ChangeView]:
    """Refuse another administrator's change. Any administrator ends an approval that isn't used yet."""
    return Request("POST", f"/workspace/changes/{quote(change_id, safe='')}/refuse", body)


def withdraw_workspace_change(
    change_id: str,
    body: t.NoFields,
) -> Request[t.ChangeView]:
    """Take your own pending change back."""
    return Request("POST", f"/workspace/changes/{quote(change_id, safe='')}/withdraw", body)


def get_settings() -> Request[t.SettingsView]:
    """Every setting, defaults included. Version 0: nothing was set yet."""
    return Request("GET", "/workspace/settings")


def put_settings(
    body: t.SettingsRequest,
) -> Request[t.SettingsView | t.ChangeView]:
    """Change settings. The tracker's token is none of them: it is set with PUT /tracker/token."""
    return Request("PUT", "/workspace/settings", body)


def get_settings_version(
    version: str,
) -> Request[t.SettingsVersionView]:
    """An earlier version of the settings, with its author."""
    return Request("GET", f"/workspace/settings/versions/{quote(version, safe='')}")

"""`baton tasks`."""

from __future__ import annotations

from typing import Any

from baton_cli.calls import CLAIM, REASON, STATE, Call, Param
from baton_cli.nouns.claiming import claim
from baton_cli.nouns.following import retry, watch
from baton_cli.table import noun

REVISION = Param("revision", "What was looked at: refused if the content has changed since.", "number")
CLAIM_NEXT = Param("claim_next", "Claim the next task in the same request.", "yes")
LEASE = Param("lease_seconds", "How long the claim lasts without a heartbeat.", "number", flag="lease")
STATED = "{id} is {state}"


def _parts(body: dict[str, Any]) -> None:
    """A part is typed as its summary."""
    body["parts"] = [{"summary": each} if isinstance(each, str) else each for each in body.get("parts", [])]


CALLS = (
    Call(
        "list",
        "GET",
        "/tasks",
        "List an agent's tasks, or a day's: today's if neither is named.",
        query=(
            Param("agent", "The agent that the work is for."),
            Param("day", "A day (UTC), as 2026-11-23."),
            STATE,
        ),
        columns="id:ID source_agent:From target_agent:To priority:P state:State updated_at:Age title:Title",
        is_paged=True,
    ),
    Call("show", "GET", "/tasks/{task_id}", "Show a task: its state, claim, input and result.", screen="task:show"),
    Call(
        "heartbeat",
        "POST",
        "/tasks/{task_id}/heartbeat",
        "Say that the work goes on: the lease begins anew.",
        body=(CLAIM, LEASE),
        said="claimed until {expires_at}",
    ),
    Call(
        "checkpoint",
        "POST",
        "/tasks/{task_id}/checkpoints",
        "Save progress that the next attempt goes on from.",
        body=(
            CLAIM,
            Param("step_name", "The step's name.", flag="step", is_required=True),
            Param("state", "An object: JSON, @FILE, or -.", "json", is_required=True),
        ),
        said="saved as {checkpoint_id}",
    ),
    Call(
        "complete",
        "POST",
        "/tasks/{task_id}/complete",
        "End the task as done. --data takes deliverables and verification.",
        body=(
            CLAIM,
            Param("output", "The result: JSON, @FILE, or -.", "json"),
            Param("notes", "A note.", "list", flag="note"),
            CLAIM_NEXT,
        ),
        said="{id} is {state}: {completion_id}",
    ),
    Call(
        "fail",
        "POST",
        "/tasks/{task_id}/fail",
        "End the attempt as failed.",
        body=(
            CLAIM,
            Param(
                "failure.type",
                "What kind of failure.",
                choices=("blocker", "error", "timeout", "validation", "capability"),
                is_required=True,
            ),
            Param("failure.description", "What happened.", "long", flag="reason", is_required=True),
            Param("failure.partial_progress.completed", "What is done.", "list"),
            Param("failure.partial_progress.incomplete", "What isn't.", "list"),
            Param("rollback_request.target_agent", "Who gets the work back.", flag="rollback-to"),
            Param("rollback_request.reason", "What for.", flag="rollback-reason"),
            Param("rollback_request.questions", "A question to them.", "list", flag="question"),
            Param("retryable", "Whether another attempt may help.", "either"),
            CLAIM_NEXT,
        ),
        said="{id} is {state}: {failure_id}",
    ),
    Call("release", "POST", "/tasks/{task_id}/release", "Give the task back.", body=(CLAIM, REASON), said=STATED),
    Call(
        "reject",
        "POST",
        "/tasks/{task_id}/reject",
        "Refuse the task: it isn't this agent's.",
        body=(CLAIM, Param("reason", "Why.", "long", is_required=True)),
        said=STATED,
    ),
    Call(
        "transfer",
        "POST",
        "/tasks/{task_id}/transfer",
        "Hand the task itself to another agent.",
        body=(
            CLAIM,
            Param("target.agent", "The agent.", flag="to", is_required=True),
            Param("target.reason", "Why.", "long", is_required=True),
            Param("summary", "What was done.", "long"),
        ),
        said="{id} is {state}, for {target_agent}",
    ),
    Call(
        "delegate",
        "POST",
        "/tasks/{task_id}/delegate",
        "Ask other agents, and wait for them. --data has the branches.",
        body=(
            CLAIM,
            Param("branches", "A list of branches: JSON, @FILE, or -.", "json", is_required=True),
            Param("join.policy", "When it goes on.", choices=("all", "any", "quorum"), flag="join"),
            Param("join.quorum", "How many of them.", "number"),
        ),
        said=STATED,
    ),
    Call(
        "wait-callback",
        "POST",
        "/tasks/{task_id}/wait-callback",
        "Wait for an answer from outside.",
        body=(
            CLAIM,
            Param("interaction_id", "Its name.", flag="interaction", is_required=True),
            Param("until", "Until when.", "future"),
        ),
        said="{id} waits for {callback.url}",
    ),
    Call("cancel", "POST", "/tasks/{task_id}/cancel", "End it, and all that came of it.", body=(REASON,), said=STATED),
    Call(
        "resolve",
        "POST",
        "/tasks/{task_id}/resolve",
        "End it as done: the work was done elsewhere.",
        body=(Param("output", "The result: JSON, @FILE, or -.", "json"), REASON),
        said=STATED,
    ),
    Call("approve", "POST", "/tasks/{task_id}/approve", "Let it be dispatched.", body=(REVISION,), said=STATED),
    Call(
        "approve-next",
        "POST",
        "/tasks/{task_id}/approve-next",
        "Approve it for a worker that is at work already.",
        body=(REVISION,),
        said=STATED,
    ),
    Call("undo", "POST", "/tasks/{task_id}/undo", "Take an approval back.", body=(), said=STATED),
    Call(
        "defer",
        "POST",
        "/tasks/{task_id}/defer",
        "Put it off, for 3d or until a time.",
        body=(Param("until", "A time, or how long from now.", "future", is_required=True), REVISION),
        said="{id} is put off until {deferred_until}",
    ),
    Call(
        "dismiss",
        "POST",
        "/tasks/{task_id}/dismiss",
        "Refuse it, with a reason.",
        body=(Param("reason", "Why.", "long", is_required=True),),
        said=STATED,
    ),
    Call(
        "split",
        "POST",
        "/tasks/{task_id}/split",
        "Split it into 2 to 10 parts, each with an approval of its own.",
        body=(Param("parts", "A part's summary; or give --data.", "list", flag="part"), REVISION),
        refine=_parts,
        screen="task:split",
    ),
    Call(
        "note",
        "POST",
        "/tasks/{task_id}/notes",
        "Note something on the task.",
        body=(CLAIM, Param("text", "The note.", "long", is_required=True, is_argument=True)),
        said="noted as {id}",
    ),
    Call(
        "notes",
        "GET",
        "/tasks/{task_id}/notes",
        "List its notes.",
        columns="at:At by:By content:Note",
        is_paged=True,
    ),
    Call(
        "checkpoints",
        "GET",
        "/tasks/{task_id}/checkpoints",
        "List its checkpoints.",
        columns="checkpoint_id:ID step_name:Step at:At by:By",
        is_paged=True,
    ),
    Call(
        "late-results",
        "GET",
        "/tasks/{task_id}/late-results",
        "List what workers said whose claim was over.",
        columns="at:At agent:Agent verb:Verb fence:Fence content:Said",
        is_paged=True,
    ),
)

listing, show, *others = CALLS
command = noun(
    "tasks", "Look at work, do it under a claim, and decide on it.", [listing, show, watch, claim, *others, retry]
)

"""`baton tasks`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from baton_cli.command_table import noun
from baton_cli.nouns.claiming import claim
from baton_cli.nouns.following import retry, show, watch
from baton_cli.request_commands import CLAIM, REASON, STATE, Param, RequestCommand

SEEN = (
    Param("revision", "What was looked at: refused if the content has changed since.", "number"),
    Param("digest", "Of what was looked at, as tasks show says it: refused for any other content."),
)
AGENT_VERSIONS = (
    Param("agent_version", "Of its agent, that was looked at: if it has changed since the task came.", "number"),
    Param("agent_versions", "For open work: of each agent that was looked at, by its name.", "json"),
)
CLAIM_NEXT = Param("claim_next", "Claim the next task in the same request.", "yes")
LEASE = Param("lease_seconds", "How long the claim lasts without a heartbeat.", "number", flag="lease")
STATED = "{id} is {state}"
OUTPUT = Param("output", "The result: JSON, @FILE, or -.", "json")
ANY_STATE = ""
COLUMNS = "id:ID source_agent:From target_agent:To priority:P state:State updated_at:Age title:Title"
NEEDED_REASON = replace(REASON, is_required=True)


def verb(
    name: str, of: str, help_: str, *body: Param, path: str = "", said: str = STATED, **more: Any
) -> RequestCommand:
    """What is done to a task in one of the states ``of``; ``path``: the API's name of it, if that is another one."""
    path = f"/tasks/{{task_id}}/{path or name}"
    return RequestCommand(name, "POST", path, help_, body=body, said=said, states=of, **more)


def claimed(name: str, help_: str, *body: Param, path: str = "", said: str = STATED) -> RequestCommand:
    """What is done to a task under a claim."""
    return verb(name, "claimed", help_, CLAIM, *body, path=path, said=said)


def listed(name: str, help_: str, columns: str) -> RequestCommand:
    return RequestCommand(name, "GET", f"/tasks/{{task_id}}/{name}", help_, columns=columns, is_paged=True)


def _parts(body: dict[str, Any]) -> None:
    """A part is typed as its summary."""
    body["parts"] = [{"summary": each} if isinstance(each, str) else each for each in body.get("parts", [])]


CALLS = (
    RequestCommand(
        "list",
        "GET",
        "/tasks",
        "List an agent's tasks, or a day's: today's if neither is named.",
        query=(
            Param("agent", "The agent that the work is for."),
            Param("day", "A day (UTC), as 2026-11-23."),
            STATE,
        ),
        columns=COLUMNS,
        is_paged=True,
    ),
    RequestCommand(
        "search",
        "GET",
        "/tasks/search",
        "Find tasks of all days, backwards in time.",
        query=(
            Param("q", "Words of its title, agents, labels or ids.", is_argument=True),
            Param("label", "One of its labels, as name=value."),
            Param("page", "The id of its page in the tracker."),
            Param("agent", "The agent that the work is for."),
            Param("by", "Who asked: an agent, or a principal as human:alice."),
            Param("kind", "Why it was handed over, several with commas.", "words"),
            Param("priority", "Several with commas: P0, P1, P2.", "words"),
            STATE,
            Param("since", "Made from a time on, or in the last 3d.", "past"),
        ),
        columns=COLUMNS,
        is_paged=True,
    ),
    claimed("heartbeat", "Say that the work goes on: the lease begins anew.", LEASE, said="claimed until {expires_at}"),
    claimed(
        "checkpoint",
        "Save progress that the next attempt goes on from.",
        Param("step_name", "The step's name.", flag="step", is_required=True),
        Param("state", "An object: JSON, @FILE, or -.", "json", is_required=True),
        path="checkpoints",
        said="saved as {checkpoint_id}",
    ),
    claimed(
        "complete",
        "End the task as done. --data takes deliverables and verification.",
        OUTPUT,
        Param("notes", "A note.", "list", flag="note"),
        CLAIM_NEXT,
        said="{id} is {state}: {completion_id}",
    ),
    claimed(
        "fail",
        "End the attempt as failed.",
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
        Param("rollback_request.reason", "What for.", "long", flag="rollback-reason"),
        Param("rollback_request.questions", "A question to them.", "list", flag="question"),
        Param("retryable", "Whether another attempt may help.", "either"),
        CLAIM_NEXT,
        said="{id} is {state}: {failure_id}",
    ),
    claimed(
        "release",
        "Give the task back.",
        REASON,
        Param("not_before", "When it is ready again: a time, or how long from now.", "future"),
    ),
    claimed("reject", "Refuse the task: it isn't this agent's.", NEEDED_REASON),
    claimed(
        "transfer",
        "Hand the task itself to another agent.",
        Param("target.agent", "The agent.", flag="to", is_required=True),
        Param("target.reason", "Why.", "long", is_required=True),
        Param("summary", "What was done.", "long"),
        said="{id} is {state}, for {target_agent}",
    ),
    claimed(
        "delegate",
        "Ask other agents, and wait for them. --data has the branches.",
        Param("branches", "A list of branches: JSON, @FILE, or -.", "json", is_required=True),
        Param("join.policy", "When it goes on.", choices=("all", "any", "quorum"), flag="join"),
        Param("join.quorum", "How many of them.", "number"),
    ),
    claimed(
        "wait-callback",
        "Wait for an answer from outside.",
        Param("interaction_id", "Its name.", flag="interaction", is_required=True),
        Param("until", "Until when.", "future"),
        said="{id} waits for {callback.url}",
    ),
    claimed(
        "use-approval",
        "Begin an action that people approved: that is possible once. It takes no --key.",
        Param("digest", "Of the action that was approved.", is_required=True),
        path="questions/{question_id}/use",
        said="{id} is begun",
    ),
    claimed(
        "wait-for-answers",
        "Give the claim up until people have answered.",
        Param("questions", "A question of the task.", "list", flag="question", is_required=True),
    ),
    listed(
        "questions",
        "List what people were asked, and what they said.",
        "id:ID kind:Kind outcome:Outcome until:Until asked_by:Asked_by tool:Tool text:Question",
    ),
    verb("cancel", ANY_STATE, "End it, and all that came of it.", REASON),
    verb(
        "release-claim",
        "claimed",
        "Take it back from the worker that holds it, as a human.",
        Param(
            "fence",
            "The claim that was looked at, as the task shows it: no other is ended.",
            "number",
            is_required=True,
        ),
        NEEDED_REASON,
    ),
    verb("resolve", ANY_STATE, "End it as done: the work was done elsewhere.", OUTPUT, REASON),
    verb("approve", "needs", "Let it be dispatched.", *SEEN, *AGENT_VERSIONS, said="", screen="needed:approved"),
    verb(
        "approve-next",
        "needs",
        "Approve it for a worker that is at work already.",
        *SEEN,
        *AGENT_VERSIONS,
        said="",
        screen="needed:approved",
    ),
    verb("undo", "delegated,next", "Take an approval back."),
    verb(
        "defer",
        "needs",
        "Put it off, for 3d or until a time.",
        Param("until", "A time, or how long from now.", "future", is_required=True),
        *SEEN,
        said="{id} is put off until {deferred_until}",
    ),
    verb("dismiss", "needs", "Refuse it, with a reason.", NEEDED_REASON),
    verb(
        "split",
        "needs",
        "Split it into 2 to 10 parts, each with an approval of its own.",
        Param("parts", "A part's summary; or give --data.", "list", flag="part"),
        *SEEN,
        said="",
        refine=_parts,
        screen="task:split",
    ),
    claimed(
        "note",
        "Note something on the task.",
        Param("text", "The note.", "long", is_required=True, is_argument=True),
        path="notes",
        said="noted as {id}",
    ),
    listed("notes", "List its notes.", "at:At by:By content:Note"),
    listed("checkpoints", "List its checkpoints.", "checkpoint_id:ID step_name:Step at:At by:By"),
    listed(
        "model-calls",
        "List when its model answered, of a task that Baton runs.",
        "turn:Reply at:At agent:Agent input_tokens:Read output_tokens:Written stop_reason:End",
    ),
    listed(
        "late-results",
        "List what workers said whose claim was over.",
        "at:At agent:Agent verb:Verb fence:Fence content:Said",
    ),
)

listing, *others = CALLS
command = noun(
    "tasks", "Look at work, do it under a claim, and decide on it.", [listing, show, watch, claim, *others, retry]
)

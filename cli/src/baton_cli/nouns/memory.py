"""`baton memory`: the blackboard."""

from __future__ import annotations

from baton_cli.command_table import noun
from baton_cli.request_commands import Param, RequestCommand, limited

TYPES = ("need", "offer", "finding", "decision", "constraint", "question", "answer", "status", "artifact", "warning")
SCOPE = Param("scope", "What part of the work, as project/auth.")
ENTRY_TYPE = Param("entry_type", f"Several with commas: {', '.join(TYPES)}.", "words", flag="type")

CALLS = (
    RequestCommand(
        "list",
        "GET",
        "/blackboard",
        "List entries, newest first.",
        query=(
            SCOPE,
            ENTRY_TYPE,
            Param("tag", "With this tag."),
            Param("since", "From a time on, or of the last 3d.", "past"),
            Param("until", "Up to a time, or before 3d.", "past"),
        ),
        columns="id:ID entry_type:Type status:Status posted_by:By posted_at:Age scope:Scope summary:Summary",
        is_paged=True,
    ),
    RequestCommand("show", "GET", "/blackboard/{entry_id}", "Show an entry, with its trail."),
    RequestCommand(
        "post",
        "POST",
        "/blackboard",
        "Post an entry for all others.",
        body=(
            Param("entry_type", "What it is.", flag="type", choices=TYPES, is_required=True),
            Param("summary", "In one line.", "long", is_required=True),
            SCOPE,
            Param("detail", "The rest.", "long"),
            Param("tags", "Several with commas.", "words", flag="tag"),
            Param("relates_to", "A file, a task, an entry.", "list"),
            Param("rationale", "Why, for a decision.", "long"),
            Param("supersedes", "The decision that it replaces."),
            Param("status", "Of a decision.", choices=("provisional", "active")),
        ),
        said="posted as {id}",
    ),
    RequestCommand(
        "withdraw",
        "POST",
        "/blackboard/{entry_id}/withdraw",
        "Take an entry back.",
        body=(Param("reason", "Why.", "long"),),
        said="{id} is withdrawn",
    ),
    RequestCommand(
        "withdraw-posted",
        "POST",
        "/blackboard/withdrawals",
        "Take back what one poster has posted, at most 25 entries at once.",
        body=(
            Param("posted_by", "Whose, as agent:coder.", flag="by", is_required=True),
            Param("since", "From a time on, or of the last 3d.", "past"),
            Param("until", "Up to a time, or before 3d.", "past"),
            Param("cursor", "Go on where the last one stopped: its next_cursor."),
            Param("reason", "Why.", "long"),
        ),
    ),
    RequestCommand(
        "delete", "DELETE", "/blackboard/{entry_id}", "Remove an entry's texts for good.", said="{id} is deleted"
    ),
    RequestCommand(
        "recall",
        "GET",
        "/recall",
        "Find what is known, by words.",
        query=(Param("q", "The words.", is_argument=True, is_required=True), SCOPE, ENTRY_TYPE, limited(10, 20)),
        columns="score:Score entry_type:Type posted_at:Age id:ID summary:Summary",
    ),
    RequestCommand(
        "why",
        "GET",
        "/why",
        "Find why a file is as it is.",
        query=(Param("path", "The file.", is_argument=True, is_required=True), limited(10, 20)),
        columns="entry_type:Type posted_at:Age id:ID summary:Summary rationale:Rationale",
    ),
)

command = noun("memory", "Post what the agents know, and find it.", CALLS)

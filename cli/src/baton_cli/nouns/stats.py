"""`baton stats`."""

from __future__ import annotations

from baton_cli.command_table import noun
from baton_cli.request_commands import Param, RequestCommand

CALLS = (
    RequestCommand(
        "show",
        "GET",
        "/stats",
        "Show what ended, how it ended, and how long it waited.",
        query=(
            Param("from", "The first day (UTC), such as 2026-01-31; a week before the last if not given."),
            Param("to", "The last day; today if not given."),
            Param("by", "What the rows are.", choices=("day", "hour", "agent", "direction")),
            Param("also", "What else the rows are, in the JSON.", choices=("day", "hour", "agent", "direction")),
            Param("agent", "Only work for this agent."),
        ),
        columns="at:When source:From target:To begun:Begun done:Done failed:Failed rejected:Rejected "
        "cancelled:Cancelled person.p50:Person worker.p50:Worker work.p50:Work work.p95:p95",
    ),
    RequestCommand(
        "agents",
        "GET",
        "/stats/agents",
        "Show how the agents are.",
        columns="slug:Agent waiting:Waiting oldest_at:Oldest running:Running limit:Limit last_week.done:Done "
        "last_week.failed:Failed last_week.work.p50:Work last_contact_at:Seen",
        is_paged=True,
    ),
    RequestCommand("agent", "GET", "/agents/{slug}/health", "Show how an agent is.", query=()),
    RequestCommand(
        "decisions",
        "GET",
        "/decisions",
        "Show who decided what on a day, newest first.",
        query=(
            Param("day", "A day (UTC), such as 2026-01-31; today if not given."),
            Param("by", "Only of this person."),
            Param("verb", "Only these, such as approve or dismiss."),
        ),
        columns="at:When by:Who verb:Decided detail:How title:Task task_id:ID review_id:Review reason:Reason",
        is_paged=True,
    ),
)

command = noun("stats", "See how it goes, how agents are, and who decided what.", CALLS)

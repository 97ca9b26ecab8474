"""`baton reviews`."""

from __future__ import annotations

from baton_cli.calls import Call, Param
from baton_cli.table import noun

CALLS = (
    Call(
        "list",
        "GET",
        "/manual-reviews",
        "List what a rule has stopped.",
        query=(Param("state", "Only these.", choices=("open", "released")),),
        columns="id:ID source_agent:From target_agent:To reason:Reason rule:Rule count:Times state:State last_at:Age",
        is_paged=True,
    ),
    Call(
        "show",
        "GET",
        "/manual-reviews/{review_id}",
        "Show what was stopped, and why.",
        query=(Param("limit", "How many notes.", "number"), Param("cursor", "Further notes.")),
    ),
    Call(
        "release",
        "POST",
        "/manual-reviews/{review_id}/release",
        "Let it through.",
        body=(Param("version", "What was looked at: refused if it has changed since.", "number"),),
        said="{id} is released: {task.id} is {task.state}",
    ),
)

command = noun("reviews", "Look at what a rule has stopped, and let it through.", CALLS)

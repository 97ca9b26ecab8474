"""`baton graph`."""

from __future__ import annotations

from baton_cli.command_table import noun
from baton_cli.request_commands import Param, RequestCommand

SINCE = Param("since", "From a time on, or of the last 7d.", "past")

CALLS = (
    RequestCommand(
        "show",
        "GET",
        "/graph",
        "Show what is around agent:, file:, module:, task: or decision:NAME.",
        query=(
            Param("node", "Such as agent:qa.", is_argument=True, is_required=True),
            Param("depth", "How many steps, 1 to 3.", "number"),
            SINCE,
        ),
        screen="graph:around",
    ),
    RequestCommand(
        "directions",
        "GET",
        "/graph/directions",
        "Show who hands to whom, how it ends, and how fast.",
        query=(SINCE,),
        columns="source:From target:To handoffs:Handoffs done:Done failed:Failed rejected:Rejected open:Open "
        "median_seconds:Median last_at:Last",
    ),
)

command = noun("graph", "See who hands to whom, and what came of it.", CALLS)

"""`baton people`."""

from __future__ import annotations

from baton_cli.command_table import noun
from baton_cli.request_commands import RequestCommand

CALLS = (
    RequestCommand(
        "show",
        "GET",
        "/people/{person}/approvals",
        "List a person's approvals and votes that may still be used.",
        columns="kind:Kind name:Name task_id:Task question_id:Question at:Age counts:Counts",
        is_paged=True,
    ),
    RequestCommand(
        "end",
        "POST",
        "/people/{person}/end-approvals",
        "End all approvals of a person until now. Their later approvals count.",
        body=(),
        said="Everything that {person} has approved until now has ended. Right of {person}: {right}. The record:"
        " baton changes list --subject approvals",
    ),
)

command = noun("people", "See a person's approvals, and end them.", CALLS)

"""`baton conversations`."""

from __future__ import annotations

from baton_cli.command_table import noun
from baton_cli.request_commands import Param, RequestCommand

CALLS = (
    RequestCommand(
        "list",
        "GET",
        "/conversations",
        "List conversations, the latest begun first.",
        query=(
            Param("begun_by", "Only those of one person or program, such as human:alice."),
            Param("state", "Only these: being answered, or waiting for a message.", choices=("open", "idle")),
        ),
        columns="conversation_id:ID begun_by:By agent:With state:State updated_at:Age title:About",
        is_paged=True,
    ),
)

command = noun("conversations", "Find a conversation, to go on with it.", CALLS)

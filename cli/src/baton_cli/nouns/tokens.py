"""`baton tokens`."""

from __future__ import annotations

from baton_cli.command_table import noun
from baton_cli.request_commands import Param, RequestCommand

CALLS = (
    RequestCommand(
        "list",
        "GET",
        "/tokens",
        "List the tokens.",
        columns="id:ID kind:Kind subject:Subject right:Right scopes:Scopes created_at:Age expires_at:Expires"
        " revoked_at:Revoked",
        is_paged=True,
    ),
    RequestCommand(
        "create",
        "POST",
        "/tokens",
        "Make a token. It is shown once.",
        body=(
            Param("kind", "Whom it is for.", choices=("agent", "human", "service"), is_required=True),
            Param("subject", "The agent's slug, or a name.", flag="for", is_required=True),
            Param("scopes", "act_as, converse, …, several with commas.", "words", flag="scope"),
            Param("right", "Of a person.", choices=("reader", "member", "approver", "administrator")),
            Param("change_id", "The approved change that allows this token.", flag="change"),
            Param("expires_at", "When it ends.", "future", flag="expires"),
        ),
        screen="token:created",
    ),
    RequestCommand(
        "revoke", "DELETE", "/tokens/{token_id}", "End a token, with its next request.", said="{id} is revoked"
    ),
)

command = noun("tokens", "Make tokens, and end them.", CALLS)

"""`baton tokens`."""

from __future__ import annotations

from baton_cli.calls import Call, Param
from baton_cli.table import noun

CALLS = (
    Call(
        "list",
        "GET",
        "/tokens",
        "List the tokens.",
        columns="id:ID kind:Kind subject:Subject scopes:Scopes created_at:Age expires_at:Expires revoked_at:Revoked",
        is_paged=True,
    ),
    Call(
        "create",
        "POST",
        "/tokens",
        "Make a token. It is shown once.",
        body=(
            Param("kind", "Whom it is for.", choices=("agent", "human", "service"), is_required=True),
            Param("subject", "The agent's slug, or a name.", flag="for", is_required=True),
            Param("scopes", "act_as, converse, …, several with commas.", "words", flag="scope"),
            Param("expires_at", "When it ends.", "future", flag="expires"),
        ),
    ),
    Call("revoke", "DELETE", "/tokens/{token_id}", "End a token, with its next request.", said="{id} is revoked"),
)

command = noun("tokens", "Make tokens, and end them.", CALLS)

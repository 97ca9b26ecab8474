"""Baton's administration from the outside: for whoever may write to its table.

    baton_admin.py bootstrap --workspace acme --human alice

makes a workspace and its first human's token: the key that opens everything else over the API. It needs the table's
name in BATON_TABLE and credentials that may write to it. The token is printed once and stored only as a digest; a lost
one is replaced by running it again with --new-tokens, and the old one is revoked with DELETE /tokens/{id}.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from typing import Any

from baton.bootstrap import wire
from baton.config import ConfigError
from baton.domain.access.principal import ACT_AS, Kind, Principal
from baton.domain.agents.agent import Runtime
from baton.domain.errors import BatonError
from baton.domain.ids import is_slug
from baton.ports.deps import Deps
from baton.services.access.issue_token import TokenRequest, issue_token
from baton.services.agents.register_agent import register_agent

DEMO_AGENTS: dict[str, dict[str, Any]] = {
    "scout": {"name": "Client Health Scout", "description": "Watches clients, escalates what it finds."},
    "auditor": {
        "name": "Client Repo Auditor",
        "description": "Audits repositories. Baton's own process-task runs it, with scripted answers.",
        "runtime": Runtime.RUN,
    },
    "reviewer": {"name": "Release Reviewer", "description": "Claims its work over the API."},
}


def bootstrap(deps: Deps, workspace: str, human: str, *, new_tokens: bool, demo: bool) -> dict[str, Any]:
    """The workspace's name and its new tokens. Raises ``SystemExit`` if it has some already and no new ones are
    asked."""
    if deps.store.tokens(workspace, 1, None).items and not (new_tokens or demo):
        raise SystemExit(f"The workspace {workspace!r} has tokens already; --new-tokens makes more of them.")
    first = Principal(workspace, Kind.HUMAN, human, frozenset({ACT_AS}))
    tokens: dict[str, Any] = {"human": _token(deps, first, Kind.HUMAN, human)}
    if demo:
        tokens["service"] = _token(deps, first, Kind.SERVICE, "demo")
        tokens["agents"] = {slug: _agent_token(deps, first, slug, values) for slug, values in DEMO_AGENTS.items()}
    return {"workspace": workspace, "tokens": tokens}


def _agent_token(deps: Deps, by: Principal, slug: str, values: dict[str, Any]) -> str:
    if deps.store.agent(by.workspace, slug) is None:
        register_agent(deps, by, slug, values)
    return issue_token(deps, by, TokenRequest(kind=Kind.AGENT, subject=slug))[1]


def _token(deps: Deps, by: Principal, kind: Kind, subject: str) -> str:
    return issue_token(deps, by, TokenRequest(kind=kind, subject=subject, scopes=frozenset({ACT_AS})))[1]


def main() -> int:
    parser = argparse.ArgumentParser(description="Baton's administration")
    command = parser.add_subparsers(required=True).add_parser("bootstrap", help="a workspace and its first token")
    command.add_argument("--workspace", required=True, type=_slug)
    command.add_argument("--human", default="admin", type=_slug, help="the name that approvals will be signed with")
    command.add_argument("--new-tokens", action="store_true", help="even if the workspace has some")
    command.add_argument("--demo", action="store_true", help="three agents, and a token for everybody")
    command.add_argument("--json", action="store_true", help="for a program to read")
    asked = parser.parse_args()
    os.environ.setdefault("POWERTOOLS_SERVICE_NAME", "baton_admin")
    os.environ.setdefault("BATON_LOG_LEVEL", "WARNING")
    try:
        made = bootstrap(wire(), asked.workspace, asked.human, new_tokens=asked.new_tokens, demo=asked.demo)
    except (BatonError, ConfigError) as error:
        print(error, file=sys.stderr)
        return 1
    if asked.json:
        print(json.dumps(made))
    else:
        print(f"Workspace {made['workspace']}. The token of the human {asked.human}, shown this once:")
        print(made["tokens"]["human"])
    return 0


def _slug(text: str) -> str:
    if not is_slug(text):
        raise argparse.ArgumentTypeError("must be 1 to 63 of a-z, 0-9 and hyphens")
    return text


if __name__ == "__main__":
    sys.exit(main())

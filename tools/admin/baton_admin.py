"""Baton's administration from the outside: for whoever may write to its table, whose name is in BATON_TABLE.

    python -m tools.admin.baton_admin bootstrap --workspace acme --human alice   a workspace, its first human's token
    python -m tools.admin.baton_admin export --workspace acme > acme.jsonl       all of the workspace, as JSON lines
    python -m tools.admin.baton_admin prune --workspace acme --older-than 365 --yes
    python -m tools.admin.baton_admin remove --workspace acme --yes

The token opens everything else over the API. It is printed once and stored only as a digest; a lost one is replaced by
running bootstrap again with --new-tokens, and the old one is revoked with DELETE /tokens/{id}.

The last three scan the whole table (docs/operations.md). With the stack's name in BATON_SECRETS_PREFIX, remove deletes
the workspace's secret as well.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable
from typing import Any

import boto3

from baton.bootstrap import wire
from baton.config import ConfigError, load
from baton.domain.access.principal import ACT_AS, Principal, PrincipalKind, operator
from baton.domain.agents.agent import Runtime
from baton.domain.errors import BatonError
from baton.domain.ids import is_slug
from baton.domain.numbers import dumps
from baton.ports.deps import Deps
from baton.services.access.issue_token import TokenRequest, issue_token
from baton.services.agents.register_agent import register_agent
from tools.admin.workspace_data import NotEmptied, StillClaimed, WorkspaceData, remove_secret

MAX_DAYS = 36_500
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
    if deps.store.tokens.listed(workspace, 1, None).items and not (new_tokens or demo):
        raise SystemExit(f"The workspace {workspace!r} has tokens already; --new-tokens makes more of them.")
    first = Principal(workspace, PrincipalKind.HUMAN, human, frozenset({ACT_AS}))
    tokens: dict[str, Any] = {"human": _token(deps, operator(workspace), PrincipalKind.HUMAN, human)}
    if demo:
        tokens["service"] = _token(deps, first, PrincipalKind.SERVICE, "demo")
        tokens["agents"] = {slug: _agent_token(deps, first, slug, values) for slug, values in DEMO_AGENTS.items()}
    return {"workspace": workspace, "tokens": tokens}


def _agent_token(deps: Deps, by: Principal, slug: str, values: dict[str, Any]) -> str:
    if deps.store.agents.agent(by.workspace, slug) is None:
        register_agent(deps, by, slug, values)
    return issue_token(deps, by, TokenRequest(kind=PrincipalKind.AGENT, subject=slug))[1]


def _token(deps: Deps, by: Principal, kind: PrincipalKind, subject: str) -> str:
    return issue_token(deps, by, TokenRequest(kind=kind, subject=subject, scopes=frozenset({ACT_AS})))[1]


def main() -> int:
    asked = _parser().parse_args()
    os.environ.setdefault("POWERTOOLS_SERVICE_NAME", "baton_admin")
    os.environ.setdefault("BATON_LOG_LEVEL", "WARNING")
    try:
        run: Callable[[argparse.Namespace], int] = asked.run
        return run(asked)
    except (BatonError, ConfigError, StillClaimed, NotEmptied) as error:
        print(error, file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Baton's administration")
    commands = parser.add_subparsers(required=True)

    def command(name: str, run: Callable[[argparse.Namespace], int], what: str) -> argparse.ArgumentParser:
        added = commands.add_parser(name, help=what)
        added.set_defaults(run=run)
        added.add_argument("--workspace", required=True, type=_slug)
        return added

    first = command("bootstrap", _bootstrap, "a workspace and its first token")
    first.add_argument("--human", default="admin", type=_slug, help="the name that approvals will be signed with")
    first.add_argument("--new-tokens", action="store_true", help="even if the workspace has some")
    first.add_argument("--demo", action="store_true", help="three agents, and a token for everybody")
    first.add_argument("--json", action="store_true", help="for a program to read")
    command("export", _export, "everything of a workspace as JSON lines; verify_trail.py --export checks them")
    prune = command("prune", _prune, "delete transcripts and late results of tasks that ended long ago")
    prune.add_argument("--older-than", required=True, type=_days, metavar="DAYS")
    prune.add_argument("--yes", action="store_true", help="really delete")
    remove = command("remove", _remove, "delete everything of a workspace, for good")
    remove.add_argument("--yes", action="store_true", help="really delete")
    remove.add_argument("--force", action="store_true", help="even if workers hold claims")
    return parser


def _bootstrap(asked: argparse.Namespace) -> int:
    made = bootstrap(wire(), asked.workspace, asked.human, new_tokens=asked.new_tokens, demo=asked.demo)
    if asked.json:
        print(json.dumps(made))
    else:
        print(f"Workspace {made['workspace']}. The token of the human {asked.human}, shown this once:")
        print(made["tokens"]["human"])
    return 0


def _export(asked: argparse.Namespace) -> int:
    for line in _data(asked).export():
        print(dumps(line, ensure_ascii=False))
    return 0


def _prune(asked: argparse.Namespace) -> int:
    if not _is_meant(
        asked, f"deletes what was said in tasks of {asked.workspace} that ended {asked.older_than} days ago"
    ):
        return 1
    for what, count in _data(asked).prune(asked.older_than).items():
        print(f"{count} {what} deleted.")
    return 0


def _remove(asked: argparse.Namespace) -> int:
    if not _is_meant(asked, f"deletes everything of {asked.workspace} for good; `export` it first"):
        return 1
    print(f"{_data(asked).remove(force=asked.force)} items deleted.")
    prefix, secrets = load().secrets_prefix, _client("secretsmanager")
    if not prefix:
        print("The secret with Notion's token, if there is one, is still there: BATON_SECRETS_PREFIX isn't set.")
    elif remove_secret(secrets, f"{prefix}/{asked.workspace}/notion"):
        print("The secret with Notion's token will be gone in a week.")
    return 0


def _is_meant(asked: argparse.Namespace, what: str) -> bool:
    if not asked.yes:
        print(f"This {what}. Add --yes if that is what you want.", file=sys.stderr)
    return bool(asked.yes)


def _data(asked: argparse.Namespace) -> WorkspaceData:
    return WorkspaceData(wire(), _client("dynamodb"), load().table, asked.workspace)


def _slug(text: str) -> str:
    if not is_slug(text):
        raise argparse.ArgumentTypeError("must be 1 to 63 of a-z, 0-9 and hyphens")
    return text


def _client(service: str) -> Any:
    """The operator's own, which repeats by itself."""
    return boto3.client(service)  # type: ignore[call-overload] # of either service


def _days(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= MAX_DAYS:
        raise argparse.ArgumentTypeError(f"must be from 1 to {MAX_DAYS}")
    return int(text)


if __name__ == "__main__":
    sys.exit(main())

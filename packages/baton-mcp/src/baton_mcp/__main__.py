"""baton-mcp serve [--tools worker|sender|usual|all] [--channel] [--profile NAME]: answer a client over stdio
baton-mcp install claude|cursor|codex|vscode [--channel] [--profile NAME]: name Baton in the client's configuration

BATON_URL, BATON_TOKEN and BATON_AGENT say where, as whom, and whose news; or a profile in
~/.config/baton/config.toml.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from baton_mcp.install import CLIENTS, Start, install
from baton_mcp.profile import ServerProfile, Unfit, profile_from


def main(arguments: list[str] | None = None) -> int:
    asked = _parser().parse_args(arguments)
    try:
        profile = profile_from(asked.profile)
        if asked.verb == "install":
            print(_installed(profile, asked))
            return 0
        return _served(profile, asked)
    except Unfit as error:
        print(f"baton-mcp: {error}", file=sys.stderr)
        return 2


def _installed(profile: ServerProfile, asked: argparse.Namespace) -> str:
    if asked.profile and asked.channel:
        _must_name_an_agent(profile)
    path = install(asked.client, Start(profile, asked.profile, asked.channel), Path.cwd())
    where = f"the profile {asked.profile}" if asked.profile else "BATON_TOKEN"
    return f"{path} names Baton. The token is read from {where} whenever the client starts."


def _must_name_an_agent(profile: ServerProfile) -> None:
    if not profile.agent:
        raise Unfit("set BATON_AGENT, or agent in the profile, to the slug of the agent whose news is told")


def _served(profile: ServerProfile, asked: argparse.Namespace) -> int:
    if asked.channel:
        _must_name_an_agent(profile)
    import anyio  # the SDK takes most of a second to load: nothing else needs it

    from baton_mcp.serve import Options, serve

    options = Options(tools=asked.tools, channel=asked.channel, every_seconds=asked.every)
    try:
        anyio.run(serve, profile, options)
    except KeyboardInterrupt:
        return 130
    except Exception as exc:  # noqa: BLE001 - the edge of the process
        print(f"baton-mcp: {_said(exc)}", file=sys.stderr)
        return 1
    return 0


def _said(exc: BaseException) -> str:
    """What several tasks at once say of one fault comes in groups."""
    while isinstance(exc, BaseExceptionGroup):
        exc = exc.exceptions[0]
    return f"{type(exc).__name__}: {exc}"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="baton-mcp", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    verbs = parser.add_subparsers(dest="verb", required=True)
    serving = verbs.add_parser("serve")
    serving.add_argument("--tools", choices=("worker", "sender", "usual", "all"), default="usual")
    serving.add_argument(
        "--every",
        type=float,
        default=10.0,
        metavar="SECONDS",
        help="between two looks for news; 18 times as long where the bell rings",
    )
    installing = verbs.add_parser("install")
    installing.add_argument("client", choices=CLIENTS)
    for each in (serving, installing):
        each.add_argument("--profile")
        each.add_argument("--channel", action="store_true", help="tell a session of Claude Code what is new")
    return parser


if __name__ == "__main__":
    sys.exit(main())

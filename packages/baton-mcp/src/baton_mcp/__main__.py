"""baton-mcp serve [--tools worker|sender|usual|all] [--channel] [--profile NAME]: answer a client over stdio
baton-mcp install claude|cursor|codex|vscode [--channel] [--profile NAME]: name Baton in the client's configuration

BATON_URL, BATON_TOKEN and BATON_AGENT say where, as whom, and whose news; or a profile in
~/.config/baton/config.toml.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TextIO

from baton_mcp.install import CLIENTS, Start, install
from baton_mcp.profile import ServerProfile, Unfit, profile_from
from baton_mcp.remarks import remark


def main(arguments: list[str] | None = None) -> int:
    asked = _parser().parse_args(arguments)
    try:
        profile = profile_from(asked.profile)
        if asked.verb == "install":
            _say(_installed(profile, asked))
            return 0
        return _served(profile, asked)
    except Unfit as error:
        remark(str(error))
        return 2
    finally:
        for stream in (sys.stdout, sys.stderr):
            _flush(stream)


def _flush(stream: TextIO | None) -> None:
    """What can't be written goes nowhere: left in the buffer, it would fail once more at the end."""
    if stream is None:
        return
    try:
        stream.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _installed(profile: ServerProfile, asked: argparse.Namespace) -> str:
    if asked.profile and asked.channel:
        _must_name_an_agent(profile)
    path = install(asked.client, Start(profile, asked.profile, asked.channel), Path.cwd())
    where = f"the profile {asked.profile}" if asked.profile else "BATON_TOKEN"
    return f"{path} names Baton. The token is read from {where} whenever the client starts."


def _say(text: str) -> None:
    """Prints what was done. It was done, even if nothing can be printed."""
    if sys.stdout is None:
        return
    try:
        print(text, flush=True)
    except OSError as exc:
        remark(f"standard output can't be written: {exc.strerror or exc}. {text}")


def _must_name_an_agent(profile: ServerProfile) -> None:
    if not profile.agent:
        raise Unfit("set BATON_AGENT, or agent in the profile, to the slug of the agent whose news is told")


def _served(profile: ServerProfile, asked: argparse.Namespace) -> int:
    if asked.channel:
        _must_name_an_agent(profile)
    if sys.stdin is None or sys.stdout is None:
        raise Unfit("standard input or output is closed: a client starts this program, and talks with it through both")
    import anyio  # the SDK takes most of a second to load: nothing else needs it

    from baton_mcp.serve import Options, serve

    options = Options(tools=asked.tools, channel=asked.channel, every_seconds=asked.every)
    try:
        anyio.run(serve, profile, options)
    except KeyboardInterrupt:
        return 130
    except Exception as exc:  # noqa: BLE001 - the edge of the process
        remark(_said(exc))
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

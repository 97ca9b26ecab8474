"""`baton`: one lazy group per noun, and how each command ends."""

from __future__ import annotations

import os
import re
import sys
import traceback
from pathlib import Path
from typing import NoReturn, TextIO

import click

from baton_cli import VERSION
from baton_cli.base_command import common
from baton_cli.command_context import CommandContext
from baton_cli.failures import ExitCode, exit_of, next_step_of
from baton_cli.lazy import LazyGroup
from baton_cli.output import ReaderGone, complain
from baton_client.errors import BatonError, Misused

NOUNS = {
    "init": ("baton_cli.nouns.init", "Save an API's address and token as a profile, and try them."),
    "up": ("baton_cli.nouns.up", "Start the local stack, and save its profiles."),
    "down": ("baton_cli.nouns.down", "Stop the local stack; its state is kept."),
    "demo": ("baton_cli.nouns.demo", "Start the local stack, and play the main job on it."),
    "doctor": ("baton_cli.nouns.doctor", "Try everything that a command needs, and say what is wrong."),
    "handoff": ("baton_cli.nouns.handoff", "Give work to another agent, and see what came of it."),
    "tasks": ("baton_cli.nouns.tasks", "Look at work, do it under a claim, and decide on it."),
    "approvals": (
        "baton_cli.nouns.approvals",
        "Decide on what waits for approval: without a command, a queue of single keys.",
    ),
    "ask": ("baton_cli.nouns.ask", "Ask people, under a claim, and wait for what they say."),
    "await": ("baton_cli.nouns.following", "Wait until a task has ended, or is in a state."),
    "events": ("baton_cli.nouns.events", "Read a task's trail, and verify it."),
    "marker": ("baton_cli.nouns.marker", "Ask another agent for help, and get the block to paste."),
    "chat": ("baton_cli.nouns.chat", "Talk with an agent."),
    "conversations": ("baton_cli.nouns.conversations", "Find a conversation, to go on with it."),
    "worker": ("baton_cli.nouns.worker", "Do an agent's work with a program."),
    "agents": ("baton_cli.nouns.agents", "Register agents, and see who is there."),
    "memory": ("baton_cli.nouns.memory", "Post what the agents know, and find it."),
    "graph": ("baton_cli.nouns.graph", "See who hands to whom, and what came of it."),
    "stats": ("baton_cli.nouns.stats", "See how it goes, how agents are, and who decided what."),
    "reviews": ("baton_cli.nouns.reviews", "Look at what a rule has stopped, let it through, or close it."),
    "alerts": ("baton_cli.nouns.alerts", "See what needs a person, and say that it was seen."),
    "tools": ("baton_cli.nouns.tools", "Define the tools by which models hand over."),
    "routes": ("baton_cli.nouns.routes", "Say which agent gets which type of work."),
    "tracker": ("baton_cli.nouns.tracker", "Connect Notion, and see how it stands with it."),
    "changes": ("baton_cli.nouns.changes", "See changes of the workspace, and decide on pending ones."),
    "people": ("baton_cli.nouns.people", "See a person's approvals, and end them."),
    "tokens": ("baton_cli.nouns.tokens", "Make tokens, and end them."),
    "settings": ("baton_cli.nouns.settings", "See and change the workspace's settings."),
    "export": (
        "baton_cli.nouns.export",
        "Write a task's trail, or with --into a workflow's chain, handoffs, trails and changes of the workspace.",
    ),
    "mcp": ("baton_cli.nouns.mcp", "Serve a model's client over stdio, or name Baton in its configuration."),
    "console": ("baton_cli.nouns.console", "Open the console in a browser, signed in as you."),
    "api": ("baton_cli.nouns.api", "Send one request, and print its answer."),
    "completion": ("baton_cli.nouns.completion", "Print the completion script of a shell."),
}
HELP = """Hand work from one AI agent to another.

On a terminal the answers are screens, elsewhere one JSON document. The API and its token come from flags, from
BATON_URL and BATON_TOKEN, or from a profile in ~/.config/baton/config.toml. Exit codes: 0 done, 1 failed, 2 wrong
usage, 3 not found, 4 not allowed, 5 no answer in time, 10 to 12 what became of a question, 130 interrupted."""
COMPLETION_VARIABLE = "_BATON_COMPLETE"
# The command's name beside another program called `baton` (make install COMMAND=baton-cli).
OTHER_NAME = "baton-cli"


cli = LazyGroup("baton", lazy=NOUNS, params=common(), help=HELP)
cli.params.append(
    click.Option(
        ["--version"],
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=lambda context, _parameter, value: _version(context) if value else None,
        help="Print the version.",
    )
)


def _version(context: click.Context) -> None:
    click.echo(f"baton {VERSION}")
    context.exit()


def own_name() -> str:
    """Returns the name by which this command was started."""
    return OTHER_NAME if Path(sys.argv[0]).name == OTHER_NAME else "baton"


def run(arguments: list[str] | None = None, app: CommandContext | None = None) -> int:
    """Returns the exit code of one command line."""
    app = app or CommandContext()
    try:
        ended = cli.main(
            arguments, prog_name=own_name(), complete_var=COMPLETION_VARIABLE, standalone_mode=False, obj=app
        )
    except click.exceptions.NoArgsIsHelpError as error:
        complain(error.format_message())
        return ExitCode.USAGE
    except click.UsageError as error:
        complain(_told(_misused(error)))
        return ExitCode.USAGE
    except (click.Abort, KeyboardInterrupt):
        complain("interrupted")
        return ExitCode.INTERRUPTED
    except ReaderGone:
        return ExitCode.OK
    except BatonError as failure:
        if exit_of(failure) == ExitCode.NOT_FOUND:
            failure.why = "\n".join(filter(None, [failure.why, _asked(app)]))
        complain(_told(failure))
        return exit_of(failure)
    except Exception as exc:  # noqa: BLE001 - the edge of the process
        complain(f"error: {type(exc).__name__}: {exc}\n  why: this is a bug of the command's\n  next: {_report()}")
        return ExitCode.FAILED
    finally:
        app.close()
    return ended if isinstance(ended, int) else ExitCode.OK


def _misused(error: click.UsageError) -> Misused:
    path = error.ctx.command_path if error.ctx is not None else own_name()
    return Misused(error.format_message(), "", f"{path} --help")


def _asked(app: CommandContext) -> str:
    """Another profile may know what this one doesn't."""
    profile = app.profile
    return f"asked {f'as the profile {profile.name}' if profile.name else 'without a profile'} at {profile.url}"


def _told(failure: BatonError) -> str:
    parts = [f"error: {failure.what}"]
    parts += [f"  why: {each}" for each in failure.why.split("\n") if failure.why]
    steps = re.sub(r"\bbaton(?= [a-z-])", own_name(), next_step_of(failure))
    parts += [f"  next: {each}" for each in steps.split("\n") if each]
    return "\n".join(parts)


def _report() -> str:
    if not os.environ.get("BATON_DEBUG"):
        return "BATON_DEBUG=1 shows where it happened"
    return traceback.format_exc().replace("\n", "\n        ")


def main() -> NoReturn:
    code = run()
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            _flush(stream)
    sys.exit(code)


def _flush(stream: TextIO) -> None:
    """What can't be written goes nowhere: left in the buffer, it would fail once more at the end."""
    try:
        stream.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())

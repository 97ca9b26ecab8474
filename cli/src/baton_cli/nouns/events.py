"""`baton events`: a task's trail."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import click

from baton_cli import trail_hashes
from baton_cli.base_command import BaseCommand
from baton_cli.command_context import CommandContext
from baton_cli.command_table import noun
from baton_cli.failures import ExitCode
from baton_cli.request_commands import Param, RequestCommand
from baton_client.core import FOREVER, Request, with_query

if TYPE_CHECKING:
    from baton_cli.screen import Screen
    from baton_client.caller import Caller

POLL_SECONDS = 20
MOST = 100

CALLS = (
    RequestCommand(
        "list",
        "GET",
        "/tasks/{task_id}/events",
        "List a task's trail: who did what.",
        query=(
            Param("after", "From the entry after this number on.", "number"),
            Param("limit", "How many, at most 100.", "number"),
        ),
        screen="events:listed",
    ),
)


@click.command("tail", cls=BaseCommand)
@click.argument("task", metavar="TASK")
@click.option("--after", type=int, default=0, metavar="N", help="From the entry after this number on.")
@click.option("--follow", "-f", is_flag=True, help="Go on with what is new, until the task has ended.")
@click.pass_obj
def tail(app: CommandContext, task: str, after: int, follow: bool) -> None:
    """Print a task's trail as it grows.

    Where it isn't a terminal that is one JSON document, or with --follow a line of JSON for each entry.
    """
    entries = list(trail_hashes.entries_of(app.client, task, after))
    after = entries[-1]["seq"] if entries else after
    if app.out.is_json and not follow:
        app.out.document({"events": entries, "next_after": after})
        return
    for entry in entries:
        _print(app, entry)
    if follow:
        _follow(app, task, after)


def _follow(app: CommandContext, task: str, after: int) -> None:
    """Prints what is new, to the last entry of a task that has ended."""
    may_wait, client = False, app.client.lasting(FOREVER)
    with app.bell(f"task:{task}") as bell:
        while True:
            has_ended, query = _has_ended(client, task), {"after": after, "limit": MOST}
            look = Request[Any]("GET", with_query(f"/tasks/{task}/events", query))
            wait = Request[Any]("GET", with_query(f"/tasks/{task}/events/wait", {**query, "timeout": POLL_SECONDS}))
            is_wait = may_wait and not has_ended
            page = client.wait(wait, look, POLL_SECONDS, FOREVER) if is_wait else client.call(look)
            for entry in page["events"]:
                _print(app, entry)
            after = page["next_after"]
            if has_ended and len(page["events"]) < MOST:
                return
            may_wait = not has_ended and not bell.wait()


def _has_ended(client: Caller, task: str) -> bool:
    from baton_cli.screens.states import ENDED

    return client.get(f"/tasks/{task}")["state"] in ENDED


def _print(app: CommandContext, entry: dict[str, Any]) -> None:
    if app.out.is_json:
        app.out.document(entry, indent=None)
        return

    def draw(screen: Screen) -> None:
        from baton_cli.screens import events

        events.line(screen, entry)

    app.out.draw(draw)


@click.command("verify", cls=BaseCommand)
@click.argument("task", metavar="TASK|FILE")
@click.pass_context
def verify(context: click.Context, task: str) -> None:
    """Say whether a trail is still what was written, and agrees with the task.

    Baton says so, and the hashes are reckoned here once more. The exit code is 1 if it isn't. FILE is what
    `baton export` wrote of a task, or as testimony: it is compared with the trails, and its first changed entry is
    named.
    """
    app = context.ensure_object(CommandContext)
    if not re.fullmatch("task_[0-9a-z]+", task):
        context.exit(ExitCode.OK if _verified(app, task) else ExitCode.FAILED)
    verdict = app.client.get(f"/tasks/{task}/events/verify")
    while verdict.get("next_cursor"):
        verdict = app.client.get(f"/tasks/{task}/events/verify?cursor={verdict['next_cursor']}")
    found = trail_hashes.broken_at(list(trail_hashes.entries_of(app.client, task)))
    if found is not None:
        verdict = {**verdict, "intact": False, "broken_at": found[0], "problem": found[1]}

    def draw(screen: Screen) -> None:
        from baton_cli.screens import events

        events.verdict(screen, verdict)

    app.out.show(verdict, draw)
    context.exit(ExitCode.OK if verdict["intact"] and verdict["matches_task"] else ExitCode.FAILED)


def _verified(app: CommandContext, path: str) -> bool:
    """Says of an exported file whether it is what the trails tell."""
    from baton_cli import testimony_verdict

    verdict = testimony_verdict.of_file(app.client, path)

    def draw(screen: Screen) -> None:
        if verdict["intact"]:
            screen.line(f"{path} is what the trails tell: {verdict['entries']} entries", "green")
        else:
            screen.line(f"{path} was changed, first in its entry {verdict['broken_at']}: {verdict['problem']}", "red")

    app.out.show(verdict, draw)
    return bool(verdict["intact"])


command = noun("events", "Read a task's trail, and verify it.", [*CALLS, tail, verify])

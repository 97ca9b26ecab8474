"""The commands that follow a task: `baton tasks show`, `watch` and `retry`, and `baton await`."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import click

from baton_cli import typed_values
from baton_cli.base_command import BaseCommand
from baton_cli.command_context import CommandContext
from baton_cli.failures import ExitCode, TimedOut
from baton_client.core import FOREVER, Request, with_query

if TYPE_CHECKING:
    from baton_cli.screen import Screen

LONGEST_POLL_SECONDS = 25.0


@click.command("await", cls=BaseCommand)
@click.argument("task", metavar="TASK")
@click.option("--state", default="ended", show_default=True, help="A state, or ended.")
@click.option("--timeout", type=float, metavar="SECONDS", help="How long to wait; as long as it takes if not given.")
@click.pass_context
def command(context: click.Context, task: str, state: str, timeout: float | None) -> None:
    """Wait until a task has ended, or is in a state.

    The exit code is 0 for done or the state that was asked for, 1 if it ended otherwise, 5 if that didn't happen in
    time.
    """
    app = context.ensure_object(CommandContext)
    found = awaited(app, task, state, timeout)

    def draw(screen: Screen) -> None:
        from baton_cli.screens import task as screens

        screens.show(screen, found)

    app.out.show(found, draw)
    wanted = "done" if state == "ended" else state
    context.exit(ExitCode.OK if found["state"] == wanted else ExitCode.FAILED)


def awaited(app: CommandContext, task_id: str, state: str, timeout: float | None) -> Any:
    """Returns the task once it is in the state, or has ended. Raises ``TimedOut``."""
    from baton_cli.screens.states import ENDED

    deadline = None if timeout is None else time.monotonic() + timeout
    app.out.say(f"waiting for {task_id} …")
    is_look = True  # at first, and when the bell rings
    look = Request[Any]("GET", f"/tasks/{task_id}")
    with app.bell(f"task:{task_id}") as bell:
        while True:
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            longest = min(LONGEST_POLL_SECONDS if left is None else left, LONGEST_POLL_SECONDS)
            asked = 0.0 if is_look else round(longest, 1)
            wait = Request[Any]("GET", with_query(f"/tasks/{task_id}/await", {"state": state, "timeout": asked}))
            found = app.client.wait(wait, look, asked, FOREVER if left is None else left)
            if not found.setdefault("timed_out", found["state"] not in {state, *ENDED}):
                return found
            app.out.say(f"{task_id} is {found['state']} …")
            if deadline is not None and time.monotonic() >= deadline:
                why, step = f"{timeout:g} s are over", f"baton await {task_id}"
                raise TimedOut(f"{task_id} is still {found['state']}", why, step)
            is_look = bell.wait(left)


@click.command("show", cls=BaseCommand)
@click.argument("task", metavar="TASK")
@click.pass_obj
def show(app: CommandContext, task: str) -> None:
    """Show a task: what is asked, its state, claim and result, and what can be done about it."""
    found = app.client.get(f"/tasks/{task}")

    def draw(screen: Screen) -> None:
        from baton_cli import last_ids
        from baton_cli.approval_decisions import handoff_of
        from baton_cli.screens import task as screens

        if (handoff := handoff_of(app, found)) is not None:
            last_ids.note_seen(handoff)
        screens.show(screen, found, handoff)

    app.out.show(found, draw)


@click.command("watch", cls=BaseCommand)
@click.argument("task", metavar="TASK")
@click.pass_obj
def watch(app: CommandContext, task: str) -> None:
    """Show a task until it has ended, as it changes."""
    from baton_cli.redrawn_screen import watch as watched
    from baton_cli.screens import task as screens
    from baton_cli.screens.states import ENDED

    path = f"/tasks/{task}"
    watched(app, path, screens.show, lambda found: found["state"] in ENDED, topic=f"task:{task}")


@click.command("retry", cls=BaseCommand, takes_key=True, states="failed,rejected")
@click.argument("task", metavar="TASK")
@click.option("--agent-version", type=int, metavar="N", help="Of its agent, that was looked at: if it has changed.")
@click.option("--agent-versions", metavar="JSON", help="For open work: of each agent that was looked at, by its name.")
@click.pass_obj
def retry(app: CommandContext, task: str, agent_version: int | None, agent_versions: str | None) -> None:
    """Try again a task that has failed: by its handoff."""
    handoff_id = app.client.get(f"/tasks/{task}")["handoff_id"]
    versions = typed_values.document(agent_versions) if agent_versions else None
    looked_at = {"agent_version": agent_version, "agent_versions": versions}
    body = {name: value for name, value in looked_at.items() if value is not None}
    answer = app.client.call(Request[Any]("POST", f"/handoffs/{handoff_id}/retry", body, app.key))

    def draw(screen: Screen) -> None:
        from baton_cli.screens import handoff as screens

        screens.retried(screen, answer)

    app.out.show(answer, draw)

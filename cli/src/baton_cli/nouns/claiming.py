"""`baton tasks claim`: claims a task, or an agent's next one."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from baton_cli.base_command import BaseCommand
from baton_cli.command_context import CommandContext
from baton_cli.failures import TimedOut
from baton_client.core import Request
from baton_client.errors import Refused

if TYPE_CHECKING:
    from baton_cli.screen import Screen

LONGEST_POLL_SECONDS = 20.0
PAUSE_SECONDS = 0.5
# A task in one of these states may become claimable.
_COMING = {"needs", "delegated", "next", "waiting"}


@click.command("claim", cls=BaseCommand, takes_key=True, states="delegated,next")
@click.argument("task", metavar="[TASK]", required=False)
@click.option("--agent", help="The agent that claims; the profile's if not given.")
@click.option("--worker", help="The worker's name, for people.")
@click.option("--lease", type=int, help="How many seconds the claim lasts without a heartbeat.")
@click.option("--auto-memories", type=int, metavar="N", help="How many fitting entries of the blackboard.")
@click.option(
    "--wait", type=float, default=0, metavar="SECONDS", help="How long to wait for work, or until TASK is ready."
)
@click.option("--first-lease", type=int, metavar="SECONDS", help="With --wait: the lease until your first word.")
@click.option("--resume-fence", type=int, metavar="N", help="Go on with your own claim of this fence, under a new id.")
@click.pass_obj
def claim(app: CommandContext, /, task: str | None, wait: float, **said: Any) -> None:
    """Claim a task, or the next one of an agent.

    Without work the answer is null. With --wait it is 5 if there was none in time.
    """
    agent = said["agent"] or app.profile.agent
    body = {"worker": said["worker"], "lease_seconds": said["lease"], "auto_memories": said["auto_memories"]}
    body |= {"resume_fence": said["resume_fence"], "first_lease_seconds": said["first_lease"]}
    body = {name: value for name, value in body.items() if value is not None}
    if "resume_fence" in body and task is None:
        raise click.UsageError("--resume-fence needs TASK.")
    if "first_lease_seconds" in body and (task is not None or wait <= 0):
        raise click.UsageError("--first-lease needs --wait, without TASK.")
    if task is not None:
        if agent:
            body["agent"] = agent
        answer = named(app, task, body, wait)
    else:
        if not agent:
            raise click.UsageError("Missing TASK, or --agent: the profile is no agent's.")
        answer = next_of(app, agent, body, wait)

    def draw(screen: Screen) -> None:
        from baton_cli.screens import task as screens

        screens.claim(screen, answer)

    app.out.show(answer, draw)


def named(app: CommandContext, task: str, body: dict[str, Any], seconds: float) -> Any:
    """Returns the claim on this task. While the task isn't ready yet (undo window, pause, wait), asks again, for
    ``seconds``."""
    deadline = time.monotonic() + seconds
    tries = 0
    with app.bell(f"task:{task}") as bell:
        while True:
            try:
                tries += 1
                key = f"{app.key}-{tries}" if seconds else app.key
                return app.client.call(Request[Any]("POST", f"/tasks/{task}/claim", body, key))
            except Refused as refusal:
                left = deadline - time.monotonic()
                if refusal.code != "not_claimable" or refusal.problem.get("state") not in _COMING or left <= 0:
                    raise
                if tries == 1:
                    app.out.say(f"waiting until {task} is ready …")
                bell.expect(refusal.problem.get("ready_at") or "")
                if not bell.wait(left):
                    time.sleep(min(PAUSE_SECONDS, left))


def next_of(app: CommandContext, agent: str, body: dict[str, Any], seconds: float) -> Any:
    """Returns the claim on the agent's next task; None if it has none. Each poll is a request with a key of its own."""
    if seconds <= 0:
        return app.client.call(Request[Any]("POST", f"/agents/{agent}/claims", body, app.key))
    app.out.say(f"waiting for work for {agent} …")
    deadline = time.monotonic() + seconds
    at_once = {name: value for name, value in body.items() if name != "first_lease_seconds"}
    polls, may_look = 0, at_once == body  # a first lease is that of a claim after a wait
    is_rung = may_look
    left = seconds  # however short: there is one look
    with app.bell(f"work:{agent}") as bell:
        while left > 0:
            polls += 1
            look = Request[Any]("POST", f"/agents/{agent}/claims", at_once, f"{app.key}-{polls}")
            asked = min(left, LONGEST_POLL_SECONDS)
            wait = replace(look, path=f"{look.path}/wait?timeout={asked:.1f}", body=body)
            answer = app.client.lasting(left).call(look) if is_rung else app.client.wait(wait, look, asked, left)
            if answer is not None:
                return answer
            is_rung = may_look and bell.wait(deadline - time.monotonic())
            left = deadline - time.monotonic()
    raise TimedOut(f"there is no work for {agent}", f"none came within {seconds:g} s")

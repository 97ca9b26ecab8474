"""The commands of `baton approvals` that are about questions of workers: show, answer, and what was approved for
later."""

from __future__ import annotations

from typing import Any

import click

from baton_cli import question_decisions as decisions
from baton_cli import typed_values
from baton_cli.base_command import BaseCommand
from baton_cli.command_context import CommandContext
from baton_cli.request_commands import RequestCommand
from baton_cli.screens import question as screens
from baton_cli.screens.message import Cut
from baton_client.core import Request
from baton_client.errors import Misused

STANDING = RequestCommand(
    "standing",
    "GET",
    "/standing-answers",
    "List the standing answers in force: actions that are approved without a question.",
    screen="question:standing",
    is_paged=True,
)


@click.command("show", cls=BaseCommand)
@click.argument("question", metavar="QUESTION")
@click.option("--task", metavar="TASK", help="Its task: needed for one that is closed.")
@click.pass_obj
def show(app: CommandContext, question: str, task: str | None) -> None:
    """Show a question of a worker whole: what it wants to do, and what was approved the last time."""
    asked = decisions.found(app, question, task)
    app.out.show(asked, lambda screen: screens.looked_at(screen, asked, Cut()))


@click.command("answer", cls=BaseCommand)
@click.argument("question", metavar="QUESTION")
@click.option("--task", metavar="TASK", help="Its task; looked for if not given.")
@click.option("--answer", metavar="TEXT", help="The answer: words, an option, or a form as JSON or @FILE.")
@click.option("--approve", is_flag=True, help="Approve its action.")
@click.option("--digest", metavar="TEXT", help="Of the action that was looked at: it is approved, and no other.")
@click.option("--arguments", metavar="JSON", help="Approve the action with these in place of what was asked.")
@click.option("--standing", type=click.Choice(["arguments", "tool"]), help="Approve later ones, too: of what.")
@click.option("--until", metavar="TIME", help="With --standing: until when, an hour if not given.")
@click.option("--times", "count", type=int, metavar="N", help="With --standing: how many, 10 if not given.")
@click.option(
    "--agent-version",
    type=int,
    metavar="N",
    help="With --standing: of its agent, that was looked at: if it has changed since the question came.",
)
@click.option("--refuse", metavar="REASON", help="Refuse it: why.")
@click.option("--yes", is_flag=True, help="Approve it as it is now, whatever was looked at.")
@click.pass_obj
def answer(app: CommandContext, /, question: str, task: str | None, **said: Any) -> None:
    """Answer a question of a worker, approve its action, or refuse it.

    --digest says which action you have looked at, as show has it. `baton approvals` shows each, and asks.
    """
    if len([name for name in ("answer", "approve", "refuse") if said[name]]) != 1:
        raise Misused("that is no decision", "it takes one of --answer, --approve and --refuse")
    if not said["approve"] and (said["digest"] or said["arguments"] or said["standing"]):
        raise Misused("nothing is approved", "--digest, --arguments and --standing are about --approve")
    if said["agent_version"] is not None and not said["standing"]:
        raise Misused("nothing stands", "--agent-version is about --standing")
    if said["approve"] and not said["digest"] and not said["yes"]:
        raise Misused("nobody has looked at it", "--digest says which action you have seen", "baton approvals show ID")
    asked = decisions.found(app, question, task)
    if said["refuse"]:
        decided = decisions.decide(app, asked, "refused", reason=typed_values.text(said["refuse"]))
    elif said["answer"]:
        decided = decisions.decide(app, asked, "answered", answer=decisions.answer_of(asked, said["answer"]))
    else:
        changed = typed_values.document(said["arguments"]) if said["arguments"] else None
        standing = decisions.standing(app, said["standing"], said["until"], said["count"]) if said["standing"] else None
        approval = {name: said[name] for name in ("digest", "agent_version")} | {"arguments": changed}
        decided = decisions.decide(app, asked, "approved", standing=standing, **approval)
    app.out.show(decided, lambda screen: screens.outcome(screen, decided))


@click.command("revoke", cls=BaseCommand)
@click.argument("standing", metavar="STANDING|QUESTION")
@click.option("--task", metavar="TASK", help="Of a question: its task.")
@click.option("--reason", metavar="TEXT", help="Of a question: why.")
@click.pass_obj
def revoke(app: CommandContext, standing: str, task: str | None, reason: str | None) -> None:
    """Take a standing answer back, and what it approved that wasn't begun; or one approval that wasn't begun."""
    request = Request[Any]("DELETE", f"/standing-answers/{standing}")
    if task is not None:
        request = Request[Any]("POST", f"/tasks/{task}/questions/{standing}/revoke", {"reason": reason})
    revoked = app.client.call(request, repeatable=True)
    app.out.show(revoked, lambda screen: screen.line(f"{revoked['id']} is revoked", "green"))

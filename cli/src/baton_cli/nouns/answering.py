"""The commands of `baton approvals` that are about questions of workers: show, answer, and what was approved for
later."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from baton_cli.base_command import BaseCommand
from baton_cli.command_context import CommandContext
from baton_cli.failures import Failure, Misused
from baton_cli.http_connection import HttpRequest
from baton_cli.output import may_ask

if TYPE_CHECKING:
    from baton_cli.screen import Screen


@click.command("show", cls=BaseCommand)
@click.argument("question", metavar="QUESTION")
@click.option("--task", metavar="TASK", help="Its task: needed for one that is closed.")
@click.pass_obj
def show(app: CommandContext, question: str, task: str | None) -> None:
    """Show a question of a worker whole: what it wants to do, and what was approved the last time."""
    from baton_cli.question_decisions import found

    asked = found(app, question, task)

    def draw(screen: Screen) -> None:
        from baton_cli.screens import question as screens
        from baton_cli.screens.message import Cut

        screens.looked_at(screen, asked, Cut())

    app.out.show(asked, draw)


@click.command("answer", cls=BaseCommand)
@click.argument("question", metavar="QUESTION")
@click.option("--task", metavar="TASK", help="Its task; looked for if not given.")
@click.option("--answer", "typed", metavar="TEXT", help="The answer: words, an option, or a form as JSON or @FILE.")
@click.option("--approve", "is_approved", is_flag=True, help="Approve its action.")
@click.option("--digest", metavar="TEXT", help="Of the action that was looked at: it is approved, and no other.")
@click.option("--arguments", metavar="JSON", help="Approve the action with these in place of what was asked.")
@click.option("--standing", type=click.Choice(["arguments", "tool"]), help="Approve later ones, too: of what.")
@click.option("--until", metavar="TIME", help="With --standing: until when, an hour if not given.")
@click.option("--times", "count", type=int, metavar="N", help="With --standing: how many, 10 if not given.")
@click.option("--refuse", "reason", metavar="REASON", help="Refuse it: why.")
@click.option("--yes", is_flag=True, help="Approve it as it is now: show nothing, and ask nothing.")
@click.pass_obj
def answer(app: CommandContext, /, question: str, task: str | None, **said: Any) -> None:
    """Answer a question of a worker, approve its action, or refuse it.

    On a terminal an action is shown first, and you are asked. Elsewhere its --digest says what you have looked at.
    """
    from baton_cli.question_decisions import decide, found

    if sum(map(bool, (said["typed"], said["is_approved"], said["reason"]))) != 1:
        raise Misused("that is no decision", "it takes one of --answer, --approve and --refuse")
    if not said["is_approved"] and any(said[name] for name in ("digest", "arguments", "standing")):
        raise Misused("nothing is approved", "--digest, --arguments and --standing are about --approve")
    asked = found(app, question, task)
    outcome = "approved" if said["is_approved"] else "answered" if said["typed"] else "refused"
    decided = decide(app, asked, outcome, **_said(app, asked, said))

    def draw(screen: Screen) -> None:
        from baton_cli.question_wait import said as told
        from baton_cli.screens import question as screens

        screens.outcome(screen, told(decided))

    app.out.show(decided, draw)


def _said(app: CommandContext, asked: dict[str, Any], said: dict[str, Any]) -> dict[str, Any]:
    """Returns the fields of a decision. Raises ``Misused``, and ``Failure`` after a no."""
    from baton_cli import question_decisions as decisions
    from baton_cli import typed_values

    if said["reason"]:
        return {"reason": typed_values.text(said["reason"])}
    if said["typed"]:
        return {"answer": decisions.answer_of(asked, said["typed"])}
    changed = typed_values.document(said["arguments"]) if said["arguments"] else None
    if not said["digest"] and not said["yes"]:
        _look_over(app, decisions.ShownQuestion(asked).with_arguments(changed).question)
    standing = said["standing"] and decisions.standing(app, said["standing"], said["until"], said["count"])
    return {"digest": said["digest"], "arguments": changed, "standing": standing}


def _look_over(app: CommandContext, asked: dict[str, Any]) -> None:
    if app.out.is_json or not may_ask():
        raise Misused("nobody has looked at it", "--digest says which action you have seen", "baton approvals show ID")
    from baton_cli.screens import question as screens
    from baton_cli.screens.message import Cut

    app.out.paged(app.out.drawn(lambda screen: screens.looked_at(screen, asked, Cut())))
    if not click.confirm("Approve it", err=True):
        raise Failure("nothing was approved", "you said no", "baton approvals: a key for each")


@click.command("standing", cls=BaseCommand)
@click.pass_obj
def standing(app: CommandContext) -> None:
    """List the standing answers in force: actions that are approved without a question."""
    items = [each for page in app.client.pages("/standing-answers", {"limit": 100}) for each in page["items"]]
    page = {"items": items, "next_cursor": None}

    def draw(screen: Screen) -> None:
        from baton_cli.screens import question as screens

        screens.standing(screen, page)

    app.out.show(page, draw)


@click.command("revoke", cls=BaseCommand)
@click.argument("standing", metavar="STANDING|QUESTION")
@click.option("--task", metavar="TASK", help="Of a question: its task.")
@click.option("--reason", metavar="TEXT", help="Of a question: why.")
@click.pass_obj
def revoke(app: CommandContext, standing: str, task: str | None, reason: str | None) -> None:
    """Take a standing answer back, and what it approved that wasn't begun; or one approval that wasn't begun."""
    if task is None:
        request = HttpRequest("DELETE", f"/standing-answers/{standing}")
    else:
        if not reason:
            raise click.UsageError("Missing --reason.")
        request = HttpRequest("POST", f"/tasks/{task}/questions/{standing}/revoke", {"reason": reason})
    revoked = app.client.call(request, repeatable=True)
    app.out.show(revoked, lambda screen: screen.line(f"{revoked['id']} is revoked", "green"))

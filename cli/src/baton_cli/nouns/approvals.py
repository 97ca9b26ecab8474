"""`baton approvals`: what waits for a person."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from baton_cli import approvals
from baton_cli.approval_decisions import ShownApproval, approve_all, digest_of, happened
from baton_cli.base_command import BaseCommand, common
from baton_cli.command_context import CommandContext
from baton_cli.command_table import command_of
from baton_cli.failures import ExitCode, Failure
from baton_cli.lazy import Nouns
from baton_cli.nouns.answering import STANDING, answer, revoke, show
from baton_cli.output import may_ask
from baton_cli.question_decisions import open_questions
from baton_cli.similar_tasks import content_of, grouped
from baton_client.errors import Misused

if TYPE_CHECKING:
    from baton_cli.screen import Screen

HELP = """Decide on what waits for approval: without a command, a queue of single keys."""
CALLS = (STANDING,)


def waiting(app: CommandContext, source: str | None, target: str | None) -> dict[str, Any]:
    """Returns all tasks that wait, grouped; of one direction, if that is named. Ready tasks wait as well if rules hold
    them back from an agent."""
    query = {"state": "needs", "limit": 100, **({"agent": target} if target else {})}
    items = [each for page in app.client.pages("/tasks", query) for each in page["items"]]
    held = [each for page in app.client.pages("/tasks", {"held": "true", "limit": 100}) for each in page["items"]]
    items += [each for each in held if target is None or target in {rule["agent"] for rule in each["held"]}]
    items = [each for each in items if source in (None, each["source_agent"])]
    return {"items": grouped(items), "next_cursor": None}


@click.command("list", cls=BaseCommand)
@click.option("--from", "source", metavar="AGENT", help="Only from this agent.")
@click.option("--to", "target", metavar="AGENT", help="Only to this agent.")
@click.pass_obj
def listing(app: CommandContext, source: str | None, target: str | None) -> None:
    """List what waits: questions of workers, and handoffs by direction and reason."""
    asked = [each for each in open_questions(app) if target in (None, each["agent"])] if source is None else []
    _list(app, {**waiting(app, source, target), "questions": asked})


def _list(app: CommandContext, page: dict[str, Any]) -> None:
    def draw(screen: Screen) -> None:
        from baton_cli.screens import approval, question

        question.listed(screen, page["questions"])
        approval.listed(screen, page["items"], is_alone=not page["questions"])

    app.out.show(page, draw)


@click.command("approve", cls=BaseCommand, takes_key=True)
@click.argument("tasks", nargs=-1, metavar="[TASK…]")
@click.option("--from", "source", metavar="AGENT", help="Everything from this agent.")
@click.option("--to", "target", metavar="AGENT", help="Everything to this agent.")
@click.option("--next", "is_next", is_flag=True, help="For workers that are at work already.")
@click.option("--yes", is_flag=True, help="Show nothing, and ask nothing.")
@click.pass_context
def approve(context: click.Context, /, tasks: tuple[str, ...], **said: Any) -> None:
    """Approve tasks by their ids, or all of a direction: each gets an answer of its own.

    On a terminal each content is shown first, and you are asked. Those of a direction are approved as they are listed:
    what changes meanwhile is refused. The exit code is 1 if any was refused.
    """
    app = context.ensure_object(CommandContext)
    source, target = said["source"], said["target"]
    if bool(tasks) == bool(source or target):
        raise Misused("nothing to approve", "it takes TASK…, or --from and --to, not both", "baton approvals list")
    from baton_cli import last_ids

    is_last = "last" in app.flags
    named = [{"id": each, **(last_ids.seen(each) if is_last else {})} for each in tasks]
    items = named or waiting(app, source, target)["items"]
    if items and not said["yes"] and not app.out.is_json and may_ask():
        items = _looked_over(app, items)
    answer = {"items": approve_all(app, items, "next" if said["is_next"] else "dispatch")}

    def draw(screen: Screen) -> None:
        from baton_cli.screens import approval

        approval.answered(screen, answer["items"])

    app.out.show(answer, draw)
    refused = any(each["status"] == "refused" for each in answer["items"])
    context.exit(ExitCode.FAILED if refused else ExitCode.OK)


def _looked_over(app: CommandContext, items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Shows each content once, asks, and returns the tasks as they were shown. Raises ``Failure`` after a no."""
    from baton_cli.request_warnings.sources import Handoffs
    from baton_cli.screens import approval
    from baton_cli.screens.message import Cut

    earlier = Handoffs(app)
    whole = grouped([each if "title" in each else app.client.get(f"/tasks/{each['id']}") for each in items])
    shown: dict[str, dict[str, Any]] = {}
    drawn = []
    for item in whole:
        if content_of(item) not in shown:
            handoff = shown[content_of(item)] = app.client.get(f"/handoffs/{item['handoff_id']}")
            place = f"{sum(content_of(each) == content_of(item) for each in whole)} of these"
            found = earlier.warnings(item, handoff)
            approval_shown = ShownApproval(item, handoff, [], place, happened(app, item), found)
            drawn.append(app.out.drawn(lambda screen: approval.looked_at(screen, approval_shown, Cut())))  # noqa: B023 - called at once
    app.out.paged("".join(drawn))
    if not click.confirm(f"Approve {len(whole)}, of {len(shown)} contents", err=True):
        raise Failure("nothing was approved", "you said no", "baton approvals: a key for each")
    return [each | digest_of(shown[content_of(each)]) for each in whole]


@click.pass_context
def _queue(context: click.Context) -> None:
    if context.invoked_subcommand is not None:
        return
    app = context.ensure_object(CommandContext)
    page = {**waiting(app, None, None), "questions": open_questions(app)}
    if app.out.is_json or not may_ask():
        _list(app, page)
        return
    try:
        from baton_cli.approval_terminal import ApprovalTerminal
    except ImportError:  # Windows has no termios
        _list(app, page)
        return
    from baton_cli.question_queue import QuestionQueue

    with ApprovalTerminal(app).key_mode() as terminal:
        if QuestionQueue(app, terminal, page["questions"]).run():
            approvals.Queue(app, terminal, page["items"]).run()


command = Nouns("approvals", callback=_queue, invoke_without_command=True, help=HELP, params=common())
for each in (listing, approve, show, answer, command_of(STANDING), revoke):
    command.add_command(each)

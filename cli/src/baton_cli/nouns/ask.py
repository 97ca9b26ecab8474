"""`baton ask`: a worker asks people, and goes on with what they say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from baton_cli import typed_values
from baton_cli.base_command import BaseCommand
from baton_cli.command_context import CommandContext
from baton_cli.failures import Interrupted
from baton_cli.question_wait import EXITS, OVER, HeldWait, Question, claim_over, path_of, said
from baton_client.core import Request, new_key
from baton_client.errors import Misused, Refused

if TYPE_CHECKING:
    from baton_cli.screen import Screen


@click.command("ask", cls=BaseCommand, takes_key=True, states="claimed")
@click.argument("task", metavar="TASK")
@click.argument("text", metavar="[TEXT]", required=False)
@click.option("--claim", "claim_id", envvar="BATON_CLAIM_ID", help="The claim; $BATON_CLAIM_ID if not given.")
@click.option("--option", "options", multiple=True, metavar="TEXT …", help="An answer to choose from: at least two.")
@click.option("--form", metavar="FILE", help="A form to fill in: the file of its JSON Schema, or -.")
@click.option("--tool", metavar="NAME", help="An action to approve: what it calls.")
@click.option("--arguments", metavar="JSON", help="What the action calls it with: JSON, @FILE, or -.")
@click.option("--by", "people", multiple=True, metavar="NAME …", help="Who may answer; any human if nobody is named.")
@click.option("--group", metavar="NAME", help="A group of the settings that may answer.")
@click.option("--needed", type=int, metavar="N", help="How many of them; 1 if not given.")
@click.option("--until", "--within", "until", metavar="TIME", help="It expires then; in a day if not given.")
@click.option("--use", is_flag=True, help="Begin the action at once when it is approved: that is possible once.")
@click.option("--no-wait", is_flag=True, help="Print the question's id, and end.")
@click.option("--question", metavar="QUESTION", help="Go on waiting for one that was asked before, in place of TEXT.")
@click.pass_context
def command(context: click.Context, /, **typed: Any) -> None:
    """Ask people, under a claim, and wait for what they say.

    The claim is kept meanwhile. What is printed is the question, with answer, reason and approved_arguments: people may
    approve other arguments than TEXT's action had. The exit code is 0 for an answer or an approval, 10 if they refused
    or took it back, 11 if nobody decided in time, 12 if the claim is over. With --key a repeat asks nothing twice; its
    --until is a time then, as it is another request otherwise. --use begins an action once, also with --key: it ends
    with 1 (receipt_refused) if an earlier command began the action.
    """
    app = context.ensure_object(CommandContext)
    if not typed["claim_id"]:
        raise click.UsageError("Missing --claim.")
    question: Question | None = None
    try:
        question = _asked(app, typed)
        if typed["no_wait"]:
            _told(app, question)
            return
        app.out.say(f"{question['id']} waits for an answer …")
        question = HeldWait(app, typed["claim_id"]).until_closed(question)
        if typed["use"] and question["outcome"] == "approved":
            body = {"claim_id": typed["claim_id"], "digest": question["approved_digest"]}
            # Never a key made of --key: the same command in a later process would begin the action again.
            question = app.client.call(Request[Any]("POST", f"{path_of(question)}/use", body, new_key()))
    except Refused as refusal:
        if refusal.code not in OVER:
            raise
        raise claim_over(typed["task"]) from refusal
    except KeyboardInterrupt:
        again = f"baton ask {typed['task']} --question {question['id']}" if question else f"--key {app.key}"
        why = "it stays open" if question else "it may have been asked: the same command with this key asks it once"
        raise Interrupted("the question wasn't waited for", why, again) from None
    answer = said(question)

    def draw(screen: Screen) -> None:
        from baton_cli.screens import question as screens

        screens.outcome(screen, answer)

    app.out.show(answer, draw)
    context.exit(EXITS[answer["outcome"]])


def _asked(app: CommandContext, typed: dict[str, Any]) -> Question:
    """Returns the question that was asked, now or before."""
    task = typed["task"]
    if typed["question"]:
        if typed["text"] or typed["no_wait"]:
            raise click.UsageError("--question takes the place of TEXT, and waits.")
        found: Question = app.client.get(f"/tasks/{task}/questions/{typed['question']}")
        return found
    if not typed["text"]:
        raise click.UsageError("Missing TEXT, or --question.")
    asked: Question = app.client.call(Request[Any]("POST", f"/tasks/{task}/ask", _body(app, typed), app.key))
    return asked


def _body(app: CommandContext, typed: dict[str, Any]) -> dict[str, Any]:
    kinds = [kind for kind, name in (("choice", "options"), ("form", "form"), ("action", "tool")) if typed[name]]
    if len(kinds) > 1:
        raise Misused("that is several questions", "it takes one of --option, --form and --tool")
    kind = kinds[0] if kinds else "text"
    if kind != "action" and (typed["arguments"] or typed["use"]):
        raise Misused("there is no action", "--arguments and --use are about one", "--tool NAME")
    body = {"claim_id": typed["claim_id"], "kind": kind, "text": typed_values.text(typed["text"])}
    body |= {name: typed[name] for name in ("tool", "group", "needed") if typed[name] is not None}
    if typed["options"]:
        body["options"] = typed["options"]
    if typed["people"]:
        body["people"] = [name.strip() for each in typed["people"] for name in each.split(",")]
    if typed["form"]:
        body["form"] = typed_values.document(typed["form"] if typed["form"] == "-" else f"@{typed['form']}")
    if typed["arguments"]:
        body["arguments"] = typed_values.document(typed["arguments"])
    if typed["until"]:
        body["until"] = typed_values.time(typed["until"], now=app.clock(), is_past=False)
    return body


def _told(app: CommandContext, question: Question) -> None:
    """Prints the id alone, unless another form was asked for: a script goes on with it."""
    if {"output", "query"} & {*app.flags}:
        app.out.show(question, lambda screen: screen.line(question["id"]))
    else:
        app.out.write(f"{question['id']}\n")

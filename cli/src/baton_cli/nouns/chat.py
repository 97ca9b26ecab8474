"""`baton chat`: a conversation in the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from baton_cli.base_command import BaseCommand
from baton_cli.command_context import CommandContext
from baton_cli.output import may_ask
from baton_client.core import Request, with_query

if TYPE_CHECKING:
    from baton_cli.screen import Screen

POLL_SECONDS = 20.0


@click.command("chat", cls=BaseCommand, takes_key=True)
@click.argument("agent", metavar="[AGENT]", required=False)
@click.option("--message", "-m", help="Say this, print what is answered, and end.")
@click.option("--resume", metavar="CONVERSATION", help="Go on with a conversation.")
@click.pass_obj
def command(app: CommandContext, agent: str | None, message: str | None, resume: str | None) -> None:
    """Talk with an agent.

    When it hands the conversation over, the line "Routed to …" says to whom. Off a terminal, --message is needed, and
    the answer is the page of messages. An empty line ends the talk.
    """
    if (agent is None) == (resume is None):
        raise click.UsageError("It takes AGENT, or --resume CONVERSATION.")
    if message is None and (app.out.is_json or not may_ask()):
        raise click.UsageError("Missing --message: nobody is here to talk.")
    talk = Talk(app, agent or "", resume or "")
    if message is not None:
        talk.say(message)
        page = talk.listen()
        if app.out.is_json:
            app.out.document(page)
        return
    while line := click.prompt("you", default="", show_default=False, err=True).strip():
        talk.say(line)
        talk.listen()
    app.out.say(f"To go on: baton chat --resume {talk.conversation_id}")


class Talk:
    """One conversation, read up to the cursor ``_after``."""

    def __init__(self, app: CommandContext, agent: str, conversation_id: str) -> None:
        self._app, self._agent, self.conversation_id = app, agent, conversation_id
        self._after: str | None = None
        self._said = 0
        if conversation_id:
            self._page(shown=False)

    def say(self, message: str) -> None:
        self._said += 1
        key = f"{self._app.key}-{self._said}"
        if self.conversation_id:
            path, body = f"/conversations/{self.conversation_id}/messages", {"message": message}
        else:
            path, body = "/conversations", {"agent": self._agent, "message": message}
        self.conversation_id = self._app.client.call(Request[Any]("POST", path, body, key))["conversation_id"]

    def listen(self) -> dict[str, Any]:
        """Returns the messages that come until no agent is at work any more."""
        items: list[dict[str, Any]] = []
        while True:
            conversation = self._app.client.get(f"/conversations/{self.conversation_id}")
            items += self._page()["items"]
            if conversation["state"] == "idle":
                items += self._page()["items"]
                return {"items": items, "after": self._after}
            self._wait(conversation)

    def _wait(self, conversation: dict[str, Any]) -> None:
        """Returns once the newest open task has ended, or after ``POLL_SECONDS``."""
        from baton_cli.screens.states import ENDED

        self._app.out.say(f"{conversation['agent_name'] or 'the agent'} is at work …")
        open_tasks = [each["id"] for each in conversation["tasks"] if each["state"] not in ENDED]
        if open_tasks:
            path = f"/tasks/{open_tasks[-1]}"
            wait = Request[Any]("GET", with_query(f"{path}/await", {"state": "ended", "timeout": POLL_SECONDS}))
            self._app.client.wait(wait, Request[Any]("GET", path), POLL_SECONDS)

    def _page(self, *, shown: bool = True) -> dict[str, Any]:
        """Returns the messages after the cursor, and moves it."""
        items: list[dict[str, Any]] = []
        while True:
            query = {"after": self._after, "limit": 200}
            page = self._app.client.get(f"/conversations/{self.conversation_id}/messages", query)
            self._after = page["after"]
            items += page["items"]
            if not page["items"]:
                break
        if shown and not self._app.out.is_json and items:
            self._app.out.draw(lambda screen: _draw(screen, items))
        return {"items": items, "after": self._after}


def _draw(screen: Screen, items: list[dict[str, Any]]) -> None:
    from baton_cli.screens import talk

    for each in items:
        talk.message(screen, each)

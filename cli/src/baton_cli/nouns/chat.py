"""`baton chat`: a conversation in the terminal."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from baton_cli import times
from baton_cli.base_command import BaseCommand
from baton_cli.command_context import CommandContext
from baton_cli.key_queue import LineTerminal, says_yes
from baton_cli.output import complain, is_terminal, may_ask
from baton_client.core import FOREVER, Request, with_query
from baton_client.errors import Refused

if TYPE_CHECKING:
    from baton_cli.screen import Screen

POLL_SECONDS = 20.0
# The least number of messages that are shown of a conversation that is resumed.
LEAST_SHOWN = 20


@click.command("chat", cls=BaseCommand, takes_key=True)
@click.argument("agent", metavar="[AGENT]", required=False)
@click.option("--message", "-m", help="Say this, print what is answered, and end.")
@click.option("--resume", metavar="CONVERSATION", help="Go on with a conversation.")
@click.option("--after", metavar="CURSOR", help="What you have read of it: `after` of the last answer, with --resume.")
@click.option("--agent-version", type=int, metavar="N", help="Of its agent, that was looked at: if it has changed.")
@click.pass_obj
def command(app: CommandContext, /, agent: str | None, message: str | None, resume: str | None, **seen: Any) -> None:
    """Talk with an agent.

    When it hands the conversation over, the line "Routed to …" says to whom. Off a terminal, --message is needed, and
    the answer is the page of messages. An empty line ends the talk.

    --resume first shows all messages since the beginning of the task that holds the conversation, and at least the last
    20. Your message is sent for the messages that you were shown, or for those up to --after. If there are newer ones,
    or the agent has changed, they are shown before the message is sent again. What you type before the messages are
    shown is dropped.
    """
    if (agent is None) == (resume is None):
        raise click.UsageError("It takes AGENT, or --resume CONVERSATION.")
    seen = {name: value for name, value in seen.items() if value is not None}
    if resume is None and seen:
        raise click.UsageError("--after and --agent-version need --resume CONVERSATION.")
    terminal = Lines() if may_ask() and not app.out.is_json else None
    if message is None and terminal is None:
        raise click.UsageError("Missing --message: nobody is here to talk.")
    talk = Talk(app, agent or "", terminal, seen)
    if resume is not None:
        talk.resume(resume)
    if message is not None:
        page = talk.say_once(message)
        if app.out.is_json:
            app.out.document(page)
        return
    talk.run()
    app.out.say(f"To go on: baton chat --resume {talk.conversation_id}")


class Lines:
    """The lines that a person reads and types between the messages."""

    def line(self, question: str) -> str:
        """Drops what was typed before: it can't be meant for the messages that were shown since."""
        import termios

        if is_terminal(sys.stdin):
            termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
        typed: str = click.prompt(question, default="", show_default=False, err=True)
        return typed.strip()

    def say(self, text: str) -> None:
        complain(text)


class Talk:
    """One conversation, read up to the cursor ``_after``. ``terminal``: None if no person is there. ``seen``: the
    fields of a message that name what the person has seen."""

    def __init__(
        self, app: CommandContext, agent: str, terminal: LineTerminal | None, seen: dict[str, Any] | None = None
    ) -> None:
        self._app, self._agent, self._terminal, self._seen = app, agent, terminal, seen or {}
        self.conversation_id = ""
        self._has_shown = False
        self._after: str | None = self._seen.get("after")
        self._said = 0
        self._warned: set[str] = set()  # agents that nobody works for
        self._at_work: set[str] = set()
        self._own: set[str] = set()  # the tasks of the messages that were sent here

    def resume(self, conversation_id: str) -> None:
        """Continues a conversation that was read up to ``_after``. Without it, a person is shown the last messages, and
        all of the task that holds the conversation. For a program, only the messages from now on are read, and it
        claims to have read nothing."""
        self.conversation_id = conversation_id
        if self._after is not None:
            return
        items = self._page(shown=False)["items"]
        if self._terminal:
            self._has_shown = True
            conversation = self._app.client.get(f"/conversations/{conversation_id}")
            self._draw_last(self._terminal, items, conversation)
            self._seen["after"] = self._after

    def _draw_last(self, terminal: LineTerminal, items: list[dict[str, Any]], conversation: dict[str, Any]) -> None:
        """Draws each message from the first one of the task that holds the conversation, and at least the last ones.
        Says how many earlier messages are left out, and who holds the conversation."""
        from baton_cli.screens import talk

        items = talk.drawn(items)
        of_holder = (at for at, each in enumerate(items) if each["task_id"] == conversation["holder"])
        first = min(next(of_holder, len(items)), max(len(items) - LEAST_SHOWN, 0))
        if first:
            path = f"/conversations/{self.conversation_id}/messages"
            terminal.say(f"{first} earlier messages aren't shown: baton api GET {path}")
        self._draw(items[first:])
        if name := conversation["agent_name"] or conversation["agent"]:
            terminal.say(f"{name} holds the conversation, and gets your next message.")

    def run(self) -> None:
        """Sends each line that the person types, until an empty one."""
        while self._terminal and (line := self._terminal.line("you")):
            if self.say(line):
                self.listen()

    def say_once(self, message: str) -> dict[str, Any] | None:
        """Returns the answer to a message that was typed before anything was shown; None if the person, once they have
        read the last messages, doesn't send it."""
        if self._terminal and self._has_shown and not says_yes(self._terminal, "Send your message"):
            return None
        return self.listen() if self.say(message) else None

    def say(self, message: str) -> bool:
        """Sends the message for the conversation and the agent that were seen. If one of them has changed, a person is
        shown how, and asked. Returns False if the person doesn't send it then."""
        while True:
            self._said += 1
            key = f"{self._app.key}-{self._said}"
            path, body = "/conversations", {"agent": self._agent, "message": message}
            if self.conversation_id:
                path, body = f"/conversations/{self.conversation_id}/messages", {"message": message, **self._seen}
            try:
                made = self._app.client.call(Request[Any]("POST", path, body, key))
            except Refused as refusal:
                if self._terminal is None:
                    raise
                if not self._sends_again(self._terminal, refusal):
                    return False
            else:
                self.conversation_id = made["conversation_id"]
                self._own.add(made["task"]["id"])
                self._seen.pop("agent_version", None)
                return True

    def _sends_again(self, terminal: LineTerminal, refusal: Refused) -> bool:
        """Shows the reason of a refusal. Returns True if the person then sends the message again."""
        from baton_cli.approval_decisions import CHANGED, looked_at, takes_as_it_is

        if refusal.code == "conversation_moved":
            self._page()
            self._seen["after"] = self._after
            return says_yes(terminal, "These messages are new. Send yours")
        if refusal.code != CHANGED:
            raise refusal
        if not takes_as_it_is(self._app, terminal, refusal.problem):
            return False
        self._seen |= looked_at(refusal.problem)
        return True

    def listen(self) -> dict[str, Any]:
        """Returns the messages that come until no agent is at work any more."""
        items: list[dict[str, Any]] = []
        while True:
            conversation = self._app.client.lasting(FOREVER).get(f"/conversations/{self.conversation_id}")
            items += self._page()["items"]
            if conversation["state"] == "idle":
                items += self._page()["items"]
                self._seen["after"] = self._after
                return {"items": items, "after": self._after}
            self._wait(conversation)

    def _wait(self, conversation: dict[str, Any]) -> None:
        """Returns once the newest open task has ended, or after ``POLL_SECONDS``."""
        from baton_cli.screens.states import ENDED

        open_tasks = [each["id"] for each in conversation["tasks"] if each["state"] not in ENDED]
        if not (open_tasks and self._warns(conversation["agent"], open_tasks[-1])):
            self._app.out.say(f"{conversation['agent_name'] or 'the agent'} is at work …")
        if open_tasks:
            path = f"/tasks/{open_tasks[-1]}"
            wait = Request[Any]("GET", with_query(f"{path}/await", {"state": "ended", "timeout": POLL_SECONDS}))
            self._app.client.wait(wait, Request[Any]("GET", path), POLL_SECONDS, FOREVER)

    def _warns(self, slug: str | None, task_id: str) -> bool:
        """Returns True if no worker works for the agent. Prints that once for each agent."""
        if not slug or slug in self._at_work:
            return False
        why = self._why_nobody_works(self._app.client.get(f"/agents/{slug}"))
        if why and slug not in self._warned:
            self._warned.add(slug)
            complain(f"{slug} {why}. Your message waits as {task_id}; Ctrl-C ends this wait and keeps the message.")
        if not why:
            self._at_work.add(slug)
        return bool(why)

    def _why_nobody_works(self, agent: dict[str, Any]) -> str:
        """Returns "" if a worker asked for the agent's work within the last minutes, or if Baton runs the agent."""
        if agent["runtime"] == "run" or agent["liveness"]["status"] == "active":
            return ""
        last = agent["liveness"]["last_contact_at"]
        when = f"it last asked for work {times.age(last, self._app.clock())} ago" if last else "it never asked for work"
        return f"has no worker: {when}"

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
        if shown and not self._app.out.is_json:
            self._draw(items)
        return {"items": items, "after": self._after}

    def _draw(self, items: list[dict[str, Any]]) -> None:
        """Draws the messages, but those that were typed here: they are on the screen already."""
        from baton_cli.screens import talk

        def draw(screen: Screen) -> None:
            for each in items:
                if each["type"] != "user_message" or each["task_id"] not in self._own:
                    talk.message(screen, each)

        if items:
            self._app.out.draw(draw)

"""Commands that are one request each, as rows of a table: what is asked, and how the answer is shown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal[
    "text", "long", "number", "seconds", "yes", "either", "list", "words", "json", "past", "future", "agent", "claim"
]

# What takes no Idempotency-Key, and may be repeated freely.
REPEATABLE = {
    "/agents/{slug}/inbox/ack",
    "/tasks/{task_id}/heartbeat",
    "/tools/{name}/dry-run",
    "/tools/{name}/preview",
    "/tracker/check",
    "/workspace/changes/{change_id}/approve",
    "/workspace/changes/{change_id}/refuse",
    "/workspace/changes/{change_id}/withdraw",
}
# What takes none, and does something new each time.
ONCE = {"/session-codes", "/sessions", "/tracker/webhook"}
# What takes a new key in each command, and no --key: the same command in a later process must not get the first answer.
ALWAYS_NEW_KEY = {"/tasks/{task_id}/questions/{question_id}/use"}


@dataclass(frozen=True, slots=True)
class Param:
    """One value of a request.

    ``name``: the API's, with dots for what is nested. ``kind``: how it is typed; long is also @FILE or -, yes a flag,
    either a flag and its opposite, list given several times, words that or with commas, past and future a time or an
    age, agent the profile's if none is given, claim $BATON_CLAIM_ID if none is given. ``flag``: its option, without
    dashes, if that isn't the last part of the name. ``is_argument``: it stands by itself, without an option.
    """

    name: str
    help: str = ""
    kind: Kind = "text"
    flag: str = ""
    choices: tuple[str, ...] = ()
    is_required: bool = False
    is_argument: bool = False

    @property
    def option(self) -> str:
        return f"--{self.flag or self.name.rpartition('.')[2].replace('_', '-')}"

    @property
    def key(self) -> str:
        """Its name among the parameters of a function."""
        return self.name.replace(".", "__")


@dataclass(frozen=True, slots=True)
class RequestCommand:
    """``body``: None sends none. ``columns``: of the answer's ``items``, as ``field:Header``. ``said``: a sentence
    about the answer, with its fields in braces. ``screen``: ``module:function`` that draws the answer. Without any of
    the three its fields are drawn. ``refine`` changes the body, or a GET's query, before it is sent. ``is_paged``: it
    takes limit and cursor. ``states``: of the tasks that it may be about, with commas; a shell completes these.
    """

    verb: str
    method: str
    path: str
    help: str
    query: tuple[Param, ...] = ()
    body: tuple[Param, ...] | None = None
    columns: str = ""
    said: str = ""
    screen: str = ""
    refine: Callable[[dict[str, Any]], None] | None = None
    is_paged: bool = False
    paths: tuple[Param, ...] = ()
    states: str = ""

    @property
    def takes_key(self) -> bool:
        return self.method == "POST" and self.path not in REPEATABLE | ONCE

    @property
    def has_key_option(self) -> bool:
        return self.takes_key and self.path not in ALWAYS_NEW_KEY

    @property
    def is_repeatable(self) -> bool:
        return self.path in REPEATABLE


def limited(default: int, most: int) -> Param:
    return Param("limit", f"How many, {default} if not given, at most {most}.", "number")


STATES = ("needs", "delegated", "next", "claimed", "waiting", "done", "failed", "rejected", "cancelled")
ACTIVE = STATES[:5]
STATE = Param("state", f"Several with commas: {', '.join(STATES)}.", "words")
SLUG = Param("slug", "The agent.", "agent", is_argument=True)
CLAIM = Param("claim_id", "The claim; $BATON_CLAIM_ID if not given.", "claim", flag="claim", is_required=True)
REASON = Param("reason", "Why.", "long")

"""Failures of a command: its exit code, and what it says.

Failure
├── Misused          the command line or the profile is wrong; nothing was sent
├── Unreachable      no answer of Baton's came
├── TimedOut         an answer came, and what was waited for hasn't happened
├── Interrupted      the person ended a wait that can be gone on with
├── ClaimOver        a question's claim is over: no answer helps its worker any more
└── ApiRefusal       Baton said no: the fields of its problem details
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any


class ExitCode(IntEnum):
    OK = 0
    FAILED = 1
    USAGE = 2
    NOT_FOUND = 3
    NOT_ALLOWED = 4
    REMOTE = 5  # the API doesn't answer, is too busy, or what was waited for hasn't happened
    # Of a question to people; 0 is an answer or an approval.
    REFUSED = 10  # people said no, or took their approval back
    EXPIRED = 11  # nobody decided in time
    WITHDRAWN = 12  # the task has ended, or the claim is over
    INTERRUPTED = 130


class Failure(Exception):
    """``what`` happened, ``why``, and what to do about it (``next_step``)."""

    exit = ExitCode.FAILED

    def __init__(self, what: str, why: str = "", next_step: str = "") -> None:
        super().__init__(what)
        self.what, self.why, self.next_step = what, why, next_step


class Misused(Failure):
    exit = ExitCode.USAGE


class Unreachable(Failure):
    exit = ExitCode.REMOTE


class TimedOut(Failure):
    exit = ExitCode.REMOTE


class Interrupted(Failure):
    exit = ExitCode.INTERRUPTED


class ClaimOver(Failure):
    exit = ExitCode.WITHDRAWN


# Status → exit code. Any other status below 500 is a plain failure.
_EXIT_CODES = {
    401: ExitCode.NOT_ALLOWED,
    403: ExitCode.NOT_ALLOWED,
    404: ExitCode.NOT_FOUND,
    408: ExitCode.REMOTE,
    429: ExitCode.REMOTE,
}


class ApiRefusal(Failure):
    """``code``, ``detail``, ``errors`` and ``request_id`` are the problem's; AWS's own answers have none of them."""

    def __init__(self, status: int, problem: dict[str, Any]) -> None:
        self.status, self.problem = status, problem
        self.code = str(problem.get("code") or "")
        self.detail = str(problem.get("detail") or problem.get("message") or "")
        self.errors: list[dict[str, Any]] = list(problem.get("errors") or [])
        self.request_id = str(problem.get("request_id") or "")
        title = str(problem.get("title") or f"the API answered {status}")
        super().__init__(f"{title} ({status}{' ' if self.code else ''}{self.code})", self._why(), self._next_step())
        self.exit = _EXIT_CODES.get(status, ExitCode.REMOTE if status >= 500 else ExitCode.FAILED)

    def _why(self) -> str:
        named = [f"{each.get('field')}: {each.get('message')}" for each in self.errors]
        missing = [f"- {each}" for each in self.problem.get("criteria") or []]
        return "\n".join(filter(None, [self.detail, *(each for each in named if each not in self.detail), *missing]))

    def _next_step(self) -> str:
        from baton_cli.next_steps import after

        return after(self.status, self.code, self.problem)

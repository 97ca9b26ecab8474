"""Failures of a command: the client's (``baton_client.errors``), and its own. Each has an exit code.

BatonError
├── Misused, NoAnswer, Unreadable, Refused
└── Failure              the command's own
    ├── TimedOut         an answer came, and what was waited for hasn't happened
    ├── Interrupted      the person ended a wait that can be gone on with
    └── ClaimOver        a question's claim is over: no answer helps its worker any more
"""

from __future__ import annotations

from enum import IntEnum

from baton_client.errors import BatonError, Misused, NoAnswer, Refused


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


class Failure(BatonError):
    exit = ExitCode.FAILED


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


def exit_of(failure: BatonError) -> ExitCode:
    match failure:
        case Failure():
            return failure.exit
        case Misused():
            return ExitCode.USAGE
        case NoAnswer():
            return ExitCode.REMOTE
        case Refused(status=status):
            return _EXIT_CODES.get(status, ExitCode.REMOTE if status >= 500 else ExitCode.FAILED)
    return ExitCode.FAILED


def next_step_of(failure: BatonError) -> str:
    """Returns what to do about it; of a refusal, by its code."""
    if failure.next_step or not isinstance(failure, Refused):
        return failure.next_step
    from baton_cli.next_steps import after

    return after(failure.status, failure.code, failure.problem)

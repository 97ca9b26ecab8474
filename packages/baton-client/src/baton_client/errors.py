"""What goes wrong, as one tree by the API's codes.

BatonError
├── Misused               an argument or the profile is wrong; nothing was sent
├── NoAnswer              no answer came: it isn't known whether the request took effect
├── Unreadable            what answers isn't Baton, or not a Baton that this client understands
└── Refused               Baton said no; ``code`` says why
    ├── NotAuthenticated  401: the token isn't valid
    ├── NotAllowed        403
    │   └── TokenRefused · HumanRequired · ScopeRequired · NotYourAgent
    ├── NotFound          404: it isn't there, or isn't for you to read
    ├── Conflict          409: the state doesn't allow it
    │   ├── AlreadyClaimed · NotClaimable · OwnHandoff · LoopGuard · QuestionOver · TooManyQuestions
    │   ├── RevisionChanged · VersionConflict
    │   └── ClaimLost     the claim isn't held any more: stop, others may be at work
    │       └── StaleClaim · TaskEnded · ClaimOver
    ├── Invalid           400, 413, 422: ``errors`` names the fields
    │   └── CriteriaUnreported · ClaimRequired · GuardrailHit · KeyReused · UnknownAgent
    ├── TooMany           429: ``retry_after`` says when to come again
    │   └── RateLimited · TooManyPolls
    └── ServerFailed      500 and above, after all attempts
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

from baton_client.texts import one_line

AGAIN = frozenset({408, 429, 500, 502, 503, 504})


class BatonError(Exception):
    """``what`` happened, ``why``, and what to do about it (``next_step``)."""

    def __init__(self, what: str, why: str = "", next_step: str = "") -> None:
        super().__init__(": ".join(filter(None, [what, why])))
        self.what, self.why, self.next_step = what, why, next_step


class Misused(BatonError): ...


class NoAnswer(BatonError):
    """``foreign``: the status of an answer that another program sent in Baton's place, else 0. ``retry_after``: the
    seconds that it asked for, else 0."""

    def __init__(
        self, what: str, why: str = "", next_step: str = "", *, foreign: int = 0, retry_after: float = 0.0
    ) -> None:
        super().__init__(what, why, next_step)
        self.foreign, self.retry_after = foreign, retry_after


class Unreadable(BatonError): ...


class Refused(BatonError):
    """``code``, ``detail``, ``errors`` and ``request_id`` are those of the answer. ``problem`` is all of it.
    ``retry_after``: seconds, 0 if none were said."""

    def __init__(self, status: int, problem: dict[str, Any], retry_after: float = 0.0) -> None:
        self.status, self.problem, self.retry_after = status, problem, retry_after
        self.code = str(problem.get("code") or "")
        self.detail = str(problem.get("detail") or "")
        self.errors: list[dict[str, Any]] = [each for each in _listed(problem, "errors") if isinstance(each, dict)]
        self.request_id = str(problem.get("request_id") or "")
        title = str(problem.get("title") or f"the API answered {status}")
        super().__init__(f"{title} ({status}{' ' if self.code else ''}{self.code})", self._why())

    @property
    def asks_again(self) -> bool:
        """True if the same request may succeed later."""
        return self.status in AGAIN

    def _why(self) -> str:
        named = [f"{each.get('field')}: {each.get('message')}" for each in self.errors]
        missing = [f"- {one_line(str(each))}" for each in _listed(self.problem, "criteria")]
        agents = ", ".join(one_line(str(each)) for each in _listed(self.problem, "agents"))
        known = [f"agents: {agents}"] if agents else []
        told = [self.detail, *(each for each in named if each not in self.detail), *missing, *known]
        return "\n".join(filter(None, told))


def _listed(problem: dict[str, Any], name: str) -> list[Any]:
    found: Any = problem.get(name)
    return list(cast("Iterable[Any]", found)) if isinstance(found, list) else []


class NotAuthenticated(Refused): ...


class NotAllowed(Refused): ...


class TokenRefused(NotAllowed): ...


class HumanRequired(NotAllowed): ...


class ScopeRequired(NotAllowed): ...


class NotYourAgent(NotAllowed): ...


class NotFound(Refused): ...


class Conflict(Refused): ...


class AlreadyClaimed(Conflict): ...


class NotClaimable(Conflict): ...


class OwnHandoff(Conflict): ...


class LoopGuard(Conflict): ...


class QuestionOver(Conflict): ...


class RevisionChanged(Conflict): ...


class VersionConflict(Conflict): ...


class ClaimLost(Conflict): ...


class StaleClaim(ClaimLost): ...


class TaskEnded(ClaimLost): ...


class ClaimOver(ClaimLost): ...


class Invalid(Refused): ...


class CriteriaUnreported(Invalid): ...


class ClaimRequired(Invalid): ...


class GuardrailHit(Invalid): ...


class KeyReused(Invalid): ...


class UnknownAgent(Invalid): ...


class TooMany(Refused): ...


class RateLimited(TooMany): ...


class TooManyPolls(TooMany): ...


class TooManyQuestions(Conflict): ...


class ServerFailed(Refused): ...


BY_CODE: dict[str, type[Refused]] = {
    "already_claimed": AlreadyClaimed,
    "claim_over": ClaimOver,
    "claim_required": ClaimRequired,
    "criteria_unreported": CriteriaUnreported,
    "guardrail": GuardrailHit,
    "human_required": HumanRequired,
    "idempotency_key_reused": KeyReused,
    "loop_guard": LoopGuard,
    "not_claimable": NotClaimable,
    "not_your_agent": NotYourAgent,
    "own_handoff": OwnHandoff,
    "question_over": QuestionOver,
    "rate_limited": RateLimited,
    "revision_changed": RevisionChanged,
    "scope_required": ScopeRequired,
    "stale_claim": StaleClaim,
    "task_ended": TaskEnded,
    "token_refused": TokenRefused,
    "too_many_polls": TooManyPolls,
    "too_many_questions": TooManyQuestions,
    "unknown_agent": UnknownAgent,
    "version_conflict": VersionConflict,
}
_BY_STATUS: dict[int, type[Refused]] = {
    **dict.fromkeys((400, 413, 422), Invalid),
    401: NotAuthenticated,
    403: NotAllowed,
    404: NotFound,
    409: Conflict,
    429: TooMany,
}


def refusal(status: int, problem: dict[str, Any], retry_after: float = 0.0) -> Refused:
    usual = ServerFailed if status >= 500 else _BY_STATUS.get(status, Refused)
    found = BY_CODE.get(str(problem.get("code")), usual)
    # A code under another status than its own is told by the status.
    return (found if issubclass(found, usual) else usual)(status, problem, retry_after)

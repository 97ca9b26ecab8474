"""A person's approval of a kind of action, for a while and a number of times (docs/spec/questions.md §4). Pure."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from baton.domain import errors, times
from baton.domain.canonical_json import digest_of_values
from baton.domain.questions.question import Action, Decision, Question, Wish

MAX_SECONDS, DEFAULT_SECONDS = 7 * 86_400, 3_600
MAX_TIMES, DEFAULT_TIMES = 1_000, 10
# Of one agent and tool, at once. One that is used up counts while something that it approved can be begun: a refusal
# ends them all in one transaction.
MAX_IN_FORCE = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class StandingAnswer:
    """``digest``, ``arguments``: of the only action that it is for; None for any of ``agent`` with ``tool``. ``by``:
    the human's name. ``used``: how many actions it has approved; ``begun``: how many of them were begun.
    ``tool_version``: of a tool that Baton calls, which is another one once somebody has changed it. ``agent_version``:
    of the agent as the human has seen it; 0 for a standing answer of an earlier release."""

    workspace: str
    id: str
    agent: str
    tool: str
    by: str
    since: datetime
    until: datetime
    times: int
    task_id: str
    question_id: str  # it was given with the answer to this one
    digest: str | None = None
    arguments: dict[str, Any] | None = None
    tool_version: int | None = None
    agent_version: int = 0
    used: int = 0
    begun: int = 0
    revoked_at: datetime | None = None
    revoked_by: str | None = None
    version: int = 1

    def is_in_force(self, now: datetime) -> bool:
        return self.revoked_at is None and now < self.until and self.used < self.times

    def allows_something(self, now: datetime) -> bool:
        """True if it is in force, or has approved what wasn't begun: then there is something to revoke."""
        is_over = self.revoked_at is not None or now >= self.until
        return not is_over and (self.used < self.times or self.begun < self.used)

    def fits(self, action: Action) -> bool:
        is_its_tool = (action.tool, action.tool_version) == (self.tool, self.tool_version)
        return is_its_tool and self.digest in (None, action.digest)

    def is_for(self, values_digests: Collection[str]) -> bool:
        """True if it is for one of these actions of its tool, in whichever spelling, whatever the tool's version."""
        return self.digest is None or digest_of_values(self.arguments) in values_digests

    def with_one_used(self) -> StandingAnswer:
        return replace(self, used=self.used + 1, version=self.version + 1)

    def with_one_begun(self, question_id: str) -> StandingAnswer:
        """Raises ``ReceiptRefused`` once it is revoked."""
        if self.revoked_at is not None:
            raise errors.ReceiptRefused(question_id, "the standing answer that gave it is revoked")
        return replace(self, begun=self.begun + 1, version=self.version + 1)

    def revoked(self, by: str, now: datetime) -> StandingAnswer:
        if self.revoked_at is not None:
            return self
        return replace(self, revoked_at=now, revoked_by=by, version=self.version + 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What a person wants to stand. ``only_these``: for the same arguments alone. ``agent_version``: of the agent, if
    the person has looked at it since a service or a member changed it."""

    only_these: bool
    until: datetime | None = None
    times: int = DEFAULT_TIMES
    agent_version: int | None = None

    def wish(self, now: datetime, refusals: Refusals, action: Action, agent_version: int) -> Wish:
        """``agent_version``: of the agent as the person has seen it. Raises ``InvalidInput``."""
        wish = Wish(only_these=self.only_these, until=self._end(now), times=self.times, agent_version=agent_version)
        return replace(wish, after_refusal=refusals.about(wish, action).question_id)

    def is_wish(self, wish: Wish) -> bool:
        """True for a repeat of the request. Without a time or a version it means those of the first request."""
        same = (self.only_these, self.times) == (wish.only_these, wish.times)
        return same and self.until in (None, wish.until) and self.agent_version in (None, wish.agent_version)

    def _end(self, now: datetime) -> datetime:
        until = self.until or now + times.seconds(DEFAULT_SECONDS)
        if not now < until <= now + times.seconds(MAX_SECONDS):
            raise errors.InvalidInput("standing.until", f"must be in the future, and at most {MAX_SECONDS} s ahead")
        return until


def wished(question: Question, decision: Decision, wish: Wish, new_id: str) -> StandingAnswer | None:
    """Returns the standing answer that an approver of the question asked for; None if the decision approves no
    action."""
    action = question.approved_by(decision)
    if action is None:
        return None
    return StandingAnswer(
        workspace=question.workspace,
        id=new_id,
        agent=question.agent,
        tool=action.tool,
        by=decision.by,
        since=decision.at,
        until=wish.until,
        times=wish.times,
        task_id=question.task_id,
        question_id=question.id,
        digest=action.digest if wish.only_these else None,
        arguments=action.arguments if wish.only_these else None,
        tool_version=action.tool_version,
        agent_version=wish.agent_version,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class LastRefusal:
    """The last action of an agent's tool that people refused, or whose approval they took back. ``tool``: in one of its
    spellings, which share one refusal. ``digest``: that of the action's values (``Action.values_digest``); None for any
    action. ``question_id``: None if nobody has. ``version``: that of any action rises with each standing answer, too:
    so none begins beside a refusal that doesn't know of it."""

    agent: str
    tool: str
    changed_at: datetime
    digest: str | None = None
    question_id: str | None = None
    version: int = 0

    def next(self, now: datetime, question_id: str | None) -> LastRefusal:
        return replace(self, changed_at=now, question_id=question_id, version=self.version + 1)


@dataclass(frozen=True, slots=True)
class Refusals:
    """The last refusals that standing answers for some actions of one agent's tool have to be newer than. ``last``: by
    the digest of the action's values; under None for any."""

    last: dict[str | None, LastRefusal]

    def about(self, wish: Wish, action: Action) -> LastRefusal:
        """Returns the last refusal of an action that the standing answer would approve. ``action``: of the question."""
        return self.last[action.values_digest if wish.only_these else None]

    def let_begin(self, decision: Decision, action: Action) -> bool:
        """True if no such action was refused since the person asked for the standing answer. Refusals are compared by
        their questions, as the clocks of processes differ. They are forgotten once every earlier wish has ended."""
        wish = decision.wish
        return wish is not None and self.about(wish, action).question_id in (None, wish.after_refusal)

    def with_begun(self, now: datetime) -> LastRefusal:
        """Returns what is saved with standing answers that begin."""
        return self.last[None].next(now, self.last[None].question_id)

    def with_refused(self, now: datetime, question_id: str) -> tuple[LastRefusal, ...]:
        """Returns what is saved with a refusal of all these actions."""
        return tuple(each.next(now, question_id) for each in self.last.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class LastApproval:
    """Names a question of an agent's tool that was approved, to compare the next ones with."""

    agent: str
    tool: str
    task_id: str
    question_id: str

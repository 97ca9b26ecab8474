"""A question that a worker asks people, and the answers to it (docs/spec/questions.md). Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from baton.domain import errors, times
from baton.domain.access.principal import Principal
from baton.domain.access.rights import Deed
from baton.domain.canonical_json import digest_of, digest_of_values
from baton.domain.questions.approvers import Approvers, Groups, are_met, may_decide, must_let_decide
from baton.domain.questions.form import check_filled
from baton.domain.questions.name_warnings import NameWarning

# Of one task at once, and in all.
MAX_OPEN, MAX_OF_TASK = 10, 100
MAX_OPTIONS = 20


class QuestionKind(StrEnum):
    TEXT = "text"  # answered in words
    CHOICE = "choice"  # answered with one of its options
    FORM = "form"  # answered with a document of its JSON Schema
    ACTION = "action"  # approved or refused


class Outcome(StrEnum):
    """What has become of a question. An expiry is neither a yes nor a no."""

    OPEN = "open"
    ANSWERED = "answered"
    APPROVED = "approved"
    REFUSED = "refused"
    EXPIRED = "expired"
    REVOKED = "revoked"  # a human took the approval back before it was used
    WITHDRAWN = "withdrawn"  # its task has ended, or another claim has taken the place of who asked


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """What a worker wants to do. What is approved is its digest. ``call_id``: of the call, if a model asks by it;
    ``tool_version``: the tool's then. ``handoff``: for a handoff tool, what its target gets besides the
    arguments."""

    tool: str
    arguments: dict[str, Any]
    why: str = ""
    call_id: str | None = None
    tool_version: int | None = None
    handoff: dict[str, Any] | None = None

    @property
    def digest(self) -> str:
        """SHA-256 of the canonical JSON of tool and arguments: why it is done isn't part of what is done."""
        return digest_of({"arguments": self.arguments, "tool": self.tool})

    @property
    def values_digest(self) -> str:
        """The digest of its arguments that every spelling of them has. A receipt is for ``digest`` alone."""
        return digest_of_values(self.arguments)

    def with_arguments(self, arguments: dict[str, Any]) -> Action:
        return replace(self, arguments=arguments)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """The standing answer that a person asks for with their approval. The approval of the question makes it.
    ``only_these``: for the same arguments alone. ``after_refusal``: the last refusal of such an action before it, by
    its question (``LastRefusal``); None without one, and for a wish of an earlier release. ``agent_version``: of the
    agent as the person has seen it; 0 for a wish of an earlier release."""

    only_these: bool
    until: datetime
    times: int
    after_refusal: str | None = None
    agent_version: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What one person has decided. ``digest``: of the action that they approved. ``reason``: of a refusal, or of taking
    an approval back. ``wish``: None once the question is closed."""

    by: str  # the human's name
    at: datetime
    outcome: Outcome
    digest: str | None = None
    arguments: dict[str, Any] | None = None  # those that were approved in place of what was asked
    answer: Any = None
    reason: str | None = None
    standing: str | None = None  # the standing answer that gave it, or that began with it
    wish: Wish | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """``asked_by``: the principal's key; ``asker_made_by``: of the person who made its token, if known; ``fence``: of
    the claim that it was asked under. ``until``: it expires then. ``by_rule``: rules of the settings have set
    ``approvers`` and ``further``, which all have to be met. ``used_at``: when the action that was approved was begun,
    once. ``asked_digest``: of all that the worker sent (``Asked``); None for a question of an earlier release.
    ``asked_as``: the agent's ``service_version`` when it asked for an action; 0 for a question of an earlier
    release."""

    workspace: str
    id: str
    task_id: str
    kind: QuestionKind
    text: str
    asked_by: str
    agent: str
    fence: int
    asked_at: datetime
    until: datetime
    approvers: Approvers
    further: tuple[Approvers, ...] = ()
    by_rule: bool = False
    warnings: tuple[NameWarning, ...] = ()  # about the names in the action
    options: tuple[str, ...] = ()
    schema: dict[str, Any] | None = None
    action: Action | None = None
    decisions: tuple[Decision, ...] = ()
    outcome: Outcome = Outcome.OPEN
    used_at: datetime | None = None
    asked_digest: str | None = None
    asker_made_by: str | None = None
    asked_as: int = 0
    version: int = 1

    @property
    def is_open(self) -> bool:
        return self.outcome is Outcome.OPEN

    @property
    def all_approvers(self) -> tuple[Approvers, ...]:
        return (self.approvers, *self.further)

    def may_be_decided_by(self, by: Principal, groups: Groups) -> bool:
        return may_decide(self.all_approvers, by, groups)

    def is_hopeless(self, groups: Groups) -> bool:
        """True if too few people are left who may decide."""
        return any(each.is_hopeless(groups) for each in self.all_approvers)

    def must_be_seen(self, digest: str | None) -> None:
        """Raises ``InvalidInput`` for who has seen another action."""
        if self.action is not None and digest != self.action.digest:
            raise errors.InvalidInput("digest", "must be that of the action as you have seen it")

    def said(self) -> dict[str, Any]:
        """What the worker is told: what has become of it, and of what people said the word that counts. Of an expiry
        none does: too few have said it."""
        is_decided = self.outcome not in (Outcome.OPEN, Outcome.EXPIRED, Outcome.WITHDRAWN)
        last = self.decisions[-1] if self.decisions and is_decided else None
        told = {} if last is None else {"answer": last.answer, "reason": last.reason, "arguments": last.arguments}
        told |= {} if self.approved_digest is None else {"digest": self.approved_digest}
        kept = {name: value for name, value in told.items() if value is not None}
        return {"question_id": self.id, "outcome": str(self.outcome), **kept}

    @property
    def approving(self) -> tuple[tuple[str, datetime], ...]:
        """The names of the people who gave its approval, each with the time of their decision."""
        digest = self.approved_digest
        return tuple((each.by, each.at) for each in self.decisions if digest and each.digest == digest)

    def wishes(self, groups: Groups) -> tuple[Decision, ...]:
        """Returns the approvals that count for its approval and ask for a standing answer."""
        digest = self.approved_digest
        given = (each for each in self.decisions if each.wish is not None and digest and each.digest == digest)
        return tuple(each for each in given if any(of.counts(each.by, groups) for of in self.all_approvers))

    def with_standing(self, begun: Mapping[str, str]) -> Question:
        """Returns the question with the standing answers that its approval makes. ``begun``: their ids, by the giver's
        name."""
        decisions = (replace(each, standing=begun.get(each.by, each.standing)) for each in self.decisions)
        return replace(self, decisions=tuple(decisions))

    @property
    def deed(self) -> Deed:
        return Deed.DECIDE_ACTION if self.kind is QuestionKind.ACTION else Deed.ANSWER

    @property
    def approved_digest(self) -> str | None:
        """What may be done, once; None without an approval."""
        last = self.decisions[-1] if self.outcome is Outcome.APPROVED else None
        return last.digest if last is not None else None

    def approved_by(self, decision: Decision) -> Action | None:
        """Returns the action that the decision approves; None if it approves none."""
        if self.action is None or decision.digest is None:
            return None
        return self.action if decision.arguments is None else self.action.with_arguments(decision.arguments)

    @property
    def approved_arguments(self) -> dict[str, Any] | None:
        """The arguments of ``approved_digest``; None without an approval."""
        approved = None if self.approved_digest is None else self.approved_by(self.decisions[-1])
        return None if approved is None else approved.arguments

    @property
    def values_digests(self) -> frozenset[str]:
        """Of the action as it was asked for, and as it was approved: its refusal or revocation is of both."""
        last = self.decisions[-1] if self.outcome is Outcome.APPROVED else None
        approved = None if last is None else self.approved_by(last)
        return frozenset(each.values_digest for each in (self.action, approved) if each is not None)

    def expired(self, now: datetime) -> Question:
        """Returns the question as it is once its time is over."""
        return replace(self, outcome=Outcome.EXPIRED) if self.is_open and now >= self.until else self

    def lapsed(self) -> Question:
        """Returns the question that has expired, as it is stored from then on."""
        return self._next(outcome=Outcome.EXPIRED) if self.is_open else self

    def withdrawn(self) -> Question:
        return self._next(outcome=Outcome.WITHDRAWN) if self.is_open else self

    def decided(
        self, by: Principal, decision: Decision, groups: Groups, former: frozenset[str] = frozenset()
    ) -> Question:
        """Returns the question with one decision more. A refusal ends it, whoever else approved; of an approval as many
        as are needed have to be for one digest. ``former``: names of people without the right to decide: their earlier
        decisions end. Raises ``QuestionOver``, ``NotAsked`` and ``InvalidInput``."""
        if not self.is_open or decision.at >= self.until:
            raise errors.QuestionOver(self.id, self.expired(decision.at).outcome)
        must_let_decide(self.all_approvers, by, groups, self.id)
        self._must_fit(decision)
        # Who decides again has changed their mind; who has approved other arguments has approved something else.
        kept = tuple(each for each in self.decisions if each.by not in {by.id, *former})
        after = self._next(decisions=(*kept, decision))
        if decision.outcome is Outcome.REFUSED:
            return replace(after, outcome=Outcome.REFUSED)
        alike = [each.by for each in after.decisions if _means(each) == _means(decision)]
        return replace(after, outcome=decision.outcome) if are_met(self.all_approvers, alike, groups) else after

    def revoked(self, decision: Decision) -> Question:
        """Returns the question whose approval allows nothing any more. Raises ``QuestionOver`` unless it is approved,
        and wasn't used."""
        if self.outcome is not Outcome.APPROVED or self.used_at is not None:
            raise errors.QuestionOver(self.id, "used" if self.used_at else self.expired(decision.at).outcome)
        return self._next(outcome=Outcome.REVOKED, decisions=(*self.decisions, decision))

    @property
    def standing_answers(self) -> tuple[str, ...]:
        """Ids of the standing answers that its approval rests on."""
        given = (each for each in self.decisions if each.digest == self.approved_digest)
        return tuple(each.standing for each in given if each.standing is not None)

    def used(self, digest: str, agent: str, now: datetime) -> Question:
        """Returns the question whose action is begun, by whoever holds the task for the agent that asked: a task that
        waited comes back under another fence. Raises ``ReceiptRefused`` as ``must_allow`` does, and for what was used
        before."""
        if self.used_at is not None:
            at = times.rfc3339(self.used_at)
            why = f"it was used before, at {at} by {self.agent}: the action may have been executed already"
            raise errors.ReceiptRefused(self.id, why, used_at=at)
        self.must_allow(digest, agent, now)
        return self._next(used_at=now)

    def must_allow(self, digest: str, agent: str, now: datetime) -> None:
        """Raises ``ReceiptRefused`` for whatever was not approved, not for this agent, or not any more. ``digest``: of
        the action that the agent is about to begin."""
        if self.outcome is not Outcome.APPROVED:
            raise errors.ReceiptRefused(self.id, f"it is {self.outcome}")
        if agent != self.agent:
            raise errors.ReceiptRefused(self.id, "another agent asked")
        if now >= self.until:
            raise errors.ReceiptRefused(self.id, "its time is over")
        if digest != self.approved_digest:
            raise errors.ReceiptRefused(self.id, "another digest was approved, its approved_digest")
        approved = self.approved_by(self.decisions[-1])
        if approved is None or approved.digest != digest:
            raise errors.ReceiptRefused(self.id, "the stored arguments differ from the approved digest")

    def _next(self, **values: Any) -> Question:
        return replace(self, version=self.version + 1, **values)

    def _must_fit(self, decision: Decision) -> None:
        is_action = self.kind is QuestionKind.ACTION
        wanted = {Outcome.REFUSED, Outcome.APPROVED if is_action else Outcome.ANSWERED}
        if decision.outcome not in wanted:
            raise errors.InvalidInput("outcome", f"must be {' or '.join(sorted(wanted))}")
        if is_action and decision.outcome is Outcome.APPROVED and not decision.digest:
            raise errors.InvalidInput("digest", "must be of what is approved")
        if decision.outcome is Outcome.REFUSED and not decision.reason:
            raise errors.InvalidInput("reason", "must say why it is refused")
        is_choice = self.kind is QuestionKind.CHOICE and decision.outcome is Outcome.ANSWERED
        if is_choice and decision.answer not in self.options:
            raise errors.InvalidInput("answer", "must be one of the options")
        if decision.outcome is Outcome.ANSWERED and self.schema is not None:
            check_filled(self.schema, decision.answer)
        if decision.outcome is Outcome.ANSWERED and decision.answer in (None, ""):
            raise errors.InvalidInput("answer", "is required")


def _means(decision: Decision) -> tuple[Outcome, str | None, str]:
    return decision.outcome, decision.digest, digest_of(decision.answer)

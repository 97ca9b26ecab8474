"""What a worker asks people, and what they say (docs/spec/questions.md)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from api.handoffs import requests
from baton.domain.questions.approvers import MAX_NEEDED, MAX_PEOPLE
from baton.domain.questions.question import MAX_OPEN, MAX_OPTIONS, Outcome, QuestionKind
from baton.domain.questions.standing_answer import DEFAULT_TIMES, MAX_TIMES, Standing
from baton.services.questions.answer_question import Answer
from baton.services.questions.ask_question import Asked
from rest import models

Digest = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


class Asking(models.Body):
    """``text``: the question, or why the action is to be done. ``tool`` and ``arguments``: of an action; what is
    approved is their digest. ``people``, ``group``: who may answer; left out, any human but who asks. ``needed``: how
    many of them. ``not_author``: nor the human who made the handoff. ``until``: a day ahead if left out, at most 30
    days."""

    claim_id: models.Id
    kind: Literal["text", "choice", "form", "action"]
    text: requests.Text
    options: Annotated[tuple[requests.Line, ...], models.few(MAX_OPTIONS)] = ()
    form: dict[str, Any] | None = None
    tool: requests.Name | None = None
    arguments: dict[str, Any] = Field(default_factory=dict)
    people: Annotated[tuple[requests.Name, ...], models.few(MAX_PEOPLE)] = ()
    group: requests.Name | None = None
    needed: Annotated[int, Field(ge=1, le=MAX_NEEDED)] = 1
    not_author: bool = False
    until: models.Instant | None = None

    def asked(self) -> Asked:
        given = self.model_dump(exclude={"claim_id", "kind", "form"})
        return Asked(**given, kind=QuestionKind(self.kind), schema=self.form)


class StandingRequest(models.Body):
    """``for``: later actions of the same agent and tool with these `arguments`, or any of this `tool`. ``until``: an
    hour ahead if left out, at most 7 days. ``times``: how many actions it approves. It begins when the question is
    approved."""

    for_: Literal["arguments", "tool"] = Field(alias="for")
    until: models.Instant | None = None
    times: Annotated[int, Field(ge=1, le=MAX_TIMES)] = DEFAULT_TIMES

    def given(self, agent_version: int | None) -> Standing:
        only_these = self.for_ == "arguments"
        return Standing(only_these=only_these, until=self.until, times=self.times, agent_version=agent_version)


class Answering(models.Body):
    """``outcome``: ``approved`` an action, ``answered`` a question, or ``refused`` it with a ``reason``. ``digest``: of
    the action as it was seen. ``arguments``: those that are approved in place of what was asked. ``standing``: the
    approval is for later actions, too. ``agent_version``: the ``version`` of the agent, once the person has looked at
    it. Needed beside ``standing`` if a service or a member has changed the agent since the question came."""

    outcome: Literal["approved", "answered", "refused"]
    digest: Digest | None = None
    arguments: dict[str, Any] | None = None
    answer: Any = None
    reason: models.Reason | None = None
    standing: StandingRequest | None = None
    agent_version: requests.Positive | None = None

    def given(self) -> Answer:
        given = self.model_dump(exclude={"outcome", "standing", "agent_version"})
        standing = self.standing.given(self.agent_version) if self.standing else None
        return Answer(**given, outcome=Outcome(self.outcome), standing=standing)


class Revoking(models.Body):
    reason: models.Reason


class Using(models.Body):
    claim_id: models.Id
    digest: Digest


class Waiting(models.Body):
    claim_id: models.Id
    questions: Annotated[tuple[models.Id, ...], models.few(MAX_OPEN)]

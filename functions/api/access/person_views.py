"""People, and their approvals, as JSON. docs/openapi.json is made of these types."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict

from api.access.views import RightName
from baton.domain.access.resting_approval import RestingApproval
from baton.services.access.end_approvals import PersonState
from rest import pages
from rest.shape import ViewShape

RestingKindName = Literal["change", "agent", "tool", "standing_answer", "question", "action", "handoff", "ready_work"]


class RestingApprovalView(TypedDict):
    """``kind``: `change`, a pending change that the person asked for or approved; `agent` and `tool`, a standing
    approval; `standing_answer`; `question`, a vote on an open question or action; `action`, an unused approval;
    `handoff`, a vote on a handoff that waits for more of them; `ready_work`, an approval of ready work that rules hold
    back from an agent. ``name``: of the agent or the tool. ``at``: null for an approval of an earlier release.
    ``counts``: false once it has ended."""

    kind: RestingKindName
    at: str | None
    counts: bool
    name: str | None
    task_id: str | None
    question_id: str | None
    standing_id: str | None
    change_id: str | None


class PersonView(TypedDict):
    """``right``: null without a valid token. ``approvals_ended_at``: the person's approvals until then don't count;
    null if no administrator has ended them."""

    person: str
    right: RightName | None
    approvals_ended_at: str | None


RestingApprovalPage = pages.of("RestingApprovalPage", RestingApprovalView)
_APPROVAL = ViewShape(RestingApprovalView, RestingApproval)
_PERSON = ViewShape(PersonView, PersonState)


def resting_approval_view(approval: RestingApproval) -> RestingApprovalView:
    return _APPROVAL(approval)


def person_view(state: PersonState) -> PersonView:
    return _PERSON(state)

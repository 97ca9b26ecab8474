"""Tasks as JSON (docs/spec/lifecycle.md §8). docs/openapi.json is made of these types."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from baton.domain import times
from baton.domain.access.principal import Principal
from baton.domain.questions.approval import Need, TaskApproval
from baton.domain.questions.approvers import Approvers
from baton.domain.rights.read_rights import may_see_rules
from baton.domain.runs.transcript import Usage
from baton.domain.tasks.task import Branch, Claim, Kind, Recovery, Task, Wait
from baton.domain.tracker.page_sync import PageSync
from baton.ports.deps import Deps
from baton.ports.details import TaskDetails
from baton.steps.questions.handoff_rules import givers_for, groups_of, held_from
from rest import pages
from rest.shape import ViewShape, json_form
from rest.tasks import outcome_views

StateName = Literal["needs", "delegated", "next", "claimed", "waiting", "done", "failed", "rejected", "cancelled"]
KindName = Literal["escalation", "transfer", "delegation", "rollback", "continuation", "retry"]


class ClaimView(TypedDict):
    fence: int
    agent: str
    worker: str
    claimed_at: str
    heartbeat_at: str
    expires_at: str


class RecoveryView(TypedDict):
    """Why a task came back."""

    at: str
    reason: str
    prior_agent: str
    prior_worker: str
    prior_fence: int
    last_checkpoint_id: str | None
    action: str


class TrackerView(TypedDict):
    """The task's page in the tracker. ``status``: ``ok`` once the page shows the task; ``pending``, ``denied`` and
    ``error`` are retried; ``dead`` waits for POST /tracker/retry. ``message``: the problem, or the parts that the page
    had to be created without."""

    page_id: str | None
    url: str | None
    status: Literal["ok", "pending", "denied", "error", "dead"]
    message: str


class BranchView(TypedDict):
    call_id: str
    task_id: str


# The field's name is a keyword of Python.
_For = TypedDict("_For", {"for": Literal["branches", "callback", "answers"]})


class WaitView(_For):
    """The wait of a task. ``branches``, ``policy``, ``quorum``: of a delegation; ``interaction_id``, ``until``: of a
    callback; ``questions``: those that people have to answer. ``number``: counts the task's waits from 1."""

    number: int
    since: str
    until: str | None
    policy: Literal["all", "any", "quorum"] | None
    quorum: int | None
    branches: list[BranchView]
    interaction_id: str | None
    questions: list[str]


class GivenView(TypedDict):
    """``use``: `dispatch` or `next`."""

    by: str
    use: str


class RuleView(TypedDict):
    """The requirement of one rule. ``people``, ``group``, ``wider``: the people that may approve; without any of them
    any human but ``never``. ``needed``: how many of them."""

    people: list[str]
    group: str | None
    wider: str | None
    needed: int
    never: list[str]
    remind_at: str | None
    then_group: str | None
    then_at: str | None


class NeededApproval(RuleView):
    """The requirements of approval rules before the task is approved. ``further``: the requirements of the second and
    later rules, which all have to be met. ``given``: who has approved; one approval counts for every rule that names
    its giver."""

    further: list[RuleView]
    given: list[GivenView]


class HeldView(TypedDict):
    """A rule that holds a ready task back from agents that would take it. ``agents``: the first 20 of them.
    ``agent``: the first one. ``agent_count``: the number of all. ``people``, ``group``: who may approve it for these
    agents, with POST /tasks/{id}/approve; without both any human but ``never``. ``needed``: how many of them;
    ``given``: which of them have approved."""

    agent: str
    agents: list[str]
    agent_count: int
    people: list[str]
    group: str | None
    needed: int
    never: list[str]
    given: list[str]


class ListedTask(TypedDict):
    """A task in a list: without its output, failure and recoveries. ``target_agent``: null for open work.
    ``source_agent``: a slug, or the principal if it is no agent (``human:alice``). ``created_by``: the principal that
    asked for it, as a service does for an agent. ``tracker``: null if the task was created while there was no tracker.
    ``digest``: of what it asks for, as a human who decides sends it back; null for a task of an earlier release.
    ``approval``: the requirements of the settings' rules; null: any human's approval. ``held``: the rules that hold
    this ready task back from an agent; other agents may claim it. Agents, and services without `act_as`, see neither:
    null and empty. ``labels``: the handoff's first ones, as ``name=value``, at most 256 bytes of them; none of a task
    of an earlier release. ``join_parent``: the task that waits for this one's branch; ``successors``: the tasks that
    continue it; ``retry_of``: the task that it retries."""

    id: str
    kind: KindName
    state: StateName
    title: str
    source_agent: str
    target_agent: str | None
    work_type: str | None
    priority: Literal["P0", "P1", "P2"]
    effort: str | None
    labels: list[str]
    created_at: str
    created_by: str
    updated_at: str
    ready_at: str | None
    not_before: str | None
    deferred_until: str | None
    due_date: str | None
    deadline: str | None
    attempt: int
    max_attempts: int
    version: int
    revision: int
    digest: str | None
    handoff_id: str
    master_task_id: str
    parent_id: str | None
    join_parent: str | None
    retry_of: str | None
    successors: list[str]
    workflow_id: str
    depth: int
    flags: list[str]
    approval: NeededApproval | None
    held: list[HeldView]
    wait: WaitView | None
    claim: ClaimView | None
    tracker: TrackerView | None
    url: str


class ChangedTask(ListedTask):
    """The task after a change: without its recoveries."""

    output: Any
    failure: outcome_views.FailureView | None


class CompletedTask(ChangedTask):
    """The task, and the record of its completion."""

    completion_id: str
    completion: outcome_views.CompletionView


class FailedTask(ChangedTask):
    """The task, and the follow-up of its failure. ``checkpoint_id``: of the partial progress, if there was any;
    ``rollback``: null while it is retried, or if no agent is to be told."""

    failure_id: str
    checkpoint_id: str | None
    rollback: outcome_views.FollowUpView | None


class TaskView(ChangedTask):
    """The task with its recoveries."""

    recoveries: list[RecoveryView]


class UsageView(TypedDict):
    """``model_calls``: calls that were begun, except those for which the provider was unavailable."""

    model_calls: int
    input_tokens: int
    output_tokens: int


class InputView(TypedDict):
    message: str


class EarlierTaskView(TypedDict):
    """An earlier task of a conversation, whose transcript a later task gets. ``turns``: its last turn, 0 if no model
    had one, 1000000 for all of them in a handoff of an earlier release; ``since``: the first one, left out for all from
    the beginning. ``agent``: left out if it isn't known. ``GET /conversations/{conversation_id}/messages`` has the
    texts."""

    task_id: str
    agent: NotRequired[str]
    turns: int
    since: NotRequired[int]


class WholeTask(TaskView):
    """The whole task, with its usage. ``input``: the user's message, null outside of conversations. ``context``: as it
    was handed over."""

    input: InputView | None
    context: dict[str, Any] | None
    usage: UsageView


class AwaitedTask(TaskView):
    timed_out: bool


# The most agents that one requirement of a held task names.
AGENTS_NAMED = 20
TaskPage = pages.of("TaskPage", ListedTask)
_LISTED = ViewShape(ListedTask, Task, "kind updated_at version wait claim tracker url approval held labels")
_RULE = ViewShape(RuleView, Need, "people group wider needed never")
_HELD = ViewShape(HeldView, Approvers, "agent agents agent_count given")
_WAIT = ViewShape(WaitView, Wait, "for policy branches")
_BRANCH = ViewShape(BranchView, Branch)
_RECOVERY = ViewShape(RecoveryView, Recovery)
claim_view = ViewShape(ClaimView, Claim)
usage_view = ViewShape(UsageView, Usage)


def approval_view(approval: TaskApproval) -> NeededApproval:
    first, *further = map(_rule_view, approval.needs)
    given: list[GivenView] = [{"by": each.by, "use": each.what.partition(" ")[0]} for each in approval.given]
    return {**first, "further": further, "given": given}


def _rule_view(need: Need) -> RuleView:
    return _RULE(need, **_approvers(need.approvers))


def _approvers(approvers: Approvers) -> dict[str, Any]:
    names = ("people", "group", "wider", "needed", "never")
    return {name: json_form(getattr(approvers, name)) for name in names}


def held_view(deps: Deps, by: Principal, task: Task) -> list[HeldView]:
    """Returns each requirement once, for any number of agents. Reads like ``held_from``."""
    held = held_from(deps, task)
    if not held or not may_see_rules(by):
        return []
    groups = groups_of(deps, task)
    same: dict[tuple[Approvers, tuple[str, ...]], list[str]] = {}
    for slug, approvers in held.items():
        givers = givers_for(deps, task, slug)
        for each in approvers:
            given = tuple(sorted(name for name in givers if each.counts(name, groups)))
            same.setdefault((each, given), []).append(slug)
    return [
        _HELD(each, agent=slugs[0], agents=slugs[:AGENTS_NAMED], agent_count=len(slugs), given=list(given))
        for (each, given), slugs in same.items()
    ]


def listed_task(deps: Deps, by: Principal, details: TaskDetails) -> ListedTask:
    task, row = details.task, details.page_sync
    return _LISTED(
        task,
        kind=Kind(task.kind).value,
        updated_at=times.rfc3339(task.meta.updated_at),
        labels=list(task.meta.labels),
        version=task.meta.version,
        wait=wait_view(task.wait) if task.wait else None,
        claim=claim_view(task.claim) if task.claim else None,
        tracker=tracker_view(row) if row else None,
        approval=approval_view(task.approval) if task.approval and may_see_rules(by) else None,
        held=held_view(deps, by, task),
        url=deps.task_url(task.id),
    )


def changed_task(deps: Deps, by: Principal, details: TaskDetails) -> ChangedTask:
    """Returns the task with its output and failure. A task that ended as done shows no failure of an earlier
    attempt."""
    failure: Any = None if details.task.is_done else details.why
    return {**listed_task(deps, by, details), "output": details.output, "failure": failure}


def completed_task(deps: Deps, by: Principal, details: TaskDetails) -> CompletedTask:
    completion: Any = details.completion
    return {
        **changed_task(deps, by, details),
        "completion_id": completion["completion_id"],
        "completion": completion,
    }


def failed_task(deps: Deps, by: Principal, details: TaskDetails) -> FailedTask:
    record: Any = details.failure
    return {
        **changed_task(deps, by, details),
        "failure_id": record["failure_id"],
        "checkpoint_id": record["checkpoint_id"],
        "rollback": record.get("rollback"),
    }


def task_view(deps: Deps, by: Principal, details: TaskDetails) -> TaskView:
    return {**changed_task(deps, by, details), "recoveries": recovery_views(details.recoveries)}


def whole_task(deps: Deps, by: Principal, details: TaskDetails, usage: Usage) -> WholeTask:
    body = details.body or {}
    return {
        **task_view(deps, by, details),
        "input": body.get("input"),
        "context": body.get("context"),
        "usage": usage_view(usage),
    }


def tracker_view(row: PageSync) -> TrackerView:
    return {
        "page_id": row.page.id if row.page else None,
        "url": row.page.url if row.page else None,
        "status": row.status.value,
        "message": row.message,
    }


def wait_view(wait: Wait) -> WaitView:
    return _WAIT(
        wait,
        **{"for": wait.what},
        policy=wait.policy.value if wait.branches else None,
        branches=list(map(_BRANCH, wait.branches)),
    )


def recovery_views(recoveries: Iterable[Recovery]) -> list[RecoveryView]:
    return list(map(_RECOVERY, recoveries))


def when(at: datetime | None) -> str | None:
    return None if at is None else times.rfc3339(at)

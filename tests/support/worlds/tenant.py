"""A fresh workspace on the deployed stack: its principals, and the steps with which most tests begin."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from baton.domain.access.principal import ACT_AS, Principal, PrincipalKind
from baton.domain.agents.agent import Runtime
from baton.domain.priority import Priority
from baton.domain.task_state import State
from baton.domain.tasks.task import Task, TaskMeta
from baton.domain.tasks.trail import Event, replay
from baton.domain.tasks.transitions import Dispatch, create
from baton.domain.times import parse_rfc3339
from baton.services.access.change_settings import change_settings
from baton.services.access.issue_token import TokenRequest, issue_token
from baton.services.agents.register_agent import register_agent
from support.values.changes import with_body
from support.worlds.deployed import CANARY, Client, Deployed
from tools.admin.baton_admin import bootstrap

AGENTS: dict[str, dict[str, Any]] = {
    "scout": {"name": "Client Health Scout"},
    "reviewer": {"name": "Release Reviewer"},
    "runner": {"name": "Repo Runner", "runtime": Runtime.RUN},
}


@dataclass
class Tenant:
    """``scout`` watches and hands over, ``reviewer`` pulls its work, ``runner`` is run by process-task. ``sources``:
    further agents, for further directions towards a target."""

    deployed: Deployed
    name: str
    human: Client
    service: Client
    scout: Client
    reviewer: Client
    runner: Client
    sources: list[str]

    # Steps over HTTP

    def mark(self, by: Client | None = None, *, key: str | None = None, **changes: Any) -> dict[str, Any]:
        """Returns the answer to a marker, sent by the scout unless another agent is named."""
        answer: dict[str, Any] = (by or self.scout).post("/handoff-markers", marker_body(**changes), key=key)
        return answer

    def needing(self, target: str = "reviewer", **changes: Any) -> str:
        """Returns a task that waits for a human's approval."""
        return task_of(self.mark(target_agent=target, **changes))

    def approved(self, target: str = "reviewer", **changes: Any) -> str:
        """Returns a task that a human asked for directly."""
        return task_of(self.mark(self.human, target_agent=target, **changes))

    def claimed(self, worker: str = "w-1", lease_seconds: int = 300, **changes: Any) -> dict[str, Any]:
        """Returns the reviewer's claim on a new task."""
        return self.claim(self.approved(**changes), worker, lease_seconds)

    def claim(self, task_id: str, worker: str = "w-1", lease_seconds: int = 300) -> dict[str, Any]:
        body = {"worker": worker, "lease_seconds": lease_seconds}
        claim: dict[str, Any] = self.reviewer.post(f"/tasks/{task_id}/claim", body)
        return claim

    # What is there

    def task(self, task_id: str) -> dict[str, Any]:
        task: dict[str, Any] = self.human.get(f"/tasks/{task_id}")
        return task

    def awaited(self, task_id: str, state: str = "ended") -> dict[str, Any]:
        """Returns the task once it is in the state."""
        for _ in range(3):  # a busy machine may need more than one poll
            task: dict[str, Any] = self.human.get(f"/tasks/{task_id}/await?state={state}&timeout=20")
            if not task["timed_out"]:
                return task
        raise AssertionError(task)

    def events(self, task_id: str) -> list[dict[str, Any]]:
        events: list[dict[str, Any]] = self.human.get(f"/tasks/{task_id}/events?limit=100")["events"]
        return events

    def trail(self, task_id: str) -> list[str]:
        return [event["type"] for event in self.events(task_id)]

    def replayed(self, task_id: str) -> dict[str, Any]:
        """Checks that the trail's chain is whole. Returns state, fence and attempt as the trail tells them."""
        task = replay(map(event_of, self.events(task_id)))
        return {"state": str(task.state), "fence": task.fence, "attempt": task.attempt}

    # In this process, on the stack's table: no notice is sent

    def principal(self, kind: PrincipalKind, name: str) -> Principal:
        return Principal(self.name, kind, name, frozenset() if kind is PrincipalKind.AGENT else frozenset({ACT_AS}))

    def unrung(self, count: int, target: str, priority: Priority = Priority.P1) -> list[str]:
        """Makes ``count`` approved tasks without notices. They are delegations, which no breaker counts."""
        by, deps = self.principal(PrincipalKind.HUMAN, "alice"), self.deployed.deps
        agent, settings = deps.store.agents.dispatch_inputs(self.name, target)
        assert agent is not None
        made = []
        for _ in range(count):
            now = deps.clock.now()
            task_id = deps.ids.new("task", now)
            new = Task(
                workspace=self.name,
                id=task_id,
                state=State.NEEDS,
                title=f"Work {CANARY}",
                kind="delegation",
                source_agent="scout",
                target_agent=target,
                priority=priority,
                handoff_id=deps.ids.new("ho", now),
                master_task_id=task_id,
                workflow_id=deps.ids.new("wf", now),
                created_at=now,
                created_by=by.key,
                meta=TaskMeta(updated_at=now),
            )
            deps.store.commit(self.name, with_body(create(new, by, now, Dispatch(agent, settings)), {"text": CANARY}))
            made.append(task_id)
        return made

    def notice(self, task_id: str, agent: str = "runner") -> dict[str, str]:
        return {"workspace": self.name, "agent": agent, "task_id": task_id}

    def age(self, task_id: str, seconds: float) -> None:
        self.deployed.age(self.name, task_id, seconds)


Workspaces = Callable[..., Tenant]


def new_workspace(deployed: Deployed, *, sources: int = 0, **settings: Any) -> Tenant:
    """Returns a workspace without undo windows, unless ``settings`` say otherwise."""
    deps, name = deployed.deps, f"w-{uuid4().hex[:10]}"
    made = bootstrap(deps, name, "alice", new_tokens=False, demo=False)
    human = Principal(name, PrincipalKind.HUMAN, "alice", frozenset({ACT_AS}))
    change_settings(deps, human, {"dispatch_delay_seconds": 0, **settings})
    others = {f"source-{number}": {"name": f"Source {number}"} for number in range(sources)}
    for slug, values in (AGENTS | others).items():
        register_agent(deps, human, slug, values)

    def speaker(kind: PrincipalKind, subject: str, scopes: frozenset[str] = frozenset()) -> Client:
        return deployed.client(issue_token(deps, human, TokenRequest(kind=kind, subject=subject, scopes=scopes))[1])

    return Tenant(
        deployed=deployed,
        name=name,
        human=deployed.client(made["tokens"]["human"]),
        service=speaker(PrincipalKind.SERVICE, "ci", frozenset({ACT_AS})),
        scout=speaker(PrincipalKind.AGENT, "scout"),
        reviewer=speaker(PrincipalKind.AGENT, "reviewer"),
        runner=speaker(PrincipalKind.AGENT, "runner"),
        sources=list(others),
    )


def marker_body(**changes: Any) -> dict[str, Any]:
    usual = {
        "source_agent": "scout",
        "target_agent": "reviewer",
        "escalation_reason": f"CI fails more often than last week {CANARY}",
        "source_digest_url": f"https://notes.example/digest/{CANARY}",
        "task_priority": "🟡 Medium",
    }
    return usual | changes


def task_of(answer: dict[str, Any]) -> str:
    """Returns the task that a marker must have made."""
    assert answer["task_created"], answer
    task_id: str = answer["task_id"]
    return task_id


def event_of(shown: dict[str, Any]) -> Event:
    told = {name: shown[name] for name in ("seq", "type", "fence", "data", "prev_hash", "hash")}
    by = shown["principal"]
    return Event(at=parse_rfc3339(shown["at"]), principal_kind=by["kind"], principal_id=by["id"], **told)

"""Players of the handoff protocol: each step is taken in Baton and in the model."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from baton.domain.access.principal import Principal
from baton.domain.agents.agent import Approval
from baton.domain.handoffs.handoff_message import message_from
from baton.domain.tasks.calls import WorkerCall
from baton.domain.tasks.task import JoinRule, Policy
from baton.services.access.change_settings import change_settings
from baton.services.agents.register_agent import register_agent
from baton.services.claims.complete_task import CompletedWork, complete_task
from baton.services.claims.delegate_task import branch_from, delegate_task
from baton.services.claims.fail_task import FailedWork, fail_task, reject_task
from baton.services.claims.release_task import ReleasedWork, release_task
from baton.services.claims.renew_claim import renew_claim
from baton.services.claims.save_checkpoint import save_checkpoint
from baton.services.claims.transfer_task import transfer_task
from baton.services.claims.wait_for_callback import wait_for_callback
from baton.services.handoffs.create_handoff import CreateHandoff, create_handoff
from support.ids import CountingIds
from support.models.protocol_model import AUTO, BACKOFF, SLUGS, Expected, Model
from support.worlds.world import World, agent, human

WORKSPACES = ("acme", "globex")
# High limits, so that the loop guard doesn't interfere. It has tests of its own.
FAR = {"max_depth": 50, "max_handoffs_per_workflow": 500, "max_same_direction": 20, "ping_pong_window": 20}
FAILURE = {"type": "error", "description": "broke"}
CALLBACK_WAIT = timedelta(hours=1)
VERBS = (
    *("heartbeat", "checkpoint", "hand-off", "hand-off", "complete", "go-on", "fail", "fail", "fail-retry"),
    *("reject", "release", "transfer", "delegate", "delegate", "call"),
)


def other_than(slug: str | None, number: int) -> str:
    return [each for each in SLUGS if each != slug][number % 2]


class Players:
    def __init__(self) -> None:
        self.world = World()
        # The same ids in every run: hypothesis must be able to repeat what it found.
        self.deps = self.world.deps = replace(self.world.deps, ids=CountingIds())
        self.store, self.model = self.world.store, Model()
        self.claims: list[tuple[Expected, str, Principal]] = []
        self.tokens: list[tuple[Expected, int, str]] = []
        self.answered: dict[str, int] = {}
        self.told: dict[tuple[str, str], int] = {}
        self.said = 0
        for workspace in WORKSPACES:
            for slug in SLUGS:
                approval = Approval.AUTO if slug in AUTO else Approval.MANUAL
                register_agent(self.deps, human(workspace), slug, {"name": slug, "approval": approval})
            change_settings(self.deps, human(workspace), {**FAR, "root_handoffs_per_hour": 300})

    @property
    def now(self) -> datetime:
        return self.world.clock.now()

    def pick(self, number: int) -> Expected:
        return list(self.model)[number % len(self.model.tasks)]

    def word(self) -> str:
        self.said += 1
        return f"word {self.said}"

    def took(self, task: Expected, slug: str, claim_id: str, lease: int) -> None:
        task.took(slug, claim_id, lease, self.now)
        self.claims.append((task, claim_id, agent(slug, task.workspace)))

    def saw(self, workspace: str, task_id: str, *, by_human: bool, stays: bool = False, **values: Any) -> Expected:
        """Adds a new task to the model, with what was asked for. Only its place in the workflow is read from Baton."""
        task = self.store.tasks.load(workspace, task_id)[0]
        new = Expected(
            workspace,
            task_id,
            str(task.kind),
            task.source_agent,
            task.target_agent,
            task.workflow_id,
            task.parent_id,
            task.join_parent,
        )
        for name, value in values.items():
            assert getattr(new, name) == value, name
        return self.model.opened(new, self.now, by_human=by_human, stays=stays)

    def send(self, verb: str, task: Expected, claim_id: str, by: Principal, number: int) -> None:
        where, to = (by, task.id, claim_id), other_than(task.holder, number)
        going_on: dict[str, Any] = {"target": {"agent": to, "reason": self.word()}}
        match verb:
            case "heartbeat":
                renew_claim(self.deps, *where)
                task.extend(self.now)
            case "checkpoint":
                save_checkpoint(self.deps, WorkerCall(*where), "step", {"at": self.said})
                task.extend(self.now)
                task.releases = 0
            case "hand-off":
                message = {"source": {"agent": by.id}, **going_on}
                made = create_handoff(
                    self.deps, by, CreateHandoff(message=message_from(message), claim_id=claim_id)
                ).task
                task.extend(self.now)
                self.child(task, made.id, to)
            case "complete":
                complete_task(self.deps, self.call(where), CompletedWork(output={"ok": True}))
                task.end("done")
            case "go-on":
                wish = {"continuation": {"suggested_next": to, "reason": self.word()}}
                done = complete_task(self.deps, self.call(where), CompletedWork(output=None, completion=wish))
                self.child(task, (done.completion or {})["continuation"]["task_id"], to, kind="continuation")
                task.end("done")
            case "fail" | "reject" | "fail-retry":
                self.send_failure(verb, task, where, [None, "carl"][number % 2])
            case "release":
                release_task(self.deps, self.call(where), ReleasedWork())
                task.released(self.now)
            case "transfer":
                moved = transfer_task(self.deps, self.call(where), message_from(going_on)).task
                self.child(task, moved.successors[0], to, join_parent=task.join_parent)
                task.end("done")
                task.successors = list(moved.successors)
            case "delegate":
                policy = (Policy.ALL, Policy.ANY)[number % 3 == 0]
                branches = [{"call_id": str(each), **going_on} for each in range(1 + number % 2)]
                branches = [{**each, "target": {**each["target"], "reason": self.word()}} for each in branches]
                wait = delegate_task(
                    self.deps, self.call(where), list(map(branch_from, branches)), JoinRule(policy)
                ).task.wait
                made_ids = [branch.task_id for branch in wait.branches] if wait else []
                for branch in made_ids:
                    self.child(task, branch, to, kind="delegation", join_parent=task.id)
                task.waits_for(made_ids, str(policy), None)
            case _:
                _, token = wait_for_callback(self.deps, self.call(where), "interaction", self.now + CALLBACK_WAIT)
                task.waits_for([], "", self.now + CALLBACK_WAIT)
                self.tokens.append((task, task.waits, token))

    def call(self, where: tuple[Principal, str, str]) -> WorkerCall:
        return WorkerCall(*where, self.word())

    def send_failure(self, verb: str, task: Expected, where: tuple[Principal, str, str], back_to: str | None) -> None:
        wish = {"target_agent": back_to} if back_to else None
        if verb == "reject":
            record = reject_task(self.deps, self.call(where), "no", rollback_request=wish).failure or {}
        else:
            again = verb == "fail-retry"
            record = (
                fail_task(
                    self.deps, self.call(where), FailedWork(failure=FAILURE, retryable=again, rollback_request=wish)
                ).failure
                or {}
            )
            if again and task.attempt < 3:
                return task.give_back(self.now, BACKOFF[task.attempt])
        to = self.model.rolls_back(task, back_to)
        rolled = record.get("rollback", {}).get("task_id") if to else None
        if to is not None:
            assert rolled is not None
            self.child(task, rolled, to, kind="rollback", join_parent=task.join_parent)
            task.successors = [rolled] if task.join_parent else []
        return task.end("rejected" if verb == "reject" else "failed")

    def child(
        self, task: Expected, child: str, to: str, kind: str = "transfer", join_parent: str | None = None
    ) -> None:
        self.saw(
            task.workspace,
            child,
            by_human=False,
            kind=kind,
            source=task.holder,
            target=to,
            parent=task.id,
            workflow=task.workflow,
            join_parent=join_parent,
        )


def expecting(error: type[Exception] | None) -> AbstractContextManager[Any]:
    """A context that expects the error. Its value is true afterwards if the error was raised."""
    return _Refused(error) if error else nullcontext(())


class _Refused(AbstractContextManager["list[str]"]):
    def __init__(self, error: type[Exception]) -> None:
        self.error, self.met = error, ["not yet"]

    def __enter__(self) -> list[str]:
        return self.met

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> bool:
        assert kind is self.error, f"expected {self.error.__name__}, got {kind}"
        return True

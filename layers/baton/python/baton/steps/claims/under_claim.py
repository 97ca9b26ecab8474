"""What a worker does under its claim, which goes on: once for each idempotency key."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from baton.domain import errors
from baton.domain.idempotency import SavedResponse
from baton.domain.settings.settings import Settings
from baton.domain.tasks.calls import WorkerCall
from baton.domain.tasks.task import Claim, Task
from baton.ports.deps import Deps
from baton.ports.handoffs import HandoffInputs, HandoffQuery
from baton.steps import idempotency
from baton.steps.access.read_rights import knows_claim, refused_as_unknown
from baton.steps.agents.kill_switch import must_be_let_act

Answer = TypeVar("Answer")


def run_under_claim(
    deps: Deps,
    call: WorkerCall,
    decide: Callable[[Task, Claim, Settings], Answer],
    replay: Callable[[dict[str, Any]], Answer],
) -> Answer:
    """Returns what ``decide`` returns, which commits; for a repeat, ``replay`` of the saved response. ``decide`` gets
    the task, its claim and the workspace's settings, and is called again after a conflict. Raises ``StaleClaim``,
    ``InactiveAgent`` and ``Unknown``."""
    by, key = call.by, call.idempotency_key

    def read() -> tuple[HandoffInputs, SavedResponse | None]:
        query = HandoffQuery(parent_id=call.task_id, idempotency_key=key)
        return idempotency.with_response(deps.store.handoffs.handoff_inputs(by.workspace, query))

    def decided(inputs: HandoffInputs) -> Answer:
        if inputs.parent is None:
            raise errors.Unknown("task")
        task = inputs.parent.task
        claim = task.current_claim(call.claim_id, by)
        must_be_let_act(deps, by, claim.agent)
        return decide(task, claim, inputs.settings)

    with refused_as_unknown(deps, by, call.task_id, unless=knows_claim(call.claim_id)):
        return idempotency.run_idempotently(deps, key, read, decided, replay)

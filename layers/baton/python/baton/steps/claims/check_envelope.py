"""The envelope of a completion or a failure (docs/spec/protocol.md §4 and §5): its statements about the task and the
claim must be true."""

from __future__ import annotations

from typing import Any

from baton.domain import errors
from baton.domain.agents.agent import canonical
from baton.domain.guardrails.guardrails import checked
from baton.ports.deps import Deps
from baton.ports.handoffs import HandoffInputs


def sender(deps: Deps, workspace: str, inputs: HandoffInputs, envelope: dict[str, Any], status: str) -> dict[str, Any]:
    """Returns the sender, for the record. ``envelope``: ``handoff_id``, ``source`` and ``status``, as far as they were
    given. ``status``: the outcome. Raises ``InvalidInput`` for a contradiction, and ``GuardrailRefused``."""
    task = inputs.parent.task if inputs.parent else None
    if task is None or task.claim is None:
        raise ValueError("no claim was read")
    if envelope.get("handoff_id", task.handoff_id) != task.handoff_id:
        raise errors.InvalidInput("handoff_id", f"must be that of the task: {task.handoff_id}")
    if envelope.get("status", status) != status:
        raise errors.InvalidInput("status", f"must be {status!r}, which is what the rest of it comes to")
    source = checked({"source": envelope.get("source") or {}}, inputs.settings.guardrails, "")["source"]
    agent = source.get("agent", task.claim.agent)
    if agent != task.claim.agent and not _is_called(deps, workspace, task.claim.agent, agent):
        raise errors.InvalidInput("source.agent", f"must be the agent that holds the claim: {task.claim.agent}")
    return {**source, "agent": task.claim.agent}


def _is_called(deps: Deps, workspace: str, slug: str, name: str) -> bool:
    return any(each.slug == slug and canonical(name) in each.names for each in deps.store.agents.roster(workspace))

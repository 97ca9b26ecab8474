"""``twining_handoff``: hands results over with what is known, and tells the blackboard (docs/spec/memory.md §5)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from baton.domain import errors
from baton.domain.access.principal import Principal
from baton.domain.handoffs.handoff_message import HandoffMessage, message_from
from baton.domain.idempotency import IdempotencyKey
from baton.domain.memory.scope import ROOT
from baton.domain.memory.twining import handoff_created, result_status
from baton.ports.deps import Deps
from baton.ports.details import TaskDetails
from baton.ports.writes import Insert, Write
from baton.services.handoffs.create_handoff import CreateHandoff, create_handoff
from baton.steps.agents import resolve_agents
from baton.steps.claims.held_claims import only_claim
from baton.steps.handoffs.begin_handoff import NewHandoff
from baton.steps.memory.new_entry import new_entry

# Fields of a handoff, as this request calls them.
_NAMES = {"source.agent": "source_agent", "target.agent": "target_agent", "target.reason": "summary"}


@dataclass(frozen=True, slots=True, kw_only=True)
class TwiningHandoff:
    source_agent: str
    summary: str
    results: tuple[Mapping[str, Any], ...]
    target_agent: str | None = None  # None: open to any agent
    scope: str = ROOT
    auto_snapshot: bool = True
    worker: str | None = None  # as in ``CreateHandoff``

    def message(self) -> HandoffMessage:
        return message_from(
            {
                "source": {"agent": self.source_agent},
                "target": {"agent": self.target_agent, "reason": self.summary},
                "summary": self.summary,
                "results": [dict(each) for each in self.results],
                "scope": self.scope,
                "auto_snapshot": self.auto_snapshot,
                "result_status": result_status(self.results),
            }
        )


def twining_handoff(
    deps: Deps, by: Principal, asked: TwiningHandoff, idempotency_key: IdempotencyKey | None = None
) -> TaskDetails:
    """Returns the handoff and its task, as ``create_handoff`` does, and raises its errors. A status entry is posted in
    the same commit. If the source agent holds exactly one claim, or its worker that is named, the handoff belongs to
    it; a human's doesn't."""
    claim_id = None
    if not by.is_human:
        source = resolve_agents.source_of(deps, by, asked.source_agent)
        claim_id = only_claim(deps, by.workspace, source, asked.worker)

    def status_entry(handoff: NewHandoff) -> tuple[Write, ...]:
        return (Insert(new_entry(deps, by, handoff_created(handoff.task, handoff.message))),)

    request = CreateHandoff(message=asked.message(), claim_id=claim_id, worker=asked.worker, extra_writes=status_entry)
    try:
        return create_handoff(deps, by, request, idempotency_key)
    except errors.InvalidInput as exc:
        exc.rename(_NAMES)
        raise

"""What is too large to keep is refused before it is written, or left out of what has to be told in any case."""

from __future__ import annotations

import pytest

from baton.domain.canonical_json import canonical_json
from baton.domain.errors import TooLarge
from baton.domain.handoffs.handoff import MAX_CONTEXT_BYTES, MAX_MESSAGE_BYTES
from baton.domain.handoffs.handoff_message import message_from
from baton.domain.tasks.calls import WorkerCall
from baton.services.claims.complete_task import CompletedWork, complete_task
from baton.services.claims.fail_task import FailedWork, fail_task
from baton.services.handoffs.create_handoff import CreateHandoff, create_handoff
from baton.services.handoffs.retry_handoff import retry_handoff
from support.worlds.world import World, agent, human

LARGE = 240_000


@pytest.fixture
def world() -> World:
    return World().settle()


def asked(size: int, expectations: int = 0, source: str = "scout") -> dict[str, object]:
    return {
        "source": {"agent": source},
        "target": {"agent": "auditor", "reason": "Read it"},
        "context": {"state": {"text": "x" * size}},
        "expectations": {"constraints": ["y" * expectations]},
    }


def test_a_merged_context_has_a_limit_and_so_has_the_record(world: World) -> None:
    with pytest.raises(TooLarge):
        create_handoff(world.deps, human(), CreateHandoff(message=message_from(asked(LARGE, 200_000))))
    made = create_handoff(world.deps, human(), CreateHandoff(message=message_from(asked(LARGE, 100_000))))
    assert made.body is not None
    assert len(canonical_json(made.body)) < MAX_MESSAGE_BYTES
    world.clock.advance(4)
    claimed = world.claim()
    child = {**asked(0), "source": {"agent": "auditor"}, "target": {"agent": "scout", "reason": "More"}}
    child["context"] = {"variables": {"more": "z" * 50_000}}
    with pytest.raises(TooLarge):
        create_handoff(
            world.deps, agent("auditor"), CreateHandoff(message=message_from(child), claim_id=claimed.claim_id)
        )
    assert world.task(claimed.details.task.id).state == "claimed"


def test_a_failure_of_any_size_is_told_and_rolled_back(world: World) -> None:
    made = create_handoff(world.deps, human(), CreateHandoff(message=message_from(asked(LARGE))))
    world.clock.advance(4)
    claimed = world.claim()
    progress = {"completed": ["c" * 200_000], "incomplete": []}
    failure = {"type": "error", "description": "no", "partial_progress": progress}
    failed = fail_task(
        world.deps, WorkerCall(agent("auditor"), made.task.id, claimed.claim_id, "h"), FailedWork(failure=failure)
    )
    assert failed.failure is not None
    rollback = world.store.tasks.read("acme", failed.failure["rollback"]["task_id"], with_body=True)
    assert rollback.body is not None
    assert rollback.body["left_out"] == ["context"]
    assert rollback.body["failure"]["partial_progress"] == progress
    assert len(canonical_json(rollback.body)) < MAX_MESSAGE_BYTES

    again = retry_handoff(world.deps, human(), made.task.id)
    assert again.body is not None
    assert again.body["rollback"]["checkpoint_id"] == failed.failure["checkpoint_id"]
    assert "checkpoint" not in again.body["retries"]  # named, but too large for the message
    assert len(canonical_json(again.body["context"])) <= MAX_CONTEXT_BYTES


def test_a_continuation_whose_context_grows_too_large_is_refused_and_the_claim_goes_on(world: World) -> None:
    made = create_handoff(world.deps, human(), CreateHandoff(message=message_from(asked(LARGE))))
    world.clock.advance(4)
    claimed = world.claim()
    more = {"suggested_next": "scout", "context_for_next": {"state": {"more": "z" * 50_000}}}
    with pytest.raises(TooLarge):
        complete_task(
            world.deps,
            WorkerCall(agent("auditor"), made.task.id, claimed.claim_id, "h"),
            CompletedWork(output=None, completion={"continuation": more}),
        )
    assert world.task(made.task.id).state == "claimed"

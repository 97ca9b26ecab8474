"""Who approves an escalation, who is notified, and what a repeat gets (invariants 5, 8; docs/spec/marker.md §5, §6)."""

from __future__ import annotations

from typing import Any

import pytest

from baton.domain.access.principal import Principal
from baton.domain.agents.agent import Approval
from baton.domain.errors import HumanNeeded, InvalidMarker, KeyReused
from baton.domain.idempotency import IdempotencyKey
from baton.services.agents.register_agent import register_agent
from baton.services.escalations.create_handoff_marker import MarkerAnswer, create_handoff_marker
from baton.services.tasks.approve_task import undo_approval
from baton.services.tasks.end_task import cancel_task
from support.values.tasks import ACTING_SERVICE, CREATOR
from support.worlds.world import WORKSPACE, World, agent, human, marker_body, service


def idempotency_key(
    by: Principal = CREATOR, key: str = "k1", body_hash: str = "h1", route: str = "/handoff-markers"
) -> IdempotencyKey:
    return IdempotencyKey(by, route, key, body_hash)


def ask(world: World, key: IdempotencyKey, by: Principal = CREATOR, **changes: Any) -> MarkerAnswer:
    return create_handoff_marker(world.deps, by, marker_body(**changes), key)


# Who approves


@pytest.mark.parametrize("by", [CREATOR, ACTING_SERVICE])
def test_what_agents_and_services_ask_for_needs_a_human_and_rings_nobody(world: World, by: Principal) -> None:
    answer = world.mark(by)
    assert answer.task_id
    assert world.task(answer.task_id).state == "needs"
    assert world.trail(answer.task_id) == ["handoff_initiated"]
    assert world.dispatch_queue.notices == []


def test_what_a_human_asks_for_is_delegated_announced_after_the_undo_window_and_may_be_undone(world: World) -> None:
    register_agent(world.deps, human(), "runner", {"approval": Approval.MANUAL})
    answer = world.mark(human(), target_agent="runner")
    assert answer.task_id
    assert world.task(answer.task_id).state == "delegated"
    assert world.dispatch_queue.notices == [(WORKSPACE, "runner", answer.task_id, 3)]
    world.clock.advance(3, milliseconds=-1)
    assert undo_approval(world.deps, human(), answer.task_id).task.state == "needs"
    assert world.trail(answer.task_id) == ["handoff_initiated", "approved", "approval_undone"]


# The standing approval of ``runner``, given as the world was settled.
RUNNER_S = {"agent": "runner", "given_by": "human:alice", "given_at": "2026-11-18T12:00:00.000Z"}


def test_under_a_standing_approval_work_is_announced_at_once_and_the_event_says_whose_word_it_was(world: World) -> None:
    answer = world.mark(agent("scout"), target_agent="runner")
    assert answer.task_id
    assert world.dispatch_queue.notices == [(WORKSPACE, "runner", answer.task_id, 0)]
    approved = world.store.trail.events(WORKSPACE, answer.task_id, 1, 1)[0]
    assert approved.data["standing_approval"] == RUNNER_S | {"version": 1}
    assert (approved.principal_kind, approved.principal_id) == ("agent", "scout")


def test_a_service_can_not_give_a_standing_approval_and_ends_one_by_any_change(world: World) -> None:
    with pytest.raises(HumanNeeded):
        register_agent(world.deps, service(), "auditor", {"approval": Approval.AUTO})
    assert world.store.agents.roster(WORKSPACE).get("auditor").approval == "manual"
    register_agent(world.deps, service(), "runner", {"description": "new words"})
    assert world.store.agents.roster(WORKSPACE).get("runner").approval == "manual"
    answer = world.mark(agent("scout"), target_agent="runner")
    assert answer.task_id
    assert world.task(answer.task_id).state == "needs"


def test_a_humans_change_keeps_a_standing_approval_and_the_next_event_names_the_new_version(
    world: World,
) -> None:
    register_agent(world.deps, human(name="bob"), "runner", {"description": "new words"})
    answer = world.mark(agent("scout"), target_agent="runner")
    assert answer.task_id
    approved = world.store.trail.events(WORKSPACE, answer.task_id, 1, 1)[0]
    assert approved.data["standing_approval"] == RUNNER_S | {"version": 2}


# Repeats


def test_the_same_key_and_body_answer_the_same_whatever_happened_since(world: World) -> None:
    first = ask(world, idempotency_key())
    assert first.task_id
    cancel_task(world.deps, human(), first.task_id, None)
    world.clock.advance(8 * 86_400)
    register_agent(world.deps, human(), "auditor", {"active": False})
    assert ask(world, idempotency_key()) == first
    assert len(world.store.lists.tasks_of_agent(WORKSPACE, "auditor", 10, None).items) == 1


def test_every_kind_of_answer_is_remembered(world: World) -> None:
    text = ask(world, idempotency_key(key="text"), create_task=False)
    created = ask(world, idempotency_key(key="created"))
    duplicate = ask(world, idempotency_key(key="duplicate"))
    assert created.task_id
    assert duplicate.duplicate_of == created.task_id
    cancel_task(world.deps, human(), created.task_id, None)
    cancel_task(world.deps, human(), world.needing(), None)
    capped = ask(world, idempotency_key(key="capped"))
    assert capped.review_id
    world.clock.advance(8 * 86_400)
    assert ask(world, idempotency_key(key="text"), create_task=False) == text
    assert ask(world, idempotency_key(key="created")) == created
    assert ask(world, idempotency_key(key="duplicate")) == duplicate
    assert ask(world, idempotency_key(key="capped")) == capped
    assert world.store.escalations.review(WORKSPACE, capped.review_id).count == 1
    assert len(world.store.tasks.notes(WORKSPACE, created.task_id, 10)) == 1


def test_the_same_key_with_another_body_is_refused_and_changes_nothing(world: World) -> None:
    first = ask(world, idempotency_key())
    assert first.task_id
    cancel_task(world.deps, human(), first.task_id, None)
    for changes in ({"escalation_reason": "another"}, {"source_agent": "Nobody"}, {"create_task": False}):
        with pytest.raises(KeyReused):
            ask(world, idempotency_key(body_hash="h2"), **changes)
    assert len(world.store.lists.tasks_of_agent(WORKSPACE, "auditor", 10, None).items) == 1


def test_a_key_means_nothing_on_another_route_for_another_caller_or_elsewhere(world: World) -> None:
    world.settle("other")
    first = ask(world, idempotency_key())
    for by, key in (
        (CREATOR, idempotency_key(route="/handoff-markers/2")),
        (CREATOR, idempotency_key(key="k2")),
        (human(), idempotency_key(human())),
        (service(), idempotency_key(service())),
    ):
        assert ask(world, key, by).duplicate_of == first.task_id
    elsewhere = agent("scout", "other")
    assert ask(world, idempotency_key(elsewhere), elsewhere).task_id not in (None, first.task_id)


def test_a_refusal_is_not_remembered(world: World) -> None:
    with pytest.raises(InvalidMarker):
        ask(world, idempotency_key(), target_agent="Nobody")
    assert ask(world, idempotency_key()).task_id

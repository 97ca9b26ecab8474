"""What talking and reading along cost: the calls at the choke point, and the notices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from baton.domain.idempotency import IdempotencyKey
from baton.services.agents.define_tool import define_tool, dry_run
from baton.services.agents.discover_agents import seen_agent
from baton.services.conversations.converse import Opening, SaidMessage, read_messages, say, start_conversation
from baton.services.conversations.see_conversation import see_conversation
from baton.services.handoffs.workflow_chain import workflow_chain
from baton.services.tasks.end_task import cancel_task
from baton.steps.handoffs.spending import spending
from support.worlds.rig import Rig
from support.worlds.world import WORKSPACE, human

ONE, MANY, READ, BODY, WRITE = "get_item", "batch_get_item", "query", "put_item", "transact_write_items"
BEGINNING = BODY
OPENING = Opening(agent="runner", message="Is it ready?", context={})


def spent(rig: Rig, act: Callable[[], Any]) -> list[str]:
    """Calls to the table, then notices."""
    notices = len(rig.world.dispatch_queue.notices)
    calls = rig.requested(act)
    return calls + ["notify"] * (len(rig.world.dispatch_queue.notices) - notices)


def idempotency_key(path: str) -> IdempotencyKey:
    return IdempotencyKey(human(), path, "key", "hash")


def talked(rig: Rig) -> tuple[str, str]:
    """The conversation and its task, which has ended."""
    task = start_conversation(rig.world.deps, human(), OPENING).task
    cancel_task(rig.world.deps, human(), task.id, None)
    rig.clock.advance(1)
    return task.workflow_id, task.id


def test_a_conversation_begins_as_cheaply_as_a_handoff(rig: Rig) -> None:
    def begin() -> Any:
        return start_conversation(rig.world.deps, human(), OPENING, idempotency_key("/conversations"))

    assert spent(rig, begin) == [MANY, BODY, BEGINNING, WRITE, "notify"]
    assert spent(rig, begin) == [MANY, MANY]


def test_saying_more_takes_seven(rig: Rig) -> None:
    conversation_id, _ = talked(rig)

    def more() -> Any:
        return say(rig.world.deps, human(), conversation_id, SaidMessage("And now?"), idempotency_key("/messages"))

    assert spent(rig, more) == [ONE, READ, MANY, MANY, READ, BODY, BEGINNING, WRITE, "notify"]
    assert spent(rig, more) == [ONE]


def test_reading_along_takes_two_and_one_for_each_task_that_may_say_more(rig: Rig) -> None:
    conversation_id, _ = talked(rig)
    say(rig.world.deps, human(), conversation_id, SaidMessage("And now?"))
    cursors: list[str] = []

    def read() -> None:
        after = cursors[-1] if cursors else None
        cursors.append(read_messages(rig.world.deps, human(), conversation_id, 50, after)[1])

    assert spent(rig, read) == [READ, MANY, READ, READ]
    assert spent(rig, read) == [READ, MANY, READ]


def test_a_conversation_is_seen_in_four_and_its_spending_in_two(rig: Rig) -> None:
    conversation_id, task_id = talked(rig)
    seen = spent(rig, lambda: see_conversation(rig.world.deps, human(), conversation_id))
    assert sorted(seen) == sorted([READ, MANY, MANY, MANY])
    chain = spent(rig, lambda: workflow_chain(rig.world.deps, human(), conversation_id))
    costs = spent(rig, lambda: spending(rig.world.deps, WORKSPACE, conversation_id, task_id))
    assert (len(chain), costs) == (2, [MANY, MANY])


def test_a_task_with_what_it_was_given_and_spent_takes_two(rig: Rig) -> None:
    """As GET /tasks/{task_id} reads it."""
    conversation_id, task_id = talked(rig)

    def read() -> None:
        rig.store.tasks.read(WORKSPACE, task_id, with_body=True)
        rig.store.runs.usage(WORKSPACE, conversation_id, task_id)

    assert len(spent(rig, read)) == 2


def test_an_agent_with_its_profile_takes_one_more(rig: Rig) -> None:
    seen = spent(rig, lambda: seen_agent(rig.world.deps, WORKSPACE, "runner"))
    assert len(seen) <= 3
    assert spent(rig, lambda: rig.store.runs.profile(WORKSPACE, "runner")) == [ONE]


def test_defining_a_tool_takes_two_and_trying_it_one(rig: Rig) -> None:
    def define() -> Any:
        return define_tool(rig.world.deps, human(), "handoff_to_runner", {"target_agent": "runner"})

    assert spent(rig, define) == [READ, WRITE]
    assert spent(rig, define) == [READ, WRITE]
    assert spent(rig, lambda: dry_run(rig.world.deps, human(), "handoff_to_runner", {})) == [MANY]

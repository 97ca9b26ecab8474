"""A process dies while a conversation begins, or its replies are lost: what is listed can be read, and what can be read
is listed."""

from __future__ import annotations

from contextlib import suppress

import pytest

from baton.domain.errors import Busy, Unknown
from baton.domain.idempotency import IdempotencyKey
from baton.services.conversations.converse import Opening, start_conversation
from baton.services.conversations.list_conversations import ConversationFilter, list_conversations
from baton.services.conversations.see_conversation import see_conversation
from support.clock import NOON
from support.faults.choke_point import Crash, at_call, from_call, no_fault
from support.worlds.rig import Rig
from support.worlds.world import World, human

KEY = IdempotencyKey(human(), "/conversations", "key-1", "hash-1")
OPENING = Opening(agent="runner", message="Is it ready?", context={})


def begin(world: World) -> None:
    start_conversation(world.deps, human(), OPENING, KEY)


def calls_of_a_beginning() -> int:
    rig = Rig().settle()
    return len(rig.count(lambda: begin(rig.world)))


def checked(rig: Rig) -> int:
    """Every conversation that is there, as another process finds it."""
    deps = rig.other().deps
    page = list_conversations(deps, human(), ConversationFilter(), 10, None)
    assert page.cursor is None
    shown = {each.root.workflow_id for each in page.items}
    for each in shown:
        assert see_conversation(deps, human(), each).message == OPENING.message
    begun = {task.workflow_id for task in deps.store.lists.tasks_of_day("acme", NOON.date(), 10, None).items}
    assert shown == begun
    return len(shown)


@pytest.mark.parametrize("fault", ["crash_before", "crash_after", "timeout_before", "timeout_after"])
@pytest.mark.parametrize("number", range(1, calls_of_a_beginning() + 1))
def test_a_conversation_is_listed_if_and_only_if_it_has_begun(number: int, fault: str) -> None:
    rig = Rig().settle()
    plan = at_call if fault.startswith("crash") else from_call
    rig.choked.plan = plan(len(rig.choked.calls) + number, fault)
    with suppress(Crash, Busy):
        begin(rig.world)
    assert checked(rig) <= 1
    rig.choked.plan = no_fault
    begin(rig.world)
    assert checked(rig) == 1, "asked again with the same key"


def test_a_refused_beginning_is_listed_nowhere() -> None:
    rig = Rig().settle()
    with pytest.raises(Exception, match="nobody"):
        start_conversation(rig.world.deps, human(), Opening(agent="nobody", message="Hello", context={}))
    assert checked(rig) == 0
    with pytest.raises(Unknown):
        see_conversation(rig.world.deps, human(), "wf_nothing")

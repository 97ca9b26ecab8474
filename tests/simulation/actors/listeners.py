"""Those who read along in conversations, from where they were, and must miss nothing and hear nothing twice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from baton.domain.errors import InvalidInput
from baton.services.conversations.converse import read_messages
from baton.services.conversations.list_conversations import ConversationFilter, list_conversations
from baton.services.conversations.see_conversation import see_conversation
from simulation.actors.people import human

if TYPE_CHECKING:
    from collections.abc import Sequence

    from baton.services.conversations.converse import ReadMessage
    from simulation.actors.actor_context import ActorContext

MANY = 200


class Listener:
    def __init__(self, context: ActorContext) -> None:
        self._context, self._sim, self._draw = context, context.sim, context.draw
        # By conversation: how far it was read, and what was heard, by task and number.
        self._cursors: dict[str, str] = {}
        self._heard: dict[str, set[tuple[str, int]]] = {}

    def act(self) -> None:
        sim = self._sim
        while not sim.is_stopping:
            self._context.rest(20)
            if begun := self._context.conversations():
                self._listen(sim.pick(begun[-3:]))
                if self._draw(4) == 3:
                    self._context.look(lambda: list_conversations(sim.deps, human(), ConversationFilter(), MANY, None))

    def hear_out(self) -> None:
        """When all is over: what was heard bit by bit is all there is."""
        for conversation in list(self._cursors):
            whole, _ = read_messages(self._sim.deps, human(), conversation, MANY, None)
            try:
                while self._read(conversation, MANY):
                    pass
            except InvalidInput:  # nobody has read on for a week
                continue
            said = {(each.task.id, each.number) for each in whole}
            is_all = len(whole) == MANY or said == self._heard[conversation]
            lacking = said ^ self._heard[conversation]
            self._sim.oracle.verdict.must(is_all, "{}: who read along knows otherwise of {}", conversation, lacking)

    def find_all(self) -> None:
        """When all is over: what was begun is listed, and nothing else."""
        ledger, listed, cursor = self._context.ledger, list[str](), None
        while True:
            page = list_conversations(self._sim.deps, human(), ConversationFilter(), MANY, cursor)
            listed += [each.root.workflow_id for each in page.items]
            cursor = page.cursor
            if cursor is None:
                break
        roots = [each for each, head in ledger.heads.items() if head.get("master_task_id", each) == each]
        begun = {ledger.heads[each]["workflow_id"] for each in roots if "input" in ledger.bodies.get(each, {})}
        odd = begun ^ set(listed)
        self._sim.oracle.verdict.must(sorted(listed) == sorted(begun), "listed and begun differ in {}", odd)

    def _listen(self, conversation: str) -> None:
        sim = self._sim

        def look() -> None:
            began = sim.steps
            sim.oracle.talks.is_holder(began, see_conversation(sim.deps, human(), conversation))

        self._context.look(look)
        limit = 1 + self._draw(20)
        self._context.look(lambda: self._read(conversation, limit))

    def _read(self, conversation: str, limit: int) -> bool:
        """Whether there was anything new."""
        before = self._cursors.get(conversation)
        read, cursor = read_messages(self._sim.deps, human(), conversation, limit, before)
        self._cursors[conversation] = cursor
        self._note(self._heard.setdefault(conversation, set()), read)
        return bool(read)

    def _note(self, heard: set[tuple[str, int]], read: Sequence[ReadMessage]) -> None:
        for said in read:
            latest = max((number for task_id, number in heard if task_id == said.task.id), default=0)
            is_next = said.number > latest
            self._sim.oracle.verdict.must(is_next, "{}: message {} after {}", said.task.id, said.number, latest)
            heard.add((said.task.id, said.number))

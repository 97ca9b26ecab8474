"""An in-memory Baton for tests: the real routes and use cases in this process, without a server or a socket, and time
in the test's hands. It needs the package ``baton-testing``, which brings pytest the fixture ``baton_world``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

import pytest

from baton_client import operations
from baton_client.testing.in_process import InProcess
from baton_client.testing.in_threads import InThreads

if TYPE_CHECKING:
    from baton_client.asynchronous import AsyncBaton
    from baton_client.claims import WorkVerbs
    from baton_client.synchronous import Baton
    from baton_client.verbs import Task


class BatonWorld:
    """A workspace with nobody in it. Time stands still but in ``later``, and while something waits: for as long as it
    waits, or until somebody does something. Claims of this process are kept by heartbeats, without a thread."""

    def __init__(self) -> None:
        self._process = InProcess()

    @property
    def now(self) -> datetime:
        """The machine's time at first."""
        return self._process.stack.now

    @property
    def events(self) -> Sequence[dict[str, Any]]:
        """What went to the bus so far: the details of each event (docs/events.md)."""
        return self._process.stack.events

    def baton(self, agent: str, **fields: Any) -> Baton:
        """Returns a client of this agent, which is registered if it isn't yet. ``fields``: of ``AgentRequest``, such as
        ``approval="auto"`` for an agent whose work needs nobody's approval."""
        return InThreads(self._process, self._registered(agent, fields), agent)

    def async_baton(self, agent: str, **fields: Any) -> AsyncBaton:
        """See ``baton``."""
        from baton_client.testing.in_tasks import InTasks  # loads httpx

        return InTasks(self._process, self._registered(agent, fields), agent)

    def human(self, name: str = "alice") -> Baton:
        """Returns a client of this human, who is an administrator."""
        return InThreads(self._process, self._process.token("human", name), "")

    def approve(self, task: Task | str, *, by: str = "alice") -> None:
        """A human approves the task, if it waits for that, and the actions that it asks for."""
        human, task_id = self.human(by), _id(task)
        seen = human.send(operations.get_task(task_id))
        if seen["state"] == "needs":
            human.send(operations.approve(task_id, {"revision": seen["revision"]}))
        for each in _questions(human, task_id, are_actions=True):
            human.send(operations.give_answer(task_id, each["id"], {"outcome": "approved", "digest": each["digest"]}))

    def answer(self, task: Task | str, said: Any, *, by: str = "alice") -> None:
        """A human answers the open questions of the task."""
        human, task_id = self.human(by), _id(task)
        for each in _questions(human, task_id, are_actions=False):
            human.send(operations.give_answer(task_id, each["id"], {"outcome": "answered", "answer": said}))

    def meanwhile(self, *steps: Callable[[], object]) -> None:
        """Has each called, one after the other, when something waits: what others do meanwhile."""
        self._process.steps.extend(steps)

    def later(
        self,
        *,
        seconds: float = 0,
        minutes: float = 0,
        hours: float = 0,
        days: float = 0,
        dead: Sequence[WorkVerbs] = (),
    ) -> None:
        """Lets time pass: heartbeats are sent, leases end, the sweeper runs each minute. ``dead``: work whose process
        has died, and sends no heartbeat any more."""
        for work in dead:
            work._heartbeats.stop()  # pyright: ignore[reportPrivateUsage]
            work.ended.set()  # so it says nothing when its context ends
        self._process.pass_time(seconds + 60 * (minutes + 60 * (hours + 24 * days)))

    def _registered(self, slug: str, fields: dict[str, Any]) -> str:
        """Returns the agent's token."""
        if fields or not self._process.knows("agent", slug):
            body: Any = {"name": slug, **fields}
            self.human("admin").send(operations.put_agent(slug, body))
        return self._process.token("agent", slug)


def _id(task: Task | str) -> str:
    return task if isinstance(task, str) else task.id


def _questions(human: Baton, task_id: str, *, are_actions: bool) -> list[Any]:
    """Returns those that are open."""
    found = human.send(operations.list_task_questions(task_id, limit=100))["items"]
    return [each for each in found if each["outcome"] == "open" and (each["kind"] == "action") is are_actions]


@pytest.fixture
def baton_world() -> BatonWorld:
    """A workspace of this test's own."""
    return BatonWorld()

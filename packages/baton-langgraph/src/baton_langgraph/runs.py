"""A graph that does claimed tasks."""

import asyncio
import json
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from typing import Any

from langchain.messages import HumanMessage
from langchain_core.callbacks import BaseCallbackHandler
from langgraph.errors import GraphRecursionError
from langgraph.types import Command, Interrupt

from baton_client import Baton, Call, ClaimLost, Misused, Outcome, Run, Work
from baton_client.errors import CriteriaUnreported, Invalid
from baton_langgraph.pauses import CALL, Graph
from baton_langgraph.saver import BatonSaver
from baton_langgraph.texts import criteria, fields_of, prompt, result

Make = Callable[[Run], Graph]
Seen = Callable[[Any], object] | None


def serve(baton: Baton, agent: str, make: Make, *, on_event: Seen = None, in_tasks: bool = False, **more: Any) -> None:
    """Claims the agent's tasks, and has each done by the graph that ``make`` returns. ``more``: ``concurrency``,
    ``idle_seconds``, ``lease_seconds`` and ``worker`` of ``baton.work``."""

    def do(work: Work) -> None:
        try:
            with work:
                run_claimed(work, make, on_event=on_event, in_tasks=in_tasks)
        except Exception:  # no task ends its worker
            logging.getLogger(__name__).exception("a task isn't done", extra={"task_id": work.task_id})

    with ThreadPoolExecutor(at_once := more.get("concurrency", 1)) as pool:
        for work in baton.work(agent, **more):
            if at_once == 1:  # in this thread: an interrupt gives the work back
                do(work)
            else:
                pool.submit(do, work)


def run_claimed(work: Work, make: Make, *, on_event: Seen = None, in_tasks: bool = False) -> None:
    """Does one claimed task, as far as it goes: to its end, or until others have to decide. Raises ``ClaimLost``.
    ``on_event`` gets the graph's own stream: ``(mode, chunk)``. ``in_tasks``: the graph has coroutines."""
    run = Run(work)
    try:
        _Thread(run, make(run), on_event, in_tasks).do()
    except (GraphRecursionError, Invalid) as error:  # as of a state that is too large: it will be so again
        work.fail(f"{error}", kind="validation" if isinstance(error, Invalid) else "error")


class _Thread(BaseCallbackHandler):
    """The graph of a run, on the thread with the task's id. As a callback it stops a run whose claim is lost before the
    next call of a model or tool in any node."""

    raise_error = run_inline = True

    def __init__(self, run: Run, graph: Graph, on_event: Seen, in_tasks: bool) -> None:
        self._run, self._on_event, self._in_tasks = run, on_event, in_tasks
        self._graph: Any = graph
        if not self._graph.checkpointer:  # else it is durable, and only the thread's id is saved
            self._graph = graph.copy({"checkpointer": BatonSaver(run)})
        ids = {"baton_task": run.work.task_id, "baton_workflow": run.work.raw["task"]["workflow_id"]}
        self._at: Any = {"configurable": {"thread_id": run.work.task_id}, "callbacks": [self], "metadata": ids}
        modes = ["updates", "messages", "custom"] if on_event else ["updates"]
        self._how: Any = {"context": dict(run.work.variables), "stream_mode": modes, "durability": "sync"}

    def do(self) -> None:
        run, work, saver, is_told = self._run, self._run.work, self._graph.checkpointer, False
        outcomes = run.go_on()
        while outcomes is not None:
            now = self._graph.get_state(self._at)
            known = {each.id: _given(each, outcomes[each.id]) for each in now.interrupts if each.id in outcomes}
            if now.created_at is None:
                if run.state is not None:
                    raise Misused("the thread is gone", "the checkpointer doesn't have it", "take a durable one")
                self._play({**work.variables, "messages": [HumanMessage(prompt(work))]})
            elif known:
                self._play(Command(resume=known))
            elif now.interrupts:
                state = saver.dump() if isinstance(saver, BatonSaver) else {"thread_id": work.task_id}
                outcomes = run.wait_for(state, [_call(each) for each in now.interrupts])
            elif now.next:  # a process has died in the middle
                self._play(None)
            else:
                output, verification = result(now.values, criteria(work))
                try:
                    work.complete(output, verification=verification)
                except CriteriaUnreported as missing:
                    if is_told or "messages" not in now.values:
                        raise
                    is_told = True
                    self._play({"messages": [HumanMessage(f"This isn't the end yet. {missing}")]})
                else:
                    return

    def _play(self, begin: Any) -> None:
        """Plays the graph to its end, or to its next interrupts. A step is saved before the next one begins."""
        if self._in_tasks:
            asyncio.run(self._play_in_tasks(begin))
            return
        for event in self._graph.stream(begin, self._at, **self._how):
            self._seen(event)

    async def _play_in_tasks(self, begin: Any) -> None:
        async for event in self._graph.astream(begin, self._at, **self._how):
            self._seen(event)

    def _seen(self, event: Any) -> None:
        self._must_be_held()
        if self._on_event:
            self._on_event(event)

    def _must_be_held(self, *_: Any, **__: Any) -> None:
        if self._run.lost:
            raise ClaimLost(409, {"title": "the claim isn't held any more", "code": "stale_claim"})

    on_llm_start = on_chat_model_start = on_tool_start = _must_be_held


def _call(pause: Interrupt) -> Call:
    """Returns what an interrupt waits for, under the interrupt's id: models use theirs again. One that isn't Baton's is
    a question to people."""
    if ours := fields_of(pause.value).get(CALL):
        return replace(Call(**ours), call_id=pause.id)
    return Call.ask(pause.id, pause.value if isinstance(pause.value, str) else json.dumps(pause.value, default=str))


def _given(pause: Interrupt, outcome: Outcome) -> Any:
    if ours := fields_of(pause.value).get(CALL):
        return asdict(replace(outcome, call_id=ours["call_id"]))
    return outcome.value if outcome.is_good else outcome.said

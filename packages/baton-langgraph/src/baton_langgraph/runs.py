"""A graph that does claimed tasks: its run, its state in the task's checkpoints, and its report."""

import logging
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from typing import Any, cast

from langchain.messages import HumanMessage
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.errors import GraphRecursionError
from langgraph.graph.state import CompiledStateGraph  # pyright: ignore[reportMissingTypeStubs]
from langgraph.types import Command, Interrupt
from pydantic import BaseModel, Field
from pydantic_core import to_jsonable_python

from baton_client import Baton, Call, Misused, Outcome, Run, Work, numbers
from baton_client.briefing import criterion_meant, prompt_of
from baton_client.canonical import plain
from baton_client.errors import CriteriaUnreported, Invalid
from baton_langgraph.pauses import CALL, OUTCOME

FORM = "langgraph/2"
Make = Callable[[Run], CompiledStateGraph[Any, Any, Any, Any]]
Seen = Callable[[Any], object]


class Met(BaseModel):
    criterion: str = Field(description="The acceptance criterion, word for word.")
    met: bool
    evidence: str = Field(description="What shows it.")


class Report(BaseModel):
    """The end of the work, with a word on each acceptance criterion."""

    output: str = Field(description="What came of the work.")
    met: list[Met] = Field(description="One for each acceptance criterion; empty if there is none.")


class BatonSaver(InMemorySaver):
    """The checkpointer of one run. It saves each finished step in Baton: the thread's newest checkpoint, with its
    pending writes. ``types``: the classes in the graph's state that aren't LangChain's own. A class that isn't named is
    loaded as plain data: a state constructs nothing else."""

    def __init__(self, run: Run, types: Iterable[type[Any]] = ()) -> None:
        serde = JsonPlusSerializer(allowed_msgpack_modules=[Met, Report, *types])
        super().__init__(serde=serde)  # pyright: ignore[reportUnknownMemberType]
        self._run, self._thread = run, run.work.task_id
        thread: Any = fields_of(run.state).get(FORM)
        # A text of one character for each byte: the client packs it, and signs it.
        kept: Any = self.serde.loads_typed(("msgpack", thread.encode("latin-1"))) if thread else {}
        for ns, (checkpoint, metadata, pending) in kept.items():
            at = super().put(self._at(ns), checkpoint, metadata, checkpoint["channel_versions"])
            for writer in {task_id for task_id, _, _ in pending}:  # its writes are numbered by their order
                self.put_writes(at, [(where, value) for task_id, where, value in pending if task_id == writer], writer)

    def put(self, config: RunnableConfig, checkpoint: Any, metadata: Any, new_versions: Any) -> RunnableConfig:
        kept = super().put(config, checkpoint, metadata, new_versions)
        # Not for a subgraph's step: what the run waited for is needed until the step around it is over.
        if not config.get("configurable", {}).get("checkpoint_ns"):
            self._run.save(self.dump())
        return kept

    def dump(self) -> dict[str, str]:
        """Returns the thread as JSON: its newest checkpoint, and of subgraphs those that are still needed."""
        newest = {ns: self.get_tuple(self._at(ns)) for ns in list(self.storage[self._thread])}
        root = (top := newest.get("")) and top.checkpoint["id"]
        kept = {
            ns: (each.checkpoint, each.metadata, each.pending_writes)
            for ns, each in newest.items()
            if each and (":" not in ns or each.metadata.get("parents", {}).get("") == root)
        }
        return {FORM: self.serde.dumps_typed(kept)[1].decode("latin-1")}

    def _at(self, ns: str) -> RunnableConfig:
        return {"configurable": {"thread_id": self._thread, "checkpoint_ns": ns}}


def serve(baton: Baton, agent: str, make: Make, *, on_event: Seen | None = None, **more: Any) -> None:
    """Claims the agent's tasks, and has each done by the graph that ``make`` returns. ``more``: ``concurrency``,
    ``idle_seconds``, ``lease_seconds`` and ``worker`` of ``baton.work``."""

    def do(work: Work) -> None:
        try:
            with work:
                run_claimed(work, make, on_event=on_event)
        except Exception:  # no task ends its worker
            logging.getLogger(__name__).exception("a task isn't done", extra={"task_id": work.task_id})

    with ThreadPoolExecutor(at_once := more.get("concurrency", 1)) as pool:
        for work in baton.work(agent, **more):
            if at_once == 1:  # in this thread: an interrupt gives the work back
                do(work)
            else:
                pool.submit(do, work)


def run_claimed(work: Work, make: Make, *, on_event: Seen | None = None) -> None:
    """Does one claimed task, as far as it goes: to its end, or until others have to decide. Raises ``ClaimLost``.
    ``on_event`` gets the graph's own stream: ``(mode, chunk)``."""
    run = Run(work)
    try:
        _Thread(run, make(run), on_event).do()
    except (GraphRecursionError, Invalid) as error:  # as of a state that is too large: it will be so again
        work.fail(f"{error}", kind="validation" if isinstance(error, Invalid) else "error")


class _Thread(BaseCallbackHandler):
    """The graph of a run, on the thread with the task's id. As a callback it stops a run whose claim is lost before the
    next call of a model or tool in any node."""

    raise_error = run_inline = True

    def __init__(self, run: Run, graph: Any, on_event: Seen | None) -> None:
        self._run, self._on_event = run, on_event
        # With a checkpointer of its own it is durable, and only the thread's id is saved.
        self._graph = graph if graph.checkpointer else graph.copy({"checkpointer": BatonSaver(run)})
        ids = {"baton_task": run.work.task_id, "baton_workflow": run.work.raw["task"]["workflow_id"]}
        self._at: Any = {"configurable": {"thread_id": run.work.task_id}, "callbacks": [self], "metadata": ids}
        modes = ["updates", "messages", "custom"] if on_event else ["updates"]
        self._variables = plain(run.work.variables)  # LangGraph saves no subclass of a float
        self._how: Any = {"context": dict(self._variables), "stream_mode": modes, "durability": "sync"}

    def do(self) -> None:
        run, work, saver, is_told = self._run, self._run.work, self._graph.checkpointer, False
        outcomes = run.go_on()
        while outcomes is not None:
            now = self._graph.get_state(self._at)
            known = {each.id: _given(each, found) for each in now.interrupts if (found := run.take(_call(each)))}
            if now.created_at is None:
                if run.state is not None:
                    raise Misused("the thread is gone", "the checkpointer doesn't have it", "take a durable one")
                self._play({**self._variables, "messages": [HumanMessage(prompt_of(work))]})
            elif known:
                self._play(Command(resume=known))
            elif now.interrupts:
                state = saver.dump() if isinstance(saver, BatonSaver) else {"thread_id": work.task_id}
                outcomes = run.wait_for(state, [_call(each) for each in now.interrupts])
            elif now.tasks:  # a process has died in a step; ``next`` names no task that was done
                self._play(None)
            else:
                output, reports = _result(now.values, work)
                try:
                    work.complete(output, verification={"acceptance_criteria_met": reports})
                    outcomes = None
                except CriteriaUnreported as missing:
                    if is_told or "messages" not in now.values:
                        raise
                    is_told = True
                    self._play({"messages": [HumanMessage(f"This isn't the end yet. {missing}")]})

    def _play(self, begin: Any) -> None:
        """Plays the graph to its end, or to its next interrupts. A step is saved before the next one begins."""
        for event in self._graph.stream(begin, self._at, **self._how):
            self._run.check()
            if self._on_event:
                self._on_event(event)

    def _must_be_held(self, *_: Any, **__: Any) -> None:
        self._run.check()

    on_llm_start = on_chat_model_start = on_tool_start = _must_be_held


def _call(pause: Interrupt) -> Call:
    """Returns what an interrupt waits for, under the interrupt's id: models use theirs again. One that isn't Baton's is
    a question to people."""
    if ours := fields_of(pause.value).get(CALL):
        return replace(Call(**ours), call_id=pause.id)
    text = pause.value if isinstance(pause.value, str) else numbers.dumps(pause.value, default=_written)
    return Call.ask(pause.id, text)


def _written(value: Any) -> Any:
    """Returns the same in each process: a call is known by its content."""
    return sorted(map(str, cast("set[Any]", value))) if isinstance(value, set | frozenset) else str(value)


def _given(pause: Interrupt, outcome: Outcome) -> Any:
    """Returns an interrupt's value. An interrupt of Baton's gets the call that was asked, and compares it with its
    own."""
    if ours := fields_of(pause.value).get(CALL):
        return {CALL: ours, OUTCOME: plain(asdict(replace(outcome, call_id=ours["call_id"])))}
    return plain(outcome.value) if outcome.is_good else outcome.said


def _result(values: Any, work: Work) -> tuple[Any, list[Any]]:
    """Returns the output as JSON, and the reports on criteria. ``values``: what the graph has at its end. Its
    ``structured_response`` counts, else the last message if it isn't ours, else the rest; ``met`` has the reports."""
    state = fields_of(values)
    found, messages = state.get("structured_response"), state.get("messages")
    if found is None and messages and messages[-1].type != "human":
        return str(messages[-1].text), []
    rest: Any = {name: value for name, value in state.items() if name != "messages"} if state else values
    output: Any = to_jsonable_python(rest if found is None else found, fallback=str)
    said = [(criterion_meant(work, each["criterion"]), each) for each in fields_of(output).pop("met", None) or ()]
    reports: list[Any] = [{**each, "criterion": meant} for meant, each in said if meant is not None]
    return (output["output"] if fields_of(output).keys() == {"output"} else output), reports


def fields_of(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}

"""A program's own graph that hands work to colleagues."""

import hashlib
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.config import get_config
from langgraph.errors import GraphInterrupt
from langgraph.pregel import Pregel
from langgraph.runtime import get_runtime
from langgraph.types import Command, interrupt

from baton_client import Baton, Outcome
from baton_client.verbs import Task

TASK = "baton_task"


def handed(hand_off: Callable[[], Task], baton: Baton, patience: float) -> Outcome:
    """Hands off, and returns what came of it. Raises ``GraphInterrupt`` on a durable thread."""
    if get_config()["configurable"].get("__pregel_checkpointer") is None:
        return ended(baton.wait(hand_off(), seconds=patience))
    try:
        return Outcome(**interrupt(None))
    except GraphInterrupt as pause:
        # Only now: on resume the node is run again, maybe after weeks, and a key is remembered for days.
        pause.args[0][0].value = {TASK: hand_off().id}
        raise


def resume_when_done(
    graph: Pregel[Any, Any, Any, Any], config: RunnableConfig, baton: Baton, *, seconds: float | None = None
) -> Any:
    """Goes on with a thread once its colleagues have ended, and returns the graph's state. In any process that has the
    checkpointer, but in one at a time. ``seconds``: the longest wait for one; then the state as it is."""
    while True:
        now, given = graph.get_state(config), dict[str, Any]()
        for each in now.interrupts:
            if isinstance(each.value, dict) and TASK in each.value:
                task = baton.wait(str(each.value[TASK]), seconds=seconds)
                if not task.has_ended:
                    return now.values
                given[each.id] = asdict(ended(task))
        if not given:
            return now.values
        graph.invoke(Command(resume=given), config)


def ended(task: Task) -> Outcome:
    failure = task.failure or {}
    why = failure.get("description") or (failure.get("failure") or {}).get("description") or "it doesn't say why"
    if not task.has_ended:
        why = f"it isn't done yet. Go on without it, and ask outcome_of for the task {task.id} later"
    return Outcome(task.id, "hand_off", task.is_done, task.output, f"{task.state}: {why}")


def key_of(call_id: str) -> str | None:
    """Returns the idempotency key of a tool call: the same when its node is run again, and of no other node, as models
    use their ids again. None outside of a graph."""
    runtime: Any = get_runtime()
    if runtime is None or runtime.execution_info is None:
        return None
    at = runtime.execution_info
    return hashlib.sha256(f"{at.thread_id}|{at.checkpoint_ns}|{call_id}".encode()).hexdigest()

"""A thread's state in the checkpoints of its task: another process goes on without a database."""

import base64
import zlib
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from baton_client import Run
from baton_langgraph.texts import Met, Report, fields_of

FORM = "langgraph/1"


class BatonSaver(InMemorySaver):
    """The checkpointer of one run. Each step that is over is saved in Baton: the thread's newest checkpoint, with its
    pending writes. ``types``: the classes in the graph's state that aren't LangChain's own. Of a class that isn't named
    comes plain data back: what other workers wrote constructs nothing else."""

    def __init__(self, run: Run, types: Iterable[type[Any]] = ()) -> None:
        serde = JsonPlusSerializer(allowed_msgpack_modules=[Met, Report, *types])
        super().__init__(serde=serde)  # pyright: ignore[reportUnknownMemberType]
        self._run, self._thread = run, run.work.task_id
        if (saved := fields_of(run.state)).get("form") == FORM:
            self._restore(saved["thread"])

    def put(self, config: RunnableConfig, checkpoint: Any, metadata: Any, new_versions: Any) -> RunnableConfig:
        kept = super().put(config, checkpoint, metadata, new_versions)
        # Not for a subgraph's step: what the run waited for is needed until the step around it is over.
        if not config.get("configurable", {}).get("checkpoint_ns"):
            self._run.save(self.dump())
        return kept

    def dump(self) -> dict[str, str]:
        """Returns the thread as JSON: its newest checkpoint, and of subgraphs those that are still needed."""
        newest = {ns: self.get_tuple(_config(self._thread, ns)) for ns in list(self.storage[self._thread])}
        root = (top := newest.get("")) and top.checkpoint["id"]
        kept = {
            ns: (each.checkpoint, each.metadata, each.pending_writes)
            for ns, each in newest.items()
            if each and (":" not in ns or each.metadata.get("parents", {}).get("") == root)
        }
        return {"form": FORM, "thread": base64.b64encode(zlib.compress(self.serde.dumps_typed(kept)[1])).decode()}

    def _restore(self, thread: str) -> None:
        kept = self.serde.loads_typed(("msgpack", zlib.decompress(base64.b64decode(thread))))
        for ns, (checkpoint, metadata, pending) in kept.items():
            at = super().put(_config(self._thread, ns), checkpoint, metadata, checkpoint["channel_versions"])
            writes: dict[str, list[tuple[str, Any]]] = defaultdict(list)
            for task_id, channel, value in pending:
                writes[task_id].append((channel, value))
            for task_id, its in writes.items():
                self.put_writes(at, its, task_id)


def _config(thread: str, ns: str) -> RunnableConfig:
    return {"configurable": {"thread_id": thread, "checkpoint_ns": ns}}

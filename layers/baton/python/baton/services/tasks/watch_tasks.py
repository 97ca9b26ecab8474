"""The watch of a workspace's tasks, for callers who read lists of them again and again."""

from __future__ import annotations

from baton.domain import errors
from baton.domain.tasks.watch import Watch, asked
from baton.ports.deps import Deps


def watch_tasks(deps: Deps, workspace: str) -> Watch | None:
    """Returns the watch as it is, and asks for it again if that was long ago: one read, and one write in half a minute.
    If the write fails, the next look asks again."""
    watch = deps.store.watches.watch(workspace)
    wanted = asked(watch, deps.clock.now())
    if wanted is not None:
        try:
            deps.store.watches.ask_for_watch(workspace, wanted)
        except errors.Busy:
            deps.log("a watch wasn't asked for", action="watch_not_asked")
    return watch

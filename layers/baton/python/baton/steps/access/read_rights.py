"""The caller's read rights in its workspace: the rule is in ``domain/rights/read_rights.py``; the use cases
enforce it with this."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

from baton.domain import errors
from baton.domain.access.principal import Principal, PrincipalKind
from baton.domain.alerts.alert import Alert
from baton.domain.escalations.review import Review
from baton.domain.rights.read_rights import has_asked, has_part_in, has_raised, may_share, reads_all
from baton.domain.settings.settings import AgentsRead
from baton.domain.tasks.task import Task
from baton.ports.deps import Deps


class ReadRights:
    """The read rights of one caller in one request. The settings are read at most once: only for agents, and only if
    they don't take part in what they ask for."""

    def __init__(self, deps: Deps, by: Principal) -> None:
        self._baton, self._by = deps, by
        self._shared: bool | None = None
        self._tools: tuple[str, ...] | None = None

    @property
    def workspace(self) -> str:
        return self._by.workspace

    @property
    def reads_all(self) -> bool:
        """True if the caller reads everything, whatever the workspace's settings."""
        return reads_all(self._by)

    @property
    def is_let(self) -> bool:
        """True if the caller reads all work, by itself or because the workspace shares it with its agents."""
        if self.reads_all:
            return True
        if self._shared is None:
            settings = self._baton.store.settings.of(self.workspace) if may_share(self._by) else None
            self._shared = settings is not None and settings.agents_read is AgentsRead.WORKSPACE
        return self._shared

    def may_read(self, task: Task) -> bool:
        return self.reads_all or has_part_in(self._by, task) or self.is_let

    def may_read_any(self, tasks: Iterable[Task]) -> bool:
        """True if the caller reads any of the tasks' workflow."""
        return self.reads_all or any(has_part_in(self._by, task) for task in tasks) or self.is_let

    def readable_among(self, task_ids: Sequence[str]) -> list[str]:
        """Returns the ids of the tasks that the caller may read. The tasks are read only for a caller that doesn't read
        all: one read per hundred."""
        if self.reads_all:
            return list(task_ids)
        tasks = self._baton.store.tasks.many(self.workspace, task_ids) if task_ids else {}
        return [task_id for task_id, task in tasks.items() if self.may_read(task)]

    def must_read(self, task: Task, what: str = "task") -> None:
        """Raises ``Unknown``."""
        if not self.may_read(task):
            raise errors.Unknown(what)

    def may_read_review(self, review: Review) -> bool:
        return self.reads_all or has_asked(self._by, review) or self.is_let

    def may_read_tool(self, name: str) -> bool:
        """An agent reads the tools that it has."""
        if self.reads_all:
            return True
        if self._tools is None:
            is_agent = self._by.kind is PrincipalKind.AGENT
            self._tools = self._baton.store.runs.profile(self.workspace, self._by.id).tools if is_agent else ()
        return name in self._tools or self.is_let

    def readable_alerts(self, alerts: Iterable[Alert]) -> tuple[Alert, ...]:
        """Returns the alerts that the caller raised, and those about tasks that it may read. One read per hundred."""
        found = tuple(alerts)
        if self.reads_all:
            return found
        about = {each.task_id for each in found if each.task_id is not None and not has_raised(self._by, each)}
        tasks = self._baton.store.tasks.many(self.workspace, sorted(about)) if about else {}
        readable = {task_id for task_id, task in tasks.items() if has_part_in(self._by, task)}
        return tuple(each for each in found if has_raised(self._by, each) or each.task_id in readable or self.is_let)


def readable_task(deps: Deps, by: Principal, task_id: str) -> Task:
    """Returns the task. One read. Raises ``Unknown``."""
    task, _ = deps.store.tasks.load(by.workspace, task_id)
    ReadRights(deps, by).must_read(task)
    return task


def knows_claim(claim_id: str) -> Callable[[Task], bool]:
    """For ``refused_as_unknown``: a caller that names the current claim knows the task, and learns that the claim isn't
    its own."""
    return lambda task: task.claim is not None and task.claim.claim_id == claim_id


@contextmanager
def refused_as_unknown(
    deps: Deps,
    by: Principal,
    task_id: str,
    what: str = "task",
    unless: Callable[[Task], bool] = lambda _: False,
) -> Iterator[None]:
    """Turns a refusal into ``Unknown`` if the caller may not read the task, as a refusal reveals that it exists.
    ``unless``: the caller may know the task all the same. Costs one read for a refused caller that doesn't read all.
    Raises ``Unknown``, or the refusal."""
    try:
        yield
    except (errors.Refused, errors.Forbidden, errors.InvalidInput):
        if not reads_all(by):
            task, _ = deps.store.tasks.load(by.workspace, task_id)
            if not unless(task):
                ReadRights(deps, by).must_read(task, what)
        raise

"""What a search over the tasks of all days asks for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from baton.domain.canonical_json import canonical_json
from baton.domain.numbers import loads
from baton.domain.priority import Priority
from baton.domain.task_state import State
from baton.domain.tasks.task import Kind, Task


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskSearch:
    """An empty field asks for nothing. Texts are compared without their case."""

    words: tuple[str, ...] = ()  # each has to be in one of the task's texts, or in its results
    label: str | None = None  # as a list shows it: ``name=value``
    page: str | None = None  # the id of the tracker's page that shows it
    agent: str | None = None  # the target's slug
    asked_by: str | None = None  # who asked: the source agent's slug, or a principal's key
    kinds: frozenset[Kind] = frozenset()
    priorities: frozenset[Priority] = frozenset()
    states: frozenset[State] = frozenset()
    since: datetime | None = None  # created then or later

    @property
    def is_by_day(self) -> bool:
        """False if what is asked for has a list of its own."""
        return (self.label, self.page, self.agent) == (None, None, None)

    def takes(self, task: Task) -> bool:
        return (
            self.agent in {None, task.target_agent}
            and self.asked_by in {None, task.source_agent, task.created_by}
            and (not self.kinds or task.kind in self.kinds)
            and (not self.priorities or task.priority in self.priorities)
            and (not self.states or task.state in self.states)
            and (self.label is None or self.label.casefold() in map(str.casefold, task.meta.labels))
            and not self.is_past(task)
            and self._has_words(task)
        )

    def is_past(self, task: Task) -> bool:
        """True if every older task is outside of the search too."""
        return self.since is not None and task.created_at < self.since

    def _has_words(self, task: Task) -> bool:
        if not self.words:
            return True
        texts = "\n".join(_texts_of(task)).casefold()
        left = [word.casefold() for word in self.words if word.casefold() not in texts]
        return not left or _are_in(left, task.meta.results)


def _are_in(words: Sequence[str], results: Sequence[str]) -> bool:
    """True if each word is in a text of the results; the names of their fields don't count."""
    stored = "\n".join(results).casefold()
    if not all(canonical_json(word)[1:-1] in stored for word in words):
        return False  # as for nearly all tasks: their JSON isn't read
    texts = "\n".join(text for result in results for text in _values_in(loads(result))).casefold()
    return all(word in texts for word in words)


def _values_in(value: Any) -> Iterator[str]:
    if isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _values_in(each)
    elif value is not None and not isinstance(value, bool):
        yield str(value)


def _texts_of(task: Task) -> list[str]:
    """What of a task is read with a list of tasks, besides its results: its texts in other items would cost further
    reads."""
    agents = (task.source_agent, task.target_agent, task.created_by, *task.takers)
    ids = (task.id, task.handoff_id, task.workflow_id, task.last_checkpoint_id, task.work_type)
    return [text for text in (task.title, *agents, *task.meta.labels, *ids) if text]

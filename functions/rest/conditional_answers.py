"""Conditional answers to reads of tasks. A caller who reads again and again, and takes an answer that is half a minute
old, gets 304 from the workspace's watch while nothing has changed (docs/what-is-stored.md §14)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from http import HTTPStatus

from baton.domain.access.principal import Principal
from baton.domain.rights.read_rights import reads_all
from baton.domain.tasks.watch import WINDOW, window_of
from baton.ports.deps import Deps
from baton.services.tasks.watch_tasks import watch_tasks
from rest import answers, etags
from rest.freshness import age_taken
from rest.request import Request


@dataclass(frozen=True, slots=True)
class ConditionalAnswer:
    """The state of the workspace's watch, which is read before the answer is made."""

    edition: str  # a caller's tag of this edition still holds
    is_settled: bool  # an answer that is made now gets this edition

    def answer(self, by: Principal, request: Request, make: Callable[[], answers.Answer]) -> answers.Answer:
        """Returns 304 for a caller who shows a tag of this edition. Otherwise calls ``make`` and returns its answer,
        with the edition in its tag if that is settled."""
        known = next((tag for tag in etags.known_to(request) if etags.edition_of(tag) == self.edition), None)
        if known is not None:
            return etags.unchanged(known)
        answer = make()
        return self._dated(answer, by) if self.is_settled and answer.status == HTTPStatus.OK else answer

    def _dated(self, answer: answers.Answer, by: Principal) -> answers.Answer:
        text = answers.text_of(answer)
        tag = etags.with_edition(etags.tag_of(by, text or ""), self.edition)
        return replace(answer, body=None, text=text, headers={**answer.headers, "ETag": tag})


def conditional_answer_of(deps: Deps, by: Principal, request: Request) -> ConditionalAnswer | None:
    """Returns None if the answer has to be made: for a caller who takes only a fresh one, while the watch doesn't hold,
    and for a caller who may not read all tasks, as an edition would tell that something has changed that they may not
    read."""
    if age_taken(request.header("cache-control")) < WINDOW.total_seconds() or not reads_all(by):
        return None
    now, watch = deps.clock.now(), watch_tasks(deps, by.workspace)
    if watch is None or not watch.holds(now):
        return None
    state = (str(watch.changes), str(window_of(now)))
    edition = etags.digest_of(by, deps.release, deps.public_url, request.path, request.query_text, *state)
    return ConditionalAnswer(edition[: etags.EDITION_LENGTH], watch.is_settled(now))

"""An administrator ends all approvals of a person (docs/decisions/110-what-rests-on-a-person.md)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from baton.domain import errors, times
from baton.domain.access.principal import Principal, PrincipalKind, is_tracker_human
from baton.domain.access.rights import Deed, Right
from baton.domain.access.workspace_change import ChangeSubject, Difference
from baton.domain.idempotency import IdempotencyKey
from baton.ports.access import Recorded
from baton.ports.deps import Deps
from baton.steps import idempotency
from baton.steps.access.person_rights import right_of_human
from baton.steps.access.record_change import new_change
from baton.steps.access.second_administrator import must_still_administer


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonState:
    """``approvals_ended_at``: the person's approvals until then don't count; None if no administrator has ended
    them."""

    person: str
    right: Right | None
    approvals_ended_at: datetime | None


def end_approvals(deps: Deps, by: Principal, name: str, idempotency_key: IdempotencyKey | None = None) -> PersonState:
    """Ends everything that the person has approved until now: one write, with its record. Their right stays, and their
    later approvals count. Raises ``HumanNeeded``, ``RightNeeded``, ``TokenRefused``, ``UnknownPerson``, and
    ``LimitReached`` for too many people of the tracker."""
    by.must_have(Deed.END_APPROVALS)

    def end() -> PersonState:
        store = deps.store.tokens
        people, now = store.people(by.workspace), deps.clock.now()
        must_still_administer(deps, by)
        if not (name in people.persons or is_tracker_human(name) or store.has_been_issued(by.workspace, name)):
            raise errors.UnknownPerson
        after = people.checked_again().with_ended((name,), now)
        told = [_told(each.named(name).ended_at) for each in (people, after)]
        key = f"{PrincipalKind.HUMAN}:{name}"
        change = new_change(deps, by, Difference(ChangeSubject.APPROVALS, (key,), *told))
        store.save_people(by.workspace, Recorded((change,), people=after), idempotency_key)
        return person_state(deps, by.workspace, name)

    return idempotency.run_once(deps, idempotency_key, end, lambda _: person_state(deps, by.workspace, name))


def person_state(deps: Deps, workspace: str, name: str) -> PersonState:
    ended_at = deps.store.tokens.person(workspace, name).ended_at
    return PersonState(person=name, right=right_of_human(deps, workspace, name), approvals_ended_at=ended_at)


def _told(ended_at: datetime | None) -> dict[str, str | None]:
    return {"approvals_ended_at": None if ended_at is None else times.rfc3339(ended_at)}

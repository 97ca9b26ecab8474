"""Every state x every verb x every kind of caller, against tables written by hand from spec/lifecycle.md §1."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from baton.domain import errors
from baton.domain.events import replay
from baton.domain.principal import Principal
from baton.domain.task import ENDED
from support.tasks import (
    ACTING_SERVICE,
    BARE_HUMAN,
    CREATOR,
    HUMAN,
    OTHER,
    SERVICE,
    TARGET,
    Life,
    in_state,
)

# What the verb does to a task in that state, asked for by one who may: the state after it, or the refusal.
# ``undoable``: delegated, still inside its undo window. Each claim is the target agent's; ``sweep`` comes when a
# claim's lease is over.
OUTCOMES = """
verb         needs        undoable     delegated      next         claimed        waiting
approve      delegated    NotAllowed   NotAllowed     NotAllowed   NotAllowed     NotAllowed
approve-next next         NotAllowed   NotAllowed     NotAllowed   NotAllowed     NotAllowed
undo         NotAllowed   needs        UndoWindowOver NotAllowed   NotAllowed     NotAllowed
claim        NotClaimable NotClaimable claimed        claimed      AlreadyClaimed NotClaimable
complete     StaleClaim   StaleClaim   StaleClaim     StaleClaim   done           StaleClaim
fail         StaleClaim   StaleClaim   StaleClaim     StaleClaim   failed         StaleClaim
fail-retry   StaleClaim   StaleClaim   StaleClaim     StaleClaim   delegated      StaleClaim
release      StaleClaim   StaleClaim   StaleClaim     StaleClaim   delegated      StaleClaim
resolve      done         done         done           done         done           done
cancel       cancelled    cancelled    cancelled      cancelled    cancelled      cancelled
sweep        needs        delegated    delegated      next         delegated      waiting
"""
# The same for a task that has ended, however it did.
AFTER_THE_END = """
approve      TaskEnded
approve-next TaskEnded
undo         TaskEnded
claim        TaskEnded
complete     StaleClaim
fail         StaleClaim
fail-retry   StaleClaim
release      StaleClaim
resolve      TaskEnded
cancel       TaskEnded
sweep        unchanged
"""
# Who may ask at all. A refusal here comes before any about the state.
WHO = """
verb         target      other        creator      human      bare-human  service     acting-service
approve      HumanNeeded HumanNeeded  HumanNeeded  ok         ok          HumanNeeded HumanNeeded
approve-next HumanNeeded HumanNeeded  HumanNeeded  ok         ok          HumanNeeded HumanNeeded
undo         HumanNeeded HumanNeeded  HumanNeeded  ok         ok          HumanNeeded HumanNeeded
claim        ok          NotYourAgent NotYourAgent ok         ScopeNeeded ScopeNeeded ok
complete     ok          StaleClaim   StaleClaim   StaleClaim StaleClaim  StaleClaim  StaleClaim
fail         ok          StaleClaim   StaleClaim   StaleClaim StaleClaim  StaleClaim  StaleClaim
fail-retry   ok          StaleClaim   StaleClaim   StaleClaim StaleClaim  StaleClaim  StaleClaim
release      ok          StaleClaim   StaleClaim   StaleClaim StaleClaim  StaleClaim  StaleClaim
resolve      HumanNeeded HumanNeeded  HumanNeeded  ok         ok          HumanNeeded HumanNeeded
cancel       HumanNeeded HumanNeeded  ok           ok         ok          HumanNeeded HumanNeeded
"""
CALLERS: dict[str, Principal] = {
    "target": TARGET,
    "other": OTHER,
    "creator": CREATOR,
    "human": HUMAN,
    "bare-human": BARE_HUMAN,
    "service": SERVICE,
    "acting-service": ACTING_SERVICE,
}
VERBS: dict[str, Callable[[Life, Principal], object]] = {
    "approve": lambda life, by: life.approve(by),
    "approve-next": lambda life, by: life.approve_next(by),
    "undo": lambda life, by: life.undo(by),
    "claim": lambda life, by: life.claim(by, claim_id="clm_other"),
    "complete": lambda life, by: life.complete(by),
    "fail": lambda life, by: life.fail(retryable=False, by=by),
    "fail-retry": lambda life, by: life.fail(retryable=True, by=by),
    "release": lambda life, by: life.release(by),
    "resolve": lambda life, by: life.resolve(by),
    "cancel": lambda life, by: life.cancel(by),
    "sweep": lambda life, _: life.later(300).sweep(),
}


def _grid(text: str) -> dict[str, dict[str, str]]:
    head, *rows = [line.split() for line in text.strip().splitlines()]
    return {row[0]: dict(zip(head[1:], row[1:], strict=True)) for row in rows}


def _cases() -> list[tuple[str, str, str, str]]:
    outcomes, who = _grid(OUTCOMES), _grid(WHO)
    after = dict(line.split() for line in AFTER_THE_END.strip().splitlines())
    cases = []
    for verb in VERBS:
        expected = outcomes[verb] | dict.fromkeys(("done", "failed", "rejected", "cancelled"), after[verb])
        for state, outcome in expected.items():
            for caller, allowed in who.get(verb, {"human": "ok"}).items():
                cases.append((verb, state, caller, outcome if allowed == "ok" else allowed))
    return cases


CASES = _cases()


def test_the_tables_cover_every_state_verb_and_caller() -> None:
    # 10 states and one more for the undo window; the sweeper asks for nobody.
    assert len(CASES) == (len(VERBS) - 1) * 10 * len(CALLERS) + 10
    assert {state for _, state, _, _ in CASES} - {"undoable"} == {
        "needs", "delegated", "next", "claimed", "waiting", "done", "failed", "rejected", "cancelled",
    }  # fmt: skip


@pytest.mark.parametrize(("verb", "state", "caller", "expected"), CASES)
def test_a_verb_in_a_state_by_a_caller(verb: str, state: str, caller: str, expected: str) -> None:
    life = in_state(state)
    before = life.task
    error = getattr(errors, expected, None)
    if error is not None:
        with pytest.raises(error) as refused:
            VERBS[verb](life, CALLERS[caller])
        assert type(refused.value) is error
        assert life.task is before
        return
    VERBS[verb](life, CALLERS[caller])
    if expected == "unchanged":
        assert life.task.changed(version=before.version) == before
        return
    assert life.task.state == expected
    assert life.task.version == before.version + 1
    assert life.task.seq == before.seq + len(life.last.events)
    assert life.task.fence == before.fence + (expected == "claimed")
    assert (life.task.claim is not None) == (expected == "claimed")
    if state not in {"waiting", "rejected"}:  # made without a trail
        assert replay(life.events).changed(version=0).state == expected


WITH_ANOTHER_CLAIM: list[Callable[[Life], object]] = [
    lambda life: life.complete(claim_id="clm_another"),
    lambda life: life.fail(retryable=False, claim_id="clm_another"),
    lambda life: life.fail(retryable=True, claim_id="clm_another"),
    lambda life: life.release(claim_id="clm_another"),
    lambda life: life.task.current_claim("clm_another", TARGET),
]


@pytest.mark.parametrize("verb", WITH_ANOTHER_CLAIM)
@pytest.mark.parametrize("state", ["needs", "delegated", "next", "claimed", "waiting", "done", "failed", "cancelled"])
def test_another_claim_id_is_stale_in_every_state(state: str, verb: Callable[[Life], object]) -> None:
    life = in_state(state)
    before = life.task
    with pytest.raises(errors.StaleClaim):
        verb(life)
    assert life.task is before


def test_every_ended_state_is_known_to_be_an_end() -> None:
    assert {str(state) for state in ENDED} == {"done", "failed", "rejected", "cancelled"}

"""The last entry of a change that ends a claim tells which one, whose, and who ended it; the public trail doesn't."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from baton.adapters.dynamodb.trail_items import appended
from baton.domain.agents.agent import Runtime
from baton.domain.tasks import commands, tail
from baton.domain.tasks.change import Change
from baton.domain.tasks.tail import EndedClaim
from baton.domain.tasks.transitions import transition
from support.values.tasks import CLAIM_ID, HUMAN, OTHER, SWEEPER, TARGET, Life, an_agent, claimed
from support.worlds.world import agent


def ended(change: Change) -> EndedClaim | None:
    return tail.ended_in(appended(change).entries[-1], change.task)


def taken_over(life: Life) -> Change:
    """As ``take_task`` does it: the sweep and the claim of the same principal's next worker are one change."""
    life.later(300)
    swept = transition(life.task, commands.Sweep(by=SWEEPER, agent=life.agent), life.now)
    claim = commands.ClaimTask(by=TARGET, agent="auditor", worker="w2", claim_id="clm_next")
    return swept.followed_by(transition(swept.task, claim, life.now))


BY_HOLDER: dict[str, Callable[[Life], Change]] = {
    "complete": Life.complete,
    "fail": lambda life: life.fail(retryable=False),
    "fail, tried again": lambda life: life.fail(retryable=True),
    "release": Life.release,
}
BY_OTHERS: dict[str, Callable[[Life], Change]] = {
    "cancel": Life.cancel,
    "resolve": Life.resolve,
    "release by a human": Life.release_claim,
    "sweep": lambda life: life.later(300).sweep(),
    "sweep, nobody to retry": lambda life: life.later(300).sweep(an_agent(runtime=Runtime.RUN)),
    "takeover": taken_over,
}


@pytest.mark.parametrize("end", BY_HOLDER.values(), ids=BY_HOLDER)
def test_the_holder_is_told_from_the_entry(end: Callable[[Life], Change]) -> None:
    assert ended(end(claimed())) == EndedClaim(CLAIM_ID, 1, "auditor", TARGET.key, by_holder=True)


@pytest.mark.parametrize("end", BY_OTHERS.values(), ids=BY_OTHERS)
def test_an_end_by_another_tells_whose_claim_it_was(end: Callable[[Life], Change]) -> None:
    assert ended(end(claimed())) == EndedClaim(CLAIM_ID, 1, "auditor", TARGET.key, by_holder=False)


def test_an_exhausted_task_tells_of_its_claim_behind_the_alert() -> None:
    change = claimed(max_attempts=1).later(300).sweep()
    assert change.events[-1].type == "alert_raised"
    assert ended(change) == EndedClaim(CLAIM_ID, 1, "auditor", TARGET.key, by_holder=False)
    assert not any("ended" in entry for entry in appended(change).entries[:-1])


def test_the_agent_of_open_work_stays_with_its_claim() -> None:
    life = Life(target_agent=None)
    life.approve()
    life.later(3)
    life.do(commands.ClaimTask(by=OTHER, agent="runner", worker="w", claim_id=CLAIM_ID))
    first = life.release(OTHER)
    life.do(commands.ClaimTask(by=agent("auditor"), agent="auditor", worker="w", claim_id="clm_next"))
    assert tail.ended_in(appended(first).entries[-1], life.task) == EndedClaim(
        CLAIM_ID, 1, "runner", OTHER.key, by_holder=True
    )


@pytest.mark.parametrize("life", [Life(), claimed()], ids=["unclaimed", "claimed"])
def test_a_change_that_ends_no_claim_tells_of_none(life: Life) -> None:
    for change in (life.last, life.do(commands.FlagClosedByBot(by=HUMAN))):
        assert not any("ended" in entry for entry in appended(change).entries)
        assert ended(change) is None


def test_the_public_trail_tells_of_no_claims_id() -> None:
    life = claimed()
    life.cancel()
    assert CLAIM_ID not in repr([event.public() for event in life.events])
    assert CLAIM_ID not in repr(tail.latest(life.task))

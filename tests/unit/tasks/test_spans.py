"""The spans of a trail: they cover the task's life without a gap, whatever happened in it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from itertools import pairwise
from random import Random

import pytest

from baton.domain import errors
from baton.domain.tasks import commands
from baton.domain.tasks.spans import Span, SpanKind, spans_of
from baton.domain.tasks.task import Wait
from support.clock import NOON
from support.values.tasks import CLAIM_ID, HUMAN, TARGET, Life, claimed

HOUR = 3_600


def told(life: Life) -> list[tuple[str, float, str | None]]:
    found = spans_of(life.events, life.now)
    return [(str(span.kind), span.seconds(life.now), span.ended_by) for span in found]


def test_a_task_waits_for_a_person_then_for_a_worker_and_is_worked_on() -> None:
    life = Life().later(100)
    life.approve()
    life.later(60).claim()
    life.later(30).complete()
    waits = [("person", 100.0, "approved"), ("later", 3.0, None), ("worker", 57.0, "handoff_received")]
    assert told(life) == [*waits, ("work", 30.0, "handoff_completed")]


def test_work_names_its_claim() -> None:
    life = claimed()
    (_, work) = spans_of(life.events, life.now)
    assert work == Span(kind=SpanKind.WORK, began_at=life.now, fence=1, attempt=1, agent="auditor", worker="w")


def test_a_lost_lease_is_told_as_such_and_begins_another_wait() -> None:
    life = claimed()
    life.later(300).sweep()
    life.later(40)
    assert told(life)[-2:] == [("work", 300.0, "heartbeat_lost"), ("worker", 40.0, None)]


def test_a_pause_after_a_failed_attempt_is_put_off_and_not_a_wait_for_a_worker() -> None:
    life = claimed()
    life.later(10).fail(retryable=True)
    life.later(8).claim()
    assert told(life)[1:4] == [("work", 10.0, "requeued"), ("later", 5.0, None), ("worker", 3.0, "handoff_received")]
    assert [span.attempt for span in spans_of(life.events, life.now) if span.fence] == [1, 2]


def test_a_deferred_task_waits_for_a_person_again_once_it_is_due() -> None:
    life = Life().later(10)
    life.do(commands.Defer(by=HUMAN, until=life.now + timedelta(seconds=HOUR)))
    assert told(life) == [("person", 10.0, "deferred"), ("later", 0.0, None)]
    life.later(HOUR + 5)
    assert told(life)[1:] == [("later", float(HOUR), None), ("person", 5.0, None)]
    life.approve()
    assert told(life)[1:3] == [("later", float(HOUR), None), ("person", 5.0, "approved")]


def test_one_that_is_decided_on_before_it_is_due_was_put_off_until_then() -> None:
    life = Life()
    life.do(commands.Defer(by=HUMAN, until=life.now + timedelta(seconds=HOUR)))
    life.later(20).cancel()
    assert told(life) == [("later", 20.0, "cancelled")]


def test_what_changes_nothing_of_a_wait_does_not_divide_it() -> None:
    life = claimed()
    life.later(5).do(commands.SaveCheckpoint(by=TARGET, claim_id=CLAIM_ID, checkpoint_id="chk_1", step_name="half"))
    life.later(5).complete()
    assert told(life)[1:] == [("work", 10.0, "handoff_completed")]


@pytest.mark.parametrize(
    ("more", "kind"), [({"interaction_id": "pay"}, "callback"), ({"questions": ("q_1",)}, "answers"), ({}, "branches")]
)
def test_a_wait_says_what_for(more: dict[str, object], kind: str) -> None:
    life = claimed()
    wait = Wait(number=1, since=life.now, alert_at=life.now + timedelta(seconds=HOUR), **more)  # type: ignore[arg-type]
    life.later(5).do(commands.WaitFor(by=TARGET, claim_id=CLAIM_ID, wait=wait))
    life.later(7)
    assert told(life)[1:] == [("work", 5.0, "waiting"), (kind, 7.0, None)]


def test_an_ended_task_has_no_open_span() -> None:
    life = claimed()
    life.later(1).complete()
    life.later(HOUR)
    assert all(span.ended_at is not None for span in spans_of(life.events, life.now))


@pytest.mark.parametrize("seed", range(60))
def test_spans_cover_a_life_without_a_gap(seed: int) -> None:
    random, life = Random(seed), Life()
    steps: list[Callable[[], object]] = [
        lambda: life.approve(),
        lambda: life.undo(),
        lambda: life.do(commands.Defer(by=HUMAN, until=life.now + timedelta(seconds=random.randint(1, 400)))),
        lambda: life.claim(),
        lambda: life.sweep(),
        lambda: life.fail(retryable=random.random() < 0.9),
        lambda: life.release(),
        lambda: life.complete() if random.random() < 0.2 else None,
    ]
    for _ in range(40):
        try:
            life.later(random.choice([0, 1, 5, 300]))
            random.choice(steps)()
        except errors.BatonError:
            continue
    found = list(spans_of(life.events, life.now))
    assert all(before.ended_at == after.began_at for before, after in pairwise(found))
    assert not found or found[0].began_at == NOON
    end = life.events[-1].at if life.task.is_ended else life.now
    assert sum(span.seconds(life.now) for span in found) == (end - NOON).total_seconds()

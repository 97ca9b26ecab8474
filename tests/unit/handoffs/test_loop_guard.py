"""The loop guard (docs/spec/protocol.md §3): whatever goes round is stopped within its limit, in one entry for a human,
and nothing else is."""

from __future__ import annotations

from functools import partial
from itertools import cycle, islice
from typing import Any

import pytest

from baton.domain.errors import CapabilityMismatch, LoopTripped, VersionConflict
from baton.domain.escalations.review import SeenReview
from baton.domain.idempotency import IdempotencyKey
from baton.domain.tasks.task import Kind
from baton.services.agents.register_agent import register_agent
from baton.services.escalations.close_review import Closing, close_review
from baton.services.escalations.release_review import release_review
from support.faults.soak import spread
from support.worlds.team import HeldTask, StoppedHandoff, Team, ring_of
from support.worlds.world import agent, human

A, B, C = "anna", "bert", "carl"
ENDING = ("continuation", "rollback")
WAYS = ("handoff", "transfer", "delegation", "continuation", "rollback")


def around(*slugs: str, hops: int = 200) -> list[str]:
    return list(islice(cycle(slugs), hops))


def stopped(team: Team, path: list[Any], way: str = "handoff", **more: Any) -> tuple[int, StoppedHandoff]:
    hops, halt = team.travel(path, way, **more)
    assert isinstance(halt, StoppedHandoff), f"{hops} hops, and nobody has stopped them"
    return hops, halt


def only_entry(team: Team, halt: StoppedHandoff, count: int = 1) -> None:
    """One entry tells of it, and the caller's task is as it was, or has ended as was asked."""
    (review,) = team.reviews()
    assert (review.id, review.reason, review.rule) == (halt.review_id, "loop_guard", halt.rule)
    assert (review.count, review.is_open, review.source_agent) == (count, True, halt.held.by.id)
    if halt.is_refused:
        assert team.task(halt.held.task.id) == halt.held.task
    else:
        assert team.task(halt.held.task.id).state in {"done", "failed"}
    team.check()


# What goes round


@pytest.mark.parametrize(
    ("way", "hops", "rule"),
    [
        # Human → a → b → a → b → a → b; one more, and the last six would be between the two alone.
        ("handoff", 6, "ping_pong"),
        ("transfer", 6, "ping_pong"),
        ("delegation", 6, "ping_pong"),
        ("continuation", 6, "ping_pong"),
        ("rollback", 2, "rollback_to_its_source"),
    ],
)
def test_to_and_fro_between_two_ends_in_one_entry_and_other_branches_go_on(way: str, hops: int, rule: str) -> None:
    team = Team(A, B, C)
    root = team.begin(C)
    other = team.ask(C, "an aside", by=human())
    first = team.take(A, team.ask(A, "begin", under=root).task.id)
    made, halt = stopped(team, around(B, A), way, held=first)
    assert (made + 1, halt.rule) == (hops, rule)
    only_entry(team, halt)
    beside = team.pass_on(root, B, "handoff", "another branch")
    assert isinstance(beside, HeldTask)
    assert team.complete(beside).task.state == "done"
    assert team.take(C, other.task.id).claim_id


@pytest.mark.parametrize("way", WAYS)
def test_a_ring_of_many_ends_at_the_depth_that_is_allowed(way: str) -> None:
    team = Team(*ring_of(50))
    hops, halt = stopped(team, around(*ring_of(50)), way)
    assert (hops, halt.rule, halt.is_refused) == (10, "max_depth", way not in ENDING)
    only_entry(team, halt)


@pytest.mark.parametrize("way", spread(WAYS))
def test_50_hops_are_made_where_they_are_allowed_and_not_one_more(way: str) -> None:
    team = Team(*ring_of(51), max_depth=50, max_handoffs_per_workflow=500)
    hops, halt = stopped(team, around(*ring_of(51)), way)
    assert (hops, halt.rule) == (50, "max_depth")
    assert team.task(halt.held.task.id).depth == 50
    only_entry(team, halt)


@pytest.mark.parametrize("way", WAYS)
def test_a_small_ring_ends_at_the_fourth_time_round(way: str) -> None:
    team = Team(A, B, C, max_depth=50)
    hops, halt = stopped(team, around(A, B, C), way)
    # Human → a, then three times a → b → c → a.
    assert (hops, halt.rule) == (10, "same_direction")
    only_entry(team, halt)


def test_open_work_that_is_passed_round_is_stopped_like_any_other() -> None:
    for crew, hops, rule in (((A, B), 6, "ping_pong"), (ring_of(12), 10, "max_depth")):
        team = Team(*crew)
        held, made = team.begin(crew[0]), 1
        while True:
            here = team.pass_on(held, None, "handoff", f"whoever {made}")
            if isinstance(here, StoppedHandoff):
                break
            held, made = here, made + 1
            # The next to take it is the next of the crew.
            team.slugs = [*team.slugs[1:], team.slugs[0]]
        assert (made, here.rule) == (hops, rule)
        only_entry(team, here)


@pytest.mark.parametrize("way", ["handoff", "transfer", "delegation", "continuation"])
def test_nobody_hands_off_to_itself_under_whatever_name(way: str) -> None:
    for name in (A, "Anna", "the painter"):
        team = Team(B)
        team.register(A, aliases=("Anna", "the painter"))
        halt = team.pass_on(team.begin(A), name, way, "more")
        assert isinstance(halt, StoppedHandoff)
        assert halt.rule == "self_handoff"
        only_entry(team, halt)


def test_a_failure_goes_back_once_and_its_failure_is_for_a_human() -> None:
    team = Team(A, B)
    held = team.begin(A)
    child = team.take(B, team.ask(B, "check it", under=held).task.id)
    team.complete(held)
    back = team.fail(child).failure
    assert back is not None
    assert back["rollback"]["target_agent"] == A
    again = team.take(A, back["rollback"]["task_id"])
    ended = team.fail(again)
    assert ended.failure is not None
    assert ended.failure["rollback"]["rule"] == "rollback_to_its_source"
    assert [task.state for task in team.tasks()] == ["done", "failed", "failed"]
    (review,) = team.reviews()
    assert (review.rule, review.source_agent, review.target_agent) == ("rollback_to_its_source", A, B)


@pytest.mark.parametrize("way", ["transfer", "handoff"])
@pytest.mark.parametrize(
    "variant",
    [
        "fix the bug",
        "  Fix   the BUG!!",
        "Fix, the\tbug.",
        "\uff26\uff29\uff38 the \uff42\uff55\uff47",
        "«fix — the bug»",
    ],
)
def test_the_same_reason_in_other_clothes_is_the_same_reason(variant: str, way: str) -> None:
    team = Team(A, B, C)
    _, held = team.travel([A, B, C, A], reason=lambda hop: "Fix the bug" if hop == 2 else f"step {hop}")
    assert isinstance(held, HeldTask)
    halt = team.pass_on(held, B, way, variant)
    assert isinstance(halt, StoppedHandoff)
    assert halt.rule == "same_reason"
    only_entry(team, halt)
    assert isinstance(team.pass_on(held, C, way, variant), HeldTask)


def reason_of(reasons: dict[int, str], hop: int) -> str:
    return reasons.get(hop, f"step {hop}")


def test_another_reason_or_another_direction_is_no_repetition() -> None:
    for path, reason in (([A, B, C, A, B], "fix the bugs"), ([A, B, C, A, C], "fix the bug")):
        team = Team(A, B, C)
        reasons = {2: "fix the bug", 5: reason}
        hops, held = team.travel(path, reason=partial(reason_of, reasons))
        assert (hops, isinstance(held, HeldTask)) == (5, True)


# Who knocks again


@pytest.mark.parametrize("way", ["handoff", "transfer", "delegation"])
def test_however_often_an_agent_knocks_there_is_one_entry_that_counts(way: str) -> None:
    team = Team(A, B)
    _, halt = stopped(team, around(A, B), way)
    target = A if halt.held.by.id == B else B
    for number in range(5):
        again = team.pass_on(halt.held, target, way, f"please {number}")
        assert isinstance(again, StoppedHandoff)
        assert (again.rule, again.review_id) == (halt.rule, halt.review_id)
    only_entry(team, halt, count=6)
    assert team.reviews()[0].request["reason"].startswith("please 4")
    # Stopping is no prison: the task may still be ended.
    assert team.complete(halt.held, to=target).task.state == "done"
    only_entry(team, StoppedHandoff(halt.held, halt.rule, halt.review_id, is_refused=False), count=7)


def test_a_refusal_that_is_repeated_with_its_key_is_the_same_and_counts_once() -> None:
    team = Team(A, B, max_depth=1)
    held = team.begin(A)
    idempotency_key = IdempotencyKey(held.by, "/handoffs", "key-1", "h")
    told = []
    for _ in range(3):
        with pytest.raises(LoopTripped) as trip:
            team.ask(B, under=held, idempotency_key=idempotency_key)
        told.append(trip.value.fields)
    assert told[0] == told[1] == told[2]
    assert [review.count for review in team.reviews()] == [1]
    release_review(team.deps, human(), told[0]["review_id"])
    with pytest.raises(LoopTripped):
        team.ask(B, under=held, idempotency_key=idempotency_key)
    assert len(team.tasks()) == 2


def test_knocking_at_itself_as_a_root_makes_one_entry() -> None:
    team = Team(A)
    for _ in range(5):
        with pytest.raises(LoopTripped) as trip:
            team.ask(A, "again", by=agent(A))
        assert trip.value.rule == "self_handoff"
    (review,) = team.reviews()
    assert review.count == 5


def test_two_branches_that_are_stopped_by_one_rule_keep_an_entry_each() -> None:
    """Each takes the place of its own child: one that is overwritten would be lost."""
    team = Team(A, B, C, max_depth=2)
    root = team.begin(A)
    one = team.take(B, team.ask(B, "one", under=root).task.id)
    other = team.take(C, team.ask(C, "other", under=root).task.id)
    team.complete(one, to=C, reason="the rest of one")
    team.complete(other, to=B, reason="the rest of other")
    assert {(r.rule, r.count, r.request["reason"]) for r in team.reviews()} == {
        ("max_depth", 1, "the rest of one"),
        ("max_depth", 1, "the rest of other"),
    }


# What a human lets through


@pytest.mark.parametrize("way", WAYS)
def test_releasing_an_entry_lets_exactly_that_handoff_through(way: str) -> None:
    team = Team(*ring_of(12))
    _, halt = stopped(team, around(*ring_of(12)), way)
    before = {task.id for task in team.tasks()}
    review, details = release_review(team.deps, human(), halt.review_id)
    team.later()
    made = [task for task in team.tasks() if task.id not in before]
    assert [task.id for task in made] == [details.task.id]
    assert (details.task.source_agent, details.task.target_agent) == ("agent-09", "agent-10")
    assert (details.task.depth, details.task.state) == (11, "delegated")
    assert details.task.created_by == "agent:agent-09"
    assert not review.is_open
    # The next hop of the same chain is stopped again, in an entry that waits again.
    held = team.take("agent-10", details.task.id)
    again = team.pass_on(held, "agent-11", way, "one more")
    assert isinstance(again, StoppedHandoff)
    assert next(each for each in team.reviews() if each.is_open).id == again.review_id
    team.check()


def test_a_closed_entry_opens_again_when_the_chain_is_stopped_again() -> None:
    team = Team(*ring_of(12))
    _, halt = stopped(team, around(*ring_of(12)))
    before = len(team.tasks())
    close_review(team.deps, human(), halt.review_id, Closing("they run in circles"))
    again = team.pass_on(halt.held, "agent-10", "handoff", "once more")
    assert isinstance(again, StoppedHandoff)
    (review,) = team.reviews()
    assert (again.review_id, review.is_open, review.closed_reason) == (halt.review_id, True, None)
    assert len(team.tasks()) == before


def test_a_human_sees_what_a_release_lets_through_and_releases_nothing_else() -> None:
    """An agent knocks with something harmless, and then with something else: it has one entry for both."""
    team = Team(A, B, C, max_depth=1)
    held = team.begin(A)
    for target, reason in ((B, "harmless"), (C, "something else")):
        with pytest.raises(LoopTripped):
            team.ask(target, reason, under=held)
        (review,) = team.reviews()
        assert (review.target_agent, review.chain[-1], review.request["reason"]) == (target, target, reason)
    with pytest.raises(VersionConflict):
        release_review(team.deps, human(), review.id, None, SeenReview(review.version - 1))
    assert team.reviews() == [review]
    released, details = release_review(team.deps, human(), review.id, None, SeenReview(review.version))
    assert (details.task.target_agent, released.task_id) == (C, details.task.id)


def test_a_release_keeps_to_the_budget_and_to_what_its_target_declares() -> None:
    team = Team(A, B, max_depth=1)
    held = team.begin(A, budget={"max_handoffs": 40})
    wanted = {"deliverables": [{"type": "code", "description": "it"}]}
    with pytest.raises(LoopTripped) as trip:
        team.ask(B, under=held, expectations=wanted)
    review_id = trip.value.fields["review_id"]
    register_agent(team.deps, human(), B, {"produces": ("report",)})
    with pytest.raises(CapabilityMismatch):
        release_review(team.deps, human(), review_id)
    assert team.reviews()[0].is_open
    register_agent(team.deps, human(), B, {"produces": ("code",)})
    _, details = release_review(team.deps, human(), review_id)
    assert (details.body or {})["budget"] == {"max_handoffs": 40}


def test_ending_verbs_are_never_refused_whatever_the_guard_thinks() -> None:
    team = Team(A, B, max_depth=1)
    held_tasks = [team.begin(A, f"work {number}") for number in range(5)]
    assert team.complete(held_tasks[0], to=B).task.state == "done"
    assert team.complete(held_tasks[1], to=A).task.state == "done"
    assert team.fail(held_tasks[2], back_to=B).task.state == "failed"
    assert team.fail(held_tasks[3], back_to=A).task.state == "failed"
    assert team.reject(held_tasks[4]).task.state == "rejected"
    assert team.open() == []
    rules = {review.rule for review in team.reviews()}
    assert rules == {"max_depth", "self_handoff", "nobody_to_roll_back_to"}


@pytest.mark.parametrize("kind", [Kind.TRANSFER, Kind.DELEGATION, Kind.CONTINUATION, Kind.ROLLBACK])
def test_no_kind_that_may_be_asked_for_escapes(kind: Kind) -> None:
    team = Team(A, B, max_depth=1)
    with pytest.raises(LoopTripped):
        team.ask(B, under=team.begin(A), kind=kind)


def test_switched_off_it_stops_nothing_but_what_a_budget_forbids() -> None:
    team = Team(A, B, loop_guard=False)
    hops, held = team.travel(around(A, B, hops=30), reason=lambda _: "the same")
    assert (hops, isinstance(held, HeldTask), team.reviews()) == (30, True, [])

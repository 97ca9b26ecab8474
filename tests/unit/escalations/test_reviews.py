"""Manual reviews: what the cap has stopped, for a human to see and to release or close."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

from baton.domain.access.principal import Principal
from baton.domain.errors import HumanNeeded, InvalidMarker, ReviewClosed, Unknown, VersionConflict
from baton.domain.escalations.direction import Direction
from baton.domain.escalations.review import Review, ReviewState
from baton.domain.idempotency import IdempotencyKey
from baton.ports.deps import Deps
from baton.services.agents.register_agent import register_agent
from baton.services.escalations.close_review import Closing, close_review
from baton.services.escalations.list_reviews import find_review, list_reviews
from baton.services.escalations.release_review import release_review
from baton.services.tasks.end_task import cancel_task
from support.faults.hooked_store import HookedStore
from support.faults.threads import all_at_once
from support.values.tasks import ACTING_SERVICE, CREATOR
from support.worlds.world import WORKSPACE, World, agent, human


def capped(world: World) -> str:
    """The direction's cap is reached; the id of the review that the next asking opened."""
    for _ in range(2):
        cancel_task(world.deps, human(), world.needing(), None)
    review_id = world.mark(agent("scout"), escalation_reason="first knock").review_id
    assert review_id
    return review_id


def only_review(world: World) -> Review:
    (review,) = list_reviews(world.deps, human(), None, 10, None).items
    assert isinstance(review, Review)
    return review


def direction(world: World) -> Direction:
    held = world.store.escalations.marker_inputs(WORKSPACE, ("scout", "auditor"), None)[1]
    assert held is not None
    return held


def test_one_review_is_opened_and_further_knocks_are_counted_and_kept(world: World) -> None:
    review_id = capped(world)
    opened = only_review(world)
    assert (opened.count, opened.is_open, opened.reason) == (1, True, "escalation_cap")
    assert opened.requested_by == "agent:scout"
    world.clock.advance(60)
    assert world.mark(human(), escalation_reason="second knock").review_id == review_id
    review = only_review(world)
    assert (review.id, review.count, review.opened_at) == (review_id, 2, opened.opened_at)
    assert review.last_at == world.clock.now()
    assert review.request["escalation_reason"] == "second knock"
    reasons = [note.content["escalation_reason"] for note in world.store.tasks.notes(WORKSPACE, review_id, 10)]
    assert reasons == ["second knock", "first knock"]


def test_a_release_creates_the_latest_asking_approved_by_it(world: World) -> None:
    review_id = capped(world)
    world.mark(agent("scout"), escalation_reason="second knock", task_priority="low")
    review, details = release_review(world.deps, human(), review_id)
    task = details.task
    assert (review.is_open, review.released_by, review.task_id) == (False, "human:alice", task.id)
    assert (task.state, task.priority, task.created_by) == ("delegated", "P2", "agent:scout")
    assert world.trail(task.id) == ["handoff_initiated", "approved"]
    body = world.store.tasks.read(WORKSPACE, task.id, with_body=True).body
    assert body is not None
    assert body["escalation_reason"] == "second knock"


def test_a_release_is_exempt_from_breaker_and_cap_and_counts_in_both(world: World) -> None:
    review_id = capped(world)
    _, details = release_review(world.deps, human(), review_id)
    assert world.mark(agent("scout")).duplicate_of == details.task.id
    cancel_task(world.deps, human(), details.task.id, None)
    assert len(direction(world).escalations) == 3
    assert world.mark(agent("scout")).review_id not in (None, review_id)
    world.clock.advance(7 * 86_400, milliseconds=-1)
    assert world.mark(agent("scout")).review_id, "all three are still inside"


def test_a_release_while_a_task_of_the_direction_is_open(world: World) -> None:
    review_id = capped(world)
    world.clock.advance(7 * 86_400)
    first = world.needing()
    _, details = release_review(world.deps, human(), review_id)
    assert details.task.id != first
    assert len([entry for entry in direction(world).escalations if not entry.closed]) == 2


@pytest.mark.parametrize("by", [CREATOR, ACTING_SERVICE])
def test_only_a_human_releases(world: World, by: Principal) -> None:
    review_id = capped(world)
    with pytest.raises(HumanNeeded):
        release_review(world.deps, by, review_id)
    assert only_review(world).is_open


def test_a_review_is_released_once(world: World) -> None:
    review_id = capped(world)
    release_review(world.deps, human(), review_id)
    with pytest.raises(ReviewClosed):
        release_review(world.deps, human(), review_id)
    assert len(direction(world).escalations) == 3


def test_a_repeated_release_with_the_same_key_answers_with_the_same_task(world: World) -> None:
    idempotency_key = IdempotencyKey(human(), "/manual-reviews/1/release", "key", "hash")
    review_id = capped(world)
    _, first = release_review(world.deps, human(), review_id, idempotency_key)
    cancel_task(world.deps, human(), first.task.id, None)
    review, again = release_review(world.deps, human(), review_id, idempotency_key)
    assert again.task.id == first.task.id == review.task_id
    assert len(direction(world).escalations) == 3


def test_a_repeated_release_gets_its_first_answer_whatever_became_of_the_task(world: World) -> None:
    review_id = capped(world)
    idempotency_key = IdempotencyKey(human(), f"/manual-reviews/{review_id}/release", "k1", "h1")
    first_review, first = release_review(world.deps, human(), review_id, idempotency_key)
    cancel_task(world.deps, human(), first.task.id, "no longer needed")
    again_review, again = release_review(world.deps, human(), review_id, idempotency_key)
    assert (again.task.id, again.task.state, again.task.meta.version) == (
        first.task.id,
        "delegated",
        first.task.meta.version,
    )
    assert again_review == first_review


def test_two_releases_at_once_make_one_task() -> None:
    store = HookedStore()
    world = World(store=store).settle()
    review_id = capped(world)
    store.before["commit"] = lambda: release_review(world.deps, human(name="bob"), review_id)
    with pytest.raises(ReviewClosed):
        release_review(world.deps, human(), review_id)
    assert len(direction(world).escalations) == 3
    assert only_review(world).released_by == "human:bob"


def test_a_knock_while_the_review_is_released_is_not_lost_in_the_closed_review() -> None:
    store = HookedStore()
    world = World(store=store).settle()
    review_id = capped(world)
    # The direction was read with the review open; it is released before the review itself is read.
    store.before["review"] = lambda: release_review(world.deps, human(), review_id)
    answer = world.mark(agent("scout"), escalation_reason="knocked too late")
    review = only_review(world)
    assert answer.duplicate_of == review.task_id
    assert (review.count, review.request["escalation_reason"]) == (1, "first knock")


def test_two_first_knocks_at_once_open_one_review() -> None:
    store = HookedStore()
    world = World(store=store).settle()
    for _ in range(2):
        cancel_task(world.deps, human(), world.needing(), None)
    ids: list[str | None] = []
    store.before["commit"] = lambda: ids.append(world.mark(agent("scout")).review_id)
    ids.append(world.mark(agent("scout")).review_id)
    assert ids[0] == ids[1] == only_review(world).id
    assert only_review(world).count == 2


def test_a_review_whose_agent_is_gone_stays_open(world: World) -> None:
    review_id = capped(world)
    register_agent(world.deps, human(), "auditor", {"active": False})
    with pytest.raises(InvalidMarker):
        release_review(world.deps, human(), review_id)
    assert only_review(world).is_open


def test_a_renamed_agent_does_not_stop_a_release(world: World) -> None:
    review_id = capped(world)
    register_agent(world.deps, human(), "auditor", {"name": "Inspector", "aliases": ()})
    _, details = release_review(world.deps, human(), review_id)
    body = world.store.tasks.read("acme", details.task.id, with_body=True).body
    assert body is not None
    assert body["target_agent"] == "Inspector"


def test_unknown_reviews_and_those_of_another_workspace_answer_alike(world: World) -> None:
    review_id = capped(world)
    messages = []
    for by, asked in ((human(), "review_nope"), (human("other"), review_id)):
        with pytest.raises(Unknown) as refused:
            release_review(world.deps, by, asked)
        messages.append(refused.value.message)
    assert messages[0] == messages[1]


# Closing


def test_a_closed_review_makes_no_task_and_says_who_closed_it_and_why(world: World) -> None:
    review_id = capped(world)
    review = close_review(world.deps, human(), review_id, Closing("mended by hand"))
    assert only_review(world) == review
    assert (review.state, review.closed_by, review.closed_reason) == ("closed", "human:alice", "mended by hand")
    assert (review.closed_at, review.released_at, review.task_id) == (world.clock.now(), None, None)
    assert len(direction(world).escalations) == 2


def test_who_asked_sees_what_became_of_it(world: World) -> None:
    review_id = capped(world)
    close_review(world.deps, human(), review_id, Closing("mended by hand"))
    seen = find_review(world.deps, agent("scout"), review_id, 10, None).review
    assert (seen.state, seen.closed_reason) == ("closed", "mended by hand")


def test_the_next_request_above_the_cap_opens_another_review(world: World) -> None:
    review_id = capped(world)
    close_review(world.deps, human(), review_id, Closing("mended by hand"))
    assert direction(world).review_id is None
    again = world.mark(agent("scout")).review_id
    assert again not in (None, review_id)
    assert direction(world).review_id == again
    assert world.store.escalations.review(WORKSPACE, review_id).state == "closed"


def test_a_closed_review_frees_no_place_under_the_cap(world: World) -> None:
    close_review(world.deps, human(), capped(world), Closing("mended by hand"))
    assert world.mark(agent("scout")).task_id is None


@pytest.mark.parametrize("by", [CREATOR, ACTING_SERVICE])
def test_only_a_human_closes(world: World, by: Principal) -> None:
    review_id = capped(world)
    with pytest.raises(HumanNeeded):
        close_review(world.deps, by, review_id, Closing("mended by hand"))
    assert only_review(world).is_open


def test_a_request_that_came_since_the_review_was_read_refuses_its_closing(world: World) -> None:
    review_id = capped(world)
    world.mark(agent("scout"))
    with pytest.raises(VersionConflict):
        close_review(world.deps, human(), review_id, Closing("mended by hand", seen=1))
    assert close_review(world.deps, human(), review_id, Closing("mended by hand", seen=2)).count == 2


DECISIONS: dict[str, Callable[[Deps, Principal, str], object]] = {
    "released": release_review,
    "closed": lambda deps, by, review_id: close_review(deps, by, review_id, Closing("mended by hand")),
}


@pytest.mark.parametrize("first", DECISIONS)
@pytest.mark.parametrize("second", DECISIONS)
def test_a_review_is_decided_on_once_and_the_second_is_told_how_and_by_whom(
    world: World, first: str, second: str
) -> None:
    review_id = capped(world)
    DECISIONS[first](world.deps, human(name="bob"), review_id)
    with pytest.raises(ReviewClosed, match=f"was {first} before, by human:bob") as refused:
        DECISIONS[second](world.deps, human(), review_id)
    assert refused.value.fields == {"review_id": review_id, "state": first, "ended_by": "human:bob"}


def test_a_repeated_closing_gets_its_first_answer(world: World) -> None:
    review_id = capped(world)
    key = IdempotencyKey(human(), f"/manual-reviews/{review_id}/close", "k1", "h1")
    first = close_review(world.deps, human(), review_id, Closing("mended by hand"), key)
    world.clock.advance(60)
    assert close_review(world.deps, human(), review_id, Closing("mended by hand"), key) == first


def test_a_knock_while_the_review_is_closed_is_not_lost_in_it() -> None:
    store = HookedStore()
    world = World(store=store).settle()
    review_id = capped(world)
    store.before["review"] = lambda: close_review(world.deps, human(), review_id, Closing("mended by hand"))
    answer = world.mark(agent("scout"), escalation_reason="knocked too late")
    assert answer.review_id not in (None, review_id)
    assert world.store.escalations.review(WORKSPACE, review_id).count == 1
    assert (
        world.store.escalations.review(WORKSPACE, answer.review_id).request["escalation_reason"] == "knocked too late"
    )


@pytest.mark.slow
def test_of_many_who_release_and_close_at_once_one_decides() -> None:
    for _ in range(10):
        world = World().settle()
        review_id = capped(world)
        world.clock.stands_still = True
        acts = [DECISIONS[name] for name in ("released", "closed") * 4]
        steps = [partial(act, world.deps, human(name=f"h{number}"), review_id) for number, act in enumerate(acts)]
        answers = all_at_once(steps)
        assert sum(not isinstance(each, Exception) for each in answers) == 1
        assert {type(each) for each in answers if isinstance(each, Exception)} == {ReviewClosed}
        review = only_review(world)
        assert len(direction(world).escalations) == (3 if review.state == "released" else 2)
        assert direction(world).review_id is None


def test_reviews_are_listed_newest_first_and_filtered(world: World) -> None:
    first = capped(world)
    release_review(world.deps, human(), first)
    for source, target in (("auditor", "scout"), ("runner", "scout")):
        for _ in range(2):
            made = world.mark(human(), source_agent=source, target_agent=target).task_id
            assert made
            cancel_task(world.deps, human(), made, None)
        world.clock.advance(milliseconds=1)
        assert world.mark(human(), source_agent=source, target_agent=target).review_id

    def sources(state: ReviewState | None) -> list[str]:
        return [r.source_agent for r in list_reviews(world.deps, human(), state, 10, None).items]

    runner = list_reviews(world.deps, human(), None, 1, None).items[0]
    close_review(world.deps, human(), runner.id, Closing("not wanted"))
    assert sources(None) == ["runner", "auditor", "scout"]
    assert sources(ReviewState.OPEN) == ["auditor"]
    assert sources(ReviewState.RELEASED) == ["scout"]
    assert sources(ReviewState.CLOSED) == ["runner"]
    page = list_reviews(world.deps, human(), None, 2, None)
    rest = list_reviews(world.deps, human(), None, 2, page.cursor)
    assert [r.source_agent for r in (*page.items, *rest.items)] == ["runner", "auditor", "scout"]
    assert rest.cursor is None

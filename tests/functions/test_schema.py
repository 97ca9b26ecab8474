"""Items of another number than today's: an earlier one is read as today's, and a newer one is left to the version that
has written it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from baton.adapters.dynamodb import keys
from baton.adapters.dynamodb.item_schema import NUMBER, TODAY, ItemSchema
from baton.bootstrap import wire
from baton.domain.errors import WrittenByNewer
from baton.services.tasks.sweep import sweep
from support.fakes.fake_dynamo import FakeDynamo
from support.fakes.store import InMemoryStore
from support.gateway import Gateway, Reply
from support.published import PublishedEvents, stream_records
from support.worlds.world import WORKSPACE, World, agent, human

Wire = dict[str, Any]
REVIEWER, ALICE = agent("auditor"), human()


def renamed(before: str, now: str) -> Callable[[Wire], Wire]:
    """A step of a number in which ``before`` has become ``now``."""
    return lambda item: {now if name == before else name: value for name, value in item.items()}


# A later version, in which a task's title and the content of its body have got these names.
STEPS = {"TASK/HEAD": renamed("heading", "title"), "TASK/BODY": renamed("payload", "content")}
LATER = ItemSchema(TODAY.reads + 1, {TODAY.number: STEPS})


def rewritten(world: World, change: Callable[[tuple[str, str], Wire], Wire], task_id: str = "") -> None:
    """Every item, or those of the task alone, as another version would have it."""
    dynamo = _store(world).dynamo
    for key, item in dynamo.contents().items():
        if task_id in key[0]:
            dynamo.put(change(key, item))


def _store(world: World) -> InMemoryStore:
    assert isinstance(world.store, InMemoryStore)
    return world.store


def as_number_before_later(key: tuple[str, str], item: Wire) -> Wire:
    kind = keys.kind_of_item(*key)
    old = {"TASK/HEAD": renamed("title", "heading"), "TASK/BODY": renamed("content", "payload")}
    return old.get(kind, dict)(item)


def without_number(_key: tuple[str, str], item: Wire) -> Wire:
    return {name: value for name, value in item.items() if name != NUMBER}


def head_of(world: World, task_id: str) -> Wire:
    return _store(world).dynamo.contents()[keys.head(WORKSPACE, task_id)]


@pytest.mark.parametrize(
    ("earlier", "schema"), [(as_number_before_later, LATER), (without_number, TODAY)], ids=["before", "none"]
)
def test_a_task_of_the_number_before_is_listed_claimed_and_completed(
    earlier: Callable[[tuple[str, str], Wire], Wire], schema: ItemSchema
) -> None:
    world = World().settle()
    task_id = world.ready()
    title = world.task(task_id).title
    rewritten(world, earlier)
    today = World(store=InMemoryStore(_store(world).dynamo, schema=schema), clock=world.clock)
    api = Gateway(today.deps)

    (listed,) = api.get(ALICE, "/tasks").json["items"]
    assert (listed["id"], listed["title"]) == (task_id, title)
    claim = api.post(REVIEWER, "/agents/auditor/claims", {"worker": "w-1"}).json
    assert (claim["task"]["title"], bool(claim["body"])) == (title, True)
    held = {"claim_id": claim["claim_id"]}
    for path, body in (("heartbeat", held), ("notes", held | {"text": "half of it"}), ("complete", held)):
        assert api.post(REVIEWER, f"/tasks/{task_id}/{path}", body).status in {200, 201}, path

    head = head_of(today, task_id)
    assert (head[NUMBER], head["title"], head.get("heading")) == ({"N": str(schema.number)}, {"S": title}, None)
    assert today.task(task_id).state == "done"
    assert api.get(ALICE, f"/tasks/{task_id}/events").json["events"]


def test_a_heartbeat_leaves_a_task_of_the_number_before_readable() -> None:
    """It is written without being read, and touches nothing that a step may change."""
    world = World().settle()
    claimed = world.claimed()
    rewritten(world, as_number_before_later)
    today = World(store=InMemoryStore(_store(world).dynamo, schema=LATER), clock=world.clock)
    world.clock.advance(60)
    beat = {"claim_id": claimed.claim_id}
    assert Gateway(today.deps).post(REVIEWER, f"/tasks/{claimed.details.task.id}/heartbeat", beat).status == 200
    head = head_of(today, claimed.details.task.id)
    assert (head[NUMBER], "heading" in head) == ({"N": str(TODAY.number)}, True)
    assert today.task(claimed.details.task.id).title == claimed.details.task.title


@dataclass
class BesideANewer:
    """A world with two tasks of one agent: the first was changed by a newer version since."""

    world: World
    api: Gateway
    theirs: str
    ours: str

    def of_theirs(self) -> dict[Any, Wire]:
        contents = _store(self.world).dynamo.contents()
        return {key: item for key, item in contents.items() if self.theirs in key[0] and "s" in item}

    def said(self) -> set[str]:
        """The actions of what was logged about theirs."""
        return {line["action"] for line in self.world.logged if line.get("task_id") == self.theirs}

    def post(self, path: str, body: Wire | None = None, by: Any = ALICE) -> Reply:
        return self.api.post(by, f"/tasks/{self.theirs}/{path}", body)


NUMBERS: list[Wire] = [{"N": str(TODAY.reads + 1)}, {"S": "damaged"}]


@pytest.fixture(params=NUMBERS, ids=["newer", "damaged"])
def beside(request: pytest.FixtureRequest) -> BesideANewer:
    world = World().settle()
    theirs = world.ready()
    ours = world.needing(target_agent="runner")
    rewritten(world, lambda _, item: {**item, NUMBER: request.param}, theirs)
    world.logged.clear()
    return BesideANewer(world, Gateway(world.deps), theirs, ours)


def refused(reply: Reply) -> bool:
    return (reply.status, reply.code, reply.headers["Retry-After"]) == (503, "busy", "1")


def test_a_newer_task_is_refused_and_never_overwritten(beside: BesideANewer) -> None:
    before, held = beside.of_theirs(), {"claim_id": "claim_1"}
    assert refused(beside.api.get(ALICE, f"/tasks/{beside.theirs}"))
    assert refused(beside.api.get(ALICE, f"/tasks/{beside.theirs}/events"))
    assert refused(beside.post("resolve"))
    assert refused(beside.post("claim", {"worker": "w-1"}, REVIEWER))
    for verb in ("heartbeat", "complete", "release"):
        assert refused(beside.post(verb, held, REVIEWER)), verb
    assert refused(beside.post("notes", {"text": "x", **held}, REVIEWER))
    assert beside.of_theirs() == before


def test_a_heartbeat_that_needs_no_reading_is_refused_too() -> None:
    """By a condition of its own: the claim is the caller's, and the lease would get longer."""
    world = World().settle()
    claimed = world.claimed()
    task_id = claimed.details.task.id
    rewritten(world, lambda _, item: {**item, NUMBER: NUMBERS[0]}, task_id)
    before, api = head_of(world, task_id), Gateway(world.deps)
    world.clock.advance(60)
    assert refused(api.post(REVIEWER, f"/tasks/{task_id}/heartbeat", {"claim_id": claimed.claim_id}))
    assert head_of(world, task_id) == before


def test_a_list_with_a_newer_task_is_refused_rather_than_shown_without_it(beside: BesideANewer) -> None:
    assert refused(beside.api.get(ALICE, "/tasks"))
    assert beside.api.get(ALICE, f"/tasks/{beside.ours}").status == 200


def test_a_newer_task_keeps_its_agent_from_no_other_work(beside: BesideANewer) -> None:
    before = beside.of_theirs()
    assert beside.api.post(REVIEWER, "/agents/auditor/claims", {"worker": "w-1"}).status == 204
    ready = beside.world.mark(ALICE, source_agent="runner").task_id
    beside.world.clock.advance(3)
    claim = beside.api.post(REVIEWER, "/agents/auditor/claims", {"worker": "w-1"})
    assert claim.json["task"]["id"] == ready
    assert beside.of_theirs() == before
    assert beside.said() == {"task_unreadable"}


def test_the_sweeper_leaves_a_newer_task_and_does_the_rest(beside: BesideANewer) -> None:
    beside.world.clock.advance(86_400)
    before, ours = beside.of_theirs(), beside.world.task(beside.ours).meta.version
    report = sweep(beside.world.deps)
    assert report.failed >= 1
    assert beside.said() == {"sweep_failed"}
    assert beside.of_theirs() == before
    assert beside.world.task(beside.ours).meta.version > ours


def test_the_publisher_leaves_a_newer_task_and_tells_the_rest(beside: BesideANewer) -> None:
    beside.world.clock.advance(300)
    before, outside = beside.of_theirs(), PublishedEvents(beside.world)
    report = outside.tick()
    assert report.failed == 1
    assert beside.said() == {"event_unreadable"}
    assert {each["task"]["id"] for each in outside.details()} == {beside.ours}
    assert beside.of_theirs() == before


def test_a_newer_record_of_the_stream_holds_up_no_other(beside: BesideANewer) -> None:
    contents = _store(beside.world).dynamo.contents()
    images = [(key, None, item) for key, item in contents.items() if key[1] == keys.HEAD]
    events = beside.world.store.outbox.fresh_events(stream_records(images))
    assert {each.task_id for each in events} == {beside.ours}


@pytest.mark.parametrize("name", ["version", "claim", "queue_sk", "told"])
def test_a_step_changes_nothing_that_is_used_without_it(name: str) -> None:
    """Updates in place, conditions and indexes know no number."""
    schema = ItemSchema(2, {1: {"TASK/HEAD": lambda item: {**item, name: "other"}}})
    head = {**keys.head(WORKSPACE, "task_1")._asdict(), "version": 1, NUMBER: 1}
    with pytest.raises(ValueError, match=name):
        schema.read(head)


def test_what_updates_make_has_no_step() -> None:
    schema = ItemSchema(2, {1: {"HANDOFFS/COUNT": dict}})
    with pytest.raises(ValueError, match="HANDOFFS/COUNT"):
        schema.read({**keys.handoff_count(WORKSPACE, "wf_1")._asdict(), "count": 1})


def test_each_number_has_its_step() -> None:
    steps = {1: {"NOTES": renamed("a", "b")}, 3: {"NOTES": renamed("b", "c")}}
    note = {"pk": keys.notes(WORKSPACE, "task_1"), "sk": "note_1", "a": "text"}
    for number, name in ((1, "a"), (2, "b"), (3, "b"), (4, "c")):
        read = ItemSchema(4, steps).read({**keys.Key(note["pk"], note["sk"])._asdict(), name: "text", NUMBER: number})
        assert read == {"pk": note["pk"], "sk": note["sk"], "c": "text"}
    assert ItemSchema(4, steps).read(note)["c"] == "text", "an item without a number is as one of the first"


def test_each_newer_item_that_is_met_is_noticed() -> None:
    met: list[int] = []
    schema = ItemSchema(2, noticed=lambda: met.append(1))
    note = keys.Key(keys.notes(WORKSPACE, "task_1"), "note_1")._asdict()
    for number in (None, 1, 2):
        schema.read({**note, NUMBER: number} if number else note)
    assert met == []
    with pytest.raises(WrittenByNewer):
        schema.read({**note, NUMBER: 3})
    assert schema.is_newer({**note, NUMBER: 4})
    assert len(met) == 2


def test_a_process_counts_the_newer_items_that_it_meets(dynamo: FakeDynamo, capsys: pytest.CaptureFixture[str]) -> None:
    """For the alarm on all functions together: without a dimension."""
    world = World(store=InMemoryStore(dynamo, schema=LATER)).settle()
    task_id = world.ready()
    with pytest.raises(WrittenByNewer):
        wire().store.tasks.load(WORKSPACE, task_id)
    (line,) = [json.loads(each) for each in capsys.readouterr().out.splitlines() if "_aws" in each]
    (counted,) = line["_aws"]["CloudWatchMetrics"]
    assert counted == {"Namespace": "Baton", "Dimensions": [[]], "Metrics": [{"Name": "WrittenByNewer"}]}
    assert line["WrittenByNewer"] == 1

"""What agents are run with, what was said in a run, and what it spent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

import pytest

from baton.adapters.dynamodb import keys
from baton.adapters.dynamodb.runs import run_items
from baton.domain.agents.agent import Roster
from baton.domain.errors import Busy, Conflict, Unknown
from baton.domain.handoffs.workflow import HandoffCount
from baton.domain.runs.run_profile import MAX_SYSTEM_PROMPT, RunProfile
from baton.domain.runs.transcript import (
    EntryKind,
    MessageType,
    TaskEntry,
    TranscriptEntry,
    TranscriptMessage,
    Usage,
    result,
)
from baton.domain.task_state import State
from baton.domain.tasks.task import Policy
from baton.ports.store import Store
from baton.ports.writes import Add, AddUsage, Insert, Require, UnderClaim, Write
from support.clock import NOON
from support.fakes.fake_dynamo.sizes import item_bytes as size
from support.values.changes import claimed, looked_at, new, stored, then
from support.values.runs import a_profile, an_entry, spent
from support.values.tasks import MS, an_agent
from support.worlds.rig import Rig
from support.worlds.world import WORKSPACE

FULL_PROFILE = a_profile(
    system_prompt="You audit.\n\tSlowly. 🔎",
    model="openai_compatible:gpt-5",
    tools=("ask_scout", "ask_auditor"),
    max_turns=100,
    max_tokens=10_000_000,
    max_reply_tokens=16,
    join=Policy.QUORUM,
    quorum=3,
)
CALL = {"toolUseId": "call_1", "name": "ask", "input": {"b": 1, "a": [1.5, None, True, -0.0, 10**40, "é\u2028\x00"]}}
FULL_ENTRY = an_entry(
    7,
    at=NOON + MS,
    turn=3,
    blocks=(
        {"reasoningContent": {"reasoningText": {"text": "hm", "signature": "x=="}}},
        {"text": "日本語 🧑‍🚀"},
        {"toolUse": CALL},
    ),
    more_messages=(
        TranscriptMessage(MessageType.HANDOFF, "Handed to scout", {"to": ["scout", {"n": 1.0}]}),
        TranscriptMessage(MessageType.STATUS, ""),
    ),
    stop_reason="tool_use",
    usage=Usage(1, 1_234, 56),
    is_repair=True,
    output={"kept": [1, None, False]},
    scripted=True,
    made_with="a" * 64,
)
RESULTS = an_entry(
    12,
    kind=EntryKind.RESULTS,
    blocks=(result("call_1", {"found": [1]}), result("call_2", "no", is_error=True)),
    agent="scout",
)


def save(store: Store, version: int = 1, profile: RunProfile | None = None, slug: str = "auditor") -> None:
    store.agents.save_agent(an_agent(slug, version=version), store.agents.roster(WORKSPACE), profile)


def keep(store: Store, *entries: TranscriptEntry, task_id: str = "task_1") -> None:
    for entry in entries:
        store.commit(WORKSPACE, Insert(TaskEntry(task_id, entry)))


def usage(store: Store, workflow_id: str = "wf_1", task_id: str = "task_1") -> tuple[Usage, Usage]:
    return store.runs.usage(WORKSPACE, workflow_id, task_id)


# Profiles


def test_nobody_has_a_profile_of_their_own_at_first(store: Store) -> None:
    save(store)
    for slug in ("auditor", "nobody"):
        assert store.runs.profile(WORKSPACE, slug) == RunProfile(workspace=WORKSPACE, slug=slug)


@pytest.mark.parametrize("profile", [FULL_PROFILE, a_profile(), a_profile(system_prompt="")])
def test_a_profile_is_read_back_as_it_was_saved(store: Store, profile: RunProfile) -> None:
    save(store, profile=profile)
    assert store.runs.profile(WORKSPACE, "auditor") == profile
    assert store.agents.roster(WORKSPACE) == Roster((an_agent(),), 1)


def test_the_full_profile_is_a_full_one() -> None:
    usual = RunProfile(workspace=WORKSPACE, slug="auditor")
    same = {f.name for f in fields(RunProfile) if getattr(FULL_PROFILE, f.name) == getattr(usual, f.name)}
    assert same == {"workspace", "slug"}


def test_an_agents_change_without_one_leaves_its_profile(store: Store) -> None:
    save(store, profile=FULL_PROFILE)
    save(store, slug="auditor-2", profile=a_profile("auditor-2"))
    save(store, version=2)
    assert store.runs.profile(WORKSPACE, "auditor") == FULL_PROFILE
    save(store, version=3, profile=a_profile())
    assert store.runs.profile(WORKSPACE, "auditor") == a_profile()
    assert store.runs.profile(WORKSPACE, "auditor-2") == a_profile("auditor-2")


def test_a_profile_is_saved_with_its_agent_or_not_at_all(store: Store) -> None:
    read = store.agents.roster(WORKSPACE)
    save(store, slug="scout")
    with pytest.raises(Conflict):
        store.agents.save_agent(an_agent(), read, FULL_PROFILE)
    assert store.agents.agent(WORKSPACE, "auditor") is None
    assert store.runs.profile(WORKSPACE, "auditor") == RunProfile(workspace=WORKSPACE, slug="auditor")


def test_a_profile_of_an_earlier_baton_gets_what_is_new_and_of_a_later_one_loses_it() -> None:
    item = {**run_items.profile_item(FULL_PROFILE), "of_a_later_one": 1}
    del item["join"], item["quorum"]
    assert run_items.profile_from(WORKSPACE, "auditor", item) == replace(FULL_PROFILE, join=Policy.ALL, quorum=None)


def test_whoever_reads_the_roster_reads_no_prompts(rig: Rig) -> None:
    """It is read with every marker."""
    save(rig.store, version=2, profile=a_profile(system_prompt="x" * MAX_SYSTEM_PROMPT))
    together = [item for item in rig.items() if item["pk"]["S"] == keys.agents(WORKSPACE)]
    assert sum(map(size, together)) < 1_000 * len(together)
    assert rig.count(lambda: rig.store.runs.profile(WORKSPACE, "auditor")) == ["get_item"]


# Transcripts


def test_a_task_that_was_never_run_has_said_and_spent_nothing(store: Store) -> None:
    stored(store)
    assert store.runs.transcript(WORKSPACE, "task_1") == ()
    assert usage(store) == (Usage(), Usage())


@pytest.mark.parametrize("entry", [FULL_ENTRY, an_entry(), RESULTS, an_entry(blocks=())])
def test_an_entry_is_read_back_as_it_was_kept(store: Store, entry: TranscriptEntry) -> None:
    keep(store, entry)
    (found,) = store.runs.transcript(WORKSPACE, "task_1")
    assert found == entry
    assert [type(value) for value in (found.first, found.turn, found.usage.input_tokens)] == [int] * 3
    assert found.messages == entry.messages


def test_the_full_entry_is_a_full_one() -> None:
    usual = an_entry()
    same = {f.name for f in fields(TranscriptEntry) if getattr(FULL_ENTRY, f.name) == getattr(usual, f.name)}
    assert same == {"kind", "agent"}


@pytest.mark.parametrize("kind", EntryKind)
def test_every_kind_is_kept(store: Store, kind: EntryKind) -> None:
    keep(store, an_entry(kind=kind))
    assert [entry.kind for entry in store.runs.transcript(WORKSPACE, "task_1")] == [kind]


def test_entries_come_in_order_whatever_the_order_they_were_kept_in(store: Store) -> None:
    entries = [an_entry(number, f"{number}") for number in (1, 2, 9, 10, 99, 100, 1_000_000)]
    keep(store, *entries[::-1])
    keep(store, an_entry(3), task_id="task_10")
    assert store.runs.transcript(WORKSPACE, "task_1") == tuple(entries)


def test_a_reader_gets_what_has_a_message_that_they_have_not_seen(store: Store) -> None:
    entries = (an_entry(1), FULL_ENTRY, RESULTS)  # 1, 7 to 11, 12 and 13
    keep(store, *entries)
    after = {0: 3, -5: 3, 1: 2, 6: 2, 7: 2, 10: 2, 11: 1, 12: 1, 13: 0, 14: 0, 10**9: 0}
    for number, left in after.items():
        assert store.runs.transcript(WORKSPACE, "task_1", number) == entries[len(entries) - left :], number


def test_a_long_transcript_is_read_to_its_end(store: Store) -> None:
    """Past the megabyte that one page of a query holds."""
    entries = tuple(an_entry(number, f"{number}" + "x" * 390_000) for number in range(1, 8))
    keep(store, *entries)
    assert store.runs.transcript(WORKSPACE, "task_1") == entries
    assert store.runs.transcript(WORKSPACE, "task_1", 2) == entries[2:]


def test_a_reading_takes_a_call_for_each_megabyte(rig: Rig) -> None:
    keep(rig.store, *(an_entry(number, "x" * 390_000) for number in range(1, 4)))
    assert rig.count(lambda: rig.store.runs.transcript(WORKSPACE, "task_1")) == ["query", "query"]
    assert rig.count(lambda: rig.store.runs.transcript(WORKSPACE, "task_1", 1)) == ["query"]


def test_a_place_is_taken_once(store: Store) -> None:
    """However many messages the one or the other has: who knows the same transcript has the same next place."""
    keep(store, FULL_ENTRY)
    with pytest.raises(Conflict):
        keep(store, an_entry(FULL_ENTRY.first, "another"))
    assert store.runs.transcript(WORKSPACE, "task_1") == (FULL_ENTRY,)
    keep(store, an_entry(FULL_ENTRY.last + 1))
    keep(store, FULL_ENTRY, task_id="task_2")


def test_nobody_shares_what_was_said(store: Store) -> None:
    error = TranscriptMessage(MessageType.ERROR, "x", {"n": 1})
    given = an_entry(blocks=({"text": "hello"},), more_messages=(error,), output={"n": 1})
    keep(store, given)
    for shared in (given, store.runs.transcript(WORKSPACE, "task_1")[0]):
        shared.blocks[0]["text"] = shared.more_messages[0].data["n"] = shared.output["n"] = "mine"
    (found,) = store.runs.transcript(WORKSPACE, "task_1")
    assert (found.blocks[0]["text"], found.more_messages[0].data["n"], found.output["n"]) == ("hello", 1, 1)


def test_what_is_written_of_a_run_holds_as_one_with_the_tasks_change(store: Store) -> None:
    task = claimed(store)
    done = then(task, state=State.WAITING, claim=None)
    child = (new("task_2"), Insert(TaskEntry("task_2", an_entry(says="go on"))), spent(task_id="task_2"))
    store.commit(
        WORKSPACE,
        done,
        Insert(TaskEntry("task_1", an_entry())),
        *child,
        Add(HandoffCount("wf_1", 0), 1, 5),
    )
    assert store.runs.transcript(WORKSPACE, "task_1") == (an_entry(),)
    assert store.runs.transcript(WORKSPACE, "task_2") == (an_entry(says="go on"),)
    assert usage(store, task_id="task_2") == (Usage(1, 100, 20), Usage(1, 100, 20))
    with pytest.raises(Conflict):
        store.commit(WORKSPACE, then(task, title="late"), Insert(TaskEntry("task_1", an_entry(2))), spent())
    with pytest.raises(Conflict):
        store.commit(WORKSPACE, then(done.task, title="late"), Insert(TaskEntry("task_1", an_entry())), spent())
    assert store.tasks.load(WORKSPACE, "task_1")[0] == done.task
    assert len(store.runs.transcript(WORKSPACE, "task_1")) == 1
    assert usage(store) == (Usage(), Usage(1, 100, 20))


def test_what_is_refused_inside_refuses_all_of_it(store: Store) -> None:
    stored(store)
    keep(store, an_entry())
    taken = Insert(TaskEntry("task_1", an_entry()))
    with pytest.raises(Conflict):
        store.commit(WORKSPACE, new("task_2"), taken, spent(), Insert(TaskEntry("task_3", an_entry())))
    with pytest.raises(Unknown):
        store.tasks.load(WORKSPACE, "task_2")
    assert store.runs.transcript(WORKSPACE, "task_3") == ()
    assert usage(store) == (Usage(), Usage())


def test_nothing_is_said_or_spent_under_a_claim_that_is_over(store: Store) -> None:
    claimed(store)
    run: list[Write] = [Require(UnderClaim("task_1", "clm_1")), Insert(TaskEntry("task_1", an_entry())), spent()]
    store.commit(WORKSPACE, *run)
    store.commit(WORKSPACE, Require(UnderClaim("task_1", "clm_1")), spent(2))
    for late in ([Insert(TaskEntry("task_1", an_entry(2))), spent()], [spent()]):
        with pytest.raises(Conflict):
            store.commit(WORKSPACE, Require(UnderClaim("task_1", "clm_2")), *late)
    assert store.runs.transcript(WORKSPACE, "task_1") == (an_entry(),)
    assert usage(store)[0] == Usage(3, 200, 40)


# What was spent


def test_what_is_spent_adds_up_by_task_and_by_workflow(store: Store) -> None:
    for each in (
        spent(1, (100, 20)),
        spent(0, (0, 7)),
        spent(2, (1, 1), task_id="task_10"),
        spent(5, (5, 5), workflow_id="wf_10", task_id="task_100"),
        spent(0, (0, 0), task_id="task_9"),
    ):
        store.commit(WORKSPACE, each)
    assert usage(store) == (Usage(1, 100, 27), Usage(3, 101, 28))
    assert usage(store, task_id="task_10") == (Usage(2, 1, 1), Usage(3, 101, 28))
    assert usage(store, "wf_10", "task_100") == (Usage(5, 5, 5), Usage(5, 5, 5))
    assert usage(store, "wf_2", "task_9") == (Usage(), Usage())


def test_a_transcript_and_what_was_spent_do_not_meet(store: Store) -> None:
    """Nor do a task and a workflow of one name."""
    store.commit(WORKSPACE, spent(workflow_id="same", task_id="same"), Insert(TaskEntry("same", an_entry())))
    assert store.runs.transcript(WORKSPACE, "same") == (an_entry(),)
    assert usage(store, "same", "same") == (Usage(1, 100, 20), Usage(1, 100, 20))


def test_both_stores_refuse_to_write_one_item_twice(store: Store) -> None:
    entry = Insert(TaskEntry("task_1", an_entry()))
    for extras in ([entry, entry], [spent(), spent(task_id="task_2")], [spent(), spent(workflow_id="wf_2")]):
        with pytest.raises(ValueError, match="twice"):
            store.commit(WORKSPACE, *extras)
    store.commit(WORKSPACE, looked_at(stored(store, "task_3")), entry, spent(), Add(HandoffCount("wf_1", 0), 1, 5))


# Lost replies: of the transaction, and of the look at what became of it

AFTER = ["timeout_after", "error_after"]
FAULTS = [*AFTER, "timeout_before", "no_connection", "throttle"]
WRITTEN: dict[str, list[Write]] = {
    "an entry": [Insert(TaskEntry("task_1", an_entry()))],
    "an entry under a claim": [Require(UnderClaim("task_1", "clm_1")), Insert(TaskEntry("task_1", an_entry()))],
    "an entry and what it took": [
        Require(UnderClaim("task_1", "clm_1")),
        spent(),
        Insert(TaskEntry("task_1", an_entry())),
    ],
    "what was spent under a claim": [Require(UnderClaim("task_1", "clm_1")), spent()],
    "what was spent": [spent()],
}


def broken(rig: Rig, fault: str, meanwhile: Callable[[], Any] = lambda: None) -> None:
    """The next write gets the fault. ``meanwhile`` happens right after, before anybody looks."""
    first = len(rig.choked.calls) + 1

    def plan(number: int, _operation: str) -> str | None:
        if number == first + 1:
            meanwhile()
        return fault if number == first else None

    rig.choked.plan = plan


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("name", WRITTEN)
def test_a_lost_reply_is_a_success_and_counts_once(rig: Rig, name: str, fault: str) -> None:
    extras = WRITTEN[name]
    claimed(rig.store)
    broken(rig, fault)
    rig.store.commit(WORKSPACE, *extras)
    inserted = [extra.value for extra in extras if isinstance(extra, Insert)]
    kept = tuple(value.entry for value in inserted if isinstance(value, TaskEntry))
    took = sum((1 for extra in extras if isinstance(extra, AddUsage)), 0)
    assert rig.other_store.runs.transcript(WORKSPACE, "task_1") == kept
    assert usage(rig.other_store)[0] == Usage(took, 100 * took, 20 * took)


@pytest.mark.parametrize("fault", AFTER)
@pytest.mark.parametrize("name", WRITTEN)
def test_it_is_one_though_the_claim_has_ended_and_others_have_spent_meanwhile(rig: Rig, name: str, fault: str) -> None:
    task = claimed(rig.store)

    def meanwhile() -> None:
        rig.other_store.commit(WORKSPACE, then(task, state=State.DELEGATED, claim=None, ready_at=NOON))
        rig.other_store.commit(WORKSPACE, spent(9, task_id="task_2"), Insert(TaskEntry("task_1", an_entry(2))))

    broken(rig, fault, meanwhile)
    rig.store.commit(WORKSPACE, *WRITTEN[name])
    assert usage(rig.other_store)[0].model_calls == sum(isinstance(extra, AddUsage) for extra in WRITTEN[name])


def test_anothers_entry_of_the_same_number_is_no_success_of_ours(rig: Rig) -> None:
    anothers = an_entry(says="another")
    broken(rig, "timeout_before", lambda: keep(rig.other_store, anothers))
    with pytest.raises(Conflict):
        rig.store.commit(WORKSPACE, Insert(TaskEntry("task_1", an_entry())), spent())
    assert rig.other_store.runs.transcript(WORKSPACE, "task_1") == (anothers,)
    assert usage(rig.other_store) == (Usage(), Usage())


def test_nobody_is_told_before_it_can_be_known(rig: Rig) -> None:
    first = len(rig.choked.calls) + 1
    rig.choked.plan = lambda number, _op: "timeout_after" if number == first else "no_connection"
    with pytest.raises(Busy):
        rig.store.commit(WORKSPACE, Insert(TaskEntry("task_1", an_entry())), spent())
    assert usage(rig.other_store)[0] == Usage(1, 100, 20)


def test_every_try_of_a_transaction_has_one_token_for_dynamodb_to_know_it_by(rig: Rig) -> None:
    """What holds where the witness was written again meanwhile: a repeat of a token isn't done again."""
    sent: list[str] = []

    class Listening:
        def __init__(self, client: Any) -> None:
            self.client = client

        def __getattr__(self, operation: str) -> Any:
            def listen(**request: Any) -> Any:
                if operation == "transact_write_items":
                    sent.append(request["ClientRequestToken"])
                return getattr(self.client, operation)(**request)

            return listen

    rig.choked.client = Listening(rig.choked.client)
    broken(rig, "error_after", lambda: rig.other_store.commit(WORKSPACE, spent()))
    rig.store.commit(WORKSPACE, spent())
    assert len(sent) == 2
    assert len(set(sent)) == 1

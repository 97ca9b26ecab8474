"""Every state x every verb x every kind of caller, against tables written by hand from docs/spec/lifecycle.md §1."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from functools import cache
from typing import Any

import pytest

from baton.domain import errors
from baton.domain.access.principal import (
    CALLBACK,
    JOINER,
    PROCESS_TASK,
    SWEEPER,
    SYNC_TRACKER,
    Principal,
    system,
)
from baton.domain.task_state import ENDED, State
from baton.domain.tasks import commands
from baton.domain.tasks.task import Branch, OpenQuestion, Wait
from baton.domain.tasks.trail import replay
from support.values.tasks import (
    ACTING_SERVICE,
    BARE_HUMAN,
    CLAIM_ID,
    CREATOR,
    HUMAN,
    OTHER,
    SERVICE,
    TARGET,
    Life,
    claimed,
    in_state,
    ready,
)
from support.worlds.team import as_told
from support.worlds.world import WORKSPACE

# What the verb does to a task in that state, asked for by one who may: the state after it, or the refusal.
# ``undoable``: delegated, still inside its undo window. ``at-next``: claimed where it came from ``next``. ``waiting``:
# for its branches; ``calling``: for a callback. Each claim is the target agent's; ``sweep`` comes when a claim's lease
# is over.
OUTCOMES = """
verb         needs        undoable     delegated      next       claimed        at-next        waiting      calling
approve      delegated    NotAllowed   NotAllowed     NotAllowed NotAllowed     NotAllowed     NotAllowed   NotAllowed
approve-next next         NotAllowed   NotAllowed     NotAllowed NotAllowed     NotAllowed     NotAllowed   NotAllowed
undo         NotAllowed   needs        UndoWindowOver NotAllowed NotAllowed     NotAllowed     NotAllowed   NotAllowed
defer        needs        NotAllowed   NotAllowed     NotAllowed NotAllowed     NotAllowed     NotAllowed   NotAllowed
dismiss      cancelled    NotAllowed   NotAllowed     NotAllowed NotAllowed     NotAllowed     NotAllowed   NotAllowed
split        cancelled    NotAllowed   NotAllowed     NotAllowed NotAllowed     NotAllowed     NotAllowed   NotAllowed
claim        NotClaimable NotClaimable claimed        claimed    AlreadyClaimed AlreadyClaimed NotClaimable NotClaimable
checkpoint   StaleClaim   StaleClaim   StaleClaim     StaleClaim claimed        claimed        StaleClaim   StaleClaim
ask          StaleClaim   StaleClaim   StaleClaim     StaleClaim claimed        claimed        StaleClaim   StaleClaim
use-approval StaleClaim   StaleClaim   StaleClaim     StaleClaim claimed        claimed        StaleClaim   StaleClaim
decide       QuestionOver QuestionOver QuestionOver QuestionOver QuestionOver QuestionOver QuestionOver QuestionOver
revoke-approval needs     delegated    delegated      next       claimed        claimed        waiting      waiting
complete     StaleClaim   StaleClaim   StaleClaim     StaleClaim done           done           StaleClaim   StaleClaim
fail         StaleClaim   StaleClaim   StaleClaim     StaleClaim failed         failed         StaleClaim   StaleClaim
fail-retry   StaleClaim   StaleClaim   StaleClaim     StaleClaim delegated      next           StaleClaim   StaleClaim
reject       StaleClaim   StaleClaim   StaleClaim     StaleClaim rejected       rejected       StaleClaim   StaleClaim
release      StaleClaim   StaleClaim   StaleClaim     StaleClaim delegated      next           StaleClaim   StaleClaim
transfer     StaleClaim   StaleClaim   StaleClaim     StaleClaim done           done           StaleClaim   StaleClaim
wait         StaleClaim   StaleClaim   StaleClaim     StaleClaim waiting        waiting        StaleClaim   StaleClaim
wait-call    StaleClaim   StaleClaim   StaleClaim     StaleClaim waiting        waiting        StaleClaim   StaleClaim
release-claim NobodyHolds NobodyHolds  NobodyHolds    NobodyHolds delegated     next           NobodyHolds  NobodyHolds
resolve      done         done         done           done       done           done           done         done
cancel       cancelled    cancelled    cancelled      cancelled  cancelled      cancelled      cancelled    cancelled
join         NotAllowed   NotAllowed   NotAllowed     NotAllowed NotAllowed     NotAllowed     delegated    delegated
callback     NotAllowed   NotAllowed   NotAllowed     NotAllowed NotAllowed     NotAllowed     delegated    delegated
overtake     cancelled    NotAllowed   NotAllowed     NotAllowed NotAllowed     NotAllowed     NotAllowed   NotAllowed
send-back    NotAllowed   needs        needs          NotAllowed NotAllowed     NotAllowed     NotAllowed   NotAllowed
bot          needs        delegated    delegated      next       claimed        claimed        waiting      waiting
sweep        needs        delegated    delegated      next       delegated      next           waiting      waiting
"""
# The same for a task that has ended, however it did.
AFTER_THE_END = """
approve      TaskEnded
approve-next TaskEnded
undo         TaskEnded
defer        TaskEnded
dismiss      TaskEnded
split        TaskEnded
claim        TaskEnded
checkpoint   StaleClaim
ask          StaleClaim
use-approval StaleClaim
decide       TaskEnded
revoke-approval TaskEnded
complete     StaleClaim
fail         StaleClaim
fail-retry   StaleClaim
reject       StaleClaim
release      StaleClaim
transfer     StaleClaim
wait         StaleClaim
wait-call    StaleClaim
release-claim TaskEnded
resolve      TaskEnded
cancel       TaskEnded
join         TaskEnded
callback     TaskEnded
overtake     TaskEnded
send-back    TaskEnded
bot          TaskEnded
sweep        unchanged
"""
# Who may ask at all; a refusal here comes before any about the state. What nobody asks for is asked by the part of
# Baton that does it.
WHO = """
verb         target      other        creator      human      bare-human  service     acting-service process-task
approve      HumanNeeded HumanNeeded  HumanNeeded  ok         ok          HumanNeeded HumanNeeded    HumanNeeded
approve-next HumanNeeded HumanNeeded  HumanNeeded  ok         ok          HumanNeeded HumanNeeded    HumanNeeded
undo         HumanNeeded HumanNeeded  HumanNeeded  ok         ok          HumanNeeded HumanNeeded    HumanNeeded
defer        HumanNeeded HumanNeeded  HumanNeeded  ok         ok          HumanNeeded HumanNeeded    HumanNeeded
dismiss      HumanNeeded HumanNeeded  HumanNeeded  ok         ok          HumanNeeded HumanNeeded    HumanNeeded
split        HumanNeeded HumanNeeded  HumanNeeded  ok         ok          HumanNeeded HumanNeeded    HumanNeeded
claim        ok          NotYourAgent NotYourAgent ok         ScopeNeeded ScopeNeeded ok             ok
checkpoint   ok          StaleClaim   StaleClaim   StaleClaim StaleClaim  StaleClaim  StaleClaim     StaleClaim
ask          ok          StaleClaim   StaleClaim   StaleClaim StaleClaim  StaleClaim  StaleClaim     StaleClaim
use-approval ok          StaleClaim   StaleClaim   StaleClaim StaleClaim  StaleClaim  StaleClaim     StaleClaim
decide       HumanNeeded HumanNeeded  HumanNeeded  ok         ok          HumanNeeded HumanNeeded    HumanNeeded
revoke-approval HumanNeeded HumanNeeded HumanNeeded ok       ok          HumanNeeded HumanNeeded    HumanNeeded
complete     ok          StaleClaim   StaleClaim   StaleClaim StaleClaim  StaleClaim  StaleClaim     StaleClaim
fail         ok          StaleClaim   StaleClaim   StaleClaim StaleClaim  StaleClaim  StaleClaim     StaleClaim
fail-retry   ok          StaleClaim   StaleClaim   StaleClaim StaleClaim  StaleClaim  StaleClaim     StaleClaim
reject       ok          StaleClaim   StaleClaim   StaleClaim StaleClaim  StaleClaim  StaleClaim     StaleClaim
release      ok          StaleClaim   StaleClaim   StaleClaim StaleClaim  StaleClaim  StaleClaim     StaleClaim
transfer     ok          StaleClaim   StaleClaim   StaleClaim StaleClaim  StaleClaim  StaleClaim     StaleClaim
wait         ok          StaleClaim   StaleClaim   StaleClaim StaleClaim  StaleClaim  StaleClaim     StaleClaim
wait-call    ok          StaleClaim   StaleClaim   StaleClaim StaleClaim  StaleClaim  StaleClaim     StaleClaim
release-claim HumanNeeded HumanNeeded HumanNeeded  ok         ok          HumanNeeded HumanNeeded    HumanNeeded
resolve      HumanNeeded HumanNeeded  HumanNeeded  ok         ok          HumanNeeded HumanNeeded    HumanNeeded
cancel       HumanNeeded HumanNeeded  ok           ok         ok          HumanNeeded HumanNeeded    HumanNeeded
"""
CALLERS: dict[str, Principal] = {
    "target": TARGET,
    "other": OTHER,
    "creator": CREATOR,
    "human": HUMAN,
    "bare-human": BARE_HUMAN,
    "service": SERVICE,
    "acting-service": ACTING_SERVICE,
    "process-task": system(WORKSPACE, PROCESS_TASK),
    "itself": system(WORKSPACE, "itself"),
}
BRANCHES = (Branch(call_id="a", task_id="task_2"),)


def waiting_for(life: Life, **values: Any) -> Wait:
    return Wait(number=life.task.waits + 1, since=life.now, alert_at=life.now + timedelta(days=1), **values)


def wait(life: Life, by: Principal, claim_id: str = CLAIM_ID) -> object:
    return life.do(commands.WaitFor(by=by, claim_id=claim_id, wait=waiting_for(life, branches=BRANCHES)))


def wait_callback(life: Life, by: Principal, claim_id: str = CLAIM_ID) -> object:
    until = life.now + timedelta(days=7)
    return life.do(commands.WaitFor(by=by, claim_id=claim_id, wait=waiting_for(life, interaction_id="i", until=until)))


def save(life: Life, by: Principal, claim_id: str = CLAIM_ID) -> object:
    return life.do(commands.SaveCheckpoint(by=by, claim_id=claim_id, checkpoint_id="chk_1", step_name="step"))


def ask(life: Life, by: Principal, claim_id: str = CLAIM_ID) -> object:
    question = OpenQuestion("qst_1", life.now + timedelta(hours=1))
    return life.do(commands.Ask(by=by, claim_id=claim_id, question=question, told={"question_id": "qst_1"}))


def use_approval(life: Life, by: Principal, claim_id: str = CLAIM_ID) -> object:
    return life.do(commands.UseApproval(by=by, claim_id=claim_id, question_id="qst_1", digest="0" * 64))


def decide(life: Life, by: Principal) -> object:
    """A question that isn't the task's: what answers do is told in tests/unit/questions."""
    told: dict[str, Any] = {"question_id": "qst_1"}
    return life.do(commands.Decide(by=by, question_id="qst_1", told=told, outcome="answered", resume_payload={}))


def reject(life: Life, by: Principal, claim_id: str = CLAIM_ID) -> object:
    return life.do(commands.Reject(by=by, claim_id=claim_id, reason="no", failure={"type": "capability"}))


def transfer(life: Life, by: Principal, claim_id: str = CLAIM_ID) -> object:
    return life.do(commands.Transfer(by=by, claim_id=claim_id, successor="task_2", target="runner"))


def resume(life: Life, name: str, number: int | None = None) -> object:
    wait_number = life.task.waits if number is None else number
    return life.do(
        commands.Resume(by=system(WORKSPACE, name), wait=wait_number, how=name, resume_payload={"wait": wait_number})
    )


def overtake(life: Life, by: Principal) -> object:
    return life.do(commands.Overtake(by=by, overtaken_by="task_2", reason="it was done"))


Worker = Callable[[Life, Principal, str], object]
WORKER_VERBS: dict[str, Worker] = {
    "checkpoint": save,
    "ask": ask,
    "use-approval": use_approval,
    "complete": lambda life, by, claim_id: life.complete(by, claim_id),
    "fail": lambda life, by, claim_id: life.fail(retryable=False, by=by, claim_id=claim_id),
    "fail-retry": lambda life, by, claim_id: life.fail(retryable=True, by=by, claim_id=claim_id),
    "reject": reject,
    "release": lambda life, by, claim_id: life.release(by, claim_id),
    "transfer": transfer,
    "wait": wait,
    "wait-call": wait_callback,
}


def under_the_claim(do: Worker) -> Callable[[Life, Principal], object]:
    return lambda life, by: do(life, by, CLAIM_ID)


VERBS: dict[str, Callable[[Life, Principal], object]] = {
    "approve": lambda life, by: life.approve(by),
    "approve-next": lambda life, by: life.approve_next(by),
    "undo": lambda life, by: life.undo(by),
    "defer": lambda life, by: life.do(commands.Defer(by=by, until=life.now + timedelta(hours=1))),
    "dismiss": lambda life, by: life.do(commands.Dismiss(by=by, reason="not worth it")),
    "split": lambda life, by: life.do(commands.Split(by=by, parts=("task_2", "task_3"))),
    "claim": lambda life, by: life.claim(by, claim_id="clm_other"),
    **{name: under_the_claim(do) for name, do in WORKER_VERBS.items()},
    "decide": decide,
    "revoke-approval": lambda life, by: life.do(commands.RevokeApproval(by=by, told={"question_id": "qst_1"})),
    "release-claim": lambda life, by: life.release_claim(by),
    "resolve": lambda life, by: life.resolve(by),
    "cancel": lambda life, by: life.cancel(by),
    "join": lambda life, _: resume(life, JOINER),
    "callback": lambda life, _: resume(life, CALLBACK),
    "send-back": lambda life, _: life.do(commands.SendBack(by=system(WORKSPACE, SWEEPER), target=life.agent)),
    "overtake": lambda life, _: overtake(life, system(WORKSPACE, SWEEPER)),
    "bot": lambda life, _: life.do(commands.FlagClosedByBot(by=system(WORKSPACE, SYNC_TRACKER))),
    "sweep": lambda life, _: life.later(300).sweep(),
}


def life_in(state: str) -> Life:
    return lived(state).copy()


@cache
def lived(state: str) -> Life:
    if state == "at-next":
        life = in_state("next")
        life.claim()
        return life
    steps: dict[str, Callable[[Life], object]] = {
        "waiting": lambda life: wait(life, TARGET),
        "calling": lambda life: wait_callback(life, TARGET),
        "rejected": lambda life: reject(life, TARGET),
    }
    if state not in steps:
        return in_state(state)
    life = claimed()
    steps[state](life)
    return life


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
            for caller, allowed in who.get(verb, {"itself": "ok"}).items():
                cases.append((verb, state, caller, outcome if allowed == "ok" else allowed))
    return cases


CASES = _cases()
STATES = {"needs", "undoable", "delegated", "next", "claimed", "at-next", "waiting", "calling"} | set(map(str, ENDED))


# Verbs of the tables that aren't called as their command is.
COMMANDS_OF = {
    "fail-retry": "fail",
    "wait-call": "wait",
    "callback": "resume",
    "join": "resume",
    "bot": "flag-closed-by-bot",
}
# What nobody asks for.
BY_ITSELF = {"join", "callback", "overtake", "send-back", "bot", "sweep"}


def test_the_tables_cover_every_state_verb_and_caller() -> None:
    """Each verb of ``VERBS`` has its row in ``OUTCOMES``, ``AFTER_THE_END`` and, if somebody asks for it, ``WHO``."""
    by_itself = len(BY_ITSELF)
    asked = len(VERBS) - by_itself
    assert len(CASES) == len(STATES) * (asked * (len(CALLERS) - 1) + by_itself)
    assert {state for _, state, _, _ in CASES} == STATES
    assert STATES - {"undoable", "at-next", "calling"} == set(map(str, State))
    # A failure that may be tried again is one verb; so are a wait's two kinds, and what ends them.
    names = {each.name for each in every_verb()}
    verbs = {COMMANDS_OF.get(each, each) for each in VERBS}
    assert names ^ verbs == set(), "a command without a row in VERBS, or a row without a command"


def every_verb() -> list[type[commands.TaskCommand]]:
    return [
        each for each in vars(commands).values() if isinstance(each, type) and isinstance(vars(each).get("name"), str)
    ]


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_in_each_state_by_each_caller(verb: str) -> None:
    for its_verb, state, caller, expected in CASES:
        if its_verb == verb:
            comes_to(verb, state, caller, expected)


def comes_to(verb: str, state: str, caller: str, expected: str) -> None:
    life = life_in(state)
    before = life.task
    error = getattr(errors, expected, None)
    where = f"{verb} by {caller} of a task that is {state}"
    if error is not None:
        with pytest.raises(error) as refused:
            VERBS[verb](life, CALLERS[caller])
        assert type(refused.value) is error, where
        assert life.task is before, where
        return
    VERBS[verb](life, CALLERS[caller])
    if expected == "unchanged":
        assert life.task.changed(version=before.meta.version) == before, where
        return
    assert life.task.state == expected, where
    assert life.task.meta.version == before.meta.version + 1
    assert life.task.meta.seq == before.meta.seq + len(life.last.events)
    assert life.task.fence == before.fence + (verb == "claim")
    assert (life.task.claim is not None) == (expected == "claimed")
    assert (life.task.wait is not None) == (expected == "waiting")
    assert (life.task.meta.wake_at is None) == life.task.is_ended or expected in {"needs", "delegated"}
    assert as_told(replay(life.events)) == as_told(life.task)


@pytest.mark.parametrize("verb", WORKER_VERBS)
def test_another_claim_id_is_stale_in_every_state(verb: str) -> None:
    for state in sorted(STATES):
        life = life_in(state)
        before = life.task
        for stale in ("clm_another", ""):
            with pytest.raises(errors.StaleClaim):
                WORKER_VERBS[verb](life, TARGET, stale)
        with pytest.raises(errors.StaleClaim):
            life.task.current_claim("clm_another", TARGET)
        assert life.task is before, state


@pytest.mark.parametrize("verb", WORKER_VERBS)
@pytest.mark.parametrize("holder", ["target", "human", "acting-service", "process-task"])
def test_only_who_claimed_speaks_under_the_claim_whoever_it_was_claimed_for(verb: str, holder: str) -> None:
    for by in CALLERS.values():
        life = ready()
        life.claim(CALLERS[holder])
        if by.key == CALLERS[holder].key:  # a token's scopes are no part of who it is
            WORKER_VERBS[verb](life, by, CLAIM_ID)
            assert life.last.events
        else:
            with pytest.raises(errors.StaleClaim):
                WORKER_VERBS[verb](life, by, CLAIM_ID)


@pytest.mark.parametrize("state", ["waiting", "calling"])
@pytest.mark.parametrize("number", [0, 2])
def test_a_wait_is_ended_by_what_it_waits_for_and_by_no_other_number(state: str, number: int) -> None:
    life = life_in(state)
    with pytest.raises(errors.NotAllowed):
        resume(life, JOINER, number)
    resume(life, JOINER, 1)
    with pytest.raises(errors.NotAllowed):
        resume(life, JOINER, 1)


@pytest.mark.parametrize("caller", [each for each in CALLERS if each not in {"human", "bare-human", "process-task"}])
def test_nobody_but_baton_and_humans_closes_what_was_overtaken(caller: str) -> None:
    life = life_in("needs")
    with pytest.raises(errors.HumanNeeded):
        overtake(life, CALLERS[caller])


def test_every_ended_state_is_known_to_be_an_end() -> None:
    assert {str(state) for state in ENDED} == {"done", "failed", "rejected", "cancelled"}

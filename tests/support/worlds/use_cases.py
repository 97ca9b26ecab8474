"""Every use case that writes, as a test can run it: prepared, done, and repeated as by a caller who got no answer."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from baton.adapters.dynamodb.table import from_wire
from baton.domain.access.principal import Principal, PrincipalKind, operator
from baton.domain.access.rights import Right
from baton.domain.access.workspace_change import WorkspaceChange
from baton.domain.agents.route import Mode
from baton.domain.alerts.alert import Severity
from baton.domain.errors import BatonError, ChangePending, CodeRefused, SecretAlreadyShown, Unknown, VersionConflict
from baton.domain.handoffs.handoff_message import message_from
from baton.domain.handoffs.workflow import HandoffCount
from baton.domain.idempotency import IdempotencyKey
from baton.domain.memory.entry import Entry, EntryType
from baton.domain.memory.entry_draft import EntryDraft
from baton.domain.settings.approval_rule import ApprovalRule
from baton.domain.task_state import State
from baton.domain.tasks.calls import HumanCall, Seen, WorkerCall
from baton.domain.tasks.task import Task
from baton.domain.tasks.trail import state_fields
from baton.ports.details import TaskDetails
from baton.ports.writes import Add, Put, Require, UnderClaim
from baton.services.access.change_settings import change_settings
from baton.services.access.decide_change import approve_change, refuse_change
from baton.services.access.end_approvals import end_approvals
from baton.services.access.issue_token import TokenRequest, issue_token
from baton.services.access.open_session import make_session_code, open_session, redeem_session_code
from baton.services.access.renew_session import renew_session
from baton.services.access.revoke_token import revoke_token
from baton.services.agents.change_route import change_route, remove_route
from baton.services.agents.register_agent import register_agent
from baton.services.alerts.handle_alert import acknowledge_alert, resolve_alert
from baton.services.alerts.raise_alert import AlertRequest, raise_alert
from baton.services.claims.claim_following import claim_following
from baton.services.claims.claim_task import claim_next, claim_task
from baton.services.claims.complete_task import CompletedWork, complete_task
from baton.services.claims.fail_task import FailedWork, fail_task
from baton.services.claims.release_claim import release_claim
from baton.services.claims.release_task import ReleasedWork, release_task
from baton.services.claims.renew_claim import renew_claim
from baton.services.claims.save_checkpoint import save_run_state
from baton.services.escalations.close_review import Closing, close_review
from baton.services.escalations.create_handoff_marker import create_handoff_marker
from baton.services.escalations.release_review import release_review
from baton.services.handoffs.create_handoff import CreateHandoff, create_handoff
from baton.services.handoffs.twining_handoff import TwiningHandoff, twining_handoff
from baton.services.memory.end_entry import delete_entry, withdraw_entry
from baton.services.memory.post_entry import post_entry
from baton.services.tasks.approve_task import approve_task, approve_task_next, undo_approval
from baton.services.tasks.end_task import cancel_task, resolve_task
from baton.services.tasks.sweep import sweep
from baton.steps.claims.take_task import Claimed, Claimer
from support.fakes.fake_dynamo.client import Item
from support.values.changes import new, queued, then, with_body
from support.values.task_items import a_checkpoint, a_job, slotted
from support.worlds.rig import Rig
from support.worlds.world import WORKSPACE, World, agent, human, marker_body

AUDITOR, SCOUT, RUNNER = agent("auditor"), agent("scout"), agent("runner")
ONCE = IdempotencyKey(human(), "/route", "key-1", "hash-1")
FAILURE = {"type": "error", "description": "broke"}


@dataclass(frozen=True)
class UseCase:
    """``act`` gets what ``prepare`` made. ``keyed``: an exact repeat gets the first answer. ``repeat_may_raise``: the
    error that tells a repeat that it is one, if there is no answer to repeat."""

    prepare: Callable[[World], Any]
    act: Callable[[World, Any], Any]
    keyed: bool = True
    repeat_may_raise: tuple[type[BatonError], ...] = ()
    beats: bool = False
    leaves_out: bool = False  # what can't be read after the commit isn't in the answer


def capped(world: World) -> None:
    for _ in range(2):
        task_id = world.mark(human()).task_id
        assert task_id
        cancel_task(world.deps, human(), task_id, None)
        world.clock.advance(1)


def review_of(world: World) -> str:
    capped(world)
    review_id = world.mark().review_id
    assert review_id
    return review_id


def just_approved(world: World) -> str:
    task_id = world.needing()
    approve_task(world.deps, human(), task_id, None)
    return task_id


def claim_to_beat(world: World) -> Claimed:
    claim = world.claimed()
    world.clock.advance(60)
    return claim


def hard_claim_to_beat(world: World) -> Claimed:
    """Returns a claim on a task that fails at its deadline (no verb makes one yet), for the second way in which a lease
    is extended."""
    now = world.clock.now()
    deadline = now.replace(hour=now.hour + 1)
    queued(world.store, "task_hard", ready_at=now, deadline=deadline, fail_on_deadline=True)
    claim = world.claim()
    world.clock.advance(60)
    return claim


def lost_lease(world: World) -> Any:
    world.ready(target_agent="runner")
    claimer = Claimer(by=RUNNER, agent="runner", worker="w", lease_seconds=60)
    claim = claim_next(world.deps, claimer)
    assert claim
    world.clock.advance(3_600)
    return claim


def lost_claim(world: World) -> str:
    """Returns the lost claim of a worker that pulls: its lease is over."""
    claim = world.claimed()
    world.clock.advance(300)
    return _id(claim)


def lost_for_good(world: World) -> Task:
    """Returns a lost claim of the last attempt: the task goes to a human, whoever looks first."""
    queued(world.store, "task_last", ready_at=world.clock.now(), max_attempts=1)
    task_id = _id(world.claim())
    world.clock.advance(300)
    return world.task(task_id)


def extended(world: World) -> Task:
    """Returns a claim whose lease was extended, while its mark still says that it is over."""
    claim = world.claimed()
    world.clock.advance(200)
    renew_claim(world.deps, AUDITOR, _id(claim), claim.claim_id)
    world.clock.advance(100)
    return world.task(_id(claim))


def find_nothing(world: World, _: Task) -> Any:
    return claim_next(world.deps, CLAIMER)


def alerted(world: World, task_id: str | None = None, idempotency_key: IdempotencyKey | None = None) -> str:
    request = AlertRequest(kind="disk-full", severity=Severity.INFO, message="full", task_id=task_id)
    return raise_alert(world.deps, SCOUT, request, idempotency_key).id


def posted(world: World, idempotency_key: IdempotencyKey | None = None, **values: Any) -> Entry:
    draft = EntryDraft(entry_type=EntryType.DECISION, summary="One table", scope="src/auth", **values)
    return post_entry(world.deps, SCOUT, draft, idempotency_key)


def replacing(world: World, before: Entry, idempotency_key: IdempotencyKey | None = None) -> Entry:
    return posted(world, idempotency_key, supersedes=before.id)


def with_snapshot(world: World, idempotency_key: IdempotencyKey | None = None) -> Any:
    said = {
        "source": {"agent": "scout"},
        "target": {"agent": "auditor", "reason": "look"},
        "scope": "src",
        "auto_snapshot": True,
    }
    return create_handoff(world.deps, human(), CreateHandoff(message=message_from(said)), idempotency_key)


def labelled(world: World, idempotency_key: IdempotencyKey | None = None) -> Any:
    said = {
        "source": {"agent": "scout"},
        "target": {"agent": "auditor", "reason": "look"},
        "metadata": {"labels": {"team": "blue", "order": "88010"}},
    }
    return create_handoff(world.deps, human(), CreateHandoff(message=message_from(said)), idempotency_key)


def twined(world: World, idempotency_key: IdempotencyKey | None = None, by: Principal = SCOUT) -> Any:
    results = ({"description": "A list", "status": "completed"},)
    asked = TwiningHandoff(source_agent=by.id, target_agent="runner", summary="Audit", results=results)
    return twining_handoff(world.deps, by, asked, idempotency_key)


def known_work(world: World) -> None:
    """Returns work with a snapshot, of which a decision was replaced since."""
    before = posted(world)
    with_snapshot(world)
    replacing(world, before)
    world.clock.advance(5)


def unclaimed(world: World) -> None:
    world.ready()
    world.clock.advance(3_600)


def routed(world: World, _: Any = None) -> Any:
    return change_route(world.deps, human(), "audit", {"agent": "auditor", "mode": Mode.NEXT})


def humans_token(world: World) -> Principal:
    return issue_token(world.deps, human(), TokenRequest(kind=PrincipalKind.HUMAN, subject="bob"))[0].principal


def code_to_redeem(world: World) -> str:
    return make_session_code(world.deps, humans_token(world))[1]


def session_to_renew(world: World) -> Principal:
    session, _ = open_session(world.deps, humans_token(world))
    world.clock.advance(600)
    return session.principal


def token_to_revoke(world: World) -> str:
    return issue_token(world.deps, human(), TokenRequest(kind=PrincipalKind.SERVICE, subject="ci"))[0].id


def mark(by: Any = SCOUT, idempotency_key: IdempotencyKey | None = ONCE, **changes: Any) -> Callable[[World, Any], Any]:
    return lambda world, _: create_handoff_marker(world.deps, by, marker_body(**changes), idempotency_key)


def on_claim(
    verb: Callable[..., Any], work: object, idempotency_key: IdempotencyKey | None = None
) -> Callable[[World, Any], Any]:
    def act(world: World, claim: Claimed) -> Any:
        call = WorkerCall(AUDITOR, claim.details.task.id, claim.claim_id, "h", idempotency_key)
        return verb(world.deps, call, work)

    return act


def work_and_more(world: World) -> Claimed:
    claim = world.claimed()
    queued(world.store, "task_next", ready_at=world.clock.now())
    return claim


def complete_and_claim_next(world: World, claim: Claimed) -> Any:
    call = WorkerCall(AUDITOR, claim.details.task.id, claim.claim_id, "h")
    done = complete_task(world.deps, call, CompletedWork(output={"x": [1]}))
    return done, claim_following(world.deps, call, done)


def parent_of(world: World) -> Task:
    return world.task(_id(world.claimed()))


def write_both(world: World, parent: Task) -> None:
    """Writes a task's end with its child, and with everything around them, in one write of the store."""
    child = new("task_child", parent_id=parent.id, state=State.CLAIMED, claim=slotted(1), fence=1)
    kept = Put(a_checkpoint(task_id=parent.id, workflow_id=parent.workflow_id))
    world.store.commit(
        parent.workspace,
        then(parent, state=State.DONE, claim=None),
        with_body(child, {"x": 1}),
        Add(HandoffCount(parent.workflow_id, 1), 1, 50),
        kept,
    )


def write_others(world: World, parent: Task) -> None:
    """Writes everything around a task, without a change of the task."""
    child = new("task_child", parent_id=parent.id)
    under = Require(UnderClaim(parent.id, parent.claim.claim_id if parent.claim else ""))
    world.store.commit(parent.workspace, under, Put(a_job(task_id=parent.id)), child)


def nothing(_world: World) -> None:
    return None


LARGE = "large " * 300  # too large for HEAD
CLAIMER = Claimer(by=AUDITOR, agent="auditor", worker="worker-1")
ADMINISTRATOR_TOKEN = TokenRequest(kind=PrincipalKind.HUMAN, subject="cy", right=Right.ADMINISTRATOR)


def ruled(world: World) -> None:
    change_settings(world.deps, human(), {"groups": {"leads": ("ann", "bob")}}, 0)


def administered(world: World) -> None:
    """Alice and Ann administer the workspace, which has a group."""
    ruled(world)
    for name in ("alice", "ann"):
        wanted = TokenRequest(kind=PrincipalKind.HUMAN, subject=name, right=Right.ADMINISTRATOR)
        issue_token(world.deps, operator(WORKSPACE), wanted)


def pending(act: Callable[[], object]) -> WorkspaceChange:
    try:
        act()
    except ChangePending as asked:
        change: WorkspaceChange = asked.change
        return change
    raise AssertionError("nothing waits")


def asked_to_loosen(world: World) -> WorkspaceChange:
    return pending(lambda: change_settings(world.deps, human(), {"groups": {}}))


def loosening_asked_for(world: World) -> WorkspaceChange:
    administered(world)
    return asked_to_loosen(world)


def asked_for_token(world: World, idempotency_key: IdempotencyKey | None = None) -> WorkspaceChange:
    return pending(lambda: issue_token(world.deps, human(), ADMINISTRATOR_TOKEN, idempotency_key))


def token_approved(world: World) -> WorkspaceChange:
    administered(world)
    asked = asked_for_token(world)
    return approve_change(world.deps, human(name="ann"), asked.id, asked.digest)


def revocation_asked_for(world: World) -> WorkspaceChange:
    administered(world)
    token, _ = issue_token(world.deps, operator(WORKSPACE), ADMINISTRATOR_TOKEN)
    return pending(lambda: revoke_token(world.deps, human(), token.id))


def leaves_a_rule(world: World) -> WorkspaceChange:
    return pending(lambda: register_agent(world.deps, human(), "auditor", {"accepts": ("other",), "max_turns": 3}))


def agent_in_a_rule(world: World) -> None:
    administered(world)
    register_agent(world.deps, human(), "auditor", {"accepts": ("audit",)})
    change_settings(world.deps, human(), {"approval_rules": (ApprovalRule(work_type="audit"),)})


def edit_asked_for(world: World) -> WorkspaceChange:
    agent_in_a_rule(world)
    return leaves_a_rule(world)


USE_CASES: dict[str, UseCase] = {
    "marker": UseCase(nothing, mark()),
    "marker without key": UseCase(nothing, mark(idempotency_key=None), keyed=False),
    "marker by a human": UseCase(nothing, mark(human())),
    "marker for an agent that is run": UseCase(nothing, mark(target_agent="runner")),
    "marker with a snapshot": UseCase(posted, mark(scope="src", auto_snapshot=True, auto_memories=1)),
    "duplicate": UseCase(World.mark, mark()),
    "duplicate without key": UseCase(World.mark, mark(idempotency_key=None), keyed=False),
    "capped": UseCase(capped, mark()),
    "capped without key": UseCase(capped, mark(idempotency_key=None), keyed=False),
    "capped again": UseCase(review_of, mark()),
    "text": UseCase(nothing, mark(create_task=False)),
    "approve": UseCase(World.needing, lambda w, t: approve_task(w.deps, human(), t, Seen(1), ONCE)),
    "approve without key": UseCase(World.needing, lambda w, t: approve_task(w.deps, human(), t, Seen(1)), keyed=False),
    "approve-next": UseCase(World.needing, lambda w, t: approve_task_next(w.deps, human(), t, Seen(1), ONCE)),
    "undo": UseCase(just_approved, lambda w, t: undo_approval(w.deps, human(), t, ONCE)),
    "claim": UseCase(World.ready, lambda w, t: claim_task(w.deps, CLAIMER, t, ONCE)),
    "claim without key": UseCase(World.ready, lambda w, t: claim_task(w.deps, CLAIMER, t), keyed=False),
    "claim-next": UseCase(World.ready, lambda w, _: claim_next(w.deps, CLAIMER, ONCE)),
    "claim-next without key": UseCase(World.ready, lambda w, _: claim_next(w.deps, CLAIMER), keyed=False),
    "claim of a lost lease": UseCase(lost_claim, lambda w, t: claim_task(w.deps, CLAIMER, t, ONCE)),
    "claim-next of a lost lease": UseCase(lost_claim, lambda w, _: claim_next(w.deps, CLAIMER, ONCE)),
    "claim-next of a lost lease without key": UseCase(
        lost_claim, lambda w, _: claim_next(w.deps, CLAIMER), keyed=False
    ),
    "sweep by a claimer of what goes to a human": UseCase(lost_for_good, find_nothing),
    "move of a mark": UseCase(extended, find_nothing),
    "heartbeat": UseCase(claim_to_beat, lambda w, c: renew_claim(w.deps, AUDITOR, _id(c), c.claim_id), beats=True),
    "heartbeat with lease": UseCase(
        claim_to_beat, lambda w, c: renew_claim(w.deps, AUDITOR, _id(c), c.claim_id, 900), beats=True
    ),
    "heartbeat to a deadline": UseCase(
        hard_claim_to_beat, lambda w, c: renew_claim(w.deps, AUDITOR, _id(c), c.claim_id, 9_000), beats=True
    ),
    "complete": UseCase(World.claimed, on_claim(complete_task, CompletedWork(output={"x": [1]}))),
    "complete with key": UseCase(World.claimed, on_claim(complete_task, CompletedWork(output={"x": [1]}), ONCE)),
    "complete with a large output": UseCase(
        World.claimed, on_claim(complete_task, CompletedWork(output={"x": LARGE}, completion={"notes": ["y"]}))
    ),
    "run state": UseCase(
        claim_to_beat,
        lambda w, c: save_run_state(w.deps, WorkerCall(AUDITOR, _id(c), c.claim_id, "h", ONCE), "e30=", "ab"),
    ),
    "complete and claim the next": UseCase(work_and_more, complete_and_claim_next),
    "fail": UseCase(World.claimed, on_claim(fail_task, FailedWork(failure=FAILURE))),
    "fail and retry": UseCase(World.claimed, on_claim(fail_task, FailedWork(failure=FAILURE, retryable=True), ONCE)),
    "release": UseCase(claim_to_beat, on_claim(release_task, ReleasedWork(reason="not now"))),
    "release of a claim by a human": UseCase(
        claim_to_beat,
        lambda w, c: release_claim(w.deps, HumanCall(human(), _id(c), idempotency_key=ONCE), 1, "it hangs"),
    ),
    "resolve": UseCase(
        World.needing,
        lambda w, t: resolve_task(w.deps, HumanCall(human(), t, idempotency_key=ONCE), {"x": 1}, "elsewhere"),
    ),
    "resolve with a large output": UseCase(
        World.needing, lambda w, t: resolve_task(w.deps, HumanCall(human(), t, idempotency_key=ONCE), {"x": LARGE})
    ),
    "cancel": UseCase(World.needing, lambda w, t: cancel_task(w.deps, human(), t, "not needed", ONCE)),
    "cancel without key": UseCase(World.needing, lambda w, t: cancel_task(w.deps, human(), t, None), keyed=False),
    "release of a review": UseCase(review_of, lambda w, r: release_review(w.deps, human(), r, ONCE)),
    "closing of a review": UseCase(
        review_of, lambda w, r: close_review(w.deps, human(), r, Closing("not wanted"), ONCE)
    ),
    "registration": UseCase(
        nothing,
        lambda w, _: register_agent(w.deps, human(), "new", {"name": "New"}, 0),
        repeat_may_raise=(VersionConflict,),
    ),
    "registration of a known agent": UseCase(
        nothing,
        lambda w, _: register_agent(w.deps, human(), "auditor", {"active": False}, 1),
        repeat_may_raise=(VersionConflict,),
    ),
    "settings": UseCase(
        nothing,
        lambda w, _: change_settings(w.deps, human(), {"escalation_cap": 5}, 0),
        repeat_may_raise=(VersionConflict,),
    ),
    "registration from any version": UseCase(
        nothing, lambda w, _: register_agent(w.deps, human(), "auditor", {"active": False}), keyed=False
    ),
    "settings from any version": UseCase(
        nothing, lambda w, _: change_settings(w.deps, human(), {"escalation_cap": 5}), keyed=False
    ),
    "token": UseCase(
        nothing,
        lambda w, _: issue_token(w.deps, human(), TokenRequest(kind=PrincipalKind.AGENT, subject="scout"), ONCE)[0],
        repeat_may_raise=(SecretAlreadyShown,),
    ),
    "session": UseCase(humans_token, lambda w, by: open_session(w.deps, by)[0], keyed=False),
    "session code": UseCase(humans_token, lambda w, by: make_session_code(w.deps, by)[0], keyed=False),
    "session by a code": UseCase(
        code_to_redeem,
        lambda w, code: redeem_session_code(w.deps, code)[0],
        keyed=False,
        repeat_may_raise=(CodeRefused,),
    ),
    "renewal": UseCase(session_to_renew, lambda w, by: renew_session(w.deps, by)),
    "revocation": UseCase(token_to_revoke, lambda w, t: revoke_token(w.deps, human(), t)),
    "human's token": UseCase(
        nothing,
        lambda w, _: issue_token(w.deps, human(), TokenRequest(kind=PrincipalKind.HUMAN, subject="bob"), ONCE)[0],
        repeat_may_raise=(SecretAlreadyShown,),
    ),
    "loosening alone": UseCase(
        ruled, lambda w, _: change_settings(w.deps, human(), {"groups": {}}, 1), repeat_may_raise=(VersionConflict,)
    ),
    "loosening asked for": UseCase(administered, lambda w, _: asked_to_loosen(w)),
    "token asked for": UseCase(administered, lambda w, _: asked_for_token(w, ONCE)),
    "loosening approved": UseCase(
        loosening_asked_for,
        lambda w, c: approve_change(w.deps, human(name="ann"), c.id, c.digest),
    ),
    "edit of an agent asked for": UseCase(agent_in_a_rule, lambda w, _: leaves_a_rule(w)),
    "edit of an agent approved": UseCase(
        edit_asked_for, lambda w, c: approve_change(w.deps, human(name="ann"), c.id, c.digest)
    ),
    "revocation approved": UseCase(
        revocation_asked_for, lambda w, c: approve_change(w.deps, human(name="ann"), c.id, c.digest)
    ),
    "token by an approval": UseCase(
        token_approved,
        lambda w, c: issue_token(w.deps, human(), replace(ADMINISTRATOR_TOKEN, change_id=c.id), ONCE)[0],
        repeat_may_raise=(SecretAlreadyShown,),
    ),
    "approvals ended": UseCase(administered, lambda w, _: end_approvals(w.deps, human(), "ann", ONCE)),
    "approvals ended without key": UseCase(
        administered, lambda w, _: end_approvals(w.deps, human(), "ann"), keyed=False
    ),
    "change refused": UseCase(loosening_asked_for, lambda w, c: refuse_change(w.deps, human(name="ann"), c.id)),
    "alert": UseCase(nothing, lambda w, _: alerted(w, idempotency_key=ONCE)),
    "alert without key": UseCase(nothing, lambda w, _: alerted(w), keyed=False),
    "alert about a task": UseCase(World.needing, lambda w, t: alerted(w, t, ONCE)),
    "alert about a task without key": UseCase(World.needing, alerted, keyed=False),
    "acknowledgement": UseCase(alerted, lambda w, a: acknowledge_alert(w.deps, human(), a, "mine", ONCE)),
    "acknowledgement without key": UseCase(alerted, lambda w, a: acknowledge_alert(w.deps, human(), a, "mine")),
    "resolution": UseCase(alerted, lambda w, a: resolve_alert(w.deps, human(), a, None, ONCE)),
    "resolution without key": UseCase(alerted, lambda w, a: resolve_alert(w.deps, human(), a)),
    "handoff with a snapshot": UseCase(posted, lambda w, _: with_snapshot(w, ONCE)),
    "handoff with labels": UseCase(nothing, lambda w, _: labelled(w, ONCE)),
    "twining handoff": UseCase(posted, lambda w, _: twined(w, ONCE)),
    "twining handoff under a claim": UseCase(World.claimed, lambda w, _: twined(w, ONCE, AUDITOR)),
    "claim of a handoff with a snapshot": UseCase(
        known_work, lambda w, _: claim_next(w.deps, CLAIMER, ONCE), leaves_out=True
    ),
    "entry": UseCase(nothing, lambda w, _: posted(w, ONCE)),
    "entry without key": UseCase(nothing, lambda w, _: posted(w), keyed=False),
    "decision that replaces another": UseCase(posted, lambda w, before: replacing(w, before, ONCE)),
    "decision that replaces another, without key": UseCase(posted, replacing, keyed=False),
    "withdrawal": UseCase(posted, lambda w, entry: withdraw_entry(w.deps, SCOUT, entry.id, "was wrong", ONCE)),
    "withdrawal without key": UseCase(posted, lambda w, entry: withdraw_entry(w.deps, SCOUT, entry.id)),
    "deletion": UseCase(posted, lambda w, entry: delete_entry(w.deps, human(), entry.id)),
    "route": UseCase(
        nothing,
        lambda w, _: change_route(w.deps, human(), "audit", {"agent": "auditor", "mode": Mode.NEXT}, 0),
        repeat_may_raise=(VersionConflict,),
    ),
    "route from any version": UseCase(routed, routed, keyed=False),
    "removal of a route": UseCase(
        routed, lambda w, _: remove_route(w.deps, human(), "audit"), repeat_may_raise=(Unknown,)
    ),
    "sweep of what nobody takes": UseCase(unclaimed, lambda w, _: sweep(w.deps).failed),
    "shared write": UseCase(parent_of, write_both, keyed=False),
    "shared write without a change": UseCase(parent_of, write_others, keyed=False),
    "sweep of a lost lease": UseCase(lost_lease, lambda w, _: sweep(w.deps).failed),
}


def _id(claim: Claimed) -> str:
    return claim.details.task.id


# What two runs of the same story must have in common: everything but ids, times and hashes.

_ID = "[0-9a-hjkmnp-tv-z]{26}"
_CHANCE = re.compile(
    # Each begins with what most places of a text haven't: it is looked for in megabytes.
    rf"\b(?:{_ID}|[0-9a-f]{{64}}|[0-9a-f]{{32}})\b"
    rf"|(?<![a-z])[a-z]+_t?{_ID}\b"
    r"|(?=\d)(?:"
    r"(?<=#BOARD#)\d"  # the shard, which follows from the id
    r"|\d{4}-\d\d-\d\dT[\d:.]+Z"
    r"|\b0\d{14}\b"
    r"|(?:(?<=WAKE#OTHER#)|(?<=WAKE#CLAIMED#)|(?<=WAKE#ERRANDS#)|(?<=WAKE#EVENTS#))\d+"
    r")"
)


def plain(value: Any) -> Any:
    """Returns a text that is the same for two runs of the same story."""
    if isinstance(value, Claimed):
        return plain((value.details, value.claim_id))
    if isinstance(value, TaskDetails):
        outcomes = (value.body, value.output, value.failure)
        body, output, failure = (_CHANCE.sub("*", json.dumps(each, sort_keys=True)) for each in outcomes)
        return _CHANCE.sub("*", json.dumps(state_fields(value.task))), value.task.meta.version, body, output, failure
    if isinstance(value, tuple):
        return tuple(map(plain, value))
    return _CHANCE.sub("*", re.sub(r"datetime\.datetime\([^()]*\)", "*", repr(value)))


def _is_time(name: str) -> bool:
    return name.endswith(("_ms", "_at")) or name in {"deadline", "deferred_until", "not_before", "undo_until"}


def fingerprint(rig: Rig, *, versions: bool = True) -> Counter[str]:
    """Returns what the table holds, one text per item. An effect that happened twice shows as an additional item or
    another version. The version of what processes keep is left out, as raising it again costs them a reading and
    nothing else."""
    items = rig.items()
    heads = {item["pk"]["S"]: item for item in items if item["sk"]["S"] == "HEAD"}
    return Counter(_text_of(item, versions) for item in items if not _leads_nowhere(item, heads))


def _leads_nowhere(item: Item, heads: dict[str, Item]) -> bool:
    """True for what an attempt without effect has left, and for the version of what processes keep."""
    pk, sk = item["pk"]["S"], item["sk"]["S"]
    void: Item = {"void": True}
    if sk in ("BODY", "BEGINNING"):
        return "void" in heads.get(pk, void)
    if "#LABEL#" in pk:
        return "void" in heads.get(f"WS#acme#TASK#{sk}", void)
    return "#CONFIG#" in pk or (sk.startswith("OUTPUT#") and heads[pk].get("output_in") != {"S": sk})


# A table that is brought back to an earlier moment has the same items, which are never changed: each is told once.
_TEXTS: dict[tuple[int, bool], tuple[Item, str]] = {}
_MOST_TEXTS = 20_000


def _text_of(item: Item, versions: bool) -> str:
    key = id(item), versions
    if key not in _TEXTS:
        if len(_TEXTS) >= _MOST_TEXTS:
            _TEXTS.clear()
        _TEXTS[key] = item, _told(from_wire(item), versions)  # with the item, whose id is no other's meanwhile
    return _TEXTS[key][1]


def _told(item: dict[str, Any], versions: bool) -> str:
    skipped = {"written_by", "hash", "prev_hash", "chain", "digest"} | (set() if versions else {"version", "answer"})
    told: dict[str, Any] = {
        name: sorted(value) if isinstance(value, set) else value
        for name, value in item.items()
        if name not in skipped and not _is_time(name)
    }
    if "claim" in told:
        told["claim"] = {name: value for name, value in told["claim"].items() if not _is_time(name)}
    if "events" in told:
        told["events"] = [{name: entry[name] for name in entry.keys() - {"prev", "write"}} for entry in told["events"]]
    if "changes" in told:
        told["changes"] = [{name: each[name] for name in each.keys() - {"at"}} for each in told["changes"]]
    if "times" in told:
        told["times"] = len(told["times"])
    if "escalations" in told:
        told["escalations"] = len(told["escalations"])
    return _CHANCE.sub("*", json.dumps(told, default=str, sort_keys=True))

"""What `make smoke` proves of a deployment, one check after the other."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from tools.admin import verify_trail
from tools.admin.smoke_world import Caller, Failed, World, handoff, must

CLAIMERS = 4  # a new account may run ten functions at once, and five polls of one caller may wait
ROUNDS = 3
LEASE_SECONDS = 15  # the shortest there is
WAKES_WITHIN_SECONDS = 3.0
SWEPT_WITHIN_SECONDS = 90.0  # a round each minute, and the time that one takes
WAIT = "claims/wait?timeout=20"


@dataclass(frozen=True)
class Check:
    """``look``: where to look if it doesn't hold."""

    what: str
    run: Callable[[World], None]
    look: str


def _is_up(world: World) -> None:
    must(world.nobody.ok("GET", "/healthz") == {"status": "ok"}, "GET /healthz says something else")


def _strangers_are_refused(world: World) -> None:
    world.nobody.refused((401, "not_authenticated"), "GET", "/tasks")
    Caller(world.nobody.http, "baton_nonsense").refused((403, "token_refused"), "GET", "/tasks")


def _bad_input_is_named(world: World) -> None:
    wrong = world.human.refused(
        (422, "invalid_input"), "POST", "/handoffs", {"source": {"agent": world.name("sender")}}
    )
    must(_names(wrong, "target"), f"a handoff without a target: the field isn't named in {wrong['errors']}")
    twice = b'{"source": {"agent": "a", "agent": "b"}}'
    wrong = world.human.refused((400, "malformed_json"), "POST", "/handoffs", raw=twice)
    must(_names(wrong, "agent"), f"a name that is given twice isn't named in {wrong['errors']}")
    large = json.dumps({"source": {"agent": "a", "phase": "x" * 300_000}}).encode()
    world.human.refused((413, "too_large"), "POST", "/handoffs", raw=large)


def _names(problem: dict[str, Any], field: str) -> bool:
    return any(field in each["field"] for each in problem["errors"])


def _an_escalation_is_made_once(world: World) -> None:
    marker = {
        "source_agent": world.name("sender"),
        "target_agent": world.name("worker"),
        "escalation_reason": "make smoke tries this deployment",
        "source_digest_url": "https://notes.example/smoke",
        "task_priority": "medium",
    }
    sender, key = world.callers["sender"], f"marker-{world.run}"
    first = sender.ok("POST", "/handoff-markers", marker, key=key)
    must(first["task_created"], "no task was made")
    world.noted(first["task_id"])
    must(sender.ok("POST", "/handoff-markers", marker, key=key) == first, "a repeat got another answer")
    other = {**marker, "task_priority": "high"}
    sender.refused((422, "idempotency_key_reused"), "POST", "/handoff-markers", other, key=key)
    again = sender.ok("POST", "/handoff-markers", other)
    must(again["duplicate_prevented"] and not again["task_created"], "an escalation that is open was made again")


def _only_a_human_approves(world: World) -> None:
    """And the worker that waits meanwhile gets the task."""
    asked = handoff(world.name("sender"), world.name("worker"))
    task = world.callers["service"].ok("POST", "/handoffs", asked)["task"]
    task_id = world.noted(task["id"])
    must(task["state"] == "needs", f"an agent's handoff begins in {task['state']}")
    for part in ("sender", "service"):
        world.callers[part].refused((403, "human_required"), "POST", f"/tasks/{task_id}/approve", {})
    worker, path = world.callers["worker"], f"/agents/{world.name('worker')}/{WAIT}"
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(_timed, lambda: worker.ok("POST", path, {"worker": "smoke"}))
        time.sleep(2)
        must(not waiting.done(), "a poll came back although there was no work")
        world.human.ok("POST", f"/tasks/{task_id}/approve", {})
        effective = time.monotonic() + world.undo_seconds
        claim, at = waiting.result()
    must(claim is not None and claim["task"]["id"] == task_id, "the worker that waited didn't get the task")
    late = at - effective
    must(late < WAKES_WITHIN_SECONDS, f"the worker that waited got the task {late:.1f} s after the approval's effect")
    world.complete(task_id, claim["claim_id"])


def _timed(ask: Callable[[], Any]) -> tuple[Any, float]:
    answer = ask()
    return answer, time.monotonic()


def _a_task_is_done(world: World) -> None:
    """By the human, who speaks for the agent."""
    task_id = world.ready()
    claim = world.human.ok("POST", f"/tasks/{task_id}/claim", {"agent": world.name("worker"), "worker": "smoke"})
    held = {"claim_id": claim["claim_id"]}
    world.human.ok("POST", f"/tasks/{task_id}/heartbeat", held)
    done = world.human.ok("POST", f"/tasks/{task_id}/complete", {**held, "output": {"smoke": world.run}})
    must(done["state"] == "done", f"the completed task is {done['state']}")


def _a_claim_is_kept_and_ended_once(world: World) -> None:
    task_id, claim_id = world.claimed()
    worker, held = world.callers["worker"], {"claim_id": claim_id}
    beat = worker.ok("POST", f"/tasks/{task_id}/heartbeat", held)
    must(beat["state"] == "claimed", f"a heartbeat finds the task {beat['state']}")
    worker.ok("POST", f"/tasks/{task_id}/checkpoints", {**held, "step_name": "read", "state": {"read": 1}})
    done = world.complete(task_id, claim_id)
    must(world.complete(task_id, claim_id) == done, "the repeat of a completion got another answer")
    other = {**held, "output": "other"}
    worker.refused((409, "stale_claim"), "POST", f"/tasks/{task_id}/complete", other)


def _one_claimer_wins(world: World) -> None:
    for task_id in _several_ready(world):
        together, path = threading.Barrier(CLAIMERS), f"/tasks/{task_id}/claim"

        def claim(number: int, path: str = path, together: threading.Barrier = together) -> Any:
            together.wait(30)
            return world.callers["worker"].send("POST", path, {"worker": f"smoke-{number}"})

        with ThreadPoolExecutor(CLAIMERS) as pool:
            answers = list(pool.map(claim, range(CLAIMERS)))
        won = [each.json() for each in answers if each.is_success]
        lost = sorted(each.status_code for each in answers if not each.is_success)
        must((len(won), lost) == (1, [409] * (CLAIMERS - 1)), f"{len(won)} claimers got it, and the others {lost}")
        world.complete(task_id, won[0]["claim_id"])


def _several_ready(world: World) -> list[str]:
    """One undo window for all of them."""
    first = [world.approved() for _ in range(ROUNDS - 1)]
    return [*first, world.ready()]


def _lost_work_comes_back(world: World) -> None:
    task_id, lost = world.claimed(LEASE_SECONDS)
    worker = world.callers["worker"]
    claim = worker.ok("POST", f"/agents/{world.name('worker')}/{WAIT}", {"worker": "smoke-2"})
    must(claim is not None, "20 s after the claim of a lease of 15 the task hadn't come back")
    must(claim["task"]["id"] == task_id, "the next worker got another task")
    must((claim["fence"], len(claim["recoveries"])) == (2, 1), "the second claim has no higher fence, or no recovery")
    for verb, body in {"heartbeat": {}, "complete": {"output": "late"}}.items():
        worker.refused((409, "stale_claim"), "POST", f"/tasks/{task_id}/{verb}", {"claim_id": lost, **body})
    world.complete(task_id, claim["claim_id"])


def _baton_runs_an_agent(world: World) -> None:
    task_id = world.approved("runner")
    task = world.human.ok("GET", f"/tasks/{task_id}/await?state=ended&timeout=25")
    must(task["state"] == "done", f"25 s after it was approved the task is {task['state']} ({task['failure']})")


def _an_agent_is_switched_off(world: World) -> None:
    sender, path = world.callers["sender"], f"/agents/{world.name('sender')}"
    sender.ok("GET", path)
    world.human.ok("PUT", path, {"active": False})
    sender.refused((403, "inactive_agent"), "GET", path)
    world.human.ok("PUT", path, {"active": True})
    sender.ok("GET", path)


def _a_revoked_token_is_refused(world: World) -> None:
    service = world.callers["service"]
    service.ok("GET", "/agents?limit=1")
    token_id = (service.token or "").split("_")[1]
    world.human.ok("DELETE", f"/tokens/{token_id}")
    service.refused((403, "token_refused"), "GET", "/agents?limit=1")


def _trails_are_whole(world: World) -> None:
    for task_id in world.tasks:
        answer = world.human.ok("GET", f"/tasks/{task_id}/events?limit=100")
        try:
            seen = verify_trail.verify(answer["events"])
        except verify_trail.Broken as error:
            raise Failed(f"the trail of {task_id}: {error}") from error
        said = world.human.ok("GET", f"/tasks/{task_id}/events/verify")
        must(said["intact"] and said["head_hash"] == seen.last_hash, f"{task_id}: Baton says something else")


def _the_sweeper_finds_lost_work(world: World) -> None:
    task_id, _ = world.claimed(LEASE_SECONDS)
    deadline = time.monotonic() + LEASE_SECONDS + SWEPT_WITHIN_SECONDS
    while world.human.ok("GET", f"/tasks/{task_id}")["state"] == "claimed":
        must(time.monotonic() < deadline, f"{SWEPT_WITHIN_SECONDS:.0f} s after its lease the task is still claimed")
        time.sleep(2)


ALL = [
    Check("the API answers", _is_up, "docs/operations.md, The front door; and is API the output ApiUrl?"),
    Check(
        "nobody gets in without a token, or with one that isn't good",
        _strangers_are_refused,
        "the log of the function api (all_routes behind a Function URL)",
    ),
    Check("bad input is refused, and the field named", _bad_input_is_named, "docs/alarms.md, RequestFailedAlarm"),
    Check(
        "an escalation is made once, whatever is repeated",
        _an_escalation_is_made_once,
        "the log of create_handoff_marker; docs/alarms.md, RequestFailedAlarm",
    ),
    Check(
        "only a human approves, and a worker that waits gets the task at once",
        _only_a_human_approves,
        "the log of the function wait; docs/operations.md, Raising limits: WaitConcurrency",
    ),
    Check(
        "a claim is kept by heartbeats, and ends once",
        _a_claim_is_kept_and_ended_once,
        "docs/alarms.md, RequestFailedAlarm and WrittenByNewerAlarm",
    ),
    Check(
        f"of {CLAIMERS} claimers at once exactly one gets the task",
        _one_claimer_wins,
        "docs/operations.md, Raising limits: a new account may run ten functions at once",
    ),
    Check(
        "a lost worker's task comes back, and the late worker is refused",
        _lost_work_comes_back,
        "the logs of api and wait, by the task's id",
    ),
    Check(
        "an agent that Baton runs has its task done",
        _baton_runs_an_agent,
        "docs/operations.md, A stuck queue: the queue, its mapping, and the log of process_task",
    ),
    Check(
        "an agent that is switched off is refused with its next request",
        _an_agent_is_switched_off,
        "docs/operations.md, Kill switch",
    ),
    Check(
        "a token that is revoked is refused with the next request",
        _a_revoked_token_is_refused,
        "docs/operations.md, A leaked token",
    ),
    Check("the trail of every task is whole", _trails_are_whole, "docs/guides/verify-a-trail.md"),
]
# In the order in which one that fails explains those after it.
CANARY = [
    *ALL[:2],
    Check(
        "a task is approved, claimed and completed",
        _a_task_is_done,
        "docs/alarms.md, TableThrottlesAlarm and RequestFailedAlarm",
    ),
    *(each for each in ALL if each.run in {_baton_runs_an_agent, _trails_are_whole}),
]
SLOW = [
    Check(
        "the sweeper finds what nobody waits for",
        _the_sweeper_finds_lost_work,
        "docs/alarms.md, SweeperMissingAlarm: the schedule and the log of sweep_stale_claims",
    )
]

"""The entries of a task's trail: chained, by those who may, and from states to states that they may lead to."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from simulation.oracle.items import to_ms
from simulation.oracle.ledger import ENDED, criteria_in
from simulation.oracle.moments import Moments
from simulation.oracle.pages import BY_PERSON

if TYPE_CHECKING:
    from simulation.oracle.ledger import Item, Ledger, Transaction
    from simulation.oracle.verdict import Verdict
    from simulation.simulation import Simulation

Edge = tuple[set[str | None], set[str], str, bool]
OPEN: set[str | None] = {"needs", "delegated", "next", "claimed", "waiting"}
BACK = {"delegated", "next", "needs"}
STAYS: set[str] = set()
SWEEPER = "service:sweeper"
# Whether another rule of the oracle asks for the type by its name. Such a rule passes over a type it doesn't name.
FURTHER, ALONE = True, False
# From which states an entry may lead to which (``STAYS``: it doesn't change it), by whom, and whether further rules ask
# for it. Each type has a row. What only the claim may do, nobody does in the name of an agent that is switched off.
EDGES: dict[str, Edge] = {
    "handoff_initiated": ({None}, {"needs"}, "any", ALONE),
    "handoff_imported": ({None}, {"needs"}, "human", FURTHER),
    "approved": ({"needs"}, {"delegated", "next"}, "approver", FURTHER),
    "approval_undone": ({"delegated"}, {"needs"}, "human or sweeper", FURTHER),
    "deferred": ({"needs"}, {"needs"}, "human", ALONE),
    "dismissed": ({"needs"}, {"cancelled"}, "human", ALONE),
    "split": ({"needs"}, {"cancelled"}, "human", FURTHER),
    "handoff_received": ({"delegated", "next", "claimed"}, {"claimed"}, "any", FURTHER),
    "checkpoint_saved": ({"claimed"}, STAYS, "claim", ALONE),
    "handoff_completed": ({"claimed"}, {"done"}, "claim", FURTHER),
    "handoff_transferred": ({"claimed"}, {"done"}, "claim", ALONE),
    "handoff_rejected": ({"claimed"}, {"rejected"}, "claim", ALONE),
    "rollback_initiated": ({"claimed"}, STAYS, "claim", ALONE),
    "released": ({"claimed"}, BACK, "claim or human", FURTHER),
    "waiting": ({"claimed"}, {"waiting"}, "claim", FURTHER),
    "heartbeat_lost": ({"claimed"}, STAYS, "sweeper", FURTHER),
    "requeued": ({"claimed"}, BACK, "claim or sweeper", FURTHER),
    "handoff_failed": (OPEN, {"failed"}, "claim or sweeper", FURTHER),
    "resumed": ({"waiting"}, BACK, "system", FURTHER),
    "approval_given": ({"needs", "delegated", "next"}, STAYS, "approver", FURTHER),
    "approval_widened": ({"needs"}, {"needs"}, "sweeper", FURTHER),
    "question_asked": ({"claimed"}, STAYS, "claim", FURTHER),
    "question_decided": (OPEN, STAYS, "human", FURTHER),
    "question_expired": (OPEN, STAYS, "sweeper", FURTHER),
    "approval_revoked": (OPEN, STAYS, "human", FURTHER),
    "approval_used": ({"claimed"}, STAYS, "claim", FURTHER),
    "resolved": (OPEN, {"done"}, "human", ALONE),
    "cancelled": (OPEN, {"cancelled"}, "canceller", FURTHER),
    "alert_raised": (OPEN | {None}, STAYS, "any", FURTHER),
}
MAX_RELEASES = 10


class TrailRules:
    def __init__(self, sim: Simulation, verdict: Verdict, ledger: Ledger) -> None:
        self._sim, self._verdict, self._ledger = sim, verdict, ledger
        self._moments = Moments(sim, verdict, ledger)
        self._task_id = ""
        # By task: since when its last approver looked, and when the approval was written.
        self._approved: dict[str, tuple[int, int]] = {}
        self._came_at: dict[str, int] = {}  # the step of a task's first entry

    def told(self, tx: Transaction, task_id: str, fold: Item, entries: list[Item]) -> Item:
        """What the trail comes to with them."""
        self._task_id = task_id
        for entry in entries:
            self._chained(entry)
            self._allowed(fold, entry, entries[-1])
            self._by_type(tx, fold, entry)
            before = dict(fold)
            fold.update(entry["data"]["changes"])
            self._moments.told(task_id, before, entry, fold)
            self._sim.oracle.pages.is_told(task_id, before.get("state"), fold["state"], to_ms(entry["at"]))
            self._ledger.states[task_id][entry["seq"]] = fold["state"]
            self._ledger.told_at[task_id][entry["seq"]] = self._sim.steps
        self._moments.is_left(task_id, fold)
        return fold

    def _must(self, holds: object, what: str, *details: object) -> None:
        if not holds:
            self._verdict.fail(f"{self._task_id}: {what.format(*details)}")

    def _chained(self, entry: Item) -> None:
        hashed = {
            "seq": entry["seq"],
            "at": entry["at"],
            "type": entry["type"],
            "principal": {"kind": entry["principal_kind"], "id": entry["principal_id"]},
            "fence": entry["fence"],
            "data": entry["data"],
        }
        text = json.dumps(hashed, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        before, hashes = entry["prev_hash"], self._ledger.hashes
        self._must(before == hashes.get(self._task_id, "0" * 64), "an entry isn't chained to the one before")
        own = hashlib.sha256((text + before).encode()).hexdigest()
        self._must(entry["hash"] == own, "an entry's hash is wrong")
        hashes[self._task_id] = entry["hash"]

    def _allowed(self, fold: Item, entry: Item, last: Item) -> None:
        kind, data, state = entry["type"], entry["data"], fold.get("state")
        self._ledger.seen[f"{kind} {data['by']}" if kind == "resumed" else kind] += 1
        self._ledger.seen["overtaken"] += "overtaken_by" in data
        if kind not in EDGES:
            self._verdict.fail(f"{self._task_id}: {kind} has no row in EDGES")
            return
        froms, tos, who, _ = EDGES[kind]
        after = data["changes"].get("state", state)
        leads = after == state if tos is STAYS else after in tos
        self._must(state in froms and leads, "{} led from {} to {}", kind, state, after)
        by = f"{entry['principal_kind']}:{entry['principal_id']}"
        self._must(self._may(who, by, fold, data), "{} by {}, who may not", kind, by)
        if who == "claim":
            self._let_act(fold, entry, last)

    def _may(self, who: str, by: str, fold: Item, data: Item) -> bool:
        is_human, holder = by.startswith("human:"), (fold.get("claim") or {}).get("principal")
        match who:
            case "human":
                return is_human
            case "claim":
                return by == holder and self._is_under_its_claim(fold)
            case "claim or human":
                return is_human or (by == holder and self._is_under_its_claim(fold))
            case "sweeper":
                return by == SWEEPER
            case "human or sweeper":
                return is_human or (by == SWEEPER and data.get("reason") == "agent_changed")
            case "claim or sweeper":
                return by == SWEEPER or (by == holder and self._is_under_its_claim(fold))
            case "system":
                is_answered = is_human and data.get("by") == "answered"
                return by in ("service:joiner", "service:callback", SWEEPER) or is_answered
            case "approver":
                return is_human or self._stands(fold, data)
            case "canceller":
                if by == SWEEPER and not data.get("ancestor"):
                    return fold.get("state") == "needs" and self._ledger.is_overtaken(fold, data)
                above = self._ledger.heads.get(data.get("ancestor", ""), {}).get("state")
                return is_human or by == fold.get("created_by") or above == "cancelled"
        return who == "any"

    def _is_under_its_claim(self, fold: Item) -> bool:
        """Not under an earlier one of the same agent's."""
        return self._sim.current.process.claim_id in (None, self._ledger.claims[self._task_id, fold["fence"]].id)

    def _stands(self, fold: Item, data: Item) -> bool:
        """A standing approval, which a human gave to exactly this."""
        given = data.get("standing_approval") or {}
        kind = "tool" if "tool" in given else "agent"
        found = self._ledger.versions.get((kind, given.get(kind, ""), given.get("version", 0)), {})
        of_target = found.get("target_agent" if kind == "tool" else "slug") == fold.get("target_agent")
        is_by_human = str(found.get("updated_by")).startswith("human:")
        return of_target and is_by_human and (kind == "tool" or found["approval"] == "auto")

    def _by_type(self, tx: Transaction, fold: Item, entry: Item) -> None:
        kind, changes, at = entry["type"], entry["data"]["changes"], to_ms(entry["at"])
        self._came_at.setdefault(self._task_id, self._sim.steps)
        if not fold:
            self._sim.oracle.approvals.begins(self._task_id, entry)
        elif changes.get("state") == "needs" and fold["state"] != "needs":
            self._sim.oracle.approvals.comes_back(self._task_id, at)
        self._of_people(tx, fold, entry)
        self._sim.oracle.deeds.told(self._task_id, entry)
        self._sim.oracle.claim_rules.told(self._task_id, entry, fold.get("state"))
        if kind == "handoff_received":
            self._received(fold, entry["data"], at)
        elif kind == "handoff_completed":
            self._reported()
        elif kind == "approval_undone" and "reason" in entry["data"]:
            self._sent_back(fold, entry["data"])
        elif kind == "approval_undone":
            self._must(at < to_ms(fold["undo_until"]), "undone after its window")
        elif kind == "approved":
            self._seen_whole(fold, entry["data"])
            self._approved[self._task_id] = self._sim.current.process.began_at, self._sim.steps
        elif kind == "resumed":
            self._resumed(tx, fold, entry["data"], at)
        elif entry["principal_id"].startswith(BY_PERSON) and not entry["data"].get("ancestor"):
            self._ledger.ended_in_tracker.add(self._task_id)
            by = entry["principal_id"].removeprefix(BY_PERSON)
            self._sim.oracle.pages.is_ended_there(self._task_id, by, changes["state"])
        if changes.get("releases", 0) > fold.get("releases", 0):
            is_bounded = changes.get("state") == "needs" or changes["releases"] < MAX_RELEASES
            self._must(is_bounded, "given back for nothing more than ten times")

    def _of_people(self, tx: Transaction, fold: Item, entry: Item) -> None:
        """What people were asked, and what they have said."""
        kind, data = entry["type"], entry["data"]
        if kind in ("question_asked", "question_decided", "question_expired", "approval_revoked", "approval_used"):
            self._sim.oracle.questions.told(tx, self._task_id, fold, entry)
        elif kind in ("approved", "approval_given", "approval_widened"):
            self._sim.oracle.approvals.told(self._task_id, fold, entry, self._unvouched_changes)
        elif kind == "waiting" and data["for"] == "answers":
            is_free = data["changes"].get("attempt", 0) == fold["attempt"] - 1
            self._must(is_free, "waits for answers, and that counts as an attempt")

    def _seen_whole(self, fold: Item, data: Item) -> None:
        """Who says what they read has seen its agent, too, as it was when the task came or was last approved."""
        if not data.get("seen") or data["for"] != "dispatch":
            return
        since = self._approved.get(self._task_id, (0, self._came_at[self._task_id]))[1]
        changed = self._unvouched_changes(fold, since, self._sim.current.process.began_at)
        is_seen = not changed or data.get("agent_version", 0) >= changed[-1]
        self._must(is_seen, "approved as read, and its agent has changed since: {}", changed)

    def _sent_back(self, fold: Item, data: Item) -> None:
        """A service or a member has changed fields of its agent that the approver saw."""
        changed = self._unvouched_changes(fold, self._approved[self._task_id][0], self._sim.steps + 1)
        self._must(data["version"] in changed, "sent back for version {}, of {}", data["version"], changed)
        self._ledger.seen["sent back"] += 1

    def _unvouched_changes(self, fold: Item, after: int, before: int) -> list[int]:
        """Returns the versions of its agent by a service or a member, written between these steps, that change fields
        that approvers see."""
        changes = self._ledger.unvouched_changes(str(fold.get("target_agent")), before)
        return [now["version"] for at, now in changes if after < at]

    def _let_act(self, fold: Item, entry: Item, last: Item) -> None:
        """Nobody in the name of an agent that is switched off, but Baton's own parts and the agent, which is asked at
        the door. What it holds may be failed, with what it has done."""
        claim, is_failed = fold.get("claim") or {}, last["type"] == "handoff_failed" or "failure" in last["data"]
        if entry["principal_id"] != "ci" or not claim or is_failed:
            return
        agents = self._ledger.agents_since(claim["agent"], self._sim.current.process.began_at)
        is_on = any(each["active"] for each in agents)
        self._must(is_on, "{} in the name of {}, which is switched off", entry["type"], claim["agent"])

    def _reported(self) -> None:
        """Each criterion."""
        verification = self._ledger.completions.get(self._task_id, {}).get("verification") or {}
        reported = {each["criterion"] for each in verification.get("acceptance_criteria_met") or ()}
        left = set(criteria_in(self._ledger.bodies.get(self._task_id, {}))) - reported
        self._must(not left, "done, and {} isn't reported", left)

    def _received(self, fold: Item, data: Item, at: int) -> None:
        held = fold.get("claim") if fold["state"] == "claimed" else None
        if held or "resumed" in data:
            is_seen = held and (held["fence"], held["agent"]) == (data.get("resumed"), data["agent"])
            self._must(is_seen, "claimed over {}", held)
            self._must(data["changes"].keys() == {"claim", "fence"}, "resumed as {}", data["changes"].keys())
            return
        if fold["state"] == "delegated" and "digest" in fold:
            approved_at, began = self._approved[self._task_id][1], self._sim.current.process.began_at
            changed = self._unvouched_changes(fold, approved_at, began)
            self._must(not changed, "claimed, and its agent has changed since: {}", changed)
        attempt, most, target = fold.get("attempt", 0), fold.get("max_attempts", 3), fold.get("target_agent")
        is_due = at >= to_ms(fold["ready_at"]) or (fold["state"] == "next" and not attempt)
        self._must(is_due, "claimed before {}", fold["ready_at"])
        is_next = attempt < most and data["changes"]["attempt"] == attempt + 1
        self._must(is_next, "more attempts than it has")
        self._must(target in (None, data["agent"]), "claimed by {}, is for {}", data["agent"], target)

    def _resumed(self, tx: Transaction, fold: Item, data: Item, at: int) -> None:
        number, wait, resumed = data["wait"], fold["wait"], self._ledger.resumed
        resumed[self._task_id, number] += 1
        is_first = resumed[self._task_id, number] == 1 and wait["number"] == number
        self._must(is_first, "a wait ended twice")
        resume_payload = tx.resume_payload or {}
        self._must(resume_payload.get("wait") == number, "a wait ended with nothing")
        if data["by"] == "joined":
            self._joined(tx, resume_payload.get("results", []), wait)
        elif data["by"] == "answered":
            self._sim.oracle.questions.resumed(self._task_id, wait, resume_payload)
            counted = {"attempt", "releases"} & data["changes"].keys()
            self._must(not counted, "a wait for answers changes its {}", counted)
        elif data["by"] == "callback":
            request = self._sim.current.process.request
            waits_for, content = (request.posted if request else None) or (None, None)
            is_posted = waits_for == (self._task_id, number) and resume_payload.get("callback") == content
            self._must(is_posted, "resumed with what nobody posted")
        else:
            self._must(at >= to_ms(wait["until"]), "a callback was given up too early")

    def _joined(self, tx: Transaction, results: list[Item], wait: Item) -> None:
        leaves = {branch["call_id"]: self._ledger.leaves(branch["task_id"]) for branch in wait["branches"]}
        policy, ended = wait["policy"], len(self._ledger.ended_branches(wait))
        is_enough = self._ledger.is_met(wait)
        self._must(is_enough, "joined ({}) with {} of {} branches ended", policy, ended, len(leaves))
        found = {(each["call_id"], each["task_id"]): each for each in results}
        self._must({call_id for call_id, _ in found} == set(leaves), "joined without a result of each branch")
        for call_id, heads in leaves.items():
            for head in heads:
                said = found.get((call_id, head["id"]))
                if policy == "all" or (said and said["state"] in ENDED):
                    now = (
                        tx.heads[head["id"]][1] if head["id"] in tx.heads else head
                    )  # it may be closed along with that
                    self._result_of(now, said)

    def _result_of(self, head: Item, said: Item | None) -> None:
        state = said["state"] if said else None
        self._must(state == head["state"], "joined without the result of {} as it is", head["id"])
        output: Any = self._ledger.outputs.get(head["id"]) if head["state"] == "done" else None
        self._must(said and said["output"] == output, "joined with another output of {}", head["id"])
        if head["state"] in ("failed", "rejected"):
            is_told = bool(said and said["failure"]) or "failure" in ((said or {}).get("left_out") or ())
            self._must(is_told, "joined without why {} has {}", head["id"], head["state"])

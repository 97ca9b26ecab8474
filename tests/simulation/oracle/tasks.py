"""A task's change: what its HEAD may become, and that its trail says the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simulation.oracle.contents import digest_of_message
from simulation.oracle.items import to_ms
from simulation.oracle.ledger import ENDED, ClaimSeen
from simulation.oracle.moments import Moments
from simulation.oracle.places import place_rules
from simulation.oracle.trail import TrailRules

if TYPE_CHECKING:
    from simulation.oracle.ledger import Item, Ledger, Transaction
    from simulation.oracle.verdict import Verdict
    from simulation.simulation import Simulation

DAY_MS, HOUR_MS = 86_400_000, 3_600_000
# What of a claim may change while it lives: its lease, and how much was kept under it.
LEASE = {"expires_ms", "heartbeat_ms", "lease_ms", "renewable_from_ms", "kept_bytes"}
# What may change without an entry of the trail.
PLACES = {"wake_ms", "wake_pk", "wake_sk", "queue_pk", "queue_sk", "parked", "rings", "runtime", "alert_after_seconds"}
SILENT = PLACES | {"version", "written_by", "claim", "events", "fresh", "has_chunks", "s"}
# What the trail doesn't tell of.
RESULT = {"output", "completion", "output_in"}
BESIDE = {"pk", "sk", "seq", "chain", "updated_at", "mirrored", "labels", "hard_deadline_ms"}
UNTOLD = SILENT - {"claim"} | BESIDE | RESULT
# Where tools hand work to whose calls people approve, and who calls them.
MARKED_TARGETS, RUNNER, CALLED = ("a", "b"), "process-task", ("transfer", "delegation")
USUAL = {"revision": 1, "max_attempts": 3}


class TaskRules:
    def __init__(self, sim: Simulation, verdict: Verdict, ledger: Ledger) -> None:
        self._sim, self._verdict, self._ledger = sim, verdict, ledger
        self._trail = TrailRules(sim, verdict, ledger)
        self._moments = Moments(sim, verdict, ledger)
        self._task_id = ""

    def changed(self, tx: Transaction, task_id: str, old: Item | None, new: Item, entries: list[Item]) -> None:
        ledger, self._task_id = self._ledger, task_id
        if old and not entries and _is_only_moved(old, new):
            ledger.seen["mark moved"] += 1
            ledger.heads[task_id] = new
            claim = new.get("claim") or {}
            is_right = new["queue_sk"] == f"~{claim.get('expires_ms', 0):015d}#{claim.get('claim_id')}"
            self._must(is_right, "its mark was moved to {}, its claim is {}", new["queue_sk"], claim)
            return
        if old and not entries and _is_only_acknowledged(old, new):
            ledger.heads[task_id] = new
            return
        ledger.seen["commits"] += 1
        tx.told += entries
        was = old or {"version": 0, "seq": 0, "fence": 0}
        self._must(was.get("state") not in ENDED, "it changed after its end ({})", was.get("state"))
        self._must(
            new["version"] == was["version"] + 1, "its version went from {} to {}", was["version"], new["version"]
        )
        numbers = [entry["seq"] for entry in entries]
        self._must(numbers == list(range(was["seq"] + 1, new["seq"] + 1)), "gaps in its trail: {}", numbers)
        fold = self._trail.told(tx, task_id, dict(ledger.folds.get(task_id, {})), entries)
        self._told_alike(was, new, fold, is_told=bool(entries))
        ledger.folds[task_id], ledger.heads[task_id] = fold, new
        ledger.changed_at[task_id] = self._sim.steps
        self._claimed(was, new, entries)
        for holds, what in place_rules(new):
            self._must(holds, what)
        if old is None:
            self._created(tx, new, entries[0])
        alerts = sum(entry["type"] == "alert_raised" for entry in entries)
        self._must(tx.alerts[task_id] == alerts, "an alert without its entry, or the other way round")
        if new["state"] in ENDED:
            self._ended(tx, new)

    def _must(self, holds: object, what: str, *details: object) -> None:
        if not holds:
            self._verdict.fail(f"{self._task_id}: {what.format(*details)}")

    def _told_alike(self, was: Item, new: Item, fold: Item, *, is_told: bool) -> None:
        """HEAD says what its trail comes to."""
        if is_told:
            self._must(new["chain"] == self._ledger.hashes[self._task_id], "its last entry is another than HEAD says")
        else:
            names = {name for name in {*was, *new} if was.get(name) != new.get(name)}
            self._must(names <= SILENT, "{} changed without an entry", names - SILENT)
        for name in {*fold, *new} - UNTOLD:
            head, trail = new.get(name), fold.get(name)
            self._must(_alike(name, head) == _alike(name, trail), "{} is {}, its trail says {}", name, head, trail)

    def _claimed(self, was: Item, new: Item, entries: list[Item]) -> None:
        before, claim = was.get("claim"), new.get("claim")
        self._must((new["state"] == "claimed") == bool(claim), "{} with claim {}", new["state"], claim)
        self._must(
            (new["state"] == "waiting") == bool(new.get("wait")), "{} with wait {}", new["state"], new.get("wait")
        )
        fence, fence_before = new.get("fence", 0), was.get("fence", 0)
        if claim and (before is None or before["claim_id"] != claim["claim_id"]):
            if before:
                self._taken_over(before, new, entries)
            is_next = claim["fence"] == fence == fence_before + 1
            self._must(is_next, "its fence went from {} to {}", fence_before, fence)
            self._ledger.claims[self._task_id, claim["fence"]] = ClaimSeen(claim["claim_id"], self._sim.steps)
            if not (before and entries[-1]["data"].get("resumed")):
                self._permitted(claim)
                self._sim.oracle.claim_rules.is_claimed(self._task_id, new, claim["agent"])
                self._queued(was, claim)
        else:
            self._must(fence == fence_before, "its fence moved without a claim")
        if claim:
            self._moments.is_leased(self._task_id, new)
            self._ledger.claims[self._task_id, claim["fence"]].leases_ms.append(claim["lease_ms"])
        if before and not claim:
            self._let_go(before, new, entries)
        if before and claim and before["claim_id"] == claim["claim_id"] and before != claim:
            differs = {name for name in {*before, *claim} if before.get(name) != claim.get(name)}
            is_longer = claim["expires_ms"] >= before["expires_ms"]
            self._must(differs <= LEASE and is_longer, "it did more than extend its claim: {}", differs)
            self._under(claim, "a heartbeat")

    def _taken_over(self, before: Item, new: Item, entries: list[Item]) -> None:
        """In one step what the sweeper does in one and a claim in another. Or its own worker goes on with it."""
        claim = new["claim"]
        self._must(before["agent"] == claim["agent"], "{} took over from {}", claim["agent"], before["agent"])
        if [entry["data"].get("resumed") for entry in entries] == [before["fence"]]:
            kept = {name for name in ("principal", "slot", "kept_bytes") if before.get(name) != claim.get(name)}
            self._must(not kept, "{} is resumed with another {}", before, kept)
            self._let_go(before, new, entries)
            self._ledger.seen["resumed claim"] += 1
            return
        types = [entry["type"] for entry in entries if entry["type"] not in ("alert_raised", "question_expired")]
        is_swept = types == ["heartbeat_lost", "requeued", "handoff_received"]
        self._must(is_swept, "a claim took the place of another, by {}", types)
        self._let_go(before, new, entries)
        self._ledger.seen["taken over"] += 1

    def _under(self, claim: Item, what: str) -> None:
        self._must(self._sim.current.process.claim_id in (None, claim["claim_id"]), "{} under another claim", what)

    def _queued(self, was: Item, claim: Item) -> None:
        ledger, slug = self._ledger, claim["agent"]
        ledger.taken_at[slug] = ledger.latest_at.get(slug, -1)
        ledger.latest_at[slug] = self._sim.steps
        if was.get("state") == "delegated" and was.get("target_agent") == slug:
            ledger.queued[self._task_id, claim["fence"]] = was["priority"], to_ms(was["ready_at"])

    def _permitted(self, claim: Item) -> None:
        """By an agent that is on, and within what it may hold at once; as whoever claims may have seen it."""
        slug, seen = claim["agent"], self._agents(claim["agent"])
        self._must(any(each["active"] for each in seen), "claimed by {}, which is switched off", slug)
        limits = {each.get("max_concurrent") for each in seen}
        most = max(each or 0 for each in limits)
        is_within = claim["slot"] < most if "slot" in claim else None in limits
        self._must(is_within, "claimed with permit {} of {}", claim.get("slot"), limits)
        if None not in limits:
            live = self._held_before(slug)
            self._must(len(live) < most, "claimed beside {} at a limit of {}", live, most)

    def _held_before(self, slug: str) -> list[str]:
        """The agent's other live claims with a slot, made before this process began: it can't have missed them."""
        began, ledger = self._sim.current.process.began_at, self._ledger
        held = (
            (id_, head["claim"]) for id_, head in ledger.heads.items() if head.get("claim") and id_ != self._task_id
        )
        own = ((id_, claim) for id_, claim in held if claim["agent"] == slug and "slot" in claim)
        return [id_ for id_, claim in own if ledger.claims[id_, claim["fence"]].at_step <= began]

    def _agents(self, slug: str) -> list[Item]:
        return self._ledger.agents_since(slug, self._sim.current.process.began_at)

    def _let_go(self, before: Item, new: Item, entries: list[Item]) -> None:
        last = new["events"][-1]
        told = {
            "claim_id": last.get("ended"),
            "fence": last.get("ended_fence", last.get("fence")),
            "agent": last.get("ended_agent", new.get("target_agent")),
            "principal": last.get("ended_by", last["by"]),
        }
        is_told = all(before[name] == value for name, value in told.items())
        self._must(is_told, "its last entry tells of the end of {}, not of {}", told, before)
        own = [entry for entry in entries if _principal(entry) == before["principal"]]
        types = {entry["type"] + entry["data"].get("for", "") for entry in own}
        self._ledger.claims[self._task_id, before["fence"]].ended_by = types
        for entry in entries:
            if entry["type"] == "heartbeat_lost":
                self._must(to_ms(entry["at"]) >= before["expires_ms"], "swept before its lease was over")
                self._counted(before, entries)
                recoveries = self._ledger.folds[self._task_id]["recoveries"]
                is_recorded = self._ledger.recoveries[self._task_id] == recoveries
                self._must(is_recorded, "no recovery record of its lost claim")

    def _counted(self, before: Item, entries: list[Item]) -> None:
        """A lost claim is an attempt; under a short first lease without a word of anybody's it is a release."""
        is_short = before["expires_ms"] - before["claimed_ms"] < before["lease_ms"]
        is_silent = is_short and before.get("heartbeat_ms", before["claimed_ms"]) == before["claimed_ms"]
        back = [entry["data"]["changes"].keys() for entry in entries if entry["type"] == "requeued"]
        is_counted = all(({"attempt", "releases"} <= changes) == is_silent for changes in back)
        self._must(is_counted, "{} was lost, and its counts are {}", before, back)
        self._ledger.seen["claimed in vain"] += is_silent

    # Its beginning

    def _created(self, tx: Transaction, head: Item, by: Item) -> None:
        ledger = self._ledger
        ledger.born[self._task_id] = self._sim.steps
        begins = head["master_task_id"] == self._task_id and not head.get("parent_id")
        if begins and head["workflow_id"] == f"wf_t{self._task_id[5:]}":
            ledger.members[head["workflow_id"]].append(self._task_id)
            tx.workflows.add(head["workflow_id"])
        self._must(self._task_id in ledger.members[head["workflow_id"]], "it isn't a member of its workflow")
        digest = digest_of_message(head, ledger.bodies[self._task_id])
        self._must(ledger.folds[self._task_id].get("digest") == digest, "its first entry doesn't cover its message")
        is_human, parent = by["principal_kind"] == "human", head.get("parent_id")
        if parent and not is_human and head["kind"] != "retry":
            held = tx.heads[parent][0] if parent in tx.heads else ledger.heads[parent]
            claim = held.get("claim") if held else None
            self._must(claim, "a child of {}, which nobody holds", parent)
            if claim:
                self._under(claim, "a child")
        is_called = (
            by["principal_id"] == RUNNER and head["kind"] in CALLED and head.get("target_agent") in MARKED_TARGETS
        )
        if parent and is_called and self._sim.habits.has_questions:
            self._sim.oracle.questions.lets_run_make(parent, head)
        target = head.get("target_agent")
        is_on = target is None or any(each["active"] for each in self._agents(target))
        self._must(is_on, "handed to {}, which is switched off", target)
        self._sim.oracle.registry.is_taken(self._task_id, head)
        if "retry_of" in head:
            self._retried(head)
        if head["kind"] == "escalation":
            self._escalated(tx, head, is_let=tx.is_release or by["type"] == "handoff_imported")
        elif not (parent or is_human or "retry_of" in head):
            self._begun(head)

    def _retried(self, head: Item) -> None:
        """One open retry of a task at a time, however it came about."""
        first = head
        while "retry_of" in first:
            first = self._ledger.heads[first["retry_of"]]
        others = [each for each in self._ledger.retries[first["id"]] if self._state(each) not in ENDED]
        self._must(not others, "a second retry of the same, beside {}", others)
        self._ledger.retries[first["id"]].append(self._task_id)

    def _escalated(self, tx: Transaction, head: Item, *, is_let: bool) -> None:
        """Breaker and cap. What a human releases or imports is let through, and counts; the latter from when its page
        was made."""
        settings, ledger, at = self._sim.settings, self._ledger, to_ms(head["created_at"])
        pair = (head["source_agent"], head["target_agent"])
        window_ms = settings["handoff_window_days"] * DAY_MS
        recent = [each for each, when in ledger.escalations[pair] if at - when < window_ms]
        counts_any = settings["breaker_scope"] == "any"
        blocking = [each for each in recent if counts_any or self._is_open(each)]
        self._must(is_let or not blocking, "a second open escalation of {}: {}", pair, blocking)
        is_within = len(recent) < settings["escalation_cap"]
        self._must(is_let or is_within, "escalation {} of {} within its window", len(recent) + 1, pair)
        direction = ledger.directions["#".join(pair)] or {}
        since = direction["escalations"].get(self._task_id)
        is_known = since == at or (is_let and since is not None and since <= at)
        self._must(is_known, "its direction doesn't know of it")
        ledger.escalations[pair].append((self._task_id, since))

    def _is_open(self, task_id: str) -> bool:
        """For the breaker: what a bot has closed in the tracker counts as closed."""
        return self._state(task_id) not in ENDED and "closed_by_bot" not in self._ledger.heads[task_id].get("flags", ())

    def _begun(self, head: Item) -> None:
        at, times = to_ms(head["created_at"]), self._ledger.roots[head["source_agent"], head.get("target_agent")]
        recent = sum(0 <= at - when < HOUR_MS for when in times)
        most = self._sim.settings["root_handoffs_per_hour"]
        self._must(recent < most, "more workflows begun in an hour than may be")
        times.append(at)

    # Its end

    def _ended(self, tx: Transaction, head: Item) -> None:
        ledger, source = self._ledger, head["source_agent"]
        ledger.ended_at[self._task_id] = self._sim.steps
        told = [said["state"] for agent, said in tx.inbox if agent == source and said["task_id"] == self._task_id]
        self._must(":" in source or told == [head["state"]], "its end was told {} to {}", told, source)
        parent = head.get("join_parent")
        waits_no_more = parent in tx.heads and tx.heads[parent][1]["state"] != "waiting"
        is_told = not parent or head.get("successors") or ("JOIN", parent) in tx.errands
        self._must(is_told or waits_no_more, "nobody is told that the branch has ended")

    def _state(self, task_id: str) -> Any:
        return self._ledger.heads[task_id]["state"]


def _is_only_moved(old: Item, new: Item) -> bool:
    """A claimer has found the mark of a lease that was extended, and maybe moved by then."""
    unmoved = [{**head, "queue_sk": "", "fresh": 0} for head in (old, new)]
    return old != new and "fresh" not in new and unmoved[0] == unmoved[1]


def _is_only_acknowledged(old: Item, new: Item) -> bool:
    """Its source agent has read of its end: it is in no inbox any more."""
    left = [{**head, "queue_pk": "", "queue_sk": "", "fresh": 0} for head in (old, new)]
    return new["state"] in ENDED and "queue_pk" not in new and left[0] == left[1]


def _principal(entry: Item) -> str:
    return f"{entry['principal_kind']}:{entry['principal_id']}"


def _alike(name: str, value: Any) -> Any:
    """A fact of a task as HEAD and trail both tell it: usual values may be left out."""
    if name == "claim" and value:
        return {part: value[part] for part in ("fence", "agent", "worker", "principal")}
    if name == "wait" and value:
        questions = value.get("questions") or []
        return value["number"], value.get("interaction_id"), len(value["branches"]), value["policy"], questions
    return None if value in (None, [], 0, False, "") or value == USUAL.get(name) else value

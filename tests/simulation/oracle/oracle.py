"""The oracle hears of every write, of every answer, and looks again when all is quiet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulation.oracle.accepted import Accepted
from simulation.oracle.alerts import Alerts
from simulation.oracle.answers import Answers
from simulation.oracle.approvals import Approvals
from simulation.oracle.bell import BellRules
from simulation.oracle.board import Board
from simulation.oracle.items import item_of, whole
from simulation.oracle.ledger import ENDED, Ledger, Transaction
from simulation.oracle.lists import Lists
from simulation.oracle.pages import Pages
from simulation.oracle.questions import QuestionRules
from simulation.oracle.quiet import Quiet
from simulation.oracle.readings import Readings
from simulation.oracle.registry import Registry
from simulation.oracle.sessions import Sessions
from simulation.oracle.sights import Sights
from simulation.oracle.spending import Spending
from simulation.oracle.standing import StandingRules
from simulation.oracle.talks import Talks
from simulation.oracle.tasks import TaskRules
from simulation.oracle.trust.changes import Changes
from simulation.oracle.trust.claim_rules import ClaimRules
from simulation.oracle.trust.deeds import Deeds
from simulation.oracle.trust.people import People
from simulation.oracle.trust.rule_fits import RuleFits
from simulation.oracle.trust.run_states import RunStates
from simulation.oracle.trust.tool_rules import ToolRules
from simulation.oracle.verdict import Verdict
from simulation.oracle.voters import Voters
from simulation.oracle.writes import Writes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulation.oracle.ledger import Item
    from simulation.simulation import Simulation
    from support.fakes.fake_dynamo import Change
    from support.fakes.fake_dynamo.client import Item as WireItem
    from support.fakes.fake_dynamo.client import Key


class Oracle:
    def __init__(self, sim: Simulation) -> None:
        self._sim = sim
        self.verdict, self.ledger = Verdict(sim), Ledger()
        self._known: dict[Key, tuple[WireItem, Item | None]] = {}
        self.pages = Pages(sim, self.verdict, self.ledger)
        self.people = People(sim)
        self.changes = Changes(sim, self.verdict, self.ledger, self.people)
        self.deeds = Deeds(sim, self.verdict, self.ledger, self.people)
        self.sessions = Sessions(sim, self.verdict, self.people)
        self.bell = BellRules(sim, self.verdict, self.ledger)
        self.voters = Voters(sim, self.people)
        self.fits = RuleFits(sim, self.ledger, self.voters)
        self.standing = StandingRules(sim, self.verdict, self.ledger, self.people)
        self.questions = QuestionRules(sim, self.verdict, self.ledger, self.voters, self.standing)
        self.approvals = Approvals(sim, self.verdict, self.ledger, self.voters, self.fits)
        self.claim_rules = ClaimRules(self.verdict, self.ledger, self.people, self.approvals)
        self.tool_rules = ToolRules(self.verdict, self.ledger, self.fits)
        self.run_states = RunStates(sim, self.verdict, self.ledger)
        self._writes = Writes(sim, self.verdict, self.ledger, self.sessions, self.bell)
        self._tasks = TaskRules(sim, self.verdict, self.ledger)
        self.accepted = Accepted(sim, self.verdict, self.ledger)
        self.answers = Answers(sim, self.verdict, self.ledger)
        self.spending = Spending(sim, self.verdict, self.ledger)
        self.alerts = Alerts(sim, self.verdict, self.ledger)
        self.board = Board(sim, self.verdict)
        self.talks = Talks(sim, self.verdict, self.ledger)
        self.registry = Registry(sim, self.verdict)
        self.lists = Lists(sim, self.verdict, self.ledger)
        self.readings = Readings(sim, self.verdict, self.ledger)
        self.sights = Sights(sim, self.verdict)
        self.quiet = Quiet(sim, self.verdict, self.ledger)

    def wrote(self, changes: Sequence[Change]) -> None:
        """One write, or all of a transaction."""
        must, tx = self.verdict.must, Transaction()
        for key, old, new in changes:
            before, after = self._plain(key, old), self._plain(key, new)
            if before != after:
                self._writes.note(tx, *key, before, after)
        for task_id, (was, now) in tx.heads.items():
            self._writes.pieces.in_head(tx, task_id, now)
            entries = sorted(tx.entries.pop(task_id, []), key=lambda entry: entry["seq"])
            self._tasks.changed(tx, task_id, was, now, entries)
            self.questions.are_left(tx, task_id, now)
        must(not tx.entries, "entries of a trail without a change of their task: {}", list(tx.entries))
        for task_id in {**tx.heads, **dict.fromkeys(sorted(tx.held))}:
            self._slot_held_once(task_id, self.ledger.heads[task_id])
        for was, after in tx.heads.values():
            self.talks.is_let(after)
            self._is_nothing_left_behind(tx, was, after)
        self.questions.have_their_reason(tx)
        self.standing.have_their_reason(tx)
        self.sessions.are_listed(tx)
        odd = self.people.are_listed(tx.people) if tx.people else ""
        self.changes.are_recorded(tx)
        must(not odd, "the list of people is wrong about {}", odd)
        for task_id, saved in tx.run_states.items():
            self.run_states.is_written(task_id, saved)
        for task_id, next_id in tx.followed.items():
            self.talks.is_followed(task_id, next_id)
        for workflow in tx.workflows:
            self._counted(tx, workflow)
        self._one_effect(tx)

    def _plain(self, key: Key, wire: WireItem | None) -> Item | None:
        """Returns the parsed item. Each is needed again when it is overwritten: by then it is cached."""
        if wire is None:
            return None
        known = self._known.get(key)
        if known is not None and known[0] is wire:
            return known[1]
        item = item_of(wire)
        item = whole(key[0], item) if item and key[1] == "HEAD" else item
        self._known[key] = wire, item
        return item

    def _is_nothing_left_behind(self, tx: Transaction, was: Item | None, head: Item) -> None:
        """By the end of a retry that was done, or is rolled back itself: whoever ended it could see all that waited."""
        if was is None or "retry_of" not in head or was["state"] == head["state"] or head["state"] not in ENDED:
            return
        own = [new for old, new in tx.heads.values() if old is None and new.get("parent_id") == head["id"]]
        if head["state"] == "done" or any(each["kind"] == "rollback" for each in own):
            left = self.ledger.rollbacks_before(head["id"], self._sim.current.process.began_at)
            self.verdict.must(not left, "{}: has ended, and the rollbacks {} wait on", head["id"], left)

    def _slot_held_once(self, task_id: str, head: dict[str, object]) -> None:
        """A claim holds its slot as long as it lives, and no other; the last ones are looked at."""
        claim = head.get("claim")
        present = claim if isinstance(claim, dict) else {}
        for seen in self.ledger.claims_of(task_id)[-3:]:
            places = [sk for _, sk, _ in self.ledger.held.get(seen.id, ())]
            has_slot = seen.id == present.get("claim_id") and "slot" in present
            slots = [f"SLOT#{present['slot']:04d}"] if has_slot else []
            self.verdict.must(places == slots, "{}: its claim {} holds {}, not {}", task_id, seen.id, places, slots)

    def _counted(self, tx: Transaction, workflow: str) -> None:
        """Every task of a workflow is a handoff, a user's further message included."""
        count, total = self.ledger.counts.get(workflow), len(self.ledger.members[workflow])
        self.verdict.must(count in (None, total), "{}: counted {} handoffs, has {}", workflow, count, total)
        is_let = tx.is_release or any(entry["type"] == "split" for entry in tx.told)
        of_budget = (self.ledger.bodies.get(self.ledger.members[workflow][0], {}).get("budget") or {}).get(
            "max_handoffs"
        )
        most = min(filter(None, [self._sim.settings["max_handoffs_per_workflow"], of_budget]))
        self.verdict.must(is_let or (count or 0) <= most, "{}: {} handoffs", workflow, count)

    def _one_effect(self, tx: Transaction) -> None:
        """One key, or one call without a key, comes to one write."""
        process, must = self._sim.current.process, self.verdict.must
        request = process.request
        if request is None or not _is_effect(tx):
            return
        request.effects[process.attempt] = request.effects.get(process.attempt, 0) + 1
        most = request.most_effects
        must(request.effects[process.attempt] <= most, "one call of {} wrote its effect twice", request.name)
        total = sum(request.effects.values())
        must(not request.is_keyed or total <= most, "{}: one Idempotency-Key had {} effects", request.name, total)


def _is_effect(tx: Transaction) -> bool:
    """Not the cascade that follows a cancel, nor a sweep on the way to a claim, nor what only moves something on. An
    alert that comes with an entry of a trail is that entry's."""
    told = any(
        entry["principal_id"] != "sweeper" and (entry["type"] != "cancelled" or not entry["data"].get("ancestor"))
        for entry in tx.told
    )
    is_alert_alone = tx.kinds["ALERTS"] and not tx.told
    return bool(tx.kinds["ONCE"] or tx.kinds["NOTES"] or tx.kinds["REVIEWS"] or told or is_alert_alone)

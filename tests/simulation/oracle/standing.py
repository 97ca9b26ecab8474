"""Standing answers: each approves as often as it may and no more, only what it fits, never after its end, and once it
is revoked neither it nor what it has approved allows anything. The refusal of an action ends all that would approve it,
and those that were asked for before never begin."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulation.oracle.items import to_ms
from simulation.oracle.trust.people import APPROVER, BEGIN_MS

if TYPE_CHECKING:
    from simulation.oracle.ledger import Item, Ledger, Transaction
    from simulation.oracle.questions import Asked
    from simulation.oracle.trust.people import People
    from simulation.oracle.verdict import Verdict
    from simulation.simulation import Simulation

CHANGING = {"used", "begun", "version", "revoked_at", "revoked_by", "written_by"}
DAY_MS, CLOCKS_MS = 86_400_000, 600_000
LONGEST_MS, MOST = 7 * DAY_MS, 1_000


class StandingRules:
    """``items``: as they are stored, by id. What is over may be deleted."""

    def __init__(self, sim: Simulation, verdict: Verdict, ledger: Ledger, people: People) -> None:
        self._sim, self._must, self._ledger, self._people = sim, verdict.must, ledger, people
        self.items: dict[str, Item] = {}
        # The versions of the agent that people named with their answers, by question and human.
        self._named: set[tuple[str, str, int]] = set()
        # By agent, tool and digest, None for any: the step of the last refusal.
        self._refused: dict[tuple[str, str | None, str | None], int] = {}

    def is_written(self, tx: Transaction, answer_id: str, old: Item | None, new: Item | None) -> None:
        if new is None:
            return
        tx.standing[answer_id] = (old, new)
        self.items[answer_id] = new
        if old is None:
            length_ms = to_ms(new["until"]) - to_ms(new["since"])
            is_bounded = 0 < length_ms <= LONGEST_MS and 1 <= new["times"] <= MOST
            self._must(
                is_bounded and not new["used"], "{} stands for {} ms, {} times", answer_id, length_ms, new["times"]
            )
            return
        changed = {name for name in {*old, *new} if old.get(name) != new.get(name)}
        self._must(changed <= CHANGING, "{}: {} changed", answer_id, changed - CHANGING)
        self._must("revoked_at" not in old, "{} is revoked, and its {} changed", answer_id, changed)
        self._must(new["used"] <= new["times"], "{} was used {} times of {}", answer_id, new["used"], new["times"])

    def is_named(self, question_id: str, human: str, version: int) -> None:
        self._named.add((question_id, human, version))

    def is_given(self, tx: Transaction, answer_id: str, by: str, asked: Asked, decided: Item) -> None:
        """With somebody's own approval, for the same action or for any of its tool."""
        old, new = tx.standing.pop(answer_id, (None, {}))
        said = (new.get("by"), new.get("agent"), new.get("question_id"))
        self._must(old is None and said == (by, asked.agent, asked.id), "{} stands, and is {}", answer_id, said)
        self._must(new.get("digest") in (None, decided["digest"]), "{} stands for another action", answer_id)
        refused_at = self._refused.get((asked.agent, asked.tool, new.get("digest")), 0)
        is_newer = refused_at <= asked.said_at[by].step
        self._must(is_newer, "{} begins, and what it would approve was refused since {} asked for it", answer_id, by)
        version = int(new.get("agent_version", 0))
        is_seen = version <= asked.agent_version or (asked.id, by, version) in self._named
        self._must(is_seen, "{} is for version {} of its agent, which {} never saw", answer_id, version, by)

    def speaks(self, tx: Transaction, asked: Asked, decision: Item, entry: Item) -> None:
        """For its human, on an action that it fits."""
        answer_id, now_ms = decision["standing"], to_ms(entry["at"])
        old, new = tx.standing.pop(answer_id, (None, {}))
        if old is None:
            self._must(None, "{} is approved by {}, which doesn't count that", asked.id, answer_id)
            return
        self._must(
            new["used"] == old["used"] + 1, "{} has approved {}, and counts {}", answer_id, asked.id, new["used"]
        )
        fits = (old["by"], old["agent"], old["tool"]) == (decision["by"], asked.agent, asked.tool)
        fits = fits and old.get("digest") in (None, asked.digest) and decision["digest"] == asked.digest
        self._must(fits, "{} has approved {}, which it doesn't fit", answer_id, asked.id)
        self._is_here(asked, answer_id, old)
        self._must(now_ms < to_ms(old["until"]), "{} has approved {} after its end", answer_id, asked.id)
        self._must(asked.until_ms <= to_ms(old["until"]), "{} outlives {}, which approved it", asked.id, answer_id)

    def _is_here(self, asked: Asked, answer_id: str, given: Item) -> None:
        """Its giver may still approve, and has never been away since. Its agent is as they saw it."""
        is_let = self._people.highest(given["by"]) >= APPROVER
        is_let = is_let and not self._people.was_away(given["by"], to_ms(given["since"]) - BEGIN_MS)
        self._must(is_let, "{} rests on {}, whose giver {} has left", asked.id, answer_id, given["by"])
        changes = self._ledger.unvouched_changes(given["agent"], self._sim.current.process.began_at)
        is_same = all(now["version"] <= given.get("agent_version", 0) for _, now in changes)
        self._must(is_same, "{} rests on {}, whose agent {} has changed", asked.id, answer_id, given["agent"])
        self._ledger.seen["standing answer of a changed agent"] += bool(changes)

    def is_begun(self, tx: Transaction, asked: Asked, answer_ids: list[str]) -> None:
        """None that its approval rests on is revoked."""
        for answer_id in answer_ids:
            old, new = tx.standing.pop(answer_id, (None, self.items[answer_id]))
            is_revoked = "revoked_at" in (old or new)
            self._is_here(asked, answer_id, new)
            self._must(not is_revoked, "{} was used, and {}, which approved it, is revoked", asked.id, answer_id)
            self._must(
                old and new["begun"] == old["begun"] + 1, "{} doesn't count that {} was begun", answer_id, asked.id
            )

    def are_ended(self, asked: Asked, answer_ids: list[str]) -> None:
        """A human has refused what they approved, or began with. The table deletes one a day after its end."""
        for answer_id in answer_ids:
            item = self.items[answer_id]
            is_ended = "revoked_at" in item or to_ms(item["until"]) + DAY_MS < self._latest_ms
            self._must(is_ended, "{} is {}, and {} stands", asked.id, asked.outcome, answer_id)

    def is_refused(self, asked: Asked, *digests: str | None) -> None:
        """A human has refused the action, or taken its approval back: nothing that stands would approve it."""
        for digest in {None, *digests}:
            self._refused[asked.agent, asked.tool, digest] = self._sim.steps
        for answer_id, item in self.items.items():
            is_its_tool = (item["agent"], item["tool"]) == (asked.agent, asked.tool)
            if is_its_tool and item.get("digest") in (None, *digests):
                is_over = "revoked_at" in item or item["used"] >= item["times"]
                is_over = is_over or to_ms(item["until"]) < self._latest_ms
                self._must(is_over, "{} is {}, and {} would approve its action", asked.id, asked.outcome, answer_id)

    @property
    def _latest_ms(self) -> int:
        """The time by the clock of a process that is ahead."""
        return BEGIN_MS + self._sim.now_ms + CLOCKS_MS

    def have_their_reason(self, tx: Transaction) -> None:
        """What is left of a write: a human has revoked it."""
        for answer_id, (old, new) in tx.standing.items():
            request = self._sim.current.process.request
            is_revoked = old is not None and "revoked_at" in new and new["used"] == old["used"]
            is_by_human = request is not None and request.by.is_human
            self._must(is_revoked and is_by_human, "{} changed without a reason", answer_id)

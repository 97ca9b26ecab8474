"""Each person's right, as a deciding process may have seen it. It follows from the tokens that were written, by the
table in the specification alone: the highest right of a person's live tokens."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from simulation.oracle.items import to_ms
from simulation.ports import BEGIN

if TYPE_CHECKING:
    from simulation.oracle.ledger import Item
    from simulation.simulation import Simulation

BEGIN_MS = int(BEGIN.timestamp() * 1000)
NOBODY, READER, MEMBER, APPROVER, ADMINISTRATOR = 0, 1, 2, 3, 4
RANKS = {"reader": READER, "member": MEMBER, "approver": APPROVER, "administrator": ADMINISTRATOR}
NEVER = 10**18
CLOCKS_DIFFER_MS = 2_000


@dataclass(eq=False)
class Pass:
    """A token of a person. Times are in ms, of the true clock, but for the time on the token; ``made`` and ``revoked``
    are steps."""

    rank: int
    made: int
    made_ms: int
    expires_ms: int
    revoked: int = NEVER
    revoked_ms: int = NEVER
    dated_ms: int = NEVER


class People:
    def __init__(self, sim: Simulation) -> None:
        self._sim = sim
        self._passes: dict[str, dict[str, Pass]] = {}
        self._ranks: dict[str, int] = {}
        # By name: at which steps an administrator ended their approvals, each with the ms on record.
        self._ends: dict[str, list[tuple[int, int]]] = {}

    def is_written(self, token_id: str, old: Item | None, new: Item) -> None:
        """A session is none: it is as good as the token that it was opened with."""
        if new["kind"] != "human" or "session_of" in new:
            return
        passes = self._passes.setdefault(new["subject"], {})
        if token_id not in passes:
            expires_ms = to_ms(new["expires_at"]) - BEGIN_MS if "expires_at" in new else NEVER
            self._ranks[token_id] = _rank(new)
            passes[token_id] = Pass(_rank(new), self._sim.steps, self._sim.now_ms, expires_ms)
            # Its writer may have stalled: the person has the right from the time on the token.
            dated_ms = to_ms(new["created_at"]) - BEGIN_MS if "created_at" in new else NEVER
            passes[token_id].dated_ms = min(dated_ms, self._sim.now_ms)
        if "revoked_at" in new and "revoked_at" not in (old or {}):
            passes[token_id].revoked, passes[token_id].revoked_ms = self._sim.steps, self._sim.now_ms

    def are_listed(self, new: Item) -> str:
        """Returns the errors of the list of people: each lasting token is in it, and none that was revoked. Approvals
        that have ended stay ended."""
        listed = {(name, each) for name, ids in json.loads(new["tokens"]).items() for each in ids}
        known = {(name, each): own for name, passes in self._passes.items() for each, own in passes.items()}
        latest_ms = self._sim.now_ms + self._sim.habits.skew_ms
        revoked = {each for each, own in known.items() if own.revoked != NEVER}
        lasting = {each for each, own in known.items() if own.revoked == NEVER and own.expires_ms > latest_ms}
        odd = (listed & revoked) | (lasting - listed) | (listed - known.keys())
        ended = json.loads(new["ended"])
        # A person who has had no token in between is forgotten, and starts again.
        odd |= {
            (name, "ended")
            for (name, _), own in ((each, known[each]) for each in lasting)
            for step, at_ms in self._ends.get(name, ())
            if own.made < step and ended.get(name, 0) - BEGIN_MS < at_ms
        }
        return ", ".join(map(str, sorted(odd)))

    def has_ended(self, name: str, at_ms: int) -> None:
        """An administrator has ended the person's approvals, by the time that is on record."""
        self._ends.setdefault(name, []).append((self._sim.steps, at_ms))

    def is_known(self, name: str) -> bool:
        """False for people who act without a token: the oracle doesn't judge their rights."""
        return name in self._passes

    def had_token(self, name: str, new_id: str) -> bool:
        """True if a token of the name was surely issued before the present process began."""
        began, passes = self._sim.current.process.began_at, self._passes.get(name, {})
        return any(own.made <= began for token_id, own in passes.items() if token_id != new_id)

    def is_given(self, token_id: str, right: str) -> None:
        """The token that was answered has the right that was asked for, as it is stored."""
        has = self._ranks.get(token_id)
        self._sim.oracle.verdict.must(has == RANKS[right], "token {} is for a {}, and has {}", token_id, right, has)

    def rank_of(self, token_id: str) -> int:
        """Returns the rank of a token; 0 for an unknown token."""
        return self._ranks.get(token_id, NOBODY)

    def is_let_in(self, token_id: str) -> bool:
        """True unless the token was surely over when the present process began."""
        process = self._sim.current.process
        live = next((own[token_id] for own in self._passes.values() if token_id in own), None)
        latest_ms = process.began_ms - self._sim.habits.skew_ms
        return live is None or (live.revoked >= process.began_at and live.expires_ms > latest_ms)

    def highest(self, name: str) -> int:
        """The highest that the present process may have seen."""
        process, skew_ms = self._sim.current.process, self._sim.habits.skew_ms
        passes = self._passes.get(name, {}).values()
        live = (each.rank for each in passes if _may_be_live(each, process.began_at, process.began_ms - skew_ms))
        return max(live, default=NOBODY) if self.is_known(name) else ADMINISTRATOR

    def lowest(self, name: str, since: int | None = None, since_ms: int = NEVER) -> int:
        """Returns the lowest rank that the process may have seen, or any process since an earlier step. ``since_ms``:
        the time of that step; clocks that differ may put the making of a token after it."""
        began = self._sim.current.process.began_at
        since = began if since is None else min(since, began)
        return self._lowest(name, since, since_ms) if self.is_known(name) else ADMINISTRATOR

    def _lowest(self, name: str, since: int, since_ms: int = NEVER) -> int:
        latest_ms = self._sim.now_ms + self._sim.habits.skew_ms
        skew_ms = self._sim.habits.skew_ms
        # Its record has the time at which the request began, and the decision was written later than it was dated.
        if any(step > since or at_ms + skew_ms >= since_ms for step, at_ms in self._ends.get(name, ())):
            return NOBODY
        live = (
            each.rank
            for each in self._passes.get(name, {}).values()
            if each.made <= since
            and each.made_ms + 2 * self._sim.habits.skew_ms <= since_ms
            and each.revoked == NEVER
            and each.expires_ms > latest_ms
        )
        return max(live, default=NOBODY)

    def highest_without(self, name: str, token_id: str) -> int:
        """The highest that the present process may have seen, if there were no such token."""
        process, skew_ms = self._sim.current.process, self._sim.habits.skew_ms
        others = (own for each, own in self._passes.get(name, {}).items() if each != token_id)
        live = (each.rank for each in others if _may_be_live(each, process.began_at, process.began_ms - skew_ms))
        return max(live, default=NOBODY)

    def surely_ends(self, name: str, token_id: str, rank: int) -> bool:
        """True if the end of the token surely takes the right away."""
        own = self._passes[name][token_id]
        latest_ms = self._sim.now_ms + self._sim.habits.skew_ms
        was_live = own.made <= self._sim.current.process.began_at and own.expires_ms > latest_ms
        return was_live and self.highest_without(name, token_id) < rank

    def was_away(self, name: str, since_ms: int, rank: int = APPROVER) -> bool:
        """True if by everybody's clock there was a moment since then at which they had a lower right, or at which
        their approvals were ended."""
        if not self.is_known(name):
            return False
        began, latest_ms = self._sim.current.process.began_at, since_ms + self._sim.habits.skew_ms
        if any(step < began and latest_ms <= at_ms for step, at_ms in self._ends.get(name, ())):
            return True
        skew_ms, until_ms = self._sim.habits.skew_ms + CLOCKS_DIFFER_MS, since_ms
        held = sorted(
            (each.dated_ms - skew_ms, min(each.expires_ms, each.revoked_ms) + skew_ms)
            for each in self._passes[name].values()
            if each.rank >= rank
        )
        for begins_ms, ends_ms in held:
            if begins_ms <= until_ms:
                until_ms = max(until_ms, ends_ms)
        return until_ms < self._sim.current.process.began_ms  # the process may have missed later tokens

    def present_rank(self, name: str) -> int:
        """As ``highest``, of everybody with a token, and the highest for others."""
        process = self._sim.current.process
        earliest_ms, passes = process.began_ms - self._sim.habits.skew_ms, self._passes.get(name, {}).values()
        live = (each.rank for each in passes if _may_be_live(each, process.began_at, earliest_ms))
        return max(live, default=NOBODY) if passes else ADMINISTRATOR

    def surely_here(self, rank: int) -> set[str]:
        """Returns the people who have the right in every state that the present process may have seen."""
        return {name for name in self._passes if self._lowest(name, self._sim.current.process.began_at) >= rank}


def _may_be_live(own: Pass, began: int, earliest_ms: int) -> bool:
    return own.revoked >= began and own.expires_ms > earliest_ms


def _rank(token: Item) -> int:
    """A token of an earlier release has no written right: with ``act_as`` it is an administrator's."""
    if "right" in token:
        return RANKS[token["right"]]
    return ADMINISTRATOR if "act_as" in token.get("scopes", ()) else APPROVER

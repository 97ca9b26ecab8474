"""The deeds of each right. Each deed of people is in the trail of a task, or is a write of the workspace's own items.
Its author had at least the right that the specification requires, by the token that they showed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulation.oracle.trust.people import ADMINISTRATOR, APPROVER, MEMBER

if TYPE_CHECKING:
    from baton.domain.access.principal import Principal
    from simulation.oracle.ledger import Item, Ledger
    from simulation.oracle.trust.people import People
    from simulation.oracle.verdict import Verdict
    from simulation.simulation import Simulation

# By the events of a trail. An approval may also be a standing one: its giver's right is checked elsewhere.
TOLD = {
    "handoff_initiated": MEMBER,
    "handoff_imported": ADMINISTRATOR,
    "approved": APPROVER,
    "approval_given": APPROVER,
    "approval_undone": APPROVER,
    "deferred": APPROVER,
    "dismissed": APPROVER,
    "split": APPROVER,
    "released": APPROVER,
    "resolved": APPROVER,
    "cancelled": MEMBER,
    "question_decided": MEMBER,
    "approval_revoked": APPROVER,
}
STANDING, ANCESTOR = "standing_approval", "ancestor"


class Deeds:
    def __init__(self, sim: Simulation, verdict: Verdict, ledger: Ledger, people: People) -> None:
        self._sim, self._verdict, self._ledger, self._people = sim, verdict, ledger, people

    def told(self, task_id: str, entry: Item) -> None:
        """A descendant is cancelled later, in the name of the person who cancelled the task above it."""
        if entry["principal_kind"] == "human" and STANDING not in entry["data"] and ANCESTOR not in entry["data"]:
            self._needs(TOLD.get(entry["type"], 0), f"{task_id}: {entry['type']}", entry["principal_id"])

    def changes_settings(self) -> None:
        self._is_by_human(ADMINISTRATOR, "the settings")

    def changes_token(self, old: Item | None, new: Item) -> None:
        """Everybody opens sessions of their own, and revokes their own tokens."""
        by = self._by()
        if by is None or "session_of" in new:
            return
        if old is None:
            self._is_by_human(APPROVER if new["kind"] == "agent" else ADMINISTRATOR, f"a token of {new['subject']}")
        elif "revoked_at" in new and "revoked_at" not in old and by.key != f"{new['kind']}:{new['subject']}":
            self._is_by_human(ADMINISTRATOR, f"the end of a token of {new['subject']}")

    def changes_registry(self, kind: str, name: str, old: Item | None, new: Item) -> None:
        """An agent, a tool or a route; ``old``: its version before."""
        by = self._by()
        if by is not None and by.is_human:
            self._needs(MEMBER, f"{kind} {name}", by.id)
        if kind == "agent" and new.get("approval") == "auto" and (old or {}).get("approval") != "auto":
            self._is_by_human(APPROVER, f"a standing approval of {name}")

    def vouches(self, editor: str) -> bool:
        """True if the editor of an agent may approve, so that earlier approvals cover their edit. An edit that a second
        administrator applies is its asker's."""
        by = self._by()
        if by is None or by.key != editor:
            return editor.startswith("human:")
        shown = self._people.rank_of(by.token_id) if by.token_id else self._people.highest(by.id)
        vouches = by.is_human and shown >= APPROVER
        self._ledger.seen["agent changed by a member"] += by.is_human and not vouches
        return vouches

    def _is_by_human(self, rank: int, what: str) -> None:
        by = self._by()
        if by is not None:
            self._verdict.must(by.is_human, "{}, by {}", what, by.key)
            self._needs(rank, what, by.id)

    def _needs(self, rank: int, what: str, name: str) -> None:
        by = self._by()
        shown = by.token_id if by is not None and by.is_human and by.id == name else ""
        has = self._people.rank_of(shown) or self._people.highest(name)
        self._verdict.must(has >= rank, "{}, by {}, whose right is {} of the {} that it takes", what, name, has, rank)
        self._ledger.seen[f"right {rank} needed"] += bool(shown)

    def _by(self) -> Principal | None:
        request = self._sim.current.process.request
        return request.by if request else None

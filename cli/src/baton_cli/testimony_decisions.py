"""Decisions of people in a task's trail, as entries of a Testimony Record: what was to be done, who let it be done or
not, and whether it was begun. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

Event = dict[str, Any]
Entry = dict[str, Any]
# Reasons of refusals for which nobody gave one.
_REASONS = {
    "dismissed": "a human dismissed it",
    "split": "a human split it into parts",
    "undone": "the approval was undone before the work began",
    "expired": "nobody decided in time",
}


@dataclass
class Gate:
    """One decision. ``asked``: the event by which it was asked for; ``events``: all that it is made of, in order;
    ``deciders``: event and human's key of each who decided it so. ``begun``: the event by which it was begun."""

    name: str  # of the decision, in the workspace
    action: str
    asked: Event
    proposer: str
    outcome: str = ""
    digest: str | None = None
    reason: str | None = None
    begun: Event | None = None
    events: list[Event] = field(default_factory=list)
    deciders: list[tuple[Event, str]] = field(default_factory=list)

    def told(self, event: Event, outcome: str, reason: str | None = None) -> None:
        self.events.append(event)
        self.outcome, self.reason = outcome, reason or _REASONS.get(outcome)

    def entries(self, task_id: str) -> Iterator[Entry]:
        """Yields the decision, and an approval for each human who decided; nothing while it is open. An approval by who
        asked for it is none."""
        if not self.outcome:
            return
        others = [each for each in self.deciders if each[1] != self.proposer]
        is_permitted = self.outcome in {"approved", "answered"}
        of_trail = [{"hash": each["hash"], "seq": each["seq"], "type": each["type"]} for each in self.events]
        yield _without_none(
            {
                "type": "decision",
                "id": f"decision-{self.name}",
                "at": max(each["at"] for each in self.events),
                "action_type": self.action,
                "risk_class": "high" if others and self.outcome != "answered" else "low",
                "risk_source": "policy",
                "proposed_by": _actor(self.proposer),
                "verdict": "permitted" if is_permitted else "refused",
                "executed": self.begun is not None,
                "reason": None if is_permitted else self.reason or "no reason was given",
                "approval": f"approval-{self.name}-1" if others else None,
                "x-baton-outcome": self.outcome,
                "x-baton-digest": self.digest,
                "x-baton-task": task_id,
                "x-baton-trail": of_trail,
            }
        )
        for number, (event, key) in enumerate(others, 1):
            yield self._approval(number, event, key)

    def _approval(self, number: int, event: Event, key: str) -> Entry:
        """``identity_source``: Baton's tokens are secrets of one person each; the trail names the token."""
        return _without_none(
            {
                "type": "approval",
                "id": f"approval-{self.name}-{number}",
                "at": event["at"],
                "decision": f"decision-{self.name}",
                "approver": _actor(key),
                "identity_source": "api-key",
                "x-baton-event-hash": event["hash"],
                "x-baton-decided": event["data"].get("decided", event["type"]),
                "x-baton-digest": event["data"].get("digest"),
                "x-baton-revision": event["data"].get("revision"),
                "x-baton-token": event["data"].get("token"),
                "x-baton-ahead": None if _key(event) == key else True,  # by a standing approval or answer
            }
        )


def entries_of_trail(task_id: str, trail: Iterable[Event]) -> Iterator[Entry]:
    """Yields the entries of one task. ``trail``: its events from the first on."""
    reader = _Reader(task_id)
    for event in trail:
        reader.read(event)
    for gate in (*reader.handoffs, *reader.questions.values()):
        yield from gate.entries(task_id)


class _Reader:
    """Reads a trail, event by event. ``given``: approvals that count once enough others have approved, too."""

    def __init__(self, task_id: str) -> None:
        self._task_id, self._given = task_id, list[Event]()
        self._first: Event = {}
        self._action, self._digest, self._proposer = "", None, ""
        self.handoffs, self.questions = list[Gate](), dict[str, Gate]()

    def read(self, event: Event) -> None:
        if event["seq"] == 1:
            self._first = event
        made = event["data"].get("changes") or {}
        if event is self._first:
            self._proposer = made.get("created_by") or _key(event)
        if event is self._first or "target_agent" in made:
            self._action = f"handoff:{made.get('target_agent') or 'any agent'}"
        self._digest = made.get("digest", self._digest)
        if event["type"] in _READ:
            _READ[event["type"]](self, event)

    # Handoffs

    def approval_given(self, event: Event) -> None:
        self._given.append(event)

    def decided(self, event: Event) -> None:
        """Of a handoff: approved, dismissed or split, as the event's type says."""
        name = f"{self._task_id}-{event['seq']}"
        gate = Gate(name, self._action, self._first, self._proposer, digest=event["data"].get("digest", self._digest))
        gate.events = [self._first, *self._given]
        gate.told(event, event["type"], event["data"].get("reason"))
        by_name = {f"human:{each['data']['by']}": each for each in self._given}
        keys = _approvers(event)
        gate.deciders = [(by_name.get(each, event), each) for each in keys if each.startswith("human:")]
        self._given = []
        self.handoffs.append(gate)

    def handoff_received(self, event: Event) -> None:
        if self.handoffs and self.handoffs[-1].outcome == "approved" and self.handoffs[-1].begun is None:
            self.handoffs[-1].begun = event
            self.handoffs[-1].events.append(event)

    def approval_undone(self, event: Event) -> None:
        if self.handoffs and self.handoffs[-1].begun is None:
            self.handoffs[-1].told(event, "undone", event["data"].get("reason"))
            if event["principal"]["kind"] == "human":
                self.handoffs[-1].deciders.append((event, _key(event)))

    # Questions

    def question_asked(self, event: Event) -> None:
        data = event["data"]
        action = f"tool:{data['tool']}" if data.get("tool") else f"question:{data['kind']}"
        gate = Gate(data["question_id"], action, event, _key(event), digest=data.get("digest"), events=[event])
        if data.get("outcome") == "approved":
            gate.outcome = "approved"
        gate.deciders = [(event, f"human:{each}") for each in data.get("approved_by", ())]
        self.questions[gate.name] = gate

    def question_decided(self, event: Event) -> None:
        gate, data = self.questions[event["data"]["question_id"]], event["data"]
        gate.deciders = [each for each in gate.deciders if each[1] != _key(event)] + [(event, _key(event))]
        gate.events.append(event)
        if data["outcome"] != "open":
            gate.outcome, gate.reason = data["outcome"], data.get("reason")
            gate.digest = data.get("digest") or gate.digest
            alike = (data["decided"], data.get("digest"))
            gate.deciders = [each for each in gate.deciders if _means(each[0]) == alike]

    def question_expired(self, event: Event) -> None:
        gate = self.questions[event["data"]["question_id"]]
        gate.deciders = []
        gate.told(event, "expired")

    def approval_revoked(self, event: Event) -> None:
        gate = self.questions[event["data"]["question_id"]]
        gate.deciders.append((event, _key(event)))
        gate.told(event, "revoked", event["data"].get("reason"))

    def approval_used(self, event: Event) -> None:
        gate = self.questions[event["data"]["question_id"]]
        gate.begun = event
        gate.events.append(event)


_READ: dict[str, Callable[[_Reader, Event], None]] = {
    "approval_given": _Reader.approval_given,
    **dict.fromkeys(("approved", "dismissed", "split"), _Reader.decided),
    "handoff_received": _Reader.handoff_received,
    "approval_undone": _Reader.approval_undone,
    "question_asked": _Reader.question_asked,
    "question_decided": _Reader.question_decided,
    "question_expired": _Reader.question_expired,
    "approval_revoked": _Reader.approval_revoked,
    "approval_used": _Reader.approval_used,
}


def _approvers(event: Event) -> list[str]:
    """Returns the keys of those who decided: several, by a rule of the settings, or one; or who approved ahead."""
    data = event["data"]
    if "approved_by" in data:
        return [f"human:{each}" for each in data["approved_by"]]
    ahead = (data.get("standing_approval") or {}).get("given_by")
    return [str(ahead or _key(event))]


def _means(event: Event) -> tuple[str, str | None]:
    data = event["data"]
    return data.get("decided", "approved"), data.get("digest")


def _key(event: Event) -> str:
    return f"{event['principal']['kind']}:{event['principal']['id']}"


def _actor(key: str) -> dict[str, str]:
    kind = key.partition(":")[0]
    return {"id": key, "kind": kind if kind in {"agent", "human"} else "system"}


def _without_none(entry: Entry) -> Entry:
    return {name: value for name, value in entry.items() if value is not None}

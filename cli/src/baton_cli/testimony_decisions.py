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
    """One decision. ``events``: all that it is made of, in order, first the one by which it was asked for;
    ``deciders``: event and human's key of each who decided it so. ``needed``: the number of approvals that rules ask
    for, of an approval of ready work. ``is_begun``: so was what it allowed."""

    name: str  # of the decision, in the workspace
    action: str
    proposer: str
    digest: str | None
    events: list[Event]
    deciders: list[tuple[Event, str]] = field(default_factory=list)
    outcome: str = ""
    reason: str | None = None
    needed: int | None = None
    is_begun: bool = False

    def told(self, event: Event, outcome: str) -> None:
        self.events.append(event)
        self.outcome, self.reason = outcome, event["data"].get("reason") or _REASONS.get(outcome)

    def begun(self, event: Event) -> None:
        self.events.append(event)
        self.is_begun = True

    def entries(self, task_id: str) -> Iterator[Entry]:
        """Yields the decision, and an approval for each human who decided; nothing while it is open. An approval by who
        asked for it is none."""
        if not self.outcome:
            return
        others = [each for each in self.deciders if each[1] != self.proposer]
        is_permitted = self.outcome in {"approved", "answered"}
        yield {
            "type": "decision",
            "id": f"decision-{self.name}",
            "at": max(each["at"] for each in self.events),
            "action_type": self.action,
            "risk_class": "high" if others and self.outcome != "answered" else "low",
            "risk_source": "policy",
            "proposed_by": actor(self.proposer),
            "verdict": "permitted" if is_permitted else "refused",
            "executed": self.is_begun,
            "reason": None if is_permitted else self.reason or "no reason was given",
            "approval": f"approval-{self.name}-1" if others else None,
            "x-baton-outcome": self.outcome,
            "x-baton-needed": self.needed,
            "x-baton-digest": self.digest,
            "x-baton-task": task_id,
            "x-baton-trail": [{name: each[name] for name in ("hash", "seq", "type")} for each in self.events],
        }
        for number, (event, key) in enumerate(others, 1):
            yield {
                "type": "approval",
                "id": f"approval-{self.name}-{number}",
                "at": event["at"],
                "decision": f"decision-{self.name}",
                "approver": actor(key),
                "identity_source": "api-key",  # Baton's tokens are secrets of one person each; the trail names it
                "x-baton-event-hash": event["hash"],
                "x-baton-decided": event["data"].get("decided", event["type"]),
                **{f"x-baton-{name}": event["data"].get(name) for name in ("digest", "revision", "token")},
                "x-baton-ahead": None if _key(event) == key else True,  # by a standing approval or answer
            }


def entries_of_trail(task_id: str, trail: Iterable[Event]) -> Iterator[Entry]:
    """Yields the entries of one task. ``trail``: its events from the first on."""
    reader = _Reader(task_id)
    for event in trail:
        reader.read(event)
    for gate in reader.gates.values():
        for entry in gate.entries(task_id):
            yield {name: value for name, value in entry.items() if value is not None}


class _Reader:
    """Reads a trail, event by event. ``given``: approvals that count once enough others have approved, too. ``ready``:
    approvals of ready work that count at a claim, by the human's key."""

    def __init__(self, task_id: str) -> None:
        self._task_id, self._given = task_id, list[Event]()
        self._first: Event = {}
        self._action, self._digest, self._proposer = "", None, ""
        self._handoff: Gate | None = None  # the last decision on the task itself
        self._ready = dict[str, Gate]()
        self.gates = dict[str, Gate]()

    def read(self, event: Event) -> None:
        made = event["data"].get("changes") or {}
        if event["seq"] == 1:
            self._first, self._proposer = event, made.get("created_by") or _key(event)
        if event["seq"] == 1 or "target_agent" in made:
            self._action = f"handoff:{made.get('target_agent') or 'any agent'}"
        self._digest = made.get("digest", self._digest)
        if (read := _READ.get(event["type"])) is not None:
            read(self, event)

    def approval_given(self, event: Event) -> None:
        if "agents" in event["data"]:
            self._ready_approved(event)
        else:
            self._given.append(event)

    def _ready_approved(self, event: Event) -> None:
        """A human approved ready work for agents that rules hold back: a decision of its own, after the one on the
        handoff."""
        data, key = event["data"], f"human:{event['data']['by']}"
        gate = Gate(
            name=f"{self._task_id}-{event['seq']}",
            action=f"handoff:{', '.join(data['agents'])}",
            proposer=self._proposer,
            digest=data.get("digest", self._digest),
            events=[self._first],
            deciders=[(event, key)],
            needed=data["needed"],
        )
        gate.told(event, "approved")
        self._ready[key] = self.gates[gate.name] = gate

    def decided(self, event: Event) -> None:
        """Of a handoff: approved, dismissed or split, as the event's type says; by several, by a rule of the settings,
        or by one; or by who approved ahead."""
        data, by_name = event["data"], {f"human:{each['data']['by']}": each for each in self._given}
        by_name[_key(event)] = event  # an earlier approval of the same person has ended
        ahead = (data.get("standing_approval") or {}).get("given_by")
        several = [f"human:{each}" for each in data.get("approved_by", ())]
        keys = several if "approved_by" in data else [str(ahead or _key(event))]
        gate = Gate(
            name=f"{self._task_id}-{event['seq']}",
            action=self._action,
            proposer=self._proposer,
            digest=data.get("digest", self._digest),
            events=[self._first, *self._given],
            deciders=[(by_name.get(each, event), each) for each in keys if each.startswith("human:")],
        )
        gate.told(event, event["type"])
        self._given, self._ready = [], {}
        self._handoff = self.gates[gate.name] = gate

    def handoff_received(self, event: Event) -> None:
        if self._handoff and self._handoff.outcome == "approved" and not self._handoff.is_begun:
            self._handoff.begun(event)
        for approver in event["data"].get("approved_by", ()):
            if (ready := self._ready.pop(f"human:{approver}", None)) is not None:
                ready.begun(event)

    def approval_undone(self, event: Event) -> None:
        for gate in filter(None, (self._handoff, *self._ready.values())):
            if not gate.is_begun:
                gate.told(event, "undone")
                if event["principal"]["kind"] == "human":
                    gate.deciders.append((event, _key(event)))
        self._ready = {}

    def question_asked(self, event: Event) -> None:
        data = event["data"]
        action = f"tool:{data['tool']}" if data.get("tool") else f"question:{data['kind']}"
        gate = Gate(data["question_id"], action, _key(event), data.get("digest"), [event])
        gate.outcome = "approved" if data.get("outcome") == "approved" else ""
        gate.deciders = [(event, f"human:{each}") for each in data.get("approved_by", ())]
        self.gates[gate.name] = gate

    def question_decided(self, event: Event) -> None:
        gate, data, key = self._question(event), event["data"], _key(event)
        gate.deciders = [each for each in gate.deciders if each[1] != key] + [(event, key)]
        gate.told(event, "" if data["outcome"] == "open" else data["outcome"])
        if gate.outcome:
            gate.digest = data.get("digest") or gate.digest
            gate.deciders = [each for each in gate.deciders if _means(each[0]) == _means(event)]

    def question_expired(self, event: Event) -> None:
        self._question(event).told(event, "expired")
        self._question(event).deciders = []

    def approval_revoked(self, event: Event) -> None:
        self._question(event).told(event, "revoked")
        self._question(event).deciders.append((event, _key(event)))

    def approval_used(self, event: Event) -> None:
        self._question(event).begun(event)

    def _question(self, event: Event) -> Gate:
        return self.gates[event["data"]["question_id"]]


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


def _means(event: Event) -> tuple[str, str | None]:
    return event["data"].get("decided", "approved"), event["data"].get("digest")


def _key(event: Event) -> str:
    return f"{event['principal']['kind']}:{event['principal']['id']}"


def actor(key: str) -> dict[str, str]:
    kind = key.partition(":")[0]
    return {"id": key, "kind": kind if kind in {"agent", "human"} else "system"}

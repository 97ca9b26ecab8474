"""The items of the table: ``*_item`` turns a domain value into an item, ``*_from`` reads it back.

Payloads are kept as JSON text: unchanged whatever their depth and numbers, and at the size that they have.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import date
from typing import Any

from baton.adapters.dynamodb import keys, records, trail_items
from baton.adapters.dynamodb.item_schema import LOWERED_RIGHTS, NUMBER
from baton.adapters.dynamodb.item_writes import Item
from baton.domain import times
from baton.domain.access.principal import PrincipalKind, usual_right
from baton.domain.access.rights import Right
from baton.domain.access.token import Token
from baton.domain.agents.agent import Agent, Runtime
from baton.domain.canonical_json import canonical_json
from baton.domain.escalations.direction import CountedEscalation, Direction
from baton.domain.escalations.review import Review
from baton.domain.guardrails.guardrails import from_public as guardrails_from
from baton.domain.idempotency import SavedResponse
from baton.domain.ids import handoff_id_of, workflow_id_of
from baton.domain.newer import deciding, member
from baton.domain.numbers import loads
from baton.domain.settings.approval_rule import rules_from
from baton.domain.settings.settings import Settings
from baton.domain.settings.tracker_settings import USUAL_TRACKER_RIGHT, from_public
from baton.domain.tasks import trail
from baton.domain.tasks.field_rules import FieldRule, Form
from baton.domain.tasks.task import KEPT, TOLD, Claim, Recovery, Task, TaskMeta
from baton.domain.tasks.task_items import Note

Convert = Mapping[Form, Callable[[Any], Any]]


def head_item(task: Task, fresh: int = 0, inbox: keys.Key | None = None) -> Item:
    """Returns HEAD, which is small and rewritten whole by every commit. ``claim`` is a map of numbers so that a
    heartbeat can extend the lease in place; ``hard_deadline_ms`` exists only where no lease may go past it. ``fresh``:
    how many of the latest events this commit adds, which the table's stream brings to the bus. ``inbox``: the place of
    an ended task in its source agent's inbox. What follows from the key isn't written (``_implied``): HEAD is paid for
    by the KB with each change. What a newer version has added is written again as it was read."""
    key, meta = keys.head(task.workspace, task.id)._asdict(), task.meta
    implied = _implied(key, task.source_agent)
    fields_ = {**trail.told(task), "depth": task.depth}  # also where no event would tell it
    told = {name: value for name, value in fields_.items() if name not in implied or value != implied[name]}
    kept = {name: value for name, rule in KEPT.items() if (value := getattr(meta, name)) != rule.unsaid}
    stored = _converted(_WRITTEN, told, TOLD)
    return {
        **meta.unread,
        **key,
        **{_STORED_AS.get(name, name): value for name, value in stored.items()},
        **_converted(_WRITTEN, kept, KEPT),
        "hard_deadline_ms": None if task.hard_deadline is None else times.to_ms(task.hard_deadline),
        "events": list(meta.tail) or None,
        "fresh": fresh or None,
        **keys.place(keys.QUEUE_INDEX, inbox or keys.queue_index_key(task)),
        **keys.place(keys.WAKE_INDEX, keys.wake_index_key(task)),
    }


def _implied(head: Item, source_agent: str) -> Item:
    """Returns the fields that a HEAD leaves out, with the values that they have then: those of a workflow's first task,
    made by its source agent. Written out here and never changed."""
    workspace, task_id = keys.parse_task(head["pk"])
    return {
        "workspace": workspace,
        "id": task_id,
        "target_agent": None,
        "handoff_id": handoff_id_of(task_id),
        "master_task_id": task_id,
        "workflow_id": workflow_id_of(task_id),
        "created_by": f"agent:{source_agent}",
        "depth": 1,
    }


# A field of HEAD under the name of an attribute that the queue index projects: claimers skip work that they may not
# claim without reading it (docs/storage.md). A successor of the index can project a name of its own.
_STORED_AS = {"ok_by": "accepts"}


# Every attribute that this version may write into HEAD. What else is found there is a newer version's.
HEAD_ATTRIBUTES = frozenset(
    {
        *(_STORED_AS.get(name, name) for name in TOLD),
        *KEPT,
        *("pk", "sk", "queue_pk", "queue_sk", "wake_pk", "wake_sk", "hard_deadline_ms", "events", "fresh"),
        *("output", "completion", "output_in", "written_by", "void", "ttl"),
    }
)


def task_from(item: Item) -> Task:
    meta = TaskMeta(
        **_converted(_READ, item, KEPT),
        wake_at=keys.parse_due_at(item["wake_sk"]) if "wake_sk" in item else None,
        wakes_first=keys.wakes_first(item.get("wake_pk", "")),
        tail=tuple(trail_items.entries_of(item)),
        results=tuple(item[name] for name in ("output", "completion") if name in item),
        unread={name: value for name, value in item.items() if name not in HEAD_ATTRIBUTES},
    )
    stored = {**item, **{name: item.get(place) for name, place in _STORED_AS.items()}}
    told = _implied(item, item["source_agent"]) | _converted(_READ, stored, TOLD)
    if "claim" in item:
        told["claim"] = claim_of(item)
    return trail.task_of(told, meta)


def _converted(forms: Convert, values: Item, rules: Mapping[str, FieldRule]) -> Item:
    """Returns those of the values that have a rule, each as its form says."""
    return {
        name: values[name] if (convert := forms.get(rule.form)) is None else convert(values[name])
        for name, rule in rules.items()
        if values.get(name) is not None
    }


def claim_of(head: Item) -> Claim:
    """Returns the claim of a claimed task, with the place of its mark in the queue."""
    claim = claim_from(head["claim"])
    return replace(claim, marked_at=keys.marked_at(head.get("queue_sk", ""), claim.claim_id))


# Attributes of the claim in HEAD: those with a field's value as it is, and those with its time.
_CLAIM_FIELDS = ("claim_id", "agent", "worker", "principal")
_CLAIM_TIMES = {"claimed_ms": "claimed_at", "heartbeat_ms": "heartbeat_at", "expires_ms": "expires_at"}


def claim_map(claim: Claim) -> Item:
    """Returns the claim as a map. ``renewable_from_ms`` is expiry minus lease: a renewal with the same lease at any
    later moment doesn't shorten it."""
    moments = {name: times.to_ms(getattr(claim, of)) for name, of in _CLAIM_TIMES.items()}
    lease_ms = claim.lease_seconds * 1_000
    numbers = {"fence": claim.fence, "lease_ms": lease_ms, "renewable_from_ms": moments["expires_ms"] - lease_ms}
    kept = {"slot": claim.slot, "kept_bytes": claim.kept_bytes or None}
    return {name: getattr(claim, name) for name in _CLAIM_FIELDS} | moments | numbers | _without_none(kept)


def claim_from(claim: Item) -> Claim:
    values: Item = {name: claim[name] for name in _CLAIM_FIELDS}
    values |= {of: times.from_ms(int(claim[name])) for name, of in _CLAIM_TIMES.items()}
    return Claim(
        **values,
        fence=int(claim["fence"]),
        lease_seconds=int(claim["lease_ms"]) // 1_000,
        slot=int(claim["slot"]) if "slot" in claim else None,
        kept_bytes=int(claim.get("kept_bytes", 0)),
    )


def payload_item(key: keys.Key, content: Any) -> Item:
    return {**key._asdict(), "content": canonical_json(content)}


def payload_from(item: Item | None) -> Any:
    return None if item is None else loads(item["content"])


def failure_item(task: Task, failure: dict[str, Any]) -> Item:
    """Returns the failure with the ``fence`` of the claim that failed, which tells the latest failure from an older
    one."""
    return {**payload_item(keys.task_item(task.workspace, task.id, keys.FAILURE), failure), "fence": task.fence}


def recovery_item(task: Task, recovery: Recovery) -> Item:
    return {**keys.recovery(task.workspace, task.id, recovery.number)._asdict(), **records.written(recovery)}


def recovery_from(item: Item) -> Recovery:
    return records.read(Recovery, item, last_checkpoint_id=item.get("last_checkpoint_id"))


def saved_response_item(key: keys.Key, saved_response: SavedResponse) -> Item:
    """Returns the saved response. The table deletes it some time after ``ttl``; until then readers check for themselves
    whether it has expired."""
    ttl = None if saved_response.forget_at is None else times.to_ms(saved_response.forget_at) // 1_000
    answer = canonical_json(saved_response.answer)
    return {**key._asdict(), "body_hash": saved_response.body_hash, "answer": answer, "ttl": ttl}


def saved_response_from(item: Item | None) -> SavedResponse | None:
    if item is None:
        return None
    forget_at = times.from_ms(int(item["ttl"]) * 1_000) if "ttl" in item else None
    return SavedResponse(item["body_hash"], loads(item["answer"]), forget_at)


def direction_from(workspace: str, source: str, target: str, item: Item | None) -> Direction:
    found = item or {}
    closed = found.get("closed", frozenset()) | found.get("ended", frozenset())
    entries = sorted((int(ms), task_id) for task_id, ms in found.get("escalations", {}).items())
    escalations = tuple(CountedEscalation(task_id, times.from_ms(ms), task_id in closed) for ms, task_id in entries)
    return Direction(
        workspace, source, target, escalations, review_id=found.get("review_id"), version=int(found.get("version", 0))
    )


def note_item(workspace: str, note: Note) -> Item:
    key = keys.Key(keys.notes(workspace, note.about), note.id)
    return {**key._asdict(), "at": times.rfc3339(note.at), "by": note.by, "content": canonical_json(note.content)}


def note_from(about: str, item: Item) -> Note:
    return records.read(Note, item, about=about, id=item["sk"])


def review_item(review: Review) -> Item:
    return {**keys.Key(keys.reviews(review.workspace), review.id)._asdict(), **records.written(review), "id": None}


def review_from(item: Item) -> Review:
    return records.read(Review, item, id=item["sk"], target_agent=item.get("target_agent"))


def agent_item(agent: Agent) -> Item:
    """Returns the agent without its key in the queue index, which only the latest version has."""
    values = {**records.written(agent), "limit_was_lowered": agent.limit_was_lowered or None}
    return {**keys.agent(agent.workspace, agent.slug)._asdict(), **values, "off_by": agent.off_by or None}


def agent_queued(agent: Agent) -> Item:
    return keys.place(keys.QUEUE_INDEX, keys.agent_index_key(agent.workspace, agent.slug))


def agent_from(item: Item) -> Agent:
    return records.read(Agent, item, root_handoffs_per_hour=int(item.get("root_handoffs_per_hour") or 0) or None)


def settings_item(workspace: str, settings: Settings) -> Item:
    values = records.written(settings)
    tracker = settings.tracker and canonical_json(settings.tracker.public())
    guardrails = canonical_json(settings.guardrails.public())
    holidays = sorted(map(str, settings.holidays))
    rules = canonical_json([each.public() for each in settings.approval_rules]) if settings.approval_rules else None
    groups = canonical_json(settings.groups) if settings.groups else None
    written: Item = {"holidays": holidays, "guardrails": guardrails, "tracker": tracker}
    written |= {"approval_rules": rules, "groups": groups}
    if settings.tracker and any(right != USUAL_TRACKER_RIGHT for right in settings.tracker.rights.values()):
        written[NUMBER] = LOWERED_RIGHTS
    return {**keys.settings(workspace)._asdict(), **values, **written}


def settings_from(item: Item | None) -> Settings:
    """Ignores settings that this version no longer knows; new ones get their defaults."""
    found = item or {}
    odd: Item = {"holidays": frozenset(map(date.fromisoformat, found.get("holidays", ())))}
    odd |= {"tracker": from_public(loads(found["tracker"]))} if "tracker" in found else {}
    odd |= {"guardrails": guardrails_from(loads(found["guardrails"]))} if "guardrails" in found else {}
    odd |= {"approval_rules": rules_from(loads(found["approval_rules"]))} if "approval_rules" in found else {}
    groups = loads(found["groups"]) if "groups" in found else {}
    odd["groups"] = {name: tuple(members) for name, members in groups.items()}
    return records.read(Settings, found, **odd)


def token_item(token: Token) -> Item:
    """A right below the usual one is written under a number of its own: the release before, which knows no rights,
    refuses such a token. Any other right follows from the scopes, as in that release."""
    lowered = token.right is not None and token.right != usual_right(token.scopes)
    right: Item = {"right": token.right, NUMBER: LOWERED_RIGHTS} if lowered else {"right": None}
    return {**keys.token(token.id)._asdict(), **records.written(token), **right}


def listed_token_item(token: Token) -> Item:
    """Returns the token for its workspace's listing, without the digest, which could help to guess the secret."""
    return {**token_item(token), **keys.Key(keys.tokens(token.workspace), token.id)._asdict(), "digest": ""}


def token_from(item: Item) -> Token:
    right = deciding(Right, item["right"]) if "right" in item else None
    return records.read(Token, item, kind=deciding(PrincipalKind, item["kind"]), right=right)


def _without_none(values: Item) -> Item:
    """Drops the values that are None: inside a map they would be stored."""
    return {name: value for name, value in values.items() if value is not None}


# What HEAD has for a form where it isn't the value itself, and how it is read back. A digest has 43 characters there in
# place of 64, as HEAD is paid for by the KB.
_WRITTEN: Convert = {
    **trail.WRITTEN,
    Form.TIME: times.to_ms,
    Form.DIGEST: lambda digest: base64.urlsafe_b64encode(bytes.fromhex(digest)).decode().rstrip("="),
    Form.CLAIM: claim_map,
    Form.WAIT: lambda wait: _without_none(trail.WRITTEN[Form.WAIT](wait)),
}
_READ: Convert = {
    **trail.READ,
    Form.NUMBER: int,
    Form.TIME: lambda ms: times.from_ms(int(ms)),
    Form.DIGEST: lambda text: base64.urlsafe_b64decode(f"{text}=").hex(),
    Form.RUNTIME: lambda text: member(Runtime, text),
    Form.CLAIM: claim_from,
}

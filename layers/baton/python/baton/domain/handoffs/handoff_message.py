"""The message of a handoff (docs/spec/protocol.md §1): read from a request once, and from the stored record once. It is
stored as it was sent, with the protocol's spelling: a field that Baton doesn't read is kept as it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import accumulate
from typing import Any, ClassVar, Self

from baton.domain import errors, times
from baton.domain.handoffs.handoff import MAX_MESSAGE_BYTES, fits_in, merged_context
from baton.domain.handoffs.loop_guard import Budget, Hop, hop
from baton.domain.one_line import one_line
from baton.domain.priority import PRIORITIES, Priority
from baton.domain.tasks.task import Task

MAX_TITLE = 200
# Of the labels that a list shows: they are in HEAD, which is paid for by the KB with each change.
MAX_LISTED_LABEL_BYTES = 256
# Characters of a text that are read to make a title.
_MAX_TITLE_SOURCE = 5_000
ACCEPTS, PRODUCES = "accepts:", "produces:"
DECISION = "decision"


def title_of(text: str, most: int = MAX_TITLE) -> str:
    """Returns the text's beginning as a title: one line of at most ``most`` characters."""
    line = one_line(text.strip()[:_MAX_TITLE_SOURCE]).strip()
    return line if len(line) <= most else line[: most - 1] + "…"


@dataclass(frozen=True, slots=True)
class MessagePart:
    """A part of the message. A subclass names the fields that Baton reads."""

    json: Mapping[str, Any] | None = None  # as it was sent; None if the message has no such part

    @property
    def fields(self) -> Mapping[str, Any]:
        return self.json or {}

    def having(self, **fields: Any) -> Self:
        """Returns the part with these fields added or replaced."""
        return replace(self, json={**self.fields, **fields})

    def without(self, *names: str) -> Self:
        return replace(self, json={name: value for name, value in self.fields.items() if name not in names})

    def _time(self, name: str) -> datetime | None:
        given = self.fields.get(name)
        return None if given is None else times.parse_rfc3339(given)


class _Text:
    """A text of a part under its own name; None if it was left out."""

    def __set_name__(self, _: type, name: str) -> None:
        self._name = name

    def __get__(self, part: MessagePart, _: type) -> str | None:
        text: str | None = part.fields.get(self._name)
        return text


@dataclass(frozen=True, slots=True)
class SourcePart(MessagePart):
    agent = _Text()  # a slug, name or alias, or a principal's name; None for the caller


@dataclass(frozen=True, slots=True)
class TargetPart(MessagePart):
    agent = _Text()  # a slug, name or alias; None for open work
    reason = _Text()


@dataclass(frozen=True, slots=True)
class ContextPart(MessagePart):
    @property
    def state(self) -> dict[str, Any]:
        """Empty if a conversation's context uses that name for something else."""
        state = self.fields.get("state")
        return state if isinstance(state, dict) else {}

    def merged_with(self, later: ContextPart) -> ContextPart:
        """Returns this context extended by a later one, which wins. Raises ``TooLarge``."""
        return ContextPart(merged_context(self.json, later.json))


@dataclass(frozen=True, slots=True)
class ExpectationsPart(MessagePart):
    TIMES: ClassVar = ("deadline", "fail_on_deadline")

    @property
    def deliverables(self) -> list[dict[str, Any]]:
        return list(self.fields.get("deliverables", ()))

    @property
    def criteria(self) -> tuple[str, ...]:
        """Every acceptance criterion of every deliverable, each once, in order."""
        return tuple(dict.fromkeys(text for each in self.deliverables for text in each.get("acceptance_criteria", ())))

    @property
    def deadline(self) -> datetime | None:
        return self._time("deadline")

    @property
    def fails_on_deadline(self) -> bool:
        return bool(self.fields.get("fail_on_deadline"))

    @property
    def times(self) -> ExpectationsPart:
        """The deadline alone."""
        return ExpectationsPart({name: self.fields[name] for name in self.TIMES if name in self.fields})


@dataclass(frozen=True, slots=True)
class RollbackPart(MessagePart):
    checkpoint_id = _Text()
    on_failure = _Text()  # the agent that a failure goes back to; None for none

    def back_to(self, default: str | None) -> str | None:
        """Returns the agent that a failure goes back to; ``default`` if the message doesn't say."""
        agent: str | None = self.fields.get("on_failure", default)
        return agent


@dataclass(frozen=True, slots=True)
class MetadataPart(MessagePart):
    effort = _Text()
    workflow_id = _Text()
    parent_handoff = _Text()

    @property
    def priority(self) -> Priority:
        given = self.fields.get("priority")
        return PRIORITIES[given] if given is not None else Priority.P2

    @property
    def not_before(self) -> datetime | None:
        return self._time("not_before")

    @property
    def labels(self) -> tuple[str, ...]:
        """Returns the labels that lists show: the first ones, as ``name=value``, while they take few bytes together."""
        pairs = [f"{name}={value}" if value else name for name, value in self.fields.get("labels", {}).items()]
        sizes = accumulate(len(each.encode()) for each in pairs)
        return tuple(each for each, size in zip(pairs, sizes, strict=True) if size <= MAX_LISTED_LABEL_BYTES)

    def with_default_priority(self, priority: Priority) -> MetadataPart:
        return MetadataPart({"priority": str(priority), **self.fields})


@dataclass(frozen=True, slots=True)
class BudgetPart(MessagePart):
    @property
    def limits(self) -> Budget:
        return Budget(**{**self.fields, "deadline": self._time("deadline")})


@dataclass(frozen=True, slots=True)
class InputPart(MessagePart):
    """A user's message, in a conversation."""

    message = _Text()


@dataclass(frozen=True, slots=True, kw_only=True)
class HandoffMessage:
    """The message that one agent hands to another. Every part may be missing: a transfer's message gets its source
    later, and the record of an escalation has none."""

    source: SourcePart = SourcePart()
    target: TargetPart = TargetPart()
    summary: str | None = None
    results: tuple[Any, ...] | None = None
    context: ContextPart = ContextPart()
    expectations: ExpectationsPart = ExpectationsPart()
    rollback: RollbackPart = RollbackPart()
    metadata: MetadataPart = MetadataPart()
    budget: BudgetPart = BudgetPart()
    input: InputPart = InputPart()
    # Every other field, as it is: the conversation, the handoff's origin, and the fields that Baton computes.
    more: Mapping[str, Any] = field(default_factory=dict)

    def plain(self) -> dict[str, Any]:
        """The inverse of ``message_from``."""
        parts = {name: getattr(self, name).json for name in _PARTS}
        texts = {"summary": self.summary, "results": None if self.results is None else list(self.results)}
        known = {name: parts[name] if name in parts else texts[name] for name in _ORDER}
        return {**{name: value for name, value in known.items() if value is not None}, **self.more}

    def having(self, **more: Any) -> HandoffMessage:
        """Returns the message with these other fields added or replaced."""
        return replace(self, more={**self.more, **more})

    def with_context(self, context: ContextPart) -> HandoffMessage:
        """Returns the message with the merged context, unless that is empty."""
        return replace(self, context=context) if context.fields else self

    @property
    def reason(self) -> str:
        return str(self.target.fields["reason"])

    @property
    def escalation_reason(self) -> str | None:
        reason: str | None = self.more.get("escalation_reason")
        return reason

    @property
    def is_escalation(self) -> bool:
        return "escalation_reason" in self.more

    @property
    def is_rollback(self) -> bool:
        """True for a rollback, and for the retry of one."""
        return "rolls_back" in self.more

    @property
    def failure(self) -> Any:
        """The failure that a rollback reports."""
        return self.more.get("failure")

    @property
    def title(self) -> str:
        """The summary, the user's message or the reason for the target: one line of at most ``MAX_TITLE``."""
        return title_of(self.summary or self.input.message or self.target.fields["reason"])

    @property
    def requires(self) -> tuple[str, ...]:
        """The capabilities that the target has to declare: every artifact's type among ``accepts``, every deliverable's
        among ``produces`` (docs/spec/protocol.md §2). A decision is information and needs none; a message with a user's
        input needs none either. Asked of a message before its context is merged with earlier ones."""
        if self.input.json is not None:
            return ()
        artifacts = self.context.fields.get("artifacts", ())
        accepted = [ACCEPTS + each["type"] for each in artifacts if each["type"] != DECISION]
        produced = [PRODUCES + each["type"] for each in self.expectations.deliverables]
        return tuple(dict.fromkeys([*accepted, *produced]))

    @property
    def fits(self) -> bool:
        """True if it isn't too large to store."""
        return fits_in(self.plain(), MAX_MESSAGE_BYTES)

    def must_be_ahead(self, now: datetime, at: str = "") -> None:
        """Raises ``InvalidInput`` if a deadline of the message has passed. ``at``: the message's field in the
        request."""
        for part, deadline in (
            ("expectations", self.expectations.deadline),
            ("budget", self.budget.limits.deadline),
        ):
            if deadline is not None and deadline <= now:
                raise errors.InvalidInput(".".join(filter(None, (at, part, "deadline"))), "must be in the future")

    def hops_to(self, task: Task) -> tuple[Hop, ...]:
        """Returns the hops from the root to the record's task, its own included. Claimed open work has its claim's
        agent as target."""
        hops = [Hop(source, target, reason) for source, target, reason in self.more.get("hops", ())]
        if not hops:
            hops = [hop(task.source_agent, task.target_agent, self.escalation_reason or "")]
        if hops[-1].target is None and task.claim is not None:
            hops[-1] = Hop(hops[-1].source, task.claim.agent, hops[-1].reason)
        return tuple(hops)


_PARTS: dict[str, type[MessagePart]] = {
    "source": SourcePart,
    "target": TargetPart,
    "context": ContextPart,
    "expectations": ExpectationsPart,
    "rollback": RollbackPart,
    "metadata": MetadataPart,
    "budget": BudgetPart,
    "input": InputPart,
}
# The protocol's order, in which guardrails look at the fields.
_ORDER = (
    "source",
    "target",
    "summary",
    "results",
    "context",
    "expectations",
    "rollback",
    "metadata",
    "budget",
    "input",
)


def message_from(plain: Mapping[str, Any] | None) -> HandoffMessage:
    """Returns the message of a request's or a record's JSON; an empty one for None."""
    given = dict(plain or {})
    known: dict[str, Any] = {}
    for name, part in _PARTS.items():
        if isinstance(given.get(name), dict):
            known[name] = part(given.pop(name))
    if isinstance(given.get("summary"), str):
        known["summary"] = given.pop("summary")
    if isinstance(given.get("results"), list | tuple):
        known["results"] = tuple(given.pop("results"))
    return HandoffMessage(**known, more=given)

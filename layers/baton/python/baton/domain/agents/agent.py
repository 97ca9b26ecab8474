"""Registered agents, and how they are found by name."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from baton.domain import errors, hidden, times
from baton.domain.access.principal import Principal, PrincipalKind
from baton.domain.access.rights import Deed
from baton.domain.look_alikes import is_in_ordinary_forms, look, mixes_alphabets

MAX_AGENTS = 500
MAX_NAME = 100
MOST_NAMED = 50  # by the refusal of an unknown agent
MAX_ALIASES = 20
MAX_TYPES = 50
MAX_DESCRIPTION = 2_000
MAX_CONCURRENT = 100
MAX_DISPATCH_RANK = 1_000
# A direction's roots of an hour are one item, whose size each of them costs: some 10 KB at most.
MAX_ROOT_HANDOFFS = 1_000
DEFAULT_RANK = 100
# Fields that a person approves with a handoff or a handoff tool to the agent, besides its run profile. Fields that only
# set when and how much the agent works aren't among them.
SEEN = ("name", "accepts", "produces", "runtime")
_NO_APPROVAL: dict[str, Any] = {"approval_given_by": None, "approval_given_at": None}
# The beginnings of principals' keys. A message may name a person by theirs.
KEYS = tuple(f"{kind}:" for kind in PrincipalKind)
# The match of an agent that declares nothing: it takes any work and fits none especially.
UNDECLARED_MATCH = 0.5


class Runtime(StrEnum):
    """Who runs the agent's tasks: a worker of its own, over the API (``pull``), or Baton's process-task (``run``)."""

    PULL = "pull"
    RUN = "run"


class Approval(StrEnum):
    MANUAL = "manual"
    AUTO = "auto"


class Requeue(StrEnum):
    """Where a lost task goes: back where it came from (``same``), or to a human (``needs``)."""

    SAME = "same"
    NEEDS = "needs"


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """A registered agent."""

    workspace: str
    slug: str
    name: str
    aliases: tuple[str, ...] = ()
    description: str = ""
    accepts: tuple[str, ...] = ()
    produces: tuple[str, ...] = ()
    runtime: Runtime = Runtime.PULL
    approval: Approval = Approval.MANUAL
    requeue: Requeue = Requeue.SAME
    max_concurrent: int | None = None  # claims that it may hold at once; None for no limit
    # True from when the limit was lowered, or first set: claims from before may be without a slot below it.
    limit_was_lowered: bool = False
    # Workflows that it may begin in one direction in an hour; None for the workspace's number.
    root_handoffs_per_hour: int | None = None
    dispatch_rank: int = DEFAULT_RANK  # lower gets its dispatch notices first
    active: bool = True
    version: int = 0
    created_at: datetime
    updated_at: datetime
    updated_by: str
    # The last version by a service, or by a person who may not approve, that registered the agent, or changed a field
    # of ``SEEN`` or the run profile; 0 if there is none. The editor. All fields that such editors have changed.
    service_version: int = 0
    service_by: str = ""
    service_fields: tuple[str, ...] = ()
    # The version of the roster with that change; 0 if there is none.
    service_roster: int = 0
    # The giver and the time of the standing approval. None: an earlier release stored neither, and its last editor
    # counts.
    approval_given_by: str | None = None
    approval_given_at: datetime | None = None
    off_by: str = ""  # who switched it off; empty for one that is on, and for one of an earlier release

    @property
    def is_run(self) -> bool:
        return self.runtime is Runtime.RUN

    @property
    def has_standing_approval(self) -> bool:
        return self.approval is Approval.AUTO

    @property
    def approval_giver(self) -> str:
        """The key of the human who gave the standing approval; empty without one."""
        given_by = self.updated_by if self.approval_given_by is None else self.approval_given_by
        return given_by if self.has_standing_approval else ""

    @property
    def standing(self) -> dict[str, Any] | None:
        """The standing approval in the event's shape (invariant 8); None without one."""
        if not self.has_standing_approval:
            return None
        return standing_of("agent", self.slug, self.version, self.approval_giver, self.approval_given_at)

    def changed_since(self, version: int, others: Mapping[str, int] | None = None, **about: str) -> errors.AgentChanged:
        """Returns the refusal for a human who knows the agent as in ``version``, and no later one. ``others``: for open
        work, the versions of its agents that they named. ``about``: its field for the task or the manual review."""
        change = (self.service_by, self.service_fields) if version < self.service_version else None
        versions = None if others is None else {**others, self.slug: self.version}
        return errors.AgentChanged(self.slug, self.version, change, about, versions)

    def is_as_in(self, roster_version: int) -> bool:
        """True if approvers see the agent as in this version of the roster, or as approvers have changed it since.
        0: an unknown version. Times aren't compared, as clocks of processes differ."""
        return self.service_roster <= roster_version

    @property
    def names(self) -> frozenset[str]:
        return frozenset({self.slug, self.name, *self.aliases})

    @property
    def offers(self) -> frozenset[str]:
        """Its capabilities as ``accepts:<type>`` and ``produces:<type>``, the spelling of a task's requirements."""
        return frozenset(requirements(self.accepts, self.produces))

    def lacks(self, requires: Iterable[str]) -> tuple[str, ...]:
        """Returns the requirements that it doesn't declare. An agent that declares neither accepts nor produces takes
        anything (docs/spec/protocol.md §2); one that declares only one of the two lacks everything of the other."""
        return lacking(self.offers, requires)

    def match(self, requires: Iterable[str]) -> float:
        """Returns the share of ``requires`` that it declares, 0 to 1; 1 if nothing is required."""
        required, offers = frozenset(map(canonical, requires)), self.offers
        if not required:
            return 1.0
        return len(required & offers) / len(required) if offers else UNDECLARED_MATCH

    def must_be_active(self) -> Agent:
        if not self.active:
            raise errors.InactiveAgent(self.slug)
        return self

    def changed(self, by: Principal, at: datetime, of_profile: Iterable[str] = (), **values: Any) -> Agent:
        """Returns the next version. ``of_profile``: the fields of its run profile that change with it. A standing
        approval covers the agent as its giver saw it (invariant 8). A change by a service, or by a person who may give
        none, ends it; so does another person's change of ``SEEN`` or the profile, unless that request gives it again.
        An agent that such an editor registers counts as changed in all that approvers see.

        Raises:
            HumanNeeded: for a service that gives one, or that switches on an agent that a human switched off.
            RightNeeded: for a person who gives one without the right.
        """
        if not by.is_human:
            if values.get("approval") is Approval.AUTO:
                raise errors.HumanNeeded("give a standing approval (approval: auto)")
            if values.get("root_handoffs_per_hour", self.root_handoffs_per_hour) != self.root_handoffs_per_hour:
                raise errors.HumanNeeded("say how many workflows an agent may begin (root_handoffs_per_hour)")
            values["approval"] = Approval.MANUAL
            self._must_be_theirs_to_switch_on(values.get("active", self.active))
        after = replace(self, **values, version=self.version + 1, updated_at=at, updated_by=by.key)
        after = replace(
            after,
            limit_was_lowered=_was_lowered(self, after),
            off_by=self._off_by(by, values),
            name=canonical(after.name),
            aliases=distinct(after.aliases),
            accepts=distinct(after.accepts),
            produces=distinct(after.produces),
        )
        fields = (*(name for name in SEEN if _comparable(after, name) != _comparable(self, name)), *of_profile)
        after = replace(after, **self._approval_after(after, by, at, bool(fields), "approval" in values))
        if by.may_do(Deed.GIVE_STANDING_APPROVAL):
            return after
        if self.version == 0:
            # Approvers have seen no field of an agent that is new, whichever its editor names.
            fields = tuple(dict.fromkeys((*SEEN, *fields)))
        if not fields:
            return after
        # The list only grows, so a second change doesn't hide the one before it.
        fields = tuple(dict.fromkeys((*self.service_fields, *fields)))
        return replace(after, service_version=after.version, service_by=by.key, service_fields=fields)

    def _approval_after(
        self, after: Agent, by: Principal, at: datetime, is_other: bool, is_given: bool
    ) -> dict[str, Any]:
        """``is_other``: a standing approval covers the changed fields. ``is_given``: the request states the
        approval."""
        if not after.has_standing_approval:
            return _NO_APPROVAL
        if not self.has_standing_approval:
            by.must_have(Deed.GIVE_STANDING_APPROVAL)
            return {"approval_given_by": by.key, "approval_given_at": at}
        is_own = by.key == self.approval_giver
        if not by.may_do(Deed.GIVE_STANDING_APPROVAL) or (is_other and not is_own and not is_given):
            return {"approval": Approval.MANUAL, **_NO_APPROVAL}
        if is_other:
            return {"approval_given_by": by.key, "approval_given_at": at}
        return {"approval_given_by": self.approval_giver, "approval_given_at": self.approval_given_at}

    def _must_be_theirs_to_switch_on(self, active: bool) -> None:
        if active and not self.active and not self.off_by.startswith(f"{PrincipalKind.SERVICE}:"):
            raise errors.HumanNeeded("switch on an agent that a human switched off")

    def _off_by(self, by: Principal, values: Mapping[str, Any]) -> str:
        """Returns who holds the agent off. A human who switches it off does so even if somebody else has before."""
        if values.get("active", self.active):
            return ""
        return by.key if self.active or (by.is_human and "active" in values) else self.off_by


def _was_lowered(before: Agent, after: Agent) -> bool:
    """A limit that was removed and set again is one that was first set."""
    if after.max_concurrent is None or before.version == 0:
        return False
    return before.limit_was_lowered or after.max_concurrent < (before.max_concurrent or MAX_CONCURRENT + 1)


def _comparable(agent: Agent, name: str) -> Any:
    """Returns a field's value for a comparison: the order of types has no meaning."""
    value = getattr(agent, name)
    return frozenset(value) if isinstance(value, tuple) else value


def standing_of(kind: str, name: str, version: int, given_by: str, given_at: datetime | None) -> dict[str, Any]:
    """Returns a standing approval in the event's shape. An approval of an earlier release has no date."""
    at = {} if given_at is None else {"given_at": times.rfc3339(given_at)}
    return {kind: name, "version": version, "given_by": given_by, **at}


def service_version_of(target: Agent | None) -> int:
    """Returns the version of the last change, by a service or a member, of the agent's fields that approvers see; 0
    without an agent, as for open work."""
    return 0 if target is None else target.service_version


def roster_of(agents: Iterable[Agent], version: int) -> Roster:
    """Returns the roster as it was read. For a change by a service or a member, an earlier release stored no version of
    the roster: the change counts as made in this version, so that no earlier approval counts for the agent."""
    return Roster(
        tuple(replace(each, service_roster=version) if _is_undated(each) else each for each in agents), version
    )


def _is_undated(agent: Agent) -> bool:
    return agent.service_version > 0 and agent.service_roster == 0


def unregistered(slug: str, by: Principal, at: datetime) -> Agent:
    """Returns the blank agent that a first registration fills in."""
    return Agent(workspace=by.workspace, slug=slug, name=slug, created_at=at, updated_at=at, updated_by=by.key)


def requirements(accepts: Iterable[str], produces: Iterable[str]) -> tuple[str, ...]:
    """Returns ``accepts:<type>`` and ``produces:<type>`` for each type, in the form in which names are compared."""
    return (*(f"accepts:{each}" for each in distinct(accepts)), *(f"produces:{each}" for each in distinct(produces)))


def distinct(names: Iterable[str]) -> tuple[str, ...]:
    """Returns each name once, in the form in which names are compared."""
    return tuple(dict.fromkeys(map(canonical, names)))


def lacking(offers: frozenset[str], requires: Iterable[str]) -> tuple[str, ...]:
    """Returns the requirements that aren't among ``offers``. Empty ``offers`` mean that anything is accepted."""
    return tuple(each for each in dict.fromkeys(requires) if canonical(each) not in offers) if offers else ()


def canonical(name: str) -> str:
    """Returns the form in which names are compared: Unicode NFC, trimmed (docs/spec/marker.md §1)."""
    return unicodedata.normalize("NFC", name).strip()


@dataclass(frozen=True, slots=True)
class Roster:
    """All agents of a workspace."""

    agents: tuple[Agent, ...] = ()
    version: int = 0  # rises with every change of any agent, so that concurrent changes can't give one name twice

    def __iter__(self) -> Iterator[Agent]:
        return iter(self.agents)

    def get(self, slug: str) -> Agent:
        """Returns the agent, active or not. Raises ``Unknown``."""
        agent = self.find(slug)
        if agent is None:
            raise errors.Unknown("agent")
        return agent

    def find(self, slug: str) -> Agent | None:
        """Returns the agent, active or not."""
        return next((agent for agent in self.agents if agent.slug == slug), None)

    def some_active(self) -> list[str]:
        """Returns the slugs of active agents, for a refusal that names them: the first ``MOST_NAMED``."""
        return sorted(agent.slug for agent in self.agents if agent.active)[:MOST_NAMED]

    def active_named(self, name: str) -> Agent | None:
        """Returns the active agent with this slug, name or alias, None if there is none."""
        compared = canonical(name)
        return next((agent for agent in self.agents if agent.active and compared in agent.names), None)

    def able(self, requires: Iterable[str], besides: str | None = None) -> tuple[Agent, ...]:
        """Returns the active agents, except ``besides``, that lack none of the requirements: agents that declare them
        before agents that take anything, then by slug."""
        required = tuple(requires)
        found = [each for each in self.agents if each.active and each.slug != besides and not each.lacks(required)]
        return tuple(sorted(found, key=lambda each: (-each.match(required), each.slug)))

    def valid_names(self) -> str:
        """Returns the names of the active agents, sorted, for the messages of docs/spec/marker.md §1."""
        return ", ".join(sorted(agent.name for agent in self.agents if agent.active))

    def stamped(self, agent: Agent) -> Agent:
        """Returns the agent's next version as it is saved. A change by a service or a member gets the roster's next
        version."""
        is_theirs = agent.service_version == agent.version
        return replace(agent, service_roster=self.version + 1) if is_theirs else agent

    def saved(self, agent: Agent) -> Roster:
        """Returns the roster after ``agent`` was saved."""
        others = [other for other in self.agents if other.slug != agent.slug]
        return Roster(tuple(sorted([*others, agent], key=lambda each: each.slug)), self.version + 1)

    def must_have_room(self, newcomers: int) -> None:
        """Raises ``LimitReached`` if ``newcomers`` more agents exceed ``MAX_AGENTS``."""
        if newcomers and len(self.agents) + newcomers > MAX_AGENTS:
            raise errors.LimitReached("agents", MAX_AGENTS)

    def must_not_clash(self, agent: Agent) -> None:
        """Raises ``NameTaken`` if another agent has one of this agent's new names, or a name that looks like it."""
        before = self.find(agent.slug)
        names = {look(name): name for name in sorted(agent.names - (before.names if before else frozenset()))}
        for other in self.agents:
            taken = {look(name): name for name in sorted(other.names)}
            if other.slug != agent.slug and (shared := names.keys() & taken.keys()):
                raise errors.NameTaken(names[min(shared)], other.slug, taken[min(shared)])


def check_agent(values: Mapping[str, Any]) -> None:
    """Raises ``InvalidInput`` for the first of the given fields that is out of bounds."""
    for field, most in (("aliases", MAX_ALIASES), ("accepts", MAX_TYPES), ("produces", MAX_TYPES)):
        check_names(field, values.get(field, ()), most)
    if "name" in values:
        check_names("name", (values["name"],), 1)
    if values.get("max_concurrent") is not None and not 1 <= values["max_concurrent"] <= MAX_CONCURRENT:
        raise errors.InvalidInput("max_concurrent", f"must be from 1 to {MAX_CONCURRENT}, or null for no limit")
    if (
        values.get("root_handoffs_per_hour") is not None
        and not 1 <= values["root_handoffs_per_hour"] <= MAX_ROOT_HANDOFFS
    ):
        message = f"must be from 1 to {MAX_ROOT_HANDOFFS}, or null for the workspace's number"
        raise errors.InvalidInput("root_handoffs_per_hour", message)
    if not 0 <= values.get("dispatch_rank", DEFAULT_RANK) <= MAX_DISPATCH_RANK:
        raise errors.InvalidInput("dispatch_rank", f"must be from 0 to {MAX_DISPATCH_RANK}")


def check_names(field: str, values: tuple[str, ...], most: int) -> None:
    """Raises ``InvalidInput`` unless there are at most ``most`` values of 1-100 printable characters each."""
    if len(values) > most:
        raise errors.InvalidInput(field, f"must have at most {most} entries")
    for value in values:
        name = canonical(value)
        if not 1 <= len(name) <= MAX_NAME or not name.isprintable():
            raise errors.InvalidInput(field, f"must be 1 to {MAX_NAME} printable characters")
        if field in {"name", "aliases"} and (hidden.HIDDEN.search(name) or mixes_alphabets(name)):
            message = "must be readable: without hidden characters, and each word in letters of one alphabet"
            raise errors.InvalidInput(field, message)
        if field in {"name", "aliases"} and not is_in_ordinary_forms(name):
            plain = unicodedata.normalize("NFKC", name)
            raise errors.InvalidInput(field, f"must be in ordinary characters, as in {plain!r}")
        if field in {"name", "aliases"} and name.casefold().startswith(KEYS):
            raise errors.InvalidInput(field, f"must not look like a principal, as {name!r} does: choose another name")
        if "," in name:
            raise errors.InvalidInput(field, "must not contain a comma: names are listed with commas between them")

"""Which approval rules of the settings fit a piece of work (docs/spec/questions.md §6). Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace

from baton.domain import errors
from baton.domain.agents.agent import Agent, Roster
from baton.domain.look_alikes import look
from baton.domain.settings.approval_rule import ApprovalRule

# A work type of a rule is a slug; an agent may spell a type that it accepts with these instead of a hyphen.
_SEPARATORS = re.compile(r"[\s_-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """The facts that approval rules compare. ``sources``: the agents that hand the work off; None fits
    every rule's source. ``doer``: the agent that
    does it, as its target or its claimer; None for open work before a claim. ``work_types``: the types that its request
    names. ``tool``: the tool of an action; None for a handoff. ``roster``: resolves other names of agents."""

    sources: frozenset[str] | None
    doer: str | None
    work_types: frozenset[str] = frozenset()
    tool: str | None = None
    roster: Roster = field(default_factory=Roster)

    @property
    def agent(self) -> Agent | None:
        return None if self.doer is None else self.roster.find(self.doer)


def fitting(rules: Iterable[ApprovalRule], work: Work) -> tuple[ApprovalRule, ...]:
    """Returns all rules that fit the work, in their order."""
    return tuple(rule for rule in rules if _fits(rule, work))


def folded(name: str) -> str:
    """Returns the form of a name that rules compare. It ignores case, surrounding space, hidden characters, the kind of
    separator, separators at the ends, and differences that readers don't see: no other spelling of a name escapes a
    rule."""
    # A capital I looks like a small l: both become l, in any case.
    return _SEPARATORS.sub("-", look(look(name).casefold()).replace("i", "l")).strip("-")


def _fits(rule: ApprovalRule, work: Work) -> bool:
    return (
        _is_of_tool(rule.tool, work.tool)
        and _is_of_source(rule.source, work)
        and (rule.target is None or (work.doer is not None and _is_named(rule.target, work.doer, work.roster)))
        and (rule.work_type is None or _has_type(work, rule.work_type))
    )


def _is_of_source(wanted: str | None, work: Work) -> bool:
    if wanted is None or work.sources is None:
        return True
    return any(_is_named(wanted, each, work.roster) for each in work.sources)


def _is_of_tool(wanted: str | None, tool: str | None) -> bool:
    if wanted is None or tool is None:
        return wanted is tool
    return folded(wanted) == folded(tool)


def _is_named(name: str, slug: str, roster: Roster) -> bool:
    agent = roster.find(slug)
    return folded(name) in {folded(slug), *(map(folded, agent.names) if agent else ())}


def _has_type(work: Work, work_type: str) -> bool:
    """True if the request names the type, or the agent accepts it: no other type, and none, takes an agent's work out
    of a rule about a type that it accepts. An agent that declares nothing accepts every type (docs/spec/protocol.md
    §2)."""
    if folded(work_type) in map(folded, work.work_types):
        return True
    return work.agent is not None and _accepts(work.agent, work_type)


def _accepts(agent: Agent, work_type: str) -> bool:
    return not agent.offers or folded(work_type) in map(folded, agent.accepts)


def takes_out(rules: Iterable[ApprovalRule], before: Agent, after: Agent) -> bool:
    """True if an edit of an agent takes it out of a rule: by a name that the rule has, or by a type of work that the
    agent accepted."""
    return before.version > 0 and any(_places(rule, before) - _places(rule, after) for rule in rules)


def puts_in(rules: Iterable[ApprovalRule], before: Agent, after: Agent) -> bool:
    """True if an edit of an agent puts it under a rule, which then holds back its approved work."""
    return before.version > 0 and takes_out(rules, after, before)


def _places(rule: ApprovalRule, agent: Agent) -> frozenset[str]:
    """Returns the places of the rule that the agent can fill."""
    roster = Roster((agent,))
    is_target = rule.target is None or _is_named(rule.target, agent.slug, roster)
    places = {
        "source": rule.source is not None and _is_named(rule.source, agent.slug, roster),
        "doer": is_target and (rule.work_type is None or _accepts(agent, rule.work_type)),
    }
    return frozenset(place for place, is_filled in places.items() if is_filled)


def with_slugs(
    rules: Iterable[ApprovalRule], roster: Roster, known: Collection[ApprovalRule] = ()
) -> tuple[ApprovalRule, ...]:
    """Returns the rules with the slugs of the agents that they name, so that no edit of a name moves them.

    Args:
        known: rules that were stored before. A name in them that no agent has, or several have, stays.

    Raises:
        InvalidInput: for such a name in another rule.
    """
    return tuple(_with_slugs(rule, roster, number, rule in known) for number, rule in enumerate(rules))


def _with_slugs(rule: ApprovalRule, roster: Roster, number: int, is_known: bool) -> ApprovalRule:
    def slug(name: str | None, field: str) -> str | None:
        if name is None or roster.find(name):
            return name
        found = [each.slug for each in roster if _is_named(name, each.slug, roster)]
        if len(found) == 1:
            return found[0]
        if is_known:
            return name
        raise errors.InvalidInput(f"approval_rules.{number}.{field}", _remedy(name, found))

    return replace(rule, source=slug(rule.source, "source"), target=slug(rule.target, "target"))


def _remedy(name: str, slugs: list[str]) -> str:
    if slugs:
        return f"is a name of several agents: send the slug of one of them ({', '.join(slugs)})"
    return f"is no agent of the workspace: correct the name, or register the agent first with PUT /agents/{name}"

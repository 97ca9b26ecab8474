"""Which agents the rules about handoffs hold back from ready work. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta

from baton.domain import times
from baton.domain.agents.agent import Agent, Roster
from baton.domain.agents.rule_fit import Work, fitting
from baton.domain.lru_cache import LruCache
from baton.domain.questions.approval import ReadyApproval, approvers_of
from baton.domain.questions.approvers import Approvers
from baton.domain.settings.approval_rule import ApprovalRule
from baton.domain.settings.settings import Settings

# Combinations of sources, agent and work type in one object's cache of rules.
MAX_KEPT = 5_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """Ready work, as rules see it at a claim. ``source``: the agent that handed it off; ``above``: the agents further
    up in its chain, None if unknown. ``target``: None for open work. ``needs``: its needs since it was made. ``given``:
    its approvals that stand. ``is_sent_back``: the claim itself finds out that the agent has changed since.
    ``authors``: keys of the principals that made it. ``waited``: the approvers with a next group that may approve it,
    too, each with the time that it had waited for the first ones; None if unknown."""

    source: str
    target: str | None
    work_type: str | None
    above: frozenset[str] | None = frozenset()
    requires: tuple[str, ...] = ()
    needs: tuple[Approvers, ...] = ()
    given: tuple[ReadyApproval, ...] = ()
    is_sent_back: bool = False
    authors: tuple[str, ...] = ()
    waited: Mapping[Approvers, timedelta] | None = field(default_factory=dict)

    @property
    def sources(self) -> frozenset[str] | None:
        return None if self.above is None else self.above | {self.source}


class Guards:
    """The rules about handoffs in one version of a workspace's agents and settings. An object keeps its comparisons, so
    that a long queue costs one comparison for each kind of work."""

    def __init__(self, roster: Roster, settings: Settings, version: int = 0) -> None:
        """``version``: rises with every change of the workspace's agents and settings."""
        self.roster, self.groups, self.version = roster, settings.groups, version
        self._rules = tuple(rule for rule in settings.approval_rules if rule.tool is None)
        self.chains: LruCache[str, frozenset[str]] = LruCache(MAX_KEPT)  # the agents above a task, by its id
        self._kept: LruCache[tuple[frozenset[str] | None, str | None, frozenset[str]], tuple[ApprovalRule, ...]]
        self._kept = LruCache(MAX_KEPT)
        self._refused: LruCache[tuple[str, str, tuple[ReadyApproval, ...]], bool] = LruCache(MAX_KEPT)

    @property
    def are_none(self) -> bool:
        return not self._rules

    @property
    def have_sources(self) -> bool:
        """True if a rule compares the agents that hand work off."""
        return any(rule.source is not None for rule in self._rules)

    def rules(
        self, sources: frozenset[str] | None, doer: str | None, work_types: frozenset[str]
    ) -> tuple[ApprovalRule, ...]:
        """Returns every rule that fits the work. ``doer``: its target or its claimer."""
        place = (sources, doer, work_types)
        found = self._kept.get(place)
        if found is None:
            work = Work(sources=sources, doer=doer, work_types=work_types, roster=self.roster)
            found = fitting(self._rules, work)
            self._kept.keep(place, found)
        return found

    def asked(self, offer: Offer, doer: str) -> tuple[Approvers, ...]:
        """Returns the approvers that the rules, and the work itself, ask for before ``doer`` may claim it."""
        types = frozenset({offer.work_type} if offer.work_type else ())
        rules = self.rules(offer.sources, doer, types)
        found = (replace(approvers_of(each, authors=offer.authors), wider=_let_in(each, offer)) for each in rules)
        return tuple(dict.fromkeys((*found, *offer.needs)))

    def unmet(self, offer: Offer, doer: str) -> tuple[Approvers, ...]:
        """Returns the approvers from ``asked`` with too few approvals, by the groups as they are now."""
        givers = self.givers(offer, doer)
        return tuple(each for each in self.asked(offer, doer) if not each.is_met(givers, self.groups))

    def givers(self, offer: Offer, doer: str) -> tuple[str, ...]:
        """Returns the names of the humans who approved the work for the agent as it is: none who approved before a
        service or a member last changed the fields of it that approvers see (docs/spec/lifecycle.md §3)."""
        agent = None if offer.is_sent_back else self.roster.find(doer)
        return tuple(each.by for each in offer.given if agent is None or agent.is_as_in(each.roster))

    def held(self, offer: Offer) -> Mapping[str, tuple[Approvers, ...]]:
        """Returns the agents that would take the work and are held back from it, each with the approvers that lack."""
        found = ((slug, self.unmet(offer, slug)) for slug in self._takers(offer))
        return {slug: unmet for slug, unmet in found if unmet}

    def changed(self, offer: Offer, approver: str, since: int) -> tuple[Agent, ...]:
        """Returns the agents that a service or a member has changed since, if the approver's approval of the open work
        counts for them. Inactive agents are among them: a member may switch them on. ``since``: a version of the
        roster."""
        others = (each for each in self.roster if each.slug != offer.source and not each.is_as_in(since))
        able = (each for each in others if not each.lacks(offer.requires))
        return tuple(
            each for each in able if any(of.counts(approver, self.groups) for of in self.asked(offer, each.slug))
        )

    def guarded(self) -> tuple[str, ...]:
        """Returns the agents that a rule may guard, for any source and type of work."""
        return tuple(each.slug for each in self.roster if self.rules(None, each.slug, frozenset()))

    def refuse(self, doer: str, task_id: str, given: tuple[ReadyApproval, ...]) -> None:
        """Remembers that rules hold the task back from the agent. Nothing but another approval, other rules, groups or
        agents changes that."""
        self._refused.keep((doer, task_id, given), True)

    def have_refused(self, doer: str, task_id: str, given: tuple[ReadyApproval, ...]) -> bool:
        return self._refused.get((doer, task_id, given)) is not None

    def _takers(self, offer: Offer) -> tuple[str, ...]:
        if offer.target is not None:
            return (offer.target,)
        able = (each for each in self.roster if each.active and not each.lacks(offer.requires))
        return tuple(each.slug for each in able if each.slug != offer.source)


def _let_in(rule: ApprovalRule, offer: Offer) -> str | None:
    """Returns the rule's next group if the work has waited for it: for the same approvers, and for long enough."""
    return rule.then_group if offer.waited is None or _is_due(rule, offer.waited) else None


def _is_due(rule: ApprovalRule, waited: Mapping[Approvers, timedelta]) -> bool:
    so_long = waited.get(replace(approvers_of(rule), wider=rule.then_group))
    return so_long is not None and so_long >= times.seconds(rule.then_after_seconds or 0)

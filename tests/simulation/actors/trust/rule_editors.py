"""People who change rules and groups: some may, others are bound by the rules."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from baton.domain.access.workspace_change import WorkspaceChange
from baton.domain.settings.approval_rule import rules_from
from baton.services.access.change_settings import change_settings
from baton.services.access.decide_change import approve_change, refuse_change, withdraw_change
from baton.services.access.list_changes import find_change
from baton.services.agents.register_agent import register_agent
from simulation.actors.people import (
    ACCEPTED,
    GROUP,
    GROUPS,
    GUARDED_TYPE,
    GUARDS,
    OTHERS,
    PEOPLE,
    SERVICE,
    human,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from baton.domain.access.principal import Principal
    from simulation.actors.actor_context import ActorContext

EDITORS = ("mem", "rea", "h0", "bob", *["boss"] * 3, "chef", *["alice"] * 4)
APPROVING = 3  # of the ways to decide, the first ones
DECIDERS = ("alice", "alice", "boss", "boss", "chef", "chef", "h0", "mem")


class RuleEditor:
    """Leaves a rule by removing it, or by joining its group, and puts it back."""

    def __init__(self, context: ActorContext) -> None:
        self._context, self._sim, self._draw = context, context.sim, context.draw
        self._known = context.sim.oracle.changes.items

    def act(self) -> None:
        while not self._sim.is_stopping:
            self._context.rest(90)
            name = self._sim.pick(EDITORS)
            ways = [self._join, self._no_rules, self._rules, self._rules, self._weaker, self._weaker, self._other]
            values = self._sim.pick(ways)(name)
            if not self._draw(4):  # another person changes them at the same moment
                self._sim.spawn("rules too", self._change_rules)
            self._change(name, values)

    def edit_agents(self) -> None:
        """An actor of its own: takes agents out of rules by their ``accepts``, and puts them back."""
        while not self._sim.is_stopping:
            self._context.rest(10)
            name, slug = self._sim.pick([*EDITORS, ""]), self._sim.pick([*ACCEPTED, "a"])
            accepts = self._sim.pick([("audit",), ("audit",), (), (GUARDED_TYPE, "audit")])
            if not self._draw(4):  # another person changes the rules at the same moment
                self._sim.spawn("rules too", self._change_rules)
            self._edit(self._by(name) if name else SERVICE, slug, accepts)

    def _edit(self, by: Principal, slug: str, accepts: tuple[str, ...]) -> None:
        deps = self._sim.deps
        self._context.ask(
            "agent",
            by,
            lambda _once: register_agent(deps, by, slug, {"accepts": accepts}),
            is_keyed=False,
            most_effects=2,
        )

    def decide(self) -> None:
        """An actor of its own: decides on changes that others have asked for."""
        while not self._sim.is_stopping:
            self._context.rest(20)
            self._decide()

    def _change_rules(self) -> None:
        name = self._sim.pick(EDITORS)
        self._change(name, self._rules(name))

    def _join(self, name: str) -> dict[str, Any]:
        return {"groups": {GROUP: (*PEOPLE[:2], name), OTHERS: PEOPLE}}

    def _no_rules(self, _: str) -> dict[str, Any]:
        return {"approval_rules": ()}

    def _weaker(self, _: str) -> dict[str, Any]:
        """One rule of those there are, with one thing less, or with one thing more."""
        rules = list(rules_from(self._sim.oracle.voters.rules_now()))
        if not rules:
            return self._no_rules(_)
        at = self._draw(len(rules))
        less = {"needed": max(1, rules[at].needed - 1)} if self._draw(2) else {"not_author": not rules[at].not_author}
        rules[at] = replace(rules[at], **less)
        return {"approval_rules": tuple(rules)}

    def _rules(self, _: str) -> dict[str, Any]:
        return self._sim.pick([{"approval_rules": self._sim.pick(GUARDS)}, {"groups": self._sim.pick(GROUPS)}])

    def _other(self, _: str) -> dict[str, Any]:
        return {"waiting_alert_seconds": self._sim.pick([3_600, 7_200])}

    def _decide(self) -> None:
        """Decides on a pending change, mostly by another administrator. Otherwise by its asker, by a person who may
        not, by two people concurrently, or with the digest of another content."""
        sim, waiting = self._sim, [each for each, new in self._known.items() if new["state"] in ("pending", "approved")]
        if not waiting:
            return
        change = self._context.look(lambda: find_change(sim.deps, human(), sim.pick(waiting[-3:])))
        if isinstance(change, WorkspaceChange):
            for _ in range(1 + self._draw(5) // 4):
                sim.spawn("decide on a change", partial(self._decide_on, change))
            self._decide_on(change)

    def _decide_on(self, change: WorkspaceChange) -> None:
        sim, by = self._sim, self._by(self._sim.pick(DECIDERS))
        digest = change.digest if self._draw(8) else "0" * 64
        if not self._draw(8):
            by = self._by(change.by.removeprefix("human:"))
        ways: list[Callable[[], object]] = [
            lambda: approve_change(sim.deps, by, change.id, digest),
            lambda: approve_change(sim.deps, by, change.id, digest),
            lambda: approve_change(sim.deps, by, change.id, digest),
            lambda: refuse_change(sim.deps, by, change.id),
            lambda: withdraw_change(sim.deps, by, change.id),
        ]
        which = self._draw(len(ways))

        def send(_once: object) -> object:
            request = sim.current.process.request
            assert request
            request.is_blind = which < APPROVING and digest != change.digest
            return ways[which]()

        self._context.ask("decide", by, send, is_keyed=False, most_effects=2)

    def _by(self, name: str) -> Principal:
        return self._context.person(name) if name in self._sim.staff.tokens and name != "alice" else human()

    def _change(self, name: str, values: dict[str, Any]) -> None:
        sim, by = self._sim, self._by(name)
        self._context.ask(
            "settings", by, lambda _once: change_settings(sim.deps, by, values), is_keyed=False, most_effects=2
        )

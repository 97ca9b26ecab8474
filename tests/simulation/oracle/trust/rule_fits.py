"""Which approval rules fit a handoff or an action, by the specification alone: by its source, by the agent that does
it, and by its type. Work that is made of other work inherits its rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from simulation.oracle.ledger import Item, Ledger
    from simulation.oracle.voters import Voters
    from simulation.simulation import Simulation


def authors_of(head: Item) -> set[str]:
    """The keys of all who count as the task's authors."""
    return {head["created_by"], *head.get("co_authors", ())}


class RuleFits:
    def __init__(self, sim: Simulation, ledger: Ledger, voters: Voters) -> None:
        self._sim, self._ledger, self._voters = sim, ledger, voters
        # By task: the rules that surely were in force when it was made.
        self._made_under: dict[str, list[Item]] = {}

    def surely_in_force(self, tool: str | None = None) -> list[Item]:
        """Of handoffs, or of a tool's actions; in every version of the settings that the present process may have
        read."""
        first, *others = self._voters.rules_seen() or [[]]
        return [rule for rule in first if rule.get("tool") == tool and all(rule in each for each in others)]

    def may_have_tool_rules(self) -> bool:
        return any(rule.get("tool") for rules in self._voters.rules_seen() for rule in rules)

    def is_made(self, task_id: str) -> None:
        self._made_under[task_id] = self.surely_in_force()

    def surely_fit_when_made(self, task_id: str, made: Item) -> list[Item]:
        """All that a new handoff needs. ``made``: its facts."""
        self.is_made(task_id)
        return [each for each in self._made_under[task_id] if self.surely_fits(each, made, made.get("target_agent"))]

    def may_fit_when_made(self, made: Item) -> list[Item]:
        return self.may_fit(made, made.get("target_agent"))

    def may_fit(self, head: Item, doer: str | None) -> list[Item]:
        """``doer``: the agent that does the work, if it is known."""
        every = [rule for rules in self._voters.rules_seen() for rule in rules if not rule.get("tool")]
        return [rule for rule in every if self._fits(rule, head, doer, any)]

    def surely_fits(self, rule: Item, head: Item, doer: str | None) -> bool:
        """``doer``: the agent that does the work, if it is known."""
        return self._fits(rule, head, doer, all)

    def maker_of(self, head: Item) -> str | None:
        """The task that it was made of: retried, split, or worked on."""
        part_of: Any = self._ledger.bodies.get(head["id"], {}).get("part_of") or {}
        return head.get("retry_of") or part_of.get("task_id") or head.get("parent_id")

    def _fits(self, rule: Item, head: Item, doer: str | None, of: Callable[[Iterable[object]], bool]) -> bool:
        if rule.get("source") not in (None, head["source_agent"]) or rule.get("target") not in (None, doer):
            return False
        wanted = rule.get("work_type")
        if wanted is None or wanted == head.get("work_type"):
            return True
        if wanted in self._inherited(rule, head):
            return True
        versions = self._ledger.agents_since(doer, self._sim.current.process.began_at) if doer else []
        accepted = [wanted in (each.get("accepts") or ()) for each in versions]
        return bool(accepted) and of(accepted)

    def _inherited(self, rule: Item, head: Item) -> set[str]:
        """Returns the type of the work that it was made of, if the rule was in force by then. The needs of that work
        are compared separately."""
        maker = self.maker_of(head)
        if maker is None or rule not in self._made_under.get(head["id"], ()):
            return set()
        above = self._ledger.heads[maker]
        return {above["work_type"]} if above.get("work_type") else set()

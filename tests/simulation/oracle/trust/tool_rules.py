"""Rules about tools: who may approve an action is the workspace's to say, whomever its asker names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulation.oracle.trust.rule_fits import authors_of

if TYPE_CHECKING:
    from simulation.oracle.ledger import Item, Ledger
    from simulation.oracle.questions import Asked
    from simulation.oracle.trust.rule_fits import RuleFits
    from simulation.oracle.verdict import Verdict
    from simulation.oracle.voters import Circle


class ToolRules:
    def __init__(self, verdict: Verdict, ledger: Ledger, fits: RuleFits) -> None:
        self._verdict, self._ledger, self._fits = verdict, ledger, fits
        self._ruled: set[str] = set()

    def is_asked(self, asked: Asked, head: Item) -> None:
        """By all that each rule wants that surely was in force."""
        if asked.tool is None:
            return
        if self._fits.may_have_tool_rules():
            self._ruled.add(asked.id)
        for rule in self._fits.surely_in_force(asked.tool):
            if not self._fits.surely_fits(rule, head, asked.agent):
                continue
            is_kept = any(_is_as_strict(circle, rule, head) for circle in asked.circles)
            what = "{}: asks {}, and of {} the rule {} wants more"
            self._verdict.must(is_kept, what, asked.id, asked.circles, asked.tool, rule)
            self._ledger.seen["ruled action"] += 1

    def may_have_chosen(self, question_id: str) -> bool:
        """True where a rule may have said who is asked."""
        return question_id in self._ruled


def _is_as_strict(circle: Circle, rule: Item, head: Item) -> bool:
    groups = tuple(each for each in (rule.get("group"),) if each)
    is_same = (circle.people, circle.groups, circle.needed) == (tuple(rule["people"]), groups, rule["needed"])
    return is_same and (not rule["not_author"] or authors_of(head) <= circle.never)

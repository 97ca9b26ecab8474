"""Loosening changes of a workspace: after the change, some people may let something pass who could not before. It
is tried out, with each group of voters on each kind of work, and so it needs no list of kinds of changes."""

from __future__ import annotations

import json
from functools import cache
from itertools import combinations, product
from typing import Any, NamedTuple

from simulation.oracle.ledger import Item

MOST_VOTERS = 3
OTHER = "-"


class Work(NamedTuple):
    """A handoff, or an action of a tool, and who made it."""

    source: str
    target: str
    work_type: str
    tool: str
    author: str


@cache
def is_looser(before: str, groups_before: str, after: str, groups_after: str) -> bool:
    """Takes rules and groups in JSON, as they are stored."""
    old = json.loads(before), json.loads(groups_before)
    new = json.loads(after), json.loads(groups_after)
    if any(set(members) - set(old[1].get(name, ())) for name, members in new[1].items()):
        return True
    rules = [*old[0], *new[0]]
    people = sorted({each for _, groups in (old, new) for members in groups.values() for each in members}
        | {each for rule in rules for each in rule["people"]} | {OTHER})  # fmt: skip
    kinds = (_named(rules, name) for name in ("source", "target", "work_type", "tool"))
    every = [Work(*each) for each in product(*kinds, (people[0], people[-1]))]
    votes = [each for size in range(1, MOST_VOTERS + 1) for each in combinations(people, size)]
    return any(_passes(work, new, each) and not _passes(work, old, each) for work in every for each in votes)


def _named(rules: list[Item], field: str) -> tuple[str, ...]:
    return tuple(sorted({str(rule[field]) for rule in rules if rule.get(field)} | {OTHER}))


def _passes(work: Work, settings: tuple[list[Item], dict[str, Any]], voters: tuple[str, ...]) -> bool:
    rules, groups = settings
    return all(_is_met(rule, groups, work, voters) for rule in rules if _fits(rule, work))


def _fits(rule: Item, work: Work) -> bool:
    """A rule for a tool is for its actions, and another one for handoffs."""
    if bool(rule.get("tool")) != (work.tool != OTHER):
        return False
    fields = ("source", "target", "work_type", "tool")
    return all(rule.get(name) in (None, getattr(work, name)) for name in fields)


def _is_met(rule: Item, groups: dict[str, Any], work: Work, voters: tuple[str, ...]) -> bool:
    members = {*rule["people"], *(groups.get(rule.get("group") or "", ()))}
    is_open = not rule["people"] and not rule.get("group")
    counted = [each for each in voters if is_open or each in members]
    counted = [each for each in counted if not (rule["not_author"] and each == work.author)]
    needed: int = rule["needed"]
    return len(counted) >= needed

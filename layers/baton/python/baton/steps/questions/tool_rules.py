"""Rules of the settings about actions: the approvers of an action with a tool, in place of the asker's choice
(docs/spec/questions.md §1)."""

from __future__ import annotations

from collections.abc import Iterable

from baton.domain.agents.rule_fit import Work, fitting
from baton.domain.settings.approval_rule import ApprovalRule
from baton.domain.settings.settings import Settings
from baton.domain.tasks.task import Task
from baton.ports.deps import Deps
from baton.steps.questions.chain import agents_above


def rules_about(deps: Deps, settings: Settings, task: Task, agent: str, tool: str) -> tuple[ApprovalRule, ...]:
    """Returns every rule that fits an action of ``agent`` with ``tool``. Reads the roster if there are rules about
    tools, and the task's chain if any has a source."""
    rules = [rule for rule in settings.approval_rules if rule.tool is not None]
    if not rules:
        return ()
    work = Work(
        sources=_sources(deps, task, rules),
        doer=agent,
        work_types=frozenset({task.work_type} if task.work_type else ()),
        tool=tool,
        roster=deps.store.agents.roster(task.workspace),
    )
    return fitting(rules, work)


def authors_for(task: Task, asker_made_by: str | None) -> tuple[str, ...]:
    """Returns the keys of the people to exclude with the author: also the person who made the asker's token."""
    return (*task.authors, asker_made_by) if asker_made_by else task.authors


def _sources(deps: Deps, task: Task, rules: Iterable[ApprovalRule]) -> frozenset[str]:
    compare = any(rule.source is not None for rule in rules)
    return frozenset({task.source_agent, *(agents_above(deps, task) if compare else ())})

"""Tools, profiles, transcripts and use of agents that Baton runs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from baton.domain.agents.tool import Tool
from baton.domain.runs.account import Spending, SpendingLimits
from baton.domain.runs.run_profile import RunProfile
from baton.domain.runs.transcript import EntryKind, TaskEntry, TranscriptEntry, Usage
from baton.domain.times import seconds
from baton.ports.store import Store
from baton.ports.writes import AddUsage, Insert
from support.clock import NOON
from support.values.tasks import an_agent
from support.worlds.world import WORKSPACE


def a_tool(name: str = "ask_auditor", **values: Any) -> Tool:
    """Returns a tool in its first version."""
    usual: dict[str, Any] = {
        "workspace": WORKSPACE,
        "name": name,
        "description": "Hands the repository to the auditor.",
        "target_agent": "auditor",
        "version": 1,
        "created_at": NOON,
        "updated_at": NOON,
        "updated_by": "human:alice",
    }
    return Tool(**{**usual, **values})


def a_profile(slug: str = "auditor", **values: Any) -> RunProfile:
    return RunProfile(**{"workspace": WORKSPACE, "slug": slug, "system_prompt": "You audit.", **values})


def an_entry(first: int = 1, says: str = "hello", **values: Any) -> TranscriptEntry:
    """A reply of one message."""
    usual: dict[str, Any] = {
        "first": first,
        "kind": EntryKind.REPLY,
        "agent": "auditor",
        "at": NOON + seconds(first),
        "turn": 1,
        "blocks": ({"text": says},),
    }
    return TranscriptEntry(**{**usual, **values})


def spent(calls: int = 1, tokens: tuple[int, int] = (100, 20), **values: Any) -> AddUsage:
    usual: dict[str, Any] = {"workflow_id": "wf_1", "task_id": "task_1", "usage": Usage(calls, *tokens)}
    return AddUsage(**{**usual, **values})


def a_step(fence: int = 1, calls: int = 1, tokens: tuple[int, int] = (100, 20), **values: Any) -> Spending:
    """Returns one count of a run. ``most_calls``, ``most_tokens``: the limits of the workflow."""
    limits = SpendingLimits(calls=values.pop("most_calls", None), tokens=values.pop("most_tokens", None))
    usual: dict[str, Any] = {"workflow_id": "wf_1", "task_id": "task_1", "limits": limits}
    return Spending(**{**usual, "fence": fence, "used": Usage(calls, *tokens), **values})


def count(store: Store, *steps: Spending) -> None:
    """Counts each step on top of what is stored by then."""
    for step in steps:
        store.runs.count(WORKSPACE, step, store.runs.accounts(WORKSPACE, step.workflow_id, step.task_id))


def fill_runs(store: Store, workspace: str = WORKSPACE) -> None:
    """Stores one of everything: a tool, an agent with its profile, and a run of ``task_1``."""
    store.tools.save_tool(a_tool(workspace=workspace), store.tools.toolbox(workspace))
    runner = replace(an_agent("run-1"), workspace=workspace)
    store.agents.save_agent(runner, store.agents.roster(workspace), a_profile("run-1", workspace=workspace))
    store.commit(workspace, Insert(TaskEntry("task_1", an_entry())), spent())
    store.runs.count(workspace, a_step(), store.runs.accounts(workspace, "wf_1", "task_1"))

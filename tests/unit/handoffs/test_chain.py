"""The chain of a workflow's handoffs: the tree, and the picture of it (docs/spec/protocol.md §7, §9)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from api.handoffs.chain_views import chain_view
from baton.domain.errors import Unknown
from baton.domain.handoffs.chain import Step, drawn, length, tree
from baton.domain.handoffs.loop_guard import Budget
from baton.domain.priority import Priority
from baton.domain.runs.transcript import Usage
from baton.domain.task_state import State
from baton.domain.tasks.task import Claim, Task, TaskMeta
from baton.domain.times import seconds
from baton.services.handoffs.workflow_chain import WorkflowOverview, workflow_chain
from support.clock import NOON
from support.worlds.world import World, human

SOURCE = """\
## Handoff Chain: wf_1

architect ──────────────────────────────────────────────────────▶
    │
    │ ho_001: Design authentication module
    │ Status: ✓ Completed
    │ Duration: 15 min
    ▼
auto-code ──────────────────────────────────────────────────────▶
    │
    │ ho_002: Implement auth module
    │ Status: ✓ Completed
    │ Duration: 28 min
    │ Files: 4 created, 1 modified
    ▼
qa ─────────────────────────────────────────────────────────────▶
    │
    │ ho_003: Test auth implementation
    │ Status: ⚠️ Failed
    │ Reason: Missing test fixtures
    │
    │ [ROLLBACK to auto-code]
    ▼
auto-code ──────────────────────────────────────────────────────▶
    │
    │ ho_004: Add test fixtures
    │ Status: ✓ Completed
    │ Duration: 8 min
    ▼
qa ─────────────────────────────────────────────────────────────▶
    │
    │ ho_005: Retest auth implementation
    │ Status: ✓ Completed
    │ Duration: 2 h 5 min
    │ Tests: 12 created, passing
    ▼
ciso ───────────────────────────────────────────────────────────▶
    │
    │ ho_006: Security review
    │ Status: 🔄 In Progress
"""


def step(number: int, agent: str | None, title: str, parent: int | None, state: str = "done", **values: Any) -> Step:
    task_id = f"task_{number:03}"
    started = values.pop("started", NOON)
    minutes = values.pop("minutes", 0)
    beside = {name: values.pop(name) for name in ("completion", "failure") if name in values}
    task = Task(
        workspace="acme",
        id=task_id,
        state=State(state),
        title=title,
        kind=values.pop("kind", "continuation"),
        source_agent="architect",
        target_agent=agent,
        priority=Priority.P2,
        handoff_id=f"ho_{number:03}",
        master_task_id="task_001",
        parent_id=None if parent is None else f"task_{parent:03}",
        workflow_id="wf_1",
        created_at=NOON - seconds(600),
        created_by="human:alice",
        started_at=started,
        meta=TaskMeta(updated_at=NOON + seconds(60 * minutes)),
        **values,
    )
    return Step(task=task, **beside)


FILES = {"type": "code", "files_created": ["a", "b", "c", "d", "a"], "files_modified": ["e"]}
TESTS = {"type": "test_results", "tests_created": [str(number) for number in range(12)]}
DOCUMENTED = [
    step(1, "architect", "Design authentication module", None, minutes=15),
    step(2, "auto-code", "Implement auth module", 1, minutes=28, completion={"deliverables": [FILES]}),
    step(
        3,
        "qa",
        "Test auth implementation",
        2,
        "failed",
        failure={
            "failure": {"type": "blocker", "description": "Missing test fixtures"},
            "rollback": {"status": "created", "target_agent": "auto-code"},
        },
    ),
    step(4, "auto-code", "Add test fixtures", 3, minutes=8, kind="rollback"),
    step(
        5,
        "qa",
        "Retest auth implementation",
        4,
        minutes=125,
        completion={"deliverables": [TESTS], "verification": {"tests_passing": True}},
    ),
    step(6, "ciso", "Security review", 5, "claimed"),
]


def test_documented_chain_is_drawn_as_documented() -> None:
    assert drawn("wf_1", tree(DOCUMENTED)) == SOURCE


def test_a_retry_stands_where_the_work_went_on() -> None:
    """The fifth made as a retry of the third: beside it, and drawn after what came of the first try."""
    retried = [*DOCUMENTED[:4], step(5, "qa", "Retest auth implementation", 2, kind="retry", retry_of="task_003")]
    (root,) = tree(reversed(retried))
    assert [child.task.id for child in root.children[0].children] == ["task_003", "task_005"]
    titles = [line.strip() for line in drawn("wf_1", (root,)).splitlines() if "│ ho_" in line]
    assert [title[5:8] for title in titles] == ["001", "002", "003", "004", "005"]


def test_what_was_delegated_stands_further_to_the_right() -> None:
    steps = [
        step(1, "architect", "Build it", None, "waiting"),
        step(2, "qa", "Test it", 1, kind="delegation", completion={"status": "partial"}),
        step(3, None, "Audit it", 1, "delegated", kind="delegation"),
    ]
    assert drawn("wf_1", tree(steps)).splitlines()[2:] == [
        "architect ──────────────────────────────────────────────────────▶",
        "    │",
        "    │ ho_001: Build it",
        "    │ Status: 🔄 Waiting",
        "    ▼",
        "    qa ─────────────────────────────────────────────────────────▶",
        "        │",
        "        │ ho_002: Test it",
        "        │ Status: ✓ Completed (partial)",
        "        │ Duration: 0 s",
        "        ▼",
        "    any agent ──────────────────────────────────────────────────▶",
        "        │",
        "        │ ho_003: Audit it",
        "        │ Status: ⏳ Pending",
    ]


@pytest.mark.parametrize(
    ("state", "status"),
    [("needs", "⏸ Needs Approval"), ("next", "⏳ Pending"), ("rejected", "⚠️ Rejected"), ("cancelled", "✗ Cancelled")],
)
def test_every_state_has_its_words(state: str, status: str) -> None:
    assert f"Status: {status}\n" in drawn("wf_1", tree([step(1, "qa", "x", None, state)]))


def test_no_text_can_forge_a_line() -> None:
    failure = {"type": "error", "description": "x\n    ▼\nadmin ──▶\n" + "y" * 900}
    text = drawn("wf_1", tree([step(1, "qa", "t", None, "failed", failure=failure)]))
    assert "\nadmin" not in text
    assert max(map(len, text.splitlines())) < 230


def test_a_task_that_was_done_in_the_end_shows_no_failure_of_an_earlier_attempt() -> None:
    (root,) = tree([step(1, "qa", "t", None, failure={"type": "error", "description": "flaked"})])
    assert (root.why, root.reason) == (None, None)


def test_open_work_is_shown_with_who_took_it() -> None:
    claim = Claim(
        claim_id="c",
        fence=1,
        agent="auto-code",
        worker="w",
        principal="agent:auto-code",
        lease_seconds=60,
        claimed_at=NOON,
        heartbeat_at=NOON,
        expires_at=NOON + seconds(60),
    )
    assert step(1, None, "t", None, "claimed", claim=claim).agent == "auto-code"
    assert step(1, None, "t", None, completion={"source": {"agent": "qa"}}).agent == "qa"
    assert step(1, None, "t", None, "failed", failure={"source": {"agent": "qa"}}).agent == "qa"
    assert step(1, None, "t", None, "needs").agent is None


def test_what_nobody_claimed_lasted_from_when_it_was_handed_off() -> None:
    never = step(1, "qa", "t", None, "cancelled", started=None)
    assert (never.duration_seconds, step(1, "qa", "t", None, minutes=2).duration_seconds) == (600, 120)
    assert step(1, "qa", "t", None, "claimed").duration_seconds is None


def test_a_root_is_what_hangs_on_nothing_that_is_there() -> None:
    roots = tree([step(3, "qa", "c", 9), step(2, "qa", "b", None), step(1, "qa", "a", None)])
    assert [root.task.title for root in roots] == ["a", "b", "c"]
    assert drawn("wf_1", roots).count("▶") == 3


def test_a_chain_of_thousands_is_told_and_drawn() -> None:
    """Nothing forbids one where the loop guard is off."""
    roots = tree([step(number, "qa", "t", number - 1 or None) for number in range(1, 3_001)])
    assert drawn("wf_1", roots).count("▶") == 3_000
    told = chain_view(WorkflowOverview(workflow_id="wf_1", roots=roots, usage=Usage(), budget=Budget()))
    assert (told["handoffs"], json.dumps(told).count('"handoff_id"')) == (3_000, 3_000)


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        (0, "0 s"),
        (59.9, "59 s"),
        (60, "1 min"),
        (3_599, "59 min"),
        (3_600, "1 h 0 min"),
        (86_399, "23 h 59 min"),
        (86_400, "1 d 0 h"),
        (100_000, "1 d 3 h"),
    ],
)
def test_lengths_are_rounded_down(given: float, shown: str) -> None:
    assert length(given) == shown


def test_unknown_and_foreign_workflows_are_unknown(world: World) -> None:
    task = world.task(world.needing())
    (root,) = workflow_chain(world.deps, human(), task.workflow_id)
    assert root.task == task
    for workspace, workflow_id in (("acme", "wf_unknown"), ("other", task.workflow_id)):
        with pytest.raises(Unknown):
            workflow_chain(world.deps, human(workspace), workflow_id)

"""Who there is in the simulated workspace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from baton.domain.access.principal import ACT_AS, CONVERSE, Principal, PrincipalKind, operator
from baton.domain.agents.agent import Approval, Requeue, Runtime
from baton.domain.agents.needs_approval import NeedsApproval
from baton.domain.agents.tool import ToolMode
from baton.domain.settings.approval_rule import ApprovalRule
from baton.domain.tasks.task import Policy
from baton.services.access.change_settings import change_settings
from baton.services.agents.define_tool import define_tool
from baton.services.agents.register_agent import register_agent
from baton.services.tracker.set_tracker_token import set_tracker_token
from simulation.habits import PULL, Focus
from simulation.ports import WORKSPACE
from simulation.tracker import DATABASE

if TYPE_CHECKING:
    from simulation.simulation import Simulation

RUN = ("r", "s")
ALL = (*PULL, *RUN)
# What every agent produces.
REPORT = "report"
SERVICE = Principal(WORKSPACE, PrincipalKind.SERVICE, "ci", frozenset({ACT_AS}))
TOOLS = (
    ("to_s", ToolMode.TRANSFER),
    ("to_a", ToolMode.TRANSFER),
    ("ask_s", ToolMode.DELEGATE),
    ("ask_r", ToolMode.DELEGATE),
    ("ask_b", ToolMode.DELEGATE),
)
# Who is asked, in which groups, and whose approval a handoff needs.
PEOPLE = ("h0", "h1", "h2", "h3")
GROUP, OTHERS = "leads", "others"
GROUPS: tuple[dict[str, tuple[str, ...]], ...] = (
    {GROUP: PEOPLE[:3], OTHERS: PEOPLE[2:]},
    {GROUP: PEOPLE[1:3], OTHERS: PEOPLE[3:]},
    {GROUP: PEOPLE[:2], OTHERS: ("alice", *PEOPLE[2:])},
    {GROUP: PEOPLE[:2], OTHERS: PEOPLE},
)
_SOON: dict[str, Any] = {"remind_after_seconds": 60, "then_after_seconds": 60}
RULES: tuple[tuple[ApprovalRule, ...], ...] = (
    (),
    (ApprovalRule(needed=2),),
    (ApprovalRule(group=GROUP, needed=2, then_group=OTHERS, **_SOON),),
    (ApprovalRule(target="a", not_author=True), ApprovalRule(people=PEOPLE[:2], needed=2)),
    (ApprovalRule(target="b", needed=2), ApprovalRule(people=PEOPLE[:1], then_group=OTHERS, **_SOON)),
)
# Where rights differ: an agent is guarded, a type of work, or both. "a" accepts the type.
GUARDED_TYPE = "deploy"
_OF_TOOLS = (ApprovalRule(tool="refund", group=GROUP, needed=2), ApprovalRule(tool="refund", group=OTHERS))
GUARDS: tuple[tuple[ApprovalRule, ...], ...] = (
    (ApprovalRule(target="a", group=GROUP, needed=2, not_author=True), ApprovalRule(tool="refund", group=GROUP)),
    (ApprovalRule(target="b", needed=2), *_OF_TOOLS),
    (ApprovalRule(tool="refund", people=PEOPLE[:2], not_author=True), ApprovalRule(tool="delete", source="b")),
    (ApprovalRule(work_type=GUARDED_TYPE, group=GROUP, needed=2), *_OF_TOOLS),
    (ApprovalRule(target="a", needed=2), ApprovalRule(work_type=GUARDED_TYPE, group=OTHERS)),
    (ApprovalRule(source="c", target="b", group=GROUP), ApprovalRule(target="a", people=PEOPLE[:2], not_author=True)),
    (ApprovalRule(target="a", group=GROUP, then_group=OTHERS, **_SOON), ApprovalRule(target="b", needed=2)),
)
ACCEPTED = {"a": (GUARDED_TYPE, "audit"), "b": ("audit",)}
# Whose calls people approve: no other tool has their target.
MARKED = ("to_a", "ask_b")
MARKS = (
    NeedsApproval(within_seconds=60),
    NeedsApproval(within_seconds=3_600),
    NeedsApproval(people=PEOPLE[:2], needed=2, not_author=True),
)


def agent(slug: str) -> Principal:
    return Principal(WORKSPACE, PrincipalKind.AGENT, slug, frozenset({CONVERSE}))


# Makes changes without a second administrator's approval.
OPERATOR = operator(WORKSPACE)


def human(name: str = "alice") -> Principal:
    return Principal(WORKSPACE, PrincipalKind.HUMAN, name, frozenset({ACT_AS}))


def settle(sim: Simulation) -> tuple[str | None, ...]:
    """The workspace, while nobody else is there yet and nothing goes wrong. Answers with whom work is handed to; None
    stands for whoever can do it."""
    _choose_settings(sim)
    has_branches = sim.habits.focus is Focus.BRANCHES
    if has_branches:
        targets: tuple[str | None, ...] = PULL
    elif sim.habits.focus is Focus.TRUST:
        targets = ("a", "b", None, None)
    elif sim.habits.focus is Focus.QUESTIONS:
        targets = ("a", "a", "b", None)
    elif sim.draw(3):
        targets = (*sorted(set(sim.habits.workers)), *RUN, *RUN, None)
    else:
        targets = (*ALL, None)
    if sim.habits.has_tracker:
        set_tracker_token(sim.deps, human(), "token")
        change_settings(sim.deps, OPERATOR, {"tracker": {"database": DATABASE}})
    sim.staff.welcome(OPERATOR)
    for slug in ALL:
        _register(sim, slug, has_branches=has_branches)
    _choose_rules(sim)
    names = ["complete_task", "fail_task", "save_checkpoint"]
    for name, mode in TOOLS:
        mark = {"needs_approval": sim.pick(MARKS)} if name in MARKED and sim.habits.has_questions else {}
        define_tool(sim.deps, human(), name, {"description": name, "target_agent": name[-1], "mode": mode, **mark})
        names.append(name)
    for slug in RUN:
        join = Policy(sim.pick(["all", "any"]))
        register_agent(sim.deps, human(), slug, {"tools": tuple(names), "join": join, "max_turns": 6})
    return targets


def _choose_settings(sim: Simulation) -> None:
    sim.settings = {
        "handoff_window_days": 1,
        "escalation_cap": 1 + sim.draw(3),
        "breaker_scope": sim.pick(["open", "any"]),
        "max_depth": 30,
        "ping_pong_window": 20,
        "dispatch_delay_seconds": 0 if sim.habits.is_hot else sim.pick([3, 0, 30]),
        "root_handoffs_per_hour": sim.pick([300, 5]),
        "max_same_direction": 20,
        "max_handoffs_per_workflow": sim.pick([50, 8]),
        "waiting_alert_seconds": sim.pick([86_400, 3_600]),
    }
    change_settings(sim.deps, OPERATOR, sim.settings)


def _choose_rules(sim: Simulation) -> None:
    """Once the agents are there that rules name."""
    if sim.habits.has_questions:
        rules = sim.pick(RULES) if sim.draw(2) else ()
        rules = sim.pick(GUARDS) if sim.habits.has_trust else rules
        change_settings(sim.deps, OPERATOR, {"groups": GROUPS[0], "approval_rules": rules})


def _register(sim: Simulation, slug: str, *, has_branches: bool) -> None:
    is_limited = sim.draw(3) == 2 and not has_branches
    is_asking = sim.habits.focus in (Focus.QUESTIONS, Focus.TRUST) and slug in PULL
    is_let = has_branches or is_asking or (slug in RUN and sim.habits.focus is Focus.RUNS)
    values = {
        "name": slug.upper(),
        "approval": Approval(sim.pick(["auto", "auto" if is_let else "manual"])),
        "runtime": Runtime("run" if slug in RUN else "pull"),
        "produces": (REPORT,),
        "requeue": Requeue(sim.pick(["same", "same", "needs"])),
        **({"max_concurrent": 1 + sim.draw(2)} if is_limited else {}),
        **({"accepts": ACCEPTED[slug]} if sim.habits.has_trust and slug in ACCEPTED else {}),
    }
    register_agent(sim.deps, human(), slug, values)

"""Handoffs whose approval needs more than any one human, by the settings' rules."""

from __future__ import annotations

from typing import Any

import pytest

from baton.domain import errors
from baton.domain.access.principal import Principal, PrincipalKind
from baton.domain.agents.agent import Approval
from baton.domain.questions.approval import Need
from baton.domain.settings.approval_rule import ApprovalRule
from baton.domain.task_state import State
from baton.domain.tasks.calls import Seen
from baton.domain.tasks.event_type import EventType
from baton.domain.tasks.task import Flag, Task
from baton.domain.tasks.trail import replay
from baton.services.access.change_settings import change_settings
from baton.services.agents.register_agent import register_agent
from baton.services.tasks.approve_task import approve_task, approve_task_next, undo_approval
from baton.services.tasks.sweep import sweep
from support.worlds.world import WORKSPACE, World, agent, human

ALICE, BERT, CARA = human(), human(name="bert"), human(name="cara")
TWO = ApprovalRule(needed=2)


class Office:
    def __init__(self, *rules: ApprovalRule, **groups: tuple[str, ...]) -> None:
        self.world = World().settle()
        self.deps = self.world.deps
        self.set(groups=groups, approval_rules=rules)

    def set(self, **values: Any) -> None:
        change_settings(self.deps, ALICE, values)

    def approve(self, task_id: str, by: Principal, seen: Seen | None = None) -> State:
        return approve_task(self.deps, by, task_id, seen).task.state

    def task(self, task_id: str) -> Task:
        return self.world.task(task_id)

    def needs(self, task_id: str) -> tuple[Need, ...]:
        approval = self.task(task_id).approval
        return () if approval is None else approval.needs

    def last_event(self, task_id: str) -> Any:
        return self.deps.store.trail.events(WORKSPACE, task_id, 0, 100)[-1]

    def pass_seconds(self, seconds: float) -> None:
        self.world.clock.advance(seconds)
        sweep(self.deps)


def test_without_a_rule_one_human_approves() -> None:
    office = Office(ApprovalRule(target="runner", needed=5))
    task_id = office.world.needing()
    assert office.task(task_id).approval is None
    assert office.approve(task_id, BERT) is State.DELEGATED


def test_two_people_approve_and_the_trail_names_both() -> None:
    office = Office(TWO)
    task_id = office.world.needing()
    assert office.approve(task_id, ALICE) is State.NEEDS
    given = office.last_event(task_id)
    assert (given.type, given.data["by"], given.data["needed"]) == (EventType.APPROVAL_GIVEN, "alice", 2)
    assert office.approve(task_id, BERT) is State.DELEGATED
    assert office.last_event(task_id).data["approved_by"] == ["alice", "bert"]
    assert replay(office.deps.store.trail.events(WORKSPACE, task_id, 0, 100)).state is State.DELEGATED


def test_the_same_person_by_two_sessions_is_one() -> None:
    office = Office(TWO)
    task_id = office.world.needing()
    other_session = Principal(WORKSPACE, PrincipalKind.HUMAN, "alice", token_id="other", session_of="token")
    office.approve(task_id, ALICE)
    with pytest.raises(errors.ApprovalCounted):
        office.approve(task_id, other_session)
    assert office.task(task_id).state is State.NEEDS


def test_only_a_groups_people_approve_as_the_group_is_then() -> None:
    office = Office(ApprovalRule(target="auditor", group="leads", needed=2), leads=("bert", "cara"))
    task_id = office.world.needing()
    with pytest.raises(errors.NotAsked):
        office.approve(task_id, ALICE)
    office.approve(task_id, BERT)
    office.set(groups={"leads": ("cara", "alice")})  # bert has left: his approval counts no more
    assert office.approve(task_id, CARA) is State.NEEDS
    assert office.approve(task_id, ALICE) is State.DELEGATED


def test_an_emptied_group_approves_nothing() -> None:
    office = Office(ApprovalRule(group="leads"), leads=("bert",))
    task_id = office.world.needing()
    office.set(groups={"leads": ("dora",)})
    with pytest.raises(errors.NotAsked):
        office.approve(task_id, BERT)
    office.set(groups={"leads": ()}, approval_rules=())
    with pytest.raises(errors.NotAsked):
        office.approve(task_id, BERT)


def test_the_author_does_not_approve_their_own_handoff() -> None:
    office = Office(ApprovalRule(not_author=True))
    task_id = office.world.needing(by=ALICE)
    with pytest.raises(errors.NotAsked):
        office.approve(task_id, ALICE)
    assert office.approve(task_id, BERT) is State.DELEGATED


def test_every_rule_that_fits_has_to_be_met() -> None:
    one = ApprovalRule(source="scout", target="auditor", group="security")
    office = Office(ApprovalRule(target="runner", needed=5), one, TWO, security=("cara",))
    task_id = office.world.needing()
    assert [each.approvers.needed for each in office.needs(task_id)] == [1, 2]
    assert office.approve(task_id, ALICE) is State.NEEDS
    assert office.approve(task_id, BERT) is State.NEEDS, "nobody of security"
    assert office.approve(task_id, CARA) is State.DELEGATED
    assert office.last_event(task_id).data["approved_by"] == ["alice", "bert", "cara"]


def test_one_person_counts_for_every_rule_that_names_them() -> None:
    office = Office(ApprovalRule(people=("bert",)), ApprovalRule(group="leads"), leads=("bert",))
    assert office.approve(office.world.needing(), BERT) is State.DELEGATED


def test_who_approves_for_next_approves_something_else() -> None:
    office = Office(TWO)
    task_id = office.world.needing()
    office.approve(task_id, ALICE)
    assert approve_task_next(office.deps, BERT, task_id, None).task.state is State.NEEDS
    assert approve_task_next(office.deps, ALICE, task_id, None).task.state is State.NEXT


def test_an_undone_approval_has_to_be_given_by_both_again() -> None:
    office = Office(TWO)
    task_id = office.world.needing()
    office.approve(task_id, ALICE)
    office.approve(task_id, BERT)
    undo_approval(office.deps, BERT, task_id)
    assert office.approve(task_id, ALICE) is State.NEEDS


def test_a_standing_approval_counts_as_its_humans() -> None:
    office = Office(TWO)
    register_agent(office.deps, ALICE, "auditor", {"approval": Approval.AUTO})
    task_id = office.world.needing()
    assert office.task(task_id).state is State.NEEDS
    assert office.approve(task_id, BERT) is State.DELEGATED


def test_people_are_alerted_and_then_the_next_group_may_decide() -> None:
    rule = ApprovalRule(people=("cara",), remind_after_seconds=3600, then_group="leads", then_after_seconds=7200)
    office = Office(rule, leads=("bert",))
    task_id = office.world.needing()
    office.pass_seconds(3_500)
    assert not office.task(task_id).flags
    office.pass_seconds(200)
    assert office.task(task_id).flags == {Flag.APPROVAL_OVERDUE}
    with pytest.raises(errors.NotAsked):
        office.approve(task_id, BERT)
    office.pass_seconds(3_600)
    assert office.last_event(task_id).type == EventType.APPROVAL_WIDENED
    assert office.approve(task_id, BERT) is State.DELEGATED
    assert not office.task(task_id).flags


@pytest.mark.parametrize(
    ("rule", "field"),
    [
        (ApprovalRule(needed=6), "approval_rules.0.needed"),
        (ApprovalRule(group="nobody"), "approval_rules.0.group"),
        (ApprovalRule(people=("bert",), needed=2), "approval_rules.0.needed"),
        (ApprovalRule(people=("bert",), then_group="leads"), "approval_rules.0.then_group"),
        (ApprovalRule(people=("bert",), then_group="no", then_after_seconds=60), "approval_rules.0.then_group"),
        (ApprovalRule(then_group="leads", then_after_seconds=60), "approval_rules.0.then_group"),
        (ApprovalRule(remind_after_seconds=1), "approval_rules.0.remind_after_seconds"),
    ],
)
def test_a_rule_that_nobody_could_meet_is_refused(rule: ApprovalRule, field: str) -> None:
    with pytest.raises(errors.InvalidInput) as refused:
        Office(rule, leads=("cara",))
    assert refused.value.field == field


def test_agents_approve_nothing_by_any_rule() -> None:
    office = Office(TWO)
    with pytest.raises(errors.HumanNeeded):
        office.approve(office.world.needing(), agent("auditor"))

"""What it costs to hold an agent to what it may read: nothing where it may, one reading where it may not, and nothing
ever for humans."""

from __future__ import annotations

import pytest

from baton.domain.access.principal import Principal
from baton.domain.errors import StaleClaim, Unknown
from baton.services.claims.renew_claim import renew_claim
from baton.services.escalations.create_handoff_marker import create_handoff_marker
from baton.services.tasks.list_tasks import TaskFilter, tasks_of_day
from baton.services.tasks.read_task import read_task
from support.clock import NOON
from support.worlds.rig import Rig
from support.worlds.world import agent, human, marker_body, service

READING = ["query", "batch_get_item"]


def made(rig: Rig) -> str:
    return str(create_handoff_marker(rig.world.deps, human(), marker_body()).task_id)


@pytest.mark.parametrize("by", [human(), service(), agent("scout"), agent("auditor")])
def test_who_may_read_a_task_pays_nothing_more(rig: Rig, by: Principal) -> None:
    task_id = made(rig)
    assert len(rig.count(lambda: read_task(rig.world.deps, by, task_id))) == len(READING)


def test_stranger_pays_for_one_look_at_the_settings(rig: Rig) -> None:
    task_id = made(rig)

    def refused() -> None:
        with pytest.raises(Unknown):
            read_task(rig.world.deps, agent("runner"), task_id)

    assert rig.count(refused) == ["query", "get_item"]


def test_list_is_filtered_at_the_price_of_one_look_at_the_settings(rig: Rig) -> None:
    for target in ("auditor", "runner"):
        create_handoff_marker(rig.world.deps, human(), marker_body(target_agent=target))

    def listed(by: Principal) -> list[str]:
        return rig.count(lambda: tasks_of_day(rig.world.deps, by, TaskFilter(day=NOON.date()), 10, None))

    assert listed(agent("scout")) == listed(human())
    assert len(listed(agent("auditor"))) == len(listed(human())) + 1


def test_refused_verb_costs_who_has_no_part_two_readings_and_humans_none(rig: Rig) -> None:
    task_id = made(rig)

    def beats(by: Principal, refusal: type[Exception]) -> list[str]:
        def beat() -> None:
            with pytest.raises(refusal):
                renew_claim(rig.world.deps, by, task_id, "clm_guess")

        return rig.count(beat)

    assert beats(agent("auditor"), StaleClaim) == ["update_item", "get_item"]
    assert beats(agent("runner"), Unknown) == ["update_item", "get_item", "get_item"]

"""A process dies between the place of a task by its label and the task: the place alone leads nowhere."""

from __future__ import annotations

import pytest

from baton.domain.tasks.task_search import TaskSearch
from baton.services.tasks.search_tasks import search_tasks
from support.faults.choke_point import Crash, at_call, no_fault
from support.worlds.rig import Rig
from support.worlds.use_cases import ONCE, labelled
from support.worlds.world import human


def found(rig: Rig, label: str) -> list[str]:
    page = search_tasks(rig.world.deps, human(), TaskSearch(label=label), 10, None).page
    assert page.cursor is None
    return [each.task.id for each in page.items]


@pytest.mark.parametrize("fault", ["crash_before", "crash_after"])
def test_whoever_dies_leaves_a_task_with_all_its_labels_or_none(fault: str) -> None:
    rig = Rig().settle()
    again, places = rig.keep(), set[tuple[int, int]]()
    again()
    labelled(rig.world, ONCE)
    for number in range(1, len(rig.choked.calls) + 1):
        again()
        rig.choked.plan = at_call(number, fault)
        with pytest.raises(Crash):
            labelled(rig.world, ONCE)
        rig.choked.plan = no_fault
        listed = [task.id for task in rig.store.lists.tasks_of_agent("acme", "auditor", 10, None).items]
        assert found(rig, "team=blue") == found(rig, "order=88010") == listed
        places.add((sum("#LABEL#" in item["pk"]["S"] for item in rig.items()), len(listed)))
        task_id = labelled(rig.world, ONCE).task.id
        assert found(rig, "team=blue") == found(rig, "order=88010") == [task_id]
    assert {(0, 0), (1, 0), (2, 0)} <= places

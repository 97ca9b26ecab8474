"""The store's run profiles, transcripts and usage."""

from __future__ import annotations

from baton.adapters.dynamodb import keys
from baton.adapters.dynamodb.agents.registry import Registry
from baton.adapters.dynamodb.runs import run_items
from baton.domain.runs.run_profile import RunProfile
from baton.domain.runs.transcript import Entry, Usage


class Runs(Registry):
    def profile(self, workspace: str, agent: str) -> RunProfile:
        return run_items.profile_from(workspace, agent, self._table.get(keys.profile(workspace, agent)))

    def transcript(self, workspace: str, task_id: str, after: int = 0) -> tuple[Entry, ...]:
        first, last = keys.entries_after(workspace, task_id, after)
        found = self._table.query_all(
            "#pk = :pk AND #sk BETWEEN :first AND :last", {":pk": first.pk, ":first": first.sk, ":last": last}
        )
        return tuple(map(run_items.entry_from, found))

    def usage(self, workspace: str, workflow_id: str, task_id: str) -> tuple[Usage, Usage]:
        of_task, of_workflow = keys.usage_of_task(workspace, task_id), keys.usage_of_workflow(workspace, workflow_id)
        found = self._table.get_many([of_task, of_workflow])
        return run_items.usage_from(found.get(of_task)), run_items.usage_from(found.get(of_workflow))

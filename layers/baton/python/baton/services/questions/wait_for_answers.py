"""A worker gives its claim up until people have answered (docs/spec/questions.md)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from baton.domain import errors, times
from baton.domain.questions.question import MAX_OPEN
from baton.domain.tasks import commands
from baton.domain.tasks.calls import WorkerCall
from baton.domain.tasks.task import Wait
from baton.ports.deps import Deps
from baton.ports.details import TaskDetails
from baton.ports.handoffs import HandoffInputs
from baton.services.claims.wait_for_callback import MAX_WAITS
from baton.steps.claims.end_claim import ClaimOutcome, EndClaimRequest, end_claim


def wait_for_answers(deps: Deps, call: WorkerCall, question_ids: Sequence[str]) -> TaskDetails:
    """The task goes on once each of these questions is answered, refused or expired, with what people said. It costs no
    attempt. Raises ``StaleClaim``, ``TooManyWaits``, ``InvalidInput`` and ``QuestionOver`` for one that is closed
    already: its answer is there."""
    request = EndClaimRequest(call=call, command_name=commands.WaitFor.name)
    wanted = tuple(dict.fromkeys(question_ids))

    def decide(inputs: HandoffInputs, now: datetime) -> ClaimOutcome:
        task = inputs.held.task
        if not 1 <= len(wanted) <= MAX_OPEN:
            raise errors.InvalidInput("questions", f"must name 1 to {MAX_OPEN} questions of the task")
        for question_id in wanted:
            if not any(each.id == question_id and each.until > now for each in task.questions):
                raise errors.QuestionOver(question_id, "closed, or none of this task's")
        if task.waits >= MAX_WAITS:
            raise errors.TooManyWaits(call.task_id, MAX_WAITS)
        alert_at = now + times.seconds(inputs.settings.waiting_alert_seconds)
        wait = Wait(number=task.waits + 1, since=now, alert_at=alert_at, questions=wanted)
        return ClaimOutcome(command=commands.WaitFor(by=call.by, claim_id=call.claim_id, wait=wait))

    return end_claim(deps, request, decide)

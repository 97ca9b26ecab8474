"""A flow of the client, played by a list of answers: no wire, and a pause takes no time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from baton_client.core import Answer, Flow, Pause, Request, Send, Step

NO_MORE = Answer(why="no more")


def played(
    flow: Flow[Any], answers: Sequence[Answer] | Callable[[float], Answer], steps: list[Step] | None = None
) -> tuple[Any, list[Step]]:
    """Returns the flow's result and its steps, which are also added to ``steps``. ``answers``: in turn, or by the
    seconds that have passed."""
    steps, passed = [] if steps is None else steps, 0.0
    left = iter(()) if callable(answers) else iter(answers)
    try:
        step = next(flow)
        while True:
            steps.append(step)
            if isinstance(step, Pause):
                answer = Answer(took=step.seconds)
            else:
                answer = answers(passed) if callable(answers) else next(left, NO_MORE)
            assert answer is not NO_MORE, f"the test has no answer to {step}"
            passed += answer.took
            step = flow.send(answer)
    except StopIteration as ended:
        return ended.value, steps


def sends(steps: Sequence[Step]) -> list[Request[Any]]:
    return [each.request for each in steps if isinstance(each, Send)]


def pauses(steps: Sequence[Step]) -> list[float]:
    return [each.seconds for each in steps if isinstance(each, Pause)]

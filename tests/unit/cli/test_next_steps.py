"""Whoever is refused is told what to do next, and can do it."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from baton.domain import errors
from baton_cli.failures import next_step_of
from baton_client.errors import Refused
from rest.errors import status_of
from support.values.command_lines import COMMANDS


def kinds(of: type[errors.BatonError] = errors.BatonError) -> Iterator[type[errors.BatonError]]:
    yield of
    for each in of.__subclasses__():
        yield from kinds(each)


def refusal_of(kind: type[errors.BatonError]) -> Refused:
    return Refused(status_of(kind.__new__(kind)), {"code": kind.code})


KINDS = sorted(set(kinds()), key=lambda kind: kind.__name__)


@pytest.mark.parametrize("kind", KINDS)
def test_every_refusal_names_a_next_step(kind: type[errors.BatonError]) -> None:
    assert next_step_of(refusal_of(kind))


@pytest.mark.parametrize("status", [400, 401, 403, 404, 405, 409, 413, 418, 422, 429, 500, 502, 503])
def test_so_does_an_answer_without_a_code(status: int) -> None:
    assert next_step_of(Refused(status, {}))


@pytest.mark.parametrize("kind", KINDS)
def test_a_next_step_names_only_commands_that_there_are(kind: type[errors.BatonError]) -> None:
    for noun, verb in re.findall(r"baton ([a-z-]+)(?: ([a-z-]+))?", next_step_of(refusal_of(kind))):
        assert noun in COMMANDS or f"{noun} {verb}" in COMMANDS


def test_a_release_of_a_review_is_repeated_with_the_agents_version() -> None:
    problem = {"code": "agent_changed", "review_id": "review_7", "agent": "auditor", "version": 3}
    step = next_step_of(Refused(409, problem))
    assert step.endswith("baton reviews release review_7 --version VERSION --agent-version 3")


def test_a_next_step_names_the_versions_of_the_agents_of_open_work() -> None:
    problem = {
        "code": "agent_changed",
        "task_id": "task_7",
        "agent": "auditor",
        "agent_versions": {"a": 1, "auditor": 3},
    }
    step = next_step_of(Refused(409, problem))
    assert step.endswith("""baton tasks approve task_7 --agent-versions '{"a": 1, "auditor": 3}'""")


def test_a_retry_is_repeated_with_the_agents_version() -> None:
    problem = {"code": "agent_changed", "retry_of": "task_7", "agent": "auditor", "version": 3}
    assert next_step_of(Refused(409, problem)).endswith("baton tasks retry task_7 --agent-version 3")


def test_a_standing_answer_is_repeated_with_the_agents_version() -> None:
    problem = {"code": "agent_changed", "question_id": "qst_7", "task_id": "task_7", "agent": "auditor", "version": 3}
    line = "--task task_7 --approve --digest DIGEST --standing FOR --agent-version 3"
    assert next_step_of(Refused(409, problem)).endswith(f"baton approvals answer qst_7 {line}")


def test_a_next_step_names_the_task_that_was_refused() -> None:
    refused = Refused(409, {"code": "revision_changed", "task_id": "task_7"})
    assert next_step_of(refused).endswith("baton tasks show task_7")
    assert next_step_of(Refused(409, {"code": "revision_changed"})).endswith("baton tasks show TASK")

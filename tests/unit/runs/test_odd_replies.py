"""A reply that says nothing is broken, a count that can't be is bounded, and what breaks inside is told in words."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from botocore.exceptions import ClientError, ParamValidationError

from baton.adapters.models.openai_reply import reply_in
from baton.domain.runs.transcript import MAX_COUNT, Usage, count_in
from baton.ports.runs import ModelReply, StopReason
from support.worlds.agent_runs import AgentRuns, says
from support.worlds.world import WORKSPACE, World

THOUGHT = {"reasoningContent": {"reasoningText": {"text": "Hm, the user would like to know.", "signature": "s"}}}
CLASS_NAME = re.compile(r"\b[A-Z]\w*(Error|Exception|Failed|Broken)\b|\b(botocore|pydantic|boto3|httpx)\b")
ODD = {
    "huge": 10**40,
    "beyond the table's digits": 10**39 - 1,
    "negative": -5,
    "endless": float("inf"),
    "no number": float("nan"),
    "true": True,
    "none": None,
    "text": "many",
    "a huge text": "9" * 5_000,
}


def thinks(*texts: str, stop: StopReason = StopReason.END_TURN) -> ModelReply:
    return ModelReply(blocks=(THOUGHT, *({"text": text} for text in texts)), stop_reason=stop)


def one(*answers: Any, world: World | None = None) -> AgentRuns:
    return AgentRuns({"anna": {}}, {"anna": list(answers)}, world=world).open()


@pytest.mark.parametrize(
    "reply",
    [
        thinks(),
        thinks(stop=StopReason.STOP_SEQUENCE),
        thinks(stop=StopReason.TOOL_USE),
        thinks(" \n\t "),
        thinks("\u200b", "\ufeff\u2060"),
        says("\u200b"),
        says(" "),
        reply_in(
            json.dumps({"choices": [{"message": {"reasoning_content": "Hm."}, "finish_reason": "stop"}]}).encode(), 9
        ),
    ],
)
def test_a_reply_without_words_is_repaired_like_any_other_broken_one(reply: ModelReply) -> None:
    agent_runs = one(reply, says("Here it is."))
    task = agent_runs.start("anna")
    assert (task.state, agent_runs.output(task.id)) == ("done", {"message": "Here it is."})
    assert "Answer again" in str(agent_runs.model.requests[1].messages)


def test_one_that_never_says_anything_fails_and_is_never_done_with_nothing() -> None:
    agent_runs = one(thinks())
    task = agent_runs.start("anna")
    assert (task.state, agent_runs.output(task.id)) == ("failed", None)
    assert agent_runs.failure(task.id)["type"] == "validation"
    assert "says nothing" in agent_runs.failure(task.id)["description"]
    assert len(agent_runs.model.requests) == 2


def test_thoughts_beside_words_are_no_matter() -> None:
    agent_runs = one(thinks("Hello."))
    assert agent_runs.output(agent_runs.start("anna").id) == {"message": "Hello."}


@pytest.mark.parametrize("said", ODD.values(), ids=ODD)
def test_a_count_that_cannot_be_fails_no_run(said: Any) -> None:
    odd = ModelReply(blocks=({"text": "Hi."},), stop_reason=StopReason.END_TURN, usage=Usage(0, said, said))
    agent_runs = one(odd)
    task = agent_runs.start("anna")
    assert (task.state, agent_runs.output(task.id)) == ("done", {"message": "Hi."})
    mine, all_ = agent_runs.deps.store.runs.usage(WORKSPACE, task.workflow_id, task.id)
    assert mine == all_
    assert mine.model_calls == 1
    assert 0 <= mine.input_tokens <= MAX_COUNT
    assert 0 <= mine.output_tokens <= MAX_COUNT


def test_a_huge_count_ends_the_run_by_its_budget_and_says_so() -> None:
    odd = ModelReply(blocks=(THOUGHT,), stop_reason=StopReason.END_TURN, usage=Usage(0, 10**40, 0))
    agent_runs = one(odd)
    task = agent_runs.start("anna")
    assert agent_runs.failure(task.id)["description"] == "The agent has used up its 200000 tokens."


@pytest.mark.parametrize(
    ("said", "counted"),
    [
        (7, 7),
        (7.9, 7),
        ("12", 12),
        (MAX_COUNT, MAX_COUNT),
        (MAX_COUNT + 1, MAX_COUNT),
        ("-3", 0),
        ("1e3", 0),
        ([], 0),
        ("٣", 0),
    ],
)
def test_counts_are_read_from_what_is_one(said: Any, counted: int) -> None:
    assert count_in(said) == counted
    assert type(count_in(said)) is int


@pytest.mark.parametrize(
    "told", [{"prompt_tokens": 10**40}, {"prompt_tokens": 3.0, "completion_tokens": "4"}, {"prompt_tokens": True}]
)
def test_a_servers_own_counts_are_bounded_too(told: Any) -> None:
    body = json.dumps({"choices": [{"message": {"content": "Hi"}, "finish_reason": "stop"}], "usage": told}).encode()
    usage = reply_in(body, 40).usage
    assert usage == usage.bounded()


@pytest.mark.parametrize(
    "error",
    [
        KeyError("secret"),
        ParamValidationError(report="secret"),
        ClientError({"Error": {"Code": "ValidationException", "Message": "secret"}}, "TransactWriteItems"),
        RecursionError("secret"),
    ],
)
def test_what_breaks_inside_is_told_without_its_name(error: Exception) -> None:
    agent_runs = one(error)
    task = agent_runs.start("anna")
    while agent_runs.task(task.id).state != "failed":
        agent_runs.world.clock.advance(600)
        agent_runs.sweep()
        agent_runs.run()
    told = json.dumps([agent_runs.failure(task.id), agent_runs.told(task.workflow_id)])
    assert "broke off inside of Baton" in told
    assert not CLASS_NAME.search(told), told
    assert "secret" not in told
    assert any(type(error).__name__ == line.get("error") for line in agent_runs.world.logged), "the log has it"

"""The input that a program gets from `baton worker`."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from baton_cli.worker.agent_work import AgentWork
from baton_cli.worker.program_input import WorkerClaim, environment, standard_input
from baton_client.numbers import loads
from baton_client.profiles import Profile

WORK = AgentWork(agent="qa", command=("true",), profile=Profile("", "http://a", "baton_tok_secret"), worker="w")
GIVEN = {"PATH": "/bin", "BATON_TOKEN": "baton_tok_other", "BATON_RUN_KEY": "00" * 32}


def claim(reason: str = "Test it") -> WorkerClaim:
    task = {"id": "task_1", "title": "Test it", "workflow_id": "wf_1", "attempt": 1}
    body: dict[str, Any] = {"target": {"reason": reason}}
    return WorkerClaim({"task": task, "claim_id": "clm_1", "fence": 1, "lease_seconds": 60, "body": body})


@pytest.mark.parametrize("character", ["\u202e", "\u200b", "\U000e0041", "\x9b"])
def test_a_model_reads_no_hidden_character(character: str) -> None:
    written = standard_input(claim(f"Pay{character}ada"), "key", is_text=True).decode()
    assert character not in written
    assert json.loads(written)["asked"]["reason"] == f"Pay{character}ada"


def test_a_program_gets_no_secret_that_it_isnt_lent() -> None:
    kept = environment(WORK, claim(), "key", GIVEN)
    assert kept["PATH"] == "/bin"
    assert not {"BATON_TOKEN", "BATON_RUN_KEY", "BATON_CLAIM_ID"} & kept.keys()
    lent = environment(replace(WORK, lends_token=True), claim(), "key", GIVEN)
    assert (lent["BATON_TOKEN"], lent["BATON_RUN_KEY"]) == ("baton_tok_secret", "00" * 32)


@pytest.mark.parametrize("is_text", [False, True])
def test_a_program_reads_each_digit_of_a_number(*, is_text: bool) -> None:
    written = '{"amount": 12345678901234567.10, "rate": 1E2}'
    asked = WorkerClaim({**claim().json, "body": loads(written)})
    assert written in standard_input(asked, "key", is_text=is_text).decode()

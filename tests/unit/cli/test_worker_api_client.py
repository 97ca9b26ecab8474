"""What a worker makes of an answer that Baton may not have given."""

from __future__ import annotations

import pytest

from baton_cli.worker.api_client import AnswerKind, post
from baton_client.caller import Caller
from baton_client.profiles import Profile
from support.scripted_api import Answer, ScriptedApi

PORTAL = Answer(200, "<html>Sign in to this network</html>")


@pytest.mark.parametrize(
    ("answer", "heard"),
    [
        (Answer(200, {"task": {}}), AnswerKind.DONE),
        (Answer(201, {}), AnswerKind.DONE),
        (Answer(204), AnswerKind.DONE),
        (PORTAL, AnswerKind.RETRY),
        (Answer(200), AnswerKind.RETRY),
        (Answer(200, [1]), AnswerKind.RETRY),
        (Answer(302, headers={"Location": "http://127.0.0.1:9/"}), AnswerKind.RETRY),
    ],
)
def test_only_what_baton_answers_is_taken_for_done(scripted: ScriptedApi, answer: Answer, heard: AnswerKind) -> None:
    scripted.will(answer)
    client = Caller(Profile("", scripted.url, "baton_tok_secret"))
    told = post(client, "/tasks/t/complete", {}, key="k").kind
    client.close()
    assert (told, len(scripted.asked)) == (heard, 1)

"""What a worker makes of an answer that Baton may not have given."""

from __future__ import annotations

import pytest

from baton_cli.client import Client
from baton_cli.profiles import Profile
from baton_cli.worker.door import Heard, ask
from support.scripted_api import Answer, ScriptedApi

PORTAL = Answer(200, "<html>Sign in to this network</html>")


@pytest.mark.parametrize(
    ("answer", "heard"),
    [
        (Answer(200, {"task": {}}), Heard.DONE),
        (Answer(201, {}), Heard.DONE),
        (Answer(204), Heard.DONE),
        (PORTAL, Heard.AGAIN),
        (Answer(200), Heard.AGAIN),
        (Answer(200, [1]), Heard.AGAIN),
        (Answer(302, headers={"Location": "http://127.0.0.1:9/"}), Heard.AGAIN),
    ],
)
def test_only_what_baton_answers_is_taken_for_done(scripted: ScriptedApi, answer: Answer, heard: Heard) -> None:
    scripted.will(answer)
    client = Client(Profile("", scripted.url, "baton_tok_secret"))
    told = ask(client, "/tasks/t/complete", {}, key="k").heard
    client.close()
    assert (told, len(scripted.asked)) == (heard, 1)

"""What a worker makes of an answer that Baton may not have given."""

from __future__ import annotations

import pytest

from baton_cli.worker.api_client import AnswerKind, ApiAnswer, post
from baton_client.caller import Caller
from baton_client.profiles import Profile
from support.faults.soak import crossed
from support.scripted_api import Answer, ScriptedApi
from support.values.genuine_answers import completed

JSON = {"Content-Type": "application/json"}

PAGE = {"Content-Type": "text/html"}
VERBS = {
    "heartbeat": "/tasks/t/heartbeat",
    "claim": "/tasks/t/claim",
    "claim the next": "/agents/qa/claims",
    "wait": "/agents/qa/claims/wait?timeout=20",
    "checkpoint": "/tasks/t/checkpoints",
    "complete": "/tasks/t/complete",
    "fail": "/tasks/t/fail",
    "release": "/tasks/t/release",
    "delegate": "/tasks/t/delegate",
}
STATUSES = (
    200,
    201,
    204,
    302,
    304,
    400,
    401,
    403,
    404,
    405,
    409,
    413,
    422,
    425,
    429,
    500,
    502,
    503,
    504,
    520,
    524,
    530,
)
FOREIGN = {
    **{
        f"a page of {each}": Answer(each, "<html>Sign in to this network</html>", PAGE)
        for each in STATUSES
        if each >= 200
    },
    **{f"AWS's own {each}": Answer(each, {"message": "Forbidden"}, JSON) for each in STATUSES if each >= 400},
    **{f"nothing with {each}": Answer(each) for each in STATUSES if each != 204},
    "another program's object": Answer(200, {"status": "ok"}, JSON, is_foreign=True),
    "another program's problem": Answer(404, {"code": 7, "status": 404}, JSON),
    "a list": Answer(200, [1], JSON),
    "a text": Answer(200, "ok", JSON),
    "a plain text": Answer(200, "ok", {"Content-Type": "text/plain"}),
    "a redirect": Answer(302, headers={"Location": "http://127.0.0.1:9/"}),
}


def heard(scripted: ScriptedApi, path: str, answer: Answer) -> ApiAnswer:
    scripted.will(answer)
    client = Caller(Profile("", scripted.url, "baton_tok_secret"))
    told = post(client, path, {}, key="k")
    client.close()
    assert len(scripted.asked) == 1
    return told


@pytest.mark.parametrize(("verb", "name"), crossed([*VERBS], [*FOREIGN]))
def test_no_answer_of_a_network_ends_anything(scripted: ScriptedApi, verb: str, name: str) -> None:
    if name.endswith(" 204") and "claim" in VERBS[verb]:
        pytest.skip("Baton's own answer has this status, and no body")
    told = heard(scripted, VERBS[verb], FOREIGN[name])
    assert told.kind is AnswerKind.RETRY
    assert told.said.startswith("no answer of Baton's: ")
    assert told.json is None


def test_a_path_that_no_request_may_have_is_refused_and_not_sent(scripted: ScriptedApi) -> None:
    client = Caller(Profile("", scripted.url, "baton_tok_secret"))
    assert post(client, "/tasks/a task/complete", {}, key="k").kind is AnswerKind.REFUSED
    client.close()
    assert scripted.asked == []


@pytest.mark.parametrize("verb", VERBS)
def test_batons_answers_are_taken(scripted: ScriptedApi, verb: str) -> None:
    status = 201 if verb == "checkpoint" else 200
    body = completed("POST", VERBS[verb], status, {})
    assert heard(scripted, VERBS[verb], Answer(status, body, JSON)).kind is AnswerKind.DONE


@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [
        (401, "not_authenticated", AnswerKind.DENIED),
        (403, "token_refused", AnswerKind.DENIED),
        (404, "not_found", AnswerKind.CLAIM_OVER),
        (409, "stale_claim", AnswerKind.CLAIM_OVER),
        (422, "invalid_input", AnswerKind.REFUSED),
        (503, "busy", AnswerKind.RETRY),
    ],
)
def test_batons_refusals_are_taken(scripted: ScriptedApi, status: int, code: str, kind: AnswerKind) -> None:
    told = heard(scripted, VERBS["complete"], Answer(status, {"code": code}, JSON))
    assert (told.kind, told.code) == (kind, code)

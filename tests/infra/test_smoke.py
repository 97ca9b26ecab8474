"""What `make smoke` says where a deployment doesn't answer as Baton does."""

from __future__ import annotations

import httpx
import pytest

from infra.citations import ROOT
from tools.admin.smoke import FAILED, UNFIT, main, smoke
from tools.admin.smoke_checks import ALL, CANARY, SLOW
from tools.admin.smoke_world import Caller, Unfit, World, connected

SECRET = "baton_tok_secret"


def world(answer: httpx.Response) -> World:
    http = httpx.Client(base_url="https://api.example", transport=httpx.MockTransport(lambda _: answer))
    return World(Caller(http), Caller(http, SECRET), "abc123")


@pytest.mark.parametrize(
    "answer", [httpx.Response(503, text="no"), httpx.Response(200, text="<html>"), httpx.Response(200, json={"a": 1})]
)
def test_another_server_is_no_success(answer: httpx.Response, capsys: pytest.CaptureFixture[str]) -> None:
    assert smoke(world(answer), [*ALL, *SLOW]) == FAILED
    said = capsys.readouterr().out
    assert "FAIL" in said
    assert "not all was cleaned up" in said
    assert "smoke-abc123-" in said
    assert "secret" not in said


def test_no_token_crosses_a_network_in_the_clear() -> None:
    for api in ("http://api.example", "ftp://api.example", "api.example", "http://localhost.example"):
        with pytest.raises(Unfit, match="https://"), connected(api):
            pass
    with connected("http://abc.execute-api.localhost:4740/") as http:
        assert str(http.base_url) == "http://127.0.0.1:4740"
        assert http.headers["Host"] == "abc.execute-api.localhost:4740"


def test_it_says_what_it_needs(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("API", "https://api.example")
    monkeypatch.delenv("TOKEN", raising=False)
    assert main() == UNFIT
    assert "TOKEN=" in capsys.readouterr().err


def test_every_check_says_where_to_look() -> None:
    for check in [*ALL, *SLOW, *CANARY]:
        for page, _, places in (part.partition(", ") for part in check.look.split("; ")):
            if page.startswith("docs/"):
                text = (ROOT / page).read_text(encoding="utf-8")
                assert all(place in text for place in places.partition(":")[0].split(" and ")), check.what

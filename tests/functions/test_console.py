"""The console's files: sent to anybody, kept by browsers, and nothing else to be had there."""

from __future__ import annotations

import base64
import gzip
import re
from pathlib import Path
from typing import Any

import pytest

from all_routes.handler import lambda_handler as all_routes
from console.console_files import FOLDER, INDEX, PLACEHOLDER, console_files
from console.handler import GUARDS, is_for_console, lambda_handler
from support.context import FakeContext

LINKS = re.compile(r'(?:href|src)="([^"]+)"')


def ask(path: Any, method: str = "GET", **headers: str) -> dict[str, Any]:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    event = {"rawPath": path, "headers": named, "requestContext": {"http": {"method": method}}}
    return lambda_handler(event, None)


def content(answer: dict[str, Any]) -> bytes:
    assert answer["isBase64Encoded"]
    sent = base64.b64decode(answer["body"])
    return gzip.decompress(sent) if answer["headers"].get("Content-Encoding") == "gzip" else sent


def links() -> list[str]:
    return LINKS.findall(content(ask("/console/")).decode())


@pytest.mark.parametrize("path", ["/console", "/console/"])
def test_the_first_page_is_asked_for_anew_and_names_the_tree(path: str) -> None:
    page = ask(path, accept_encoding="gzip, deflate, br")
    assert (page["statusCode"], page["headers"]["Cache-Control"]) == (200, "no-cache")
    assert page["headers"]["Content-Type"] == "text/html; charset=utf-8"
    assert page["headers"]["Vary"] == "Accept-Encoding"
    assert PLACEHOLDER not in content(page)
    assert links()
    assert all(re.fullmatch(r"/console/[0-9a-f]{16}/[\w./-]+", each) for each in links())


def test_each_file_is_there_under_the_hash_of_all_and_may_be_kept_for_ever() -> None:
    tree = links()[0].rpartition("/")[0][: len("/console/") + 16]
    for file in (each for each in FOLDER.rglob("*") if each.is_file() and each.name != INDEX):
        answer = ask(f"{tree}/{file.relative_to(FOLDER).as_posix()}", accept_encoding="gzip")
        assert answer["statusCode"] == 200
        assert answer["headers"]["Cache-Control"] == "public, max-age=31536000, immutable"
        assert content(answer) == file.read_bytes()


@pytest.mark.parametrize(
    ("accepted", "is_zipped"),
    [
        ("gzip", True),
        ("br, GZIP;q=0.5", True),
        ("gzip;q=1.0", True),
        ("gzip;q=0", False),
        ("gzip; q=0.000", False),
        ("br", False),
        ("", False),
        ("xgzip", False),
    ],
)
def test_it_is_compressed_for_those_who_take_it(accepted: str, *, is_zipped: bool) -> None:
    answer = ask("/console/", accept_encoding=accepted)
    assert (answer["headers"].get("Content-Encoding") == "gzip") is is_zipped
    assert b"<!doctype html>" in content(answer).lower()


def test_what_a_browser_has_is_not_sent_again() -> None:
    tag = ask("/console/", accept_encoding="gzip")["headers"]["ETag"]
    for known in (tag, f'"other", {tag}', f"W/{tag}"):
        again = ask("/console/", accept_encoding="gzip", if_none_match=known)
        assert (again["statusCode"], again["body"]) == (304, "")
        assert (again["headers"]["ETag"], again["headers"]["Cache-Control"]) == (tag, "no-cache")
    assert ask("/console/", accept_encoding="gzip", if_none_match='"other"')["statusCode"] == 200
    assert ask("/console/", if_none_match=tag)["statusCode"] == 200, "the other bytes"


def test_any_change_makes_another_tree_and_an_old_one_is_gone(tmp_path: Path) -> None:
    def tree() -> set[str]:
        return {path for path in console_files(tmp_path) if path.endswith("app.js")}

    (tmp_path / INDEX).write_bytes(b'<script src="{{tree}}/app.js"></script>')
    (tmp_path / "app.js").write_text("one")
    first = tree()
    (tmp_path / "app.js").write_text("two")
    second = tree()
    (tmp_path / "more.js").write_text("")
    assert len(first | second | tree()) == 3
    assert set(console_files(tmp_path)) >= {"/console", "/console/"}


def test_a_file_of_an_unknown_kind_is_found_before_it_is_deployed(tmp_path: Path) -> None:
    (tmp_path / INDEX).write_text("")
    (tmp_path / "secrets.env").write_text("")
    with pytest.raises(KeyError):
        console_files(tmp_path)


@pytest.mark.parametrize(
    "path",
    [
        "/console/x",
        "/console/index.html",
        "/console//",
        "/console/../handler.py",
        "/console/%2e%2e/handler.py",
        "/console/0123456789abcdef/index.html",
        "{tree}/",
        "{tree}/index.html",
        "{tree}/../handler.py",
        "{tree}/%2e%2e/handler.py",
        "{tree}//etc/passwd",
        "{tree}/handler.py",
        None,
        7,
    ],
)
def test_nothing_else_exists(path: str | None) -> None:
    tree = "/".join(links()[0].split("/")[:3])
    answer = ask(path.format(tree=tree) if isinstance(path, str) else path)
    assert (answer["statusCode"], answer["headers"]["Cache-Control"]) == (404, "no-store")


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_pages_are_only_read(method: str) -> None:
    answer = ask("/console/", method)
    assert (answer["statusCode"], answer["headers"]["Allow"]) == (405, "GET, HEAD")


def test_a_head_has_the_headers_and_no_body() -> None:
    page, head = ask("/console/"), ask("/console/", "HEAD")
    assert head == page | {"body": "", "isBase64Encoded": False}


@pytest.mark.parametrize(
    "answer",
    [
        *(ask("/console/"), ask("/console/", if_none_match=ask("/console/")["headers"]["ETag"]), ask("/console/x")),
        *(ask("/console/", "POST"), lambda_handler({}, None), lambda_handler({"requestContext": None}, None)),
    ],
    ids=["200", "304", "404", "405", "nothing", "no context"],
)
def test_every_answer_has_the_policy(answer: dict[str, Any]) -> None:
    assert answer["headers"].items() >= GUARDS.items()
    policy = answer["headers"]["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; script-src 'self'; ")
    assert policy.endswith("require-trusted-types-for 'script'; trusted-types 'none'")
    assert "unsafe" not in policy


@pytest.mark.parametrize(
    ("bell_url", "origins"),
    [
        ("", "'self'"),
        ("wss://abc.execute-api.eu-west-1.amazonaws.com/live", "'self' wss://abc.execute-api.eu-west-1.amazonaws.com"),
        ("ws://1a2b3c4d.execute-api.localhost:4566/live", "'self' ws://1a2b3c4d.execute-api.localhost:4566"),
        ("https://elsewhere.example/live", "'self'"),
        ("wss://*/live", "'self'"),
        ("wss://a.example; script-src */live", "'self'"),
    ],
)
def test_a_page_connects_to_its_own_origin_and_to_the_bell_s_alone(
    monkeypatch: pytest.MonkeyPatch, bell_url: str, origins: str
) -> None:
    monkeypatch.setenv("BATON_BELL_URL", bell_url)
    policy = ask("/console/")["headers"]["Content-Security-Policy"]
    assert f"; connect-src {origins}; img-src 'self'; " in policy
    assert policy.count("connect-src") == 1


def test_the_first_page_has_no_script_of_its_own() -> None:
    page = content(ask("/console/")).decode()
    assert re.findall(r"<script(?![^>]*\bsrc=)|\son\w+=|\sstyle=|<style", page) == []


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        ({"rawPath": "/console"}, True),
        ({"rawPath": "/console/a"}, True),
        ({"rawPath": "/consoles"}, False),
        ({"rawPath": "/tasks"}, False),
        ({"rawPath": 1}, False),
        ({}, False),
    ],
)
def test_a_function_url_sends_it_what_the_gateway_would(event: dict[str, Any], *, expected: bool) -> None:
    assert is_for_console(event) is expected
    if expected:
        assert all_routes(event, FakeContext())["statusCode"] == 405

"""Requests as programs, proxies and shells send them: HEAD, tags that were rewritten, other character sets, byte order
marks, leap seconds."""

from __future__ import annotations

import pytest

from support.gateway import Gateway, Reply
from support.worlds.world import World, agent, human

ADA, SCOUT = human(name="ada"), agent("scout")
WORK = '{"source": {"agent": "scout"}, "target": {"agent": "auditor", "reason": "%s"}}'
LOST = "Pr\ufffdfe die Gr\ufffd\ufffde"


def sent(gateway: Gateway, text: str, **headers: str) -> Reply:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return gateway.send(SCOUT, "POST", "/handoffs", text, headers=named)


def test_head_answers_like_get_without_a_body(gateway: Gateway) -> None:
    for by, path in ((None, "/healthz"), (ADA, "/tasks"), (ADA, "/tasks/task_nope")):
        get, head = gateway.send(by, "GET", path), gateway.send(by, "HEAD", path)
        assert (head.status, head.text) == (get.status, "")
        assert {**head.headers, "X-Request-Id": ""} == {**get.headers, "X-Request-Id": ""}
    refused = gateway.send(ADA, "PUT", "/tasks")
    assert (refused.status, refused.headers["Allow"]) == (405, "GET, HEAD")


@pytest.mark.parametrize("form", ["{}", '"{}"', 'W/"{}-gzip"', '"{};br"', '"other", W/"{}"'])
def test_a_tag_is_known_in_each_form_that_a_proxy_gives_it(gateway: Gateway, form: str) -> None:
    tag = gateway.send(ADA, "GET", "/agents").headers["ETag"]
    shown = tag if form == "{}" else form.format(tag[3:-1])
    assert gateway.send(ADA, "GET", "/agents", headers={"if-none-match": shown}).status == 304
    assert gateway.send(ADA, "GET", "/agents", headers={"if-none-match": '"another"'}).status == 200


def test_a_body_in_another_character_set_is_refused_and_writes_nothing(world: World, gateway: Gateway) -> None:
    before = world.stored()
    latin = (WORK % "Prüfe die Größe").encode("latin-1")
    lost = WORK % LOST
    replaced = sent(gateway, lost, content_type="application/json", content_length=str(len(latin)))
    assert (replaced.status, replaced.code, replaced.fields) == (400, "malformed_json", ["body"])
    named = sent(gateway, WORK % "x", content_type="application/json; charset=ISO-8859-1")
    assert (named.status, named.code) == (415, "unknown_charset")
    assert "UTF-8" in named.json["detail"]
    assert world.stored() == before


@pytest.mark.parametrize("charset", ["", "; charset=utf-8", '; Charset="UTF8"', ";charset=us-ascii"])
def test_a_replacement_character_that_the_caller_wrote_is_kept(gateway: Gateway, charset: str) -> None:
    text = WORK % LOST
    length = str(len(text.encode()))
    made = sent(gateway, text, content_type=f"application/json{charset}", content_length=length)
    assert (made.status, made.json["handoff"]["target"]["reason"]) == (201, LOST)
    assert sent(gateway, text).status == 201  # without a length


def test_a_byte_order_mark_before_json_is_passed_over(gateway: Gateway) -> None:
    assert sent(gateway, "\ufeff" + WORK % "Look").json["handoff"]["target"]["reason"] == "Look"
    assert sent(gateway, "\ufeff\ufeff" + WORK % "Look").status == 400


def test_a_leap_second_is_the_next_minutes_first(gateway: Gateway) -> None:
    text = (WORK % "Look")[:-1] + ', "metadata": {"not_before": "2030-12-31T23:59:60Z"}}'
    assert sent(gateway, text).json["handoff"]["metadata"]["not_before"].startswith("2031-01-01T00:00:00")
    wrong = (WORK % "Look")[:-1] + ', "metadata": {"not_before": "2030-12-31T23:59:61Z"}}'
    assert sent(gateway, wrong).fields == ["metadata.not_before"]


@pytest.mark.parametrize("reason", ["\u200b", "\u2060 \u00ad", "\ufe0f", "\u202e\u202c", "\u3164", "\ufff9", "\u2800"])
def test_a_reason_has_a_visible_character(gateway: Gateway, reason: str) -> None:
    assert sent(gateway, WORK % reason).fields == ["target.reason"]
    assert sent(gateway, WORK % f"{reason}a").status == 201


@pytest.mark.parametrize("zone", ["localtime", "posixrules", "Factory", "right/UTC", "posix/UTC", "Europe"])
def test_a_file_that_names_no_zone_is_refused(gateway: Gateway, zone: str) -> None:
    assert gateway.put(ADA, "/workspace/settings", {"time_zone": zone}).fields == ["time_zone"]

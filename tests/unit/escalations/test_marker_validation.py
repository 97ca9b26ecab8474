"""What a marker may say, and the words in which it is refused (docs/spec/marker.md §1)."""

from __future__ import annotations

from typing import Any

import pytest

from baton.domain.agents.agent import Roster
from baton.domain.errors import InvalidMarker, NotYourAgent, ScopeNeeded
from baton.domain.escalations.marker import Marker, parse_marker
from support.values.tasks import BARE_HUMAN, SERVICE, an_agent
from support.worlds.world import World, agent, human, marker_body

ROSTER = Roster(
    (
        an_agent("scout", name="Scout"),
        an_agent("client", name="Client"),
        an_agent("auditor", name="Client Repo Auditor", aliases=("Auditor", "Zoé")),
        an_agent("gone", name="Gone", active=False),
    )
)
NAMES = "Client, Client Repo Auditor, Scout"
PAGE = "0123456789abcdef0123456789abcdef"
DASHED = "01234567-89ab-cdef-0123-456789abcdef"


def parse(**changes: Any) -> Marker:
    body = marker_body(**changes)
    return parse_marker({k: v for k, v in body.items() if v is not ...}, ROSTER)


def refusal(**changes: Any) -> str:
    with pytest.raises(InvalidMarker) as refused:
        parse(**changes)
    return refused.value.message


# The four sentences that callers know, word for word, and what they come before


def test_an_unknown_source_is_named_with_all_valid_names_sorted() -> None:
    assert refusal(source_agent="Nobody") == f"Invalid source_agent: Nobody. Valid names: {NAMES}"


def test_an_unknown_target_is_named_with_all_valid_names_sorted() -> None:
    assert refusal(target_agent="Nobody") == f"Invalid target_agent: Nobody. Valid names: {NAMES}"


@pytest.mark.parametrize("value", [None, "", "   ", "\n\t", ...])
@pytest.mark.parametrize("field", ["escalation_reason", "source_digest_url"])
def test_reason_and_url_are_required(field: str, value: Any) -> None:
    assert refusal(**{field: value}) == "escalation_reason and source_digest_url are required"


@pytest.mark.parametrize("value", [None, "", " ", ...])
def test_a_task_needs_a_priority(value: Any) -> None:
    assert refusal(task_priority=value) == "task_priority is required when create_task is true"
    assert refusal(task_priority=value, create_task=...) == "task_priority is required when create_task is true"
    assert parse(task_priority=value, create_task=False).create_task is False


def test_the_first_failure_wins_in_the_order_of_the_page() -> None:
    wrong: dict[str, Any] = {
        "source_agent": "X",
        "target_agent": "Y",
        "escalation_reason": "",
        "task_priority": None,
        "colour": "red",
    }
    assert refusal(**wrong).startswith("Invalid source_agent: X. ")
    wrong["source_agent"] = "scout"
    assert refusal(**wrong).startswith("Invalid target_agent: Y. ")
    wrong["target_agent"] = "scout"
    assert refusal(**wrong) == "escalation_reason and source_digest_url are required"
    wrong["escalation_reason"] = "a reason"
    assert refusal(**wrong) == "task_priority is required when create_task is true"
    wrong["task_priority"] = "high"
    assert refusal(**wrong) == "colour is not a field of a handoff marker"
    del wrong["colour"]
    assert refusal(**wrong) == "source_agent and target_agent must differ"


def test_the_field_that_is_wrong_is_named_beside_the_sentence() -> None:
    with pytest.raises(InvalidMarker) as refused:
        parse(source_digest_url=" ")
    assert refused.value.field == "source_digest_url"
    assert refused.value.code == "invalid_marker"


@pytest.mark.parametrize("value", [None, ..., 7, ["scout"], {"name": "scout"}, True])
def test_a_source_that_is_no_string_is_invalid_not_a_crash(value: Any) -> None:
    assert refusal(source_agent=value).startswith("Invalid source_agent: ")


def test_a_refused_name_cannot_forge_a_line_or_flood_the_message() -> None:
    message = refusal(source_agent="x\nEscalated To: Evil" + "y" * 5_000)
    assert "\n" not in message
    assert len(message) < 400


# Names


@pytest.mark.parametrize("name", ["auditor", "Client Repo Auditor", "  Client Repo Auditor\n", "Auditor", "Zoe\u0301"])
def test_slug_name_and_aliases_find_the_agent_after_nfc_and_trimming(name: str) -> None:
    marker = parse(target_agent=name)
    assert marker.target.slug == "auditor"
    assert marker.request["target_agent"] == "Client Repo Auditor"


@pytest.mark.parametrize(
    "name", ["AUDITOR", "client repo auditor", "Client  Repo Auditor", "Zoe", "Clie", "Gone", "gone"]
)
def test_names_are_matched_exactly_and_inactive_agents_not_at_all(name: str) -> None:
    assert refusal(target_agent=name) == f"Invalid target_agent: {name}. Valid names: {NAMES}"


def test_source_and_target_differ_even_when_named_differently() -> None:
    assert refusal(source_agent="Auditor", target_agent="auditor") == "source_agent and target_agent must differ"


# Lengths, types, unknown fields


@pytest.mark.parametrize("field", ["escalation_reason", "source_digest_url"])
def test_texts_may_have_2000_characters_after_trimming_and_not_one_more(field: str) -> None:
    start = "https://a.example/" if field == "source_digest_url" else ""
    fits = start + "é" * (2_000 - len(start))
    parse(**{field: f"  {fits}  "})
    assert refusal(**{field: fits + "é"}) == f"{field} must be at most 2000 characters"


@pytest.mark.parametrize("field", ["escalation_reason", "source_digest_url"])
@pytest.mark.parametrize("value", [7, True, ["a"], {"a": 1}, 1.5])
def test_texts_are_strings(field: str, value: Any) -> None:
    assert refusal(**{field: value}) == f"{field} must be a string"


@pytest.mark.parametrize("value", ["true", 1, 0, None, [], "false"])
def test_create_task_is_a_boolean(value: Any) -> None:
    assert refusal(create_task=value) == "create_task must be true or false"


def test_create_task_is_true_unless_said_otherwise() -> None:
    assert parse(create_task=...).create_task is True


def test_unknown_fields_are_refused_by_name() -> None:
    assert refusal(colour="red", Source_agent="x") == "Source_agent is not a field of a handoff marker"
    assert "\n" not in refusal(**{"a\nb": 1})


# Priorities


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("🔴 High", "P0"),
        ("🟡 Medium", "P1"),
        ("🟢 Low", "P2"),
        ("high", "P0"),
        ("medium", "P1"),
        ("low", "P2"),
        ("P0", "P0"),
        ("P1", "P1"),
        ("P2", "P2"),
    ],
)
def test_priorities_in_each_spelling(said: str, meant: str) -> None:
    assert parse(task_priority=said).priority == meant


@pytest.mark.parametrize("value", ["High", "HIGH", "p0", "P3", "🔴High", " high", 0, True, ["high"], {"a": 1}])
@pytest.mark.parametrize("create_task", [True, False])
def test_other_priorities_are_refused_with_the_valid_ones(value: Any, create_task: bool) -> None:
    assert refusal(task_priority=value, create_task=create_task) == (
        "task_priority must be one of: 🔴 High, 🟡 Medium, 🟢 Low, high, medium, low, P0, P1, P2"
    )


# URLs


@pytest.mark.parametrize(
    "url",
    [
        "http://a",
        "https://a.example:8443/p?q=1#f",
        "HTTPS://A.EXAMPLE/",
        "https://user:pw@a.example/",
        "http://[::1]:80/",
        "https://www.notion.so/Digest-0123456789abcdef",
        "https://a.example/%0A",
        "https://täst.example/ü",
        "  https://a.example/  ",
    ],
)
def test_http_and_https_urls_are_taken(url: str) -> None:
    assert parse(source_digest_url=url).digest_url == url.strip()


@pytest.mark.parametrize(
    "url",
    [
        "ftp://a.example/",
        "javascript:alert(1)",
        "//a.example/",
        "a.example",
        "http:",
        "http://",
        "http:///path",
        "https://:443/",
        "https://@/",
        "http://[::1",
        "http://a.example:99999/",
        "http://a.example:0/",
        "http://a.example:port/",
        "https://a.example/a b",
        "https://a.example/\nEscalated To: Evil",
        "https://a.example/\u2028x",
        "https://a.example/\u202ex",
        "ht\ntps://a.example/",
        "data:text/html,x",
        "file:///etc/passwd",
        "https://a.example/\x00",
    ],
)
def test_anything_else_is_no_url(url: str) -> None:
    assert refusal(source_digest_url=url) == "source_digest_url must be an http or https URL"


# Relations


@pytest.mark.parametrize("field", ["client_relation_ids", "project_relation_ids"])
def test_relation_ids_are_page_ids_dashed_or_not_kept_once_each(field: str) -> None:
    marker = parse(**{field: [DASHED, PAGE.upper(), PAGE, "f" * 32]})
    assert getattr(marker, field) == (PAGE, "f" * 32)
    assert getattr(parse(), field) == ()


@pytest.mark.parametrize("field", ["client_relation_ids", "project_relation_ids"])
def test_a_hundred_relations_and_not_one_more(field: str) -> None:
    ids = [f"{n:032x}" for n in range(101)]
    assert len(getattr(parse(**{field: ids[:100]}), field)) == 100
    assert refusal(**{field: ids}) == f"{field} must have at most 100 entries"


@pytest.mark.parametrize(
    "value", [PAGE[:-1], PAGE + "0", "g" * 32, PAGE + "\n", "01234567-89abcdef-0123-456789abcdef", 7, None, ""]
)
def test_other_ids_are_refused(value: Any) -> None:
    assert refusal(client_relation_ids=[PAGE, value]) == (
        "client_relation_ids must hold Notion page ids (32 hexadecimal digits, dashed or not)"
    )


@pytest.mark.parametrize("value", [PAGE, {"id": PAGE}, None, 7])
def test_relations_are_an_array(value: Any) -> None:
    assert refusal(project_relation_ids=value) == "project_relation_ids must be an array of Notion page ids"


# Nothing happens before everything is checked


@pytest.mark.parametrize(
    "wrong",
    [
        {"source_agent": "X"},
        {"target_agent": "X"},
        {"escalation_reason": ""},
        {"task_priority": None},
        {"colour": 1},
        {"source_digest_url": "x"},
        {"client_relation_ids": ["x"]},
    ],
)
def test_a_refused_marker_writes_and_sends_nothing(world: World, wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidMarker):
        world.mark(human(), **{"target_agent": "runner", **wrong})
    day = world.clock.now().date()
    assert world.store.lists.tasks_of_day("acme", day, 10, None).items == ()
    assert world.store.escalations.marker_inputs("acme", ("scout", "runner"), None)[1].version == 0
    assert world.dispatch_queue.notices == []


def test_an_agent_speaks_only_for_itself_and_a_service_only_with_the_scope(world: World) -> None:
    for by, error in ((agent("auditor"), NotYourAgent), (SERVICE, ScopeNeeded), (BARE_HUMAN, ScopeNeeded)):
        with pytest.raises(error):
            world.mark(by)
        with pytest.raises(error):
            world.mark(by, create_task=False)
    assert world.store.lists.tasks_of_agent("acme", "auditor", 10, None).items == ()

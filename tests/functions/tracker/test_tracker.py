"""The tracker over HTTP: its settings and token, its health, and the ways to and from it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from baton.domain.settings.tracker_settings import MAX_WORDS, PRIORITIES, PROPERTIES, STATUSES
from baton.services.tracker.set_tracker_token import MAX_TOKEN
from support.gateway import Gateway, Reply
from support.worlds.notion_world import TOKEN, NotionWorld
from support.worlds.world import World, agent, human, marker_body, service
from tools.stand_ins.fake_notion import Fault

ALICE, SCOUT, CI = human(), agent("scout"), service()
SETTINGS = "/workspace/settings"
DATABASE = "0123456789abcdef0123456789abcdef"
DEFAULTS: dict[str, Any] = {
    "database": DATABASE,
    "properties": PROPERTIES,
    "statuses": {str(state): word for state, word in STATUSES.items()},
    "priorities": {str(priority): word for priority, word in PRIORITIES.items()},
    "closed_statuses": ["Done", "Closed", "Complete"],
    "cancelled_statuses": ["Cancelled", "Canceled"],
    "rights": {},
}


@pytest.fixture
def tracked() -> NotionWorld:
    """A workspace that keeps its tasks in Notion."""
    return NotionWorld().settle()


@pytest.fixture
def edge(tracked: NotionWorld) -> Gateway:
    return Gateway(tracked.deps)


def mark(edge: Gateway, **changes: Any) -> Reply:
    return edge.post(SCOUT, "/handoff-markers", marker_body(**changes))


def always(fault: Fault) -> Callable[[str, str], Fault | None]:
    return lambda *_: fault


def of_new_pages(fault: Fault) -> Callable[[str, str], Fault | None]:
    """Whatever else is asked is answered."""
    return lambda method, path: fault if (method, path) == ("POST", "/v1/pages") else None


REFUSED = of_new_pages(Fault(status=400, code="validation_error"))


def dead(tracked: NotionWorld, edge: Gateway, **changes: Any) -> str:
    """A task whose page Notion doesn't take."""
    tracked.notion.fault = REFUSED
    task_id = str(mark(edge, **changes).json["task_id"])
    tracked.sync()
    tracked.notion.fault = None
    return task_id


# Settings


def test_tracker_is_switched_on_with_defaults_and_off_again(gateway: Gateway) -> None:
    on = gateway.put(ALICE, SETTINGS, {"tracker": {"database": DATABASE}}).json
    assert (on["tracker"], on["version"]) == (DEFAULTS, 1)
    assert gateway.get(ALICE, SETTINGS).json == on
    off = gateway.put(ALICE, SETTINGS, {"tracker": None}).json
    assert (off["tracker"], off["version"]) == (None, 2)


def test_what_is_left_out_is_kept_also_inside_of_the_tracker(gateway: Gateway) -> None:
    gateway.put(ALICE, SETTINGS, {"tracker": {"database": DATABASE, "closed_statuses": ["Fertig"]}})
    gateway.put(ALICE, SETTINGS, {"tracker": {"statuses": {"done": "Fertig"}, "properties": {"due": "Frist"}}})
    kept = gateway.put(ALICE, SETTINGS, {"escalation_cap": 3}).json["tracker"]
    assert kept == DEFAULTS | {
        "closed_statuses": ["Fertig"],
        "statuses": {**DEFAULTS["statuses"], "done": "Fertig"},
        "properties": {**PROPERTIES, "due": "Frist"},
    }


WRONG: list[tuple[Any, list[str]]] = [
    ({}, ["tracker.database"]),
    ({"database": "Tasks"}, ["tracker.database"]),
    ({"database": "https://www.notion.so/nothing"}, ["tracker.database"]),
    ({"database": "x" * 2_001}, ["tracker.database"]),
    ({"database": None}, ["tracker.database"]),
    (17, ["tracker"]),
    ({"database": DATABASE, "token": "ntn_fake"}, ["tracker.token"]),
    ({"database": DATABASE, "statuses": {"needs": 1}}, ["tracker.statuses.needs"]),
    ({"database": DATABASE, "statuses": {"needs": "Done"}}, ["tracker.statuses.needs"]),
    ({"database": DATABASE, "statuses": {"needs": " "}}, ["tracker.statuses.needs"]),
    ({"database": DATABASE, "statuses": {"needs": "a\nb"}}, ["tracker.statuses.needs"]),
    ({"database": DATABASE, "statuses": {"needs": "x" * 101}}, ["tracker.statuses.needs"]),
    ({"database": DATABASE, "statuses": {"asleep": "Idle"}}, ["tracker.statuses.asleep"]),
    ({"database": DATABASE, "statuses": []}, ["tracker.statuses"]),
    ({"database": DATABASE, "priorities": {"P3": "Low"}}, ["tracker.priorities.P3"]),
    ({"database": DATABASE, "priorities": {"P0": ""}}, ["tracker.priorities.P0"]),
    ({"database": DATABASE, "properties": {"title": "Name"}}, ["tracker.properties.title"]),
    ({"database": DATABASE, "properties": {"due": None}}, ["tracker.properties.due"]),
    ({"database": DATABASE, "closed_statuses": "Done"}, ["tracker.closed_statuses"]),
    ({"database": DATABASE, "closed_statuses": ["Done", 1]}, ["tracker.closed_statuses.1"]),
    ({"database": DATABASE, "closed_statuses": ["x"] * (MAX_WORDS + 1)}, ["tracker.closed_statuses"]),
    ({"database": DATABASE, "cancelled_statuses": ["\u200b"]}, ["tracker.cancelled_statuses"]),
]


@pytest.mark.parametrize(("method", "path"), [("PUT", SETTINGS), ("POST", "/tracker/check")])
def test_wrong_setting_is_named_and_writes_nothing(gateway: Gateway, method: str, path: str) -> None:
    for values, fields in WRONG:
        reply = gateway.send(ALICE, method, path, {"tracker": values})
        assert (reply.status, reply.fields) == (422, fields), values
        assert gateway.get(ALICE, SETTINGS).json["version"] == 0, values


# The token


def test_token_is_kept_and_what_waited_for_it_is_sent(world: World, gateway: Gateway) -> None:
    gateway.put(ALICE, SETTINGS, {"tracker": {"database": DATABASE}})
    reply = gateway.put(ALICE, "/tracker/token", {"token": "ntn_fake_2"})
    assert (reply.status, reply.text) == (204, "")
    assert world.deps.secrets.get("acme") == "ntn_fake_2"
    assert world.tracker_queue.notices == [("acme", None, 0)]


@pytest.mark.parametrize(
    "body",
    [
        {"token": ""},
        {"token": "hush hush"},
        {"token": "hush\u00fc"},
        {"token": "hush\n"},
        {"token": "hush" * MAX_TOKEN},
        {"token": ["hush"]},
        {"token": {"token": "hush"}},
        {"token": None},
        {},
    ],
)
def test_wrong_token_is_named_and_shown_nowhere(
    world: World, gateway: Gateway, capsys: pytest.CaptureFixture[str], body: Any
) -> None:
    reply = gateway.put(ALICE, "/tracker/token", body)
    assert (reply.status, reply.fields) == (422, ["token"])
    assert "hush" not in reply.text + capsys.readouterr().out
    assert world.deps.secrets.get("acme") is None


@pytest.mark.parametrize("text", ['{"token": "hush"', '{"token": "hush", "token": "hush"}', '["hush"]', '"hush"'])
def test_malformed_body_with_a_token_is_shown_nowhere(
    gateway: Gateway, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    reply = gateway.put(ALICE, "/tracker/token", text)
    assert reply.status == 400
    assert "hush" not in reply.text + capsys.readouterr().out


def test_no_answer_and_no_line_shows_the_token(
    tracked: NotionWorld, edge: Gateway, capsys: pytest.CaptureFixture[str]
) -> None:
    edge.put(ALICE, "/tracker/token", {"token": TOKEN})
    mark(edge)
    for path in (SETTINGS, "/tracker/health", "/tasks"):
        edge.get(ALICE, path)
    edge.post(ALICE, "/tracker/check")
    edge.put(ALICE, "/tracker/token", {"token": "ntn_wrong"})
    edge.post(ALICE, "/tracker/check")
    edge.post(ALICE, "/tracker/import")
    shown = "".join(reply.text for reply in edge.replies) + capsys.readouterr().out + str(tracked.logged)
    assert TOKEN not in shown
    assert "ntn_" not in shown


# Health


def test_health_without_a_tracker(gateway: Gateway) -> None:
    assert gateway.get(SCOUT, "/tracker/health").json == {
        "configured": False,
        "status": "ok",
        "message": "",
        "closed_until": None,
        "waiting": 0,
        "dead": [],
        "webhook": {"state": "none", "opened_at": None, "installed_at": None, "verified_at": None},
        "last_reconciled_at": None,
    }


def test_health_tells_of_a_denial_what_waits_for_it_and_until_when(tracked: NotionWorld, edge: Gateway) -> None:
    tracked.notion.fault = always(Fault(status=401, code="unauthorized"))
    mark(edge)
    health = edge.get(SCOUT, "/tracker/health").json
    assert (health["configured"], health["status"], health["waiting"]) == (True, "denied", 1)
    assert health["message"]
    assert health["closed_until"] > "2026-11-18T12:00:00.000Z"
    tracked.clock.advance(3_600)
    assert edge.get(SCOUT, "/tracker/health").json["closed_until"] is None


def test_health_lists_what_was_given_up(tracked: NotionWorld, edge: Gateway) -> None:
    task_id = dead(tracked, edge)
    health = edge.get(CI, "/tracker/health").json
    (listed,) = health["dead"]
    assert (listed["task_id"], listed["status"], listed["url"]) == (task_id, "dead", None)
    assert listed["message"]
    assert listed["since"] == "2026-11-18T12:00:00.000Z"
    assert health["status"] == "ok"


def test_health_tells_up_to_when_the_tracker_was_read(tracked: NotionWorld, edge: Gateway) -> None:
    tracked.minutes()
    assert edge.get(ALICE, "/tracker/health").json["last_reconciled_at"] == "2026-11-18T12:01:00.000Z"


# Check


def test_check_of_a_right_database_finds_no_error(edge: Gateway) -> None:
    for by in (ALICE, CI):
        check = edge.post(by, "/tracker/check").json
        assert (check["ok"], [each for each in check["problems"] if each["severity"] == "error"]) == (True, [])


def test_check_tries_settings_that_were_not_made_yet(tracked: NotionWorld, edge: Gateway) -> None:
    before = edge.get(ALICE, SETTINGS).json
    check = edge.post(ALICE, "/tracker/check", {"tracker": {"database": DATABASE}}).json
    assert check["ok"] is False
    assert {"about", "severity", "problem", "what_to_do"} == set(check["problems"][0])
    other = edge.post(ALICE, "/tracker/check", {"tracker": {"properties": {"due": "Frist"}}}).json
    assert (other["ok"], "Frist" in json.dumps(other["problems"])) == (True, True)
    assert edge.get(ALICE, SETTINGS).json == before


def test_check_of_a_tracker_that_is_away_says_so(tracked: NotionWorld, edge: Gateway) -> None:
    tracked.notion.fault = always(Fault(status=503))
    reply = edge.post(ALICE, "/tracker/check")
    assert (reply.status, reply.json["ok"]) == (200, False)


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/tracker/check"),
        ("POST", "/tracker/retry"),
        ("POST", "/tracker/import"),
        ("POST", "/tracker/webhook"),
    ],
)
def test_without_a_tracker_there_is_nothing_to_ask(gateway: Gateway, method: str, path: str) -> None:
    reply = gateway.send(ALICE, method, path)
    assert (reply.status, reply.code) == (409, "no_tracker")


# Retry


def test_retry_revives_what_was_given_up(tracked: NotionWorld, edge: Gateway) -> None:
    first, second = dead(tracked, edge), dead(tracked, edge, target_agent="runner")
    assert edge.get(ALICE, f"/tasks/{first}").json["tracker"]["status"] == "dead"
    one = edge.post(CI, "/tracker/retry", {"task_id": first})
    assert (one.status, one.json) == (200, {"revived": 1, "hurried": 0, "complete": True})
    assert edge.post(ALICE, "/tracker/retry").json == {"revived": 1, "hurried": 0, "complete": True}
    tracked.sync()
    for task_id in (first, second):
        assert edge.get(ALICE, f"/tasks/{task_id}").json["tracker"]["status"] == "ok"
    assert edge.get(ALICE, "/tracker/health").json["dead"] == []


def test_repeated_retry_gets_the_first_answer(tracked: NotionWorld, edge: Gateway) -> None:
    dead(tracked, edge)
    keyed: dict[str, Any] = {"headers": {"idempotency-key": "r-1"}}
    assert edge.post(ALICE, "/tracker/retry", {}, **keyed).json == {"revived": 1, "hurried": 0, "complete": True}
    assert edge.post(ALICE, "/tracker/retry", {}, **keyed).json == {"revived": 1, "hurried": 0, "complete": True}
    assert edge.post(ALICE, "/tracker/retry", {"task_id": "x"}, **keyed).code == "idempotency_key_reused"


@pytest.mark.parametrize("task_id", ["task_unknown", ""])
def test_retry_of_a_task_that_there_is_not(edge: Gateway, task_id: str) -> None:
    reply = edge.post(ALICE, "/tracker/retry", {"task_id": task_id})
    assert (reply.status, reply.fields) == ((404, []) if task_id else (422, ["task_id"]))


def test_retry_of_another_workspaces_task_is_like_that_of_none(tracked: NotionWorld, edge: Gateway) -> None:
    tracked.settle("other")
    foreign = edge.post(human("other"), "/tracker/retry", {"task_id": dead(tracked, edge)})
    unknown = edge.post(human("other"), "/tracker/retry", {"task_id": "task_unknown"})
    assert (foreign.status, foreign.json) == (404, unknown.json)


# Import


TITLE = "Handoff: Scout → Client Repo Auditor — 2026-11-19"


def test_import_makes_tasks_of_the_trackers_handoffs_once(tracked: NotionWorld, edge: Gateway) -> None:
    tracked.notion.add_page(tracked.tasks.id, TITLE, status="Not started")
    tracked.notion.add_page(tracked.tasks.id, TITLE, status="Done")
    tracked.notion.add_page(tracked.tasks.id, "Handoff: Scout → Nobody — 2026-11-19")
    imported = edge.post(ALICE, "/tracker/import").json
    (skipped,) = imported.pop("skipped")
    assert imported == {"opened": 1, "closed": 1, "known": 0, "complete": True}
    assert "Nobody" in skipped["reason"]
    again = edge.post(ALICE, "/tracker/import").json
    assert (again["opened"], again["closed"], again["known"], again["complete"]) == (0, 0, 2, True)
    (task,) = [task for task in edge.get(ALICE, "/tasks").json["items"] if task["state"] == "needs"]
    shown = edge.get(ALICE, f"/tasks/{task['id']}").json["tracker"]
    assert (shown["status"], shown["page_id"] in tracked.notion.pages) == ("ok", True)
    assert mark(edge).json["duplicate_prevented"] is True


def test_import_that_runs_out_of_time_goes_on_when_it_is_called_again(tracked: NotionWorld, edge: Gateway) -> None:
    for _ in range(2):
        tracked.notion.add_page(tracked.tasks.id, TITLE, status="Done")

    def slowly(method: str, path: str) -> None:
        tracked.clock.advance(18)

    tracked.notion.fault = slowly
    first = edge.post(ALICE, "/tracker/import").json
    assert (first["closed"], first["complete"]) == (0, False)
    tracked.notion.fault = None
    assert edge.post(ALICE, "/tracker/import").json["closed"] == 2


@pytest.mark.parametrize(
    ("fault", "status", "code", "retry_after"),
    [
        (Fault(status=503), 503, "tracker_away", "5"),
        (Fault(status=429, retry_after=90), 503, "tracker_away", "90"),
        (Fault(status=401, code="unauthorized"), 409, "tracker_denies", None),
        (Fault(status=404, code="object_not_found"), 409, "tracker_denies", None),
    ],
)
def test_trouble_of_the_tracker_is_told(
    tracked: NotionWorld, edge: Gateway, fault: Fault, status: int, code: str, retry_after: str | None
) -> None:
    tracked.notion.fault = always(fault)
    reply = edge.post(ALICE, "/tracker/import")
    assert (reply.status, reply.code, reply.headers.get("Retry-After")) == (status, code, retry_after)


# What callers see of pages


def test_marker_answers_with_the_page_and_its_repeat_too(tracked: NotionWorld, edge: Gateway) -> None:
    keyed: dict[str, Any] = {"headers": {"idempotency-key": "m-1"}}
    first = edge.post(SCOUT, "/handoff-markers", marker_body(), **keyed)
    page = tracked.page(first.json["task_id"])
    assert (first.status, first.json["tracker_page_id"], first.json["degraded_capabilities"]) == (201, page.id, [])
    kept = tracked.row(first.json["task_id"]).page
    assert kept is not None
    assert first.json["task_url"] == kept.url
    assert first.headers["Location"] == f"https://baton.example/tasks/{first.json['task_id']}"
    assert edge.post(SCOUT, "/handoff-markers", marker_body(), **keyed).json == first.json
    duplicate = mark(edge).json
    assert (duplicate["duplicate_prevented"], duplicate["existing_task_url"]) == (True, first.json["task_url"])


@pytest.mark.parametrize(
    ("fault", "status"),
    [
        (Fault(status=503), "pending"),
        (Fault(status=401, code="unauthorized"), "denied"),
        (Fault(status=400, code="validation_error"), "error"),
    ],
)
def test_marker_is_answered_whatever_the_trackers_trouble(
    tracked: NotionWorld, edge: Gateway, fault: Fault, status: str
) -> None:
    tracked.notion.fault = of_new_pages(fault)
    reply = mark(edge)
    answer = reply.json
    assert (reply.status, answer["task_created"], answer["tracker_page_id"]) == (201, True, None)
    assert answer["task_url"] == f"https://baton.example/tasks/{answer['task_id']}" == reply.headers["Location"]
    (degraded,) = answer["degraded_capabilities"]
    assert (degraded["capability"], degraded["status"]) == ("tracker", status)
    assert degraded["message"]
    duplicate = mark(edge).json
    assert duplicate["existing_task_url"] == answer["task_url"]


def test_task_shows_its_page_wherever_it_is_shown(tracked: NotionWorld, edge: Gateway) -> None:
    path = f"/tasks/{mark(edge).json['task_id']}"
    shown = edge.get(ALICE, path).json["tracker"]
    page = tracked.page(path.rpartition("/")[2])
    assert (shown["page_id"], shown["status"], shown["message"]) == (page.id, "ok", "")
    assert shown["url"].startswith("https://")
    awaited = edge.get(ALICE, f"{path}/await", query="state=needs&timeout=0").json
    assert awaited["tracker"] == shown
    (listed,) = edge.get(ALICE, "/tasks").json["items"]
    changed = edge.post(ALICE, f"{path}/approve").json
    tracked.clock.advance(60)
    claimed = edge.post(agent("auditor"), f"{path}/claim").json["task"]
    assert [each["tracker"]["page_id"] for each in (listed, changed, claimed)] == [page.id] * 3
    assert edge.get(ALICE, path).json["tracker"]["page_id"] == page.id


def test_two_workspaces_have_a_tracker_each(tracked: NotionWorld, edge: Gateway) -> None:
    tracked.settle("other")
    theirs = tracked.notion.add_database(title="Theirs")
    edge.put(human("other"), SETTINGS, {"tracker": {"database": theirs.id}})
    ours = mark(edge).json
    others = edge.post(agent("scout", "other"), "/handoff-markers", marker_body()).json
    assert tracked.notion.pages[ours["tracker_page_id"]].database is tracked.tasks
    assert tracked.notion.pages[others["tracker_page_id"]].database is theirs
    tracked.notion.unshare(theirs.id)
    denied = edge.post(human("other"), "/tracker/check").json
    assert (denied["ok"], edge.post(ALICE, "/tracker/check").json["ok"]) == (False, True)
    edge.put(human("other"), "/tracker/token", {"token": "ntn_theirs"})
    assert (tracked.deps.secrets.get("acme"), tracked.deps.secrets.get("other")) == (TOKEN, "ntn_theirs")
    edge.put(human("other"), SETTINGS, {"tracker": None})
    assert edge.get(ALICE, "/tracker/health").json["configured"] is True

"""The stand-in for Notion does what Baton relies on Notion doing."""

from __future__ import annotations

import hashlib
import hmac
import json
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from tools.stand_ins.fake_notion import SELECT, FakeNotion, Fault, ScriptedFault, serve
from tools.stand_ins.fake_notion.state import open_kept

START = datetime(2026, 11, 20, 9, 30, 45, 500_000, tzinfo=UTC)
HEADERS = {"Authorization": "Bearer ntn_fake_token", "Notion-Version": "2026-03-11"}


class Clock:
    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        return self.now

    def advance(self, **by: float) -> None:
        self.now += timedelta(**by)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def fake(clock: Clock) -> FakeNotion:
    return FakeNotion(clock)


def client(fake: FakeNotion) -> httpx.Client:
    return httpx.Client(transport=fake.transport(), base_url="http://notion.test/v1", headers=HEADERS)


def text(content: str) -> list[dict[str, Any]]:
    return [{"text": {"content": content}}]


def new_page(source: str, title: str = "A task", **properties: Any) -> dict[str, Any]:
    return {"parent": {"data_source_id": source}, "properties": {"Name": {"title": text(title)}, **properties}}


def titles(fake: FakeNotion, source: str, **query: Any) -> list[str]:
    answer = client(fake).post(f"/data_sources/{source}/query", json=query)
    assert answer.status_code == 200, answer.text
    return [page["properties"]["Name"]["title"][0]["plain_text"] for page in answer.json()["results"]]


def refusal(answer: httpx.Response) -> tuple[int, str]:
    assert answer.json()["object"] == "error"
    return answer.status_code, answer.json()["code"]


def wait_for(true: Callable[[], bool]) -> None:
    end = time.monotonic() + 5
    while not true():
        assert time.monotonic() < end
        time.sleep(0.005)


def test_a_page_keeps_what_was_sent_and_its_times_to_the_minute(fake: FakeNotion) -> None:
    db = fake.add_database()
    made = client(fake).post(
        "/pages",
        json=new_page(db.data_source_id, "Handoff: a → b", Due={"date": {"start": "2026-11-23"}})
        | {"children": [{"paragraph": {"rich_text": text("Why")}}]},
    )
    page = made.json()
    assert page["created_time"] == page["last_edited_time"] == "2026-11-20T09:30:00.000Z"
    assert page["url"] == f"https://www.notion.so/Handoff-a-b-{page['id'].replace('-', '')}"
    assert page["created_by"] == {"object": "user", "id": fake.bot_id}
    kept = fake.pages[page["id"]]
    assert (kept.title, kept.status, kept.due, kept.body) == ("Handoff: a → b", "Not started", "2026-11-23", "Why")
    assert client(fake).get(f"/pages/{page['id']}").json()["properties"] == page["properties"]


def test_filters_find_by_text_status_and_time(fake: FakeNotion, clock: Clock) -> None:
    source = fake.add_database().data_source_id
    for title, status in (("Old", "Done"), ("New one", "In progress"), ("New two", "Done")):
        fake.add_page(source, title, status=status, task_id=f"id of {title}")
        clock.advance(minutes=10)
    trashed = fake.add_page(source, "Trashed")
    fake.trash(trashed)
    since = {"timestamp": "created_time", "created_time": {"on_or_after": "2026-11-20T09:40:00Z"}}
    done = {"property": "Status", "status": {"equals": "Done"}}
    assert titles(fake, source) == ["New two", "New one", "Old"]
    assert titles(fake, source, filter={"property": "Name", "title": {"starts_with": "New"}}) == ["New two", "New one"]
    assert titles(fake, source, filter={"property": "Task ID", "rich_text": {"equals": "id of Old"}}) == ["Old"]
    assert titles(fake, source, filter={"and": [since, done]}) == ["New two"]
    either = [{"and": [since, done]}, {"property": "Name", "title": {"contains": "ld"}}]
    assert titles(fake, source, filter={"or": either}) == ["New two", "Old"]
    assert titles(fake, source, in_trash=True) == ["Trashed"]
    by_age = [{"timestamp": "created_time", "direction": "ascending"}]
    assert titles(fake, source, sorts=by_age) == ["Old", "New one", "New two"]


def test_pages_of_results_neither_repeat_nor_miss_when_one_goes_to_the_trash_between(fake: FakeNotion) -> None:
    source = fake.add_database().data_source_id
    made = [fake.add_page(source, str(number)) for number in range(5)]
    seen, cursor = [], None
    while True:
        body = {"page_size": 2} | ({"start_cursor": cursor} if cursor else {})
        answer = client(fake).post(f"/data_sources/{source}/query", json=body).json()
        seen += [page["id"] for page in answer["results"]]
        cursor = answer["next_cursor"]
        if not answer["has_more"]:
            break
        fake.trash(cursor)
    assert seen == [made[4], made[3], made[1], made[0]]
    assert cursor is None


def test_a_fresh_page_is_found_only_once_the_index_has_it(fake: FakeNotion, clock: Clock) -> None:
    source = fake.add_database().data_source_id
    fake.index_lag = timedelta(seconds=30)
    fake.add_page(source, "Fresh")
    assert titles(fake, source) == []
    clock.advance(seconds=30)
    assert titles(fake, source) == ["Fresh"]


UNKNOWN_PAGE = "00000000-0000-4000-8000-000000000000"


@pytest.mark.parametrize(
    ("change", "refused"),
    [
        ({"Nope": {"rich_text": []}}, (400, "validation_error")),
        ({"Status": {"select": {"name": "Done"}}}, (400, "validation_error")),
        ({"Status": {"status": {"name": "No such"}}}, (400, "validation_error")),
        ({"Client": {"relation": [{"id": UNKNOWN_PAGE}]}}, (404, "object_not_found")),
        ({"Name": {"title": text("x" * 2001)}}, (400, "validation_error")),
        ({"Name": {"title": text("🔴" * 1001)}}, (400, "validation_error")),
        ({"Name": {"title": text("\x00")}}, (400, "validation_error")),
        ({"Name": {"title": text("x") * 101}}, (400, "validation_error")),
        ({"Due": {"date": {"start": "tomorrow"}}}, (400, "validation_error")),
    ],
)
def test_a_value_that_notion_refuses_is_refused_and_nothing_is_made(
    fake: FakeNotion, change: dict[str, Any], refused: tuple[int, str]
) -> None:
    db = fake.add_database()
    answer = client(fake).post("/pages", json=new_page(db.data_source_id, **{"Priority": {"select": None}, **change}))
    assert refusal(answer) == refused
    assert not fake.pages


def test_texts_are_measured_in_utf_16_and_the_longest_one_fits(fake: FakeNotion) -> None:
    source = fake.add_database().data_source_id
    answer = client(fake).post("/pages", json=new_page(source, "🔴" * 1000))
    assert answer.status_code == 200


def test_a_select_option_is_made_on_writing(fake: FakeNotion) -> None:
    db = fake.add_database(status_type=SELECT)
    body = new_page(db.data_source_id, Status={"select": {"name": "Odd"}})
    page_id = client(fake).post("/pages", json=body).json()["id"]
    assert fake.pages[page_id].status == "Odd"
    schema = client(fake).get(f"/data_sources/{db.data_source_id}").json()["properties"]["Status"]
    assert "Odd" in [option["name"] for option in schema["select"]["options"]]


def test_names_of_properties_are_free(fake: FakeNotion) -> None:
    db = fake.add_database(properties={"Task": {"type": "title"}, "status": {"type": SELECT, "options": ["Closed"]}})
    page = fake.pages[fake.add_page(db.data_source_id, "Named", status="Closed")]
    assert (page.title, page.status, page.priority, page.task_id) == ("Named", "Closed", None, "")
    bare = fake.add_database(properties={})
    assert fake.pages[fake.add_page(bare.id, "Bare")].status is None


def test_a_page_in_the_trash_refuses_edits_until_it_is_restored(fake: FakeNotion) -> None:
    page_id = fake.add_page(fake.add_database().id, "Task")
    fake.trash(page_id)
    done = {"properties": {"Status": {"status": {"name": "Done"}}}}
    api = client(fake)
    assert refusal(api.patch(f"/pages/{page_id}", json=done)) == (400, "validation_error")
    assert refusal(api.patch(f"/pages/{page_id}", json={"archived": False})) == (400, "validation_error")
    assert api.get(f"/pages/{page_id}").json()["in_trash"] is True
    assert api.patch(f"/pages/{page_id}", json={"in_trash": False, **done}).status_code == 200
    fake.delete(page_id)
    assert refusal(api.get(f"/pages/{page_id}")) == (404, "object_not_found")


def test_what_is_not_shared_is_not_found(fake: FakeNotion) -> None:
    db, other = fake.add_database(), fake.add_connection("ntn_other")
    page_id = fake.add_page(db.id, "Task")
    fake.unshare(db.id, fake.bot_id)
    paths = (f"/databases/{db.id}", f"/data_sources/{db.data_source_id}", f"/pages/{page_id}")
    for path in paths:
        assert refusal(client(fake).get(path)) == (404, "object_not_found")
        assert client(fake).get(path, headers={"Authorization": "Bearer ntn_other"}).status_code == 200
    fake.unshare(page_id, other)
    assert client(fake).get(paths[2], headers={"Authorization": "Bearer ntn_other"}).status_code == 404
    fake.share(db.id)
    assert client(fake).get(paths[2]).status_code == 200


def test_a_call_without_a_known_token_or_a_version_is_refused(fake: FakeNotion) -> None:
    assert refusal(client(fake).get("/users/me", headers={"Authorization": "Bearer x"})) == (401, "unauthorized")
    assert refusal(client(fake).get("/users/me", headers={"Notion-Version": "2022-06-28"}))[0] == 400
    assert client(fake).get("/users/me").json()["bot"]["workspace_id"] == fake.workspace_id


def test_comments_and_blocks_come_back_in_order(fake: FakeNotion) -> None:
    page_id, api = fake.add_page(fake.add_database().id, "Task"), client(fake)
    for said in ("one", "two"):
        api.post("/comments", json={"parent": {"page_id": page_id}, "rich_text": text(said)}).raise_for_status()
        blocks = [{"type": "paragraph", "paragraph": {"rich_text": text(said)}}]
        api.patch(f"/blocks/{page_id}/children", json={"children": blocks}).raise_for_status()
    listed = api.get("/comments", params={"block_id": page_id, "page_size": "1"}).json()
    assert [item["rich_text"][0]["plain_text"] for item in listed["results"]] == ["one"]
    assert listed["has_more"]
    assert fake.pages[page_id].comment_texts == fake.pages[page_id].texts == ["one", "two"]
    assert len(api.get(f"/blocks/{page_id}/children").json()["results"]) == 2


def test_events_are_signed_and_name_who_acted(fake: FakeNotion) -> None:
    got: list[tuple[bytes, dict[str, str]]] = []

    def deliver(body: bytes, headers: dict[str, str]) -> int:
        got.append((body, headers))
        return 200

    fake.subscribe(deliver)
    page_id = client(fake).post("/pages", json=new_page(fake.add_database().data_source_id)).json()["id"]
    fake.edit(page_id, status="Done")
    fake.edit(page_id, status="Done")
    handshake, created, updated = (json.loads(body) for body, _ in got)
    assert handshake == {"verification_token": fake.verification_token}
    assert (created["type"], created["authors"]) == ("page.created", [{"id": fake.bot_id, "type": "bot"}])
    assert updated["type"] == "page.properties_updated"
    assert updated["authors"] == [{"id": fake.person, "type": "person"}]
    assert updated["entity"] == {"id": page_id, "type": "page"}
    body, headers = got[-1]
    mac = hmac.new(fake.verification_token.encode(), body, hashlib.sha256).hexdigest()
    assert headers["X-Notion-Signature"] == f"sha256={mac}"
    assert fake.signed(fake.events[-1]) == (body, headers)


@pytest.mark.parametrize(
    ("fault", "error", "made"),
    [
        (Fault.timeout_before(), httpx.ReadTimeout, 0),
        (Fault.timeout_after(), httpx.ReadTimeout, 1),
        (Fault.refused(), httpx.ConnectError, 0),
    ],
)
def test_a_lost_call_has_its_effect_only_if_the_reply_was_lost(
    fake: FakeNotion, fault: Fault, error: type[Exception], made: int
) -> None:
    db = fake.add_database()
    fake.fault = ScriptedFault(fault)
    with pytest.raises(error):
        client(fake).post("/pages", json=new_page(db.data_source_id))
    assert len(fake.pages) == made
    assert [call.path for call in fake.requests] == ["/v1/pages"]


def test_faults_and_the_rate_limit_answer_as_notion_does(fake: FakeNotion, clock: Clock) -> None:
    fake.fault = ScriptedFault(Fault(status=529, retry_after=30), count=1)
    answer = client(fake).get("/users/me")
    assert refusal(answer) == (529, "service_overload")
    assert answer.headers["Retry-After"] == "30"
    fake.rate_limit = (2, 60)
    assert [client(fake).get("/users/me").status_code for _ in range(3)] == [200, 200, 429]
    clock.advance(seconds=50)
    assert client(fake).get("/users/me").headers["Retry-After"] == "10"
    clock.advance(seconds=10)
    assert client(fake).get("/users/me").status_code == 200


def test_over_a_socket_it_serves_the_api_the_page_and_webhooks() -> None:
    fake = FakeNotion(any_token=True)
    receiver = FakeNotion()  # any server that answers will do; it takes what is posted to it for bad calls
    db = fake.add_database()
    with serve(receiver) as target, serve(fake) as server, httpx.Client(base_url=server.url) as web:
        asked = {
            "url": f"{target.url}/v1/hook?x=1",
            "host": "0a1b2c3d.execute-api.localhost:4566",
            "database_id": db.id,
        }
        subscription = web.post("/control/subscriptions", json=asked).json()
        headers = {**HEADERS, "Authorization": "Bearer ntn_anything"}
        made = web.post("/v1/pages", json=new_page(db.data_source_id, "<script>"), headers=headers).json()
        wait_for(lambda: len(receiver.requests) >= 2)
        assert receiver.requests[0].body == {"verification_token": subscription["verification_token"]}
        page = web.get("/")
        assert "&lt;script&gt;" in page.text
        assert "<script>" not in page.text
        assert "default-src 'none'" in page.headers["Content-Security-Policy"]
        answer = web.post(f"/ui/pages/{made['id']}/status", data={"status": "Done"})
        assert (answer.status_code, answer.headers["Location"]) == (303, "/")
        assert web.get("/control/pages", params={"database_id": db.id}).json()["pages"][0]["status"] == "Done"
        assert web.get("/", headers={"Host": "evil.example"}).status_code == 403
        assert web.post("/control/databases", json={}, headers={"Origin": "http://evil.example"}).status_code == 403
        assert web.get("/v1/users/me", headers={**headers, "Host": "evil.example"}).status_code == 403
        assert web.get("/v1/users/me", headers={**headers, "Sec-Fetch-Site": "cross-site"}).status_code == 403
        web.post("/control/fault", json={"kind": "timeout_after", "count": 1}).raise_for_status()
        with pytest.raises(httpx.TransportError):
            web.post("/v1/pages", json=new_page(db.data_source_id), headers=headers)
        assert len(fake.pages_of(db.id)) == 2


def test_its_state_outlives_it(tmp_path: Path) -> None:
    path = tmp_path / "notion.json"
    fake = open_kept(path)
    [db] = fake.databases.values()
    page_id = fake.add_page(db.id, "Kept", status="Done", due="2026-11-23")
    fake.comment(page_id, "Said")
    fake.unshare(page_id)
    again = open_kept(path)
    kept = again.pages[page_id]
    assert (kept.title, kept.status, kept.due, kept.comment_texts) == ("Kept", "Done", "2026-11-23", ["Said"])
    assert kept.wire() == fake.pages[page_id].wire()
    assert again.databases[db.id].wire_data_source() == db.wire_data_source()
    assert (again.bot_id, again.shares) == (fake.bot_id, fake.shares)
    assert path.stat().st_mode & 0o777 == 0o600

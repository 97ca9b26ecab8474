"""Notion as a tracker: several workspaces in one process, and what is wrong with a database."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from functools import partial
from typing import Any

import httpx
import pytest

from baton.domain.errors import (
    TrackerDenies,
)
from baton.domain.settings.tracker_settings import TrackerSettings
from baton.ports.tracker import TrackerProblem
from support.fakes.notion_adapter import CLOSING, CREATE, TITLE_ONLY, NotionAdapter, always, page_fields, trouble_of
from tools.stand_ins.fake_notion import SELECT, Fault


@pytest.fixture
def adapter() -> Iterator[NotionAdapter]:
    adapter = NotionAdapter()
    yield adapter
    assert all(one.headers["Notion-Version"] == "2026-03-11" for one in adapter.wire.seen)


# One process, many workspaces


def test_no_request_carries_another_workspaces_token(adapter: NotionAdapter) -> None:
    adapter.fake.add_connection("ntn_fake_globex")
    adapter.tokens.kept["globex"] = "ntn_fake_globex"
    for workspace, token in (("acme", adapter.fake.token), ("globex", "ntn_fake_globex")) * 2:
        adapter.wire.seen.clear()
        adapter.tracker(workspace).look(adapter.tracker(workspace).create(page_fields()).page.id)
        assert {one.headers["Authorization"] for one in adapter.wire.seen} == {f"Bearer {token}"}


def test_another_connections_change_isnt_ours(adapter: NotionAdapter) -> None:
    adapter.fake.add_connection("ntn_fake_globex")
    adapter.tokens.kept["globex"] = "ntn_fake_globex"
    page = adapter.page_of()
    assert adapter.tracker("acme").look(page.id).by_us
    assert not adapter.tracker("globex").look(page.id).by_us


def test_nothing_of_payloads_and_tokens_is_logged(adapter: NotionAdapter, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    adapter.fake.fault = always(Fault(400), "/v1/pages")
    trouble_of(adapter, CREATE)
    adapter.fake.fault = None
    adapter.tracker().create(page_fields())
    assert not any(word in caplog.text for word in ("ntn_", "Escalation", "Handoff", "on purpose"))


# Problems


def severities(problems: tuple[TrackerProblem, ...]) -> list[tuple[str, str]]:
    return [(problem.about, problem.severity) for problem in problems]


def test_a_good_database_has_no_problems(adapter: NotionAdapter) -> None:
    adapter.database.properties["Status"].add_option("Rejected")
    assert adapter.tracker().problems() == ()
    adapter.use(status_type=SELECT)
    assert adapter.tracker().problems() == ()


def test_every_problem_is_told_at_once(adapter: NotionAdapter) -> None:
    adapter.use(
        {
            **TITLE_ONLY,
            "Status": {"type": "status", "options": ["Not started", "Doing"]},
            "Priority": {"type": "status", "options": ["🔴 High"]},
            "Due": {"type": "rich_text"},
            "Task ID": {"type": "number"},
        }
    )
    problems = adapter.tracker().problems()
    assert {problem.severity for problem in problems} == {"warning"}
    assert [problem.problem for problem in problems] == [
        '"Status" has no option "In progress" (claimed, waiting)',
        '"Status" has no option "Done" (done)',
        '"Status" has no option "Failed" (failed)',
        '"Status" has no option "Rejected" (rejected)',
        '"Status" has no option "Cancelled" (cancelled)',
        f'"Status" has no option that closes a task ({CLOSING}), so people can close none',
        '"Due" is of type Text, so pages don\'t show due dates',
        'The database has no property "Client", so pages aren\'t linked to clients',
        'The database has no property "Project", so pages aren\'t linked to projects',
        '"Task ID" is of type Number, so a page whose making ended unclear is found again only by its title and time',
        '"Priority" has no option "🟡 Medium" (P1)',
        '"Priority" has no option "🟢 Low" (P2)',
    ]
    assert all(problem.what_to_do.endswith(".") for problem in problems)


def test_a_missing_status_is_told(adapter: NotionAdapter) -> None:
    adapter.use({**TITLE_ONLY, "Status": {"type": "multi_select"}})
    assert adapter.tracker().problems()[0].problem == (
        '"Status" is of type Multi-select, so pages show no states, and nobody can close a task in Notion'
    )


def test_what_keeps_tasks_from_being_mirrored_is_an_error(adapter: NotionAdapter) -> None:
    page = adapter.fake.add_page(adapter.database.id, title="x")
    assert severities(adapter.tracker("globex").problems()) == [("token", "error")]
    assert severities(adapter.tracker(database="0" * 32).problems()) == [("database", "error")]
    assert severities(adapter.trackers.of("acme", TrackerSettings(), 3).problems()) == [("database", "error")]
    [problem] = adapter.tracker(database=page).problems()
    assert (problem.about, problem.problem) == ("database", f"{page} is a page, not a database")
    adapter.tokens.kept["acme"] = adapter.tokens.tokens["acme"] = "ntn_wrong"
    [problem] = adapter.tracker().problems()
    assert (problem.about, problem.problem) == ("token", "Notion refuses the token")


def answered(path: str, answer: dict[str, Any], request: httpx.Request) -> httpx.Response | None:
    """At one path only."""
    return httpx.Response(200, json=answer) if request.url.path == path else None


def test_a_database_in_the_trash_or_without_a_data_source_is_an_error(adapter: NotionAdapter) -> None:
    path = f"/v1/databases/{adapter.database.id}"
    for extra, word in (({"in_trash": True}, "trash"), ({"data_sources": []}, "no data source")):
        answer = {**adapter.database.wire(), **extra}
        adapter.wire.instead = partial(answered, path, answer)
        [problem] = adapter.tracker().problems()
        assert (problem.severity, word in problem.problem) == ("error", True)
        assert isinstance(trouble_of(adapter, CREATE), TrackerDenies)


def test_several_data_sources_are_told_and_the_first_is_used(adapter: NotionAdapter) -> None:
    sources = [{"id": adapter.database.data_source_id, "name": "Tasks"}, {"id": "b" * 32, "name": "Ideas"}]
    answer = {**adapter.database.wire(), "data_sources": sources}
    path = f"/v1/databases/{adapter.database.id}"
    adapter.wire.instead = lambda one: httpx.Response(200, json=answer) if one.url.path == path else None
    assert adapter.tracker().problems()[0].problem == 'The database has 2 data sources; "Tasks", the first, is used'
    assert adapter.tracker().create(page_fields()).page.id in adapter.database.pages


def test_missing_capabilities_are_warned_of(adapter: NotionAdapter) -> None:
    adapter.database.properties["Status"].add_option("Rejected")
    adapter.fake.fault = lambda _, path: (
        Fault(403) if "comments" in path or path.endswith(adapter.fake.person) else None
    )
    assert severities(adapter.tracker().problems()) == [("connection", "warning")] * 2


def test_a_silent_notion_is_no_problem_of_the_database(adapter: NotionAdapter) -> None:
    adapter.fake.fault = always(Fault(503), "/v1/data_sources")
    [problem] = adapter.tracker().problems()
    assert (problem.about, problem.severity) == ("tracker", "error")
    assert problem.what_to_do == "Try again in a minute; see status.notion.com."

"""What a task's page shows, and what is said there of its end."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from baton.domain.priority import Priority
from baton.domain.task_state import State
from baton.domain.tasks.trail import Event
from baton.domain.tracker.page_fields import MAX_COMMENT, closing_comment, page_fields_of, plain, reopened_comment
from support.clock import NOON
from support.values.tasks import HUMAN, Life, a_new_task, claimed

URL = "https://baton.example/tasks/task_1"


def test_a_page_shows_the_task_and_what_was_said() -> None:
    task = a_new_task(due_date=date(2026, 11, 19), priority=Priority.P0)
    body = {
        "text": "Look into it",
        "source_digest_url": "https://notes.example/1",
        "client_relation_ids": ["c1", "c2"],
        "project_relation_ids": [],
    }
    page_fields = page_fields_of(task, body, URL)
    assert (page_fields.task_id, page_fields.title, page_fields.state, page_fields.url) == (
        task.id,
        task.title,
        State.NEEDS,
        URL,
    )
    assert (page_fields.priority, page_fields.due_date, page_fields.created_at) == (
        Priority.P0,
        date(2026, 11, 19),
        NOON,
    )
    assert (page_fields.text, page_fields.digest_url) == ("Look into it", "https://notes.example/1")
    assert page_fields.relations == {"client": ("c1", "c2")}


@pytest.mark.parametrize("body", [None, {}])
def test_a_task_without_a_body_has_a_page_all_the_same(body: Any) -> None:
    page_fields = page_fields_of(a_new_task(), body, URL)
    assert (page_fields.text, page_fields.digest_url, page_fields.relations) == ("", None, {})


def test_titles_are_one_line_and_texts_keep_theirs() -> None:
    task = a_new_task(title="Handoff:\r\n\x07 a\u2028b")
    page_fields = page_fields_of(task, {"text": "one\ntwo\tthree\r\n\x00four\x1b[31m\x85"}, URL)
    assert not [c for c in page_fields.title if not c.isprintable()]
    assert page_fields.title.split() == ["Handoff:", "a", "b"]
    assert page_fields.text == "one\ntwo\tthree\nfour[31m"


def test_controls_and_lone_surrogates_go_hidden_characters_are_spelled_out_and_everything_else_stays() -> None:
    controls = "".join(map(chr, [*range(0x20), *range(0x7F, 0xA0)]))
    assert plain(controls) == "\t\n"
    assert plain("a\ud800b\udfffc") == "abc"
    kept = "é ß 漢字 \N{ROCKET}\N{ZERO WIDTH JOINER}\N{ROCKET}"
    assert plain(kept) == kept
    assert plain("pay \u2028\ufeff\U000e0041") == "pay \\u{2028}\\u{feff}\\u{e0041}"
    plain(controls + kept).encode()


def last(life: Life) -> Event:
    return life.events[-1]


def test_a_finished_task_says_who_did_what() -> None:
    life = claimed()
    life.complete()
    comment = closing_comment(life.task, {"summary": "All green", "more": 1}, None, last(life))
    assert comment == "Done by agent auditor in Baton.\n> All green"


@pytest.mark.parametrize(
    ("output", "told"),
    [
        ("in words", "in words"),
        ({"b": 1, "a": [None]}, '{"a":[null],"b":1}'),
        ({"summary": 7}, '{"summary":7}'),
        ([], "[]"),
        (False, "false"),
        (0, "0"),
    ],
)
def test_an_output_is_told_as_it_is(output: Any, told: str) -> None:
    life = claimed()
    life.complete()
    assert closing_comment(life.task, output, None, last(life)).split("\n")[1:] == [f"> {told}"]


def test_without_an_output_the_end_is_told_alone() -> None:
    life = Life()
    life.resolve()
    assert closing_comment(life.task, None, None, last(life)) == "Done by human alice in Baton.\n> done elsewhere"


def test_a_failed_task_says_what_broke() -> None:
    life = claimed()
    life.fail(retryable=False)
    comment = closing_comment(life.task, None, {"type": "timeout", "description": "no\x00 answer"}, last(life))
    assert comment.split("\n")[:2] == ["Failed by agent auditor in Baton.", "> timeout: no answer"]
    assert closing_comment(life.task, None, {}, last(life)) == "Failed by agent auditor in Baton."
    assert closing_comment(life.task, None, {"x": 1}, last(life)).split("\n")[1] == "> error: "


def test_a_cancelled_task_says_why_and_nothing_of_an_earlier_failure() -> None:
    life = claimed()
    life.fail(retryable=True)
    life.cancel()
    comment = closing_comment(life.task, None, {"type": "timeout", "description": "x"}, last(life))
    assert comment == "Cancelled by human alice in Baton.\n> no longer needed"
    assert HUMAN.id == "alice"


def test_an_end_that_nobody_told_of_is_told_all_the_same() -> None:
    assert closing_comment(a_new_task(state=State.DONE), None, None, None) == "Done in Baton."


@pytest.mark.parametrize(("length", "cut"), [(MAX_COMMENT, False), (MAX_COMMENT + 1, True), (10**6, True)])
def test_a_long_end_is_cut(length: int, cut: bool) -> None:
    task = a_new_task(state=State.DONE)
    head = len(closing_comment(task, "", None, None))
    comment = closing_comment(task, "x" * (length - head), None, None)
    assert len(comment) == MAX_COMMENT
    assert comment.endswith("…") is cut


def test_whoever_reopens_an_ended_task_is_told_that_it_stays_ended() -> None:
    comment = reopened_comment(a_new_task(state=State.FAILED), URL)
    assert "(failed)" in comment
    assert comment.endswith(URL)

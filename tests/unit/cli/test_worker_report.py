"""What Baton is told of a program that has ended."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from baton_cli.worker.program import ProgramExit
from baton_cli.worker.report import ClaimReport, ProgramOutput, after_refusal, report_of, shortened
from baton_client.core import Request
from baton_client.mended import CHARACTERS, LEVELS, NAMES, NUMBERS
from support.faults.soak import scaled

READING = ProgramOutput(name="run.sh", time_limit_seconds=60)


def report(reading: ProgramOutput = READING, **ended: Any) -> ClaimReport:
    return report_of(ProgramExit(**{"code": 0, **ended}), reading)


@pytest.mark.parametrize(
    ("output", "verb", "body"),
    [
        (b"", "complete", {}),
        (b" \n", "complete", {}),
        (b'{"notes": ["mine"]}', "complete", {"output": {"notes": ["mine"]}}),
        (b"null", "complete", {"output": None}),
        (b'{"baton": "complete", "notes": ["n"]}', "complete", {"notes": ["n"]}),
        (b'{"baton": "reject", "reason": "no"}', "reject", {"reason": "no"}),
    ],
)
def test_printed_json_is_the_output_unless_it_names_a_verb(output: bytes, verb: str, body: dict[str, Any]) -> None:
    assert report(output=output) == ClaimReport(verb, body)


WRITTEN = "[12345678901234567.10, 1E2, 0.10, -0.0, -0, 99999999999999999999999999999999999999]"


@pytest.mark.parametrize("is_text", [False, True])
def test_numbers_of_a_program_are_sent_as_it_printed_them(*, is_text: bool) -> None:
    printed = f'{{"baton": "complete", "output": {WRITTEN}}}'.encode()
    said = report(ProgramOutput(name="run.sh", is_text=is_text), output=printed)
    assert Request[Any]("POST", "/x", said.body).content == f'{{"output": {WRITTEN}}}'.encode()
    kept = after_refusal(said, {"code": "criteria_unreported"})
    assert kept is not None
    assert WRITTEN.encode() in (Request[Any]("POST", "/x", kept.body).content or b"")


@pytest.mark.parametrize(
    "output", [b'{"baton": "heartbeat"}', b'{"baton": ["fail"]}', b'{"baton": "fail", "claim_id": "x"}', b"[" * 100_000]
)
def test_answer_that_is_no_answer_is_a_failure(output: bytes) -> None:
    said = report(output=output)
    assert (said.verb, said.body["failure"]["type"], said.body["retryable"]) == ("fail", "validation", False)


@pytest.mark.parametrize(
    ("ended", "kind", "is_retryable"),
    [
        ({"code": 75}, "error", True),
        ({"code": 74}, "error", False),
        ({"code": -9}, "error", True),
        ({"code": -64}, "error", True),
        ({"code": -15, "why": "due"}, "timeout", True),
        ({"code": 1, "why": "due"}, "timeout", True),
    ],
)
def test_what_is_not_the_programs_word_may_be_tried_again(ended: dict[str, Any], kind: str, is_retryable: bool) -> None:
    body = report(**ended).body
    assert (body["failure"]["type"], body["retryable"]) == (kind, is_retryable)


def test_stopped_program_gives_back_unless_it_has_done_its_work() -> None:
    assert report(code=-15, why="asked").verb == "release"
    assert report(code=0, why="asked", output=b"1") == ClaimReport("complete", {"output": 1})


def test_description_has_room_for_the_end_of_the_errors_alone() -> None:
    description = report(code=1, errors="x" * 5_000 + "the end").body["failure"]["description"]
    assert len(description) == 2_000
    assert description.endswith("the end")


def test_refused_reports_become_smaller_until_nothing_is_left_to_say() -> None:
    problem = {"code": "guardrail", "detail": "A secret."}
    said: ClaimReport | None = ClaimReport("transfer", {"to": "qa"})
    verbs = []
    while said is not None:
        verbs.append((said.verb, said.is_plain))
        said = after_refusal(said, problem)
    assert verbs == [("transfer", False), ("fail", False), ("fail", True), ("release", True)]


def test_refusal_is_told_with_each_thing_once() -> None:
    told = "has to report every criterion"
    problem = {
        "code": "criteria_unreported",
        "detail": f"verification: {told}",
        "criteria": ["Every change is listed"],
        "errors": [{"field": "verification", "message": told}],
    }
    failed = after_refusal(ClaimReport("complete", {}), problem)
    assert failed is not None
    assert failed.body["failure"]["description"].endswith(f": verification: {told}; Every change is listed")


@pytest.mark.parametrize(
    ("verb", "body", "is_retryable"),
    [
        ("complete", {"output": "x" * 9_000}, False),
        ("delegate", {"tasks": ["x" * 9_000]}, False),
        ("fail", {"failure": {"type": "error", "description": "x" * 9_000}, "retryable": True}, True),
    ],
)
def test_a_report_that_a_network_refuses_as_too_large_becomes_a_failure_that_says_so(
    verb: str, body: dict[str, Any], is_retryable: bool
) -> None:
    short = shortened(ClaimReport(verb, body), "a1.kept", 413)
    description = short.body["failure"]["description"]
    assert (short.verb, short.is_plain, short.body["retryable"]) == ("fail", True, is_retryable)
    assert f"refused the report, {verb}, as too large (HTTP 413)" in description
    assert "a1.kept" in description
    assert len(json.dumps(short.body)) < 400
    assert "It isn't kept." in shortened(ClaimReport(verb, body), "", 413).body["failure"]["description"]


def test_a_release_becomes_one_without_a_reason() -> None:
    assert shortened(ClaimReport("release", {"reason": "x"}), "", 413) == ClaimReport("release", is_plain=True)


CRITERIA = {"code": "criteria_unreported", "detail": "verification", "criteria": ["It is listed"]}
TEXTED = ProgramOutput(name="claude", is_text=True)


def test_refused_output_is_kept_in_the_failure_whole_then_its_beginning_then_nothing() -> None:
    said = report(TEXTED, output=b"x" * 100_000)
    first = after_refusal(said, CRITERIA)
    assert first is not None
    assert first.body["failure"]["partial_progress"] == {"output": {"text": "x" * 100_000}}
    second = after_refusal(first, {"code": "too_large"})
    assert second is not None
    kept = second.body["failure"]["partial_progress"]["output"]
    assert (len(kept), kept[:12]) == (40_000, '{"text": "xx')
    third = after_refusal(second, {"code": "too_large"})
    assert third is not None
    assert third.body["failure"] == {name: first.body["failure"][name] for name in ("type", "description")}


@pytest.mark.parametrize("verb", ["transfer", "delegate", "reject", "fail"])
def test_refused_answer_of_another_verb_is_kept_as_well(verb: str) -> None:
    said = after_refusal(ClaimReport(verb, {"reason": "r", "retryable": True}), {"code": "unknown_agent"})
    assert said is not None
    assert said.body["failure"]["partial_progress"] == {"output": {"reason": "r", "retryable": True}}
    assert said.body.get("retryable") == (True if verb == "fail" else None)


def test_what_a_guardrail_refuses_is_kept_nowhere() -> None:
    said = report(TEXTED, output=b"x" * 100_000)
    assert "partial_progress" not in getattr(after_refusal(said, {"code": "guardrail"}), "body", {})["failure"]
    kept = after_refusal(said, CRITERIA)
    assert kept is not None
    assert "partial_progress" not in getattr(after_refusal(kept, {"code": "guardrail"}), "body", {})["failure"]


MET = '{"baton": "complete", "verification": {"acceptance_criteria_met": [{"criterion": "It is listed", "met": true}]}}'


@pytest.mark.parametrize("end", [MET, MET + "\n", f"```json\n{MET}\n```", f"```\n{MET}\n```\n"])
def test_text_may_end_with_a_line_that_reports(end: str) -> None:
    said = report(TEXTED, output=f"Here it is.\n\n- one\n\n{end}".encode())
    assert (said.verb, said.body["output"]) == ("complete", {"text": "Here it is.\n\n- one"})
    assert said.body["verification"]["acceptance_criteria_met"][0]["met"] is True


@pytest.mark.parametrize(
    "text",
    [
        "Done.",
        "",
        '{"baton": "heartbeat"}',
        '{"a": 1}',
        '{"baton": "complete", "claim_id": "x"}',
        "[" * 50_000,
    ],
)
def test_text_without_such_a_line_is_the_output_whole(text: str) -> None:
    assert report(TEXTED, output=text.encode()) == ClaimReport("complete", {"output": {"text": text}})


@pytest.mark.parametrize("end", ["\x1b[0m", "\x1b[0m\n---", "`", "\ufeff", "\n```\n\n***", "\r\n"])
@pytest.mark.parametrize("start", ["", "\ufeff", "\x1b[32m", "`"])
def test_what_stands_around_a_report_does_no_harm(start: str, end: str) -> None:
    said = report(TEXTED, output=f"Here it is.\n{start}{MET}{end}".encode())
    assert said.body["output"] == {"text": "Here it is."}
    assert said.body["verification"]["acceptance_criteria_met"][0]["met"] is True


def test_the_last_line_that_reports_is_the_report_and_the_words_below_it_are_kept() -> None:
    said = report(TEXTED, output=f'Say {{"baton": "release"}}:\n{{"baton": "release"}}\n{MET}\nThat was it.'.encode())
    text = 'Say {"baton": "release"}:\n{"baton": "release"}\nThat was it.'
    assert (said.verb, said.body["output"]) == ("complete", {"text": text})


@pytest.mark.parametrize("character", ["\u2028", "\u2029", "\x85", "\x0c", "\x0b", "\x1c", "\x1e"])
def test_a_character_that_ends_a_line_elsewhere_cuts_no_report(character: str) -> None:
    line = json.dumps({"baton": "complete", "notes": [f"the log says:{character}all listed"]}, ensure_ascii=False)
    if character < " ":  # JSON allows it outside of texts only
        line = json.dumps({"baton": "complete", "notes": ["all listed"]})
    said = report(TEXTED, output=f"One{character}two.\n{line}".encode())
    assert said.verb == "complete"
    assert said.body["output"] == {"text": f"One{character}two."}
    assert said.body["notes"][0].endswith("all listed")


@pytest.mark.parametrize(
    ("printed", "output", "note"),
    [
        (rb'{"a": "\ud83d"}', {"a": r"\ud83d"}, CHARACTERS),
        (rb'{"a": "x\u0000"}', {"a": r"x\x00"}, CHARACTERS),
        (rb'{"\u0000": 1}', {r"\x00": 1}, CHARACTERS),
        (b'{"a": "\xff"}', {"a": r"\xff"}, CHARACTERS),
        (b'{"a": "x\x00"}', {"a": r"x\x00"}, CHARACTERS),
        (b'{"a": 1, "a": [2]}', '{"a": 1, "a": [2]}', NAMES),
        (b'{"a": NaN}', {"a": "NaN"}, NUMBERS),
        (b"[1e400, -1e-400]", ["1e400", "-1e-400"], NUMBERS),
        (b'{"a": 123456789012345678901234567890123456789}', {"a": "123456789012345678901234567890123456789"}, NUMBERS),
    ],
)
def test_an_output_that_baton_would_refuse_is_repaired_and_the_notes_say_so(
    printed: bytes, output: Any, note: str
) -> None:
    assert report(output=printed).body == {"output": output, "notes": [note]}
    reported = json.dumps({"baton": "complete", "notes": ["mine"]})[:-1].encode() + b', "output": ' + printed + b"}"
    assert report(output=reported).body == {"output": output, "notes": ["mine", note]}


def test_what_is_nested_too_deeply_is_kept_as_text() -> None:
    body = report(output=b"[" * 17 + b"1" + b"]" * 17).body
    assert body["notes"] == [LEVELS]
    assert json.dumps(body["output"]) == "[" * 12 + json.dumps("[" * 5 + "1" + "]" * 5) + "]" * 12


@pytest.mark.parametrize("printed", [b"not JSON \xff\x00", b"[" * 100_000, b'{"a": 1}\n{"a": 2}'])
def test_an_output_that_is_no_json_is_kept_whole_in_the_failure(printed: bytes) -> None:
    said = report(output=printed)
    kept = said.body["failure"]["partial_progress"]["output"]["text"]
    assert (said.verb, kept) == ("fail", printed.decode("utf-8", "backslashreplace").replace("\0", r"\x00"))


@settings(max_examples=scaled(2_000), deadline=None)
@given(st.one_of(st.binary(max_size=300), st.text(max_size=100).map(lambda text: json.dumps(text).encode())))
def test_every_output_of_a_program_can_be_sent_and_is_kept(printed: bytes) -> None:
    for reading in (READING, TEXTED):
        body = report(reading, output=printed).body
        sent = json.dumps(body, ensure_ascii=False, allow_nan=False).encode()  # no half of a character is left
        assert b"\\u0000" not in sent.replace(b"\\\\", b"")
        assert printed.strip() == b"" or body.keys() & {"output", "failure"}


def test_text_may_end_with_another_verb() -> None:
    said = report(TEXTED, output=b'I can\'t.\n{"baton": "release", "not_before": "2026-11-19T00:00:00Z"}')
    assert said == ClaimReport("release", {"not_before": "2026-11-19T00:00:00Z"})


def test_a_completion_without_output_is_kept_whole() -> None:
    body = {"deliverables": [{"type": "code", "description": "Half a day"}], "notes": ["Mind the lock"]}
    kept = after_refusal(ClaimReport("complete", body), {"code": "criteria_unreported"})
    assert getattr(kept, "body", {})["failure"]["partial_progress"] == {"output": body}

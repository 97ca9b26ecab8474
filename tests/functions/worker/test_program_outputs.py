"""Every output of a program is in its task afterwards, readable: the worker's reading of outputs, and the routes."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from baton_client import mended
from support.faults.soak import scaled
from support.values.program_outputs import OUTPUTS
from support.worlds.http_agents import ALICE
from support.worlds.worker_in_process import WorkerInProcess, shown, worker_in_process
from support.worlds.worker_processes import worker_processes

MOST_BYTES, MOST_KEPT, MOST_LEVELS = 256 * 1024, 40_000, 12
VERBS = {"complete", "fail", "reject", "release", "transfer", "delegate"}
# A release that Baton refuses is sent again without these fields, as none is a result.
OF_RELEASE = {"reason", "not_before"}
UNFIT = re.compile("[\0\ud800-\udfff]")
AROUND = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|^[\ufeff` \t\r]+|[\ufeff` \t\r]+$")
RULE = re.compile(r"[\s`*_=\ufeff-]*")

ODD_OUTPUTS = [
    b"Gr\xf6\xdfe \x00 and \\xf6",
    rb'{"a": "cut \ud83d", "b": "\u0000"}',
    b'{"a": "Gr\xf6\xdfe\x00"}',
    b'{"a": 1, "a": 2}',
    rb'[{"\u0000": 1, "\\x00": 2}]',
    b'{"baton": "heartbeat", "output": {"days": 3}}',
    b'{"baton": "complete", "claim_id": "x", "output": {"days": 3}}',
    b'{"baton": "release", "output": {"days": 3}}',
    b'{"baton": "fail", "failure": {"type": "laziness"}, "output": {"days": 3}}',
    b'Three days of work.\n{"baton": "fail", "failure": {"type": "blocker", "description": "No key"}}',
    b'Three days.\n{"baton": "complete", "notes": ["Gr\xf6\xdfe"]}',
    b"x" * (MOST_BYTES + 1),
    b'"' + b"x" * (MOST_BYTES - 2) + b'"',
    b'{"a": "' + b"x" * (MOST_BYTES - 10) + b'"}',
    b"\0" * 200_000,
    b"",
    b"\xff\xfe{\0}\0",
    '{"a": "\u2028\x85"}\r\n'.encode(),
    b"```json\n{}\n```",
    b"\xef\xbb\xbf[1e400, NaN]",
    "😀\n".encode() * 40_000,
]


def test_everything_that_a_program_prints_is_in_the_task_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`make soak` runs 10,000 outputs."""
    monkeypatch.setenv("BATON_LOG_LEVEL", "ERROR")  # pytest would keep 50,000 lines
    with worker_in_process(tmp_path) as worker:

        @settings(max_examples=scaled(10_000, 40), print_blob=True)
        @given(OUTPUTS, st.booleans())
        def is_kept(printed: bytes, is_text: bool) -> None:
            task = played(worker, printed, is_text=is_text)
            assert lost(printed, task, is_text=is_text) == ""

        is_kept()


@pytest.mark.parametrize("is_text", [False, True])
@pytest.mark.parametrize("printed", ODD_OUTPUTS, ids=lambda each: repr(each[:60]) if isinstance(each, bytes) else "")
def test_an_output_that_was_once_lost_is_kept(tmp_path: Path, printed: bytes, is_text: bool) -> None:
    with worker_in_process(tmp_path) as worker:
        assert lost(printed, played(worker, printed, is_text=is_text), is_text=is_text) == ""


def test_outputs_of_real_programs_are_in_their_tasks_afterwards(tmp_path: Path) -> None:
    outputs = ODD_OUTPUTS[:20]
    with worker_processes(tmp_path) as home:
        tasks = {home.hand_off(): printed for printed in outputs}
        for task_id, printed in tasks.items():
            home.file(task_id).write_bytes(printed)
        program = home.script('cat "$FOLDER/$BATON_TASK_ID"')
        home.run("--concurrency", "4", "--idle-timeout", "1s", program=(program,))
        for task_id, printed in tasks.items():
            assert lost(printed, shown(home.agents, task_id) | {"is_refused": True}, is_text=False) == "", printed[:60]


def played(worker: WorkerInProcess, printed: bytes, *, is_text: bool) -> dict[str, Any]:
    """Returns the task after its program has printed this, and ends it if it came back."""
    task_id, log = worker.done(printed, is_text=is_text)
    task = shown(worker.agents, task_id) | {"is_refused": "report_refused" in log}
    if task["state"] not in {"done", "failed", "rejected"}:
        worker.agents.gateway.post(ALICE, f"/tasks/{task_id}/cancel", {"reason": "over"})
    return task


# The oracle. It shares no rule with the worker.


def lost(printed: bytes, task: dict[str, Any], *, is_text: bool) -> str:
    """Returns what the task lacks of the output; nothing if all of it is there."""
    whole = readable(printed)
    if len(printed) > MOST_BYTES or is_too_large(task):
        return "" if is_beginning(whole, task) else "the beginning of a large output"
    if is_text:
        return lost_of_text(printed, task)
    if not printed.strip():
        return "" if (task["state"], task["output"]) == ("done", None) else "an empty output"
    try:
        value = strict(printed)
    except (ValueError, RecursionError):
        kept = progress(task)
        is_noted = whole.encode() == printed or kept.get("notes") == [mended.CHARACTERS]
        return "" if kept["text"] == whole and is_noted else "a text"
    if not isinstance(value, Members) or "baton" not in dict(value):
        return lost_of_value(value, task)
    return lost_of_report(value, task)


def lost_of_value(value: Any, task: dict[str, Any]) -> str:
    if task["state"] != "done" or not same(value, task["output"]):
        return f"a value: {task['output']}"
    return "" if repairs(value) <= set(task["notes"]) else f"a note: {repairs(value) - set(task['notes'])}"


def lost_of_report(value: Members, task: dict[str, Any]) -> str:
    verb, fields = dict(value)["baton"], Members(each for each in value if each[0] != "baton")
    names = {name for name, _ in fields}
    if not isinstance(verb, str) or verb not in VERBS or "claim_id" in names:
        return "" if same(value, progress(task)) else "an answer with a wrong verb"
    if not task["is_refused"]:
        own = dict(fields).get("output")
        return "" if verb != "complete" or same(own, task["output"]) else "the output of a report"
    if verb == "release" and names <= OF_RELEASE:
        return ""
    kept = progress(task)
    alone = dict(fields).get("output") if names <= {"output", "verification"} else fields
    with_notes = {name: each for name, each in kept.items() if name != "notes"} if isinstance(kept, dict) else kept
    without_notes = Members(each for each in fields if each[0] != "notes")
    found = same(fields, kept) or same(alone, kept) or same(without_notes, with_notes)
    return "" if found else f"a refused report: {kept}"


def lost_of_text(printed: bytes, task: dict[str, Any]) -> str:
    text = readable(printed.strip(b" \t\r\n\x0b\x0c")).strip()
    reports = [found for line in printed.split(b"\n") if (found := report_of(line)) is not None]
    if not reports:
        is_noted = UNFIT.search(surrogates(printed)) is None or task["notes"] == [mended.CHARACTERS]
        return "" if (task["state"], task["output"]) == ("done", {"text": text}) and is_noted else "a text"
    verb, names = reports[-1]["baton"], reports[-1].keys()
    if verb not in {"complete", "fail"} or names & {"output", "partial_progress"} or task["is_refused"]:
        return ""  # the report's own words replace the text
    failure = task["failure"] or {}
    kept = str((task["output"] if verb == "complete" else failure.get("partial_progress", {}).get("output"))["text"])
    lines = [readable(line) for line in printed.split(b"\n") if report_of(line) is None]
    missing = [line for line in lines if not RULE.fullmatch(AROUND.sub("", line)) and line.strip() not in kept]
    return f"lines of a text: {missing}" if [each for each in missing if "```" not in each] else ""


def report_of(line: bytes) -> dict[str, Any] | None:
    plain = AROUND.sub("", AROUND.sub("", surrogates(line)))
    try:
        value = dict(strict(plain))
    except (ValueError, RecursionError, TypeError):
        return None
    verb = value.get("baton")
    return value if isinstance(verb, str) and verb in VERBS and "claim_id" not in value else None


def progress(task: dict[str, Any]) -> Any:
    return (task["failure"] or {}).get("partial_progress", {}).get("output")


def is_too_large(task: dict[str, Any]) -> bool:
    return f"The first {MOST_KEPT:,} characters of it are kept." in (task["failure"] or {}).get("description", "")


def is_beginning(whole: str, task: dict[str, Any]) -> bool:
    kept = progress(task)
    if isinstance(kept, str):  # the beginning of JSON, which Baton has refused as too large
        return len(kept) == MOST_KEPT and len(whole.encode()) > 60_000
    return bool(whole.startswith(kept["text"]) and len(kept["text"]) >= MOST_KEPT)


def surrogates(printed: bytes) -> str:
    return printed.decode("utf-8", "surrogateescape")


def readable(printed: bytes) -> str:
    """Returns the bytes as text, from which they can be read."""
    return printed.decode("utf-8", "backslashreplace").replace("\0", "\\x00")


class Members(list[tuple[str, Any]]):
    """Of an object, each as often as it is given."""


class Number(str):
    """As it was written."""

    __slots__ = ()


def strict(printed: bytes | str) -> Any:
    """Returns JSON, with bytes that aren't UTF-8 as escapes within its texts. Raises for what isn't JSON."""
    codec = json.detect_encoding(printed) if isinstance(printed, bytes) else ""
    is_utf_8 = codec.startswith("utf-8")
    text = printed if isinstance(printed, str) else printed.decode(codec, "surrogateescape" if is_utf_8 else "strict")
    text = re.sub("[\udc80-\udcff]", lambda found: rf"\\x{ord(found[0]) - 0xDC00:02x}", text).replace("\0", r"\\x00")
    return json.loads(text, parse_int=Number, parse_float=Number, parse_constant=Number, object_pairs_hook=Members)


def same(value: Any, kept: Any, level: int = 1) -> bool:
    """True if the kept value is the same, or a text from which the value can be read."""
    if isinstance(value, Number):
        return kept == str(value) if isinstance(kept, str) else is_number(value, kept)
    if isinstance(value, str):
        return bool(kept == fit(value))
    if isinstance(value, Members):
        if isinstance(kept, str):
            return (level > MOST_LEVELS or len({fit(name) for name, _ in value}) < len(value)) and is_json_of(
                value, kept
            )
        names = [fit(name) for name, _ in value]
        return (
            isinstance(kept, dict)
            and sorted(names) == sorted(kept)
            and all(same(each, kept[fit(name)], level + 1) for name, each in value)
        )
    if isinstance(value, list):
        if isinstance(kept, str):
            return level > MOST_LEVELS and is_json_of(value, kept)
        return (
            isinstance(kept, list)
            and len(kept) == len(value)
            and all(same(each, other, level + 1) for each, other in zip(value, kept, strict=True))
        )
    return bool(kept is value)


def is_json_of(value: Any, text: str) -> bool:
    return bool(plain(value) == plain(strict(text)))


def plain(value: Any) -> Any:
    if isinstance(value, Members):
        return [(fit(name), plain(each)) for name, each in value]
    if isinstance(value, list):
        return [plain(each) for each in value]
    if isinstance(value, Number):
        return number(value)
    return fit(value) if isinstance(value, str) else value


def number(written: str) -> Any:
    try:
        return float(written) if len(written) < 30 and abs(float(written)) < 1e125 else written
    except ValueError:
        return written


def is_number(written: str, kept: Any) -> bool:
    if isinstance(kept, int) and written.lstrip("-").isdigit():
        return kept == int(written)
    return isinstance(kept, int | float) and float(kept) == float(written)


def fit(text: str) -> str:
    whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    return UNFIT.sub(lambda found: found[0].encode("unicode_escape").decode(), whole)


def repairs(value: Any, level: int = 1) -> set[str]:
    """Returns the notes that a value needs, if it is the output."""
    if isinstance(value, Number):
        return {mended.NUMBERS} if value in {"NaN", "Infinity", "-Infinity"} or len(value) > 40 else set()
    if isinstance(value, str):
        return (
            set()
            if fit(value) == value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
            else {mended.CHARACTERS}
        )
    if not isinstance(value, list):
        return set()
    if level > MOST_LEVELS:
        return {mended.LEVELS}
    if isinstance(value, Members):
        names = [fit(name) for name, _ in value]
        if len(set(names)) < len(names):
            return {mended.NAMES}
        return set().union(*(repairs(name) | repairs(each, level + 1) for name, each in value))
    return set().union(*(repairs(each, level + 1) for each in value))

"""Verifies an exported audit trail of a task, offline: nothing but Python 3.11 is needed, not even Baton.

verify_trail.py trail.json                     what GET /tasks/{id}/events answered
verify_trail.py < trail.jsonl                  the same from standard input
verify_trail.py --expect-hash 3f… trail.json   and that it ends with the hash that was noted elsewhere
verify_trail.py --export workspace.jsonl       every trail of what `baton_admin.py export` wrote, and that it is whole

An export has the content too. The program compares each task's fields with the trail, its message, output, completion
and questions with the digests in the trail, and its failure with the failure's type and description there. No entry
covers version, updated_at, the lease of a claim, recoveries and resume_payload. A trail that was begun before Baton
kept digests has none, and neither has a question of that time: only its action and its last decider are compared.

Several answers after each other are one trail, and a bare array of entries is one too. Exit status: 0 intact, 1 broken,
2 not readable.

Every entry carries its number as seq, from 1 on; the hash of the entry before it as prev_hash, 64 zeros in the first;
and as hash the SHA-256, in hexadecimal, of its other fields as canonical JSON (UTF-8, keys sorted, no spaces) followed
by prev_hash. Whoever changes an entry has to change all that follow, and the last hash with them. So a trail that was
cut short, or rewritten to its end, is intact in itself: only a hash that was noted elsewhere (--expect-hash) tells.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import secrets
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

INTACT, BROKEN, NOT_READABLE = 0, 1, 2
START = "0" * 64
BLANK = " \t\r\n"
MARK = secrets.token_hex(16)
NUMBER = re.compile(f'"{MARK}([-+.0-9eE]+)"')
QUESTIONS_SINCE = 2  # the format of exports
NO_FIELDS_OF_THE_TRAIL = {"version", "updated_at"}
NO_FIELDS_OF_A_CLAIM = {"lease_seconds", "heartbeat_at", "expires_at"}
USUAL = {"revision": 1, "max_attempts": 3}  # where no entry states another value

Entry = dict[str, Any]


class NotATrail(Exception):
    """What was given isn't the JSON of a trail."""


class Broken(Exception):
    """``number``: of the first entry that doesn't hold."""

    def __init__(self, number: int, why: str) -> None:
        super().__init__(f"entry {number} {why}")
        self.number, self.why = number, why


@dataclass(frozen=True)
class Seen:
    """A trail that holds. ``state``: of the task after it, as far as its entries tell."""

    entries: int
    first_at: str
    last_at: str
    last_hash: str
    state: str

    def __str__(self) -> str:
        entries = "1 entry" if self.entries == 1 else f"{self.entries} entries"
        times = f"from {self.first_at} to {self.last_at}"
        return f"{entries} {times}, leaving the task {self.state}; the last hash is {self.last_hash}."


def read(text: str) -> list[Entry]:
    """The entries of one answer, of several after each other, or of an array. Raises ``NotATrail``."""
    documents = list(_documents(text))
    if not documents:
        raise NotATrail("there is nothing in it")
    entries: list[Entry] = []
    for document in documents:
        listed = document.get("events") if isinstance(document, dict) else document
        if not isinstance(listed, list) or not all(isinstance(entry, dict) for entry in listed):
            raise NotATrail("it is neither an answer with events nor an array of them")
        entries += listed
    return entries


def verify(entries: list[Entry], expected_hash: str | None = None) -> Seen:
    """Raises ``Broken``, and ``NotATrail`` if an entry isn't whole."""
    if not entries:
        raise Broken(1, "is missing: the trail is empty")
    before = START
    for number, entry in enumerate(entries, start=1):
        _must_hold(number, entry, before)
        before = entry["hash"]
    if expected_hash is not None and expected_hash != before:
        raise Broken(*_where_it_parts(entries, expected_hash))
    states = [entry["data"]["changes"]["state"] for entry in entries if "state" in entry["data"]["changes"]]
    last = _shown(states[-1]) if states else "in a state that it doesn't tell"
    return Seen(len(entries), _shown(entries[0].get("at")), _shown(entries[-1].get("at")), before, last)


def _must_hold(number: int, entry: Entry, before: str) -> None:
    seq = entry.get("seq")
    if seq != number:
        raise Broken(number, f"is missing: in its place is number {_shown(seq)}")
    if entry.get("prev_hash") != before:
        raise Broken(number, "isn't chained to the one before it")
    if entry.get("hidden"):
        raise NotATrail(
            f"entry {number} lacks the requirements of approval rules: read the trail with a person's token"
        )
    if entry.get("hash") != _hash_of(number, entry, before):
        raise Broken(number, "was altered: its hash isn't that of its content")
    data = entry.get("data")
    if not isinstance(data, dict) or not isinstance(data.get("changes"), dict):
        raise Broken(number, "doesn't say what it changed")


def _shown(value: Any) -> str:
    """Fit for a terminal, whoever made the trail."""
    return "".join(character if character.isprintable() else "?" for character in str(value))[:40]


def _hash_of(number: int, entry: Entry, before: str) -> str:
    content = {name: value for name, value in entry.items() if name not in {"prev_hash", "hash"}}
    try:
        return _digest(content, before)
    except ValueError:  # half a character, or a number past all bounds
        raise Broken(number, "was altered: it holds what no entry can") from None


def _digest(content: Any, before: str = "") -> str:
    canonical = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return hashlib.sha256((NUMBER.sub(r"\1", canonical) + before).encode()).hexdigest()


def _spelled(written: str) -> Any:
    """A number that json would spell otherwise, as a text that no content holds: its spelling is part of what was
    asked."""
    same = float(written) if written.strip("-").strip("0123456789") else int(written)
    return same if repr(same) == written else f"{MARK}{written}"


def _where_it_parts(entries: list[Entry], expected_hash: str) -> tuple[int, str]:
    known = [number for number, entry in enumerate(entries, start=1) if entry["hash"] == expected_hash]
    if known:
        return known[0] + 1, f"is past the expected end: the expected hash is that of entry {known[0]}"
    return len(entries), "isn't the expected end: what came after it was cut off, or the trail was rewritten"


def _documents(text: str) -> Any:
    """JSON values after each other, on lines of their own or not."""
    decoder = json.JSONDecoder(
        object_pairs_hook=_object, parse_constant=_constant, parse_float=_spelled, parse_int=_spelled
    )
    at = _past_blanks(text, 0)
    while at < len(text):
        try:
            document, at = decoder.raw_decode(text, at)
        except ValueError as exc:
            raise NotATrail(f"it isn't JSON ({exc})") from exc
        yield document
        at = _past_blanks(text, at)


def _past_blanks(text: str, at: int) -> int:
    while at < len(text) and text[at] in BLANK:
        at += 1
    return at


def _object(pairs: list[tuple[str, Any]]) -> Entry:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key is given twice, and readers may differ in which one they take")
    return found


def _constant(name: str) -> Any:
    raise ValueError(f"{name} isn't JSON")


def verify_export(text: str) -> str:
    """Verifies the trail of each task of an export, and that the export reached its end. Raises ``Broken`` for the
    first task that doesn't hold, and ``NotATrail``."""
    lines = list(_documents(text))
    if not all(isinstance(line, dict) for line in lines):
        raise NotATrail("it isn't an export: each line is an object")
    if not lines or lines[0].get("kind") != "workspace" or lines[-1].get("kind") != "end":
        raise NotATrail("the export is cut short: it has no beginning or no end")
    tasks = [line for line in lines if line.get("kind") == "task"]
    unreadable = [line for line in lines if line.get("kind") == "unreadable task"]
    if len(tasks) + len(unreadable) != lines[-1].get("tasks"):
        raise NotATrail(f"it has {len(tasks)} tasks, and its end tells of {_shown(lines[-1].get('tasks'))}")
    ids = [line.get("id") for line in tasks]
    if twice := {each for each in map(str, ids) if ids.count(each) > 1}:
        raise NotATrail(f"it has {_shown(min(twice))} twice")
    entries = 0
    for line in tasks:
        listed = line.get("events")
        if not isinstance(listed, list) or not all(isinstance(entry, dict) for entry in listed):
            raise NotATrail(f"{_shown(line.get('id'))} has no events")
        try:
            entries += verify(listed, str(line.get("head_hash"))).entries
            _must_be_as_told(line, listed)
            _must_have_its_content(line, listed)
            _must_have_its_questions(line, listed, lines[0].get("format"))
        except Broken as exc:
            raise Broken(exc.number, f"of {_shown(line.get('id'))} {exc.why}") from exc
    if unreadable:
        named = ", ".join(_shown(line.get("id")) for line in unreadable[:10])
        raise NotATrail(f"{len(tasks)} trails hold, and the export could not read {len(unreadable)} tasks: {named}")
    return f"{len(tasks)} trails with {entries} entries, as of {_shown(lines[0].get('begun_at'))}."


def _must_be_as_told(line: Entry, entries: list[Entry]) -> None:
    """Raises ``Broken`` for the last entry, if the task isn't in the state that the entries give."""
    found = line.get("task")
    if not isinstance(found, dict):
        raise NotATrail(f"{_shown(line.get('id'))} has no task")
    told: Entry = {}
    for entry in entries:
        told |= entry["data"]["changes"]
    for name in sorted(told.keys() | found.keys() - NO_FIELDS_OF_THE_TRAIL):
        if _comparable(found.get(name)) != _comparable(told.get(name, USUAL.get(name))):
            raise Broken(len(entries), f"leaves the task with another {_shown(name)} than the export has")
    if found.get("id") != line.get("id"):
        raise Broken(len(entries), "is of another task than the export says")


def _comparable(value: Any) -> Any:
    """Entries leave out empty values, and heartbeats have no entries."""
    if isinstance(value, dict):
        return {name: item for name, item in value.items() if name not in NO_FIELDS_OF_A_CLAIM}
    return value or None


def _must_have_its_content(line: Entry, entries: list[Entry]) -> None:
    """Raises ``Broken`` for the entry whose digest isn't that of the content."""
    task: Entry = {}
    for number, entry in enumerate(entries, start=1):
        data = entry["data"]
        task |= data["changes"]
        if "digest" in data["changes"] and data["changes"]["digest"] != _digest_of_message(task, line.get("body")):
            raise Broken(number, "tells the digest of another message than the task has")
        outcome = {"output": line.get("output"), "completion": line.get("completion")}
        if "output_digest" in data and data["output_digest"] != _digest(outcome):
            raise Broken(number, "tells the digest of another output or completion than the task has")
    last = len(entries)
    has = {name: bool(task.get(f"has_{name}")) for name in ("output", "failure")}
    # A completion has a digest in each trail that has a digest of the message.
    has["completion"] = task.get("digest") is None or any("output_digest" in entry["data"] for entry in entries)
    for name in has:
        if not has[name] and line.get(name) is not None:
            raise Broken(last, f"leaves the task without {name}, and the export has one")
    failures = [entry["data"]["failure"] for entry in entries if isinstance(entry["data"].get("failure"), dict)]
    if failures and task.get("has_failure") and not _is_part(failures[-1], line.get("failure")):
        raise Broken(last, "leaves the task with another failure than the export has")


def _is_part(told: Entry, found: Any) -> bool:
    """True if ``found``, a failure or its record, has every field that an entry tells."""
    failure = found.get("failure", found) if isinstance(found, dict) else {}
    return isinstance(failure, dict) and all(failure.get(name) == value for name, value in told.items())


def _must_have_its_questions(line: Entry, entries: list[Entry], made_as: Any) -> None:
    """Raises ``Broken`` for the last entry about a question that the export has otherwise. ``made_as``: the export's
    format. Exports of earlier formats have no questions."""
    listed = line.get("questions")
    if listed is None and isinstance(made_as, int) and made_as < QUESTIONS_SINCE:
        return
    if not isinstance(listed, list):
        raise NotATrail(f"{_shown(line.get('id'))} has no list of questions")
    told = _told_of_questions(entries)
    found = {each.get("id"): each for each in listed if isinstance(each, dict)}
    for name, kept in told.items():
        if name not in found or not _is_as_told(kept, found[name]):
            raise Broken(kept["number"], f"states another question than {_shown(name)}, or that is missing")
    if unknown := found.keys() - told.keys():
        raise Broken(len(entries) + 1, f"is missing: no entry states the question {_shown(min(map(str, unknown)))}")


def _told_of_questions(entries: list[Entry]) -> dict[str, Entry]:
    """The last statement of the entries about each question."""
    told: dict[str, Entry] = {}
    closing = {"question_expired": "expired", "approval_revoked": "revoked"}
    for number, entry in enumerate(entries, start=1):
        data, type_ = entry["data"], entry.get("type")
        if not isinstance(data.get("question_id"), str):
            continue
        kept = told.setdefault(data["question_id"], {"digest": None, "asked": None, "used_at": None, "outcome": None})
        kept["number"] = number
        if type_ == "approval_used":
            kept["used_at"] = entry.get("at")
            continue
        if type_ != "question_expired":
            kept["digest"] = data.get("question_digest")
        if type_ == "question_asked":
            kept["asked"] = data.get("digest")
        if type_ == "question_decided":
            kept["decided"] = [entry.get("principal", {}).get("id"), data.get("digest")]
        kept["outcome"] = closing.get(str(type_)) or data.get("outcome", "open")
    return told


def _is_as_told(kept: Entry, question: Entry) -> bool:
    is_closed = kept["outcome"] == "open" and question.get("outcome") in {"withdrawn", "expired"}
    if kept["used_at"] != question.get("used_at") or not (is_closed or kept["outcome"] == question.get("outcome")):
        return False
    if kept["digest"] is not None:
        content = {name: value for name, value in question.items() if name not in {"outcome", "used_at"}}
        return bool(kept["digest"] == _digest(content))
    if kept["asked"] != _action_digest(question, question.get("arguments")):
        return False
    decided = kept.get("decided")
    last = question["decisions"][-1] if question.get("decisions") else {}
    if decided is None or last.get("outcome") == "revoked":
        return True
    arguments = question.get("arguments") if last.get("arguments") is None else last["arguments"]
    approved = None if last.get("digest") is None else _action_digest(question, arguments)
    return bool(decided == [last.get("by"), approved])


def _action_digest(question: Entry, arguments: Any) -> str | None:
    tool = question.get("tool")
    return None if tool is None else _digest({"tool": tool, "arguments": arguments})


def _digest_of_message(task: Entry, message: Any) -> str:
    """The message, with title, source and target, and without what only says which handoff it is."""
    number, parent = str(task.get("id")).partition("_")[2], task.get("parent_id")
    said: Entry = {
        "handoff_id": task.get("handoff_id"),
        "timestamp": task.get("created_at"),
        "metadata": {"workflow_id": task.get("workflow_id")},
        "rollback": {"checkpoint_id": f"chk_{number}"},
    }
    if parent is not None:
        said["metadata"]["parent_handoff"] = f"ho_{str(parent).partition('_')[2]}"
    asked = {name: task.get(name) for name in ("title", "source_agent", "target_agent")}
    return _digest({**asked, "message": _without(message if isinstance(message, dict) else {}, said)})


def _without(message: Entry, said: Entry) -> Entry:
    left: Entry = {}
    for name, value in message.items():
        known = said.get(name)
        if isinstance(known, dict) and isinstance(value, dict):
            left[name] = _without(value, known)
        elif known is None or value != known:
            left[name] = value
    return left


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Verify an exported audit trail offline.")
    parser.add_argument(
        "file", nargs="?", default="-", help="what GET /tasks/{id}/events answered; - is standard input"
    )
    parser.add_argument("--expect-hash", metavar="H", type=str.lower, help="the hash that the trail has to end with")
    parser.add_argument("--export", action="store_true", help="the file is an export of a workspace")
    given = parser.parse_args(arguments)
    try:
        raw = sys.stdin.buffer.read() if given.file == "-" else Path(given.file).read_bytes()
        text = raw.decode("utf-8-sig")
        seen = verify_export(text) if given.export else verify(read(text), given.expect_hash)
    except Broken as exc:
        print(f"Broken: {exc}.")
        return BROKEN
    except (NotATrail, OSError, UnicodeDecodeError, RecursionError) as exc:
        print(f"Not readable as a trail: {exc}.", file=sys.stderr)
        return NOT_READABLE
    print(f"Intact: {seen}")
    return INTACT


if __name__ == "__main__":
    sys.exit(main())

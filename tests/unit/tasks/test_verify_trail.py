"""Whether a trail holds: asked of Baton, and of the script that knows nothing of Baton. They must agree."""

from __future__ import annotations

import ast
import io
import json
import subprocess
import sys
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest

from baton.domain.errors import InvalidInput, Unknown
from baton.domain.ids import RANDOM_BYTES, question_id_of, sortable_id
from baton.domain.questions.question import MAX_OF_TASK
from baton.domain.tasks.check_cursor import MAX_CURSOR, check_at, cursor_of
from baton.domain.tasks.question_check import ToldQuestion
from baton.domain.tasks.trail import GENESIS, Event, chain_hash
from baton.domain.tasks.trail_check import TrailCheck
from baton.domain.times import parse_rfc3339
from baton.services.claims.renew_claim import renew_claim
from baton.services.tasks.verify_trail import EVENTS_PER_PAGE, MAX_ENTRIES, TrailFindings, verify_trail
from support.faults.hooked_store import HookedStore
from support.faults.soak import crossed, scaled
from support.faults.wrapped_store import WrappedStore
from support.worlds.world import WORKSPACE, World, agent, human
from tools.admin import verify_trail as script

SCRIPT = Path(script.__file__)
Public = dict[str, Any]

A_CALL = scaled(MAX_ENTRIES, 50)  # entries that a call checks


class AlteredStore(WrappedStore):
    """Somebody has been at the table: ``alter`` is done to the trail before it is read, by its place in it."""

    def __init__(self) -> None:
        super().__init__()
        self.alter: Any = lambda events: events
        self.pages: list[int] = []

    def events(self, workspace: str, task_id: str, after: int, limit: int) -> tuple[Event, ...]:
        whole = list(self.inner.trail.events(workspace, task_id, 0, 100_000))
        page = tuple(self.alter(whole)[after : after + limit]) if whole else ()
        self.pages.append(len(page))
        return page


class Kept:
    """A task that was approved, claimed, lost and claimed again, in a store that somebody can alter."""

    def __init__(self) -> None:
        self.store = AlteredStore()
        self.world = World(store=self.store).settle()
        self.task_id = self.world.claimed().details.task.id

    @property
    def trail(self) -> list[Event]:
        return list(self.store.inner.trail.events(WORKSPACE, self.task_id, 0, 100_000))

    @property
    def exported(self) -> list[Public]:
        return [json.loads(json.dumps(event.public())) for event in self.trail]

    def verdict(self, events: list[Event] | None = None) -> TrailFindings:
        self.store.alter = lambda whole: whole if events is None else events
        return verify_trail(self.world.deps, human(), self.task_id)


@pytest.fixture
def kept() -> Kept:
    return Kept()


def event_of(told: Public) -> Event:
    """As it would be stored."""
    return Event(
        seq=told["seq"],
        at=parse_rfc3339(told["at"]),
        type=told["type"],
        principal_kind=told["principal"]["kind"],
        principal_id=told["principal"]["id"],
        fence=told["fence"],
        data=told["data"],
        prev_hash=told["prev_hash"],
        hash=told["hash"],
    )


def said_by_script(exported: list[Public], expected: str | None = None) -> int | None:
    """The entry that is broken."""
    try:
        script.verify(exported, expected)
    except script.Broken as exc:
        return exc.number
    return None


def rehashed(told: Public) -> Public:
    """With the hash made right."""
    content = {name: value for name, value in told.items() if name not in {"prev_hash", "hash"}}
    return {**told, "hash": chain_hash(content, told["prev_hash"])}


def rewritten(exported: list[Public]) -> list[Public]:
    """Chained anew from the first entry to the last."""
    before, found = GENESIS, []
    for told in exported:
        found.append(rehashed({**told, "prev_hash": before}))
        before = found[-1]["hash"]
    return found


# As it is


def test_a_trail_as_it_was_written_is_intact_and_tells_of_its_task(kept: Kept) -> None:
    last = kept.trail[-1]
    assert kept.verdict() == TrailFindings(
        task_id=kept.task_id,
        intact=True,
        events=3,
        broken_at=None,
        problem=None,
        head_hash=last.hash,
        matches_task=True,
    )
    seen = script.verify(kept.exported, last.hash)
    assert (seen.entries, seen.state, seen.last_hash) == (3, "claimed", last.hash)
    assert (seen.first_at, seen.last_at) == (kept.exported[0]["at"], kept.exported[-1]["at"])


def test_a_heartbeat_leaves_no_entry_and_no_difference(kept: Kept) -> None:
    claim = kept.world.task(kept.task_id).claim
    assert claim is not None
    kept.world.clock.advance(30)
    renew_claim(kept.world.deps, agent("auditor"), kept.task_id, claim.claim_id, 900)
    assert kept.world.task(kept.task_id).claim != claim
    assert kept.verdict().matches_task


def test_an_unknown_tasks_trail_is_unknown(kept: Kept) -> None:
    for workspace, task_id in ((WORKSPACE, "task_0"), ("other", kept.task_id)):
        with pytest.raises(Unknown):
            verify_trail(kept.world.deps, human(workspace), task_id)


@pytest.mark.parametrize("count", [EVENTS_PER_PAGE - 1, EVENTS_PER_PAGE, EVENTS_PER_PAGE + 1, 3 * EVENTS_PER_PAGE])
def test_a_trail_of_any_length_is_read_page_by_page(kept: Kept, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rewritten_trail = rewritten([*kept.exported, *({**kept.exported[-1], "seq": n} for n in range(4, count + 1))])
    task = kept.world.task(kept.task_id)
    monkeypatch.setattr(
        kept.store.inner.tasks, "load", lambda *_: (task.changed(seq=count, chain=rewritten_trail[-1]["hash"]), None)
    )
    verdict = kept.verdict([event_of(told) for told in rewritten_trail])
    assert (verdict.intact, verdict.events, verdict.matches_task) == (True, count, True)
    assert max(kept.store.pages) <= EVENTS_PER_PAGE
    assert sum(kept.store.pages) == count
    assert said_by_script(rewritten_trail) is None


@pytest.mark.parametrize("altered", [None, 7, A_CALL + 7])
def test_a_long_trail_is_verified_in_pages(kept: Kept, altered: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("baton.services.tasks.verify_trail.MAX_ENTRIES", A_CALL)
    count = 2 * A_CALL + 150
    long = rewritten([*kept.exported, *({**kept.exported[-1], "seq": n} for n in range(4, count + 1))])
    task = kept.world.task(kept.task_id)
    monkeypatch.setattr(
        kept.store.inner.tasks, "load", lambda *_: (task.changed(seq=count, chain=long[-1]["hash"]), None)
    )
    if altered is not None:
        long[altered - 1] = {**long[altered - 1], "at": "2026-11-18T13:13:13.131Z"}
    verdict, pages = kept.verdict([event_of(told) for told in long]), 1
    while verdict.next_cursor is not None:
        assert (verdict.intact, verdict.matches_task, verdict.events) == (True, False, pages * A_CALL)
        assert len(verdict.next_cursor) < MAX_CURSOR
        verdict, pages = verify_trail(kept.world.deps, human(), kept.task_id, verdict.next_cursor), pages + 1
    expected = (3, True, None) if altered is None else (1 + altered // A_CALL, False, altered)
    assert (pages, verdict.intact, verdict.broken_at) == expected
    assert verdict.matches_task is (altered is None)


@pytest.mark.parametrize("is_altered", [False, True])
def test_a_trail_of_a_task_with_long_fields_is_verified_to_its_end(
    kept: Kept, monkeypatch: pytest.MonkeyPatch, *, is_altered: bool
) -> None:
    monkeypatch.setattr("baton.services.tasks.verify_trail.MAX_ENTRIES", 10)
    dice = Random(1)
    types = ["".join(chr(dice.randrange(0x4E00, 0x9FFF)) for _ in range(100)) for _ in range(100)]
    (first, *rest), count = kept.exported, EVENTS_PER_PAGE + 5
    first["data"]["changes"]["requires"] = types
    long = rewritten([first, *rest, *({**rest[-1], "seq": n} for n in range(4, count + 1))])
    requires = tuple(types[:-1] if is_altered else types)
    task = kept.world.task(kept.task_id).changed(seq=count, chain=long[-1]["hash"], requires=requires)
    monkeypatch.setattr(kept.store.inner.tasks, "load", lambda *_: (task, None))
    begun = kept.verdict([event_of(told) for told in long])
    assert begun.next_cursor is not None
    assert len(begun.next_cursor) < MAX_CURSOR
    verdict = verify_trail(kept.world.deps, human(), kept.task_id, begun.next_cursor)
    assert (verdict.intact, verdict.matches_task, verdict.next_cursor) == (True, not is_altered, None)


@pytest.mark.parametrize(
    "cursor", ["x", "AAAA", "eJwDAAAAAAE", cursor_of(TrailCheck())[:-4], cursor_of(TrailCheck(entries=-1))]
)
def test_a_cursor_that_was_never_given_out_is_refused(kept: Kept, cursor: str) -> None:
    with pytest.raises(InvalidInput):
        verify_trail(kept.world.deps, human(), kept.task_id, cursor)


def test_a_cursor_of_another_trail_breaks_at_the_first_entry_after_it(kept: Kept) -> None:
    cursor = cursor_of(TrailCheck(entries=1, hash="0" * 64))
    verdict = verify_trail(kept.world.deps, human(), kept.task_id, cursor)
    assert (verdict.intact, verdict.broken_at) == (False, 2)


def test_what_is_written_while_it_is_read_breaks_nothing() -> None:
    store = HookedStore()
    world = World(store=store).settle()
    task_id = world.ready()
    store.after["events"] = world.claim
    verdict = verify_trail(world.deps, human(), task_id)
    assert (verdict.intact, verdict.events, verdict.matches_task) == (True, 3, True)


# Altered


def every_leaf(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(value, dict | list) and value:
        for name in value if isinstance(value, dict) else range(len(value)):
            yield from every_leaf(value[name], (*path, name))
    else:
        yield path


def another(value: Any) -> Any:
    """Of the same kind, so that it could have been stored."""
    match value:
        case bool():
            return not value
        case int():
            return value + 1
        case str() if value[10:11] == "T":
            at = parse_rfc3339(value) + timedelta(milliseconds=1)
            return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        case str():
            return value[:-1] + ("0" if value[-1:] != "0" else "1")
        case _:
            return "forged"


def test_for_every_field_that_is_altered_both_name_the_same_entry(kept: Kept) -> None:
    exported = kept.exported
    tried = 0
    for number, entry in enumerate(exported, start=1):
        for path in every_leaf(entry):
            altered = deepcopy(exported)
            place: Any = altered[number - 1]
            for name in path[:-1]:
                place = place[name]
            place[path[-1]] = another(place[path[-1]])
            verdict = kept.verdict([event_of(told) for told in altered])
            assert (verdict.intact, verdict.broken_at, verdict.matches_task) == (False, number, False), path
            assert verdict.head_hash == (exported[number - 2]["hash"] if number > 1 else None)
            assert verdict.events == len(exported)
            assert said_by_script(altered) == number, path
            tried += 1
    assert tried > 50


MOVED: dict[str, Any] = {
    "the first is missing": (lambda e: e[1:], 1),
    "one is missing": (lambda e: e[:1] + e[2:], 2),
    "two changed places": (lambda e: [e[0], e[2], e[1]], 2),
    "one comes twice": (lambda e: [e[0], e[1], e[1], e[2]], 3),
    "all are gone": (lambda e: e[:0], 1),
}


@pytest.mark.parametrize(("move", "number"), MOVED.values(), ids=MOVED)
def test_missing_moved_and_doubled_entries_are_named_alike(kept: Kept, move: Any, number: int) -> None:
    moved = move(kept.exported)
    verdict = kept.verdict([event_of(told) for told in moved])
    assert (verdict.intact, verdict.broken_at, verdict.events) == (False, number, len(moved))
    assert said_by_script(moved) == number


@pytest.mark.parametrize("number", [1, 2])
def test_an_altered_entry_with_its_own_hash_made_right_breaks_at_the_next(kept: Kept, number: int) -> None:
    altered = kept.exported
    altered[number - 1]["principal"]["id"] = "mallory"
    altered[number - 1] = rehashed(altered[number - 1])
    assert kept.verdict([event_of(told) for told in altered]).broken_at == number + 1
    assert said_by_script(altered) == number + 1


def test_an_entry_that_tells_no_changes_is_broken_for_both(kept: Kept) -> None:
    altered = kept.exported
    altered[1]["data"] = {"changes": "none"}
    altered = rewritten(altered)
    assert kept.verdict([event_of(told) for told in altered]).broken_at == 2
    assert said_by_script(altered) == 2


# What only the task, or a noted hash, can tell


@pytest.mark.parametrize(
    ("alter", "broken_at"),
    [
        (lambda e: e[:-1], 3),
        (lambda e: [*e, {**e[-1], "seq": 4}], 4),
        (lambda e: [*e[:-1], {**e[-1], "type": "approved"}], 3),
        (lambda e: [{**e[0], "type": "approved"}, *e[1:]], 3),
    ],
    ids=["cut short", "made longer", "its last entry forged", "rewritten from its first entry on"],
)
def test_a_trail_made_right_in_itself_is_told_by_the_task_and_by_a_noted_hash(
    kept: Kept, alter: Any, broken_at: int
) -> None:
    noted = kept.exported[-1]["hash"]
    altered = rewritten(alter(kept.exported))
    assert said_by_script(altered) is None
    assert said_by_script(altered, noted) == min(broken_at, len(altered))
    verdict = kept.verdict([event_of(told) for told in altered])
    assert (verdict.intact, verdict.broken_at) == (False, broken_at)
    assert verdict.problem is not None
    assert verdict.problem.startswith(f"Entry {broken_at} ")


def test_a_task_that_was_changed_behind_its_trail_is_named_by_field(
    kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = kept.world.task(kept.task_id)
    forged = replace(task, title="another", max_attempts=9)
    monkeypatch.setattr(kept.store.inner.tasks, "load", lambda *_: (forged, None))
    verdict = kept.verdict()
    assert (verdict.intact, verdict.matches_task, verdict.broken_at) == (True, False, None)
    assert verdict.problem == "The task isn't what its trail tells: title, max_attempts, message."


@pytest.mark.parametrize("changes", [{"state": "asleep"}, {"of a later version": 1}, {"claim": "x"}])
def test_a_trail_that_tells_of_no_task_matches_none(
    kept: Kept, changes: Public, monkeypatch: pytest.MonkeyPatch
) -> None:
    altered = kept.exported
    altered[2]["data"]["changes"] |= changes
    altered = rewritten(altered)
    task = kept.world.task(kept.task_id).changed(chain=altered[-1]["hash"])
    monkeypatch.setattr(kept.store.inner.tasks, "load", lambda *_: (task, None))
    verdict = kept.verdict([event_of(told) for told in altered])
    assert (verdict.intact, verdict.matches_task) == (True, False)


# The script, as it is used


def run(*arguments: str, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """Without the packages that are installed here."""
    command = [sys.executable, "-I", "-S", str(SCRIPT), *arguments]
    return subprocess.run(command, input=given, capture_output=True, timeout=60, check=False)


def test_it_imports_nothing_but_the_standard_library() -> None:
    found = set()
    for node in ast.walk(ast.parse(SCRIPT.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {name.name.split(".")[0] for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(str(node.module).split(".")[0])
    assert found <= sys.stdlib_module_names


def shapes(exported: list[Public]) -> dict[str, str]:
    answers = [{"events": exported[:2], "next_after": 2}, {"events": exported[2:], "next_after": 3}]
    return {
        "one answer": json.dumps({"events": exported, "next_after": 3}),
        "one answer, indented": json.dumps({"events": exported, "next_after": 3}, indent=2),
        "answers on lines": "\n".join(map(json.dumps, [*answers, {"events": [], "next_after": 3}])) + "\n",
        "answers one after the other": "".join(json.dumps(answer, indent=1) for answer in answers),
        "a bare array": json.dumps(exported, ensure_ascii=False),
        "with a byte order mark": "\ufeff" + json.dumps(exported),
    }


@pytest.mark.parametrize(("shape", "way"), crossed(list(shapes([])), ["a file", "its input", "its input by name"]))
def test_it_reads_what_the_api_answers_and_says_what_it_saw(kept: Kept, tmp_path: Path, shape: str, way: str) -> None:
    exported = kept.exported
    file = tmp_path / "trail.json"
    file.write_text(shapes(exported)[shape], encoding="utf-8")
    first, last = exported[0]["at"], exported[-1]
    sentence = f"from {first} to {last['at']}, leaving the task claimed; the last hash is {last['hash']}."
    if way == "a file":
        done = run(str(file))
    elif way == "its input":
        done = run(given=file.read_bytes())
    else:
        done = run("--expect-hash", last["hash"], "-", given=file.read_bytes())
    assert (done.returncode, done.stdout.decode(), done.stderr) == (0, f"Intact: 3 entries {sentence}\n", b"")


def test_it_names_the_broken_entry_and_why(kept: Kept) -> None:
    altered = kept.exported
    altered[1]["principal"]["id"] = "mallory"
    done = run(given=json.dumps(altered).encode())
    assert done.returncode == 1
    assert done.stdout == b"Broken: entry 2 was altered: its hash isn't that of its content.\n"


def test_it_says_where_a_trail_parts_from_a_noted_hash(kept: Kept) -> None:
    exported = kept.exported
    whole, short = json.dumps(exported).encode(), json.dumps(exported[:2]).encode()
    cut = run("--expect-hash", exported[2]["hash"], given=short)
    assert cut.returncode == 1
    assert cut.stdout.startswith(b"Broken: entry 2 isn't the expected end")
    grown = run("--expect-hash", exported[1]["hash"].upper(), given=whole)
    assert grown.returncode == 1
    assert grown.stdout == b"Broken: entry 3 is past the expected end: the expected hash is that of entry 2.\n"


@pytest.mark.parametrize(
    "given",
    [
        b"",
        b" \n",
        b"no JSON",
        b"{}",
        b"[1]",
        b'{"events": {}}',
        b'{"events": []} and more',
        b'[{"seq": 1, "seq": 2}]',
        b'[{"seq": NaN}]',
        b"\xff\xfe",
        b"[" * 100_000,
        b'[{"seq": ' + b"1" * 10_000 + b"}]",
    ],
)
def test_what_is_no_trail_is_not_readable(given: bytes) -> None:
    done = run(given=given)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.startswith(b"Not readable as a trail: ")
    assert b"Traceback" not in done.stderr


def test_a_file_that_is_not_there_is_not_readable(tmp_path: Path) -> None:
    assert run(str(tmp_path / "none.json")).returncode == 2


@pytest.mark.parametrize(
    "entry",
    [
        {},
        {"seq": True},
        {"seq": 1, "prev_hash": None},
        {"seq": 1, "prev_hash": GENESIS},
        {"seq": 1, "prev_hash": GENESIS, "hash": 1},
        {"seq": 1, "prev_hash": GENESIS, "hash": "x", "data": "\ud800"},
        {"seq": 1, "prev_hash": GENESIS, "hash": "x", "fence": 1e999},
        rehashed({"seq": 1, "prev_hash": GENESIS, "data": [], "hash": ""}),
        rehashed({"seq": 1, "prev_hash": GENESIS, "hash": ""}),
    ],
)
def test_an_entry_that_lacks_something_is_broken(entry: Public) -> None:
    done = run(given=json.dumps([entry]).replace("Infinity", "1e999").encode())
    assert done.returncode == 1
    assert done.stdout.startswith(b"Broken: entry 1 ")


def test_nothing_that_a_trail_holds_can_draw_on_the_terminal(monkeypatch: Any, capsys: Any) -> None:
    forged = rewritten(
        [{"seq": 1, "at": "\x1b[2J\nIntact: all fine", "data": {"changes": {"state": "done\r\x1b"}}, "prev_hash": ""}]
    )
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(json.dumps(forged).encode())))
    assert script.main([]) == 0
    printed = capsys.readouterr().out
    assert printed.count("\n") == 1
    assert printed[:-1].isprintable()


@pytest.mark.parametrize("is_old", [False, True])
def test_a_cursor_has_room_for_all_questions_of_a_task(*, is_old: bool) -> None:
    dice, at, task_id = Random(1), parse_rfc3339("2026-11-18T12:00:00Z"), "task_01m7q8ecg0w087vz7r1fyva2rf"
    told = {}
    for number in range(MAX_OF_TASK):
        question_id = question_id_of(task_id, sortable_id("qst", at, dice.randbytes(RANDOM_BYTES)))
        hexes = [dice.randbytes(32).hex() for _ in range(2)]
        digests = {"asked": hexes[0], "decided": hexes[1]} if is_old else {"digest": hexes[0]}
        used_at = f"2026-11-18T12:00:{number % 60:02}.{number:03}Z"
        told[question_id] = ToldQuestion(outcome="approved", used_at=used_at, **digests)
    cursor = cursor_of(TrailCheck(questions=told))
    assert len(cursor) < MAX_CURSOR - 1_000
    assert check_at(cursor).questions == {name: each.shortened() for name, each in told.items()}

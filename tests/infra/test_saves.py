"""A save of the local engine's state is whole, or it doesn't exist; and a run that ended without one is reported."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tools.stack.saves import Saves

MORNING, NOON, EVENING = (datetime(2026, 3, 1, hour, tzinfo=UTC) for hour in (8, 12, 18))


@pytest.fixture
def saves(tmp_path: Path) -> Saves:
    (tmp_path / "state").mkdir()
    return Saves(tmp_path / "state")


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """The engine's files beside its services' states."""
    (tmp_path / "work" / "blobs").mkdir(parents=True)
    return tmp_path / "work"


def state(saves: Saves) -> dict[str, bytes]:
    """That a start of the engine finds."""
    work = saves.folder.with_name(f"{saves.folder.name} unpacked")
    saves.unpack(work)
    files = [path for path in work.rglob("*") if path.is_file() and path.name != "saved.json"]
    return {str(path.relative_to(work)): path.read_bytes() for path in files}


def test_the_newest_save_is_read_and_older_ones_are_removed(saves: Saves, work: Path) -> None:
    saves.write({"a.json": b"1", "b.json": b"1"}, work, "first", MORNING, is_last=False)
    saves.write({"a.json": b"2", "b.json": b"1"}, work, "first", NOON, is_last=False)
    assert state(saves) == {"a.json": b"2", "b.json": b"1"}
    assert [path.name for path in saves.folder.iterdir()] == ["2"]


def test_a_service_that_gives_no_state_keeps_its_last_one(saves: Saves, work: Path) -> None:
    saves.write({"a.json": b"1", "b.json": b"1"}, work, "first", MORNING, is_last=True)
    saves.unpack(work)
    saves.write({"a.json": b"2"}, work, "second", NOON, is_last=True)
    assert state(saves) == {"a.json": b"2", "b.json": b"1"}


def test_the_state_of_an_earlier_version_is_read_and_taken_over(saves: Saves, work: Path) -> None:
    (saves.folder / "blobs").mkdir()
    for name in ("a.json", "b.json", "blobs/c.zip"):
        (saves.folder / name).write_bytes(b"1")
    assert state(saves) == {"a.json": b"1", "b.json": b"1", "blobs/c.zip": b"1"}
    assert saves.unsaved_since() is None
    saves.begin("first", MORNING)
    assert state(saves) == {"a.json": b"1", "b.json": b"1", "blobs/c.zip": b"1"}
    saves.unpack(work)
    saves.write({"a.json": b"2"}, work, "first", NOON, is_last=False)
    assert state(saves) == {"a.json": b"2", "b.json": b"1", "blobs/c.zip": b"1"}
    assert sorted(path.name for path in saves.folder.iterdir()) == ["1", "run.json"]


def calls(names: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, fail_at: int) -> list[str]:
    """The calls of the operating system from now on; the one with this number fails."""
    made: list[str] = []

    def counted(name: str, real: Any) -> Any:
        def call(*args: Any, **options: Any) -> Any:
            made.append(name)
            if len(made) == fail_at:
                raise OSError(28, "No space left on device")
            return real(*args, **options)

        return call

    for name in names:
        monkeypatch.setattr(os, name, counted(name, getattr(os, name)))
    return made


def test_a_full_disk_at_any_moment_leaves_the_last_save(tmp_path: Path, work: Path) -> None:
    failures = 0
    for fail_at in range(1, 20):
        saves = Saves(tmp_path / f"state {fail_at}")
        saves.folder.mkdir()
        saves.begin("first", MORNING)
        saves.write({"a.json": b"1", "b.json": b"1"}, work, "first", MORNING, is_last=False)
        with pytest.MonkeyPatch.context() as patch:
            made = calls(("fsync", "link"), patch, fail_at)
            try:
                saves.write({"a.json": b"2", "b.json": b"1"}, work, "first", NOON, is_last=True)
            except OSError:
                failures += 1
        if state(saves) == {"a.json": b"2", "b.json": b"1"}:
            assert saves.unsaved_since() is None
        else:
            assert state(saves) == {"a.json": b"1", "b.json": b"1"}
            assert saves.unsaved_since() == MORNING
        if len(made) < fail_at:
            break
    assert failures >= 3


@pytest.mark.parametrize("left", [[], ["a.json"], ["a.json", "b.json", "saved.json"]])
def test_a_save_that_was_cut_off_is_never_read(saves: Saves, work: Path, left: list[str]) -> None:
    saves.write({"a.json": b"1", "b.json": b"1"}, work, "first", MORNING, is_last=True)
    cut_off = saves.folder / "unfinished"
    cut_off.mkdir()
    for name in left:
        (cut_off / name).write_bytes(b"2")
    assert state(saves) == {"a.json": b"1", "b.json": b"1"}
    saves.unpack(work)
    saves.write({"a.json": b"3"}, work, "second", NOON, is_last=True)
    assert state(saves) == {"a.json": b"3", "b.json": b"1"}


def test_a_file_that_the_engine_removes_after_a_save_is_still_in_it(saves: Saves, work: Path) -> None:
    """It removes code that no function has any more while it gives its state: the next save may fail."""
    (work / "blobs" / "old.zip").write_bytes(b"old")
    saves.write({"a.json": b"old.zip"}, work, "first", MORNING, is_last=False)
    (work / "blobs" / "old.zip").unlink()
    assert state(saves) == {"a.json": b"old.zip", "blobs/old.zip": b"old"}


def test_a_run_that_ended_without_saving_is_known_with_the_time_of_its_newest_save(saves: Saves, work: Path) -> None:
    assert saves.unsaved_since() is None
    saves.begin("first", MORNING)
    assert saves.unsaved_since() == MORNING
    saves.write({"a.json": b"1"}, work, "first", NOON, is_last=False)
    assert saves.unsaved_since() == NOON
    saves.write({"a.json": b"1"}, work, "first", EVENING, is_last=True)
    assert saves.unsaved_since() is None
    saves.begin("second", EVENING)
    assert saves.unsaved_since() == EVENING

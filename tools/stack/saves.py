"""The saves of the local engine's state: each one is whole, or it doesn't exist.

A save is a folder with a number in its name. It is written under another name, and gets its number by a rename after
all of its files are on the disk. The next start reads the newest save.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

__all__ = ["Saves"]

_RUN = "run.json"  # the last run of the engine, and when it began
_END = "saved.json"  # of a save: its run, its time, and whether it was the run's last
_UNFINISHED = "unfinished"


@dataclass(frozen=True)
class Saves:
    """Those under ``folder``. One process writes them at a time: the holder of the engine's lock."""

    folder: Path

    def newest(self) -> Path:
        """The folder with the state's files: ``folder`` itself if an earlier version kept them there."""
        return max(self._numbered(), key=_number, default=self.folder)

    def begin(self, run: str, now: datetime) -> None:
        """Record that a run began. Raises OSError if the disk takes nothing."""
        _write(self.folder / "run.new", _json({"run": run, "began_at": now.isoformat()}))
        (self.folder / "run.new").replace(self.folder / _RUN)

    def run(self) -> str | None:
        """The last run; None if none was recorded."""
        known = _read(self.folder / _RUN)
        return known["run"] if known else None

    def unsaved_since(self) -> datetime | None:
        """The time of the last run's newest save, or of its start, if it ended without a last save; else None."""
        run, saved = _read(self.folder / _RUN), _read(self.newest() / _END)
        if run is None:
            return None
        if saved is None or saved["run"] != run["run"]:
            return datetime.fromisoformat(run["began_at"])
        return None if saved["is_last"] else datetime.fromisoformat(saved["at"])

    def unpack(self, work: Path) -> None:
        """Put the newest save into this folder. The engine may replace its files there, and changes none in place."""
        newest = self.newest()
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir(mode=0o700)
        for path in _files(newest):
            if newest != self.folder or path.relative_to(newest).parts[0] not in {_RUN, _UNFINISHED}:
                _take_over(path, work / path.relative_to(newest))

    def write(self, states: Mapping[str, bytes], work: Path, run: str, now: datetime, *, is_last: bool) -> None:
        """Save these files, and those in the folder ``work`` with other names. Raises OSError; the newest save is then
        the one before, or this one, whole."""
        unfinished, before = self.folder / _UNFINISHED, self.newest()
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir(mode=0o700)
        try:
            for path in _files(work):
                if str(path.relative_to(work)) not in {*states, _END}:
                    _take_over(path, unfinished / path.relative_to(work))
            for name, content in states.items():
                last = before / name
                if last.exists() and last.read_bytes() == content:
                    _take_over(last, unfinished / name)
                else:
                    _write(unfinished / name, content)
            _write(unfinished / _END, _json({"run": run, "at": now.isoformat(), "is_last": is_last}))
            for folder in (*filter(Path.is_dir, unfinished.rglob("*")), unfinished):
                _flush(folder)
            unfinished.rename(self.folder / str(_number(before) + 1))
            _flush(self.folder)
        except OSError:
            shutil.rmtree(unfinished, ignore_errors=True)
            raise
        self._remove_older()

    def _remove_older(self) -> None:
        newest = self.newest()
        for path in self.folder.iterdir():
            if path.is_dir() and path != newest:
                shutil.rmtree(path, ignore_errors=True)
            elif path.is_file() and path.name != _RUN:
                path.unlink(missing_ok=True)

    def _numbered(self) -> Iterator[Path]:
        return (path for path in self.folder.glob("*") if path.name.isdecimal())


def _number(folder: Path) -> int:
    return int(folder.name) if folder.name.isdecimal() else 0


def _json(document: Mapping[str, Any]) -> bytes:
    return json.dumps(document).encode()


def _read(path: Path) -> dict[str, Any] | None:
    if not path.exists():
        return None
    document: dict[str, Any] = json.loads(path.read_bytes())
    return document


def _files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def _take_over(path: Path, target: Path) -> None:
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        os.link(path, target)
    except OSError:  # not every file system has links
        _write(target, path.read_bytes())


def _write(path: Path, content: bytes) -> None:
    """Without the flush, a file may be empty after a loss of power, and its name there."""
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _flush(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)

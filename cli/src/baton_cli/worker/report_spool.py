"""The spool of reports, on disk: those that Baton hasn't answered yet. If a worker is killed, the next one sends its
reports."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from baton_client import numbers
from baton_client.folders import state_folder

# Baton remembers an answer for so long (docs/limits.md). A later repeat would be a new request.
LAST_SECONDS = 7 * 86_400
SUFFIX = ".json"
KEPT_SUFFIX = ".kept"  # of a report that is kept for people alone


@dataclass(frozen=True, slots=True)
class SpooledReport:
    """A report as a request, which may be repeated. ``url``: the API's; ``agent``: the claim's; ``body`` has the
    claim's id."""

    url: str
    agent: str
    path: str
    body: dict[str, Any]
    key: str


class ReportSpool:
    """A folder of this user alone: whoever else can write to it could have requests sent with the worker's token. An
    entry is written whole or not at all. If the folder can't be written, or others have a right to it, nothing is
    spooled, and reports are in memory alone."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._own: set[Path] = set()

    def add(self, entry: SpooledReport) -> bool:
        """Writes the entry, in place of the claim's earlier one. Returns False if that isn't possible."""
        path = self._path(entry)
        self._own.add(path)
        made = path.with_suffix(f".{os.getpid()}")
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            if not self._is_ours():
                return False
            with os.fdopen(os.open(made, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
                file.write(numbers.dumps(asdict(entry)))
                file.flush()
                os.fsync(file.fileno())
            made.replace(path)
        except OSError:
            return False
        return True

    def remove(self, entry: SpooledReport) -> None:
        with suppress(OSError):
            self._path(entry).unlink(missing_ok=True)

    def leave(self, entry: SpooledReport) -> Path | None:
        """Leaves the entry to later polls, also of this worker. Returns its file, or None if it isn't in the spool."""
        path = self._path(entry)
        self._own.discard(path)
        return path if path.exists() else None

    def keep(self, entry: SpooledReport) -> Path | None:
        """Keeps the entry for people: it isn't sent any more. Returns its file, or None if it isn't in the spool."""
        path = self._path(entry)
        try:
            return path.replace(path.with_suffix(KEPT_SUFFIX))
        except OSError:
            return None

    def left_by_others(self, url: str, agent: str) -> list[SpooledReport]:
        """Returns the entries of an agent that this worker didn't write. The worker that did may be alive and send them
        too: both get the same answer. Removes what is too old to be repeated, and files that a killed worker left
        incomplete."""
        if not self._is_ours():
            return []
        found = [_read(path) for path in sorted(self._folder.glob("*")) if path not in self._own and not _removed(path)]
        return [entry for entry in found if entry is not None and (entry.url, entry.agent) == (url, agent)]

    def _is_ours(self) -> bool:
        try:
            found = self._folder.stat()
        except OSError:
            return False
        return found.st_uid == os.geteuid() and not found.st_mode & 0o077

    def _path(self, entry: SpooledReport) -> Path:
        """Returns the entry's path, which has a digest of the claim's id: the id is a secret."""
        return self._folder / f"{sha256(str(entry.body['claim_id']).encode()).hexdigest()[:32]}{SUFFIX}"


def spool_folder(environment: Mapping[str, str] = os.environ) -> Path:
    return state_folder(environment) / "worker"


def _removed(path: Path) -> bool:
    with suppress(OSError):
        if time.time() - path.stat().st_mtime >= LAST_SECONDS:
            path.unlink()
            return True
    return False


def _read(path: Path) -> SpooledReport | None:
    try:
        return SpooledReport(**numbers.loads(path.read_text(encoding="utf-8"))) if path.suffix == SUFFIX else None
    except (OSError, ValueError, TypeError):
        return None

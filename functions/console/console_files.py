"""The console's files, as they are sent. Each lies under the hash of all of them, so that a browser may keep it for
ever; the first page alone is asked for anew, and names the hash."""

from __future__ import annotations

import base64
import gzip
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

FOLDER = Path(__file__).parent / "static"
INDEX = "index.html"
# Written in index.html where the address of the tree belongs: /console/<hash>.
PLACEHOLDER = b"{{tree}}"
ROOT = "/console"
TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
}
_REVALIDATED = "no-cache"
_KEPT = "public, max-age=31536000, immutable"


@dataclass(frozen=True)
class ConsoleFile:
    """One file. ``cache``: how long a browser may keep it."""

    content: bytes
    media_type: str
    cache: str

    @cached_property
    def plain(self) -> str:
        """Returns the content in base 64, as a function answers bytes."""
        return base64.b64encode(self.content).decode()

    @cached_property
    def zipped(self) -> str:
        """Returns the same, compressed. No time is in it: the same content is the same bytes."""
        return base64.b64encode(gzip.compress(self.content, 9, mtime=0)).decode()

    def tag(self, *, is_zipped: bool) -> str:
        """Returns the strong ETag of one of the two: they are other bytes."""
        digest = hashlib.sha256(self.content).hexdigest()[:32]
        return f'"{digest}-gzip"' if is_zipped else f'"{digest}"'


def console_files(folder: Path = FOLDER) -> Mapping[str, ConsoleFile]:
    """Returns each path with its page. Whatever isn't in it doesn't exist, so no path leads out of the folder.

    Raises ``KeyError`` for a file of an unknown type, and if there is no first page.
    """
    files = {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*")) if path.is_file()}
    contents = {name: path.read_bytes() for name, path in files.items()}
    tree = f"{ROOT}/{_hash(contents)}"
    found = {
        f"{tree}/{name}": ConsoleFile(content, TYPES[files[name].suffix], _KEPT)
        for name, content in contents.items()
        if name != INDEX
    }
    index = ConsoleFile(contents[INDEX].replace(PLACEHOLDER, tree.encode()), TYPES[".html"], _REVALIDATED)
    return found | dict.fromkeys((ROOT, f"{ROOT}/"), index)


def _hash(contents: Mapping[str, bytes]) -> str:
    """Returns 16 hex digits that change with any name and any byte."""
    whole = hashlib.sha256()
    for name, content in sorted(contents.items()):
        whole.update(f"{name}\0{hashlib.sha256(content).hexdigest()}\n".encode())
    return whole.hexdigest()[:16]

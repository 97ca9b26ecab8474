"""Files of a user that are written whole or not at all."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from tempfile import mkstemp


def write_whole(path: Path, text: str, mode: int | None = None) -> None:
    """Writes the file beside its place, and renames it: a full disk leaves the old file. A link stays a link, also one
    that a tool for dotfiles made. ``mode``: of the file; None keeps the old file's, or is a new file's usual one.
    Raises ``OSError``."""
    target = Path(os.path.realpath(path))
    if mode is None:
        mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else _usual_mode()
    # Readable by its owner only until it is whole.
    number, made = mkstemp(prefix=f"{target.name}.", dir=target.parent)
    try:
        with os.fdopen(number, "w", encoding="utf-8", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(made).chmod(mode)
        Path(made).replace(target)
    finally:
        Path(made).unlink(missing_ok=True)


def _usual_mode() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return 0o666 & ~mask

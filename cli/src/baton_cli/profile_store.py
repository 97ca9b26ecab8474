"""Saves profiles in the user's file. Its comments, unknown keys and other tables stay, and so does a link to it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile

from baton_client.errors import Misused
from baton_client.profiles import FIELDS, Profile, config_of, text_of, unreadable
from baton_client.whole_files import write_whole


def save(name: str, profile: Profile, path: Path, *, is_default: bool) -> None:
    """Writes the profile into the file, whole or not at all. Other profiles stay. Raises ``Misused``."""
    import tomlkit  # keeps comments and spelling; the standard library only reads TOML
    from tomlkit.exceptions import TOMLKitError

    try:
        with _locked(path):
            config_of(path)  # a file that can't be read stays as it is
            document = tomlkit.parse(text_of(path))
            if is_default or not document.get("default"):
                document["default"] = name
            profiles = document.setdefault("profiles", tomlkit.table(is_super_table=True))
            saved = profiles.setdefault(name, tomlkit.table())
            for each in FIELDS:
                if value := getattr(profile, each):
                    saved[each] = value
                else:
                    saved.pop(each, None)
            write_whole(path, tomlkit.dumps(document), 0o600)
    except (TOMLKitError, ValueError) as exc:
        raise unreadable(path, exc) from exc
    except OSError as exc:
        raise Misused(f"{path} can't be written", exc.strerror or str(exc)) from exc


def check(path: Path) -> None:
    """Raises ``Misused`` if no profile can be saved in the file: before a token is made for it."""
    try:
        with _locked(path), TemporaryFile(dir=Path(os.path.realpath(path)).parent):
            config_of(path)
    except OSError as exc:
        raise Misused(f"{path} can't be written", exc.strerror or str(exc)) from exc


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Keeps other commands from changing the file meanwhile. Windows has no such lock: two commands at the same moment
    can lose a profile there."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    try:
        import fcntl
    except ImportError:
        yield
        return
    with open(os.open(path.with_name(f"{path.name}.lock"), os.O_WRONLY | os.O_CREAT, 0o600), "w") as lock:  # noqa: PTH123
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield

"""The folders of a user. In a container a user may have no home folder: neither HOME nor an entry in passwd."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

NO_HOME = "HOME isn't set, and the user has no entry in passwd"
# Windows has neither modes nor owners of files.
HAS_MODES = os.name == "posix"


def config_folder(environment: Mapping[str, str] = os.environ) -> Path | None:
    """Returns Baton's folder for what the user has set up; None without a home folder."""
    return _folder(environment.get("XDG_CONFIG_HOME") or "~/.config")


def state_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """Returns Baton's folder for what programs remember. Without a home folder it is one that can't be made, so each
    use of it raises ``OSError``."""
    return _folder(environment.get("XDG_STATE_HOME") or "~/.local/state") or Path(os.devnull) / "baton"


def session_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """Returns Baton's folder for what lasts as long as a login, like ``state_folder``."""
    named = environment.get("XDG_RUNTIME_DIR")
    return (_folder(named) if named else None) or state_folder(environment)


def _folder(text: str) -> Path | None:
    try:
        return Path(text).expanduser() / "baton"
    except RuntimeError:
        return None

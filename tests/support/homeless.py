"""A user without a home folder, as in many containers."""

from __future__ import annotations

import pwd

import pytest


def without_home(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leaves this process without HOME and without an entry in passwd."""

    def unknown(_uid: int) -> None:
        raise KeyError

    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(pwd, "getpwuid", unknown)

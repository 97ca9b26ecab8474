from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.scripted_api import ScriptedApi, scripted_api


@pytest.fixture(autouse=True)
def nobodys_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """No test sees the profiles of whoever runs it."""
    for name in (
        "XDG_CONFIG_HOME",
        "HTTPS_PROXY",
        "https_proxy",
        "NO_COLOR",
        "CLAUDECODE",
        "CURSOR_AGENT",
        "CODEX_SANDBOX",
        "AGENT",
        "AI_AGENT",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "100")
    return tmp_path


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedApi]:
    with scripted_api() as api:
        monkeypatch.setenv("BATON_URL", api.url)
        monkeypatch.setenv("BATON_TOKEN", "baton_tok_secret")
        yield api

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from baton.domain.access.principal import Principal
from baton_cli.command_context import CommandContext
from baton_cli.main import run
from support.gateway import Gateway
from support.ids import CountingIds
from support.values.tokens import bearer
from support.worlds.http_agents import HttpAgents
from support.worlds.http_api import HttpApi, http_api
from support.worlds.world import World, human

FILES = Path(__file__).parent / "screens"


def held(name: str, text: str) -> None:
    path = FILES / f"{name}.txt"
    if os.environ.get("WRITE_GOLDEN"):
        path.write_text(text, encoding="utf-8")
    kept = path.read_text(encoding="utf-8")
    assert text == kept, (
        f"{path.name} shows something else; if it is meant to: WRITE_GOLDEN=1 pytest tests/functions/cli"
    )


@dataclass
class Terminal:
    """Runs `baton` in this process, against the API in it."""

    api: HttpApi
    world: World
    agents: HttpAgents
    capsys: pytest.CaptureFixture[str]
    monkeypatch: pytest.MonkeyPatch
    clock: Callable[[], datetime]

    def sit(self, by: Principal) -> None:
        """Whose token the next commands use."""
        self.api.gateway.admit(by)
        self.monkeypatch.setenv("BATON_TOKEN", bearer(by).removeprefix("Bearer "))

    def runs(self, *line: str) -> tuple[int, str, str]:
        """Exit code, standard output, standard error."""
        self.capsys.readouterr()
        code = run(list(line), CommandContext(clock=self.clock))
        said = self.capsys.readouterr()
        return code, said.out, said.err

    def screen(self, *line: str) -> str:
        """What a person sees of a command that succeeds."""
        code, out, err = self.runs(*line, "--text")
        assert code == 0, err
        return out

    def json(self, *line: str) -> Any:
        """The document of a command that succeeds."""
        code, out, err = self.runs(*line, "--json")
        assert code == 0, err
        return json.loads(out) if out else None


@pytest.fixture(autouse=True)
def nobodys_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, function_environment: None) -> None:
    for name in ("XDG_CONFIG_HOME", "NO_COLOR", "CLAUDECODE", "CURSOR_AGENT", "CODEX_SANDBOX", "AGENT", "AI_AGENT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("BATON_LOG_LEVEL", "CRITICAL")  # the functions of the API write to the same standard output


@pytest.fixture
def terminal(world: World, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Terminal]:
    gateway = Gateway(replace(world.deps, ids=CountingIds()))
    with http_api(gateway) as api:
        monkeypatch.setenv("BATON_URL", api.url)
        made = Terminal(api, world, HttpAgents(gateway).hire_in(world), capsys, monkeypatch, world.clock.now)
        made.sit(human())
        yield made

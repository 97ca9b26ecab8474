"""What opens something: the console, an API's profile, the model's door."""

from __future__ import annotations

import json
import os
import stat
import sys
from pathlib import Path

import pytest

from baton.domain.access.principal import Principal
from baton_cli import times
from baton_cli.nouns import mcp
from baton_client.profiles import config_of, config_path
from functions.cli.conftest import Terminal
from support.values.tokens import bearer
from support.worlds.world import agent, human

ALICE, SCOUT = human(), agent("scout")


def token(by: Principal) -> str:
    return bearer(by).removeprefix("Bearer ")


def test_the_consoles_link_has_a_code_and_no_token(terminal: Terminal) -> None:
    link = terminal.screen("console", "--print").strip()
    address, _, code = link.partition("#code=")
    assert address == f"{terminal.api.url}/console/"
    assert code
    assert token(ALICE) not in link
    redeemed = terminal.json("api", "POST", "/sessions/redeem", "--data", json.dumps({"code": code}))
    assert redeemed["principal"]["id"] == "alice"


def test_an_agent_has_no_console(terminal: Terminal) -> None:
    terminal.sit(SCOUT)
    code, _, err = terminal.runs("console", "--print")
    assert code == 4
    assert "(403 " in err


def test_init_saves_a_profile_that_works_and_an_agents(terminal: Terminal) -> None:
    saved = terminal.json("init", "--name", "prod", "--agent", "linter")
    assert saved["profiles"] == ["prod", "prod.linter"]
    path = config_path()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    for name in ("BATON_URL", "BATON_TOKEN"):
        terminal.monkeypatch.delenv(name)
    assert terminal.json("agents", "show", "linter")["slug"] == "linter"
    assert terminal.json("agents", "pending", "--profile", "prod.linter")["items"] == []
    assert config_of(path).profiles["prod.linter"]["agent"] == "linter"


@pytest.mark.parametrize("typed", [[], ["--url"], ["--profile", "prod"]])
def test_init_beside_a_saved_profile_asks_for_nothing_to_make_an_agent(terminal: Terminal, typed: list[str]) -> None:
    terminal.json("init", "--name", "prod")
    for name in ("BATON_URL", "BATON_TOKEN"):
        terminal.monkeypatch.delenv(name)
    typed = [*typed, terminal.api.url] if typed == ["--url"] else typed
    assert terminal.json("init", "--agent", "linter", *typed)["profiles"] == ["prod", "prod.linter"]
    assert terminal.json("agents", "pending", "--profile", "prod.linter")["items"] == []


def test_init_takes_no_saved_token_to_another_address(terminal: Terminal) -> None:
    terminal.json("init", "--name", "prod")
    terminal.monkeypatch.delenv("BATON_TOKEN")
    assert terminal.runs("init", "--agent", "linter", "--url", "https://baton.example.com")[0] == 2


def test_init_saves_nothing_that_is_refused(terminal: Terminal) -> None:
    terminal.monkeypatch.setenv("BATON_TOKEN", "baton_nobody_nothing")
    code, _, err = terminal.runs("init")
    assert (code, config_path().exists()) == (4, False)
    assert "token_refused" in err


def test_init_reads_the_token_from_a_file(terminal: Terminal, tmp_path: Path) -> None:
    terminal.monkeypatch.delenv("BATON_TOKEN")
    file = tmp_path / "token"
    file.write_text(token(ALICE) + "\n")
    assert terminal.json("init", "--token-file", str(file))["profiles"] == ["default"]
    assert config_of(config_path()).default == "default"


def test_init_asks_nobody_where_nobody_is(terminal: Terminal) -> None:
    terminal.monkeypatch.delenv("BATON_TOKEN")
    code, _, err = terminal.runs("init")
    assert code == 2
    assert "nobody is here to be asked" in err


def test_the_doctor_finds_everything_in_order(terminal: Terminal) -> None:
    terminal.clock = times.now
    found = {each["about"]: each["state"] for each in terminal.json("doctor")["checks"]}
    assert {found[name] for name in ("profile", "API", "clock", "token")} == {"ok"}


@pytest.mark.parametrize(
    ("name", "value", "about", "said"),
    [
        ("BATON_TOKEN", "baton_nobody_nothing", "token", "token_refused"),
        ("BATON_URL", "http://127.0.0.1:9", "API", "doesn't answer"),
        ("BATON_URL", "baton.example", "profile", "isn't the address of an API"),
        ("BATON_PROFILE", "prod", "profile", "there is no profile prod"),
    ],
)
def test_the_doctor_names_what_is_wrong(terminal: Terminal, name: str, value: str, about: str, said: str) -> None:
    terminal.monkeypatch.setenv(name, value)
    code, out, _ = terminal.runs("doctor", "--json")
    (found,) = [each for each in json.loads(out)["checks"] if each["about"] == about]
    assert (code, found["state"]) == (1, "wrong")
    assert said in found["said"]


def test_the_doctor_says_that_an_address_is_not_encrypted(terminal: Terminal) -> None:
    terminal.monkeypatch.setenv("BATON_URL", "http://0.0.0.0:9")
    found = {each["about"]: each for each in json.loads(terminal.runs("doctor", "--json")[1])["checks"]}
    assert found["profile"]["state"] == "wrong"
    assert "isn't encrypted" in found["profile"]["said"]


def test_the_doctor_says_how_a_local_stack_that_is_down_comes_up(terminal: Terminal, tmp_path: Path) -> None:
    stack_file(tmp_path).write_text(json.dumps({"api_url": "http://127.0.0.1:9", "tokens": {}}))
    terminal.monkeypatch.setenv("BATON_CHECKOUT", str(tmp_path))
    for url, said in (("http://127.0.0.1:9", "baton up"), ("http://127.0.0.1:10", "check the address")):
        terminal.monkeypatch.setenv("BATON_URL", url)
        _, out, _ = terminal.runs("doctor", "--json")
        (found,) = [each for each in json.loads(out)["checks"] if each["about"] == "API"]
        assert found["next_step"].startswith(said)


def stack_file(checkout: Path) -> Path:
    """Where a checkout keeps what it knows of its stack."""
    for part in ("Makefile", "template.yaml", "tools/stack/stack.py", ".baton/stack.json"):
        (checkout / part).parent.mkdir(parents=True, exist_ok=True)
        (checkout / part).touch()
    return checkout / ".baton" / "stack.json"


def test_the_doctor_names_a_clock_that_is_wrong(terminal: Terminal) -> None:
    code, out, _ = terminal.runs("doctor", "--text")  # by the world's clock, which isn't the server's
    assert code == 1
    assert "✗ clock: it differs from the API's by " in out.replace("\n ", "")


def test_up_saves_a_profile_for_each_principal_of_the_stack(terminal: Terminal, tmp_path: Path) -> None:
    terminal.sit(SCOUT)
    tokens = {"human": token(ALICE), "service": "s", "agents": {"scout": token(SCOUT)}}
    stack_file(tmp_path).write_text(json.dumps({"api_url": terminal.api.url, "tokens": tokens}))
    (tmp_path / "Makefile").write_text("stack stop:\n\t@echo making $@\n")
    terminal.monkeypatch.setenv("BATON_CHECKOUT", str(tmp_path))
    made = terminal.json("up", "--agent", "linter")
    assert made["profiles"] == ["local", "local.service", "local.scout", "local.linter"]
    for name in ("BATON_URL", "BATON_TOKEN"):
        terminal.monkeypatch.delenv(name)
    assert terminal.json("agents", "inbox", "--profile", "local.scout")["items"] == []
    assert terminal.json("agents", "pending", "--profile", "local.linter")["items"] == []
    assert terminal.runs("down")[0] == 0
    (tmp_path / "Makefile").write_text("stack:\n\t@exit 3\n")
    assert terminal.runs("up")[0] == 1


def test_without_a_checkout_there_is_no_local_stack(terminal: Terminal, tmp_path: Path) -> None:
    terminal.monkeypatch.chdir(tmp_path)
    code, _, err = terminal.runs("up")
    assert code == 2
    assert "no checkout of Baton is here" in err


def test_mcp_is_the_program_with_the_profiles_api_and_token(terminal: Terminal) -> None:
    started = []
    terminal.monkeypatch.setattr(mcp, "_program", lambda: sys.executable)
    terminal.monkeypatch.setattr(os, "execve", lambda *given: started.append(given))
    assert terminal.runs("mcp", "serve", "--tools", "worker")[0] == 0
    ((program, arguments, environment),) = started
    assert arguments == [program, "serve", "--tools", "worker"]
    assert (environment["BATON_URL"], environment["BATON_TOKEN"]) == (terminal.api.url, token(ALICE))


def test_mcp_install_names_the_saved_profile_to_the_client(terminal: Terminal, tmp_path: Path) -> None:
    started = []
    terminal.monkeypatch.setattr(mcp, "_program", lambda: sys.executable)
    terminal.monkeypatch.setattr(os, "execve", lambda *given: started.append(given[1]))
    assert terminal.runs("mcp", "install", "claude")[0] == 0
    path = tmp_path / "baton" / "config.toml"
    path.parent.mkdir()
    path.write_text(f'[profiles.work]\nurl = "{terminal.api.url}"\ntoken = "{token(ALICE)}"\n')
    path.chmod(0o600)
    terminal.monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert terminal.runs("mcp", "install", "claude", "--profile", "work")[0] == 0
    assert started[0][1:] == ["install", "claude"]
    assert started[1][1:] == ["install", "claude", "--profile", "work"]

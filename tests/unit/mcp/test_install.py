"""`baton-mcp install` and profiles: no file gets a token."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from baton_mcp.__main__ import main
from baton_mcp.install import CLIENTS, PROJECTS, Start, install
from baton_mcp.profile import ServerProfile, Unfit, profile_from
from support.homeless import without_home
from support.worlds.stdio_program import environment

PYTHON = sys.executable
# A limit of a file's size stands for a full disk.
FULL = f"""
import os, resource, signal, sys
sys.path[:0] = {sys.path!r}
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
os.environ.update(BATON_URL="https://baton.example.com", BATON_TOKEN="t")
os.chdir(sys.argv[1])
from baton_mcp.__main__ import main
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
sys.exit(main(["install", "claude"]))
"""
URL = "https://baton.example.com"
TOKEN = "baton_" + "0" * 26 + "_" + "f" * 64
BATON, LOCAL = ServerProfile(URL, TOKEN), ServerProfile("http://abc.localhost:4566", TOKEN)


@pytest.fixture(autouse=True)
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """As installed in an environment of its own, which is on no PATH."""
    folder = tmp_path / "venv" / "bin"
    folder.mkdir(parents=True)
    installed = folder / "baton-mcp"
    installed.write_text("#!/bin/sh\n")
    installed.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(folder / "python"))
    return str(installed)


@pytest.mark.parametrize("client", CLIENTS)
def test_a_client_is_told_the_address_and_where_the_token_is(tmp_path: Path, client: str) -> None:
    path = install(client, Start(BATON), tmp_path / "project", tmp_path / "home")
    text = path.read_text()
    assert f"{URL}/mcp" in text
    assert "BATON_TOKEN" in text
    assert path.is_relative_to(tmp_path / ("home" if client == "codex" else "project"))


@pytest.mark.parametrize("client", CLIENTS)
def test_a_client_is_told_the_program_where_it_would_not_find_the_address(
    tmp_path: Path, client: str, program: str
) -> None:
    text = install(client, Start(LOCAL), tmp_path, tmp_path).read_text()
    told = tomllib.loads(text)["mcp_servers"] if client == "codex" else json.loads(text)[PROJECTS[client][1]]
    assert (told["baton"]["command"], told["baton"]["args"]) == (program, ["serve"])
    assert told["baton"]["env"]["BATON_URL"] == LOCAL.url
    token = {"claude": "${BATON_TOKEN}", "cursor": "${env:BATON_TOKEN}", "vscode": "${env:BATON_TOKEN}"}
    assert told["baton"]["env"].get("BATON_TOKEN") == token.get(client)
    assert (client == "codex") == (told["baton"].get("env_vars") == ["BATON_TOKEN"])


@pytest.mark.parametrize("client", PROJECTS)
def test_other_servers_stay_and_baton_is_named_anew(tmp_path: Path, client: str) -> None:
    name, key, _ = PROJECTS[client]
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({key: {"other": {"url": "x"}, "baton": {"url": "old"}}, "more": 1}))
    install(client, Start(BATON), tmp_path, tmp_path)
    told: Any = json.loads(path.read_text())
    assert (told["more"], told[key]["other"]) == (1, {"url": "x"})
    assert told[key]["baton"]["url"] == f"{URL}/mcp"


def test_codex_keeps_what_it_knows(tmp_path: Path) -> None:
    path = tmp_path / ".codex" / "config.toml"
    path.parent.mkdir()
    path.write_text('model = "x"\n')
    install("codex", Start(BATON), tmp_path, tmp_path)
    assert path.read_text().startswith('model = "x"\n\n[mcp_servers.baton]\n')
    with pytest.raises(Unfit, match="already"):
        install("codex", Start(BATON), tmp_path, tmp_path)


@pytest.mark.parametrize("text", ["{", "[]", '{"mcpServers": []}'])
def test_a_file_that_is_something_else_stays_as_it_is(tmp_path: Path, text: str) -> None:
    (tmp_path / ".mcp.json").write_text(text)
    with pytest.raises(Unfit):
        install("claude", Start(BATON), tmp_path, tmp_path)
    assert (tmp_path / ".mcp.json").read_text() == text


def test_the_channel_is_a_program_that_claude_code_starts(tmp_path: Path, program: str) -> None:
    told = json.loads(install("claude", Start(BATON, channel=True), tmp_path, tmp_path).read_text())["mcpServers"][
        "baton"
    ]
    assert (told["command"], told["args"]) == (program, ["serve", "--channel"])
    for client in ("cursor", "vscode", "codex"):
        with pytest.raises(Unfit, match="only Claude Code"):
            install(client, Start(BATON, channel=True), tmp_path, tmp_path)


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("profile", [BATON, LOCAL])
def test_a_saved_profile_is_named_and_nothing_has_to_be_exported(
    tmp_path: Path, client: str, profile: ServerProfile, program: str
) -> None:
    text = install(client, Start(profile, "work"), tmp_path, tmp_path).read_text()
    told = tomllib.loads(text)["mcp_servers"] if client == "codex" else json.loads(text)[PROJECTS[client][1]]
    assert (told["baton"]["command"], told["baton"]["args"]) == (program, ["serve", "--profile", "work"])
    assert "BATON_" not in text


def test_the_saved_profile_of_a_channel_has_to_name_an_agent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "baton" / "config.toml"
    path.parent.mkdir()
    path.write_text(f'[profiles.work]\nurl = "{URL}"\ntoken = "{TOKEN}"\n')
    path.chmod(0o600)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    wanted = ["install", "claude", "--channel", "--profile", "work"]
    assert main(wanted) == 2
    assert "agent" in capsys.readouterr().err
    path.write_text(path.read_text() + 'agent = "coder"\n')
    assert main(wanted) == 0
    assert "the profile work" in capsys.readouterr().out
    told = json.loads((tmp_path / ".mcp.json").read_text())["mcpServers"]["baton"]
    assert told["args"] == ["serve", "--profile", "work", "--channel"]


def test_a_program_that_is_nowhere_is_named_to_no_client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Unfit, match="install it"):
        install("claude", Start(LOCAL), tmp_path, tmp_path)
    assert not (tmp_path / ".mcp.json").exists()


def test_no_file_gets_the_token(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in {"BATON_URL": URL, "BATON_TOKEN": TOKEN, "HOME": str(tmp_path)}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    for client in CLIENTS:
        assert main(["install", client]) == 0
    written = "".join(path.read_text() for path in tmp_path.rglob("*") if path.is_file())
    assert URL in written
    assert TOKEN not in written + "".join(capsys.readouterr())


@pytest.mark.parametrize(
    ("environment", "said"),
    [({}, "BATON_URL"), ({"BATON_URL": "baton"}, "BATON_URL"), ({"BATON_URL": URL}, "BATON_TOKEN")],
)
def test_what_is_missing_is_named(environment: dict[str, str], said: str) -> None:
    with pytest.raises(Unfit, match=said):
        profile_from(None, environment)


def test_an_address_with_the_doors_path_is_the_apis(tmp_path: Path) -> None:
    found = profile_from(None, {"BATON_URL": f"{URL}/mcp/", "BATON_TOKEN": TOKEN})
    assert (found.url, found.is_local) == (URL, False)
    assert TOKEN not in repr(found)


def test_a_name_below_localhost_is_this_machine_whatever_the_resolver_knows() -> None:
    found = profile_from(None, {"BATON_URL": "http://abc.localhost:4566", "BATON_TOKEN": TOKEN})
    assert found.is_local


def test_a_profile_is_read_from_a_file_that_is_its_owners_alone(tmp_path: Path) -> None:
    path, here = tmp_path / "baton" / "config.toml", {"XDG_CONFIG_HOME": str(tmp_path)}
    path.parent.mkdir()
    with pytest.raises(Unfit, match="there is no"):
        profile_from("work", here)
    path.write_text(f'[profiles.work]\nurl = "{URL}"\ntoken = "{TOKEN}"\nagent = "coder"\n')
    path.chmod(0o644)
    with pytest.raises(Unfit, match="chmod 600"):
        profile_from("work", here)
    path.chmod(0o600)
    assert profile_from("work", here).agent == "coder"
    assert profile_from("work", here | {"BATON_AGENT": "other"}).agent == "other"
    assert profile_from("work", here | {"BATON_URL": f"{URL}/mcp"}).token == TOKEN
    other = here | {"BATON_URL": "https://other.example.com"}
    with pytest.raises(Unfit, match="set BATON_TOKEN too"):
        profile_from("work", other)
    assert profile_from("work", other | {"BATON_TOKEN": "other"}).token == "other"
    with pytest.raises(Unfit, match="no profile"):
        profile_from("home", here)
    path.write_text("profiles = 1")
    with pytest.raises(Unfit, match="isn't as Baton writes it"):
        profile_from("work", here)
    path.write_text("[")
    with pytest.raises(Unfit, match="TOML"):
        profile_from("work", here)


# What becomes of the user's file


def test_a_full_disk_leaves_the_users_file_as_it_was(tmp_path: Path) -> None:
    path, kept = tmp_path / ".mcp.json", json.dumps({"mcpServers": {"other": {"command": "x" * 4_000}}})
    path.write_text(kept)
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
        executable=PYTHON,
    )
    assert done.returncode == 2, done.stderr
    assert "can't be written: File too large" in done.stderr
    assert path.read_text() == kept
    assert [each.name for each in tmp_path.iterdir() if each.is_file()] == [".mcp.json"]


@pytest.mark.parametrize("client", PROJECTS)
def test_a_link_and_the_mode_of_the_users_file_stay(tmp_path: Path, client: str) -> None:
    named, kept = tmp_path / "project" / PROJECTS[client][0], tmp_path / "dotfiles.json"
    named.parent.mkdir(parents=True)
    kept.write_text('\ufeff{"other": 0.10}\n', encoding="utf-8")
    kept.chmod(0o640)
    named.symlink_to(kept)
    install(client, Start(BATON), tmp_path / "project")
    assert (named.is_symlink(), kept.stat().st_mode & 0o777) == (True, 0o640)
    assert "baton" in json.loads(kept.read_text())[PROJECTS[client][1]]
    assert '"other": 0.10' in kept.read_text()


def test_a_new_file_has_the_usual_mode(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        path = install("claude", Start(BATON), tmp_path)
    finally:
        os.umask(before)
    assert path.stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize("content", [b"\xff\xfe{\x00}\x00", b"[]"])
def test_a_file_of_another_form_stays(tmp_path: Path, content: bytes) -> None:
    (tmp_path / ".mcp.json").write_bytes(content)
    with pytest.raises(Unfit, match="stays as it is"):
        install("claude", Start(BATON), tmp_path)
    assert (tmp_path / ".mcp.json").read_bytes() == content


def test_a_folder_that_cant_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(Unfit, match="can't be"):
        install("cursor", Start(BATON), tmp_path / "file")


def test_a_user_without_a_home_folder_installs_into_a_project_and_not_for_codex(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_home(monkeypatch)
    assert install("claude", Start(BATON), tmp_path).exists()
    with pytest.raises(Unfit, match="Set HOME"):
        install("codex", Start(BATON), tmp_path)


@pytest.mark.parametrize(
    ("line", "code", "said"),
    [
        ("install claude > /dev/full", 0, ".mcp.json names Baton"),
        ("install claude >&-", 0, ""),
        ("install claude 2> /dev/full", 0, ""),
        ("install codex > /dev/full 2>&1", 0, ""),
        ("serve <&-", 2, "standard input or output is closed"),
        ("serve >&-", 2, "standard input or output is closed"),
        ("serve < /dev/null 2> /dev/full", 0, ""),
        ("serve < /dev/null 2>&-", 0, ""),
    ],
)
def test_no_closed_or_full_stream_changes_the_exit_code(tmp_path: Path, line: str, code: int, said: str) -> None:
    given = {**environment(URL, TOKEN), "HOME": str(tmp_path)}
    command = ["/bin/sh", "-c", f"{PYTHON} -m baton_mcp {line}"]
    done = subprocess.run(command, env=given, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, said in done.stderr) == (code, True), done.stderr
    assert "Traceback" not in done.stderr

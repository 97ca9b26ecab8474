"""`baton` and `baton-mcp` install without each other, and read one file: what one takes the other takes, and makes the
same of it."""

from __future__ import annotations

from pathlib import Path

import pytest

import baton_client.errors
import baton_client.profiles
import baton_mcp.profile

HOME = '[profiles.work]\nurl = "https://work.example"\ntoken = "t-work"\nagent = "qa"\n'
NOWHERE = '[profiles.work]\ntoken = "t-work"\n'
NAMED = {"BATON_URL": "https://other.example"}


def by_the_command(environment: dict[str, str]) -> tuple[str, str, str] | None:
    try:
        found = baton_client.profiles.profile_from({"profile": "work"}, environment)
    except baton_client.errors.Misused:
        return None
    return found.url, found.token, found.agent


def by_the_server(environment: dict[str, str]) -> tuple[str, str, str] | None:
    try:
        found = baton_mcp.profile.profile_from("work", environment)
    except baton_mcp.profile.Unfit:
        return None
    return found.url, found.token, found.agent


@pytest.mark.parametrize(
    ("text", "said", "found"),
    [
        (HOME, {}, ("https://work.example", "t-work", "qa")),
        (HOME, {"BATON_AGENT": "scout"}, ("https://work.example", "t-work", "scout")),
        (HOME, {"BATON_TOKEN": "t"}, ("https://work.example", "t", "qa")),
        (HOME, {"BATON_URL": "https://work.example/mcp/"}, ("https://work.example", "t-work", "qa")),
        (HOME, NAMED, None),
        *(
            (HOME.replace("https://work.example", address), {}, (address, "t-work", "qa"))
            for address in (
                "http://abc.localhost:5000",
                "http://localhost:5000",
                "http://127.0.0.1:5000",
                "http://[::1]",
            )
        ),
        # What isn't encrypted stays on this machine: everybody on the way could read the token.
        *(
            (HOME.replace("https://work.example", address), {}, None)
            for address in ("http://work.example", "http://127.0.0.1.work.example", "http://localhost.work.example")
        ),
        (HOME, {"BATON_URL": "http://work.example", "BATON_TOKEN": "t"}, None),
        (HOME, {**NAMED, "BATON_TOKEN": "t"}, ("https://other.example", "t", "qa")),
        (NOWHERE, NAMED, ("https://other.example", "t-work", "")),
        (NOWHERE, {}, None),
        (HOME.replace("work]", '"work"]'), {}, ("https://work.example", "t-work", "qa")),
        *((HOME.replace("work]", f"{name}]"), {}, None) for name in ("home", "works")),
        *(
            (HOME.replace("https://work.example", address), {}, None)
            for address in ("work.example", "ftp://work", "http://", "https://a@work", "https://w?a=b", "http://w:x")
        ),
        *((HOME + more, {}, None) for more in ("n = 1", "[", "[profiles.a]\nurl = 1", "\udc80")),
        *((f"{head}\n{HOME}", {}, None) for head in ("default = 3", "profiles = 1")),
        ("profiles = 1", {}, None),
    ],
)
def test_both_programs_read_the_same_profile_or_refuse_it_both(
    tmp_path: Path, text: str, said: dict[str, str], found: tuple[str, str, str] | None
) -> None:
    path = tmp_path / "baton" / "config.toml"
    path.parent.mkdir()
    path.write_text(text, errors="surrogateescape")
    path.chmod(0o600)
    environment = {**said, "XDG_CONFIG_HOME": str(tmp_path)}
    assert by_the_command(environment) == found
    assert by_the_server(environment) == found


@pytest.mark.parametrize("mode", [0o640, 0o604])
def test_neither_program_reads_a_file_that_others_can_read(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "baton" / "config.toml"
    path.parent.mkdir()
    path.write_text(HOME)
    path.chmod(mode)
    environment = {"XDG_CONFIG_HOME": str(tmp_path)}
    assert by_the_command(environment) is by_the_server(environment) is None


def test_both_programs_look_for_the_file_in_the_same_place(tmp_path: Path) -> None:
    for environment in ({}, {"XDG_CONFIG_HOME": str(tmp_path)}, {"XDG_CONFIG_HOME": ""}):
        assert baton_client.profiles.config_path(environment) == baton_mcp.profile.config_path(environment)

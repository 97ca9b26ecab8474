"""Flag before environment before file; and what a file must be."""

from __future__ import annotations

from pathlib import Path

import pytest

from baton_client.errors import Misused
from baton_client.profiles import Profile, address, config_of, config_path, forget, profile_from, save

FILE = """default = "local"
[profiles.local]
url = "https://local"
token = "t-local"
agent = "qa"
[profiles.cloud]
url = "https://cloud"
token = "t-cloud"
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "config.toml"
    path.write_text(FILE)
    path.chmod(0o600)
    return path


@pytest.mark.parametrize(
    ("given", "environment", "found"),
    [
        ({}, {}, ("local", "https://local", "t-local", "qa")),
        ({}, {"BATON_PROFILE": "cloud"}, ("cloud", "https://cloud", "t-cloud", "")),
        ({"profile": "local"}, {"BATON_PROFILE": "cloud"}, ("local", "https://local", "t-local", "qa")),
        ({}, {"BATON_TOKEN": "t-env"}, ("local", "https://local", "t-env", "qa")),
        (
            {"url": "https://flag"},
            {"BATON_URL": "https://env", "BATON_TOKEN": "t-env"},
            ("local", "https://flag", "t-env", "qa"),
        ),
        ({"url": "https://local/"}, {}, ("local", "https://local", "t-local", "qa")),
    ],
)
def test_a_flag_goes_before_the_environment_and_that_before_the_file(
    path: Path, given: dict[str, str], environment: dict[str, str], found: tuple[str, ...]
) -> None:
    profile = profile_from(given, environment, path)
    assert (profile.name, profile.url, profile.token, profile.agent) == found


@pytest.mark.parametrize(
    ("given", "environment"),
    [
        ({"url": "https://other"}, {}),
        ({}, {"BATON_URL": "https://other"}),
        ({"profile": "local"}, {"BATON_URL": "https://local:8443"}),
    ],
)
def test_a_saved_token_goes_to_no_other_address_than_its_own(
    path: Path, given: dict[str, str], environment: dict[str, str]
) -> None:
    with pytest.raises(Misused, match="the token of the profile local is for https://local alone") as refused:
        profile_from(given, environment, path)
    assert "t-local" not in f"{refused.value.what} {refused.value.why} {refused.value.next_step}"


def test_a_saved_token_without_an_address_is_for_whatever_is_named(path: Path) -> None:
    path.write_text('default = "a"\n[profiles.a]\ntoken = "t"\n')
    assert profile_from({"url": "https://x"}, {}, path).token == "t"


def test_no_file_is_needed(tmp_path: Path) -> None:
    profile = profile_from({}, {"BATON_URL": "https://x/", "BATON_TOKEN": "t"}, tmp_path / "none.toml")
    assert (profile.url, profile.token) == ("https://x", "t")


def test_who_begins_is_told_both_ways_to_an_address(tmp_path: Path) -> None:
    with pytest.raises(Misused) as refused:
        profile_from({}, {}, tmp_path / "none.toml")
    assert refused.value.next_step == "baton init, or for the local stack: baton up"


def test_a_profile_does_not_show_its_token(path: Path) -> None:
    assert "t-local" not in repr(profile_from({}, {}, path))
    assert "t-local" not in repr(config_of(path))


@pytest.mark.parametrize(
    "text", ["default = [", "default = 3", "profiles = 1", "[profiles]\na = 1", "[profiles.a]\nurl = 1", "\udc80"]
)
def test_a_malformed_file_is_refused(path: Path, text: str) -> None:
    path.write_text(text, errors="surrogateescape")
    with pytest.raises(Misused, match=str(path)):
        profile_from({"url": "https://x"}, {}, path)


def test_a_file_that_others_can_read_is_refused(path: Path) -> None:
    path.chmod(0o640)
    with pytest.raises(Misused, match="can be read by others") as refused:
        config_of(path)
    assert refused.value.next_step == f"chmod 600 {path}"


def test_a_profile_that_is_not_there_is_refused(path: Path) -> None:
    with pytest.raises(Misused, match="there is no profile prod") as refused:
        profile_from({"profile": "prod"}, {}, path)
    assert refused.value.why == "the file has: local, cloud"


@pytest.mark.parametrize("url", ["", "ftp://x", "baton.example.com", "http://"])
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(Misused):
        address(url)


@pytest.mark.parametrize(
    "url",
    [
        *("https://good.example@evil.example", "https://u:secret@h", "https://h/?a=b", "https://h#f"),
        *("http://h:99999", "http://h:x", "https://h\r\nX-A: b", "http://[::1", "http://a b", "https://h/a b"),
    ],
)
def test_an_address_with_a_name_a_query_or_a_wrong_port_is_refused_without_its_secrets(url: str) -> None:
    with pytest.raises(Misused) as refused:
        address(url)
    assert "secret" not in f"{refused.value.what} {refused.value.why}"


@pytest.mark.parametrize(
    ("url", "is_seen"),
    [
        ("http://baton.example.com", True),
        ("http://127.0.0.1.example.com", True),
        ("http://notlocalhost", True),
        ("https://baton.example.com", False),
        ("http://127.0.0.1:9", False),
        ("http://[::1]:9", False),
        ("http://localhost", False),
        ("http://a.localhost:4566", False),
    ],
)
def test_an_address_beyond_this_machine_has_to_be_encrypted(url: str, *, is_seen: bool) -> None:
    if not is_seen:
        assert address(url) == url
        return
    with pytest.raises(Misused, match="isn't encrypted") as refused:
        address(url)
    assert refused.value.next_step == "use https://"


def test_nor_does_a_saved_profile_lead_there(path: Path) -> None:
    path.write_text('default = "a"\n[profiles.a]\nurl = "http://baton.example.com"\ntoken = "t"\n')
    with pytest.raises(Misused, match="isn't encrypted"):
        profile_from({}, {}, path)


def test_a_saved_profile_is_found_again_and_readable_by_its_owner_only(tmp_path: Path) -> None:
    path = config_path({"XDG_CONFIG_HOME": str(tmp_path)})
    save("a.b", Profile("", "https://x", 't"\\\x7f\n', "é"), path, is_default=False)
    save("second", Profile("", "https://y", "u"), path, is_default=False)
    assert profile_from({}, {}, path) == Profile("a.b", "https://x", 't"\\\x7f\n', "é")
    assert path.stat().st_mode & 0o777 == 0o600
    save("second", Profile("", "https://z", "u"), path, is_default=True)
    assert profile_from({}, {}, path).url == "https://z"
    forget("second", path)
    assert (config_of(path).default, list(config_of(path).profiles)) == ("", ["a.b"])
    assert list(path.parent.iterdir()) == [path]

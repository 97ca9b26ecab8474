"""Flag before environment before file; and what a file must be."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from baton_cli.profile_store import save
from baton_client.errors import Misused
from baton_client.profiles import Profile, address, config_of, config_path, profile_from

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


@pytest.mark.parametrize("text", ["default = [", "default = 3", "profiles = 1", "[profiles]\na = 1", "\udc80"])
def test_a_malformed_file_is_refused(path: Path, text: str) -> None:
    path.write_text(text, errors="surrogateescape")
    with pytest.raises(Misused, match=str(path)):
        profile_from({"url": "https://x"}, {}, path)


def test_a_file_that_others_can_read_is_refused(path: Path) -> None:
    path.chmod(0o640)
    with pytest.raises(Misused, match="can be read by others") as refused:
        config_of(path)
    assert refused.value.next_step.startswith(f"chmod 600 {path}")
    profile = profile_from({}, {"BATON_URL": "https://x", "BATON_TOKEN": "t"}, path)
    assert profile == Profile("", "https://x", "t")
    with pytest.raises(Misused, match="can be read by others"):
        profile_from({"profile": "local"}, {"BATON_URL": "https://x", "BATON_TOKEN": "t"}, path)


def test_a_wrong_value_refuses_its_own_profile_alone(path: Path) -> None:
    path.write_text(
        'default = "a"\nlease = 60\n[ui]\nx = 1\n[profiles.a]\nurl = 1\n[profiles.b]\nurl = "https://b"\nn = 1\n'
    )
    assert profile_from({"profile": "b"}, {}, path).url == "https://b"
    with pytest.raises(Misused, match="url of the profile a is no text"):
        profile_from({}, {}, path)


def test_a_token_is_read_without_the_blanks_and_marks_around_it(path: Path) -> None:
    path.write_text('\ufeffdefault = "a"\n[profiles.a]\nurl = "https://a"\ntoken = "saved\\n"\n')
    assert profile_from({}, {}, path).token == "saved"
    assert profile_from({}, {"BATON_TOKEN": "\ufefftyped\r\n"}, path).token == "typed"


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
    save("a.b", Profile("", "https://x", 't"\\\x7f', "é"), path, is_default=False)
    save("second", Profile("", "https://y", "u"), path, is_default=False)
    assert profile_from({}, {}, path) == Profile("a.b", "https://x", 't"\\\x7f', "é")
    assert path.stat().st_mode & 0o777 == 0o600
    save("second", Profile("", "https://z", "u"), path, is_default=True)
    assert profile_from({}, {}, path).url == "https://z"
    assert (config_of(path).default, list(config_of(path).profiles)) == ("second", ["a.b", "second"])
    assert {each.name for each in path.parent.iterdir()} == {"config.toml", "config.toml.lock"}


def test_a_save_keeps_comments_other_keys_and_a_link(tmp_path: Path) -> None:
    kept = tmp_path / "dotfiles.toml"
    kept.write_text(
        '# mine\ndefault = "old"\n\n[ui]\ncolour = "red" # loud\n\n[profiles.old]\nurl = "https://old" # office\n'
        'lease = 60\nagent = "qa"\n'
    )
    kept.chmod(0o600)
    path = config_path({"XDG_CONFIG_HOME": str(tmp_path)})
    path.parent.mkdir()
    path.symlink_to(kept)
    save("old", Profile("", "https://old", "t"), path, is_default=False)
    save("new", Profile("", "https://new", "u", "qa"), path, is_default=True)
    assert path.is_symlink()
    text = kept.read_text()
    for part in ("# mine", 'colour = "red" # loud', 'url = "https://old" # office', "lease = 60"):
        assert part in text
    assert config_of(path).profiles["old"] == {"url": "https://old", "lease": 60, "token": "t"}
    assert profile_from({}, {}, path) == Profile("new", "https://new", "u", "qa")


def test_profiles_that_are_saved_at_once_are_all_there(tmp_path: Path) -> None:
    path, start = config_path({"XDG_CONFIG_HOME": str(tmp_path)}), Barrier(8)

    def saved(number: int) -> None:
        start.wait(10)
        save(f"p{number}", Profile("", "https://x", "t"), path, is_default=False)

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(saved, range(8)))
    assert sorted(config_of(path).profiles) == [f"p{number}" for number in range(8)]


@pytest.mark.parametrize("text", ["default = [", "profiles = 1", "[profiles]\na = 1", "\udc80"])
def test_a_save_leaves_a_malformed_file_as_it_is(path: Path, text: str) -> None:
    path.write_text(text, errors="surrogateescape")
    before = path.read_bytes()
    with pytest.raises(Misused, match=str(path)):
        save("new", Profile("", "https://new", "u"), path, is_default=True)
    assert path.read_bytes() == before

"""The keys of saved runs: their sources, and the data that they sign."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from baton_client import Baton, Misused
from baton_client.run_keys import is_signed, keys_from, keys_kept, keys_said, signature
from support.faults.threads import race
from support.homeless import without_home

HEX, OTHER = "ab" * 32, "cd" * 32
SIGNED = ("task_1", "payer", 7, "state")


def test_key_is_hexadecimal_or_base64_and_several_have_commas() -> None:
    raw = bytes(range(223, 255))
    texts = [base64.b64encode(raw).decode(), base64.urlsafe_b64encode(raw).decode().rstrip("="), raw.hex()]
    assert keys_from(" , ".join(texts), "x") == (raw, raw, raw)


@pytest.mark.parametrize("text", ["", "ab" * 31, "ab" * 32 + "c", HEX + ",", "ä" * 64, "secret", "A" * 42])
def test_malformed_key_is_refused_by_its_name_and_isnt_shown(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Misused, match="BATON_RUN_KEY") as refused:
        keys_from(text, "BATON_RUN_KEY")
    assert not text or text not in f"{refused.value} {refused.value.next_step}"
    monkeypatch.setenv("BATON_RUN_KEY", text or "x")
    with pytest.raises(Misused, match="BATON_RUN_KEY"):
        Baton("https://b.example", "t")


def test_key_of_the_call_goes_before_the_environment_and_that_before_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("BATON_RUN_KEY", HEX)
    assert Baton("https://b.example", "t", run_key=OTHER).run_keys == keys_from(OTHER, "x")
    assert Baton("https://b.example", "t").run_keys == keys_from(HEX, "x")
    assert not (tmp_path / "baton").exists()
    monkeypatch.delenv("BATON_RUN_KEY")
    assert keys_said() == ()
    made = Baton("https://b.example", "t").run_keys
    assert Baton("https://b.example", "t").run_keys == made
    assert (tmp_path / "baton/run-key").stat().st_mode & 0o777 == 0o600


def test_of_many_programs_one_makes_the_file(tmp_path: Path) -> None:
    path = tmp_path / "baton/run-key"
    (made,) = race(16, 1, lambda _round, _runner: keys_kept(path))
    assert len({each for each in made if not isinstance(each, Exception)}) == 1
    assert not [each for each in made if isinstance(each, Exception)]
    assert [each.name for each in path.parent.iterdir()] == ["run-key"]


def test_file_that_others_read_or_that_cant_be_made_names_the_remedy(tmp_path: Path) -> None:
    path = tmp_path / "run-key"
    path.write_text(HEX)
    path.chmod(0o640)
    with pytest.raises(Misused, match="can be read by others") as open_file:
        keys_kept(path)
    assert open_file.value.next_step == f"chmod 600 {path}"
    path.chmod(0o600)
    assert keys_kept(path) == keys_from(HEX, "x")
    path.write_text("rubbish")
    with pytest.raises(Misused, match="run-key has no key"):
        keys_kept(path)
    (tmp_path / "file").touch()
    with pytest.raises(Misused) as no_folder:
        keys_kept(tmp_path / "file" / "run-key")
    assert "BATON_RUN_KEY" in no_folder.value.next_step


def test_signature_covers_task_agent_fence_and_state() -> None:
    keys = keys_from(f"{HEX},{OTHER}", "x")
    for key in keys:
        assert is_signed(keys, signature(key, *SIGNED), *SIGNED)
    found = signature(keys[0], *SIGNED)
    others = [
        ("task_2", *SIGNED[1:]),
        ("task_1", "peer", *SIGNED[2:]),
        (*SIGNED[:2], 8, "state"),
        (*SIGNED[:3], "stat"),
    ]
    assert not any(is_signed(keys, found, *each) for each in others)
    assert not is_signed(keys_from(OTHER, "x"), found, *SIGNED)


def test_a_user_without_a_home_folder_is_told_to_set_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    without_home(monkeypatch)
    with pytest.raises(Misused, match="HOME isn't set") as refused:
        keys_kept()
    assert "BATON_RUN_KEY" in refused.value.next_step

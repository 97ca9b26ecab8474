"""Reports that are kept until Baton has answered."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from baton_cli.worker.report_spool import LAST_SECONDS, ReportSpool, SpooledReport, spool_folder
from baton_client.numbers import Number
from support.homeless import without_home

ENTRY = SpooledReport("http://a", "qa", "/tasks/t/complete", {"claim_id": "clm_1", "output": 1}, "k")


def test_what_a_worker_has_left_is_found_by_another_of_the_same_agent_alone(tmp_path: Path) -> None:
    first, second = ReportSpool(tmp_path / "w"), ReportSpool(tmp_path / "w")
    assert second.left_by_others("http://a", "qa") == []
    assert first.add(ENTRY)
    assert first.left_by_others("http://a", "qa") == []  # it is about to send it
    assert second.left_by_others("http://a", "qa") == [ENTRY]
    assert second.left_by_others("http://b", "qa") == second.left_by_others("http://a", "scout") == []
    second.remove(ENTRY)
    second.remove(ENTRY)
    assert second.left_by_others("http://a", "qa") == []


def test_entry_takes_the_place_of_its_claims_last_one_and_is_its_owners_alone(tmp_path: Path) -> None:
    spool = ReportSpool(tmp_path / "w")
    spool.add(ENTRY)
    spool.add(SpooledReport("http://a", "qa", "/tasks/t/fail", {"claim_id": "clm_1"}, "l"))
    (path,) = (tmp_path / "w").iterdir()
    assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    assert "clm_1" not in path.name
    assert ReportSpool(tmp_path / "w").left_by_others("http://a", "qa")[0].key == "l"


def test_numbers_of_a_kept_report_keep_their_digits(tmp_path: Path) -> None:
    body = {"claim_id": "clm_1", "output": Number("12345678901234567.10")}
    assert ReportSpool(tmp_path).add(SpooledReport("http://a", "qa", "/tasks/t/complete", body, "k"))
    (left,) = ReportSpool(tmp_path).left_by_others("http://a", "qa")
    assert str(left.body["output"]) == "12345678901234567.10"


def test_what_is_kept_for_people_is_never_sent_and_goes_in_time(tmp_path: Path) -> None:
    spool = ReportSpool(tmp_path)
    assert spool.keep(ENTRY) is None
    spool.add(ENTRY)
    kept = spool.keep(ENTRY)
    assert kept is not None
    assert '"output": 1' in kept.read_text()
    assert kept.stat().st_mode & 0o777 == 0o600
    spool.add(SpooledReport("http://a", "qa", "/tasks/t/fail", {"claim_id": "clm_1"}, "l"))
    assert [each.key for each in ReportSpool(tmp_path).left_by_others("http://a", "qa")] == ["l"]
    old = time.time() - LAST_SECONDS
    os.utime(kept, (old, old))
    ReportSpool(tmp_path).left_by_others("http://a", "qa")
    assert not kept.exists()


def test_what_is_torn_is_no_entry_and_what_is_too_old_is_removed(tmp_path: Path) -> None:
    spool = ReportSpool(tmp_path)
    spool.add(ENTRY)
    (path,) = tmp_path.iterdir()
    (tmp_path / "torn.json").write_text('{"url": ')
    (tmp_path / "other.json").write_text("[]")
    (tmp_path / "half.123").write_text(path.read_text())
    assert ReportSpool(tmp_path).left_by_others("http://a", "qa") == [ENTRY]
    old = time.time() - LAST_SECONDS
    for each in (path, tmp_path / "half.123"):
        os.utime(each, (old, old))
    assert ReportSpool(tmp_path).left_by_others("http://a", "qa") == []
    assert sorted(each.name for each in tmp_path.iterdir()) == ["other.json", "torn.json"]


def test_what_others_could_have_put_there_is_never_sent(tmp_path: Path) -> None:
    spool = ReportSpool(tmp_path)
    spool.add(ENTRY)
    for mode in (0o777, 0o770, 0o755):
        tmp_path.chmod(mode)
        assert ReportSpool(tmp_path).left_by_others("http://a", "qa") == []
        assert not spool.add(SpooledReport("http://a", "qa", "/tasks/t/fail", {"claim_id": "clm_2"}, "l"))
    tmp_path.chmod(0o700)
    assert ReportSpool(tmp_path).left_by_others("http://a", "qa") == [ENTRY]


def test_folder_that_cannot_be_written_keeps_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    spool = ReportSpool(tmp_path / "file" / "w")
    assert not spool.add(ENTRY)
    spool.remove(ENTRY)
    assert spool.left_by_others("http://a", "qa") == []


def test_folder_is_that_of_the_users_state() -> None:
    assert spool_folder({"XDG_STATE_HOME": "/s"}) == Path("/s/baton/worker")
    assert spool_folder({}) == Path("~/.local/state/baton/worker").expanduser()


def test_a_worker_without_a_home_folder_keeps_its_reports_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    without_home(monkeypatch)
    spool = ReportSpool(spool_folder({}))
    assert (spool.add(ENTRY), spool.keep(ENTRY), spool.left_by_others("http://a", "qa")) == (False, None, [])
    spool.remove(ENTRY)

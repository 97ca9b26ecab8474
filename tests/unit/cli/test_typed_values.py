from __future__ import annotations

import io
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from baton_cli import typed_values
from baton_client.errors import Misused


def test_a_text_that_was_piped_or_is_in_a_file_comes_without_its_last_line_end(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("ntn_secret\n"))
    assert typed_values.text("-") == "ntn_secret"
    (tmp_path / "note").write_bytes(b"\n  Two lines,\r\nand a third\r\n")
    assert typed_values.text(f"@{tmp_path}/note") == "\n  Two lines,\nand a third"
    assert typed_values.text("typed\n") == "typed\n"


@pytest.mark.parametrize("door", ["file", "pipe"])
def test_a_byte_order_mark_is_no_part_of_a_text_or_document(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, door: str
) -> None:
    def typed(content: bytes) -> str:
        (tmp_path / "note").write_bytes(content)
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content), encoding="ascii"))
        return "-" if door == "pipe" else f"@{tmp_path}/note"

    assert typed_values.text(typed("\ufeffGröße\r\n".encode())) == "Größe"
    assert typed_values.document(typed('\ufeff{"a": "ü"}'.encode())) == {"a": "ü"}


@pytest.mark.parametrize(
    ("content", "why", "step"),
    [
        ("Größe\r\n".encode("utf-16"), "it is UTF-16, as PowerShell's > writes it", "iconv -f UTF-16 -t UTF-8"),
        ("ü€".encode("utf-16-be"), "it is UTF-16", "Out-File -Encoding utf8"),
        ("Größe".encode("latin-1"), "it isn't UTF-8", "iconv -f LATIN1 -t UTF-8"),
    ],
)
def test_a_file_of_another_encoding_names_the_remedy(tmp_path: Path, content: bytes, why: str, step: str) -> None:
    (tmp_path / "note").write_bytes(content)
    for read in (typed_values.text, typed_values.document):
        with pytest.raises(Misused, match="can't be read") as refused:
            read(f"@{tmp_path}/note")
        assert why in refused.value.why
        assert step in refused.value.next_step


@pytest.fixture
def berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("berlin")
@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("2027-03-28T01:59", "2027-03-28T00:59:00.000Z"),
        ("2027-03-28T02:00", "2027-03-28T01:00:00.000Z"),  # the clocks skip this hour: 03:00 summer time
        ("2027-03-28T02:30", "2027-03-28T01:30:00.000Z"),
        ("2027-03-28T03:00", "2027-03-28T01:00:00.000Z"),
        ("2027-10-31T01:59", "2027-10-30T23:59:00.000Z"),
        ("2027-10-31T02:30", "2027-10-31T00:30:00.000Z"),  # it comes twice: the first one, in summer time
        ("2027-10-31T03:00", "2027-10-31T02:00:00.000Z"),
        ("2027-10-31T02:30+01:00", "2027-10-31T01:30:00.000Z"),
        ("2027-06-30T23:59:60Z", "2027-07-01T00:00:00.000Z"),
        ("2027-07-01T01:59:60.5", "2027-07-01T00:00:00.500Z"),
        ("2027-03-28", "2027-03-27T23:00:00.000Z"),
    ],
)
def test_a_time_without_an_offset_is_local_by_the_rule_of_rfc_5545(typed: str, meant: str) -> None:
    assert typed_values.time(typed, now=datetime(2027, 1, 1, tzinfo=UTC), is_past=False) == meant


@pytest.mark.parametrize("typed", ["2027-06-30T23:60", "2027-06-30T23:59:61Z", "2027-06-30T60:00", "", "soon", "-2h"])
def test_a_text_of_another_form_is_no_time(typed: str) -> None:
    with pytest.raises(Misused, match="is no time"):
        typed_values.time(typed, now=datetime(2027, 1, 1, tzinfo=UTC), is_past=False)

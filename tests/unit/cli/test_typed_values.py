from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from baton_cli import typed_values


def test_a_text_that_was_piped_or_is_in_a_file_comes_without_its_last_line_end(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("ntn_secret\n"))
    assert typed_values.text("-") == "ntn_secret"
    (tmp_path / "note").write_bytes(b"\n  Two lines,\r\nand a third\r\n")
    assert typed_values.text(f"@{tmp_path}/note") == "\n  Two lines,\nand a third"
    assert typed_values.text("typed\n") == "typed\n"

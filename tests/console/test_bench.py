"""What `make bench` says of the pages is what happened in the browser."""

from __future__ import annotations

from typing import Any

import pytest

from tools.bench.pages import show_pages, watching

BUSY = "() => { const until = performance.now() + 120; while (performance.now() < until); }"


def test_a_pause_of_the_page_is_seen(page: Any) -> None:
    with watching(page) as take:
        quiet = take()
        page.evaluate(f"() => new Promise((done) => setTimeout(() => {{ ({BUSY})(); done(); }}))")
        paused = take()
    assert quiet.frames
    assert max(paused.long) >= 120
    assert max(paused.frames) > 50


def test_what_was_taken_is_not_told_again(page: Any) -> None:
    with watching(page) as take:
        page.evaluate(f"() => new Promise((done) => setTimeout(() => {{ ({BUSY})(); done(); }}))")
        take()
        assert take().long == []


def test_without_a_browser_it_is_said_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("BATON_CHROMIUM", raising=False)
    monkeypatch.setenv("PATH", "")
    show_pages(None)  # type: ignore[arg-type]
    assert "skipped, a real browser needs" in capsys.readouterr().out

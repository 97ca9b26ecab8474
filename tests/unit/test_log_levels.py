"""What a function prints where Lambda keeps lines by their level: its lines from its own level on, and its metrics."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest

from baton import bootstrap
from baton.domain.times import parse_rfc3339

LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR")


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    monkeypatch.setenv("BATON_TABLE", "baton-test")
    monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", f"test-{uuid4().hex}")  # a logger keeps its handlers
    bootstrap.forget_all()
    yield monkeypatch
    bootstrap.forget_all()


def printed(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


@pytest.mark.parametrize("level", LEVELS)
def test_lines_are_kept_from_the_deployments_level_on(
    level: str, environment: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """``ApplicationLogLevel`` of the template is what Lambda tells the function."""
    environment.setenv("BATON_LOG_LEVEL", level)
    environment.setenv("AWS_LAMBDA_LOG_LEVEL", "DEBUG" if level == "DEBUG" else "INFO")
    for each in LEVELS:
        getattr(bootstrap.logger(), each.lower())("a line")
    lines = printed(capsys)
    assert [line["level"] for line in lines] == list(LEVELS[LEVELS.index(level) :])
    # Lambda reads these two, and takes INFO and its own time where they are missing.
    assert all(parse_rfc3339(line["timestamp"]) for line in lines)


@pytest.mark.parametrize("level", LEVELS)
def test_a_metric_is_a_line_without_a_level(
    level: str, environment: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """So Lambda has to keep lines of the level INFO, whatever the deployment's own is."""
    environment.setenv("BATON_LOG_LEVEL", level)
    bootstrap.count("RequestFailed")
    (line,) = printed(capsys)
    assert "level" not in line
    assert line["RequestFailed"] == 1

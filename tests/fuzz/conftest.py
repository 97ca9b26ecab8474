from __future__ import annotations

import os
import sys

import pytest

from baton.bootstrap import forget_all
from fuzz.campaign import CASES, IS_LONG, SEED, SEQUENCES
from support.worlds.operations import OPERATIONS

# With each request schemathesis looks for it all through sys.path.
sys.modules.setdefault("flask", None)  # type: ignore[arg-type]


def pytest_report_header() -> str:
    bound = f", at most {os.environ['FUZZ_MINUTES']} minutes" if "FUZZ_MINUTES" in os.environ else ""
    seed = f", FUZZ_SEED={SEED}" if IS_LONG else ""
    return f"fuzz: {CASES} requests to each of {len(OPERATIONS)} operations, {SEQUENCES} sequences{seed}{bound}"


@pytest.fixture(autouse=True)
def quiet(monkeypatch: pytest.MonkeyPatch, scrubbed_environment: None) -> None:
    """What the functions read of their environment; they log nothing."""
    monkeypatch.setenv("BATON_TABLE", "baton-test")
    monkeypatch.setenv("BATON_PUBLIC_URL", "https://baton.example")
    monkeypatch.setenv("BATON_LOG_LEVEL", "CRITICAL")
    monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", "fuzz")
    forget_all()

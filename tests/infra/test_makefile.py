"""What the documents and CI call by name is there, and does what they say."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from infra.citations import ROOT

MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
CI = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
# A target that says what it does is in `make help`.
TARGETS = dict(re.findall(r"^(\w+):.*?## (.+)\n", MAKEFILE, re.MULTILINE))
RECIPES = dict(re.findall(r"^(\w+):[^=\n]*\n((?:\t.*\n)+)", MAKEFILE, re.MULTILINE))
TIERS = sorted(path.name for path in (ROOT / "tests").iterdir() if list(path.rglob("test_*.py")))


@pytest.mark.parametrize(
    "target", ["install", "test", "unit", "coverage", "soak", "fuzz", "simulate", "day", "planted", "check"]
)
def test_target_is_there_and_explained(target: str) -> None:
    assert target in TARGETS
    assert re.search(rf"^\.PHONY:.* {target}\b", MAKEFILE, re.MULTILINE)


def test_ci_checks_tests_and_covers() -> None:
    assert re.findall(r"^make (\w+)", CI, re.MULTILINE) == ["check", "test", "coverage"]
    assert re.findall(r"^ +make (\w+) PYTHON=", CI, re.MULTILINE) == ["test"]  # once more, on a second version


def test_every_test_is_played_without_coverage_and_the_gate_is_held_apart() -> None:
    assert "tests/" not in RECIPES["test"]
    assert " -m " not in RECIPES["test"]
    assert "--cov" not in RECIPES["test"]
    assert "--cov " in RECIPES["coverage"]


def test_the_gate_counts_branches_of_every_package() -> None:
    tool = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    packages = {path.name for path in (ROOT / "functions").iterdir() if list(path.glob("*.py"))}
    assert tool["coverage"]["run"] == {"branch": True, "source_pkgs": ["baton", "baton_testing", *sorted(packages)]}
    assert tool["coverage"]["report"]["fail_under"] >= 90


def test_every_tier_has_its_marker() -> None:
    tool = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    markers = {each.partition(":")[0] for each in tool["pytest"]["ini_options"]["markers"]}
    assert markers == {*TIERS, "slow", "soak"}


def test_what_is_compiled_is_kept_whatever_the_callers_shell_says() -> None:
    assert "unexport PYTHONDONTWRITEBYTECODE" in MAKEFILE


@pytest.mark.slow
def test_the_commands_are_installed_without_pip_and_it_is_said_where(tmp_path: Path) -> None:
    place = {"UV_TOOL_DIR": str(tmp_path / "tools"), "UV_TOOL_BIN_DIR": str(tmp_path / "a bin")}
    said = subprocess.run(
        ["make", "install", f"PYTHON={sys.executable}"],
        cwd=ROOT,
        env={**os.environ, **place},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert f'next: export PATH="{tmp_path}/a bin:$PATH"' in said
    for command, answer in (("baton", "baton 0"), ("baton-mcp", "usage: baton-mcp")):
        flag = "--version" if command == "baton" else "--help"
        finished = subprocess.run([tmp_path / "a bin" / command, flag], capture_output=True, text=True, check=True)
        assert finished.stdout.startswith(answer)

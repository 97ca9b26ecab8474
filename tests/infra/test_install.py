"""`make install` never replaces another program, and no index supplies a package of Baton's name."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
import venv
from pathlib import Path
from typing import Any

import pytest

from baton_client.core import VERSION
from infra.citations import ROOT
from tools.stack.deployment import environment_of_tools

CLIENT = "baton-client"
PROJECTS = {
    str(path.parent.relative_to(ROOT)): tomllib.loads(path.read_text(encoding="utf-8"))
    for path in [*ROOT.glob("packages/*/pyproject.toml"), ROOT / "cli/pyproject.toml"]
}
SCRIPT = "#!{python}\nprint('a game of batons')\n"


def made(tmp_path: Path, target: str = "install", **variables: str) -> subprocess.CompletedProcess[str]:
    place = {"UV_TOOL_DIR": str(tmp_path / "tools"), "UV_TOOL_BIN_DIR": str(tmp_path / "bin")}
    return subprocess.run(
        ["make", target, f"PYTHON={sys.executable}"],
        cwd=ROOT,
        env={**os.environ, **place, **variables},
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )


def foreign(tmp_path: Path, command: str = "baton", package: str = "baton-handoff") -> Path:
    """An environment with a package that provides the command, linked as uv and pipx link it."""
    home = tmp_path / "foreign"
    venv.create(home, symlinks=True)
    (packages,) = home.glob("lib/python*/site-packages")
    described = packages / f"{package.replace('-', '_')}-1.7.0.dist-info"
    described.mkdir()
    (described / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.7.0\n")
    (described / "entry_points.txt").write_text(f"[console_scripts]\n{command} = game:main\n")
    script = home / "bin" / command
    script.write_text(SCRIPT.format(python=home / "bin/python"))
    script.chmod(0o755)
    (tmp_path / "bin").mkdir()
    link = tmp_path / "bin" / command
    link.symlink_to(script)
    return link


def test_a_foreign_command_stays_and_its_owner_is_named(tmp_path: Path) -> None:
    link = foreign(tmp_path)
    refused = made(tmp_path)
    assert refused.returncode != 0
    assert f"error: {link} belongs to the package baton-handoff 1.7.0, and stays as it is" in refused.stderr
    assert "next: make install COMMAND=baton-cli" in refused.stderr
    assert link.resolve().read_text().endswith("print('a game of batons')\n")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bin", "foreign"]


def test_a_package_that_has_only_the_name_of_ours_is_foreign(tmp_path: Path) -> None:
    foreign(tmp_path, package="baton-cli")
    assert "belongs to the package baton-cli 1.7.0" in made(tmp_path).stderr


def test_a_foreign_command_elsewhere_on_the_path_is_not_hidden(tmp_path: Path) -> None:
    link = foreign(tmp_path)
    found = {"UV_TOOL_BIN_DIR": str(tmp_path / "other"), "PATH": f"{link.parent}:{os.environ['PATH']}"}
    assert f"error: {link} belongs to" in made(tmp_path, **found).stderr


@pytest.mark.parametrize("content", ["#!/bin/sh\necho other\n", "\x7fELF"])
def test_a_command_without_a_known_owner_stays_too(tmp_path: Path, content: str) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/baton-mcp").write_text(content)
    refused = made(tmp_path)
    assert f"error: {tmp_path}/bin/baton-mcp belongs to another program, and stays as it is" in refused.stderr
    assert (tmp_path / "bin/baton-mcp").read_text() == content


def test_another_name_than_the_two_is_refused(tmp_path: Path) -> None:
    assert "COMMAND must be baton or baton-cli, and is 'b'" in made(tmp_path, COMMAND="b").stderr


@pytest.mark.slow
def test_beside_a_foreign_command_ours_has_another_name_and_is_removed_whole(tmp_path: Path) -> None:
    link = foreign(tmp_path)
    installed = made(tmp_path, COMMAND="baton-cli")
    assert installed.returncode == 0, installed.stderr
    said = subprocess.run([tmp_path / "bin/baton-cli", "tasks"], capture_output=True, text=True, check=False)
    assert "Usage: baton-cli tasks" in said.stdout + said.stderr
    removed = made(tmp_path, "uninstall")
    assert removed.returncode == 0, removed.stderr
    assert os.listdir(tmp_path / "bin") == [link.name]  # noqa: PTH208 - the link may dangle
    assert not (tmp_path / "tools/baton-cli").exists()


@pytest.mark.slow
def test_an_updated_checkout_installs_its_own_client(tmp_path: Path) -> None:
    """uv keeps the wheel of a package that another one needs, and has to notice that its source has changed."""
    checkout = tmp_path / "checkout"
    for each in ("cli", f"packages/{CLIENT}"):
        shutil.copytree(ROOT / each, checkout / each, ignore=shutil.ignore_patterns("__pycache__"))
    place = {"UV_TOOL_DIR": str(tmp_path / "tools"), "UV_TOOL_BIN_DIR": str(tmp_path / "bin")}
    uv = environment_of_tools() / "uv/bin/uv"
    source = checkout / f"packages/{CLIENT}/src/baton_client/core.py"
    for version in ("1", "2"):
        source.write_text(f"{source.read_text()}UPDATE = {version}\n")
        command: list[str | Path] = [uv, "tool", "install", "--quiet", "--force", "--python", sys.executable, "./cli"]
        subprocess.run(command, cwd=checkout, env={**os.environ, **place}, check=True, timeout=100)
        asked: list[str | Path] = [
            tmp_path / "tools/baton-cli/bin/python",
            "-c",
            "import baton_client.core as core; print(core.UPDATE)",
        ]
        found = subprocess.run(asked, capture_output=True, text=True, check=True).stdout
        assert found.strip() == version


def test_no_public_index_can_have_a_package_of_ours_or_the_client_that_it_needs() -> None:
    """PyPI refuses an upload whose version has a local label."""
    version = f"{VERSION}+baton"
    assert {each["project"]["version"] for each in PROJECTS.values()} == {version}
    others = {name: each for name, each in PROJECTS.items() if name != f"packages/{CLIENT}"}
    assert len(others) == 7
    for name, each in others.items():
        needed = [text for text in each["project"]["dependencies"] if text.startswith("baton")]
        assert [re.sub(r"\[.*\]", "", text) for text in needed] == [f"{CLIENT}=={version}"], name
        source = each["tool"]["uv"]["sources"][CLIENT]["path"]
        assert (ROOT / name / source).resolve() == ROOT / "packages" / CLIENT


def test_uv_installs_the_same_as_pip_in_the_checkout() -> None:
    """uv applies the overrides and constraints of the folder's pyproject.toml to a user's installation, too."""
    tool: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    assert tool["uv"].keys() == {"build-backend"}

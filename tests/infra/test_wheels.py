"""`make wheels`: every package, with the hashes of all that it needs. Its page gives the command to install it."""

from __future__ import annotations

import hashlib
import re
from importlib.metadata import requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from infra.citations import ROOT
from tools.admin import wheels

PAGES = {"baton-client": "client.md", "baton-testing": "client.md", "baton-mcp": "guides/mcp.md", "baton-cli": "cli.md"}
NAMES = {source: f"baton-{Path(source).name.removeprefix('baton-')}" for source in wheels.PACKAGES}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("release") / "wheels"
    wheels.released(made)
    return made


def pins(text: str) -> dict[str, tuple[str, list[str]]]:
    """Package → its version and its hashes."""
    entries = re.findall(r"^([\w-]+)==(\S+)((?:.*\\\n)+.*)", text, re.MULTILINE)
    return {name: (version, re.findall(r"sha256:(\w{64})", rest)) for name, version, rest in entries}


def test_every_package_is_released(folder: Path) -> None:
    projects = [*ROOT.glob("packages/*/pyproject.toml"), ROOT / "cli/pyproject.toml"]
    assert {str(path.parent.relative_to(ROOT)) for path in projects} == wheels.PACKAGES.keys()
    assert {path.stem for path in folder.glob("*.txt")} == set(NAMES.values())
    assert len(list(folder.glob("*.whl"))) == len(NAMES)


@pytest.mark.parametrize("source", wheels.PACKAGES)
def test_a_package_and_its_client_are_pinned_to_the_wheels_by_their_hashes(folder: Path, source: str) -> None:
    found = pins((folder / f"{NAMES[source]}.txt").read_text())
    assert all(hashes for _, hashes in found.values())
    for name in {NAMES[source], "baton-client"}:
        version, (digest,) = found[name]
        (wheel,) = folder.glob(f"{name.replace('-', '_')}-{version}-*.whl")
        assert hashlib.sha256(wheel.read_bytes()).hexdigest() == digest


@pytest.mark.parametrize("source", [name for name, lock in wheels.PACKAGES.items() if lock == "dev"])
def test_a_requirements_file_lacks_nothing_that_the_package_needs(folder: Path, source: str) -> None:
    text = (folder / f"{NAMES[source]}.txt").read_text()
    found = pins(text)
    always = set(re.findall(r"^([\w-]+)==\S+ \\$", text, re.MULTILINE))  # without a marker, so installed here
    for name in always - set(NAMES.values()):
        needed = [Requirement(text) for text in requires(name) or []]
        here = [each for each in needed if each.marker is None or each.marker.evaluate({"extra": ""})]
        assert {canonicalize_name(each.name) for each in here} <= found.keys(), name


def test_a_lock_gives_what_is_needed_by_what_is_needed() -> None:
    lock = "a==1 \\\n    --hash=x\n    # via b\n"
    lock += "b==2 \\\n    --hash=y\n    # via\n    #   -r in\n    #   c\nc==3\nd==4\n    # via e\n"
    assert wheels.closure(lock, ["C"]) == ["a==1 \\\n    --hash=x\n", "b==2 \\\n    --hash=y\n", "c==3\n"]


@pytest.mark.parametrize("source", wheels.PACKAGES)
def test_the_page_of_a_package_gives_the_lines_that_install_it(source: str) -> None:
    name = NAMES[source]
    page = (ROOT / "docs" / PAGES.get(name, "frameworks.md")).read_text(encoding="utf-8")
    usual = f"pip install ./packages/baton-client ./{source}"
    line = {"baton-client": f"pip install './{source}[bell]'", "baton-cli": "make install"}.get(name, usual)
    assert f"`{line}`" in page
    assert f"`pip install --require-hashes -r {name}.txt`" in page

"""Builds the package by uv_build, with the sources that it plays: of the layer, the functions and the faithful fake.
They aren't copied in the repository, so that tests of users play what is deployed."""

from __future__ import annotations

from contextlib import chdir
from pathlib import Path
from shutil import copy, copytree, ignore_patterns
from tempfile import TemporaryDirectory
from typing import Any

import uv_build

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PACKAGE = "src/baton_testing"
_FAKES = ("__init__.py", "dynamo.py", "fake_dynamo", "ports.py")
TAKEN = {
    **{f"inside/{each}": f"functions/{each}" for each in ("api", "create_handoff_marker", "rest", "wait")},
    "inside/baton": "layers/baton/python/baton",
    "inside/support/__init__.py": "tests/support/__init__.py",
    **{f"inside/support/fakes/{each}": f"tests/support/fakes/{each}" for each in _FAKES},
    "template.yaml": "template.yaml",
}

get_requires_for_build_wheel = uv_build.get_requires_for_build_wheel
prepare_metadata_for_build_wheel = uv_build.prepare_metadata_for_build_wheel
get_requires_for_build_editable = uv_build.get_requires_for_build_editable
prepare_metadata_for_build_editable = uv_build.prepare_metadata_for_build_editable
build_editable = uv_build.build_editable


def build_wheel(wheel_directory: str, config_settings: Any = None, metadata_directory: str | None = None) -> str:
    into = Path(wheel_directory).resolve()
    metadata = None if metadata_directory is None else str(Path(metadata_directory).resolve())
    with TemporaryDirectory() as folder, chdir(folder):
        copytree(HERE, ".", dirs_exist_ok=True, ignore=ignore_patterns("__pycache__"))
        for place, source in TAKEN.items():
            at = Path(PACKAGE, place)
            at.parent.mkdir(parents=True, exist_ok=True)
            (_copied if (ROOT / source).is_dir() else copy)(ROOT / source, at)
        return str(uv_build.build_wheel(str(into), config_settings, metadata))


def _copied(source: Path, at: Path) -> None:
    copytree(source, at, ignore=ignore_patterns("__pycache__"))

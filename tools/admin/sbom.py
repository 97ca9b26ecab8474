"""The bill of materials of a package, in CycloneDX: what of others is in it, by what the layer really has."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.metadata import PathDistribution
from pathlib import Path
from typing import Any

from tools.stack.deployment import ROOT

VENDORED = ROOT / "requirements" / "vendor.json"  # the console's libraries


def bill_of_materials(version: str, layer: Path) -> dict[str, Any]:
    """``layer``: the folder with the third-party packages of Python. No time and no serial number: the same content is
    the same bill."""
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": {"type": "application", "bom-ref": "baton", "name": "baton", "version": version}},
        "components": [*_of_python(layer), *_of_the_console()],
    }


def _of_python(layer: Path) -> Iterator[dict[str, Any]]:
    for found in sorted(layer.glob("*.dist-info")):
        package = PathDistribution(found)
        name, (licence, *_) = package.metadata["Name"], package.metadata.get_all("License-Expression", [None])
        yield _component("pypi", name.lower().replace("_", "-"), package.version, licence)


def _of_the_console() -> Iterator[dict[str, Any]]:
    for package in json.loads(VENDORED.read_text(encoding="utf-8"))["packages"]:
        yield _component("npm", package["name"].replace("@", "%40"), package["version"], None)


def _component(kind: str, name: str, version: str, licence: str | None) -> dict[str, Any]:
    url = f"pkg:{kind}/{name}@{version}"
    licences = {"licenses": [{"expression": licence}]} if licence else {}
    return {
        "type": "library",
        "bom-ref": url,
        "name": name.replace("%40", "@"),
        "version": version,
        "purl": url,
        **licences,
    }

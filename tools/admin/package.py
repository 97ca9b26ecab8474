"""Something to put into one's own infrastructure: `make package` writes all of a deployment as one archive.

Who has it needs no checkout (packaging/README.md, which is in it). The same commit makes the same bytes, in any folder,
with the same Python and zlib. These variables say for what; make takes them as its own, too:

    RUNTIME       python3.11 to python3.14, or the Python that this runs with
    ARCHITECTURE  arm64 or x86_64, or arm64
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from tools.admin import deploy
from tools.admin.deploy_answers import Parameters
from tools.admin.sbom import bill_of_materials
from tools.admin.wheels import build_wheels, sums
from tools.stack.background import StackError
from tools.stack.deployment import ROOT, template
from tools.stack.packing import archive

HOME = ROOT / ".baton" / "package"
CODE = ("CodeUri", "ContentUri")
COPIED = ("LICENSE", "edge.yaml", "packaging/README.md", "packaging/terraform/main.tf", "packaging/cdk/baton.ts")
WHEELS = ("cli", "packages/baton-client", "packages/baton-mcp")
ADMIN = (
    "__init__.py",
    *(f"admin/{name}.py" for name in ("__init__", "baton_admin", "verify_trail", "workspace_data")),
    *(f"admin/{name}.py" for name in ("smoke", "smoke_checks", "smoke_world")),
)
LOCK = ROOT / "layers" / "dependencies" / "requirements.txt"
GIVEN = {
    "CodeBucket": {"Type": "String", "Description": "A bucket in the stack's region with the files of code/."},
    "CodePrefix": {
        "Type": "String",
        "Default": "",
        "Description": "What their names there begin with, such as baton/.",
    },
    "Release": {
        "Type": "String",
        "AllowedPattern": "[0-9a-f]{16}",
        "Description": "Another one for each deployment - callers come to the versions that were published with it.",
    },
}


def main() -> int:
    try:
        packed = packaged(os.environ)
    except StackError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except subprocess.CalledProcessError as error:
        return error.returncode  # it has said why
    print(f"{hashlib.sha256(packed.read_bytes()).hexdigest()}  {packed}")
    return 0


def packaged(environ: Mapping[str, str]) -> Path:
    """Builds, and returns the archive. Raises StackError for what can't be built here."""
    built_for = deploy.built_for({}, environ, template()["Parameters"]["Runtime"]["AllowedValues"]) | {"Script": ""}
    folder = deploy.sam_build(built_for, {}, HOME / "build")
    return assembled(folder, built_for, HOME)


def assembled(built: Path, built_for: Parameters, home: Path) -> Path:
    """Returns the archive below ``home`` of what was built for this runtime and architecture."""
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    name = f"baton-{version}-{built_for['Runtime']}-{built_for['Architecture']}"
    shutil.rmtree(home / name, ignore_errors=True)
    package = home / name / name  # the archive's one folder
    (package / "code").mkdir(parents=True)
    described = yaml.load((built / "template.yaml").read_text(encoding="utf-8"), yaml.CSafeLoader)
    _write(package / "template.json", _with_code(described, built, package / "code", built_for))
    for each in COPIED:
        _copy(ROOT / each, package / each.removeprefix("packaging/"))
    _write(package / "sbom.cdx.json", bill_of_materials(version, built / "DependenciesLayer" / "python"))
    build_wheels(package / "wheels", WHEELS, home / "wheels.log")
    _admin(package, home)
    (package / "SHA256SUMS").write_text("".join(sums(package)), encoding="utf-8")
    return archive(home / name)


def _with_code(described: dict[str, Any], built: Path, code: Path, built_for: Parameters) -> dict[str, Any]:
    """The template, whose code is in a bucket."""
    parameters, resources = described["Parameters"], described["Resources"]
    for name, value in built_for.items():
        parameters[name] |= {"Default": value, "AllowedValues": [value]}
    parameters |= GIVEN
    groups = described["Metadata"]["AWS::CloudFormation::Interface"]["ParameterGroups"]
    groups.insert(0, {"Label": {"default": "Code"}, "Parameters": list(GIVEN)})
    del described["Globals"]["Function"]["CodeUri"]
    for name, resource in resources.items():
        resource.pop("Metadata", None)  # how it was built
        for place in resource.get("Properties", {}).keys() & {*CODE}:
            key = {"Fn::Sub": f"${{CodePrefix}}{_archived(built / name, code)}"}
            resource["Properties"][place] = {"Bucket": {"Ref": "CodeBucket"}, "Key": key}
    return described


def _archived(folder: Path, code: Path) -> str:
    """The name of its archive: another one if anything in it is."""
    packed = archive(folder)
    digest = hashlib.sha256(packed.read_bytes()).hexdigest()[:16]
    return str(shutil.copyfile(packed, code / f"{folder.name}-{digest}.zip").name)


def _admin(package: Path, home: Path) -> None:
    """The core and the operator's programs, which Python runs from their archive."""
    folder = home / "admin"
    shutil.rmtree(folder, ignore_errors=True)
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "layers" / "baton" / "python" / "baton", folder / "baton", ignore=ignored)
    for each in ADMIN:
        _copy(ROOT / "tools" / each, folder / "tools" / each)
    shutil.move(archive(folder), package / "admin.zip")
    _copy(LOCK, package / "admin-requirements.txt")


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)


def _write(path: Path, content: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())

"""What `make package` writes: the same from the same commit, whole, and nothing of the machine that built it."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from infra.citations import ROOT
from infra.template import functions, load
from support.faults.soak import IS_WHOLE
from tools.admin import package
from tools.stack import deployment

BUILT_FOR = {"Runtime": deployment.RUNTIME, "Architecture": deployment.ARCHITECTURE, "Script": ""}
README = (ROOT / "packaging/README.md").read_text(encoding="utf-8")
LOCKED = re.findall(r"^([\w-]+)==([\w.]+)", package.LOCK.read_text(encoding="utf-8"), re.MULTILINE)

# Two thirds of the layer's bytes, of which the archives are made again and again. Without them they are as they are.
BULK = ("aws_lambda_powertools", "pydantic", "pydantic_core", "tzdata", "yaml")

pytestmark = pytest.mark.xdist_group("packages")  # on one worker, as they look at one build


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    with deployment.built(deployment.fingerprint(), say=print) as shared:
        left_out = None if IS_WHOLE else shutil.ignore_patterns(*BULK, "*.zip")
        return Path(shutil.copytree(shared, tmp_path_factory.mktemp("built") / "built", ignore=left_out))


@pytest.fixture(scope="module")
def packed(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return package.assembled(built, BUILT_FOR, tmp_path_factory.mktemp("package"))


@pytest.fixture(scope="module")
def folder(packed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("unpacked")
    with ZipFile(packed) as whole:
        whole.extractall(home)
    (folder,) = home.iterdir()
    return folder


@pytest.fixture(scope="module")
def template(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "template.json").read_text())
    return found


def keys(template: dict[str, Any]) -> dict[str, str]:
    """The name of each resource's code, below CodePrefix."""
    properties = {name: each.get("Properties", {}) for name, each in template["Resources"].items()}
    places = {name: each.get("CodeUri") or each.get("ContentUri") for name, each in properties.items()}
    assert all(place["Bucket"] == {"Ref": "CodeBucket"} for place in places.values() if place)
    return {name: place["Key"]["Fn::Sub"].removeprefix("${CodePrefix}") for name, place in places.items() if place}


def test_the_template_names_each_archive_and_each_is_there(folder: Path, template: dict[str, Any]) -> None:
    named = keys(template)
    assert named.keys() == {*functions(load()), "BatonLayer", "DependenciesLayer"}
    assert sorted(named.values()) == sorted(path.name for path in (folder / "code").iterdir())
    for name, key in named.items():
        assert key == f"{name}-{hashlib.sha256((folder / 'code' / key).read_bytes()).hexdigest()[:16]}.zip"


def test_the_template_is_the_checkouts_but_for_where_its_code_is(template: dict[str, Any]) -> None:
    ours = load()
    assert template["Parameters"].keys() == ours["Parameters"].keys() | {"CodeBucket", "CodePrefix"}
    for section in ("Rules", "Conditions", "Outputs"):
        assert template[section].keys() == ours[section].keys()
    assert template["Resources"].keys() == ours["Resources"].keys()
    assert "Metadata" not in template["Resources"]["Api"]


def test_what_was_built_can_not_be_said_to_be_something_else(template: dict[str, Any]) -> None:
    for name, value in BUILT_FOR.items():
        assert (template["Parameters"][name]["Default"], template["Parameters"][name]["AllowedValues"]) == (
            value,
            [value],
        )


def test_nobody_deploys_without_a_release(template: dict[str, Any]) -> None:
    release = template["Parameters"]["Release"]
    assert "Default" not in release
    assert [bool(re.fullmatch(release["AllowedPattern"], text)) for text in ("", "0" * 15, "0123456789abcdef")] == [
        *(False, False, True)
    ]


def test_a_function_that_changed_and_no_other_has_another_name(
    built: Path, template: dict[str, Any], tmp_path: Path
) -> None:
    before = keys(template)
    changed = shutil.copytree(built, tmp_path / "changed")
    (changed / "Wait" / "wait" / "handler.py").write_text("changed = True\n")
    (tmp_path / "code").mkdir()
    described = json.loads((changed / "template.yaml").read_text())
    after = keys(package._with_code(described, changed, tmp_path / "code", BUILT_FOR))
    assert {name for name in before if before[name] != after[name]} == {"Wait"}


def test_the_sums_are_of_every_file(folder: Path) -> None:
    files = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    sums = [line.split("  ") for line in (folder / "SHA256SUMS").read_text().splitlines()]
    told = {name: digest for digest, name in sums}
    assert told.keys() == files - {"SHA256SUMS"}
    assert {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in told} == told


def test_the_bill_names_what_is_in_the_layer_as_it_was_locked(folder: Path) -> None:
    bill = json.loads((folder / "sbom.cdx.json").read_text())
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.6")
    urls = [each["purl"] for each in bill["components"]]
    python = {url.removeprefix("pkg:pypi/") for url in urls if url.startswith("pkg:pypi/")}
    assert python <= {f"{name.lower()}@{version}" for name, version in LOCKED}
    with ZipFile(next((folder / "code").glob("DependenciesLayer-*.zip"))) as layer:
        installed = {name.split("/")[1] for name in layer.namelist() if ".dist-info/" in name}
    assert len(python) == len(installed)
    vendored = json.loads((ROOT / "requirements/vendor.json").read_text())["packages"]
    assert len(urls) == len(python) + len(vendored)
    assert len({each["bom-ref"] for each in bill["components"]}) == len(urls)


def test_nothing_in_it_tells_where_it_was_built(folder: Path, packed: Path) -> None:
    here = [str(place).encode() for place in (ROOT, Path.home(), packed.parent)]
    for name, content in contents(folder):
        assert not [place for place in here if len(place) > 5 and place in content], name


def contents(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Of every file, also in archives."""
    for path in (each for each in folder.rglob("*") if each.is_file()):
        if path.suffix not in {".zip", ".whl"}:
            yield path.name, path.read_bytes()
            continue
        with ZipFile(BytesIO(path.read_bytes())) as packed:
            yield from ((f"{path.name}: {name}", packed.read(name)) for name in packed.namelist())


def test_the_readme_names_every_file_of_it(folder: Path) -> None:
    named = {path.name + "/" * path.is_dir() for path in folder.iterdir()} - {"LICENSE", "README.md"}
    assert [name for name in named if f"`{name}`" not in README] == []


def test_the_wheels_are_the_commands(folder: Path) -> None:
    assert [path.name.split("-")[0] for path in sorted((folder / "wheels").iterdir())] == [
        *("baton_cli", "baton_client", "baton_mcp")
    ]


@pytest.mark.slow
def test_it_is_the_same_from_another_folder_with_another_umask(built: Path, packed: Path, tmp_path: Path) -> None:
    """Here, and in a copy of the checkout: of one build, and under ``make soak`` built twice, with all that takes."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
    for name in filter(None, names):
        if (ROOT / name).exists():
            (tmp_path / "copy" / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, tmp_path / "copy" / name)
    here = _sum_of_a_package(ROOT, built, tmp_path, 0o022) if IS_WHOLE else _sum(packed)
    assert here == _sum_of_a_package(tmp_path / "copy", built, tmp_path, 0o027)


PACKAGED = """
import sys
from pathlib import Path

from tools.admin import package

package.HOME = Path(sys.argv[1])
sys.exit(package.main())
"""
ASSEMBLED = """
import json, shutil, sys
from hashlib import sha256
from pathlib import Path

from tools.admin import package

home = Path(sys.argv[1])
built = shutil.copytree(sys.argv[2], home / "build")
print(sha256(package.assembled(built, json.loads(sys.argv[3]), home).read_bytes()).hexdigest())
"""


def _sum(packed: Path) -> str:
    return hashlib.sha256(packed.read_bytes()).hexdigest()


def _sum_of_a_package(checkout: Path, built: Path, tmp_path: Path, umask: int) -> str:
    program = PACKAGED if IS_WHOLE else ASSEMBLED
    finished = subprocess.run(
        [sys.executable, "-c", program, tmp_path / f"package-{umask}", built, json.dumps(BUILT_FOR)],
        cwd=checkout,
        env={**os.environ, "PYTHONPATH": ".", "PYTHONHASHSEED": str(umask)},
        capture_output=True,
        text=True,
        check=True,
        umask=umask,
    )
    return finished.stdout.splitlines()[-1].split("  ")[0]

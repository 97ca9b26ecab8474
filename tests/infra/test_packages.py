"""What `sam build` makes is complete by itself.

The local engine's own packages are importable for the functions it runs, so only a bare interpreter tells whether
something is missing from the layers.
"""

from __future__ import annotations

import json
import marshal
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import CodeType
from zipfile import ZipFile
from zlib import crc32

import pytest

from baton import bootstrap
from infra.service_checks import PACKAGED_WITH
from infra.template import environment, functions, load
from tools.stack import deployment

UNCHECKED_HASH = 0b01  # PEP 552: hash-based, and the source is not looked at again
LIMIT_BYTES = 250 * 2**20  # of a function and its layers, unzipped
ANOTHER_BUILD = """
import sys
from pathlib import Path

from tools.stack import deployment

deployment.BUILD, deployment.environment_of_tools = Path(sys.argv[1]), lambda: Path(sys.argv[2])
with deployment.built("theirs", lambda said: print(said, flush=True)):
    pass
"""
SAM = """#!/bin/sh
test "$1 $2" = "build --build-dir" && rm -rf "$3" && mkdir -p "$3/$(dirname PLACE)" && echo "{}" > "$3/template.yaml"
echo >> "$0.calls"
""".replace("PLACE", f"{deployment.LAYER}/{deployment.SCRIPT_PLACE}")
# Each function in a process of its own, which has the layers already: forked, as to import them takes longest.
BARE_IMPORTS = """
import importlib, json, os, sys, traceback

layers, functions = json.load(sys.stdin)
sys.path[:0] = layers
importlib.import_module("baton.bootstrap")
for name, (folder, handler, environment) in functions.items():
    child = os.fork()
    if not child:
        os.environ.clear()
        os.environ.update(environment)
        sys.path.insert(0, folder)
        try:
            importlib.import_module(handler)
        except BaseException:
            print(f"{name}: {traceback.format_exc()}", flush=True)
            os._exit(1)
        os._exit(0)
    if os.waitpid(child, 0)[1]:
        print(name, "can't be imported", flush=True)
"""


pytestmark = pytest.mark.xdist_group("packages")  # all on one worker, as they look at one build


@pytest.fixture(scope="module")
def built() -> Iterator[Path]:
    """A copy: a stack may build something else while the tests look at it."""
    with tempfile.TemporaryDirectory(prefix="baton-packages-") as folder:
        with deployment.built(deployment.fingerprint(), say=print) as shared:
            copy = shutil.copytree(shared, Path(folder) / "built")
        yield copy


def _cold_start_environment(function: str) -> dict[str, str]:
    """The template's variables, with anything where a resource's name will be."""
    variables = environment(load(), function)
    return (
        {"AWS_DEFAULT_REGION": "us-east-1"}
        | {
            name: value if isinstance(value, str) else "https://resource.invalid/name"
            for name, value in variables.items()
        }
        | {"BATON_LOG_LEVEL": "INFO"}
    )


def test_a_script_is_built_in_beside_the_shipped_one(built: Path, tmp_path: Path) -> None:
    script = tmp_path / "a script.yaml"
    script.write_text("agents: {}")
    assert _built_layer(tmp_path / "layer", BATON_SCRIPT=str(script)).returncode == 0
    scripts = [
        {each.name for each in (layer / "python/baton/adapters/models").glob("*.yaml")}
        for layer in (tmp_path / "layer", built / "BatonLayer")
    ]
    assert scripts == [{"answers.yaml", "script.yaml"}, {"answers.yaml"}]


def _built_layer(folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    given = {
        "PATH": os.environ["PATH"],
        "BATON_PYTHON": sys.executable,
        "BATON_RUNTIME": deployment.RUNTIME,
        **variables,
    }
    command = ["make", "-s", "-C", "layers/baton", "build-BatonLayer", f"ARTIFACTS_DIR={folder}"]
    return subprocess.run(
        command, cwd=deployment.ROOT, env=given, check=False, capture_output=True, text=True, timeout=60
    )


def test_nothing_is_built_for_a_python_that_is_not_there_to_compile_it(tmp_path: Path) -> None:
    refused = _built_layer(tmp_path / "layer", BATON_RUNTIME="python3.99")
    assert refused.returncode != 0
    assert "no python3.99 on this machine" in refused.stderr
    assert f"make deploy RUNTIME={deployment.RUNTIME}" in refused.stderr


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """With a stand-in for sam, which builds into the test's own folder."""
    tools = tmp_path / "tools"
    (tools / "sam" / "bin").mkdir(parents=True)
    (tools / "sam" / "bin" / "sam").write_text(SAM)
    (tools / "sam" / "bin" / "sam").chmod(0o700)
    monkeypatch.setattr(deployment, "BUILD", tmp_path / "build" / "python")
    monkeypatch.setattr(deployment, "environment_of_tools", lambda: tools)
    return tools


def test_another_script_takes_no_other_build(tools: Path, tmp_path: Path) -> None:
    script = tmp_path / "a script.yaml"
    for words in ("agents: {}", "agents: {a: []}"):
        script.write_text(words)
        with deployment.built(deployment.fingerprint(script), print, script) as folder:
            assert (folder / deployment.LAYER / deployment.SCRIPT_PLACE).read_text() == words
            with ZipFile(folder / f"{deployment.LAYER}.zip") as archive:
                assert archive.read(deployment.SCRIPT_PLACE).decode() == words
    with deployment.built(deployment.fingerprint(), print) as without:
        assert without != folder
        assert not (without / deployment.LAYER / deployment.SCRIPT_PLACE).exists()
    assert (tools / "sam" / "bin" / "sam.calls").read_text() == "\n"


def test_what_one_uses_nobody_else_builds_over(tools: Path) -> None:
    with deployment.built("ours", say=print) as folder:
        other = subprocess.Popen(
            [sys.executable, "-c", ANOTHER_BUILD, deployment.BUILD, tools],
            env={"PATH": os.environ["PATH"], "PYTHONPATH": str(deployment.ROOT), "PYTHONUTF8": "1"},
            stdout=subprocess.PIPE,
            encoding="utf-8",
        )
        assert other.stdout is not None
        first = other.stdout.readline()
        assert (folder / "inputs").read_text() == "ours"
    other.communicate(timeout=60)
    assert first == "waiting for another make to finish …\n"
    assert (other.returncode, (folder / "inputs").read_text()) == (0, "theirs")


def test_what_is_deployed_is_an_archive_of_what_was_built(built: Path) -> None:
    resources = json.loads((built / "template.yaml").read_text())["Resources"]
    named = {name: {"CodeUri", "ContentUri"} & each.get("Properties", {}).keys() for name, each in resources.items()}
    packages = {name: resources[name]["Properties"][key] for name, keys in named.items() for key in keys}
    assert packages == {each.name: f"{each.name}.zip" for each in built.iterdir() if each.is_dir()}
    for name, archive in packages.items():
        files = [path for path in (built / name).rglob("*") if path.is_file()]
        with ZipFile(built / archive) as packed:
            assert {each.filename: each.CRC for each in packed.infolist()} == {
                path.relative_to(built / name).as_posix(): crc32(path.read_bytes()) for path in files
            }
            assert all(each.external_attr >> 16 & 0o444 == 0o444 for each in packed.infolist())


def _compiled(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.pyc"))


def test_each_function_imports_with_nothing_but_its_layers(built: Path) -> None:
    layers = [str(built / name / "python") for name in ("BatonLayer", "DependenciesLayer")]
    given = {
        name: (str(built / name), each["Handler"].rpartition(".")[0], _cold_start_environment(name))
        for name, each in functions(load()).items()
    }
    finished = subprocess.run(
        [sys.executable, "-I", "-S", "-c", BARE_IMPORTS],
        input=json.dumps([layers, given]),
        env={"AWS_DEFAULT_REGION": "us-east-1"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (finished.returncode, finished.stdout) == (0, ""), finished.stderr


@pytest.mark.parametrize("part", [*sorted(functions(load())), "BatonLayer", "DependenciesLayer"])
def test_every_module_ships_compiled_for_the_runtime(built: Path, part: str) -> None:
    sources = [path for path in (built / part).rglob("*.py") if "-" not in path.stem]
    missing = [
        source
        for source in sources
        if not (source.parent / "__pycache__" / f"{source.stem}.{sys.implementation.cache_tag}.pyc").exists()
    ]
    assert sources
    assert missing == []
    assert {path.read_bytes()[4] for path in _compiled(built / part)} == {UNCHECKED_HASH}


@pytest.mark.parametrize(
    ("part", "place"), [("Api", "/var/task/"), ("BatonLayer", "/opt/"), ("DependenciesLayer", "/opt/")]
)
def test_compiled_code_names_no_path_of_the_machine_that_built_it(built: Path, part: str, place: str) -> None:
    for path in _compiled(built / part):
        code = marshal.loads(path.read_bytes()[16:])
        assert isinstance(code, CodeType)
        assert code.co_filename.startswith(place)


def test_the_layer_describes_every_service_that_is_called(built: Path) -> None:
    called = set(re.findall(r'client\(\s*"([a-z-]+)"', Path(bootstrap.__file__).read_text()))
    assert {"dynamodb", "bedrock-runtime", "secretsmanager"} <= called
    data = built / "DependenciesLayer" / "python" / "botocore" / "data"
    assert called <= {path.name for path in data.iterdir()}


def test_a_function_with_its_layers_fits_into_lambda(built: Path) -> None:
    size = sum(path.stat().st_size for path in built.rglob("*") if path.is_file())
    assert size < LIMIT_BYTES / 2  # much more than that, and cold starts suffer long before the limit


def test_each_function_ships_its_own_package_and_nothing_of_its_neighbours(built: Path) -> None:
    for name, function in functions(load()).items():
        package = function["Handler"].partition(".")[0]
        assert {path.name for path in (built / name).iterdir()} == {package, "rest", *PACKAGED_WITH.get(name, ())}

"""The ordinary `sam build`, and its result given to the local engine's CloudFormation."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import botocore.session
import yaml
from botocore.config import Config
from botocore.exceptions import ClientError

from tools.admin.change_set import LOCAL_POLL_SECONDS, ChangeSet
from tools.stack.background import StackError, alone, tail
from tools.stack.engine import REGION, Access
from tools.stack.front_door import ENGINE_KEY
from tools.stack.packing import PACKED, archive, pack

ROOT = Path(__file__).resolve().parents[2]
RUNTIME = f"python{sys.version_info.major}.{sys.version_info.minor}"
ARCHITECTURE = "arm64" if platform.machine() in {"arm64", "aarch64"} else "x86_64"  # the engine runs them here
BUILD = ROOT / ".baton" / "build" / RUNTIME
STACK_NAME = "baton"
BUILD_SECONDS = 600.0  # the first one downloads the layer's packages
HEARTBEAT_SECONDS = 4.0
STAMP = "inputs"  # a file with the fingerprint of what the folder was built from
LAYER = "BatonLayer"
SCRIPT_PLACE = "python/baton/adapters/models/script.yaml"  # in the layer
INPUTS = ("template.yaml", "samconfig.toml", "functions", "layers", "tools/stack/packing.py")

Say = Callable[[str], None]


class _Loader(yaml.CSafeLoader):
    """YAML with CloudFormation's short forms, which nothing that is read so has."""


_Loader.add_multi_constructor("!", lambda _loader, _suffix, _node: None)


def template() -> dict[str, Any]:
    """template.yaml, for its parameters and the table's properties."""
    found: dict[str, Any] = yaml.load((ROOT / "template.yaml").read_text(encoding="utf-8"), _Loader)  # noqa: S506 - ours
    return found


def environment_of_tools() -> Path:
    """Where make put the environments; this program runs in one of them."""
    folder = Path(sys.prefix).parent
    if not (folder / "sam" / "bin" / "sam").exists():
        raise StackError("the tools aren't there: run this through make, or `make setup` first")
    return folder


def credentials(access: Access) -> dict[str, str]:
    """What points any AWS client at this engine, and at nothing else."""
    return {
        "AWS_ENDPOINT_URL": access.url,
        ENGINE_KEY: access.key,
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": REGION,
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        "NO_PROXY": "127.0.0.1,localhost",
        "no_proxy": "127.0.0.1,localhost",
    }


def client(service: str, access: Access, config: Config | None = None, region: str = REGION) -> Any:
    """A client of the engine, under the account's own (unrestricted) credentials."""
    settings = credentials(access)
    # Whatever profile the caller's shell names, and whether its files have it, is no business of the local engine's.
    nobody = {
        "profile": (None, None, None, None),
        "config_file": (None, None, os.devnull, None),
        "credentials_file": (None, None, os.devnull, None),
    }
    session = botocore.session.Session(session_vars=nobody)
    session.set_config_variable("user_agent_appid", access.key)
    return session.create_client(
        service,
        endpoint_url=settings["AWS_ENDPOINT_URL"],
        region_name=region,
        aws_access_key_id=settings["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=settings["AWS_SECRET_ACCESS_KEY"],
        config=(config or Config()).merge(Config(proxies={})),
    )


def fingerprint(script: Path | None = None) -> str:
    """A hash of everything that is built or deployed. ``script``: one that is built in."""
    digest = hashlib.sha256(RUNTIME.encode())
    for path in sorted(_inputs()):
        digest.update(f"\0{path.relative_to(ROOT).as_posix()}\0".encode())
        digest.update(path.read_bytes())
    if script is not None:
        digest.update(b"\0script\0" + script.read_bytes())
    return digest.hexdigest()[:16]


@contextmanager
def built(inputs: str, say: Say, script: Path | None = None) -> Iterator[Path]:
    """Where `sam build` put these inputs. Stacks, tests and the bench of a checkout share the folder: while one uses
    it, the others wait. ``script``: as in ``fingerprint``; what has one in it is kept apart, so that neither takes the
    other's place."""
    folder = BUILD.with_name(f"{RUNTIME}-script") if script else BUILD
    with alone(BUILD.parent, say, folder.name):
        stamp = folder / STAMP
        if not stamp.exists() or stamp.read_text() != inputs:
            stamp.unlink(missing_ok=True)
            _build(folder, say) if script is None else _copy_with(script, folder, say)
            stamp.write_text(inputs)
        yield folder


def deployed(access: Access) -> dict[str, Any] | None:
    """The stack as the engine knows it, if it was deployed to its end."""
    stack = _described(access)
    return stack if stack and stack["StackStatus"] in {"CREATE_COMPLETE", "UPDATE_COMPLETE"} else None


def _described(access: Access) -> dict[str, Any] | None:
    """The stack as the engine knows it."""
    try:
        stack: dict[str, Any] = client("cloudformation", access).describe_stacks(StackName=STACK_NAME)["Stacks"][0]
    except ClientError as error:
        if error.response["Error"]["Code"] != "ValidationError":  # its word for "no such stack"
            raise
        return None
    return stack


def is_current(stack: Mapping[str, Any] | None, inputs: str, wanted: Mapping[str, str]) -> bool:
    """Was it deployed from these inputs, with these parameters?"""
    if stack is None:
        return False
    tags = {tag["Key"]: tag["Value"] for tag in stack["Tags"]}
    parameters = {each["ParameterKey"]: each["ParameterValue"] for each in stack["Parameters"]}
    return tags.get("inputs") == inputs and wanted.items() <= parameters.items()


def deploy(folder: Path, inputs: str, access: Access, parameters: Mapping[str, str], home: Path, say: Say) -> None:
    """Gives CloudFormation what is built there, with these parameters (none is a secret: the engine shows them), and
    with the fingerprint of its inputs as a tag: the engine itself remembers what it was given.

    As `make deploy` does it, but for SAM, which takes seconds to upload what is packed already. Raises StackError."""
    begun = time.monotonic()
    say("deploying …")
    wanted = {
        "Runtime": RUNTIME,
        "Architecture": ARCHITECTURE,
        "DeletionProtection": "false",
        "Release": _release(inputs, parameters),
        "WaitConcurrency": "50",  # as where the account has room
        "McpConcurrency": "50",
        "UrlConcurrency": "100",
        **parameters,
    }
    template_url = _uploaded(folder, access)
    with (home / "deploy.log").open("w", encoding="utf-8") as log:
        changes = ChangeSet(
            client("cloudformation", access),
            STACK_NAME,
            _to_be_changed(access),
            lambda line: print(line, file=log),
            poll_seconds=LOCAL_POLL_SECONDS,
        )
        if changes.create(template_url, wanted, {"inputs": inputs}, {}):
            changes.execute()
    say(f"deployed in {time.monotonic() - begun:.1f} s")


def _uploaded(folder: Path, access: Access) -> str:
    """Where the template lies, beside the archives that it names. An archive is known by what is in it: one that was
    uploaded before changes nothing."""
    s3, bucket = client("s3", access), f"{STACK_NAME}-artifacts"
    s3.create_bucket(Bucket=bucket)

    def put(content: bytes) -> str:
        key = hashlib.sha256(content).hexdigest()
        s3.put_object(Bucket=bucket, Key=key, Body=content)
        return key

    template = json.loads((folder / "template.yaml").read_text(encoding="utf-8"))
    for resource in template["Resources"].values():
        properties = resource.get("Properties", {})
        for name in PACKED & properties.keys():
            properties[name] = f"s3://{bucket}/{put((folder / properties[name]).read_bytes())}"
    return f"{access.url}/{bucket}/{put(json.dumps(template).encode())}"


def _release(inputs: str, parameters: Mapping[str, str]) -> str:
    """Another one for each change, as its functions are published by it."""
    return hashlib.sha256(f"{inputs} {sorted(parameters.items())}".encode()).hexdigest()[:16]


def environment(extra: Mapping[str, str]) -> dict[str, str]:
    """The caller's, without its AWS settings and what make tells its children (sam starts a make of its own)."""
    foreign = ("AWS_", "MAKE", "MFLAGS", "SAM_CLI", "VIRTUAL_ENV", "PYTHON")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
    private = {"SAM_CLI_TELEMETRY": "0", "__SAM_CLI_APP_DIR": str(ROOT / ".baton" / "sam")}
    return {**kept, **private, **extra}


@contextmanager
def scratch() -> Iterator[dict[str, str]]:
    """Says to a tool where its temporary files go, and removes what is left of them: SAM leaves a folder for each
    package that it uploads."""
    with tempfile.TemporaryDirectory(prefix="baton-tool-") as folder:
        yield {"TMPDIR": folder}


def run(title: str, command: list[str | Path], extra: Mapping[str, str], log: Path, limit: float, say: Say) -> None:
    """Run a tool with its output in `log`, saying every few seconds that it still works.

    Raises StackError with the log's end when it fails, or takes longer than `limit` seconds.
    """
    say(f"{title} …")
    log.parent.mkdir(parents=True, exist_ok=True)
    begun = time.monotonic()
    with scratch() as private, log.open("wb") as output:
        env = environment({**extra, **private})
        process = subprocess.Popen(command, cwd=ROOT, env=env, stdin=subprocess.DEVNULL, stdout=output, stderr=output)
        try:
            while process.poll() is None:
                try:
                    process.wait(HEARTBEAT_SECONDS)
                except subprocess.TimeoutExpired:
                    elapsed = time.monotonic() - begun
                    say(f"{title} … {elapsed:.0f} s")
                    if elapsed > limit:
                        raise StackError(f"{title} took longer than {limit:.0f} s\n{tail(log)}") from None
        finally:
            if process.poll() is None:
                process.terminate()
                process.wait()
    if process.returncode:
        raise StackError(f"{title} failed; the end of {log}:\n{tail(log)}")
    say(f"{title} done in {time.monotonic() - begun:.1f} s")


def _build(folder: Path, say: Say) -> None:
    tools = environment_of_tools()
    run(
        "sam build",
        [tools / "sam" / "bin" / "sam", "build", "--build-dir", folder, "--parameter-overrides", f"Runtime={RUNTIME}"],
        {
            "BATON_RUNTIME": RUNTIME,
            "BATON_ARCHITECTURE": "host",
            "BATON_PYTHON": sys.executable,
            "BATON_UV": str(tools / "uv" / "bin" / "uv"),
            "BATON_SCRIPT": "",
            "AWS_DEFAULT_REGION": REGION,
        },
        folder.with_name(f"{folder.name}.log"),
        BUILD_SECONDS,
        say,
    )
    pack(folder)


def _copy_with(script: Path, folder: Path, say: Say) -> None:
    """A copy of what is built without it, as the script is one file more: another script takes no other build."""
    with built(fingerprint(), say) as without:
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(without, folder, ignore=shutil.ignore_patterns(STAMP))
    shutil.copyfile(script, folder / LAYER / SCRIPT_PLACE)
    archive(folder / LAYER)


def _inputs() -> Iterator[Path]:
    for name in INPUTS:
        path = ROOT / name
        if path.is_file():
            yield path
        else:
            yield from (file for file in path.rglob("*") if file.is_file() and "__pycache__" not in file.parts)


def _to_be_changed(access: Access) -> dict[str, Any] | None:
    """The stack. CloudFormation updates none whose creation failed; there is nothing in it to keep."""
    stack = _described(access)
    if stack and stack["StackStatus"] in {"CREATE_FAILED", "ROLLBACK_COMPLETE", "ROLLBACK_FAILED"}:
        client("cloudformation", access).delete_stack(StackName=STACK_NAME)
        return None
    return stack

"""Baton in an AWS account: `make deploy` builds it for the cloud and gives it to CloudFormation.

The stack itself remembers what it was given: its parameters and tags are those of the last time, but for what is asked
for now. These variables say what that is; make takes them as its own, too:

    STACK         the stack's name, baton if not said
    REGION        else the one that AWS's own settings name
    PARAMS        'Name=value Other="two words"': parameters of template.yaml
    TAGS          'team=x cost=y': on every resource, beside application and stack
    YES           anything: asks nothing, for CI
    RUNTIME       python3.11 to python3.14: that of the stack, or of the Python that this runs with
    ARCHITECTURE  arm64 or x86_64: that of the stack, or arm64
    BATON_SCRIPT  a script for the scripted model, which is built in
    BUILT         a folder with what was built before, with the same RUNTIME and ARCHITECTURE, to deploy that
    WATCH         for how many minutes alarms may take the release back, 10 if not said; 0 for not at all
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import botocore.session
from botocore.exceptions import BotoCoreError, ClientError

from tools.admin import budget as budgets
from tools.admin import deploy_answers as answers
from tools.admin import existing_table
from tools.admin.budget import Budget
from tools.admin.change_set import LOCAL_POLL_SECONDS, POLL_SECONDS, ChangeSet, Configuration, watched_by
from tools.admin.deploy_answers import Account, Parameters
from tools.admin.old_versions import remove_old_versions
from tools.stack import deployment, local_model
from tools.stack.background import StackError

BUILD = deployment.ROOT / ".baton" / "build" / "cloud"
FAILED = {"CREATE_FAILED", "ROLLBACK_COMPLETE", "ROLLBACK_FAILED"}
RUNTIME = deployment.RUNTIME
ARCHITECTURE = "arm64"
SCRIPT = "script.yaml"  # what layers/baton/Makefile calls one that was built in


@dataclass(frozen=True)
class Target:
    """Where it goes, and what is there already."""

    stack: str
    region: str
    found: Mapping[str, Any] | None

    @property
    def failed_at(self) -> str:
        """When the last deployment failed and was rolled back, in seconds; empty if it didn't."""
        found = self.found or {}
        failed = found.get("StackStatus") == "UPDATE_ROLLBACK_COMPLETE"
        return str(int(found["LastUpdatedTime"].timestamp())) if failed else ""

    @property
    def tags(self) -> dict[str, str]:
        return {tag["Key"]: tag["Value"] for tag in (self.found or {}).get("Tags", [])}


def main() -> int:
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]  # sam writes there, too
    try:
        _deploy(os.environ)
    except (StackError, BotoCoreError, ClientError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except subprocess.CalledProcessError as error:
        return error.returncode  # it has said why
    return 0


def _deploy(environ: Mapping[str, str]) -> None:
    session = botocore.session.get_session()
    minutes = answers.minutes(environ.get("WATCH", ""))
    target = _target(session, environ)
    template = deployment.template()
    before = answers.as_deployed(target.found, template)
    built = built_for(before, environ, template["Parameters"]["Runtime"]["AllowedValues"])
    asks = not environ.get("YES")
    settled = before | answers.given(environ.get("PARAMS", ""), template)
    account = _account(session, target)
    wanted = answers.defaults(template) | settled
    if account is not None:
        wanted = answers.fitted(wanted, settled, before, account, print)
    if asks:
        wanted = answers.asked(wanted, template)
    if account is not None:
        answers.refuse_too_large(wanted, before, account)
        if warned := answers.warning(wanted, account):
            print(warned, file=sys.stderr)
    answers.refuse_missing_door(wanted["FrontDoor"], target.region)
    _refuse_unready_table(session, target, wanted, before)
    budget = _budget(session, target, wanted, before)
    folder = Path(environ["BUILT"]) if environ.get("BUILT") else sam_build(built, environ, BUILD)
    wanted |= built | _local(environ)
    wanted["Release"] = answers.release(_digest(folder, wanted), before.get("Release", ""), target.failed_at)
    gone = budget if budget and not budgets.is_asked_for(wanted) else None
    _change(session, target, folder, wanted, target.tags | _tags(target, environ), minutes, gone, asks=asks)
    if budget and not gone:
        budget.settle(answers.as_deployed(_target(session, environ).found, template))


def _change(
    session: Any,
    target: Target,
    folder: Path,
    wanted: Parameters,
    tags: Mapping[str, str],
    minutes: int,
    gone: Budget | None,
    *,
    asks: bool,
) -> None:
    """``gone``: the budget that this change takes away. It goes before its parameter does: a deployment that fails in
    between finds it again.
    """
    cloudformation, lambda_ = (
        session.create_client(each, region_name=target.region) for each in ("cloudformation", "lambda")
    )
    template_url = _uploaded(session, target, _sam_package(folder, target))
    every = LOCAL_POLL_SECONDS if wanted["LocalPort"] else POLL_SECONDS
    changes = ChangeSet(cloudformation, target.stack, target.found, print, poll_seconds=every)
    if not changes.create(template_url, wanted, tags, _watched(session, target, minutes)):
        print(f"No changes to deploy. {target.stack} is up to date")
        return
    changes.show()
    if asks and not answers.agreed():
        changes.drop()
        raise StackError("nothing was deployed")
    if gone:
        gone.remove()
    for name, value in changes.execute().items():
        print(f"{name}  {value}")
    remove_old_versions(cloudformation, lambda_, target.stack, print)


def _target(session: Any, environ: Mapping[str, str]) -> Target:
    stack, region = place(session, environ, "deploy")
    found = described(session.create_client("cloudformation", region_name=region), stack)
    if found is not None and found["StackStatus"] in FAILED:
        raise StackError(
            f"the creation of {stack} failed before ({found['StackStatus']}), and AWS updates no such stack. Remove it "
            f"first: make remove STACK={stack} REGION={region}"
        )
    return Target(stack, region, found)


def place(session: Any, environ: Mapping[str, str], command: str) -> tuple[str, str]:
    """The stack's name and its region. Raises StackError."""
    stack = answers.checked_stack_name(environ.get("STACK") or "baton")
    region = environ.get("REGION") or session.get_config_variable("region")
    if not region:
        raise StackError(f"which region? Name it: make {command} REGION=eu-central-1")
    return stack, region


def described(cloudformation: Any, name: str) -> Mapping[str, Any] | None:
    """The stack, or None if there is none."""
    try:
        found: Mapping[str, Any] = cloudformation.describe_stacks(StackName=name)["Stacks"][0]
    except ClientError as error:
        if error.response["Error"]["Code"] != "ValidationError":  # its word for "no such stack"
            raise
        return None
    return found


def _account(session: Any, target: Target) -> Account | None:
    """None where the credentials may not ask: then nothing is chosen, and nothing refused."""
    try:
        limit = session.create_client("lambda", region_name=target.region).get_account_settings()["AccountLimit"]
    except ClientError as error:
        print(f"warning: the account's concurrency isn't known: {error}", file=sys.stderr)
        return None
    return Account(limit["ConcurrentExecutions"], limit["UnreservedConcurrentExecutions"])


def _budget(session: Any, target: Target, wanted: Parameters, before: Parameters) -> Budget | None:
    """The stack's budget; None if no budget was or is asked for, as AWS Budgets needn't be called then. Raises
    StackError if these credentials may not read it."""
    if not budgets.is_asked_for(wanted) and not budgets.is_asked_for(before):
        return None
    budget = budgets.of(session, target.stack, target.region)
    if budgets.is_asked_for(wanted):
        budget.refuse_unseen()
    return budget


def _refuse_unready_table(session: Any, target: Target, wanted: Parameters, before: Parameters) -> None:
    """Raises StackError. Goes on where the credentials may not ask."""
    dynamodb = session.create_client("dynamodb", region_name=target.region)
    try:
        existing_table.refuse_unready(dynamodb, wanted, before)
    except ClientError as error:
        print(f"warning: whether the existing table is ready isn't known: {error}", file=sys.stderr)


def built_for(before: Parameters, environ: Mapping[str, str], known: list[str]) -> Parameters:
    """The parameters that follow from the build. Raises StackError for what can't be built here."""
    runtime = environ.get("RUNTIME") or before.get("Runtime") or RUNTIME
    if runtime not in known:
        raise StackError(f"Lambda has no {runtime}: make deploy RUNTIME={known[-1]}, or one of {', '.join(known)}")
    if runtime != RUNTIME and shutil.which(runtime) is None and not environ.get("BUILT"):
        raise StackError(
            f"no {runtime} on this machine, and functions that aren't compiled for it start four times slower. Install "
            f"it, or deploy for a Python that is here: make deploy RUNTIME={RUNTIME}"
        )
    architecture = environ.get("ARCHITECTURE") or before.get("Architecture") or ARCHITECTURE
    script = local_model.script_of(environ.get("BATON_SCRIPT", ""))
    return {"Runtime": runtime, "Architecture": architecture, "Script": SCRIPT if script else ""}


def _local(environ: Mapping[str, str]) -> Parameters:
    """For a local engine, which the AWS clients are pointed at: it takes less of the template than AWS."""
    url = urlsplit(environ.get("AWS_ENDPOINT_URL", ""))
    return {"LocalPort": str(url.port)} if url.hostname in {"127.0.0.1", "localhost"} else {}


def _tags(target: Target, environ: Mapping[str, str]) -> dict[str, str]:
    words = [word.partition("=") for word in environ.get("TAGS", "").split()]
    return {"application": "baton", "stack": target.stack} | {name: value for name, _, value in words}


def sam_build(built: Parameters, environ: Mapping[str, str], folder: Path) -> Path:
    """Returns the folder, with what `sam build` made there. Raises CalledProcessError."""
    tools = deployment.environment_of_tools()
    script = local_model.script_of(environ.get("BATON_SCRIPT", ""))
    _run(
        ["build", "--build-dir", folder, "--parameter-overrides", *_overrides(built)],
        {
            "BATON_RUNTIME": built["Runtime"],
            "BATON_ARCHITECTURE": built["Architecture"],
            "BATON_PYTHON": sys.executable,
            "BATON_UV": str(tools / "uv" / "bin" / "uv"),
            "BATON_SCRIPT": str(script or ""),
        },
    )
    return folder


def _digest(folder: Path, wanted: Parameters) -> str:
    """Of what is built there, and of the parameters."""
    digest = hashlib.sha256(json.dumps({**wanted, "Release": ""}, sort_keys=True).encode())
    for path in sorted(each for each in folder.rglob("*") if each.is_file()):
        digest.update(f"\0{path.relative_to(folder).as_posix()}\0".encode() + path.read_bytes())
    return digest.hexdigest()


def _watched(session: Any, target: Target, minutes: int) -> Configuration:
    """Nothing for a new stack: its alarms aren't there yet."""
    if target.found is None:
        return {}
    cloudformation, cloudwatch = (
        session.create_client(each, region_name=target.region) for each in ("cloudformation", "cloudwatch")
    )
    try:
        return watched_by(cloudformation, cloudwatch, target.stack, minutes, print)
    except ClientError as error:
        print(f"warning: no alarm watches this deployment: {error}", file=sys.stderr)
        return watched_by(cloudformation, cloudwatch, target.stack, 0, print)


def _sam_package(folder: Path, target: Target) -> str:
    """The template, with what it names uploaded."""
    with tempfile.TemporaryDirectory(prefix="baton-package-") as scratch:
        packaged = Path(scratch) / "packaged.json"
        command: list[str | Path] = [
            "package",
            "--template-file",
            folder / "template.yaml",
            "--resolve-s3",
            "--use-json",
        ]
        command += ["--region", target.region, "--s3-prefix", target.stack, "--output-template-file", packaged]
        _run(command, {})
        return packaged.read_text(encoding="utf-8")


def _uploaded(session: Any, target: Target, template: str) -> str:
    """Beside what SAM has uploaded: CloudFormation takes no template as large in the call itself."""
    bucket = re.findall(r'"s3://([^/"]+)/', template)[0]
    key = f"{target.stack}/{hashlib.sha256(template.encode()).hexdigest()[:32]}.template"
    s3 = session.create_client("s3", region_name=target.region)
    s3.put_object(Bucket=bucket, Key=key, Body=template.encode())
    return f"{s3.meta.endpoint_url}/{bucket}/{key}"


def _overrides(parameters: Parameters) -> list[str]:
    return [f'{name}="{value}"' for name, value in parameters.items()]  # quoted, or it can't be empty


def _run(arguments: list[str | Path], extra: Mapping[str, str]) -> None:
    """sam, at this terminal, with the caller's credentials. Raises CalledProcessError."""
    foreign = ("MAKE", "MFLAGS", "VIRTUAL_ENV", "PYTHON")  # sam starts a make of its own
    kept = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
    private = {"SAM_CLI_TELEMETRY": "0", "__SAM_CLI_APP_DIR": str(deployment.ROOT / ".baton" / "sam")}
    sam = deployment.environment_of_tools() / "sam" / "bin" / "sam"
    with deployment.scratch() as folder:
        env = {**kept, **private, **extra, **folder}
        subprocess.run([sam, *arguments], cwd=deployment.ROOT, env=env, check=True)


if __name__ == "__main__":
    sys.exit(main())

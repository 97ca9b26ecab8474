"""What `make package` writes, deployed as packaging/README.md says: its code in a bucket, its template by
CloudFormation, its first token by its own programs. Nothing of the checkout is asked for."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from support.worlds.deployed import Deployed, until
from tools.admin import package
from tools.stack import deployment

NAME, BUCKET = "baton-packaged", "somebodys-deployments"


@dataclass(frozen=True)
class Packaged:
    """``folder``: where the package was unpacked."""

    first: Deployed
    folder: Path

    def deploy(self, **parameters: str) -> None:
        """As `aws cloudformation deploy` does it: by a change set, and what isn't given stays as it was."""
        cloudformation, s3 = self.first.aws("cloudformation"), self.first.aws("s3")
        s3.create_bucket(Bucket=BUCKET)
        for path in (self.folder / "code").iterdir():
            s3.put_object(Bucket=BUCKET, Key=f"baton/{path.name}", Body=path.read_bytes())
        s3.put_object(Bucket=BUCKET, Key="template.json", Body=(self.folder / "template.json").read_bytes())
        known = NAME in str(cloudformation.describe_stacks()["Stacks"])
        change = {"StackName": NAME, "ChangeSetName": f"of-{parameters['Release']}"}
        given = {"CodeBucket": BUCKET, "CodePrefix": "baton/", **parameters}
        kept = {each["ParameterKey"] for each in self.described()["Parameters"]} - given.keys() if known else set()
        cloudformation.create_change_set(
            **change,
            ChangeSetType="UPDATE" if known else "CREATE",
            TemplateURL=f"{self.first.stack.endpoint_url}/{BUCKET}/template.json",
            Capabilities=["CAPABILITY_IAM"],
            Parameters=[
                *({"ParameterKey": name, "ParameterValue": value} for name, value in given.items()),
                *({"ParameterKey": name, "UsePreviousValue": True} for name in kept),
            ],
        )
        until(lambda: cloudformation.describe_change_set(**change)["Status"].endswith("COMPLETE"))
        cloudformation.execute_change_set(**change)
        until(lambda: self.described()["StackStatus"] in {"CREATE_COMPLETE", "UPDATE_COMPLETE"}, 120)

    def described(self) -> dict[str, Any]:
        (stack,) = self.first.aws("cloudformation").describe_stacks(StackName=NAME)["Stacks"]
        found: dict[str, Any] = stack
        return found

    @property
    def outputs(self) -> Mapping[str, str]:
        return {each["OutputKey"]: str(each["OutputValue"]) for each in self.described()["Outputs"]}

    def remove(self) -> None:
        cloudformation = self.first.aws("cloudformation")
        cloudformation.delete_stack(StackName=NAME)
        until(lambda: NAME not in str(cloudformation.describe_stacks()["Stacks"]))


@pytest.fixture(scope="module")
def packaged(first: Deployed, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Packaged]:
    home = tmp_path_factory.mktemp("package")
    built_for = {"Runtime": deployment.RUNTIME, "Architecture": deployment.ARCHITECTURE, "Script": ""}
    with deployment.built(deployment.fingerprint(), say=print) as built:
        packed = package.assembled(built, built_for, home)
    with ZipFile(packed) as whole:
        whole.extractall(home / "unpacked")
    (folder,) = (home / "unpacked").iterdir()
    made = Packaged(first, folder)
    try:
        made.deploy(Release="0" * 16, LocalPort=str(first.stack.port), DeletionProtection="false")
        yield made
    finally:
        made.remove()


def played(packaged: Packaged, program: str, *arguments: str, **variables: str) -> str:
    """What one of the package's own programs says; it has to succeed."""
    finished = subprocess.run(
        [sys.executable, "-m", f"tools.admin.{program}", *arguments],
        cwd=packaged.folder,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": "admin.zip", **variables},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert finished.returncode == 0, finished.stdout + finished.stderr
    return finished.stdout


def test_it_works_as_a_deployment_of_the_checkout_does(packaged: Packaged) -> None:
    """A task is done over the API, another one by an agent that Baton runs."""
    operator = {
        "BATON_TABLE": packaged.outputs["TableName"],
        **deployment.credentials(packaged.first.stack.access),
    }
    said = played(packaged, "baton_admin", "bootstrap", "--workspace", "acme", "--human", "you", **operator)
    played(packaged, "smoke", SHORT="1", API=packaged.outputs["ApiUrl"], TOKEN=said.splitlines()[-1])


def test_another_parameter_reaches_callers_with_another_release(packaged: Packaged) -> None:
    functions, name = packaged.first.aws("lambda"), packaged.outputs["ApiFunction"]

    def level() -> str:
        found = functions.get_function_configuration(FunctionName=name, Qualifier="live")
        return str(found["Environment"]["Variables"]["BATON_LOG_LEVEL"])

    table = packaged.outputs["TableName"]
    assert level() == "INFO"
    packaged.deploy(LogLevel="ERROR", Release="1" * 16)
    assert level() == "ERROR"
    assert packaged.outputs["TableName"] == table

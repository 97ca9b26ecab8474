"""What `make package` writes, deployed as packaging/README.md says: its code in a bucket, its template by
CloudFormation, its first token by its own programs. Nothing of the checkout is asked for."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from support.worlds.deployed import Deployed, until
from tools.admin import package
from tools.stack import deployment
from tools.stack.stack import Stack

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

    def stack(self) -> Stack:
        return replace(self.first.stack, api_url=self.outputs["ApiUrl"], table=self.outputs["TableName"])

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


def first_token(packaged: Packaged) -> str:
    finished = subprocess.run(
        [sys.executable, "-m", "tools.admin.baton_admin", "bootstrap", "--workspace", "acme", "--human", "you"],
        cwd=packaged.folder,
        env={
            "PATH": os.environ["PATH"],
            "PYTHONPATH": "admin.zip",
            "BATON_TABLE": packaged.outputs["TableName"],
            **deployment.credentials(packaged.first.stack.access),
        },
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return finished.stdout.splitlines()[-1]


def test_it_works_as_a_deployment_of_the_checkout_does(packaged: Packaged) -> None:
    token = first_token(packaged)
    with packaged.stack().http(token, timeout_seconds=45) as http:
        for slug, runtime in (("asker", "pull"), ("runner", "run")):
            assert http.put(f"/agents/{slug}", json={"name": slug, "runtime": runtime}).is_success
        asked = {"source": {"agent": "asker"}, "target": {"agent": "runner", "reason": "Try it"}}
        http.put("/workspace/settings", json={"dispatch_delay_seconds": 0}).raise_for_status()
        made = http.post("/handoffs", json=asked)
        assert made.status_code == 201, made.text
        task_id = made.json()["task"]["id"]
        answers = (http.get(f"/tasks/{task_id}/await?timeout=20").json() for _ in range(3))
        assert next(each for each in answers if not each["timed_out"])["state"] == "done"


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

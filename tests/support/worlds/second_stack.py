"""A second stack in the same account, which `make deploy` creates and changes, and `make remove` removes. Both programs
have the rights of docs/deploying-role.json, and no others."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from support.worlds.deployed import Deployed, until
from tools.stack import deployment
from tools.stack.engine import REGION

NAME = "baton-second"


@dataclass
class SecondStack:
    """``said``: the output of its first deployment."""

    first: Deployed
    said: str = ""
    name: str = NAME
    region: str = REGION
    _opened: ExitStack = field(default_factory=ExitStack, repr=False)

    def deploy(self, **variables: str) -> str:
        """Deploys successfully. Returns the program's output."""
        return self._succeeded("deploy", **variables)

    def remove(self) -> str:
        """Removes the stack by the program. Returns the program's output."""
        self._opened.close()
        return self._succeeded("remove")

    def _succeeded(self, program: str, **variables: str) -> str:
        finished = self._run(program, **variables)
        assert finished.returncode == 0, finished.stdout + finished.stderr
        return finished.stdout

    def refused(self, program: str = "deploy", **variables: str) -> str:
        """Returns what the program says when it refuses."""
        finished = self._run(program, **variables)
        assert finished.returncode == 1, finished.stdout + finished.stderr
        return finished.stderr

    @cached_property
    def _deployer(self) -> dict[str, str]:
        """The credentials of a role with the rights of the document, for a stack of this name."""
        text = (deployment.ROOT / "docs/deploying-role.json").read_text(encoding="utf-8").replace("baton", self.name)
        document = json.loads(text)
        # The engine differs from AWS in two rights. It has one for each operation on budgets, where AWS has two that
        # name a budget. And the resource of ListTargetsByRule is the bus, where AWS's is the rule.
        of_the_engine = {"Effect": "Allow", "Action": ["budgets:*", "events:ListTargetsByRule"], "Resource": "*"}
        document["Statement"].append(of_the_engine)
        trust = {"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": {"AWS": "*"}}
        trusted = json.dumps({"Version": "2012-10-17", "Statement": [trust]})
        iam, role = self.first.aws("iam"), f"{self.name}-deployer"
        arn = iam.create_role(RoleName=role, AssumeRolePolicyDocument=trusted)["Role"]["Arn"]
        iam.put_role_policy(RoleName=role, PolicyName="deploys", PolicyDocument=json.dumps(document))
        self._open_the_bucket()
        keys = self.first.aws("sts").assume_role(RoleArn=arn, RoleSessionName="deploys")["Credentials"]
        return {
            "AWS_ACCESS_KEY_ID": keys["AccessKeyId"],
            "AWS_SECRET_ACCESS_KEY": keys["SecretAccessKey"],
            "AWS_SESSION_TOKEN": keys["SessionToken"],
        }

    def _open_the_bucket(self) -> None:
        """Makes sam's bucket, and takes its policy away: that refuses plain HTTP, which the engine speaks."""
        sam = deployment.environment_of_tools() / "sam" / "bin" / "python"
        make = f"from samcli.lib.bootstrap.bootstrap import manage_stack; print(manage_stack(None, '{self.region}'))"
        env = deployment.environment(deployment.credentials(self.first.stack.access))
        made = subprocess.run([sam, "-c", make], env=env, capture_output=True, text=True, timeout=60, check=True)
        self.first.aws("s3").delete_bucket_policy(Bucket=made.stdout.split()[-1])

    def _run(self, program: str, **variables: str) -> subprocess.CompletedProcess[str]:
        usual = {"STACK": self.name, "REGION": self.region, "YES": "1", "ARCHITECTURE": deployment.ARCHITECTURE}
        given = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        given |= {"PYTHONPATH": os.pathsep.join(sys.path)}
        with deployment.built(deployment.fingerprint(), say=print) as folder:
            return subprocess.run(
                [sys.executable, "-m", f"tools.admin.{program}"],
                cwd=deployment.ROOT,
                env=given
                | deployment.credentials(self.first.stack.access)
                | self._deployer
                | {"BUILT": str(folder)}
                | usual
                | variables,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=240,
                check=False,
            )

    def clear(self) -> None:
        """Removes the stack without the program, if it is still there."""
        self._opened.close()
        cloudformation = self.first.aws("cloudformation")
        cloudformation.delete_stack(StackName=self.name)
        until(lambda: self.name not in str(cloudformation.describe_stacks()["Stacks"]))

    def described(self) -> dict[str, Any]:
        (stack,) = self.first.aws("cloudformation").describe_stacks(StackName=self.name)["Stacks"]
        found: dict[str, Any] = stack
        return found

    def parameters(self) -> dict[str, str]:
        return {each["ParameterKey"]: each["ParameterValue"] for each in self.described()["Parameters"]}

    def resources(self) -> dict[str, str]:
        return resources(self.first, self.name)

    def opened(self) -> Deployed:
        """Returns the stack as it is now, for requests."""
        out = {each["OutputKey"]: str(each["OutputValue"]) for each in self.described()["Outputs"]}
        stack = replace(
            self.first.stack,
            api_url=out["ApiUrl"],
            table=out["TableName"],
            queue_url=out["QueueUrl"],
            dlq_url=out["DlqUrl"],
            tracker_queue_url=out["TrackerQueueUrl"],
            tracker_dlq_url=out["TrackerDlqUrl"],
            functions={key.removesuffix("Function"): value for key, value in out.items() if key.endswith("Function")},
        )
        return Deployed(stack, self._opened.enter_context(stack.http(timeout_seconds=45)), self.first.ledger)


def resources(deployed: Deployed, name: str) -> dict[str, str]:
    """Returns each resource's physical id."""
    found = deployed.aws("cloudformation").describe_stack_resources(StackName=name)["StackResources"]
    return {each["LogicalResourceId"]: each["PhysicalResourceId"] for each in found}

"""A second stack in the same account, which `make deploy` creates and changes."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import Any

from support.worlds.deployed import Deployed, until
from tools.stack import deployment

NAME = "baton-second"


@dataclass
class SecondStack:
    """``said``: the output of its first deployment."""

    first: Deployed
    said: str = ""
    name: str = NAME
    _opened: ExitStack = field(default_factory=ExitStack, repr=False)

    def deploy(self, **variables: str) -> str:
        """Deploys successfully. Returns the program's output."""
        finished = self._run(**variables)
        assert finished.returncode == 0, finished.stdout + finished.stderr
        return finished.stdout

    def refused(self, **variables: str) -> str:
        """Returns what the program says when it refuses to deploy."""
        finished = self._run(**variables)
        assert finished.returncode == 1, finished.stdout + finished.stderr
        return finished.stderr

    def _run(self, **variables: str) -> subprocess.CompletedProcess[str]:
        variables = {"STACK": self.name, "YES": "1", "ARCHITECTURE": deployment.ARCHITECTURE, **variables}
        given = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        given |= {"PYTHONPATH": os.pathsep.join(sys.path), "SAM_CLI_POLL_DELAY": "0.5"}
        with deployment.built(deployment.fingerprint(), say=print) as folder:
            return subprocess.run(
                [sys.executable, "-m", "tools.admin.deploy"],
                cwd=deployment.ROOT,
                env={**given, **deployment.credentials(self.first.stack.access), "BUILT": str(folder), **variables},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=240,
                check=False,
            )

    def remove(self) -> None:
        """Removes the stack, if it is still there."""
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
